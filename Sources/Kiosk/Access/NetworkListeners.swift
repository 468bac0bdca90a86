import Async
import Bookplate
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// The choice of the addresses on which other devices reach the service, which a person makes on a page.
public struct NetworkChoice: Sendable {
    /// Returns the choice that is stored: an address of this machine, ``allIPv4``, ``all``, or `nil` for none.
    public var stored: @Sendable () throws -> String?
    /// Stores the choice for this machine, so that the next start honours it. It is on the disk when this function
    /// returns.
    public var store: @Sendable (String?) throws -> Void

    public init(stored: @escaping @Sendable () throws -> String?, store: @escaping @Sendable (String?) throws -> Void) {
        (self.stored, self.store) = (stored, store)
    }

    /// All addresses of IPv4.
    public static let allIPv4 = "0.0.0.0"
    /// All addresses.
    public static let all = "::"

    /// Returns true if the choice is of several addresses rather than of one.
    static func isGroup(_ choice: String) -> Bool { choice == allIPv4 || choice == all }

    /// Returns true if a service that listens on `choice` can be reached at the address.
    static func includes(_ address: MachineAddress, in choice: String) -> Bool {
        switch choice {
        case all: true
        case allIPv4: !address.isIPv6
        default: address.text == choice
        }
    }
}

/// Listens on addresses of this machine in addition to the one on which the service was started, as the household
/// chooses while the service runs.
///
/// The service that was started listens on loopback only, so every additional address has a server of its own with the
/// same routes, connections and limits. Addresses come and go, for instance with a Wi-Fi network, so they are compared
/// with the choice every few seconds. Nothing listens without an access code.
final class NetworkListeners: Sendable {
    /// The state of an address on which the service should listen.
    enum Outcome: Sendable, Equatable {
        case listening
        /// - Parameter errno: the system's error number; `nil` if the error does not come from the system.
        case failed(errno: Int32?)
    }

    /// A socket to listen on.
    struct Socket: Sendable, Hashable {
        var address: String
        var port: Int
        var isEncrypted: Bool
    }

    /// Returns a server for a socket.
    ///
    /// - Parameter started: a function to call as soon as the server listens.
    typealias MakeServer =
        @Sendable (_ socket: Socket, _ started: @escaping @Sendable (any Channel) async -> Void) -> any Service

    private struct Listener {
        let group: ServiceGroup
        let outcome: Outcome
        let channel: (any Channel)?
        let hasEnded: SharedValue<Bool>
    }

    private let configuration: KioskServer.Configuration
    private let ports: KioskPorts
    private let connections: Connections
    private let logger: Logger
    private let state = Mutex<(listening: ListeningPorts?, outcomes: [String: Outcome])>((nil, [:]))
    /// The requests for an update. Each is ended when the update is done.
    private let requests: AsyncStream<AsyncStream<Never>.Continuation>
    private let request: AsyncStream<AsyncStream<Never>.Continuation>.Continuation

    init(
        _ configuration: KioskServer.Configuration, ports: KioskPorts, connections: Connections, logger: Logger
    ) {
        (self.configuration, self.ports, self.connections, self.logger) = (configuration, ports, connections, logger)
        (requests, request) = AsyncStream.makeStream()
    }

    /// The ports of the service; `nil` until it listens.
    var listening: ListeningPorts? { state.withLock { $0.listening } }

    /// The addresses on which the service should listen, with what came of it.
    var outcomes: [String: Outcome] { state.withLock { $0.outcomes } }

    /// Begins to listen, now that the service listens on these ports.
    func start(on ports: ListeningPorts) async {
        state.withLock { $0.listening = ports }
        await update()
    }

    /// Listens on the addresses that are chosen now, and on no others. When this function returns, the service listens
    /// on them or has failed to, and the connections to all others are closed.
    func update() async {
        let (done, end) = AsyncStream.makeStream(of: Never.self)
        guard case .enqueued = request.yield(end) else { return }
        for await _ in done {}
    }

