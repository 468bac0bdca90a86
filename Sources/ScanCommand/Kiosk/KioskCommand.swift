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
    @OptionGroup var places: PathOptions

    func validate() throws {
        if !(0...65_535).contains(port) { throw ValidationError("--port takes 0 to 65535.") }
        if noCamera, live.camera.isUsed || live.frames != nil {
            throw ValidationError("--no-camera goes with none of --device, --size, --fps, --format and --frames.")
        }
        try ListenCheck.check(listen: listen, names: names)
    }

    func run() async throws {
        let wiring = try Wiring(settings: places.settings())
        let library = try wiring.openLibrary()
        try await ListenCheck.requireCode(for: listen, behindProxy: behindProxy, of: library)
        let logger = Self.logger()
        library.onLastUseError { logger.warning("the last use of sign-ins and stations is not written: \($0)") }
        let preview = noCamera ? nil : PreviewFeed()
        let camera = try noCamera ? nil : live.scan(wiring.settings, preview: preview)
        if noCamera { logger.notice("camera: none, as --no-camera says") }
        var options = Station.Options()
        (options.isOffline, options.followsQueue, options.looksUpDue) = (wiring.isOffline, true, true)
        let station = Station(
            flow: wiring.captureFlow(library), history: library, options: options, live: camera,
            covers: wiring.coverFetcher(library), log: { logger.notice("\($0.oneLine)") })
        var ports = KioskPorts(library: library, station: station)
        ports.device = library.device
        ports.preview = preview
        ports.maintenance = wiring.maintenance(library)
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
        let scanner = Task { await listen(to: live.scanner, station, logger) }
        let chores = Task { await KioskMaintenance(library: library, wiring: wiring, logger: logger).run() }
        let (ends, end) = AsyncThrowingStream.makeStream(of: Ending.self)
        Interrupts.onFirst {
            library.shortenLockTimeout(to: Self.lastWrite)
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
            try await watchdog.guarding(Watchdog.look(at: library, camera: { camera?.snapshot.camera })) {
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
        } catch let failure as KioskServer.ListenError {
            scanner.cancel()
            chores.cancel()
            throw Self.error(for: failure)
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

    private func listen(to path: String?, _ station: Station, _ logger: Logger) async {
        guard let path else { return }
        for await event in HandheldScanner(path: path).events() {
            switch event {
            case .line(let text): station.enqueue(scannedLine: text)
            case .trouble(let text): logger.warning("scanner: \(text.oneLine)")
            case .ready(let name): logger.notice("scanner: \(name.oneLine) is ready")
            }
        }
    }
}

extension KioskCommand {
    /// Why the service cannot listen: what, where, what next.
    static func error(for failure: KioskServer.ListenError) -> CommandError {
        let place = "\(failure.address.printable), port \(failure.port)"
        switch failure.errno {
        case EADDRINUSE:
            let holder = PortHolder.name(of: failure.port).map { ": \($0)" } ?? ""
            return CommandError(
                .unavailable,
                "cannot listen at \(place): another program is there\(holder). End it, or name another port with --port."
            )
        case EADDRNOTAVAIL:
            return CommandError(
                .unavailable,
                "cannot listen at \(place): this machine has no such address. Name one that it has, or 0.0.0.0 for all."
            )
        case EACCES:
            return CommandError(
                .permission,
                "cannot listen at \(place): ports below 1024 are the system's. Name another with --port.")
        default:
            return CommandError(
                .unavailable,
                "cannot listen at \(place): \(failure.reason.printable). Name another address with --listen or port with --port."
            )
        }
    }
}

/// What has to be so before the kiosk opens to others.
enum ListenCheck {
    /// - Throws: when it is no address to listen on, or no names.
    static func check(listen: String, names: [String]) throws {
        if listen != "localhost", bytes(of: listen) == nil {
            throw ValidationError(
                "--listen takes an address of this machine (127.0.0.1, 192.168.1.5, 0.0.0.0 for all of them), not "
                    + "\"\(listen.oneLine)\". A name goes with --name.")
        }
        for name in names where !isHostName(name) {
            throw ValidationError(
                "--name takes a host name without scheme, port and path, such as shelf.example, not \"\(name.oneLine)\"."
            )
        }
    }

    /// Only this machine may come in without a code.
    ///
    /// - Throws: ``CommandError`` with what to do.
    static func requireCode(for listen: String, behindProxy: Bool = false, of access: some Access) async throws {
        if isLoopback(listen), !behindProxy { return }
        if try await access.hasAccessCode() { return }
        if isLoopback(listen) {
            throw CommandError(
                .configuration,
                "with --behind-proxy everybody signs in, and no access code is set. Set one with 'scan kiosk code'.")
        } else {
            throw CommandError(
                .configuration,
                "others could reach the library at \(listen), and no access code is set. Set one with 'scan kiosk code', "
                    + "or leave --listen out: then only this machine gets in.")
        }
    }

    /// 127.0.0.0/8 and ::1 (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3).
    static func isLoopback(_ address: String) -> Bool {
        if address == "localhost" { return true }
        guard let bytes = bytes(of: address) else { return false }
        return bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    private static func bytes(of address: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, address, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        if inet_pton(AF_INET6, address, &six) == 1 { return withUnsafeBytes(of: &six) { Array($0) } }
        return nil
    }

    /// Labels of letters, digits and hyphens (RFC 1123, 2.1).
    private static func isHostName(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy {
                        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45
                    }
            }
    }
}

/// Who listens at a TCP port of this machine, as far as this account may see.
enum PortHolder {
    /// - Returns: such as "scan (process 1234)"; `nil` when it cannot be seen.
    static func name(of port: Int) -> String? {
        let sockets = Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { listening(at: port, in: $0) })
        guard !sockets.isEmpty else { return nil }
        for process in entries(of: "/proc") where Int(process) != nil {
            let holds = entries(of: "/proc/\(process)/fd").contains { descriptor in
                destination(of: "/proc/\(process)/fd/\(descriptor)").map(sockets.contains) ?? false
            }
            guard holds, let name = text(of: "/proc/\(process)/comm") else { continue }
            return "\(name.filter { !$0.isNewline }) (process \(process))"
        }
        return nil
    }

    /// The sockets, as the links in /proc/…/fd name them. Source: proc_pid_net(5); state 0A is TCP_LISTEN, the tenth field the inode.
    static func listening(at port: Int, in table: String) -> [String] {
        guard let lines = text(of: table)?.split(separator: "\n").dropFirst() else { return [] }
        return lines.compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let colon = fields[1].lastIndex(of: ":"),
                Int(fields[1][fields[1].index(after: colon)...], radix: 16) == port
            else { return nil }
            return "socket:[\(fields[9])]"
        }
    }

    // What cannot be looked at belongs to another account, or is gone: then the message names nobody.
    private static func entries(of folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private static func destination(of link: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: link)
    }

    private static func text(of file: String) -> String? { try? String(contentsOfFile: file, encoding: .utf8) }
}
