import Bookplate
import FoundationEssentials
import GRDB

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
        let done = try Chore.purge.lastDone(db)
        // Another day, not only a later one: a clock that was once far ahead must not stop it for ever.
        guard done != day else { return false }
        try Chore.purge.record(db, at: now)
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
