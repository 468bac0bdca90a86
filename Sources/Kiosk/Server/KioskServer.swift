import Async
import Bookplate
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import Station

/// Serves the web interface over HTTP and HTTPS, with its pages, their JSON API and server-sent events.
public final class KioskServer: Sendable {
    public struct Configuration: Sendable {
        /// The address to listen on; 0.0.0.0 or :: listens on all addresses of this machine.
        public var address = "127.0.0.1"
        /// The port to listen on; 0 chooses a free port.
        public var port = 8278
        /// The port and the certificate for https; `nil` to speak plain http only.
        public var tls: KioskTLS?
        /// The host names that browsers may use in addition to the address, such as "shelf.local".
        public var names: [String] = []
        /// True if a proxy on this machine forwards requests from other machines, so that a loopback address does not
        /// grant access.
        public var isBehindProxy = false
        /// The program's version, which pages and /healthz show.
        public var version = ""
        /// The option or variable that determines ``address``, such as "--listen"; `nil` if the service listens on
        /// loopback, and on the addresses that a person chooses on a page (``KioskPorts/network``).
        public var addressSource: String?
        /// Returns this machine's addresses on its networks.
        var ownAddresses: @Sendable () -> [MachineAddress] = MachineAddress.all
        /// The time after which the machine's addresses are compared with the choice again.
        var addressInterval: Duration = .seconds(5)
        var limits = ConnectionLimits()
        /// The time that running requests have to finish when the service stops.
        var shutdownTime: Duration = .seconds(3)

        public init() {}
    }

    /// The ports on which the service listens so far.
    private struct Begun {
        var http: Int?
        var https: Int?

        /// All ports; `nil` while one of them is missing.
        func ports(of configuration: Configuration) -> ListeningPorts? {
            guard let http, https != nil || configuration.tls == nil else { return nil }
            return ListeningPorts(http: http, https: https)
        }
    }

    private let group: ServiceGroup
    private let configuration: Configuration
    private let stopping = SharedValue(false)
    private let begun: SharedValue<Begun>

    /// - Parameter started: a function that is called with the ports as soon as the service listens on all of them.
    /// - Throws: an error if the web files that come with the program are missing or invalid.
    public convenience init(
        _ configuration: Configuration, ports: KioskPorts, logger: Logger,
        started: @escaping @Sendable (ListeningPorts) async -> Void = { _ in }
    ) throws {
        try self.init(configuration, ports: ports, logger: logger, more: [], started: started)
    }

    /// - Parameter more: the routes to serve in addition to ``KioskParts/routes``.
    init(
        _ configuration: Configuration, ports: KioskPorts, logger: Logger, more: [Route],
        started: @escaping @Sendable (ListeningPorts) async -> Void
    ) throws {
        let parts = try KioskParts(configuration, ports: ports, logger: logger)
        let begun = SharedValue(Begun())
        self.configuration = configuration
        self.begun = begun
        let router = Router(context: KioskContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: KioskMiddleware(parts: parts))
        let authenticator = parts.authenticator
        for route in parts.routes + more {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try authenticator.authorise(request, context, to: route)
                return try await route.handler(request, context)
            }
        }
        let responder = router.buildResponder()
        let contexts = configuration.tls.map { TLSContexts($0) }
        let makeServer: NetworkListeners.MakeServer = { socket, started in
            let application = Application(
                responder: TransportResponder(base: responder, isEncrypted: socket.isEncrypted),
                server: .guarded(
                    configuration.limits, parts.connections, contexts: socket.isEncrypted ? contexts : nil),
                configuration: .init(address: .hostname(socket.address, port: socket.port), serverName: nil),
                onServerRunning: started, logger: logger)
            return SocketService(application: application, socket: socket)
        }
        let applications = ListeningPorts(http: configuration.port, https: configuration.tls?.port).sockets(
            at: configuration.address
        ).map { socket in
            makeServer(socket) { channel in
                let port = channel.localAddress?.port ?? 0
                let ports = begun.withLock { begun in
                    if socket.isEncrypted { begun.https = port } else { begun.http = port }
                    return begun.ports(of: configuration)
                }
                guard let ports else { return }
                await parts.listeners.start(on: ports)
                await started(ports)
            }
        }
        // Services are stopped in reverse order. The background tasks therefore stop first, while requests are still
        // served.
        let others = NetworkListening(listeners: parts.listeners, makeServer: makeServer)
        var services = ServiceGroupConfiguration(
            services: applications.map { .init(service: $0) } + [
                .init(service: others), .init(service: BackgroundTasks(parts: parts)),
            ], logger: logger)
        services.maximumGracefulShutdownDuration = configuration.shutdownTime
        group = ServiceGroup(configuration: services)
    }

    /// Serves requests until ``stop()`` is called or the task is cancelled.
    ///
    /// - Throws: ``ListenError`` if the service cannot listen, for instance because the port is in use.
    public func run() async throws {
        do {
            try await group.run()
        } catch  where stopping.value {
            // Requests that did not finish in time were cut off. This is intended.
        } catch  where begun.value.ports(of: configuration) == nil {
            let failure = error as? SocketService.Failure
            throw ListenError(
                address: configuration.address, port: failure?.socket.port ?? configuration.port,
                isEncrypted: failure?.socket.isEncrypted ?? false, errno: failure?.errno,
                reason: failure?.reason ?? "\(error)")
        }
    }

    /// The reason why the service could not listen.
    public struct ListenError: Error, Sendable {
        public let address: String
        public let port: Int
        /// True if the port is the one for https.
        public let isEncrypted: Bool
        /// The system's error number; `nil` if the error does not come from the system, such as an unknown host name.
        public let errno: Int32?
        public let reason: String
    }

    /// Ends ``run()``. New connections are refused, streams end at once, and running requests are answered. This
    /// function is thread-safe.
    public func stop() async {
        _ = stopping.exchange(true)
        await group.triggerGracefulShutdown()
    }
}

