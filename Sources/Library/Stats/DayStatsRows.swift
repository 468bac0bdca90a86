import Bookplate
import FoundationEssentials
import GRDB

/// The figures of days as sums made by SQLite: what ``DayStats/days(sessions:entries:pageCount:in:)`` says of one reading,
/// for many readings at once. A test holds the two together.
struct DaySums {
    private let db: Database
    private let local: LocalDays

    init(_ db: Database, in zone: TimeZone) throws {
        self.db = db
        func bound(_ sql: String) throws -> Date? { try db.value(Int64.self, sql).map(Date.init(milliseconds:)) }
        // Each is one step into an index.
        let first = [
            try bound("SELECT min(start) FROM session"), try bound("SELECT min(at) FROM progressEntry"),
        ].compactMap(\.self).min()
        let last = [
            try bound("SELECT max(start) FROM session"), try bound("SELECT max(at) FROM progressEntry"),
        ].compactMap(\.self).max()
        local = LocalDays(in: zone, from: first ?? Date(milliseconds: 0), through: last ?? Date(milliseconds: 0))
    }

    /// Readings that count nowhere: cancelled, and those of copies in the trash.
    static let uncounted = """
        (SELECT id FROM reading WHERE state = 'cancelled'
        UNION ALL SELECT reading.id FROM copy JOIN reading ON reading.copy = copy.id WHERE copy.deleted IS NOT NULL)
        """

    /// The whole library's days with reading in the period, oldest first.
    func library(in period: Period = .all) throws -> [DayStats] {
        var days: [Int: DayStats] = [:]
        for (instant, statement) in [("session.start", sessions), ("entry.at", entries)] {
            let table = instant.prefix { $0 != "." }
            let isCounted = "\(table).reading NOT IN \(Self.uncounted)"
            let (condition, bounds) = Self.bounds(of: period, on: instant)
            try db.eachRow(statement("0", "\(condition)\(isCounted)"), bounds) { merge($0, into: &days) }
        }
        return days.values.filter { period.contains($0.day) }.sorted { $0.day < $1.day }
    }

    /// A period as a range of an index; nothing for all time, so that the statement is free to choose another way.
    private static func bounds(of period: Period, on instant: String) -> (String, StatementArguments) {
        guard period != .all else { return ("", []) }
        // A day more at both ends holds every time zone.
        let from = (period.from?.number).map { Int64($0 - 1) * dayLength } ?? .min
        let to = (period.to?.number).map { Int64($0 + 2) * dayLength } ?? .max
        return ("\(instant) BETWEEN ? AND ? AND ", [from, to])
    }

    /// The days of each reading, oldest first.
    func readings(_ readings: [Int64]) throws -> [Int64: [DayStats]] {
        var days: [Int64: [Int: DayStats]] = [:]
        let wanted = "IN (SELECT value FROM json_each(?))"
        let (sessions, entries) = (
            sessions("session.reading", "session.reading \(wanted)"),
            entries("entry.reading", "entry.reading \(wanted)")
        )
        for sql in [sessions, entries] {
            try db.eachRow(sql, [list(readings)]) { merge($0, into: &days[$0["reading"], default: [:]]) }
        }
        return days.mapValues { $0.values.sorted { $0.day < $1.day } }
    }

    /// The last progress entry of each day of each reading, oldest first.
    func points(_ readings: [Int64]) throws -> [Int64: [(day: CalendarDay, amount: ProgressEntry.Amount)]] {
        var points: [Int64: [(day: CalendarDay, amount: ProgressEntry.Amount)]] = [:]
        for reading in readings {
            var ofReading: [(day: CalendarDay, amount: ProgressEntry.Amount)] = []
            var last: Int?
            // Backwards along the index: the first row of a day is the day's last entry. A window function would keep every row.
            try db.eachRow(
                """
                SELECT \(day("at")), page, percent FROM progressEntry WHERE reading = ? ORDER BY at DESC, id DESC
                """, [reading]
            ) { row in
                let day: Int = row[0]
                if day == last { return }
                last = day
                let amount: ProgressEntry.Amount =
                    (row[1] as Int?).map { .page($0) } ?? .percent(Double(row[2] as Int? ?? 0) / 100)
                ofReading.append((CalendarDay(number: day), amount))
            }
            if !ofReading.isEmpty { points[reading] = ofReading.reversed() }
        }
        return points
    }

