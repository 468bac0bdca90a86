import Bookplate
import FoundationEssentials
import GRDB

/// The figures of one copy, found by indexes over its readings alone.
struct BookSums {
    let db: Database
    let entry: StoredBooks.Entry
    let now: Date
    let zone: TimeZone

    func figures() throws -> BookStats {
        let (book, today) = (entry.book, CalendarDay(now, in: zone))
        let metadata = book.edition.metadata
        var figures = BookStats(
            book: CountedBook(
                id: book.id, title: metadata.title, authors: metadata.authorNames, isbn: book.edition.isbn,
                edition: book.edition.id), status: book.copy.status, pageCount: metadata.pageCount)
        let rows = try db.rows(
            "SELECT id, uuid FROM reading WHERE copy = ? AND state <> 'cancelled'", [entry.copyRow])
        let numbers = Dictionary(uniqueKeysWithValues: rows.map { ($0["uuid"] as String, $0["id"] as Int64) })
        let sums = try DaySums(db, in: zone)
        let days = try sums.readings(Array(numbers.values))
        let points = try sums.points(Array(numbers.values))
        let goal = try book.copy.dailyGoal ?? goal(db, .dailyGoal)

        figures.readings = book.copy.readings.compactMap { reading in
            guard let number = numbers[reading.id.rawValue] else { return nil }
            let isReading = book.copy.status == .reading && reading.id == book.copy.reading?.id
            let forecast = Forecast(
                isReading: isReading, progress: reading.progress?.amount, pageCount: metadata.pageCount,
                days: days[number] ?? [], goal: goal, today: today)
            return ReadingStats(
                reading: reading, days: days[number] ?? [],
                points: (points[number] ?? []).map {
                    ProgressPoint(day: $0.day, amount: $0.amount, pageCount: metadata.pageCount)
                },
                forecast: forecast,
                pagesPerDay: reading.pagesPerDay(pageCount: metadata.pageCount) ?? forecast.pagesPerDay)
        }
        var allDays: [CalendarDay: DayStats] = [:]
        for day in days.values.joined() { allDays[day.day, default: DayStats(day: day.day)].add(day) }
        let inOrder = allDays.values.sorted { $0.day < $1.day }
        let totals = Totals(inOrder, [], in: .all)
        (figures.minutes, figures.pages, figures.sessions) = (totals.minutes, totals.pages, totals.sessions)
        (figures.daysRead, figures.pace) = (totals.daysRead, totals.pace)
        figures.lastRead = try lastRead()
        figures.dailyGoal = book.copy.dailyGoal.map { DailyGoal(goal: $0, days: inOrder, today: today) }
        figures.pause = try pause(today: today)
        return figures
    }

    /// The end of the latest session, or the latest entry made by hand.
    private func lastRead() throws -> Date? {
        try db.value(
            Int64.self,
            """
            SELECT max(at) FROM (
                SELECT (SELECT session."end" FROM session
                    WHERE session.reading = reading.id AND session."end" IS NOT NULL
                    ORDER BY session.start DESC LIMIT 1) AS at
                FROM reading WHERE copy = ?1 AND state <> 'cancelled'
                UNION ALL
                SELECT (SELECT entry.at FROM progressEntry entry
                    WHERE entry.reading = reading.id AND entry.isAutomatic = 0 AND entry.session IS NULL
                    ORDER BY entry.at DESC LIMIT 1)
                FROM reading WHERE copy = ?1 AND state <> 'cancelled')
            """, [entry.copyRow]
        ).map(Date.init(milliseconds:))
    }

    private func pause(today: CalendarDay) throws -> Pause? {
        guard entry.book.copy.status == .reading else { return nil }
        return try ReadingNowRow.fetch(db, copy: entry.copyRow)?.pause(today: today, in: zone)
    }
}

/// Books as figures name them, with one query for the rows and one for the authors.
enum CountedBooks {
    /// - Parameter copies: row numbers; `nil` for every copy that has a reading.
    /// - Returns: by the copy's row number.
    static func fetch(_ db: Database, _ copies: [Int64]?) throws -> [Int64: CountedBook] {
        let wanted =
            copies == nil
            ? "IN (SELECT reading.copy FROM reading)" : "IN (SELECT value FROM json_each(?))"
        let arguments: StatementArguments = copies.map { [list($0)] } ?? []
        var authors: [Int64: [String]] = [:]
        for row in try db.rows(
            """
            SELECT editionAuthor.edition, author.name FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE editionAuthor.role = 'author'
                AND editionAuthor.edition IN (SELECT copy.edition FROM copy WHERE copy.id \(wanted))
            ORDER BY editionAuthor.edition, position
            """, arguments)
        { authors[row["edition"], default: []].append(row["name"]) }
        var books: [Int64: CountedBook] = [:]
        for row in try db.rows(
            """
            SELECT copy.id AS copyRow, copy.uuid AS copyID, edition.id AS editionRow, edition.uuid AS editionID,
                edition.isbn, edition.title
            FROM copy JOIN edition ON edition.id = copy.edition WHERE copy.id \(wanted)
            """, arguments)
        {
            books[row["copyRow"]] = CountedBook(
                id: ID(rawValue: row["copyID"]), title: row["title"], authors: authors[row["editionRow"]] ?? [],
                isbn: try StoredBooks.isbn(row), edition: ID(rawValue: row["editionID"]))
        }
        return books
    }
}

/// Which of very many copies in Reading have the newest activity: the first that are met on a way back through the indexes by
/// time, instead of a sort of all of them.
struct NewestReading {
    let db: Database
    let limit: Int

    /// Below this many, all are looked at: it takes no longer.
    private static let many = 500
    /// How many rows a way may have: where those in Reading are few among them, looking at all of these is quicker.
    private static let mostSteps = 5_000

    /// - Returns: at least the first `limit` of them, with all that stand at the same instant as the last; `nil` when it is
    ///   better to look at all.
    func copies() throws -> [Int64]? {
        let count = try db.value(Int.self, "SELECT count(*) FROM copy WHERE status = 'reading' AND deleted IS NULL")
        guard limit > 0, count ?? 0 > max(Self.many, 4 * limit) else { return nil }
        var activity: [Int64: Int64] = [:]
        for (table, time, index) in [
            ("progressEntry", "at", "progressEntryByAt"), ("session", "start", "sessionByStart"),
        ] {
            guard let found = try last(of: table, by: time, along: index) else { return nil }
            activity.merge(found) { max($0, $1) }
        }
        let times = activity.values.sorted(by: >)
        guard times.count >= limit else { return nil }
        // Copies without any activity stand where they were added.
        let added = try db.rows(
            """
            SELECT id FROM copy INDEXED BY copyByAdded
            WHERE added >= ? AND status = 'reading' AND deleted IS NULL
            """, [times[limit - 1]]
        ).map { $0[0] as Int64 }
        return Array(activity.keys) + added
    }

    /// The newest row of each copy, back to the `limit`th copy.
    private func last(of table: String, by time: String, along index: String) throws -> [Int64: Int64]? {
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
            guard steps <= Self.mostSteps else { return nil }
            guard isShown, found[copy] == nil else { continue }
            found[copy] = time
            if found.count == limit { end = time }
        }
        return found
    }
}
