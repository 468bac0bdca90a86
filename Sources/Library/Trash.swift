import Bookplate
import FoundationEssentials
import GRDB
import Synchronization

private let dayLength: Int64 = 86_400_000
/// In milliseconds.
private let longestGap = 7 * dayLength

extension LibraryFile {
    /// Once a day, at its first change: books that have been in the trash for 30 days go, with all that hangs on them, and so do
    /// changes and settled intake items that old. This is no change: it cannot be taken back.
    ///
    /// A clock that jumped far ahead must not empty the trash. So nothing goes unless the file holds a trace (a purge, a change,
    /// a capture) from an earlier day that is at most seven days old; else the day is only recorded, and the next day decides.
    /// Traces of the same day do not count, because they were dated by the same clock.
    ///
    /// - Returns: whether it was done now.
    static func purgeIfDue(_ db: Database, at now: Date) throws -> Bool {
        let day = now.utcDayNumber
        let done = try MaintenanceTask.purge.lastDone(db)
        // Another day, not only a later one: a clock that was once far ahead must not stop it for ever.
        guard done != day else { return false }
        try MaintenanceTask.purge.record(db, at: now)
        guard let done, try now.milliseconds - lastTrace(db, before: day, purged: done) <= longestGap else {
            return false
        }
        let limit = now.milliseconds - Int64(keptDays) * dayLength
        try db.run("DELETE FROM change WHERE at < ?", [limit])
        try purgeTrash(db, before: limit)
        try purgeQueue(db, before: limit)
        return true
    }

    /// The latest instant before `day` at which anything is known to have happened.
    private static func lastTrace(_ db: Database, before day: Int64, purged done: Int64) throws -> Int64 {
        let start = day * dayLength
        return try [
            done < day ? done * dayLength : nil,
            db.value(Int64.self, "SELECT max(at) FROM change WHERE at < ?", [start]),
            db.value(Int64.self, "SELECT max(captured) FROM intakeItem WHERE captured < ?", [start]),
        ].compactMap(\.self).max() ?? 0
    }

    /// A book that an import brought in the trash has the day on which it was deleted elsewhere: it stays until the change that
    /// brought it is as old. What younger changes still know of a book that goes, they forget, and so can be taken back without
    /// it.
    private static func purgeTrash(_ db: Database, before limit: Int64) throws {
        let copies = try db.rows(
            """
            SELECT id, edition FROM copy WHERE deleted < ?1 AND NOT EXISTS (
                SELECT 1 FROM changeRow JOIN change ON change.id = changeRow.change
                WHERE tableName = 'copy' AND key = json_array(copy.id) AND at >= ?1
                    AND json_extract(before, '$.deleted') IS NULL AND json_extract(after, '$.deleted') IS NOT NULL)
            """, [limit])
        try removeForGood(db, copies: copies)
    }

    /// Removes copies with all that hangs on them, and editions that these were the last of.
    ///
    /// - Parameter copies: rows of `id` and `edition`.
    static func remove(_ db: Database, copies: [Row]) throws {
        for row in copies {
            let copy: Int64 = row["id"]
            for table in ["progressEntry", "session"] {
                try db.run(
                    "DELETE FROM \(table) WHERE reading IN (SELECT id FROM reading WHERE copy = ?)", [copy])
            }
            for table in ["reading", "note", "quote", "importFlag", "copyTag", "request"] {
                try db.run("DELETE FROM \(table) WHERE copy = ?", [copy])
            }
            try db.run("DELETE FROM copy WHERE id = ?", [copy])
        }
        try removeOrphans(db, editions: Set(copies.map { $0["edition"] as Int64 }))
    }

    /// Confirmed and dismissed items with their thumbnails, except those that undo would bring back to the queue.
    private static func purgeQueue(_ db: Database, before limit: Int64) throws {
        try db.run(
            """
            DELETE FROM intakeItem WHERE state <> 'waiting' AND captured < ? AND NOT EXISTS (
                SELECT 1 FROM changeRow JOIN change ON change.id = changeRow.change
                WHERE tableName = 'intakeItem' AND key = json_array(intakeItem.id) AND undone IS NULL)
            """, [limit])
    }
}

