import Bookplate
import Foundation

/// Runs a service under systemd's eyes: tells that it is there, gives a sign of life as long as its work moves, tells its end.
///
/// The sign of life is bought by a look at the work itself. A timer alone would go on beside a hanging library.
struct Watchdog: Sendable {
    /// What does not move, for the person who asks why the service was started anew; `nil` when all does. It may hang: then no
    /// sign of life is given either.
    typealias Look = @Sendable () async throws -> String?

    /// `nil` where no one listens; then only the service is run.
    private let notice: ServiceNotice?
    private let clock: any Clock<Duration>
    private let complain: @Sendable (String) -> Void

    /// - Parameter complain: told once for each kind of trouble, and when it is over.
    init(
        _ notice: ServiceNotice?, clock: any Clock<Duration> = ContinuousClock(),
        complain: @escaping @Sendable (String) -> Void = { Output.shared.complain($0) }
    ) {
        self.notice = notice
        self.clock = clock
        self.complain = complain
    }

    /// The service listens.
    func ready(_ status: String) { tell { notice throws(ServiceNoticeError) in try notice.ready(status) } }

    /// - Returns: when the service ends, however it does.
    func guarding(_ look: @escaping Look, _ serve: @escaping @Sendable () async throws -> Void) async throws {
        defer { tell { notice throws(ServiceNoticeError) in try notice.stopping("Ending") } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await serve() }
            if let limit = notice?.watchdogLimit {
                group.addTask {
                    try await feed(every: limit / 3, look)
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// A third of what systemd allows: one that comes late is no harm.
    private func feed(every interval: Duration, _ look: Look) async throws {
        var trouble: String?
        while true {
            let found = await looked(look)
            try Task.checkCancellation()
            if let found {
                tell { notice throws(ServiceNoticeError) in try notice.status(found) }
            } else {
                tell { notice throws(ServiceNoticeError) in try notice.watchdog() }
            }
            if found != trouble { complain(found ?? "It moves again.") }
            trouble = found
            try await clock.sleep(for: interval)
        }
    }

    private func looked(_ look: Look) async -> String? {
        do { return try await look() } catch { return CommandError(describing: error).description }
    }

    private func tell(_ message: (ServiceNotice) throws(ServiceNoticeError) -> Void) {
        guard let notice else { return }
        do throws(ServiceNoticeError) { try message(notice) } catch { complain(error.description) }
    }

    /// What has to move: the library answers a read, and the thread that waits for frames gave a sign of life within the time
    /// after which ``LiveScan`` shows it as stuck, 15 seconds. A camera that is merely gone is no trouble: the service runs on.
    ///
    /// - Parameter camera: `nil` for a service without one.
    static func look(at library: any LibrarySettings, camera: @escaping @Sendable () -> CameraState?) -> Look {
        {
            _ = try await library.settings()
            guard case .trouble(let trouble) = camera(), trouble.kind == .stuck else { return nil }
            return trouble.description
        }
    }
}

/// Tells systemd how the service stands: datagrams of `NAME=value` lines to the socket that it names in the environment.
///
/// Source: sd_notify(3), whose protocol is promised to stay and free to be written anew; so libsystemd is not needed.
struct ServiceNotice: Sendable {
    /// Where systemd listens, as `sockaddr_un` has it: a path, or with a leading NUL a name in the abstract namespace.
    private let address: [UInt8]
    /// So long without a word from ``watchdog()``, and the service is killed and started anew; `nil` when it does not watch.
    let watchdogLimit: Duration?

    /// Of this process.
    ///
    /// - Returns: `nil` when no one listens, as when a person started the program.
    /// - Throws: ``CommandError`` for a socket that cannot be one: a service that waits for its READY would wait in vain.
    init?(
        environment: [String: String] = ProcessInfo.processInfo.environment, process: pid_t = getpid()
    ) throws {
        guard let socket = environment["NOTIFY_SOCKET"], !socket.isEmpty else { return nil }
        var address = [UInt8](socket.utf8)
        guard [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(address[0]), address.count < Self.pathSize else {
            throw CommandError(
                .configuration,
                "NOTIFY_SOCKET is \"\(String(socket.prefix(120)).oneLine)\"; it is a path, or a name that begins with @."
            )
        }
        if address[0] == UInt8(ascii: "@") { address[0] = 0 }
        self.address = address
        // WATCHDOG_PID says for whom the time is meant: a child inherits both (sd_watchdog_enabled(3)).
        let isMeant = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init) ?? 0
        watchdogLimit = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// The start is over, and the service can be used.
    func ready(_ status: String) throws(ServiceNoticeError) { try send("READY=1\nSTATUS=\(status.oneLine)") }

    /// One line for `systemctl status`.
    func status(_ text: String) throws(ServiceNoticeError) { try send("STATUS=\(text.oneLine)") }

    /// A sign of life, before every ``watchdogLimit``.
    func watchdog() throws(ServiceNoticeError) { try send("WATCHDOG=1") }

    /// The end has begun.
    func stopping(_ status: String) throws(ServiceNoticeError) { try send("STOPPING=1\nSTATUS=\(status.oneLine)") }

    private func send(_ text: String) throws(ServiceNoticeError) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ServiceNoticeError(errno: errno) }
        defer { close(descriptor) }
        // systemd reads soon; were it to hang, this thread is not to hang with it.
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
        // An abstract name is as long as told, a path ends with a NUL (unix(7)).
        let length = MemoryLayout<sa_family_t>.size + address.count + (address[0] == 0 ? 0 : 1)
        let bytes = Array(text.utf8)
        let sent = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                var sent: Int
                repeat {
                    sent = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), name, socklen_t(length))
                } while sent < 0 && errno == EINTR
                return sent
            }
        }
        guard sent == bytes.count else { throw ServiceNoticeError(errno: errno) }
    }

    /// Bytes of `sun_path`.
    private static let pathSize = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
}

/// systemd could not be told.
struct ServiceNoticeError: Error, CustomStringConvertible {
    let errno: Int32

    var description: String {
        "systemd cannot be told how the service stands: \(String(cString: strerror(errno))). "
            + "It will start the service anew when it hears nothing."
    }
}
