import ArgumentParser
import Async
import Bookplate
import Foundation
import Kiosk
import Library
import Logging
import PrintedText
import Station
import SystemCalls
import Terminal

struct KioskCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kiosk",
        abstract: "Serve the web pages for scanning books and browsing the library.",
        discussion: """
            Serves http://127.0.0.1:8278 until a signal ends it. Meanwhile, it captures
            books with the camera. After a restart, its pages show the queue again. The
            first Control-C shuts it down cleanly, and a second one ends it at once.

              scan kiosk                               for a browser on this machine
              scan kiosk --port 9000 --no-camera
              scan kiosk --device Logitech --scanner /dev/input/by-id/usb-...-kbd
              rpicam-vid -t 0 --codec mjpeg -n -o - | scan kiosk --frames -

            To use it on other devices, open Settings in a browser on this machine, set
            an access code, and choose who may reach the pages. Or, in the terminal:

              scan kiosk code
              scan kiosk --listen 0.0.0.0

            Browsers give a phone's camera only to pages that come over https. With --tls,
            the station makes a certificate for itself and explains on the page what the
            phone then asks; with files, it uses yours, and reads them again when they
            change:

              scan kiosk --tls
              scan kiosk --tls --tls-certificate shelf.pem --tls-key shelf.key

            Requests that come through a web server or tunnel on this machine (nginx,
            ssh -R) look like requests from this machine, which need no code. With
            --behind-proxy, everyone must sign in:

              scan kiosk --behind-proxy --name shelf.example
            """,
        subcommands: [KioskCodeCommand.self, KioskAttemptsCommand.self])

    @Option(
        help: ArgumentHelp(
            "The address of this machine to listen on; by default 127.0.0.1, and those chosen in Settings.",
            valueName: "address"))
    var listen: String?

    @Option(help: ArgumentHelp("The port to listen on; 0 for any free port.", valueName: "number"))
    var port = 8278

    @Flag(
        name: .customLong("tls"),
        help: "Let other devices use the kiosk over https only, which the cameras of phones need.")
    var isEncrypted = false

    @Option(help: ArgumentHelp("The port for https; 0 for any free port.", valueName: "number"))
    var tlsPort = KioskTLS.standardPort

    @Option(
        help: ArgumentHelp(
            "A PEM file with the certificate for https; without one, the station makes it itself.", valueName: "file"),
        completion: .file())
    var tlsCertificate: String?

    @Option(
        help: ArgumentHelp("The PEM file with the certificate's private key.", valueName: "file"), completion: .file())
    var tlsKey: String?

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp(
            "Another host name of the kiosk, such as shelf.example (can be repeated).", valueName: "host"))
    var names: [String] = []

    @Flag(
        help: "Make everyone sign in. Use this if requests come through a proxy or a tunnel on this machine.")
    var behindProxy = false

    @Flag(help: "Run without a camera. You can still type ISBNs, upload photos and use a handheld scanner.")
    var noCamera = false

    @OptionGroup var live: LiveOptions
    @OptionGroup var paths: PathOptions

    func validate() throws {
        for (name, port) in [("--port", port), ("--tls-port", tlsPort)] where !(0...65_535).contains(port) {
            throw ValidationError("\(name) must be a number from 0 to 65535.")
        }
        if noCamera, live.camera.isUsed || live.frames != nil {
            throw ValidationError("--no-camera cannot be used with --device, --size, --fps, --format or --frames.")
        }
        try ListenCheck.check(listen: listen, names: names)
    }

    /// The settings, with those of the command's options.
    private func settings() throws -> Settings {
        var flags: [Setting: String] = [:]
        flags[.listen] = listen
        if isEncrypted || tlsCertificate != nil { flags[.tls] = "1" }
        (flags[.tlsCertificate], flags[.tlsKey]) = (tlsCertificate, tlsKey)
        return try paths.settings(flags)
    }

    func run() async throws {
        let restore = ServiceRestore()
        repeat { try await serve(restore) } while restore.beginsAgain
    }

    /// Serves until a signal ends the service, or until a restore is requested and the library has been replaced.
    private func serve(_ restore: ServiceRestore) async throws {
        let wiring = try Wiring(settings: settings())
        var configuration = try configuration(wiring.settings)
        configuration.port = restore.ports?.http ?? configuration.port
        // Each browser chooses its reader.
        let library = try wiring.openLibrary(for: nil)
        try await ListenCheck.requireCode(for: configuration.address, behindProxy: behindProxy, of: library)
        let logger = Self.logger()
        configuration.tls = try KioskCertificates(settings: wiring.settings, names: names, logger: logger)
            .tls(port: restore.ports?.https ?? tlsPort)
        library.onError { logger.warning("\($0.oneLine)") }
        let preview = noCamera ? nil : PreviewFeed()
        let camera = try noCamera ? nil : live.scan(wiring.settings, preview: preview)
        if noCamera { logger.notice("camera: none (--no-camera)") }
        var options = Station.Options()
        (options.isOffline, options.followsQueue, options.looksUpDue) = (wiring.isOffline, true, true)
        let lookup = wiring.lookup(library)
        let station = Station(
            flow: wiring.captureFlow(library, lookup), history: library, options: options, live: camera,
            scanner: live.grabScanner(), covers: wiring.coverFetcher(library),
            titles: wiring.titleFinder(library, lookup), log: { logger.notice("\($0.oneLine)") })
        var ports = KioskPorts(library: library, station: station)
        ports.device = library.device
        ports.preview = preview
        if configuration.addressSource == nil { ports.network = Self.networkChoice(wiring.settings.paths.settingsFile) }
        ports.maintenance = wiring.maintenance(library, settings: settings)
        restore.offer(library, in: &ports.maintenance)
        ports.records = lookup
        if let path = library.path { ports.importFile = BrowserImport(folder: folder(of: path)) }
        if !wiring.isOffline { ports.fetchCover = wiring.coverDownloader(library) }
        ports.makePhoneScan = LiveOptions.phoneScan
        let photos = PhotoChildren()
        ports.readPhoto = { try await photos.read($0) }
        do throws(TesseractError) {
            let tesseract = try Tesseract(inFolders: ProcessInfo.processInfo.environment["PATH"] ?? "")
            ports.readPrint = { try await photos.readPrint(in: $0, with: tesseract) }
        } catch {
            logger.notice("tesseract is not installed, so titles are not read from photos")
        }
        let watchdog = Watchdog(try ServiceNotice())
        let server = try KioskServer(configuration, ports: ports, logger: logger) {
            [host = configuration.address] ports in
            restore.ports = ports
            let address = Self.address("http", host, ports.http)
            Output.shared.printNotice("The kiosk is at \(address)")
            if let port = ports.https {
                Output.shared.printNotice("With https, it is at \(Self.address("https", host, port))")
            }
            watchdog.ready("At \(address)")
        }

        Interrupts.handle { nil }
        Interrupts.onEnd {
            library.abandonBackups()
            camera?.leave()
        }
        let maintenance = Task { await KioskMaintenance(library: library, wiring: wiring, logger: logger).run() }
        // This stream ends at the first signal, or when the service ends.
        let (running, end) = AsyncStream.makeStream(of: Never.self)
        Interrupts.onFirst {
            restore.end()
            library.shortenLockTimeout(to: Self.lastWrite)
            Task { await server.stop() }
            end.finish()
        }
        restore.onRequest { await server.stop() }
        defer { Interrupts.release() }
        let check = Watchdog.look(at: library, camera: { camera?.snapshot.camera })
        let serving = Task {
            defer { end.finish() }
            try await watchdog.guarding(check, beginsAgain: { restore.beginsAgain }) { try await server.run() }
            maintenance.cancel()
            await maintenance.value
        }
        for await _ in running {}
        do {
            if try await withTimeLimit(Self.patience, { try await serving.value }) == nil {
                logger.warning("pending writes were abandoned; all writes that were acknowledged are on disk")
            }
        } catch let failure as KioskServer.ListenError {
            maintenance.cancel()
            throw Self.error(for: failure)
        }
        if restore.beginsAgain {
            logger.notice("restoring a backup")
            // Copying a large library takes longer than systemd waits for a message.
            try await watchdog.guarding({ nil }, beginsAgain: { restore.beginsAgain }) {
                await restore.restore(over: library)
            }
        }
        logger.notice("ended")
    }

    /// The longest time from the signal to the end of the process, even if something hangs. A service manager or a
    /// person waits longer than this before killing the process.
    private static let patience: Duration = .seconds(4)

    /// The maximum time for which the last writes, when the service ends, wait for another program's lock on the
    /// library.
    private static let lastWrite: Duration = .seconds(1)

    /// Only an option or a variable replaces the loopback address. The addresses that a person chooses in Settings,
    /// which are in the settings file, are added to it.
    private func configuration(_ settings: Settings) throws -> KioskServer.Configuration {
        var configuration = KioskServer.Configuration()
        (configuration.port, configuration.names) = (port, names)
        configuration.isBehindProxy = behindProxy
        configuration.version = productVersion
        switch settings.level(of: .listen) {
        case .flag: configuration.addressSource = "--listen"
        case .environment: configuration.addressSource = Setting.listen.environmentName
        case .file, .standard:
            if behindProxy { configuration.addressSource = "--behind-proxy" }
            return configuration
        }
        configuration.address = settings[.listen] ?? configuration.address
        try ListenCheck.check(configuration.address, as: configuration.addressSource ?? "--listen")
        return configuration
    }

    /// - Parameter path: the settings file.
    private static func networkChoice(_ path: String) -> NetworkChoice {
        let file = SettingsFile(path: path)
        return NetworkChoice(
            stored: { try file.read()[.listen].flatMap { ListenCheck.isLoopback($0) ? nil : $0 } },
            store: { choice in try file.change(.listen, to: choice) })
    }

    private static func address(_ scheme: String, _ host: String, _ port: Int) -> String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
    }

    /// Makes a logger that writes to standard error.
    private static func logger() -> Logger {
        var logger = Logger(label: "kiosk", factory: { StreamLogHandler.standardError(label: $0) })
        // The libraries use lower levels for details.
        logger.logLevel = .notice
        return logger
    }

}

