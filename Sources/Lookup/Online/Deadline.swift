import Bookplate
import FoundationEssentials
import Synchronization

/// The time limit of one lookup, counted from its first request, whichever sources it asks: 8 s, of which 3 s for
/// connecting. A cover has 10 s, including its waits.
final class Deadline: Sendable {
    static let lookupLimit: Duration = .seconds(8)

    private let time: LookupClock
    private let limit: Duration
    private let state: Mutex<State>

    private struct State {
        var start: Duration?
        var connecting: Duration = .seconds(3)
    }

    /// Creates a deadline that starts to run with the first request.
    init(_ time: LookupClock, limit: Duration = lookupLimit) {
        self.time = time
        self.limit = limit
        state = Mutex(State())
    }

    /// Creates a deadline from the remainder of a batch after its common request. It runs from now on, so that books
    /// waiting behind each other do not use up each other's time.
    init(_ remainder: Remainder, _ time: LookupClock) {
        self.time = time
        limit = remainder.time
        state = Mutex(
            State(start: remainder.hasStarted ? time.elapsed() : nil, connecting: remainder.connecting))
    }

    struct Remainder: Sendable {
        fileprivate var time: Duration
        fileprivate var hasStarted: Bool
        fileprivate var connecting: Duration
    }

    var remainder: Remainder {
        let state = state.withLock(\.self)
        return Remainder(time: remaining, hasStarted: state.start != nil, connecting: state.connecting)
    }

    func start() { state.withLock { $0.start = $0.start ?? time.elapsed() } }

    /// The remaining time, never negative.
    var remaining: Duration {
        guard let start = state.withLock(\.start) else { return limit }
        return max(.zero, limit - (time.elapsed() - start))
    }

    /// Returns the time for the next connection. A source followed by others gets at most two of the three seconds, so
    /// that without a network two sources need no more than three seconds to fail.
    func connecting(keepsSome: Bool) -> Duration {
        let left = state.withLock(\.connecting)
        return keepsSome ? min(left, .seconds(2)) : max(left, .seconds(1))
    }

    /// Deducts the time of a connection that failed.
    func spendConnecting(keepsSome: Bool) {
        let spent = connecting(keepsSome: keepsSome)
        state.withLock { $0.connecting = max(.seconds(1), $0.connecting - spent) }
    }
}

/// The sources that one call could not reach, or that refused it for lack of a key. They are not asked again for its
/// other books.
final class UnreachableSources: Sendable {
    private let errors = Mutex<[SourceName: LookupError]>([:])

    func add(_ source: SourceName, _ error: LookupError) { errors.withLock { $0[source] = error } }
    func error(of source: SourceName) -> LookupError? { errors.withLock { $0[source] } }
}

/// The time as a lookup uses it: a clock for durations, and the calendar time for the state that processes share.
struct LookupClock: Sendable {
    /// Returns the time since this value was created.
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
