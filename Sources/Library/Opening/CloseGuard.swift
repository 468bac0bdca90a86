import Glibc
import Synchronization

/// Keeps a library from closing under reads that are under way. GRDB's pool opens a connection when a read wants one; a read that
/// starts while the library closes would leave a write-ahead log behind that nobody folds in.
final class CloseGuard: Sendable {
    private let state = Mutex((count: 0, isClosed: false))

    /// Runs a read.
    ///
    /// - Throws: `CancellationError` when the library is closed, else what `read` throws.
    func perform<Result>(_ read: () async throws -> Result) async throws -> Result {
        try state.withLock { state in
            if state.isClosed { throw CancellationError() }
            state.count += 1
        }
        defer { state.withLock { $0.count -= 1 } }
        return try await read()
    }

    /// Refuses further reads and waits for those under way, at most `limit`: closing the connections interrupts the rest.
    func close(within limit: Duration = .seconds(1)) {
        state.withLock { $0.isClosed = true }
        let end = ContinuousClock.now.advanced(by: limit)
        while state.withLock({ $0.count }) > 0, ContinuousClock.now < end { usleep(1000) }
    }
}
