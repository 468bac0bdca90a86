/// Waits for an operation, but no longer than `limit`. An operation that takes longer is cancelled and abandoned, so
/// that the caller does not wait for a disk or a network that hangs. The time limit applies even if the calling task is
/// cancelled.
///
/// - Returns: nil if the time runs out first.
/// - Throws: the operation's error.
public func withTimeLimit<Value: Sendable, Failure: Error>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(),
    _ operation: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value? {
    // This task is unstructured, because a task group would wait for an operation that hangs.
    let operation = Task { () -> Result<Value, Failure> in
        do throws(Failure) { return .success(try await operation()) } catch { return .failure(error) }
    }
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
    return try await operation.value.get()
}

/// Waits for a task that must run to its end. If the caller is cancelled, this function throws at once, and the task
/// continues.
///
/// - Throws: the task's error, or `CancellationError` if the caller was cancelled first.
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