extension LibraryFile {
    /// Removes books from the trash at once and for good, with all that hangs on them: also out of the log of changes, so that no
    /// undo brings back a part of them and no copy of their notes stays in the file's rows. A change of which nothing is left is
    /// forgotten; of a batch, the other books can still be taken back, and it is told without the titles of those that went.
    ///
    /// What SQLite frees is written over. Single words may stay in the search index until it is next merged, and what a source
    /// said of the ISBN in the queue and among the answers as long as these are kept; backups made before still have it all.
    ///
    /// - Throws: ``LibraryError/noSuchBook(_:)`` when one is not there, ``LibraryError/notInTrash(_:)`` when one is not in the trash;
    ///   then nothing is removed.
    public func deleteForGood(_ ids: [ID<Copy>]) async throws {
        try await write { db in
            // What is freed is written over, and stays so on this connection.
            // Source: https://www.sqlite.org/pragma.html#pragma_secure_delete
            try db.execute(sql: "PRAGMA secure_delete = ON")
            let copies = try ids.map { id in
                guard let row = try db.row("SELECT id, edition, deleted FROM copy WHERE uuid = ?", [id.rawValue]) else {
                    throw LibraryError.noSuchBook(id)
                }
                guard row["deleted"] as Int64? != nil else { throw LibraryError.notInTrash(id) }
                return row
            }
            try Self.removeForGood(db, copies: copies)
        }
        hasChanged.store(true, ordering: .relaxed)
        // What was asked is done whatever comes of this; a picture left over goes with the next purge.
        try? await sweepCovers()
    }

    /// Removes copies and takes them out of the log, while no change is open.
    ///
    /// - Parameter copies: rows of `id` and `edition`.
    static func removeForGood(_ db: Database, copies: [Row]) throws {
        guard !copies.isEmpty else { return }
        // A change that is never told collects the keys of the rows that go.
        try db.run(
            "INSERT INTO change (uuid, at, station, kind, summary) VALUES (?, 0, '', 'trash', '')",
            [ID<Change>().rawValue])
        let scratch = db.lastInsertedRowID
        try db.run("INSERT INTO openChange (change) VALUES (?)", [scratch])
        try remove(db, copies: copies)
        try db.run("DELETE FROM openChange")
        try forgetEarlier(db, copies: list(copies.map { $0["id"] as Int64 }))
        try forget(db, whatWasLoggedBy: scratch)
    }

    /// Takes out of the log what hung on copies and was removed before them: a note that was deleted, a tag that was taken off.
    /// No index finds it, so the log is gone through once for all of them.
    ///
    /// - Parameter copies: row numbers as one JSON argument.
    private static func forgetEarlier(_ db: Database, copies: String) throws {
        try db.run(
            """
            DELETE FROM changeRow WHERE tableName IN ('session', 'progressEntry')
                AND json_extract(coalesce(after, before), '$.reading') IN (
                    SELECT json_extract(coalesce(after, before), '$.id') FROM changeRow
                    WHERE tableName = 'reading'
                        AND json_extract(coalesce(after, before), '$.copy') IN (SELECT value FROM json_each(?)))
            """, [copies])
        try db.run(
            """
            DELETE FROM changeRow WHERE tableName IN ('reading', 'note', 'quote', 'importFlag', 'copyTag', 'request')
                AND json_extract(coalesce(after, before), '$.copy') IN (SELECT value FROM json_each(?))
            """, [copies])
    }

    private static func forget(_ db: Database, whatWasLoggedBy scratch: Int64) throws {
        let titles = try ForgottenTitles(db, scratch: scratch)
        try db.run(
            """
            DELETE FROM changeRow WHERE id IN (
                SELECT earlier.id FROM changeRow gone JOIN changeRow earlier
                    ON earlier.tableName = gone.tableName AND earlier.key = gone.key
                WHERE gone.change = ?1)
            """, [scratch])
        try db.run("DELETE FROM change WHERE id = ?", [scratch])
        try db.run("DELETE FROM change WHERE NOT EXISTS (SELECT 1 FROM changeRow WHERE change = change.id)")
        try titles.leave()
    }
}

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
