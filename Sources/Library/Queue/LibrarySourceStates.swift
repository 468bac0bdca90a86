import Bookplate
import GRDB

extension LibraryFile: SourceStates {
    public func update<Result: Sendable>(
        _ source: SourceName, _ change: @escaping @Sendable (inout SourceState) -> Result
    ) async throws -> Result {
        try await write { db in
            let stored = try db.value(
                String.self, "SELECT state FROM sourceState WHERE source = ?", [source.rawValue])
            var state = try stored.map { try decoded(SourceState.self, $0) } ?? SourceState()
            let before = state
            let result = change(&state)
            if state != before {
                try db.run(
                    """
                    INSERT INTO sourceState (source, state) VALUES (?, ?)
                    ON CONFLICT (source) DO UPDATE SET state = excluded.state
                    """, [source.rawValue, try storedJSON(state)])
            }
            return result
        }
    }
}
