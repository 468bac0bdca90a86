import Async
import Bookplate
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Station
import Synchronization

/// Serves the web interface over HTTP: pages, their JSON API and server-sent events.
public final class KioskServer: Sendable {
    public struct Configuration: Sendable {
        /// The address to listen on; 0.0.0.0 or :: listens on all addresses of this machine.
        public var address = "127.0.0.1"
        /// 0 chooses a free port.
        public var port = 8278
        /// Host names that browsers may use besides the address, such as "shelf.local".
        public var names: [String] = []
        /// True if a proxy on this machine forwards requests of others, so that a loopback address grants no access.
        public var isBehindProxy = false
        /// The release, shown on pages and by /healthz.
        public var version = ""
        var limits = ConnectionLimits()
        /// The time that requests under way get to finish when the service stops.
        var shutdownTime: Duration = .seconds(3)

        public init() {}
    }

    private let group: ServiceGroup
    private let configuration: Configuration
    private let stopping = Flag()
    private let isListening: Flag

    /// - Parameter started: called with the port once it listens.
    /// - Throws: when the web files that come with the program are missing or invalid.
    public convenience init(
        _ configuration: Configuration, ports: KioskPorts, logger: Logger,
        started: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws {
        try self.init(configuration, ports: ports, logger: logger, more: [], started: started)
    }

    /// - Parameter more: routes in addition to ``KioskParts/routes``.
    init(
        _ configuration: Configuration, ports: KioskPorts, logger: Logger, more: [Route],
        started: @escaping @Sendable (Int) async -> Void
    ) throws {
        let parts = try KioskParts(configuration, ports: ports, logger: logger)
        let isListening = Flag()
        self.configuration = configuration
        self.isListening = isListening
        let router = Router(context: KioskContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: KioskMiddleware(parts: parts))
        let authenticator = parts.authenticator
        for route in parts.routes + more {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try authenticator.authorise(request, context, to: route)
                return try await route.handler(request, context)
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
        // Services are stopped in reverse order: the background tasks first, while requests are still served.
        var services = ServiceGroupConfiguration(
            services: [.init(service: application), .init(service: BackgroundTasks(parts: parts))], logger: logger)
        services.maximumGracefulShutdownDuration = configuration.shutdownTime
        group = ServiceGroup(configuration: services)
    }

    /// Serves requests until ``stop()`` is called or the task is cancelled.
    ///
    /// - Throws: ``ListenError``, for instance when the port is in use.
    public func run() async throws {
        do {
            try await group.run()
        } catch  where stopping.isSet {
            // Requests that did not finish in time were cut off, as intended.
        } catch  where !isListening.isSet {
            throw ListenError(
                address: configuration.address, port: configuration.port, errno: (error as? IOError)?.errnoCode,
                reason: "\(error)")
        }
    }

    /// The reason why the service could not listen.
    public struct ListenError: Error, Sendable {
        public let address: String
        public let port: Int
        /// `nil` for an error that is not the system's, such as an unknown host name.
        public let errno: Int32?
        public let reason: String
    }

    /// Ends ``run()``: new connections are refused, streams end at once, requests under way are answered. Thread-safe.
    public func stop() async {
        stopping.set()
        await group.triggerGracefulShutdown()
    }
}

/// The tasks that run besides the HTTP server: the station, following the library, and heartbeats of event streams.
private struct BackgroundTasks: Service, CustomStringConvertible {
    let parts: KioskParts
    /// The service group logs this name; without it, it would log a dump of the whole value.
    let description = "background tasks"

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await parts.ports.station.run() }
                group.addTask { await followStation() }
                group.addTask { await followLibrary() }
                group.addTask { await sendHeartbeats() }
                await group.waitForAll()
            }
        }
    }

    /// Sends the station's news to the pages. They read all of the batch again when it changes: at most every 100 ms.
    private func followStation() async {
        let isBatchDue = SharedValue(false)
        for await news in parts.ports.station.news {
            guard case .batch = news else {
                handle(news)
                continue
            }
            guard !isBatchDue.exchange(true) else { continue }
            Task {
                // A cancelled pause only reports sooner.
                _ = try? await Task.sleep(for: .milliseconds(100))
                _ = isBatchDue.exchange(false)
                handle(news)
            }
        }
    }

    private func handle(_ news: Station.News) {
        if case .camera(let state) = news {
            // No more frames: end the preview streams; pages reconnect.
            if case .streaming = state {} else { parts.ports.preview?.end() }
        }
        if let event = news.event(parts.web.texts) { parts.events.send(event) }
    }

    private func followLibrary() async {
        let changes = parts.library.changes { [logger = parts.logger] error in
            logger.error("cannot watch the library for changes, retrying: \(error)")
        }
        for await change in changes {
            parts.events.libraryChanged(change)
            parts.ports.station.libraryChanged()
            do {
                try await parts.authenticator.closeEndedConnections()
            } catch {
                parts.logger.warning("cannot read which sign-ins have ended: \(error)")
            }
        }
    }

    private func sendHeartbeats() async {
        while !Task.isCancelled {
            parts.events.sendHeartbeat()
            do { try await Task.sleep(for: EventHub.heartbeat) } catch { return }
        }
    }
}

/// The objects that all routes share.
struct KioskParts: Sendable {
    let configuration: KioskServer.Configuration
    let ports: KioskPorts
    let web: WebFolder
    let pages: Pages
    let events = EventHub()
    let connections: Connections
    let authenticator: Authenticator
    /// Identifies this run of the service; see ``EventRoutes/run``.
    let run = ID<KioskServer>().rawValue
    let logger: Logger

    init(_ configuration: KioskServer.Configuration, ports: KioskPorts, logger: Logger) throws {
        self.logger = logger
        self.configuration = configuration
        self.ports = ports
        web = try WebFolder.bundled.get()
        pages = Pages(web: web, ports: ports, version: configuration.version)
        connections = Connections(limit: configuration.limits.connections)
        authenticator = Authenticator(
            ports: ports,
            crossSite: CrossSite(names: HostNames(address: configuration.address, names: configuration.names)),
            connections: connections, isBehindProxy: configuration.isBehindProxy, logger: logger)
    }

    var library: any KioskLibrary { ports.library }
}

/// A thread-safe flag that is set once and never cleared.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
    /// - Returns: true if this call has set the flag.
    func setIfUnset() -> Bool { !value.exchange(true, ordering: .relaxed) }
}
