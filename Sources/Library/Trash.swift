import Bookplate
import FoundationEssentials
import GRDB
import Synchronization

private let dayLength: Int64 = 86_400_000
/// The maximum time, in milliseconds, between the last known use of the library and the present. After a longer gap,
/// the clock is not trusted.
private let longestGap = 7 * dayLength

extension LibraryFile {
    /// Sweeps the trash once per day, when the first change of the day is made. Deletes books that have been in the
    /// trash for at least 30 days, with all their rows in the database. Also deletes changes, and confirmed or skipped
    /// queue items, that are at least 30 days old. This cannot be undone.
    ///
    /// A clock that has jumped far ahead must not empty the trash. Therefore nothing is deleted unless the file shows
    /// that the library was used (by a sweep, a change or a capture) on an earlier day, at most seven days ago.
    /// Otherwise, only the day is recorded, and the next day's sweep decides. Use on the same day does not count,
    /// because its date comes from the same clock.
    ///
    /// - Returns: true if the trash was swept now.
    static func sweepIfDue(_ db: Database, at now: Date) throws -> Bool {
        let day = utcDay(now.milliseconds)
        let done = try MaintenanceTask.sweep.lastDone(db)
        // A different day is enough. It need not be later, because a clock that was once far ahead must not stop the
        // sweep for ever.
        guard done != day else { return false }
        try MaintenanceTask.sweep.record(db, at: now)
        guard let done, try now.milliseconds - lastTrace(db, before: day, swept: done) <= longestGap else {
            return false
        }
        let limit = now.milliseconds - Int64(keptDays) * dayLength
        try db.run("DELETE FROM change WHERE at < ?", [limit])
        try sweepTrash(db, before: limit)
        try sweepQueue(db, before: limit)
        return true
    }

    /// Returns the latest time before `day` at which the library is known to have been used.
    private static func lastTrace(_ db: Database, before day: Int64, swept done: Int64) throws -> Int64 {
        let start = day * dayLength
        return try [
            done < day ? done * dayLength : nil,
            db.value(Int64.self, "SELECT max(at) FROM change WHERE at < ?", [start]),
            db.value(Int64.self, "SELECT max(captured) FROM intakeItem WHERE captured < ?", [start]),
        ].compactMap(\.self).max() ?? 0
    }

    /// Purges books that were deleted before `limit`. A book that an import has put into the trash may have an older
    /// date of deletion, from another library, so it stays until the import itself is older than `limit`. Changes after
    /// `limit` lose their rows about a purged book, so that they can still be undone.
    private static func sweepTrash(_ db: Database, before limit: Int64) throws {
        let copies = try db.rows(
            """
            SELECT id, edition FROM copy WHERE deleted < ?1 AND NOT EXISTS (
                SELECT 1 FROM changeRow JOIN change ON change.id = changeRow.change
                WHERE tableName = 'copy' AND key = json_array(copy.id) AND at >= ?1
                    AND json_extract(before, '$.deleted') IS NULL AND json_extract(after, '$.deleted') IS NOT NULL)
            """, [limit])
        try purge(db, copies: copies)
        let readers = try db.rows(
            """
            SELECT id FROM reader WHERE deleted < ?1 AND NOT EXISTS (
                SELECT 1 FROM changeRow JOIN change ON change.id = changeRow.change
                WHERE tableName = 'reader' AND key = json_array(reader.id) AND at >= ?1)
            """, [limit]
        ).map { $0["id"] as Int64 }
        for reader in readers { try purge(db, reader: reader) }
    }

    /// Removes a reader with all that is the reader's own, also from the change log.
    private static func purge(_ db: Database, reader: Int64) throws {
        let readings = "SELECT id FROM reading WHERE reader = ?"
        for table in ["progressEntry", "session"] {
            try db.run("DELETE FROM \(table) WHERE reading IN (\(readings))", [reader])
        }
        try db.run(
            """
            DELETE FROM changeRow WHERE tableName = 'progressEntry'
                AND json_extract(coalesce(after, before), '$.reading') IN (
                    SELECT json_extract(coalesce(after, before), '$.id') FROM changeRow
                    WHERE tableName = 'reading' AND json_extract(coalesce(after, before), '$.reader') = ?)
            """, [reader])
        for table in ["reading", "note", "quote", "readerCopy", "readerSetting", "savedFilter"] {
            try db.run("DELETE FROM \(table) WHERE reader = ?", [reader])
        }
        try db.run("DELETE FROM reader WHERE id = ?", [reader])
        try db.run(
            """
            DELETE FROM changeRow
            WHERE tableName = 'reader' AND key = json_array(?1)
                OR tableName IN ('reading', 'session', 'note', 'quote', 'readerCopy', 'readerSetting', 'savedFilter')
                    AND json_extract(coalesce(after, before), '$.reader') = ?1
            """, [reader])
        try db.run(
            """
            DELETE FROM change
            WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM changeRow WHERE changeRow.change = change.id)
            """)
    }

