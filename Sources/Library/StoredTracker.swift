import Bookplate
import FoundationEssentials
import GRDB

/// A copy in the form that the tracker's rules need, with the id of its database row.
struct StoredTracker {
    let copyRow: Int64
    let book: Book
    var tracker: Tracker

    /// - Parameter inTrash: true to load the copy even if it is in the trash.
    /// - Returns: the copy with an id; `nil` if there is none.
    static func load(_ db: Database, _ id: ID<Copy>, inTrash: Bool = false) throws -> StoredTracker? {
        guard let stored = try StoredBook.one(db, id), inTrash || stored.book.copy.deleted == nil else { return nil }
        return StoredTracker(copyRow: stored.copyRow, book: stored.book, tracker: Tracker(stored.book))
    }

    /// Stores the steps that a rule of the tracker has returned.
    static func store(_ steps: [Tracker.Step], of copy: Int64, _ db: Database) throws {
        for step in steps {
            switch step {
            case .status(let status):
                try OwnCopy.store([("status", status.rawValue)], of: copy, db)
            case .opened(let reading, let next):
                try StoredReadings.insert(reading, at: position(before: next, of: copy, db), of: copy, db)
            case .changed(let reading):
                try db.run(
                    "UPDATE reading SET state = ?, started = ?, finished = ?, stopped = ? WHERE uuid = ?",
                    [
                        reading.state.rawValue, reading.started?.description, reading.finished?.description,
                        reading.stopped?.description, reading.id.rawValue,
                    ])
            case .removed(let id): try remove(id, db)
            case .recorded(let entry, let id): try StoredReadings.insert(entry, of: id, db)
            case .redated(let entry, _):
                try db.run(
                    "UPDATE progressEntry SET at = ? WHERE uuid = ?", [entry.at.milliseconds, entry.id.rawValue])
            case .corrected(let entry, _, _): try StoredReadings.update(entry, db)
            case .forgotten(let id, _, _):
                try db.run("DELETE FROM progressEntry WHERE uuid = ?", [id.rawValue])
            }
        }
    }

    /// Returns the position for a new reading. If other readings follow it, their positions are increased by one.
    private static func position(before next: ID<Reading>?, of copy: Int64, _ db: Database) throws -> Int {
        let occupied = try next.flatMap {
            try db.value(Int.self, "SELECT position FROM reading WHERE uuid = ?", [$0.rawValue])
        }
        guard let occupied else {
            let last = try db.value(
                Int.self, "SELECT max(position) FROM reading WHERE copy = ? AND reader = reader()", [copy])
            return last.map { $0 + 1 } ?? 0
        }
        try db.run(
            "UPDATE reading SET position = position + 1 WHERE copy = ? AND reader = reader() AND position >= ?",
            [copy, occupied])
        return occupied
    }

    private static func remove(_ id: ID<Reading>, _ db: Database) throws {
        guard let row = try db.value(Int64.self, "SELECT id FROM reading WHERE uuid = ?", [id.rawValue]) else { return }
        if let running = try StoredSessions.running(db), running.reading == id {
            throw ReadingRefusal.sessionRunning(title: running.displayTitle)
        }
        try db.run("DELETE FROM progressEntry WHERE reading = ?", [row])
        try db.run("DELETE FROM session WHERE reading = ?", [row])
        try db.run("DELETE FROM reading WHERE id = ?", [row])
    }
}

extension LibraryFile {
    /// Returns the time of a person's act, and the automatic effects that the act may have. Dates are set automatically
    /// only if the library's setting allows it.
    func moment(_ db: Database, _ now: Date) throws -> Tracker.Moment {
        let isOn = try value(of: .automaticDates, db) == "1"
        return Tracker.Moment(now: now, zone: zone, automatic: isOn ? [.dates, .progress] : [.progress])
    }
}

