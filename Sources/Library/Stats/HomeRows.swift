import Bookplate
import FoundationEssentials
import GRDB

/// What the first page shows, from one state of the library.
struct HomeRows {
    let db: Database
    let now: Date
    let zone: TimeZone
    /// How many that were read are shown.
    private static let recentlyRead = 5

    func home(limit: Int) throws -> Home {
        let today = CalendarDay(now, in: zone)
        let rows = try ReadingNowRow.fetch(db, limit: max(0, limit))
        let books = try books(rows.map(\.copy))
        let days = try DaySums(db, in: zone).readings(rows.compactMap(\.reading))
        let libraryGoal = try goal(db, .dailyGoal)
        let running = try runningSession()
        let readingNow = rows.compactMap { row -> ReadingNow? in
            guard let book = books[row.copy] else { return nil }
            let days = row.reading.flatMap { days[$0] } ?? []
            let session = running.flatMap { $0.reading == row.reading ? $0.session : nil }
            return ReadingNow(
                book: book,
                forecast: Forecast(
                    isReading: true, progress: book.copy.reading?.progress?.amount,
                    pageCount: book.edition.metadata.pageCount, days: days, goal: book.copy.dailyGoal ?? libraryGoal,
                    today: today),
                pause: session == nil ? row.pause(today: today, in: zone) : nil, running: session,
                lastActivity: row.lastActivity,
                pagesToday: days.last { $0.day == today }?.pages ?? 0)
        }
        let count = try db.value(
            Int.self, "SELECT count(*) FROM copy WHERE status = 'reading' AND deleted IS NULL")
        return Home(
            today: today, readingNow: readingNow, readingCount: count ?? 0, recentlyRead: try lastRead())
    }

    private func books(_ copies: [Int64]) throws -> [Int64: Book] {
        let entries = try StoredBooks.fetch(db, "WHERE copy.id IN (SELECT value FROM json_each(?))", [list(copies)])
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.copyRow, $0.book) })
    }

    private func runningSession() throws -> (reading: Int64, session: Session)? {
        try db.row("SELECT reading, uuid, start, \"end\", startPage, endPage FROM session WHERE \"end\" IS NULL").map {
            ($0["reading"], Session(row: $0))
        }
    }

    /// By finished date, the latest first; then those without one, the latest marked first.
    private func lastRead() throws -> [RecentlyRead] {
        // Almost always enough, and only the first rows of an index are looked at.
        var copies = try db.rows(
            """
            SELECT copy.id FROM reading JOIN copy ON copy.id = reading.copy
            WHERE reading.finished IS NOT NULL AND copy.status = 'read' AND copy.deleted IS NULL
                AND reading.id = \(ReadingNowRow.shownReading)
            ORDER BY reading.finished DESC, reading.id DESC LIMIT ?
            """, [Self.recentlyRead]
        ).map { $0[0] as Int64 }
        if copies.count < Self.recentlyRead {
            copies += try db.rows(
                """
                SELECT copy.id FROM copy LEFT JOIN reading ON reading.id = \(ReadingNowRow.shownReading)
                WHERE copy.status = 'read' AND copy.deleted IS NULL AND reading.finished IS NULL
                ORDER BY coalesce((SELECT max(at) FROM progressEntry WHERE progressEntry.reading = reading.id),
                    copy.added) DESC, copy.id DESC LIMIT ?
                """, [Self.recentlyRead - copies.count]
            ).map { $0[0] as Int64 }
        }
        let books = try books(copies)
        return copies.compactMap { books[$0].map(RecentlyRead.init) }
    }
}

/// The copies in Reading, each with its reading and the latest sign of life in it.
struct ReadingNowRow {
    var copy: Int64
    /// `nil` where the copy has none, which only a file that another program wrote can have.
    var reading: Int64?
    var started: CalendarDay?
    /// The latest entry or session, whoever made it.
    var lastActivity: Date?
    var added: Date

    /// The last reading of a copy that is not cancelled: the one that it shows, unless it is To Read.
    static let shownReading = """
        (SELECT shown.id FROM reading shown WHERE shown.copy = copy.id AND shown.state <> 'cancelled'
        ORDER BY shown.position DESC, shown.id DESC LIMIT 1)
        """

    private static let lastActivity = """
        nullif(max(
            coalesce((SELECT max(at) FROM progressEntry WHERE progressEntry.reading = reading.id), \(never)),
            coalesce((SELECT max(start) FROM session WHERE session.reading = reading.id), \(never))), \(never))
        """
    /// Before every instant that the library stores.
    private static let never = Int64.min + 1

    /// The newest activity first, after that the copies added last.
    ///
    /// - Parameter limit: below zero for none.
    static func fetch(_ db: Database, limit: Int = -1) throws -> [ReadingNowRow] {
        let newest = limit < 0 ? nil : try NewestReading(db: db, limit: limit).copies()
        return try db.rows(
            """
            \(selection) WHERE copy.status = 'reading' AND copy.deleted IS NULL
                \(newest == nil ? "" : "AND copy.id IN (SELECT value FROM json_each(?))")
            ORDER BY coalesce(activity, copy.added) DESC, copy.id DESC LIMIT ?
            """, newest.map { [list($0), limit] } ?? [limit]
        ).map(ReadingNowRow.init)
    }

    /// One copy, whatever its status.
    static func fetch(_ db: Database, copy: Int64) throws -> ReadingNowRow? {
        try db.row("\(selection) WHERE copy.id = ?", [copy]).map(ReadingNowRow.init)
    }

    private static let selection = """
        SELECT copy.id AS copyRow, copy.added, reading.id AS readingRow, reading.started, \(lastActivity) AS activity
        FROM copy LEFT JOIN reading ON reading.id = \(shownReading)
        """

    private init(_ row: Row) throws {
        copy = row["copyRow"]
        reading = row["readingRow"]
        started = try row.day("started")
        lastActivity = (row["activity"] as Int64?).map(Date.init(milliseconds:))
        added = Date(milliseconds: row["added"])
    }

    func pause(today: CalendarDay, in zone: TimeZone) -> Pause? {
        Pause(
            last: lastActivity.map { CalendarDay($0, in: zone) }, started: started,
            added: CalendarDay(added, in: zone), today: today)
    }
}
