import FoundationEssentials
import Synchronization

/// Time as the lookup sees it: a clock for how long, the calendar's time for what processes share.
struct Timekeeper: Sendable {
    /// Since the timekeeper was made.
    let elapsed: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
    let date: @Sendable () -> Date

    init<C: Clock>(_ clock: C, date: @escaping @Sendable () -> Date) where C.Duration == Duration {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
        self.date = date
    }
}
