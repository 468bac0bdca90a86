import Bookplate
import FoundationEssentials
import GRDB

/// Sessions as rows, each with the book that was read in it.
enum StoredSessions {
    private static let selection = """
        SELECT session.uuid, session.start, session."end", session.startPage, session.endPage,
            reading.uuid AS readingID, copy.uuid AS copyID, copy.deleted, edition.title, edition.isbn, edition.pageCount
        FROM session JOIN reading ON reading.id = session.reading JOIN copy ON copy.id = reading.copy
            JOIN edition ON edition.id = copy.edition

        """

    /// Also of a book in the trash and of a cancelled reading: it runs until somebody ends it.
    static func running(_ db: Database) throws -> SessionRecord? {
        try db.row(selection + "WHERE session.\"end\" IS NULL").map(record)
    }

    static func one(_ db: Database, _ id: ID<Session>) throws -> SessionRecord? {
        try db.row(selection + "WHERE session.uuid = ?", [id.rawValue]).map(record)
    }

    static func ending(in text: String, _ db: Database) throws -> [SessionRecord] {
        try db.rows(
            selection + "WHERE substr(session.uuid, -length(?1)) = ?1 ORDER BY session.start DESC LIMIT 10", [text]
        ).map(record)
    }

    /// Reading by reading, so that the indexes give the order and nothing is sorted.
    static func of(_ copy: ID<Copy>, limit: Int, offset: Int, _ db: Database) throws -> [SessionRecord] {
        try db.rows(
            selection + """
                WHERE copy.uuid = ? AND reading.state <> 'cancelled'
                ORDER BY reading.position DESC, reading.id DESC, session.start DESC, session.id DESC LIMIT ? OFFSET ?
                """, [copy.rawValue, max(0, limit), max(0, offset)]
        ).map(record)
    }

    static func all(limit: Int, offset: Int, _ db: Database) throws -> [SessionRecord] {
        try db.rows(
            selection + """
                WHERE copy.deleted IS NULL AND reading.state <> 'cancelled'
                ORDER BY session.start DESC, session.id DESC LIMIT ? OFFSET ?
                """, [max(0, limit), max(0, offset)]
        ).map(record)
    }

    /// The same as ``SessionTotals/init(_:)``, counted where the rows are.
    static func totals(of copy: ID<Copy>, _ db: Database) throws -> SessionTotals {
        let row = try db.row(
            """
            SELECT count(*) AS sessions, sum(minutes) AS minutes, sum(pages) AS pages, max("end") AS lastRead,
                avg(CASE WHEN minutes > 0 AND pages > 0 THEN pages * 60.0 / minutes END) AS pace
            FROM (
                SELECT \(DaySums.ofSession), "end"
                FROM session JOIN reading ON reading.id = session.reading
                WHERE reading.copy = (SELECT id FROM copy WHERE uuid = ?) AND reading.state <> 'cancelled'
                    AND "end" IS NOT NULL)
            """, [copy.rawValue])
        return SessionTotals(
            sessions: row?["sessions"] ?? 0, minutes: row?["minutes"] ?? 0, pages: row?["pages"] ?? 0,
            meanPace: row?["pace"], lastRead: (row?["lastRead"] as Int64?).map(Date.init(milliseconds:)))
    }

    /// Stores a session that begins.
    ///
    /// - Throws: ``SessionError/alreadyActive`` for a second running one, whoever made the first.
    static func start(_ session: Session, of reading: ID<Reading>, _ db: Database) throws {
        do {
            try insert(session, of: reading, db)
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
            throw SessionError.alreadyActive
        }
    }

    static func insert(_ session: Session, of reading: ID<Reading>, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO session (uuid, reading, start, "end", startPage, endPage)
            VALUES (?, (SELECT id FROM reading WHERE uuid = ?), ?, ?, ?, ?)
            """,
            [
                session.id.rawValue, reading.rawValue, session.start.milliseconds, session.end?.milliseconds,
                session.startPage, session.endPage,
            ])
    }

    static func update(_ session: Session, _ db: Database) throws {
        try db.run(
            "UPDATE session SET start = ?, \"end\" = ?, startPage = ?, endPage = ? WHERE uuid = ?",
            [
                session.start.milliseconds, session.end?.milliseconds, session.startPage, session.endPage,
                session.id.rawValue,
            ])
    }

    static func delete(_ id: ID<Session>, _ db: Database) throws {
        try deleteEntry(of: id, db)
        try db.run("DELETE FROM session WHERE uuid = ?", [id.rawValue])
    }

    static func deleteEntry(of id: ID<Session>, _ db: Database) throws {
        try db.run(
            "DELETE FROM progressEntry WHERE session = (SELECT id FROM session WHERE uuid = ?)", [id.rawValue])
    }

    /// Brings the entry that a session's end made to the session as it is now.
    ///
    /// - Returns: whether there is one.
    static func moveEntry(of session: Session, endedBefore: Date?, _ db: Database) throws -> Bool {
        try db.run(
            """
            UPDATE progressEntry SET page = ?, at = CASE WHEN ? THEN ? ELSE at END
            WHERE session = (SELECT id FROM session WHERE uuid = ?)
            """,
            [session.endPage, session.end != endedBefore, session.end?.milliseconds, session.id.rawValue])
        return db.changesCount > 0
    }

    private static func record(_ row: Row) throws -> SessionRecord {
        SessionRecord(
            session: Session(row: row),
            reading: ID(rawValue: row["readingID"]), copy: ID(rawValue: row["copyID"]),
            title: row["title"], isbn: try StoredBooks.isbn(row), pageCount: row["pageCount"],
            isInTrash: row["deleted"] as Int64? != nil)
    }
}

extension Session {
    /// From the columns uuid, start, end, startPage, endPage.
    init(row: Row) {
        self.init(
            id: ID(rawValue: row["uuid"]), start: Date(milliseconds: row["start"]),
            end: (row["end"] as Int64?).map(Date.init(milliseconds:)), startPage: row["startPage"],
            endPage: row["endPage"])
    }
}