/// Functions that fetch and store readings and progress entries.
enum StoredReadings {
    /// - Parameter copies: the row ids of the copies, as one JSON argument.
    /// - Returns: the readings of each copy, oldest first, by the copy's row id. Each reading has its latest progress
    ///   entry.
    static func fetch(_ db: Database, of copies: String) throws -> [Int64: [Reading]] {
        var readings: [Int64: [Reading]] = [:]
        try db.forEachRow(
            """
            SELECT reading.copy, reading.uuid, reading.state, started, finished, stopped,
                entry.uuid AS entryID, entry.at, entry.page, entry.percent, entry.isAutomatic, session.uuid AS sessionID
            FROM reading
            LEFT JOIN progressEntry entry ON entry.id = (
                SELECT id FROM progressEntry WHERE reading = reading.id ORDER BY at DESC, id DESC LIMIT 1)
            LEFT JOIN session ON session.id = entry.session
            WHERE reading.copy IN (SELECT value FROM json_each(?)) AND reading.reader = reader()
            ORDER BY reading.copy, position, reading.id
            """, [copies]
        ) { row in
            var reading = try Reading(row: row)
            reading.progress = try progressEntry(row)
            readings[row["copy"], default: []].append(reading)
        }
        return readings
    }

    /// Decodes an entry from the columns `entryID`, `at`, `page`, `percent`, `isAutomatic` and `sessionID`.
    ///
    /// - Returns: `nil` if `entryID` is NULL.
    static func progressEntry(_ row: Row) throws -> ProgressEntry? {
        guard let id = row["entryID"] as String? else { return nil }
        let amount: ProgressEntry.Amount
        if let page = row["page"] as Int? {
            amount = .page(page)
        } else if let percent = row["percent"] as Int? {
            amount = .percent(Double(percent) / 100)
        } else {
            throw RowDecodingError(what: "a progress entry has neither a page nor a percentage")
        }
        return ProgressEntry(
            id: ID(rawValue: id), at: Date(milliseconds: row["at"]), amount: amount, isAutomatic: row["isAutomatic"],
            session: (row["sessionID"] as String?).map { ID(rawValue: $0) })
    }

    /// Inserts a reading, but not its progress entries.
    static func insert(_ reading: Reading, at position: Int, of copy: Int64, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO reading (uuid, copy, position, state, started, finished, stopped, reader)
            VALUES (?, ?, ?, ?, ?, ?, ?, reader())
            """,
            [
                reading.id.rawValue, copy, position, reading.state.rawValue, reading.started?.description,
                reading.finished?.description, reading.stopped?.description,
            ])
    }

    /// Stores a progress entry that a person has corrected.
    static func update(_ entry: ProgressEntry, _ db: Database) throws {
        try db.run(
            "UPDATE progressEntry SET at = ?, page = ?, percent = ?, isAutomatic = ? WHERE uuid = ?",
            [
                entry.at.milliseconds, entry.amount.page, entry.amount.percent.map { Int(($0 * 100).rounded()) },
                entry.isAutomatic, entry.id.rawValue,
            ])
    }

    /// Inserts a progress entry. If its session is stored, the entry refers to it.
    static func insert(_ entry: ProgressEntry, of reading: ID<Reading>, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO progressEntry (uuid, reading, at, page, percent, isAutomatic, session)
            VALUES (?, (SELECT id FROM reading WHERE uuid = ?), ?, ?, ?, ?, (SELECT id FROM session WHERE uuid = ?))
            """,
            [
                entry.id.rawValue, reading.rawValue, entry.at.milliseconds, entry.amount.page,
                entry.amount.percent.map { Int(($0 * 100).rounded()) }, entry.isAutomatic, entry.session?.rawValue,
            ])
    }
}

extension Reading {
    /// Decodes a reading, but not its progress.
    init(row: Row) throws {
        self.init(
            id: ID(rawValue: row["uuid"]), state: try row.word("state"), started: try row.day("started"),
            finished: try row.day("finished"), stopped: try row.day("stopped"))
    }
}

/// Functions that fetch and store sessions. A fetched session comes with the book that was read in that session.
enum StoredSessions {
    private static let selection = """
        SELECT session.uuid, session.start, session."end", session.startPage, session.endPage,
            reading.uuid AS readingID, copy.uuid AS copyID, copy.deleted, edition.title, edition.isbn, edition.pageCount
        FROM session JOIN reading ON reading.id = session.reading JOIN copy ON copy.id = reading.copy
            JOIN edition ON edition.id = copy.edition

        """

    /// Fetches the running session, even if its book is in the trash or its reading was cancelled.
    static func running(_ db: Database) throws -> SessionRecord? {
        try db.row(selection + "WHERE session.\"end\" IS NULL AND session.reader = reader()").map(record)
    }