    /// Listens until the service stops.
    func run(_ makeServer: @escaping MakeServer) async {
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { await cancelWhenGracefulShutdown { await self.updateRegularly() } }
            var listeners: [Socket: Listener] = [:]
            for await end in requests.cancelOnGracefulShutdown() {
                await update(&listeners, in: &tasks, makeServer)
                end.finish()
            }
            request.finish()
        }
    }

    private func updateRegularly() async {
        while true {
            // Cancelled when the service ends.
            do { try await Task.sleep(for: configuration.addressInterval) } catch { return }
            await update()
        }
    }

    private func update(
        _ listeners: inout [Socket: Listener], in tasks: inout DiscardingTaskGroup, _ makeServer: @escaping MakeServer
    ) async {
        guard let listening else { return }
        let wanted: [Socket]
        do {
            wanted = try await wantedAddresses().flatMap { listening.sockets(at: $0) }
        } catch {
            logger.warning("cannot find out on which addresses to listen: \(error)")
            return
        }
        for (socket, listener) in listeners where !wanted.contains(socket) || listener.hasEnded.value {
            listeners[socket] = nil
            await close(listener, socket)
        }
        for socket in wanted where listeners[socket] == nil {
            listeners[socket] = await listen(on: socket, in: &tasks, makeServer)
        }
        var outcomes: [String: Outcome] = [:]
        // An address with http and https works if both do.
        for (socket, listener) in listeners where outcomes[socket.address] ?? .listening == .listening {
            outcomes[socket.address] = listener.outcome
        }
        state.withLock { $0.outcomes = outcomes }
    }

    /// Returns the addresses of this machine that are chosen. There is none without an access code, because without one
    /// everybody could use the library.
    private func wantedAddresses() async throws -> [String] {
        guard let choice = try ports.network?.stored(), try await ports.library.hasAccessCode() else { return [] }
        let own = configuration.ownAddresses().filter { NetworkChoice.includes($0, in: choice) }
        return Set(own.prefix(Self.limit).map(\.text)).sorted()
    }

    /// The maximum number of addresses. A machine with containers may have many.
    private static let limit = 32

    private func listen(
        on socket: Socket, in tasks: inout DiscardingTaskGroup, _ makeServer: MakeServer
    ) async -> Listener {
        let (results, result) = AsyncStream.makeStream(of: (Outcome, (any Channel)?).self)
        let server = makeServer(socket) { channel in result.yield((.listening, channel)) }
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [server], logger: logger))
        let hasEnded = SharedValue(false)
        tasks.addTask {
            do {
                try await group.run()
            } catch {
                result.yield((.failed(errno: (error as? SocketService.Failure)?.errno), nil))
            }
            _ = hasEnded.exchange(true)
            result.finish()
        }
        let (outcome, channel) = await results.first { _ in true } ?? (.failed(errno: nil), nil)
        // A failure is logged once, although it is tried again.
        if outcome != outcomes[socket.address] {
            let place = "\(socket.address), port \(socket.port)"
            switch outcome {
            case .listening: logger.notice("also listening on \(place)")
            case .failed(let code):
                logger.warning("cannot listen on \(place) (errno \(code ?? 0)); it will be tried again")
            }
        }
        return Listener(group: group, outcome: outcome, channel: channel, hasEnded: hasEnded)
    }

    /// Stops listening on an address, and closes its connections, which may be event streams.
    private func close(_ listener: Listener, _ socket: Socket) async {
        await listener.group.triggerGracefulShutdown()
        if let channel = listener.channel {
            logger.notice("no longer listening on \(socket.address), port \(socket.port)")
            do {
                try await channel.closeFuture.get()
            } catch {
                logger.warning("\(socket.address), port \(socket.port), was not closed in order: \(error)")
            }
            connections.close(to: socket.address, port: socket.port)
        }
    }
}

/// Runs the listeners as a part of the service.
struct NetworkListening: Service, CustomStringConvertible {
    let listeners: NetworkListeners
    let makeServer: NetworkListeners.MakeServer
    /// The name that the service group logs.
    let description = "network listeners"

    func run() async { await listeners.run(makeServer) }
}
