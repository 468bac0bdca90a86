import FoundationEssentials
import GRDB

/// A task that is done once a day, by the first process that gets to it. The raw values are stored.
enum MaintenanceTask: String {
    /// Deletes what has been in the trash for 30 days, with equally old changes and queue items.
    case sweep = "purge"
    case backup

    /// Returns the day on which the task was last done, counted from 1970 in UTC; `nil` for never.
    func lastDone(_ db: Database) throws -> Int64? {
        try db.value(Int64.self, "SELECT done FROM chore WHERE name = ?", [rawValue])
    }

    /// Records the task as done. This is not a change that can be undone.
    func record(_ db: Database, at now: Date) throws {
        try db.run(
            "INSERT INTO chore (name, done) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET done = excluded.done",
            [rawValue, now.utcDayNumber])
    }
}

extension Date {
    /// The number of the day in UTC, counted from 1970.
    var utcDayNumber: Int64 { Int64((Double(milliseconds) / 86_400_000).rounded(.down)) }
}

extension LibraryFile {
    /// Checks the whole file for damage (`quick_check`), while others read and write. A service does this once a day.
    ///
    /// - Throws: ``LibraryError/corrupt(path:what:)`` with the first damage found.
    public func check() async throws {
        let error = try await read { db in try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "no answer" }
        guard error == "ok" else { throw LibraryError.corrupt(path: path ?? ":memory:", what: error) }
    }
}
