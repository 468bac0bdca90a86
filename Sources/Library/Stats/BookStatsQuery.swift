import Bookplate
import FoundationEssentials
import GRDB

/// Computes the stats of one copy. It uses indexes that find only the readings of this copy.
struct BookStatsQuery {
    let db: Database
    let stored: StoredBook
    let now: Date
    let zone: TimeZone

    func stats() throws -> BookStats {
        let (book, today) = (stored.book, CalendarDay(now, in: zone))
        let metadata = book.edition.metadata
        var stats = BookStats(
            book: CountedBook(
                id: book.id, title: metadata.title, authors: metadata.authorNames, isbn: book.edition.isbn,
                edition: book.edition.id), status: book.copy.status, pageCount: metadata.pageCount)
        let rows = try db.rows(
            "SELECT id, uuid FROM reading WHERE copy = ? AND reader = reader() AND state <> 'cancelled'",
            [stored.copyRow])
        let rowIDs = Dictionary(uniqueKeysWithValues: rows.map { ($0["uuid"] as String, $0["id"] as Int64) })
        let dayStats = try DayStatsQuery(db, in: zone)
        let days = try dayStats.readings(Array(rowIDs.values))
        let points = try dayStats.points(Array(rowIDs.values))
        let goal = try book.copy.dailyGoal ?? goal(db, .dailyGoal)

        stats.readings = book.copy.readings.compactMap { reading in
            guard let rowID = rowIDs[reading.id.rawValue] else { return nil }
            let isReading = book.copy.status == .reading && reading.id == book.copy.reading?.id
            let forecast = Forecast(
                isReading: isReading, progress: reading.progress?.amount, pageCount: metadata.pageCount,
                days: days[rowID] ?? [], goal: goal, today: today)
            return ReadingStats(
                reading: reading, days: days[rowID] ?? [],
                points: (points[rowID] ?? []).map {
                    ProgressPoint(day: $0.day, amount: $0.amount, pageCount: metadata.pageCount)
                },
                forecast: forecast,
                pagesPerDay: reading.pagesPerDay(pageCount: metadata.pageCount) ?? forecast.pagesPerDay)
        }
        let allDays = stats.sumReadings()
        stats.lastRead = try lastRead()
        stats.dailyGoal = book.copy.dailyGoal.map { DailyGoal(goal: $0, days: allDays, today: today) }
        stats.pause = try pause(today: today)
        return stats
    }

    /// Returns the end of the latest session, or the time of the latest manual entry if that is later.
    private func lastRead() throws -> Date? {
        try db.value(
            Int64.self,
            """
            SELECT max(at) FROM (
                SELECT (SELECT session."end" FROM session
                    WHERE session.reading = reading.id AND session."end" IS NOT NULL
                    ORDER BY session.start DESC LIMIT 1) AS at
                FROM reading WHERE copy = ?1 AND reader = reader() AND state <> 'cancelled'
                UNION ALL
                SELECT (SELECT entry.at FROM progressEntry entry
                    WHERE entry.reading = reading.id AND entry.isAutomatic = 0 AND entry.session IS NULL
                    ORDER BY entry.at DESC LIMIT 1)
                FROM reading WHERE copy = ?1 AND reader = reader() AND state <> 'cancelled')
            """, [stored.copyRow]
        ).map(Date.init(milliseconds:))
    }

    private func pause(today: CalendarDay) throws -> Pause? {
        guard stored.book.copy.status == .reading else { return nil }
        return try ReadingNowRow.fetch(db, copy: stored.copyRow)?.pause(today: today, in: zone)
    }
}

extension BookStats {
    /// Creates the stats of a copy for all readers together. They list one reader's readings after another's.
    ///
    /// - Parameter readers: the stats of the same copy for each reader.
    /// - Returns: `nil` if there are none.
    init?(merging readers: [BookStats]) {
        guard var stats = readers.first else { return nil }
        stats.status = Copy.Status.forEverybody.last { status in readers.contains { $0.status == status } } ?? .toRead
        stats.readings = readers.flatMap(\.readings)
        _ = stats.sumReadings()
        stats.lastRead = readers.compactMap(\.lastRead).max()
        stats.dailyGoal = nil
        // The book is paused if nobody goes on reading it.
        let pauses = readers.filter { $0.status == .reading }.map(\.pause)
        stats.pause =
            pauses.contains(nil) ? nil : pauses.compactMap(\.self).min { $0.daysSinceLast < $1.daysSinceLast }
        self = stats
    }

    /// Sets the sums over all readings.
    ///
    /// - Returns: the days on which the book was read, oldest first.
    fileprivate mutating func sumReadings() -> [DayStats] {
        var days: [CalendarDay: DayStats] = [:]
        for day in readings.flatMap(\.days) { days[day.day, default: DayStats(day: day.day)].add(day) }
        let inOrder = days.values.sorted { $0.day < $1.day }
        let totals = Totals(inOrder, [], in: .all)
        (minutes, pages, sessions) = (totals.minutes, totals.pages, totals.sessions)
        (daysRead, pace) = (totals.daysRead, totals.pace)
        return inOrder
    }
}

extension CountedBook {
    /// Fetches books, with one query for the rows and one for the authors.
    ///
    /// - Parameter copies: the row ids of the copies; `nil` for every copy that has a reading.
    /// - Returns: the books, by the row id of their copy.
    static func fetch(_ db: Database, _ copies: [Int64]?) throws -> [Int64: CountedBook] {
        let wanted =
            copies == nil
            ? "IN (SELECT reading.copy FROM reading)" : "IN (SELECT value FROM json_each(?))"
        let arguments: StatementArguments = copies.map { [jsonList($0)] } ?? []
        var authors: [Int64: [String]] = [:]
        try db.forEachRow(
            """
            SELECT editionAuthor.edition, author.name FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE editionAuthor.role = 'author'
                AND editionAuthor.edition IN (SELECT copy.edition FROM copy WHERE copy.id \(wanted))
            ORDER BY editionAuthor.edition, position
            """, arguments
        ) { authors[$0[0], default: []].append($0[1]) }
        var books: [Int64: CountedBook] = [:]
        try db.forEachRow(
            """
            SELECT copy.id AS copyRow, copy.uuid AS copyID, edition.id AS editionRow, edition.uuid AS editionID,
                edition.isbn, edition.title
            FROM copy JOIN edition ON edition.id = copy.edition WHERE copy.id \(wanted)
            """, arguments
        ) { row in
            books[row["copyRow"]] = CountedBook(
                id: ID(rawValue: row["copyID"]), title: row["title"], authors: authors[row["editionRow"]] ?? [],
                isbn: try row.isbn(), edition: ID(rawValue: row["editionID"]))
        }
        return books
    }
}