extension KioskCommand {
    /// Describes why the service cannot listen, and what to do.
    static func error(for failure: KioskServer.ListenError) -> CommandError {
        let option = failure.isEncrypted ? "--tls-port" : "--port"
        let socket = "\(failure.address.printable), port \(failure.port)"
        switch failure.errno {
        case EADDRINUSE:
            let holder = PortHolder.name(of: failure.port).map { ": \($0)" } ?? ""
            return CommandError(
                .unavailable,
                "cannot listen on \(socket): another program uses the port\(holder). End that program, or choose another port with \(option)."
            )
        case EADDRNOTAVAIL:
            return CommandError(
                .unavailable,
                "cannot listen on \(socket): this machine has no such address. Use one of its addresses, or 0.0.0.0 for all."
            )
        case EACCES:
            return CommandError(
                .permission,
                "cannot listen on \(socket): ports below 1024 are reserved for the system. Choose another port with \(option)."
            )
        default:
            return CommandError(
                .unavailable,
                "cannot listen on \(socket): \(failure.reason.printable). Choose another address with --listen, or "
                    + "another port with \(option).")
        }
    }
}

/// Checks the addresses and the access code before the kiosk listens.
enum ListenCheck {
    /// - Throws: `ValidationError` if `listen` is not an address to listen on, or if a name is not a host name.
    static func check(listen: String?, names: [String]) throws {
        do {
            if let listen { try check(listen, as: "--listen") }
        } catch {
            throw ValidationError("\(error)")
        }
        for name in names where !isHostName(name) {
            throw ValidationError(
                "--name must be a host name without scheme, port and path, such as shelf.example, but it is \"\(name.oneLine)\"."
            )
        }
    }

