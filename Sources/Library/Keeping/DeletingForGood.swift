import Bookplate
import FoundationEssentials
import GRDB
import Synchronization

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
