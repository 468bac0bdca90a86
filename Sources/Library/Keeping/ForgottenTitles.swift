import Bookplate
import GRDB

/// What the list of changes says of books that go for good: entries that told of nothing else go with them, and those of other
/// books are told without their titles.
struct ForgottenTitles {
    private let db: Database
    /// Changes that lose rows.
    private let changes: Set<Int64>
    private let titles: Set<String>

    /// Before the log is cleared of what `scratch` collected.
    init(_ db: Database, scratch: Int64) throws {
        self.db = db
        let rows = try db.rows(
            """
            SELECT DISTINCT earlier.change, iif(earlier.tableName = 'edition', earlier.before ->> '$.title', NULL) AS old,
                iif(earlier.tableName = 'edition', earlier.after ->> '$.title', NULL) AS new
            FROM changeRow gone JOIN changeRow earlier
                ON earlier.tableName = gone.tableName AND earlier.key = gone.key
            WHERE gone.change = ?
            """, [scratch])
        changes = Set(rows.map { $0["change"] as Int64 }).subtracting([scratch])
        titles = Set(rows.flatMap { [$0["old"] as String?, $0["new"] as String?] }.compactMap(\.self))
    }

    /// After it.
    func leave() throws {
        for change in changes { try removeIfEmpty(change) }
        for title in titles {
            // Another book's as well: then it is no trace of this one.
            // The index knows titles folded, with their subtitles behind them.
            let folded = title.searchFolded
            let other = try db.row(
                "SELECT 1 FROM edition WHERE folded >= ? AND folded < ? AND title = ? LIMIT 1",
                [folded, folded + "\u{10FFFF}", title])
            guard other == nil else { continue }
            let told = quoted(title)
            for row in try db.rows("SELECT id FROM change WHERE instr(summary, ?) > 0", [told]) {
                try removeIfEmpty(row["id"])
            }
            try db.run(
                "UPDATE change SET summary = replace(summary, ?1, ?2) WHERE instr(summary, ?1) > 0",
                [told, "a book deleted for good"])
        }
    }

    /// Names that a change made, and authors that came or went with their books, are nothing to take back by themselves.
    private func removeIfEmpty(_ change: Int64) throws {
        try db.run(
            """
            DELETE FROM change WHERE id = ?1 AND NOT EXISTS (
                SELECT 1 FROM changeRow WHERE change = ?1
                    AND NOT (tableName IN ('author', 'subject') AND (before IS NULL OR after IS NULL))
                    AND NOT (tableName IN ('tag', 'shelf') AND before IS NULL))
            """, [change])
    }
}
