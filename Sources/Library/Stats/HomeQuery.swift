import Bookplate
import FoundationEssentials
import GRDB

/// Computes the stats of the home page, from one consistent state of the library.
struct HomeQuery {
    let db: Database
    let now: Date
    let zone: TimeZone
    private static let recentlyReadLimit = 5
    /// The number of copies up to which sorting all that were read is just as fast as walking through the dates of all
    /// readings, of which most may be other readers'.
    private static let few = 500

    /// Returns the home page of the reader or, for everybody, what is latest on those of all readers.
    func home(limit: Int) throws -> Home {
        guard try db.isEverybody else { return try ofReader(limit: limit) }
        let homes = try db.forEachReader { reader in
            var home = try ofReader(limit: limit)
            for index in home.readingNow.indices { home.readingNow[index].reader = reader }
            for index in home.recentlyRead.indices { home.recentlyRead[index].reader = reader }
            return home
        }
        let readingNow = homes.flatMap(\.readingNow).sorted { $1.place < $0.place }
        let recentlyRead = homes.flatMap(\.recentlyRead).sorted { $1.place < $0.place }
        return Home(
            today: CalendarDay(now, in: zone), readingNow: Array(readingNow.prefix(max(0, limit))),
            readingCount: homes.reduce(0) { $0 + $1.readingCount },
            recentlyRead: Array(recentlyRead.prefix(Self.recentlyReadLimit)))
    }

    private func ofReader(limit: Int) throws -> Home {
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
        let count = try NewestActivity.count(db)
        return Home(
            today: today, readingNow: readingNow, readingCount: count, recentlyRead: try recentlyRead())
    }

    private func books(_ copies: [Int64]) throws -> [Int64: Book] {
        let entries = try StoredBook.fetch(db, "WHERE copy.id IN (SELECT value FROM json_each(?))", [jsonList(copies)])
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.copyRow, $0.book) })
    }

    private func runningSession() throws -> (reading: Int64, session: Session)? {
        try db.row(
            """
            SELECT reading, uuid, start, "end", startPage, endPage FROM session
            WHERE "end" IS NULL AND reader = reader()
            """
        ).map { ($0["reading"], Session(row: $0)) }
    }

    /// Returns the books that were read most recently. Books with a finished date come first, in the order of this
    /// date, latest first. Books without such a date follow, in the order in which they were set to Read, latest first.
    private func recentlyRead() throws -> [RecentlyRead] {
        let count = try db.value(
            Int.self,
            """
            SELECT count(*) FROM (
                SELECT 1 FROM readerCopy WHERE reader = reader() AND status = 'read' LIMIT \(Self.few + 1))
            """)
        // If there are many, the walk almost always finds enough books in the first rows of the index.
        let readings =
            count ?? 0 > Self.few
            ? "reading INDEXED BY readingByFinished CROSS JOIN readerCopy own ON own.copy = reading.copy"
            : "readerCopy own CROSS JOIN reading ON reading.copy = own.copy"
        var copies = try db.rows(
            """
            SELECT copy.id FROM \(readings) CROSS JOIN copy ON copy.id = own.copy
            WHERE reading.finished IS NOT NULL AND reading.reader = reader() AND own.reader = reader()
                AND own.status = 'read' AND copy.deleted IS NULL AND reading.id = \(ReadingNowRow.shownReading)
            ORDER BY reading.finished DESC, reading.id DESC LIMIT ?
            """, [Self.recentlyReadLimit]
        ).map { $0[0] as Int64 }
        if copies.count < Self.recentlyReadLimit {
            copies += try db.rows(
                """
                SELECT copy.id FROM readerCopy own CROSS JOIN copy ON copy.id = own.copy
                    LEFT JOIN reading ON reading.id = \(ReadingNowRow.shownReading)
                WHERE own.reader = reader() AND own.status = 'read' AND copy.deleted IS NULL
                    AND reading.finished IS NULL
                ORDER BY coalesce((SELECT max(at) FROM progressEntry WHERE progressEntry.reading = reading.id),
                    copy.added) DESC, copy.id DESC LIMIT ?
                """, [Self.recentlyReadLimit - copies.count]
            ).map { $0[0] as Int64 }
        }
        let books = try books(copies)
        return copies.compactMap { books[$0].map(RecentlyRead.init) }
    }
}

