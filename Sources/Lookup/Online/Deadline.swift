import Bookplate
import FoundationEssentials
import Synchronization

/// The time limit of one lookup: 8 s from its first request, for all sources together. At most 3 s of this may be spent
/// on connecting. The limit for a cover is 10 s, including waits.
final class Deadline: Sendable {
    static let lookupLimit: Duration = .seconds(8)

    private let time: LookupClock
    private let limit: Duration
    private let state: Mutex<State>

    private struct State {
        var start: Duration?
        var connecting: Duration = .seconds(3)
    }

    /// Creates a deadline that starts with the first request.
    init(_ time: LookupClock, limit: Duration = lookupLimit) {
        self.time = time
        self.limit = limit
        state = Mutex(State())
    }

    /// Creates a deadline for one book. Its limit is the time that was left after the request for the book's batch. It
    /// starts now, so that a book does not use up the time of the books after it.
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

    /// Returns the longest time that the next connection may take. A source that is not the last gets at most 2 s, so
    /// that two sources fail within 3 s if there is no network.
    ///
    /// - Parameter keepsSome: true if the source is not the last.
    func connecting(keepsSome: Bool) -> Duration {
        let left = state.withLock(\.connecting)
        return keepsSome ? min(left, .seconds(2)) : max(left, .seconds(1))
    }

    /// Deducts the time limit of a connection that has failed from the time left for connecting. At least 1 s remains.
    func spendConnecting(keepsSome: Bool) {
        let spent = connecting(keepsSome: keepsSome)
        state.withLock { $0.connecting = max(.seconds(1), $0.connecting - spent) }
    }
}

/// The sources that one call of the lookup could not reach, or that refused its requests because they need a key. The
/// call does not query these sources for its other books.
final class UnreachableSources: Sendable {
    private struct State {
        var errors: [SourceName: LookupError] = [:]
        /// The last error of a connection, and the number of sources that had one.
        var blackHole: (error: LookupError, sources: Int)?
        var hasConnected = false
    }

    private let state = Mutex(State())

    func add(_ source: SourceName, _ error: LookupError) { state.withLock { $0.errors[source] = error } }

    /// Notes a source that did not accept a connection in time.
    func timedOut(_ source: SourceName, _ error: LookupError) {
        state.withLock { state in
            state.errors[source] = error
            state.blackHole = (error, (state.blackHole?.sources ?? 0) + 1)
        }
    }

    func connected() { state.withLock { $0.hasConnected = true } }

    /// Returns the error of a source that need not be tried; `nil` if it may be reachable. If two sources did not
    /// accept a connection and no other did, the network leads nowhere, and the rest would only take more time.
    func error(of source: SourceName) -> LookupError? {
        state.withLock { state in
            if let error = state.errors[source] { return error }
            guard !state.hasConnected, let hole = state.blackHole, hole.sources >= 2 else { return nil }
            return hole.error
        }
    }
}

/// The clocks of a lookup: one for durations, and the calendar time for data that processes share.
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
