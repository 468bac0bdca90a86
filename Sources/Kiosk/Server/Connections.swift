import Bookplate
import NIOCore
import Synchronization

/// What a connection may take of the service before anything is known of who stands behind it.
struct ConnectionLimits: Sendable {
    /// From the connection's first moment, or the first byte of a later request, to the end of the headers.
    var head: TimeAmount = .seconds(10)
    /// How often a body under way is looked at, and the bytes that it has to bring in between: 400 bytes a second pass.
    var bodyWindow: TimeAmount = .seconds(10)
    var bodyBytes = 4096
    /// For a whole body, without the time in which the service takes none of it: 32 MiB at 1 Mbit/s. Only two photos come in at once.
    var body: TimeAmount = .seconds(300)
    /// For a client that takes nothing of what is written to it.
    var stalledWrite: TimeAmount = .seconds(60)
    /// For a client to read why it was refused, while what it still sends is thrown away.
    var linger: TimeAmount = .seconds(2)
    /// Between two requests.
    var idle: TimeAmount = .seconds(60)
    /// Bytes of the request line.
    var requestLine = 8 << 10
    /// Bytes of all header lines together.
    var headers = 16 << 10
    /// Open at once. Above it the oldest goes of those nobody has signed in over.
    var connections = 512
}

/// The open connections. When there are too many, those go that no household member and no station has asked over: a crowd of
/// strangers never keeps out who belongs here.
final class Connections: Sendable {
    private struct Entry {
        let channel: any Channel
        let number: UInt64
        var isKnown = false
        var signIn: ID<SignIn>?
        /// Let in by nothing but the guest view.
        var isGuest = false
    }

    private struct State {
        var open: [ObjectIdentifier: Entry] = [:]
        var count: UInt64 = 0
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Takes a new one in; closes the oldest unknown one, which may be this one, when it is one too many.
    func open(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let surplus = state.withLock { state -> (any Channel)? in
            state.count += 1
            state.open[id] = Entry(channel: channel, number: state.count)
            guard state.open.count > limit else { return nil }
            return state.open.values.filter { !$0.isKnown }.min { $0.number < $1.number }?.channel
        }
        channel.closeFuture.whenComplete { [weak self] _ in self?.closed(id) }
        surplus?.close(promise: nil)
    }

    /// Somebody asked over it who may do more than sign in.
    func know(_ id: ObjectIdentifier, _ signIn: ID<SignIn>?) {
        state.withLock { state in
            guard let entry = state.open[id], !entry.isKnown || entry.signIn != signIn || entry.isGuest else { return }
            state.open[id]?.isKnown = true
            state.open[id]?.signIn = signIn
            state.open[id]?.isGuest = false
        }
    }

    /// Somebody asked over it who may look as long as the guest view is on. Of a crowd that is too large, they go with the strangers.
    func knowGuest(_ id: ObjectIdentifier) { state.withLock { $0.open[id]?.isGuest = true } }

    var hasGuests: Bool { state.withLock { $0.open.values.contains(where: \.isGuest) } }

    /// Ends what is under way for guests.
    func closeGuests() {
        for entry in state.withLock({ $0.open.values.filter(\.isGuest) }) { entry.channel.close(promise: nil) }
    }

    /// Those that something is open for.
    var signIns: Set<ID<SignIn>> { state.withLock { Set($0.open.values.compactMap(\.signIn)) } }

    /// Ends what is under way for these, such as an event stream.
    func close(_ signIns: Set<ID<SignIn>>) {
        let over = state.withLock { $0.open.values.filter { $0.signIn.map(signIns.contains) == true } }
        for entry in over { entry.channel.close(promise: nil) }
    }

    private func closed(_ id: ObjectIdentifier) { state.withLock { _ = $0.open.removeValue(forKey: id) } }

    var count: Int { state.withLock { $0.open.count } }
}