/// The values by which the queries of the home page sort its books.
extension ReadingNow {
    fileprivate var place: Date { lastActivity ?? book.copy.added }
}

extension RecentlyRead {
    /// Books without a date come last, those marked as Read last first.
    fileprivate var place: (String, Date) {
        if let finished { return (finished.description, .distantPast) }
        return ("", book.copy.reading?.progress?.at ?? book.copy.added)
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
        (SELECT shown.id FROM reading shown
        WHERE shown.copy = copy.id AND shown.reader = reader() AND shown.state <> 'cancelled'
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
            \(beingRead) \(newest == nil ? "" : "AND own.copy IN (SELECT value FROM json_each(?))")
            ORDER BY coalesce(activity, copy.added) DESC, copy.id DESC LIMIT ?
            """, newest.map { [jsonList($0), limit] } ?? [limit]
        ).map(ReadingNowRow.init)
    }

    /// Fetches the copies of a range of row ids that are being read, in any order.
    static func fetch(_ db: Database, copies: ClosedRange<Int64>) throws -> [ReadingNowRow] {
        try db.rows("\(beingRead) AND own.copy BETWEEN ? AND ?", [copies.lowerBound, copies.upperBound])
            .map(ReadingNowRow.init)
    }

    /// Fetches one copy, which may have any status.
    static func fetch(_ db: Database, copy: Int64) throws -> ReadingNowRow? {
        try db.row("\(selection(from: "copy")) WHERE copy.id = ?", [copy]).map(ReadingNowRow.init)
    }

    private static let beingRead = """
        \(selection(from: "readerCopy own CROSS JOIN copy ON copy.id = own.copy"))
        WHERE own.reader = reader() AND own.status = 'reading' AND copy.deleted IS NULL
        """

    /// - Parameter copies: the FROM clause, which contains the table copy.
    private static func selection(from copies: String) -> String {
        """
        SELECT copy.id AS copyRow, copy.added, reading.id AS readingRow, reading.started, \(lastActivity) AS activity
        FROM \(copies) LEFT JOIN reading ON reading.id = \(shownReading)
        """
    }

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

    /// Returns the number of copies that are being read. Those in the trash, which are few, are subtracted, so that the
    /// others need not be looked up.
    static func count(_ db: Database) throws -> Int {
        try db.value(
            Int.self,
            """
            SELECT (SELECT count(*) FROM readerCopy WHERE reader = reader() AND status = 'reading')
                - (SELECT count(*) FROM copy CROSS JOIN readerCopy own ON own.copy = copy.id
                    WHERE copy.deleted IS NOT NULL AND own.reader = reader() AND own.status = 'reading')
            """) ?? 0
    }

    /// - Returns: at least the first `limit` copies, including all copies that have the same time as the last of them;
    ///   `nil` if sorting all copies is faster.
    func copies() throws -> [Int64]? {
        let count = try Self.count(db)
        guard limit > 0, count > max(Self.many, 4 * limit) else { return nil }
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
                CROSS JOIN readerCopy own ON own.copy = copy.id AND own.reader = reader()
            WHERE added >= ? AND own.status = 'reading' AND deleted IS NULL
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
                    SELECT reading.copy, moment.\(time), CASE WHEN reading.reader = reader() THEN EXISTS (
                        SELECT 1 FROM readerCopy own CROSS JOIN copy ON copy.id = own.copy
                        WHERE own.copy = reading.copy AND own.reader = reading.reader AND own.status = 'reading'
                            AND copy.deleted IS NULL AND reading.id = \(ReadingNowRow.shownReading)) ELSE 0 END
                    FROM \(table) moment INDEXED BY \(index) CROSS JOIN reading ON reading.id = moment.reading
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
