import Foundation
import Synchronization

/// A clock on which sleeping takes no time: it jumps to the deadline.
public final class JumpClock: Clock, Sendable {
    public struct Instant: InstantProtocol {
        public var offset: Duration = .zero
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let state = Mutex((now: Instant(), slept: [Duration]()))

    public init() {}

    public var now: Instant { state.withLock(\.now) }
    public var minimumResolution: Duration { .nanoseconds(1) }
    /// The durations slept, in order.
    public var slept: [Duration] { state.withLock(\.slept) }

    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.slept.append(deadline.offset - state.now.offset)
            state.now = max(state.now, deadline)
        }
        await Task.yield()
    }

    public func advance(by duration: Duration) { state.withLock { $0.now = $0.now.advanced(by: duration) } }

    /// The date on this clock, which starts at 2026-11-21 12:00 UTC.
    public var date: Date { Date(timeIntervalSince1970: 1_795_262_400).addingTimeInterval(now.offset / .seconds(1)) }
}
