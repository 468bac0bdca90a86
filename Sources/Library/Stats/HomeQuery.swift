import Bookplate
import FoundationEssentials
import GRDB

/// Computes the stats of the home page, from one consistent state of the library.
struct HomeQuery {
    let db: Database
    let now: Date
    let zone: TimeZone
    private static let recentlyReadLimit = 5

    func home(limit: Int) throws -> Home {
        let today = CalendarDay(now, in: zone)
        let rows = try ReadingNowRow.fetch(db, limit: max(0, limit))
        let books = try books(rows.map(\.copy))
        let days = try DayStatsQuery(db, in: zone).readings(rows.compactMap(\.reading))
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
            today: today, readingNow: readingNow, readingCount: count ?? 0, recentlyRead: try recentlyRead())
    }

    private func books(_ copies: [Int64]) throws -> [Int64: Book] {
        let entries = try StoredBook.fetch(db, "WHERE copy.id IN (SELECT value FROM json_each(?))", [jsonList(copies)])
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.copyRow, $0.book) })
    }

    private func runningSession() throws -> (reading: Int64, session: Session)? {
        try db.row("SELECT reading, uuid, start, \"end\", startPage, endPage FROM session WHERE \"end\" IS NULL").map {
            ($0["reading"], Session(row: $0))
        }
    }

    /// Returns the books that were read most recently. Books with a finished date come first, in the order of this
    /// date, latest first. Books without such a date follow, in the order in which they were set to Read, latest first.
    private func recentlyRead() throws -> [RecentlyRead] {
        // This query almost always finds enough books, and reads only the first rows of an index.
        var copies = try db.rows(
            """
            SELECT copy.id FROM reading JOIN copy ON copy.id = reading.copy
            WHERE reading.finished IS NOT NULL AND copy.status = 'read' AND copy.deleted IS NULL
                AND reading.id = \(ReadingNowRow.shownReading)
            ORDER BY reading.finished DESC, reading.id DESC LIMIT ?
            """, [Self.recentlyReadLimit]
        ).map { $0[0] as Int64 }
        if copies.count < Self.recentlyReadLimit {
            copies += try db.rows(
                """
                SELECT copy.id FROM copy LEFT JOIN reading ON reading.id = \(ReadingNowRow.shownReading)
                WHERE copy.status = 'read' AND copy.deleted IS NULL AND reading.finished IS NULL
                ORDER BY coalesce((SELECT max(at) FROM progressEntry WHERE progressEntry.reading = reading.id),
                    copy.added) DESC, copy.id DESC LIMIT ?
                """, [Self.recentlyReadLimit - copies.count]
            ).map { $0[0] as Int64 }
        }
        let books = try books(copies)
        return copies.compactMap { books[$0].map(RecentlyRead.init) }
    }
}

/// A copy, with the reading that is shown for it and the latest activity in that reading.
struct ReadingNowRow {
    var copy: Int64
    /// The row id of the reading. It is `nil` if the copy has no reading, which happens only in a file that another
    /// program has written.
    var reading: Int64?
    var started: CalendarDay?
    /// The time of the latest progress entry (which may be automatic) or the start of the latest session, whichever is
    /// later.
    var lastActivity: Date?
    var added: Date

    /// The SQL expression for a copy's last reading that is not cancelled. This reading is shown for the copy, unless
    /// the copy's status is To Read.
    static let shownReading = """
        (SELECT shown.id FROM reading shown WHERE shown.copy = copy.id AND shown.state <> 'cancelled'
        ORDER BY shown.position DESC, shown.id DESC LIMIT 1)
        """

    private static let lastActivity = """
        nullif(max(
            coalesce((SELECT max(at) FROM progressEntry WHERE progressEntry.reading = reading.id), \(never)),
            coalesce((SELECT max(start) FROM session WHERE session.reading = reading.id), \(never))), \(never))
        """
    /// A time before every instant that the library stores.
    private static let never = Int64.min + 1

