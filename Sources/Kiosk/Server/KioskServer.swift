import Bookplate
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Station
import Synchronization

/// The web interface over HTTP: pages, the JSON that they use, and events.
public final class KioskServer: Sendable {
    public struct Configuration: Sendable {
        /// An address of this machine, or 0.0.0.0 or :: for all of them.
        public var address = "127.0.0.1"
        /// 0 takes a free one.
        public var port = 8278
        /// Names besides the address by which browsers may ask for it, such as "shelf.local".
        public var names: [String] = []
        /// Whether something on this machine passes on what others ask. Then nobody is let in for sitting at it.
        public var isBehindProxy = false
        /// The release, as pages and /healthz show it.
        public var version = ""
        /// What a connection may take.
        var limits = ConnectionLimits()
        /// How long a request may take that is under way when the service is to end.
        var patience: Duration = .seconds(3)

        public init() {}
    }

    private let group: ServiceGroup
    private let configuration: Configuration
    private let stopping = Flag()
    private let isListening: Flag

    /// - Parameter started: called with the port once it listens.
    /// - Throws: when the pages that come with the program are not there, or make no sense.
    public convenience init(
        _ configuration: Configuration, ports: KioskPorts, logger: Logger,
        started: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws {
        try self.init(configuration, ports: ports, logger: logger, more: [], started: started)
    }

    /// - Parameter more: routes besides those of the table.
    init(
        _ configuration: Configuration, ports: KioskPorts, logger: Logger, more: [Route],
        started: @escaping @Sendable (Int) async -> Void
    ) throws {
        let parts = try KioskParts(configuration, ports: ports, logger: logger)
        let isListening = Flag()
        self.configuration = configuration
        self.isListening = isListening
        let router = Router(context: KioskContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: Answers(parts: parts))
        let doorkeeper = parts.doorkeeper
        for route in parts.routes + more {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try doorkeeper.admit(request, context, to: route)
                return try await route.answer(request, context)
            }
        }
        let application = Application(
            router: router,
            server: .guarded(configuration.limits, parts.connections),
            configuration: .init(
                address: .hostname(configuration.address, port: configuration.port), serverName: nil),
            onServerRunning: { channel in
                isListening.set()
                await started(channel.localAddress?.port ?? 0)
            },
            logger: logger)
        // The last is stopped first.
        var services = ServiceGroupConfiguration(
            services: [.init(service: application), .init(service: StationRun(parts: parts))], logger: logger)
        services.maximumGracefulShutdownDuration = configuration.patience
        group = ServiceGroup(configuration: services)
    }

    /// Serves until ``stop()`` or a cancelled task ends it.
    ///
    /// - Throws: ``ListenError``, such as at a port that is taken.
    public func run() async throws {
        do {
            try await group.run()
        } catch  where stopping.isSet {
            // Who did not end in time was cut off: that is how it was to end.
        } catch  where !isListening.isSet {
            throw ListenError(
                address: configuration.address, port: configuration.port, errno: (error as? IOError)?.errnoCode,
                reason: "\(error)")
        }
    }

    /// Why the service could not begin.
    public struct ListenError: Error, Sendable {
        public let address: String
        public let port: Int
        /// `nil` where it is none of the system's, such as a name that nobody knows.
        public let errno: Int32?
        public let reason: String
    }

    /// Ends ``run()``: nobody new is let in, streams end at once, requests under way are answered. From any thread.
    public func stop() async {
        stopping.set()
        await group.triggerGracefulShutdown()
    }
}

/// What goes on besides answering, as the order of stopping wants it: ended first, while requests are still answered.
private struct StationRun: Service, CustomStringConvertible {
    let parts: KioskParts
    /// The group names its services by this; without it, by every byte that they hold.
    let description = "station"

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await parts.ports.desk.run(take) }
                group.addTask { await followLibrary() }
                group.addTask { await beat() }
                await group.waitForAll()
            }
        }
    }

    private func take(_ news: Desk.News) {
        if case .camera(let state) = news {
            // Without new pictures the streams end, and the pages ask again.
            if case .streaming = state {} else { parts.ports.preview?.end() }
        }
        parts.events.send(news.event(parts.web.texts, parts.ports.trouble))
    }

    private func followLibrary() async {
        let changes = parts.library.changes { [logger = parts.logger] error in
            logger.error("the library cannot be followed, tried again: \(parts.ports.trouble(error).message)")
        }
        for await change in changes {
            parts.events.libraryChanged(change)
            parts.ports.desk.libraryChanged()
            do {
                try await parts.doorkeeper.closeWhatEnded()
            } catch {
                parts.logger.warning("sign-ins that ended are not known: \(parts.ports.trouble(error).message)")
            }
        }
    }

    private func beat() async {
        while !Task.isCancelled {
            parts.events.beat()
            do { try await Task.sleep(for: EventHub.heartbeat) } catch { return }
        }
    }
}

/// What the parts of the kiosk share.
struct KioskParts: Sendable {
    let configuration: KioskServer.Configuration
    let ports: KioskPorts
    let web: WebFolder
    let pages: Pages
    let events = EventHub()
    let connections: Connections
    let doorkeeper: Authenticator
    let run = ID<KioskServer>().rawValue
    let logger: Logger

    init(_ configuration: KioskServer.Configuration, ports: KioskPorts, logger: Logger) throws {
        self.logger = logger
        self.configuration = configuration
        self.ports = ports
        web = try WebFolder.ofProgram.get()
        pages = Pages(web: web, ports: ports, version: configuration.version)
        connections = Connections(limit: configuration.limits.connections)
        doorkeeper = Authenticator(
            ports: ports,
            crossSite: CrossSite(names: HostNames(address: configuration.address, names: configuration.names)),
            connections: connections, isBehindProxy: configuration.isBehindProxy, logger: logger)
    }

    var library: any KioskLibrary { ports.library }
}

/// Something that happened.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
    /// - Returns: whether it had not happened before.
    func setFirst() -> Bool { !value.exchange(true, ordering: .relaxed) }
}
