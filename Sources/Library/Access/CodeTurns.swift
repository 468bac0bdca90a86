/// Codes that come from one address at the same moment, one after the other: each is counted as wrong until it is looked at, and the
/// right ones of a household behind one address are not to make a pause for each other.
actor CodeTurns {
    /// Those who wait, by address; there is an entry while a code is looked at.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    func inTurn<Result: Sendable>(
        _ address: String, _ look: @Sendable () async throws -> Result
    ) async throws -> Result {
        if waiting[address] == nil {
            waiting[address] = []
        } else {
            await withCheckedContinuation { waiting[address, default: []].append($0) }
        }
        defer { next(address) }
        return try await look()
    }

    private func next(_ address: String) {
        if waiting[address]?.isEmpty ?? true {
            waiting[address] = nil
        } else {
            waiting[address]?.removeFirst().resume()
        }
    }
}
