import Bookplate
import NIOCore
import Synchronization

/// The limits on a connection, in force before its caller is known.
struct ConnectionLimits: Sendable {
    /// The time from the connection's beginning, or the first byte of a later request, to the end of the headers.
    var head: TimeAmount = .seconds(10)
    /// The interval in which a body has to bring at least ``bodyBytes``: about 400 bytes a second.
    var bodyWindow: TimeAmount = .seconds(10)
    var bodyBytes = 4096
    /// The time for a whole body, not counting the time in which the service does not read: 32 MiB at 1 Mbit/s. Only two photos
    /// are received at once.
    var body: TimeAmount = .seconds(300)
    /// The time for which a client may read nothing of a response.
    var stalledWrite: TimeAmount = .seconds(60)
    /// The time for a refused client to read the reason, while the rest of its request is discarded.
    var linger: TimeAmount = .seconds(2)
    /// The time between two requests.
    var idle: TimeAmount = .seconds(60)
    /// The length of the request line in bytes.
    var requestLine = 8 << 10
    /// The length of all header lines in bytes.
    var headers = 16 << 10
    /// The number of open connections. Above it, the oldest unknown one is closed.
    var connections = 512
}

/// The open connections. When there are too many, unknown ones are closed, over which neither the household nor a station has
/// sent a request: a crowd of strangers never locks out the household.
final class Connections: Sendable {
    private struct Entry {
        let channel: any Channel
        let number: UInt64
        var isKnown = false
        var signIn: ID<SignIn>?
        /// True if the caller is let in by the guest view alone.
        var isGuest = false
    }

    private struct State {
        var open: [ObjectIdentifier: Entry] = [:]
        var count: UInt64 = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Adds a connection; above the limit, closes the oldest unknown one, which may be this one.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let surplus = state.withLock { state -> (any Channel)? in
            state.count += 1
            state.open[id] = Entry(channel: channel, number: state.count)
            guard state.open.count > limit else { return nil }
            return state.open.values.filter { !$0.isKnown }.min { $0.number < $1.number }?.channel
        }
        channel.closeFuture.whenComplete { [weak self] _ in self?.remove(id) }
        surplus?.close(promise: nil)
    }

    /// Marks a connection over which the household or a station has sent a request.
    func markKnown(_ id: ObjectIdentifier, _ signIn: ID<SignIn>?) {
        state.withLock { state in
            guard let entry = state.open[id], !entry.isKnown || entry.signIn != signIn || entry.isGuest else { return }
            state.open[id]?.isKnown = true
            state.open[id]?.signIn = signIn
            state.open[id]?.isGuest = false
        }
    }

    /// Marks a connection of a guest. When there are too many connections, guests' are closed like unknown ones.
    func markGuest(_ id: ObjectIdentifier) { state.withLock { $0.open[id]?.isGuest = true } }

    var hasGuests: Bool { state.withLock { $0.open.values.contains(where: \.isGuest) } }

    /// Closes the connections of guests, such as event streams.
    func closeGuests() {
        for entry in state.withLock({ $0.open.values.filter(\.isGuest) }) { entry.channel.close(promise: nil) }
    }

    /// The sign-ins with open connections.
    var signIns: Set<ID<SignIn>> { state.withLock { Set($0.open.values.compactMap(\.signIn)) } }

    /// Closes the connections of these sign-ins, such as event streams.
    func close(_ signIns: Set<ID<SignIn>>) {
        let over = state.withLock { $0.open.values.filter { $0.signIn.map(signIns.contains) == true } }
        for entry in over { entry.channel.close(promise: nil) }
    }

    private func remove(_ id: ObjectIdentifier) { state.withLock { _ = $0.open.removeValue(forKey: id) } }

    var count: Int { state.withLock { $0.open.count } }
}
