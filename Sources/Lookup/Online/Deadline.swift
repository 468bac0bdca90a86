import Bookplate
import FoundationEssentials
import Synchronization

/// The time that one lookup may take from its first request on, whichever source it asks: 8 s, of which 3 s for connecting. A cover
/// has 10 s, and its waits count.
final class Budget: Sendable {
    static let whole: Duration = .seconds(8)

    private let time: Timekeeper
    private let limit: Duration
    private let state: Mutex<State>

    private struct State {
        var begun: Duration?
        var connecting: Duration = .seconds(3)
    }

    /// A full budget that begins to run with the first request.
    init(_ time: Timekeeper, limit: Duration = whole) {
        self.time = time
        self.limit = limit
        state = Mutex(State())
    }

    /// What was left of a batch's budget when its common request was done, running from now on: books that wait behind each other
    /// do not take each other's time.
    init(_ rest: Rest, _ time: Timekeeper) {
        self.time = time
        limit = rest.remaining
        state = Mutex(State(begun: rest.hasBegun ? time.elapsed() : nil, connecting: rest.connecting))
    }

    struct Rest: Sendable {
        fileprivate var remaining: Duration
        fileprivate var hasBegun: Bool
        fileprivate var connecting: Duration
    }

    var rest: Rest {
        let state = state.withLock(\.self)
        return Rest(remaining: remaining, hasBegun: state.begun != nil, connecting: state.connecting)
    }

    func begin() { state.withLock { $0.begun = $0.begun ?? time.elapsed() } }

    /// Never negative.
    var remaining: Duration {
        guard let start = state.withLock(\.begun) else { return limit }
        return max(.zero, limit - (time.elapsed() - start))
    }

    /// How long the next connection may take. A source before others takes at most two of the three seconds, so that with the
    /// network gone two sources need no more than three to say so.
    func connecting(keepsSome: Bool) -> Duration {
        let left = state.withLock(\.connecting)
        return keepsSome ? min(left, .seconds(2)) : max(left, .seconds(1))
    }

    /// Notes a connection that did not come about.
    func spendConnecting(keepsSome: Bool) {
        let spent = connecting(keepsSome: keepsSome)
        state.withLock { $0.connecting = max(.seconds(1), $0.connecting - spent) }
    }
}

/// The sources that one call could not reach, or that refused it for want of a key: they are not tried again for each of its books.
final class Reach: Sendable {
    private let lost = Mutex<[SourceName: Trouble]>([:])

    func lose(_ source: SourceName, _ trouble: Trouble) { lost.withLock { $0[source] = trouble } }
    func trouble(with source: SourceName) -> Trouble? { lost.withLock { $0[source] } }
}

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