    /// - Parameter name: the option, variable or setting.
    /// - Throws: ``CommandError`` if the value is not an address to listen on.
    static func check(_ listen: String, as name: String) throws(CommandError) {
        guard listen != "localhost", bytes(of: listen) == nil else { return }
        throw CommandError(
            .configuration,
            "\(name) must be an address of this machine, such as 192.168.1.5, or 0.0.0.0 for all its addresses; it is "
                + "\"\(listen.oneLine)\". To give a host name, use --name.")
    }

    /// Requires an access code unless only this machine has access.
    ///
    /// - Throws: ``CommandError`` if a code is required but not set.
    static func requireCode(for listen: String, behindProxy: Bool = false, of access: some Access) async throws {
        if isLoopback(listen), !behindProxy { return }
        if try await access.hasAccessCode() { return }
        if isLoopback(listen) {
            throw CommandError(
                .configuration,
                "with --behind-proxy everyone must sign in, but no access code is set. To set one, run 'scan kiosk code'."
            )
        } else {
            throw CommandError(
                .configuration,
                "other devices could reach the library at \(listen), but no access code is set. To set one, run "
                    + "'scan kiosk code'. To give access only to this machine, leave out --listen.")
        }
    }

    /// Returns true for a loopback address: 127.0.0.0/8 or ::1 (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3).
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

    /// Returns true if the name consists of labels of letters, digits and hyphens (RFC 1123, 2.1).
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

/// Finds the process that listens on a TCP port of this machine, if this account may see it.
enum PortHolder {
    /// - Returns: the name of the process, such as "scan (process 1234)"; nil if this account may not see it.
    static func name(of port: Int) -> String? {
        let sockets = Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap { listening(at: port, in: $0) })
        guard !sockets.isEmpty else { return nil }
        for process in fileNames(in: "/proc") where Int(process) != nil {
            let holds = fileNames(in: "/proc/\(process)/fd").contains { descriptor in
                destination(of: "/proc/\(process)/fd/\(descriptor)").map(sockets.contains) ?? false
            }
            guard holds, let name = text(of: "/proc/\(process)/comm") else { continue }
            return "\(name.filter { !$0.isNewline }) (process \(process))"
        }
        return nil
    }

    /// Returns the sockets that listen on a port, in the form of the links in /proc/…/fd: `socket:[12345]`. Source:
    /// proc_pid_net(5). State 0A is TCP_LISTEN, and the tenth field is the inode.
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

    // Entries that cannot be read belong to another account or have disappeared. In that case the message does not name
    // the process.
    private static func destination(of link: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: link)
    }

    /// Returns the text of one of the kernel's files. The limit of 16 MiB is enough for a table of about 100,000
    /// sockets.
    static func text(of path: String) -> String? {
        (try? readFile(path, limit: 16 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }
}
