import FoundationEssentials
import GRDB

/// What is done once a day, by whichever process comes to it first.
enum Chore: String {
    case purge, backup

    /// The day on which it was last done, counted from 1970 in UTC; `nil` for never.
    func lastDone(_ db: Database) throws -> Int64? {
        try db.value(Int64.self, "SELECT done FROM chore WHERE name = ?", [rawValue])
    }

    /// No change: there is nothing to take back.
    func record(_ db: Database, at now: Date) throws {
        try db.run(
            "INSERT INTO chore (name, done) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET done = excluded.done",
            [rawValue, now.utcDayNumber])
    }
}

extension Date {
    /// The day in UTC, counted from 1970.
    var utcDayNumber: Int64 { Int64((Double(milliseconds) / 86_400_000).rounded(.down)) }
}
