import ArgumentParser
import Bookplate
import Capture
import Foundation
import Kiosk
import Library
import Logging
import Station

struct KioskCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kiosk",
        abstract: "Serve the web pages: scanning station and library in a browser.",
        discussion: """
            Serves http://127.0.0.1:8278 until a signal ends it, and captures with the
            camera meanwhile. What waits in the queue stands on its pages again after a
            restart. A first Control-C ends it in order, a second at once.

              scan kiosk                               for a browser on this machine
              scan kiosk --port 9000 --no-camera
              scan kiosk --device Logitech --scanner /dev/input/by-id/usb-...-kbd
              rpicam-vid -t 0 --codec mjpeg -n -o - | scan kiosk --frames -

            Another address needs an access code first; other devices sign in with it:

              scan kiosk code
              scan kiosk --listen 0.0.0.0

            A web server or tunnel on this machine that passes others on (nginx, ssh -R)
            looks like somebody at this machine. With --behind-proxy all sign in:

              scan kiosk --behind-proxy --name shelf.example
            """,
        subcommands: [KioskCodeCommand.self])

    @Option(help: ArgumentHelp("Address of this machine to listen on.", valueName: "address"))
    var listen = "127.0.0.1"

    @Option(help: ArgumentHelp("Port to listen on; 0 for a free one.", valueName: "number"))
    var port = 8278

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp(
            "Another name by which browsers ask for it, such as shelf.example (can be repeated).", valueName: "host"))
    var names: [String] = []

    @Flag(
        help: "A proxy or tunnel on this machine passes others on: also who comes from this machine signs in.")
    var behindProxy = false

    @Flag(help: "Capture without a camera: numbers, photos and handheld scanners.")
    var noCamera = false

    @OptionGroup var live: LiveOptions
    @OptionGroup var places: PlaceOptions

    func validate() throws {
        if !(0...65_535).contains(port) { throw ValidationError("--port takes 0 to 65535.") }
        if noCamera, live.camera.isUsed || live.frames != nil {
            throw ValidationError("--no-camera goes with none of --device, --size, --fps, --format and --frames.")
        }
        try KioskDoor.check(listen: listen, names: names)
    }

    func run() async throws {
        let wiring = try Wiring(settings: places.settings())
        let library = try wiring.openLibrary()
        try await KioskDoor.requireCode(for: listen, behindProxy: behindProxy, of: library)
        let logger = Self.logger()
        library.onUnwrittenUse { logger.warning("the last use of sign-ins and stations is not written: \($0)") }
        let preview = noCamera ? nil : PreviewFeed()
        let camera = try noCamera ? nil : live.scan(wiring.settings, preview: preview)
        if noCamera { logger.notice("camera: none, as --no-camera says") }
        let desk = Desk(
            flow: wiring.captureFlow(library), history: library, live: camera, covers: wiring.coverFlow(library),
            isOffline: wiring.isOffline, report: { logger.notice("\($0.oneLine)") })
        var ports = KioskPorts(library: library, desk: desk, trouble: Failure.kioskTrouble)
        ports.station = library.station
        ports.preview = preview
        ports.upkeep = wiring.upkeep(library)
        let photos = PhotoChildren()
        ports.readPhoto = { try await photos.read($0) }
        let watchdog = Watchdog(try ServiceNotice())
        let server = try KioskServer(configuration, ports: ports, logger: logger) { port in
            started(port)
            watchdog.ready("At \(address(port))")
        }

        Interrupts.handle { nil }
        Interrupts.onEnd {
            library.abandonBackups()
            camera?.leave()
        }
        let scanner = Task { await listen(to: live.scanner, desk, logger) }
        let chores = Task { await KioskChores(library: library, wiring: wiring, logger: logger).run() }
        let (ends, end) = AsyncThrowingStream.makeStream(of: Ending.self)
        Interrupts.onFirst {
            library.hurry(within: Self.lastWrite)
            Task {
                // First, so that what it sent is still captured.
                scanner.cancel()
                await scanner.value
                await server.stop()
            }
            Task {
                try await Task.sleep(for: Self.patience)
                end.yield(.late)
            }
        }
        defer { Interrupts.giveBack() }
        let serving = Task {
            try await watchdog.guarding(Watchdog.look(at: library, camera: { camera?.glance.camera })) {
                try await server.run()
            }
            chores.cancel()
            await chores.value
        }
        Task {
            switch await serving.result {
            case .success: end.yield(.inOrder)
            case .failure(let failure): end.finish(throwing: failure)
            }
        }
        do {
            if try await ends.first(where: { _ in true }) == .late {
                logger.warning("what waited for the library was given up; nothing that was acknowledged is lost")
            }
        } catch let failure as KioskServer.ListenFailure {
            scanner.cancel()
            chores.cancel()
            throw Self.complaint(for: failure)
        }
        logger.notice("ended")
    }

    /// From the signal to the end, whatever hangs: less than who stops services waits before killing, and than a person does.
    private static let patience: Duration = .seconds(4)

    /// How long the last writes wait for a program that keeps the library locked.
    private static let lastWrite: Duration = .seconds(1)

    private enum Ending { case inOrder, late }

    private var configuration: KioskServer.Configuration {
        var configuration = KioskServer.Configuration()
        (configuration.address, configuration.port, configuration.names) = (listen, port, names)
        configuration.isBehindProxy = behindProxy
        configuration.version = productVersion
        return configuration
    }

    private func started(_ port: Int) { Output.shared.note("The kiosk is at \(address(port))") }

    private func address(_ port: Int) -> String {
        "http://\(listen.contains(":") ? "[\(listen)]" : listen):\(port)/"
    }

    /// To standard error, a line for each thing that happens; who keeps logs adds the time once more, or not.
    private static func logger() -> Logger {
        var logger = Logger(label: "kiosk", factory: { StreamLogHandler.standardError(label: $0) })
        // What is below is told by libraries about themselves.
        logger.logLevel = .notice
        return logger
    }

    private func listen(to path: String?, _ desk: Desk, _ logger: Logger) async {
        guard let path else { return }
        for await event in HandheldScanner(path: path).events() {
            switch event {
            case .line(let text): desk.scanned(text)
            case .trouble(let text): logger.warning("scanner: \(text.oneLine)")
            case .ready(let name): logger.notice("scanner: \(name.oneLine) is ready")
            }
        }
    }
}

