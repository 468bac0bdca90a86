import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    /// What a person has set for this library, by name; what was never set is left out.
    public func settings() async throws -> [String: String] {
        try await read { db in
            let rows = try db.rows("SELECT name, value FROM setting")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"] as String, $0["value"] as String) })
        }
    }

    /// - Returns: `nil` when it was never set.
    public func setting(_ name: String) async throws -> String? {
        try await read { db in try db.value(String.self, "SELECT value FROM setting WHERE name = ?", [name]) }
    }

    /// Stores a setting; `nil` takes it back to its default. One change that undo takes back.
    public func set(_ name: String, to value: String?, at now: Date) async throws {
        try await change(.edit, at: now) { db, _ in
            if let value {
                try db.run(
                    """
                    INSERT INTO setting (name, value) VALUES (?, ?)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value <> excluded.value
                    """, [name, value])
            } else {
                try db.run("DELETE FROM setting WHERE name = ?", [name])
            }
            return ((), "changed the setting \(name)")
        }
    }
}
