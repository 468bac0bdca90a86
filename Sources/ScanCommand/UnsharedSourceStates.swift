import Bookplate

/// The manners of one process, where there is no library that could share them.
actor UnsharedSourceStates: SourceStates {
    private var states: [SourceName: SourceState] = [:]

    func update<Result: Sendable>(
        _ source: SourceName, _ change: @Sendable (inout SourceState) -> Result
    ) async throws -> Result {
        change(&states[source, default: SourceState()])
    }
}