extension KioskCommand {
    /// Why the service cannot listen: what, where, what next.
    static func complaint(for failure: KioskServer.ListenFailure) -> Complaint {
        let place = "\(failure.address.printable), port \(failure.port)"
        switch failure.errno {
        case EADDRINUSE:
            let holder = PortHolder.name(of: failure.port).map { ": \($0)" } ?? ""
            return Complaint(
                .unavailable,
                "cannot listen at \(place): another program is there\(holder). End it, or name another port with --port."
            )
        case EADDRNOTAVAIL:
            return Complaint(
                .unavailable,
                "cannot listen at \(place): this machine has no such address. Name one that it has, or 0.0.0.0 for all."
            )
        case EACCES:
            return Complaint(
                .permission,
                "cannot listen at \(place): ports below 1024 are the system's. Name another with --port.")
        default:
            return Complaint(
                .unavailable,
                "cannot listen at \(place): \(failure.reason.printable). Name another address with --listen or port with --port."
            )
        }
    }
}

extension Failure {
    /// What an error means at a page.
    static func kioskTrouble(_ error: any Error) -> KioskTrouble {
        if let trouble = error as? KioskTrouble { return trouble }
        // In words of their own: where the library lies is none of a browser's business.
        switch error {
        case LibraryError.locked:
            return KioskTrouble(
                .unavailable,
                "The library is busy: another program keeps it locked. Nothing is lost; try again when it is done.",
                cause: .locked)
        case LibraryError.diskFull:
            return KioskTrouble(
                .unavailable,
                "The library's disk is full. Nothing that was acknowledged is lost; make room and try again.",
                cause: .diskFull)
        default: break
        }
        let complaint = complaint(for: error)
        switch complaint.status {
        case .usage, .nothing: return KioskTrouble(.refused, complaint.description)
        case .locked: return KioskTrouble(.unavailable, complaint.description)
        case .inputOutput where error is LibraryError: return KioskTrouble(.unavailable, complaint.description)
        default: return KioskTrouble(.fault, complaint.description)
        }
    }
}
