import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: LibrarySettings {
    /// Returns all settings that were set for this library, by name.
    public func settings() async throws -> [String: String] {
        try await read { db in
            let rows = try db.rows(allSettings)
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"] as String, $0["value"] as String) })
        }
    }

    /// - Returns: the value of the setting; `nil` if it was never set.
    public func setting(_ name: String) async throws -> String? {
        try await read { db in try storedSetting(db, name) }
    }

    @discardableResult
    public func set(_ name: String, to value: String?, at now: Date) async throws -> ID<Change>? {
        try await changed(.edit, at: now) { db, _ in
            let isPerReader = LibrarySetting(rawValue: name)?.isPerReader == true
            if let value {
                try db.run(
                    """
                    \(settingInsertion(ofReader: isPerReader))
                    ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value
                    """, [name, value])
            } else {
                try db.run(
                    isPerReader
                        ? "DELETE FROM readerSetting WHERE reader = reader() AND name = ?"
                        : "DELETE FROM setting WHERE name = ?", [name])
            }
            return ((), "changed the setting \(name)")
        }.change
    }
}

/// Selects the settings that all readers share, and the present reader's own.
let allSettings =
    "SELECT name, value FROM setting UNION ALL SELECT name, value FROM readerSetting WHERE reader = reader()"

/// Returns the statement that inserts the name and the value of a setting that all readers share, or of one that is the
/// present reader's own.
func settingInsertion(ofReader isPerReader: Bool) -> String {
    isPerReader
        ? "INSERT INTO readerSetting (name, value, reader) VALUES (?, ?, reader())"
        : "INSERT INTO setting (name, value) VALUES (?, ?)"
}

/// - Returns: the value of the setting; `nil` if it was never set.
func storedSetting(_ db: Database, _ name: String) throws -> String? {
    try db.value(String.self, "SELECT value FROM (\(allSettings)) WHERE name = ?", [name])
}

/// Returns the value of a setting, or its default value if it was never set.
func value(of setting: LibrarySetting, _ db: Database) throws -> String {
    try storedSetting(db, setting.rawValue) ?? setting.defaultValue
}

/// Returns true if a switch that all readers share is on.
func isOn(_ setting: LibrarySetting, _ db: Database) throws -> Bool {
    let stored = try db.value(String.self, "SELECT value FROM setting WHERE name = ?", [setting.rawValue])
    return (stored ?? setting.defaultValue) == "1"
}

/// Returns the value of a reading goal; `nil` if none is set.
func goal(_ db: Database, _ setting: LibrarySetting) throws -> Int? {
    Int(try value(of: setting, db)).flatMap { $0 > 0 ? $0 : nil }
}
