/// Waits for an operation, but no longer than `limit`. An operation that takes longer is cancelled and left behind: a disk or a network
/// that hangs holds up nobody. The time is counted in a cancelled task too.
///
/// - Returns: nil when the time is over first.
public func withTimeLimit<Result: Sendable>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(),
    _ operation: @escaping @Sendable () async -> Result
) async -> Result? {
    // Unstructured, because a task group would wait for the operation that hangs.
    let operation = Task { await operation() }
    let isOver = await Task {
        let (ends, end) = AsyncStream.makeStream(of: Bool.self)
        let timer = Task {
            try await clock.sleep(for: limit)
            end.yield(false)
        }
        let waiting = Task {
            _ = await operation.value
            end.yield(true)
        }
        defer {
            timer.cancel()
            waiting.cancel()
        }
        return await ends.first { _ in true } ?? false
    }.value
    guard isOver else {
        operation.cancel()
        return nil
    }
    return await operation.value
}

/// Waits for a task that must not be abandoned half way. When the caller is cancelled it returns at once, and the task goes on.
///
/// - Throws: what the task throws, or `CancellationError` when the caller was cancelled first.
public func resultOrCancellation<Value: Sendable>(of task: Task<Value, any Error>) async throws -> Value {
    let (values, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    Task {
        do {
            continuation.yield(try await task.value)
            continuation.finish()
        } catch {
            continuation.finish(throwing: error)
        }
    }
    for try await value in values { return value }
    throw CancellationError()
}
