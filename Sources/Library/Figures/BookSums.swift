import Bookplate
import FoundationEssentials
import GRDB

/// The figures of one copy, found by indexes over its readings alone.
struct BookSums {
    let db: Database
    let entry: StoredBooks.Entry
    let now: Date
    let zone: TimeZone

    func figures() throws -> BookFigures {
        let (book, today) = (entry.book, CalendarDay(now, in: zone))
        let metadata = book.edition.metadata
        var figures = BookFigures(
            book: FigureBook(
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
            return ReadingFigures(
                reading: reading, days: days[number] ?? [],
                points: (points[number] ?? []).map {
                    ProgressPoint(day: $0.day, amount: $0.amount, pageCount: metadata.pageCount)
                },
                forecast: forecast,
                pagesPerDay: reading.pagesPerDay(pageCount: metadata.pageCount) ?? forecast.pagesPerDay)
        }
        var allDays: [CalendarDay: DayFigures] = [:]
        for day in days.values.joined() { allDays[day.day, default: DayFigures(day: day.day)].add(day) }
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
