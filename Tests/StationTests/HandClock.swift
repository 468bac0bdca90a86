import Synchronization

/// A clock that stands still until a test advances it.
final class HandClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var time: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
        func duration(to other: Instant) -> Duration { other.time - time }
        static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
    }

    private struct Sleeper {
        let id: Int
        let until: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant()
        var sleepers: [Sleeper] = []
        var lastID = 0
        var cancelled: Set<Int> = []
        /// Callers that wait until a task sleeps for this time.
        var waiters: [(duration: Duration, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock(\.now) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isOver, isCancelled, waiters) = state.withLock { state in
                    if state.cancelled.contains(id) { return (false, true, [CheckedContinuation<Void, Never>]()) }
                    if deadline <= state.now { return (true, false, []) }
                    let duration = state.now.duration(to: deadline)
                    state.sleepers.append(Sleeper(id: id, until: deadline, continuation: continuation))
                    defer { state.waiters.removeAll { $0.duration == duration } }
                    return (false, false, state.waiters.filter { $0.duration == duration }.map(\.continuation))
                }
                if isOver { continuation.resume() }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for waiter in waiters { waiter.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                let sleeper = state.sleepers.first { $0.id == id }
                state.sleepers.removeAll { $0.id == id }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Waits until a task sleeps for exactly this time.
    func hasSleeper(for duration: Duration) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sleepers.contains(where: { state.now.duration(to: $0.until) == duration }) { return true }
                state.waiters.append((duration, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            defer { state.sleepers.removeAll { $0.until <= now } }
            return state.sleepers.filter { $0.until <= now }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}