    /// Fetches the running session of a copy that would go on although the book is not being read any more.
    static func running(
        _ db: Database, of copy: ID<Copy>, leavingFor status: Copy.Status, from old: Copy.Status
    ) throws -> SessionRecord? {
        guard status != .reading, status != old, let running = try running(db), running.copy == copy else { return nil }
        return running
    }

    static func one(_ db: Database, _ id: ID<Session>) throws -> SessionRecord? {
        try db.row(selection + "WHERE session.uuid = ? AND session.reader = reader()", [id.rawValue]).map(record)
    }

    static func ending(in text: String, _ db: Database) throws -> [SessionRecord] {
        try db.rows(
            selection + """
                WHERE substr(session.uuid, -length(?1)) = ?1 AND session.reader = reader()
                ORDER BY session.start DESC LIMIT 10
                """, [text]
        ).map(record)
    }

    /// Fetches a copy's sessions, newest reading first, and within each reading newest session first. The indexes give
    /// this order without a sort.
    static func of(_ copy: ID<Copy>, limit: Int, offset: Int, _ db: Database) throws -> [SessionRecord] {
        try db.rows(
            selection + """
                WHERE copy.uuid = ? AND reading.state <> 'cancelled' AND reading.reader = reader()
                ORDER BY reading.position DESC, reading.id DESC, session.start DESC, session.id DESC LIMIT ? OFFSET ?
                """, [copy.rawValue, max(0, limit), max(0, offset)]
        ).map(record)
    }

    static func all(limit: Int, offset: Int, _ db: Database) throws -> [SessionRecord] {
        try db.rows(
            selection + """
                WHERE copy.deleted IS NULL AND reading.state <> 'cancelled' AND session.reader = reader()
                ORDER BY session.start DESC, session.id DESC LIMIT ? OFFSET ?
                """, [max(0, limit), max(0, offset)]
        ).map(record)
    }

    /// Computes the totals of a copy's sessions in SQL, in the same way as ``SessionTotals/init(_:)``.
    static func totals(of copy: ID<Copy>, _ db: Database) throws -> SessionTotals {
        let row = try db.row(
            """
            SELECT count(*) AS sessions, sum(minutes) AS minutes, sum(pages) AS pages, max("end") AS lastRead,
                avg(CASE WHEN minutes > 0 AND pages > 0 THEN pages * 60.0 / minutes END) AS pace
            FROM (
                SELECT \(DayStatsQuery.ofSession), "end"
                FROM session JOIN reading ON reading.id = session.reading
                WHERE reading.copy = (SELECT id FROM copy WHERE uuid = ?) AND reading.state <> 'cancelled'
                    AND reading.reader = reader() AND "end" IS NOT NULL)
            """, [copy.rawValue])
        return SessionTotals(
            sessions: row?["sessions"] ?? 0, minutes: row?["minutes"] ?? 0, pages: row?["pages"] ?? 0,
            meanPace: row?["pace"], lastRead: (row?["lastRead"] as Int64?).map(Date.init(milliseconds:)))
    }

    /// Inserts a running session.
    ///
    /// - Throws: ``SessionError/alreadyActive`` if another session is running, even if another process has started it.
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
            INSERT INTO session (uuid, reading, start, "end", startPage, endPage, reader)
            SELECT ?1, id, ?3, ?4, ?5, ?6, reader FROM reading WHERE uuid = ?2
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

    /// Updates the progress entry of a session after an edit of the session.
    ///
    /// - Returns: false if the session has no progress entry.
    static func updateEntry(of session: Session, endedBefore: Date?, _ db: Database) throws -> Bool {
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
            title: row["title"], isbn: try row.isbn(), pageCount: row["pageCount"],
            isInTrash: row["deleted"] as Int64? != nil)
    }
}

extension Session {
    /// Decodes a session from the columns `uuid`, `start`, `end`, `startPage` and `endPage`.
    init(row: Row) {
        self.init(
            id: ID(rawValue: row["uuid"]), start: Date(milliseconds: row["start"]),
            end: (row["end"] as Int64?).map(Date.init(milliseconds:)), startPage: row["startPage"],
            endPage: row["endPage"])
    }
}
