import Bookplate
import Foundation
import SystemCalls
import SystemPackage
import Terminal

/// Runs a service under systemd's watchdog. It notifies systemd when the service is ready, regularly as long as its
/// work makes progress, and when it is stopping.
///
/// Before each keep-alive message, the work itself is checked. A timer alone would keep running even if the library
/// hangs.
struct Watchdog: Sendable {
    /// A function that returns a description of the part that is stuck, or `nil` if nothing is stuck. The description
    /// is reported, so that a later restart by systemd can be explained. No keep-alive message is sent if something is
    /// stuck, or if the check itself hangs.
    typealias HealthCheck = @Sendable () async throws -> String?

    /// The connection to systemd. It is `nil` without a service manager, and then the service just runs.
    private let notice: ServiceNotice?
    private let clock: any Clock<Duration>
    private let report: @Sendable (String) -> Void

    /// - Parameter report: receives a message when a problem begins, changes or ends.
    init(
        _ notice: ServiceNotice?, clock: any Clock<Duration> = ContinuousClock(),
        report: @escaping @Sendable (String) -> Void = { Output.shared.printError($0) }
    ) {
        self.notice = notice
        self.clock = clock
        self.report = report
    }

    /// Notifies systemd that the service is ready.
    func ready(_ status: String) { notify { notice throws(ServiceNoticeError) in try notice.ready(status) } }

    /// Runs the service until it ends, and notifies systemd as long as the health check passes.
    ///
    /// - Parameter beginsAgain: returns true if the service begins again after this, and systemd must not learn that
    ///   it is stopping.
    func guarding(
        _ check: @escaping HealthCheck, beginsAgain: @escaping @Sendable () -> Bool = { false },
        _ serve: @escaping @Sendable () async throws -> Void
    ) async throws {
        defer {
            if !beginsAgain() { notify { notice throws(ServiceNoticeError) in try notice.stopping("Stopping") } }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await serve() }
            if let limit = notice?.watchdogLimit {
                group.addTask { try await sendKeepAlives(every: limit / 3, check) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Sends three keep-alive messages within systemd's limit, so that a single late message does no harm.
    private func sendKeepAlives(every interval: Duration, _ check: HealthCheck) async throws {
        var reported: String?
        while true {
            let problem = await problem(check)
            try Task.checkCancellation()
            if let problem {
                notify { notice throws(ServiceNoticeError) in try notice.status(problem) }
            } else {
                notify { notice throws(ServiceNoticeError) in try notice.watchdog() }
            }
            if problem != reported { report(problem ?? "The service works again.") }
            reported = problem
            try await clock.sleep(for: interval)
        }
    }

    private func problem(_ check: HealthCheck) async -> String? {
        do { return try await check() } catch { return CommandError(describing: error).description }
    }

    private func notify(_ message: (ServiceNotice) throws(ServiceNoticeError) -> Void) {
        guard let notice else { return }
        do throws(ServiceNoticeError) { try message(notice) } catch { report(error.description) }
    }

    /// Returns a check that the library can be read, and that the thread that waits for frames is not stuck.
    /// ``LiveScan`` reports that thread as stuck after 15 seconds without a sign of life. A missing camera is not a
    /// problem, because the service runs without it.
    ///
    /// - Parameter camera: the state of the camera; `nil` for a service without one.
    static func look(at library: any LibrarySettings, camera: @escaping @Sendable () -> CameraState?) -> HealthCheck {
        {
            _ = try await library.settings()
            guard case .failed(let error) = camera(), error.kind == .stuck else { return nil }
            return error.description
        }
    }
}

/// Notifies systemd of the service's status. It sends datagrams of `NAME=value` lines to the socket that systemd gives
/// in the environment.
///
/// Source: sd_notify(3), which guarantees that the protocol is stable and may be reimplemented, so libsystemd is not
/// needed.
struct ServiceNotice: Sendable {
    /// The address of systemd's socket, as in `sockaddr_un`: a path, or a NUL followed by a name in the abstract
    /// namespace.
    private let address: [UInt8]
    /// The time without a call of ``watchdog()`` after which systemd kills and restarts the service; `nil` if systemd
    /// does not watch it.
    let watchdogLimit: Duration?

    /// Reads the environment of this process.
    ///
    /// - Returns: `nil` if no service manager started the program.
    /// - Throws: ``CommandError`` for an invalid socket, because systemd would then wait for a message that never
    ///   arrives.
    init?(
        environment: [String: String] = ProcessInfo.processInfo.environment, process: pid_t = getpid()
    ) throws {
        guard let socket = environment["NOTIFY_SOCKET"], !socket.isEmpty else { return nil }
        var address = [UInt8](socket.utf8)
        guard [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(address[0]), address.count < Self.pathSize else {
            throw CommandError(
                .configuration,
                "NOTIFY_SOCKET is \"\(String(socket.prefix(120)).oneLine)\"; it must be a path, or a name that begins with \"@\"."
            )
        }
        if address[0] == UInt8(ascii: "@") { address[0] = 0 }
        self.address = address
        // WATCHDOG_PID is the id of the watched process. Child processes inherit both variables but are not watched
        // (sd_watchdog_enabled(3)).
        let isWatched = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init) ?? 0
        watchdogLimit = isWatched && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Notifies systemd that the service is ready.
    func ready(_ status: String) throws(ServiceNoticeError) { try send("READY=1\nSTATUS=\(status.oneLine)") }

    /// Sets the line that `systemctl status` shows.
    func status(_ text: String) throws(ServiceNoticeError) { try send("STATUS=\(text.oneLine)") }

    /// Sends a keep-alive message. systemd expects one at least every ``watchdogLimit``.
    func watchdog() throws(ServiceNoticeError) { try send("WATCHDOG=1") }

    /// Notifies systemd that the service is stopping.
    func stopping(_ status: String) throws(ServiceNoticeError) { try send("STOPPING=1\nSTATUS=\(status.oneLine)") }

    private func send(_ text: String) throws(ServiceNoticeError) {
        let bytes = Array(text.utf8)
        do throws(Errno) {
            let type = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
            let connection = FileDescriptor(rawValue: try retryOnInterrupt { socket(AF_UNIX, type, 0) })
            defer { try? connection.close() }
            // If systemd hangs, this thread must not hang with it.
            var timeout = timeval(tv_sec: 5, tv_usec: 0)
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(connection.rawValue, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address) }
            // The length marks the end of an abstract name, and a NUL the end of a path (unix(7)).
            let length = MemoryLayout<sa_family_t>.size + address.count + (address[0] == 0 ? 0 : 1)
            try retryOnInterrupt {
                withUnsafeBytes(of: &name) { name in
                    sendto(
                        connection.rawValue, bytes, bytes.count, Int32(MSG_NOSIGNAL),
                        name.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(length))
                }
            }
        } catch {
            throw ServiceNoticeError(errno: error)
        }
    }

    /// The size of `sun_path` in bytes.
    private static let pathSize = MemoryLayout.size(ofValue: sockaddr_un().sun_path)
}

/// The error that is thrown if systemd could not be notified.
struct ServiceNoticeError: Error, CustomStringConvertible {
    let errno: Errno

    var description: String {
        "cannot notify systemd: \(errno). "
            + "If systemd receives no message, it will restart the service."
    }
}
