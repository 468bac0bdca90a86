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
        do { return try await look() } catch { return Failure.complaint(for: error).description }
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