/// The server of one socket, whose errors name the socket.
struct SocketService: Service, CustomStringConvertible {
    let application: any Service
    let socket: NetworkListeners.Socket

    /// The reason why the server ended.
    struct Failure: Error {
        let socket: NetworkListeners.Socket
        /// The system's error number; `nil` if the error does not come from the system.
        let errno: Int32?
        let reason: String
    }

    /// The name that the service group logs.
    var description: String { "server at \(socket.address), port \(socket.port)" }

    func run() async throws {
        do {
            try await application.run()
        } catch {
            throw Failure(socket: socket, errno: (error as? IOError)?.errnoCode, reason: "\(error)")
        }
    }
}

/// The tasks that run beside the HTTP server. They run the station, follow the library, and send the heartbeats of
/// event streams.
private struct BackgroundTasks: Service, CustomStringConvertible {
    let parts: KioskParts
    /// The name that the service group logs. Without it, the group would log a dump of the whole value.
    let description = "background tasks"

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await parts.ports.station.run() }
                group.addTask { await followStation() }
                group.addTask { await followLibrary() }
                group.addTask { await sendHeartbeats() }
                group.addTask { await parts.imports.stopWithService() }
                group.addTask { await prepareStats() }
                await group.waitForAll()
            }
        }
    }

    /// The minimum time between two announcements of changes to the batch. Each time, pages load the whole batch again,
    /// and a person hardly notices the delay.
    private static let batchInterval: Duration = .milliseconds(100)

    /// Sends the station's news to the pages. Changes to the batch that follow each other within ``batchInterval`` are
    /// announced together.
    private func followStation() async {
        let isBatchDue = SharedValue(false)
        for await news in parts.ports.station.news {
            guard case .batch = news else {
                await handle(news)
                continue
            }
            guard !isBatchDue.exchange(true) else { continue }
            Task {
                // Nothing cancels this task, so the pause does not fail.
                try await Task.sleep(for: Self.batchInterval)
                _ = isBatchDue.exchange(false)
                await handle(news)
            }
        }
    }

    private func handle(_ news: Station.News) async {
        if case .camera = news, let preview = parts.ports.preview {
            // If there are no more frames, the preview streams are ended, and pages reconnect automatically. The camera
            // may have started again since this news was posted, so its present state decides; and it may start again
            // while this task waits for the answer, so streams that began since then go on.
            let watchers = preview.ids
            if case .streaming = await parts.ports.station.snapshot(limit: 0).camera {
            } else {
                preview.end(watchers)
            }
        }
        if let event = news.event(parts.web.texts) { parts.events.send(event) }
    }

    private func followLibrary() async {
        let changes = parts.ports.library.changes { [logger = parts.logger] error in
            logger.error("cannot watch the library for changes, retrying: \(error)")
        }
        for await change in changes {
            parts.events.libraryChanged(change)
            parts.ports.station.libraryChanged()
            // Another program may have removed the access code.
            await parts.listeners.update()
            do {
                try await parts.authenticator.closeEndedConnections()
            } catch {
                parts.logger.warning("cannot find out which sign-ins have ended: \(error)")
            }
        }
    }

    /// Computes the stats of each reader, which the library keeps, so that the first page with them is as quick as all
    /// others.
    private func prepareStats() async {
        do {
            for reader in try await parts.ports.library.readers() {
                let library = try await parts.ports.library.reading(
                    as: reader.id, holder: nil, isGuest: true, at: parts.ports.now())
                _ = try await library.yearSoFar(at: parts.ports.now(), in: parts.ports.zone)
            }
        } catch {
            parts.logger.warning("cannot prepare the stats, so the first page computes them: \(error)")
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
    let events: EventHub
    let connections: Connections
    let authenticator: Authenticator
    let listeners: NetworkListeners
    let wrongTokens = WrongTokens()
    let uploads = PhotoUploads()
    let phones: PhoneCameras?
    let invitations = PhoneInvitations()
    let imports: ImportDesk
    let searches = RecentAnswers<FoundEditions>()
    let comparisons = RecentAnswers<Comparison>()
    /// The identifier of this run of the service; see ``EventRoutes/run``.
    let run = ID<KioskServer>().rawValue
    let logger: Logger

    init(_ configuration: KioskServer.Configuration, ports: KioskPorts, logger: Logger) throws {
        self.logger = logger
        self.configuration = configuration
        self.ports = ports
        phones = ports.makePhoneScan.map { PhoneCameras(makeScan: $0) }
        events = EventHub()
        imports = ImportDesk(ports.importFile, events: events, now: ports.now)
        web = try WebFolder.bundled.get()
        pages = Pages(web: web, ports: ports, version: configuration.version)
        connections = Connections(configuration.limits)
        authenticator = Authenticator(
            ports: ports,
            crossSite: CrossSite(names: HostNames(address: configuration.address, names: configuration.names)),
            connections: connections, isBehindProxy: configuration.isBehindProxy, logger: logger)
        listeners = NetworkListeners(configuration, ports: ports, connections: connections, logger: logger)
    }
}