    /// - Parameters:
    ///   - group: what rows are told apart by beside the day, named `reading`.
    ///   - condition: which sessions.
    private func sessions(_ group: String, _ condition: String) -> String {
        """
        SELECT reading, day, count(*) AS sessions, 0 AS entries, sum(minutes) AS minutes, sum(pages) AS pages,
            total(CASE WHEN minutes > 0 AND pages > 0 THEN 60.0 * pages / minutes END) AS paceSum,
            sum(minutes > 0 AND pages > 0) AS paceCount
        FROM (SELECT \(group) AS reading, \(day("start")) AS day, \(Self.ofSession)
            FROM session WHERE "end" IS NOT NULL AND \(condition))
        GROUP BY 1, 2
        """
    }

    /// What ``Session/minutes`` and ``Session/pagesRead`` say, in SQL.
    static let ofSession = """
        ("end" - start) / 60000 AS minutes, min(\(StatsLimit.pages), coalesce(endPage, startPage) - startPage) AS pages
        """

    private func entries(_ group: String, _ condition: String) -> String {
        """
        SELECT \(group) AS reading, \(day("entry.at")) AS day, 0 AS sessions, count(*) AS entries, 0 AS minutes,
            sum(max(0, coalesce(\(position("entry")), 0) - coalesce((
                SELECT \(position("before")) FROM progressEntry before
                WHERE before.reading = entry.reading AND (before.at, before.id) < (entry.at, entry.id)
                    AND (before.page IS NOT NULL OR edition.pageCount IS NOT NULL)
                ORDER BY before.at DESC, before.id DESC LIMIT 1), 0))) AS pages,
            0.0 AS paceSum, 0 AS paceCount
        FROM progressEntry entry JOIN reading ON reading.id = entry.reading JOIN copy ON copy.id = reading.copy
            JOIN edition ON edition.id = copy.edition
        WHERE entry.session IS NULL AND entry.isAutomatic = 0 AND \(condition)
        GROUP BY 1, 2
        """
    }

    /// The page an entry has reached: ``ProgressEntry/Amount/position(pageCount:)``.
    private func position(_ entry: String) -> String {
        let count = "min(edition.pageCount, \(StatsLimit.pages))"
        return """
            CASE WHEN \(entry).page IS NULL THEN \(entry).percent * \(count) / 10000
            ELSE min(\(entry).page, coalesce(\(count), \(StatsLimit.pages))) END
            """
    }

    /// The number of the local day of an instant.
    func day(_ column: String) -> String {
        // SQLite's division cuts towards zero: from the year 1 on the dividend is positive.
        let shift = 719_163
        return
            "((\(column) + \(Int64(shift) * Self.dayLength) + \(offset(column, local.spans[...]))) / \(Self.dayLength) - \(shift))"
    }

    /// The offset that holds at an instant, by halving the spans: a few comparisons a row however many years there are.
    private func offset(_ column: String, _ spans: ArraySlice<LocalDays.Span>) -> String {
        guard spans.count > 1 else { return "\(spans.first?.offset ?? 0)" }
        let middle = spans.startIndex + spans.count / 2
        return "CASE WHEN \(column) < \(spans[middle].from) THEN \(offset(column, spans[..<middle])) "
            + "ELSE \(offset(column, spans[middle...])) END"
    }

    private func merge(_ row: Row, into days: inout [Int: DayStats]) {
        let number: Int = row["day"]
        var figures = DayStats(day: CalendarDay(number: number))
        figures.sessions = row["sessions"]
        figures.entries = row["entries"]
        figures.minutes = row["minutes"]
        figures.pages = row["pages"]
        figures.pace = Mean(sum: row["paceSum"], count: row["paceCount"])
        days[number, default: DayStats(day: figures.day)].add(figures)
    }

    private static let dayLength: Int64 = 86_400_000
}
