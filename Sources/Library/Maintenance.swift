import FoundationEssentials
import GRDB

/// A task that is done once per day, by the first process that gets to it. The raw values are stored in the library.
enum MaintenanceTask: String {
    /// Deletes books that have been in the trash for at least 30 days. Also deletes changes, and confirmed or skipped
    /// queue items, that are at least 30 days old.
    case sweep = "purge"
    case backup

    /// Returns the day on which the task was last done, as the number of days since 1970 in UTC; `nil` if it was never
    /// done.
    func lastDone(_ db: Database) throws -> Int64? {
        try db.value(Int64.self, "SELECT done FROM chore WHERE name = ?", [rawValue])
    }

    /// Records that the task was done today. The record is not part of the change history, so it cannot be undone.
    func record(_ db: Database, at now: Date) throws {
        try db.run(
            "INSERT INTO chore (name, done) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET done = excluded.done",
            [rawValue, utcDay(now.milliseconds)])
    }
}

extension LibraryFile {
    /// Begins and ends a write without changing anything.
    ///
    /// - Throws: ``LibraryError`` if the library cannot be written, for example because another process has it locked.
    public func checkWriting() async throws { try await write { _ in } }

    /// Checks the whole file for damage (`quick_check` and `foreign_key_check`), while other connections can read and
    /// write. A service does this once per day. A changed letter or digit is not noticed by this, but by
    /// ``compareWithBackups()``.
    ///
    /// - Throws: ``LibraryError/corrupt(path:what:)`` with the first damage that was found.
    public func check() async throws {
        let error: String? = try await read { db in
            // Since SQLite 3.44, this check includes FTS5. If another connection has changed the search since this one
            // last used it, FTS5 compares with the structure that this one remembers, and reports a mismatch (seen with
            // 3.46.1 and 3.53.4). A search reads the structure again.
            _ = try db.row("SELECT 1 FROM searchText WHERE searchText MATCH 'a' LIMIT 1")
            let error = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "the file check gave no result"
            guard error == "ok" else { return error }
            let table = try String.fetchOne(db, sql: "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1")
            return table.map { "a row of the table \($0) refers to a missing row" }
        }
        if let error { throw LibraryError.damage(error, in: path ?? ":memory:") }
    }

    /// Returns the tables and indexes in the file that Bookplate has not created, such as "table bookmark". They do
    /// nothing, but a person may want to know where they come from.
    public func unknownObjects() async throws -> [String] {
        try await read { [path] db in try SchemaCheck.unknownObjects(db, path: path ?? ":memory:") }
    }
}