    /// Removes copies with all their rows. Also removes their editions, unless these have other copies.
    ///
    /// - Parameter copies: rows with the columns `id` and `edition`.
    static func remove(_ db: Database, copies: [Row]) throws {
        for row in copies {
            let copy: Int64 = row["id"]
            for table in ["progressEntry", "session"] {
                try db.run(
                    "DELETE FROM \(table) WHERE reading IN (SELECT id FROM reading WHERE copy = ?)", [copy])
            }
            for table in ["reading", "note", "quote", "importFlag", "copyTag", "request", "readerCopy"] {
                try db.run("DELETE FROM \(table) WHERE copy = ?", [copy])
            }
            try db.run("DELETE FROM distinctCopy WHERE copy = ?1 OR other = ?1", [copy])
            try db.run("DELETE FROM copy WHERE id = ?", [copy])
        }
        try removeOrphans(db, editions: Set(copies.map { $0["edition"] as Int64 }))
    }

    /// Deletes confirmed and skipped queue items with their thumbnails, except items that an undo would return to
    /// the queue.
    private static func sweepQueue(_ db: Database, before limit: Int64) throws {
        try db.run(
            """
            DELETE FROM intakeItem WHERE state <> 'waiting' AND captured < ? AND NOT EXISTS (
                SELECT 1 FROM changeRow JOIN change ON change.id = changeRow.change
                WHERE tableName = 'intakeItem' AND key = json_array(intakeItem.id) AND undone IS NULL)
            """, [limit])
    }
}

extension LibraryFile {
    /// Deletes books from the trash for good, with all their rows. Also deletes their rows in the change log, so that
    /// no undo brings back a part of a book and no copy of its notes stays in the file. A change that has no rows left
    /// is deleted. If a change also affected other books, it can still be undone for these, and its summary loses the
    /// purged titles.
    ///
    /// SQLite overwrites the space that this frees. Single words may stay in the search index until the index is next
    /// merged. The records that online sources have sent for the ISBN stay in the queue and the answer cache for as
    /// long as these are kept. Earlier backups still have everything.
    ///
    /// - Throws: ``LibraryError/noSuchBook(_:)`` or ``LibraryError/notInTrash(_:)``. In this case, nothing is removed.
    public func purge(_ ids: [ID<Copy>]) async throws {
        try await write { db in
            // From now on, this connection overwrites the space that it frees. Source:
            // https://www.sqlite.org/pragma.html#pragma_secure_delete
            try db.execute(sql: "PRAGMA secure_delete = ON")
            let copies = try ids.map { id in
                guard let row = try db.row("SELECT id, edition, deleted FROM copy WHERE uuid = ?", [id.rawValue]) else {
                    throw LibraryError.noSuchBook(id)
                }
                guard row["deleted"] as Int64? != nil else { throw LibraryError.notInTrash(id) }
                return row
            }
            try Self.purge(db, copies: copies)
        }
        noteChange()
        await sweepCoversOrLog()
    }

    /// Removes copies with all their rows, and with their rows in the change log. No change may be in progress when
    /// this is called.
    ///
    /// - Parameter copies: rows with the columns `id` and `edition`.
    static func purge(_ db: Database, copies: [Row]) throws {
        guard !copies.isEmpty else { return }
        // A temporary change collects the keys of the removed rows.
        try db.run(
            "INSERT INTO change (uuid, at, station, kind, summary) VALUES (?, 0, '', 'trash', '')",
            [ID<Change>().rawValue])
        let scratch = db.lastInsertedRowID
        try db.run("INSERT INTO openChange (change) VALUES (?)", [scratch])
        try remove(db, copies: copies)
        try db.run("DELETE FROM openChange")
        try addMergedRows(db, to: scratch)
        let removed = try db.rows(
            "SELECT json_extract(key, '$[0]') FROM changeRow WHERE change = ? AND tableName = 'copy'", [scratch])
        let records = try undoRecords(db)
        try deleteEarlierLog(db, copies: jsonList(removed.map { $0[0] as Int64 }))
        try deleteLog(db, ofRowsIn: scratch)
        // A change is redone exactly as it was or not at all.
        for (record, count) in records where try logLength(db, of: record) != count {
            try db.run("DELETE FROM change WHERE id = ?", [record])
        }
    }

