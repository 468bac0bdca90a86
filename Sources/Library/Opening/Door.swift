import Glibc
import Synchronization

/// Who is in the library. A read that was begun before its end may open a connection after it (GRDB's pool makes readers when they are
/// wanted), and leave a write-ahead log that nobody folds in.
final class Door: Sendable {
    private let state = Mutex((inside: 0, isShut: false))

    /// Does it, unless the library is closed.
    ///
    /// - Throws: `CancellationError` when it is, else what it throws.
    func through<Result>(_ work: () async throws -> Result) async throws -> Result {
        try state.withLock { state in
            if state.isShut { throw CancellationError() }
            state.inside += 1
        }
        defer { state.withLock { $0.inside -= 1 } }
        return try await work()
    }

    /// Lets nobody in any more, and waits for who is inside, though not for ever: what takes longer is broken off by the closing.
    func shut(within limit: Duration = .seconds(1)) {
        state.withLock { $0.isShut = true }
        let end = ContinuousClock.now.advanced(by: limit)
        while state.withLock({ $0.inside }) > 0, ContinuousClock.now < end { usleep(1000) }
    }
}