    /// Fetches the copies that are being read, in the order of their latest activity, newest first. A copy without
    /// activity is placed by the time at which it was added.
    ///
    /// - Parameter limit: the maximum number of copies; a negative number for no limit.
    static func fetch(_ db: Database, limit: Int = -1) throws -> [ReadingNowRow] {
        let newest = limit < 0 ? nil : try NewestActivity(db: db, limit: limit).copies()
        return try db.rows(
            """
            \(selection) WHERE copy.status = 'reading' AND copy.deleted IS NULL
                \(newest == nil ? "" : "AND copy.id IN (SELECT value FROM json_each(?))")
            ORDER BY coalesce(activity, copy.added) DESC, copy.id DESC LIMIT ?
            """, newest.map { [jsonList($0), limit] } ?? [limit]
        ).map(ReadingNowRow.init)
    }

    /// Fetches the copies of a range of row ids that are being read, in any order.
    static func fetch(_ db: Database, copies: ClosedRange<Int64>) throws -> [ReadingNowRow] {
        try db.rows(
            """
            \(selection) WHERE copy.status = 'reading' AND copy.deleted IS NULL AND copy.id BETWEEN ? AND ?
            """, [copies.lowerBound, copies.upperBound]
        ).map(ReadingNowRow.init)
    }

    /// Fetches one copy, which may have any status.
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

/// Finds the copies with the newest activity if very many copies are being read. Instead of sorting all these copies,
/// it walks backwards through the indexes that are ordered by time.
struct NewestActivity {
    let db: Database
    let limit: Int

    /// The number of copies being read up to which sorting all of them is just as fast as walking through the indexes.
    private static let many = 500
    /// The maximum number of rows to walk through. If few of these rows belong to copies that are being read, sorting
    /// all copies that are being read is faster than walking further.
    private static let maxSteps = 5_000

    /// - Returns: at least the first `limit` copies, including all copies that have the same time as the last of them;
    ///   `nil` if sorting all copies is faster.
    func copies() throws -> [Int64]? {
        let count = try db.value(Int.self, "SELECT count(*) FROM copy WHERE status = 'reading' AND deleted IS NULL")
        guard limit > 0, count ?? 0 > max(Self.many, 4 * limit) else { return nil }
        var activity: [Int64: Int64] = [:]
        for (table, time, index) in [
            ("progressEntry", "at", "progressEntryByAt"), ("session", "start", "sessionByStart"),
        ] {
            guard let found = try newest(of: table, by: time, along: index) else { return nil }
            activity.merge(found) { max($0, $1) }
        }
        let times = activity.values.sorted(by: >)
        guard times.count >= limit else { return nil }
        // Copies without activity are placed by the time at which they were added.
        let added = try db.rows(
            """
            SELECT id FROM copy INDEXED BY copyByAdded
            WHERE added >= ? AND status = 'reading' AND deleted IS NULL
            """, [times[limit - 1]]
        ).map { $0[0] as Int64 }
        return Array(activity.keys) + added
    }

    /// Finds the `limit` copies with the newest rows in a table, and returns the time of each copy's newest row; `nil`
    /// if too many rows would have to be read.
    private func newest(of table: String, by time: String, along index: String) throws -> [Int64: Int64]? {
        var found: [Int64: Int64] = [:]
        var (steps, end) = (0, Int64.min)
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT reading.copy, moment.\(time), copy.status = 'reading' AND copy.deleted IS NULL
                        AND reading.id = \(ReadingNowRow.shownReading)
                    FROM \(table) moment INDEXED BY \(index) CROSS JOIN reading ON reading.id = moment.reading
                        CROSS JOIN copy ON copy.id = reading.copy
                    ORDER BY moment.\(time) DESC
                    """))
        while let row = try rows.next() {
            let (copy, time, isShown): (Int64, Int64, Bool) = (row[0], row[1], row[2])
            if found.count >= limit, time < end { return found }
            steps += 1
            guard steps <= Self.maxSteps else { return nil }
            guard isShown, found[copy] == nil else { continue }
            found[copy] = time
            if found.count == limit { end = time }
        }
        return found
    }
}