    /// Adds to the change `scratch` the rows of the copies that were merged into the removed ones, and of the editions
    /// that were merged into removed editions. They belong to the purged books, but only the log has them.
    private static func addMergedRows(_ db: Database, to scratch: Int64) throws {
        let applied = "(SELECT id FROM change WHERE undone IS NULL)"
        let removed = """
            INSERT INTO changeRow (change, tableName, key, before)
            SELECT ?1, tableName, key, before FROM changeRow WHERE after IS NULL AND tableName
            """
        try db.run(
            """
            \(removed) IN ('copy', 'readerCopy', 'copyTag', 'distinctCopy', 'reading', 'progressEntry', 'note', 'quote')
                AND change IN (
                    SELECT emptied.change FROM changeRow emptied
                    CROSS JOIN changeRow gone ON gone.change = ?1 AND gone.tableName = 'request'
                        AND gone.key = json_array(?2 || json_extract(emptied.before, '$.uuid'))
                    WHERE emptied.tableName = 'copy' AND emptied.after IS NULL AND emptied.change IN \(applied))
            """, [scratch, request(ofRecord: ID(rawValue: ""))])
        try db.run(
            """
            \(removed) IN ('edition', 'editionAuthor', 'editionSubject', 'identifier', 'author', 'subject')
                AND change IN (
                    SELECT moved.change FROM (
                        SELECT DISTINCT change FROM changeRow
                        WHERE tableName = 'edition' AND after IS NULL AND change IN \(applied)) AS merge
                    CROSS JOIN changeRow moved ON moved.change = merge.change AND moved.tableName = 'copy'
                    CROSS JOIN changeRow gone ON gone.change = ?1 AND gone.tableName = 'edition'
                        AND gone.key = json_array(json_extract(moved.after, '$.edition')))
            """, [scratch])
    }

    /// Returns the records that undos have left, each with the number of its rows in the log.
    private static func undoRecords(_ db: Database) throws -> [(record: Int64, count: Int)] {
        try db.rows("SELECT id FROM change WHERE undoes IS NOT NULL").map { row in
            (row["id"], try logLength(db, of: row["id"]))
        }
    }

    private static func logLength(_ db: Database, of change: Int64) throws -> Int {
        try db.value(Int.self, "SELECT count(*) FROM changeRow WHERE change = ?", [change]) ?? 0
    }

    /// Deletes the log entries about rows that the copies had lost earlier, such as a deleted note or a removed tag. No
    /// index finds these entries, so this reads the whole log, but only once for all copies.
    ///
    /// - Parameter copies: the row ids of the copies, as one JSON argument.
    private static func deleteEarlierLog(_ db: Database, copies: String) throws {
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
            DELETE FROM changeRow WHERE tableName IN (
                    'reading', 'note', 'quote', 'importFlag', 'copyTag', 'request', 'readerCopy')
                AND json_extract(coalesce(after, before), '$.copy') IN (SELECT value FROM json_each(?))
            """, [copies])
        try db.run(
            """
            DELETE FROM changeRow WHERE tableName = 'distinctCopy' AND EXISTS (
                SELECT 1 FROM json_each(changeRow.key) AS pair JOIN json_each(?) AS copy ON copy.value = pair.value)
            """, [copies])
    }

    /// Deletes all log entries about the rows that the change `scratch` has removed, and then this temporary change.
    private static func deleteLog(_ db: Database, ofRowsIn scratch: Int64) throws {
        let titles = try PurgedTitles(db, scratch: scratch)
        try db.run(
            """
            DELETE FROM changeRow WHERE id IN (
                SELECT earlier.id FROM changeRow gone JOIN changeRow earlier
                    ON earlier.key = gone.key AND earlier.tableName
                        IN (gone.tableName, iif(gone.tableName = 'edition', 'cover', NULL))
                WHERE gone.change = ?1)
            """, [scratch])
        try db.run("DELETE FROM change WHERE id = ?", [scratch])
        try db.run(
            """
            DELETE FROM change
            WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM changeRow WHERE changeRow.change = change.id)
            """)
        try titles.remove()
    }
}

/// Removes purged books from the change history. Deletes changes that were only about these books, and removes their
/// titles from the summaries of other changes.
struct PurgedTitles {
    private let db: Database
    /// The ids of the changes that lose rows in the log.
    private let changes: Set<Int64>
    private let titles: Set<String>

    /// Collects the titles of the purged books. Must be called before their log entries are deleted.
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

    /// Removes the titles of the purged books. Must be called after their log entries were deleted.
    func remove() throws {
        for change in changes { try removeIfEmpty(change) }
        for title in titles {
            // If another book has the same title, the title stays, because it does not reveal the purged book. The
            // column `folded` contains each title in folded form, followed by its subtitle.
            let folded = title.searchFolded
            let other = try db.row(
                "SELECT 1 FROM edition WHERE folded >= ? AND folded < ? AND title = ? LIMIT 1",
                [folded, folded + "\u{10FFFF}", title])
            guard other == nil else { continue }
            let quotedTitle = quoted(title)
            for row in try db.rows("SELECT id FROM change WHERE instr(summary, ?) > 0", [quotedTitle]) {
                try removeIfEmpty(row["id"])
            }
            try db.run(
                "UPDATE change SET summary = replace(summary, ?1, ?2) WHERE instr(summary, ?1) > 0",
                [quotedTitle, "a book deleted for good"])
        }
    }

    /// Deletes a change if it has nothing left to undo apart from new tags and shelves, and authors and subjects that
    /// were added or removed with their books.
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
