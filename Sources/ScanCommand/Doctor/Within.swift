/// The answer of some work, or `nil` when it takes longer: whoever hangs is left behind, cancelled.
func answer<Answer: Sendable>(
    within limit: Duration, _ work: @escaping @Sendable () async -> Answer
) async -> Answer? {
    let (answers, continuation) = AsyncStream.makeStream(of: Answer?.self)
    let working = Task { continuation.yield(await work()) }
    let waiting = Task {
        try await Task.sleep(for: limit)
        continuation.yield(nil)
    }
    defer {
        working.cancel()
        waiting.cancel()
    }
    for await answer in answers { return answer }
    return nil
}
