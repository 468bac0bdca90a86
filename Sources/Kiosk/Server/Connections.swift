import Bookplate
import NIOCore
import Synchronization

/// The limits on a connection. They also apply before the caller is known.
struct ConnectionLimits: Sendable {
    /// The time limit for receiving a request's headers. It begins when the connection is opened, or with the first
    /// byte of a later request.
    var head: TimeAmount = .seconds(10)
    /// The interval in which at least ``bodyBytes`` bytes of a body must arrive. The two limits together require 16 kB
    /// per second.
    var bodyWindow: TimeAmount = .seconds(10)
    /// The minimum number of a body's bytes that must arrive in each ``bodyWindow``.
    var bodyBytes = 160 << 10
    /// The time limit for receiving a whole body. It is enough for 32 MiB at 1 Mbit/s.
    var body: TimeAmount = .seconds(300)
    /// The maximum time for which a client may stop reading a response.
    var stalledWrite: TimeAmount = .seconds(60)
    /// The time that a refused client has to read the reason. The rest of its request is discarded.
    var linger: TimeAmount = .seconds(2)
    /// The maximum time that a connection may be idle between two requests.
    var idle: TimeAmount = .seconds(60)
    /// The maximum length of the request line, in bytes.
    var requestLine = 8 << 10
    /// The maximum length of all header lines together, in bytes.
    var headers = 16 << 10
    /// The maximum number of open connections. If there are more, one of them is closed; see ``Connections``.
    var connections = 512
    /// The maximum number of connections of one device (see ``Device``). A browser needs about six for each page that
    /// it shows.
    var connectionsOfDevice = 128
}

/// The open connections. A connection counts as unknown until the household or a station has sent a request over it. If
/// there are too many connections, the oldest unknown one is closed, so that strangers can never lock out the
/// household. If a known device has too many, its oldest one is closed, so that no device can lock out the others.
final class Connections: Sendable {
    private struct Connection {
        let channel: any Channel
        let number: UInt64
        /// The device of the household, or the station, that sent the latest request; `nil` while it is unknown.
        var device: Device?
        /// True if the caller may use the service only because the guest view is on.
        var isGuest = false
    }

    private struct State {
        var open: [ObjectIdentifier: Connection] = [:]
        var count: UInt64 = 0

        /// Removes the oldest of these connections and returns its channel for the caller to close. Closing takes time,
        /// in which the connection must neither count nor be chosen again.
        mutating func removeOldest(where isWanted: (Connection) -> Bool) -> (any Channel)? {
            let oldest = open.filter { isWanted($0.value) }.min { $0.value.number < $1.value.number }
            return oldest.flatMap { open.removeValue(forKey: $0.key)?.channel }
        }
    }

    private let state = Mutex(State())
    private let limit: Int
    private let limitOfDevice: Int

    init(_ limits: ConnectionLimits) { (limit, limitOfDevice) = (limits.connections, limits.connectionsOfDevice) }

    /// Adds a connection. If there are then too many, closes the oldest unknown connection (see ``Connections``), which
    /// may be the added one.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let surplus = state.withLock { state -> (any Channel)? in
            state.count += 1
            state.open[id] = Connection(channel: channel, number: state.count)
            guard state.open.count > limit else { return nil }
            return state.removeOldest { $0.device == nil }
        }
        channel.closeFuture.whenComplete { [weak self] _ in self?.remove(id) }
        surplus?.close(promise: nil)
    }

    /// Marks a connection over which the household or a station has sent a request. If the device then has too many
    /// connections, closes the oldest of them.
    func markKnown(_ id: ObjectIdentifier, _ device: Device) {
        let surplus = state.withLock { state -> (any Channel)? in
            guard let connection = state.open[id], connection.device != device || connection.isGuest else { return nil }
            state.open[id]?.device = device
            state.open[id]?.isGuest = false
            guard state.open.values.count(where: { $0.device == device }) > limitOfDevice else { return nil }
            return state.removeOldest { $0.device == device }
        }
        surplus?.close(promise: nil)
    }

    /// Marks a connection as a guest's. If there are too many connections, the connections of guests are closed like
    /// unknown ones.
    func markGuest(_ id: ObjectIdentifier) {
        state.withLock { state in
            state.open[id]?.isGuest = true
            state.open[id]?.device = nil
        }
    }

    /// Detaches a connection from its device, because its request is about to end the sign-in, or was sent without one.
    /// It then stays open for the response.
    func forget(_ id: ObjectIdentifier) { state.withLock { $0.open[id]?.device = nil } }

    var hasGuests: Bool { state.withLock { $0.open.values.contains(where: \.isGuest) } }

    /// Closes the connections of guests, including their event streams.
    func closeGuests() {
        for connection in state.withLock({ $0.open.values.filter(\.isGuest) }) {
            connection.channel.close(promise: nil)
        }
    }

    /// The sign-ins with open connections.
    var signIns: Set<ID<SignIn>> { state.withLock { Set($0.open.values.compactMap { $0.device?.signIn }) } }

    /// Closes the connections of these sign-ins, including their event streams.
    func close(_ signIns: Set<ID<SignIn>>) {
        let over = state.withLock { $0.open.values.filter { $0.device?.signIn.map(signIns.contains) == true } }
        for connection in over { connection.channel.close(promise: nil) }
    }

    /// Closes the connections to a port at an address of this machine, including their event streams.
    func close(to address: String, port: Int) {
        let over = state.withLock { state in
            state.open.values.filter { connection in
                let local = connection.channel.localAddress
                return local?.ipAddress.map(HostNames.plain) == address && local?.port == port
            }
        }
        for connection in over { connection.channel.close(promise: nil) }
    }

    private func remove(_ id: ObjectIdentifier) { state.withLock { _ = $0.open.removeValue(forKey: id) } }

    var count: Int { state.withLock { $0.open.count } }
}
