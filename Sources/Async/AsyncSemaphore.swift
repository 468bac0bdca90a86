/// Admits a limited number of operations at a time, in the order in which they asked for a permit. With one permit, it
/// is a fair lock.
public actor AsyncSemaphore {
    private var permits: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    public init(permits: Int = 1) { self.permits = permits }

    /// True if no permit is free, so that another operation would have to wait.
    public var isExhausted: Bool { permits == 0 }

    /// Runs an operation once a permit is free. A cancelled task still waits for its turn and then runs the operation,
    /// which can check for the cancellation.
    public nonisolated func withPermit<Result: Sendable>(
        _ operation: @Sendable () async throws -> Result
    ) async rethrows -> Result {
        await acquire()
        do {
            let result = try await operation()
            await release()
            return result
        } catch {
            await release()
            throw error
        }
    }

    private func acquire() async {
        if permits > 0 {
            permits -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func release() {
        if waiting.isEmpty {
            permits += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
