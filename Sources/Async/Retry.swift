/// Repeats an operation until it succeeds, with a pause after each failed attempt.
///
/// - Parameter mayRetry: called with the error of each failed attempt. Returns true if the operation may be tried
///   again.
/// - Throws: the first error after which the operation may not be tried again; `CancellationError` if the task is
///   cancelled during a pause.
public func retry<Result: Sendable>(
    every pause: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock(),
    _ operation: () async throws -> Result, if mayRetry: (any Error) async -> Bool
) async throws -> Result {
    while true {
        do {
            return try await operation()
        } catch {
            guard await mayRetry(error) else { throw error }
            try await clock.sleep(for: pause)
        }
    }
}
