import Bookplate
import FoundationEssentials
import GRDB

/// Computes the reading stats of each day in SQL, for many readings at once. The results are the same as those of
/// ``DayStats/days(sessions:entries:pageCount:in:)``, which takes only one reading. A test checks that the two agree.
struct DayStatsQuery {
    private let db: Database
    private let local: LocalDays

    init(_ db: Database, in zone: TimeZone) throws {
        self.db = db
        func bound(_ sql: String) throws -> Date? { try db.value(Int64.self, sql).map(Date.init(milliseconds:)) }
        // Each of these queries reads one row of an index.
        let first = [
            try bound("SELECT min(start) FROM session"), try bound("SELECT min(at) FROM progressEntry"),
        ].compactMap(\.self).min()
        let last = [
            try bound("SELECT max(start) FROM session"), try bound("SELECT max(at) FROM progressEntry"),
        ].compactMap(\.self).max()
        local = LocalDays(in: zone, from: first ?? Date(milliseconds: 0), through: last ?? Date(milliseconds: 0))
    }

    /// The query for the readings that the stats leave out: cancelled readings, and readings of copies in the trash.
    static let uncounted = """
        (SELECT id FROM reading WHERE state = 'cancelled'
        UNION ALL SELECT reading.id FROM copy JOIN reading ON reading.copy = copy.id WHERE copy.deleted IS NOT NULL)
        """

    /// Returns the days in a period on which something was read, for the whole library, oldest first.
    func library(in period: Period = .all) throws -> [DayStats] {
        var days: [Int: DayStats] = [:]
        for (instant, statement) in [("session.start", sessions), ("entry.at", entries)] {
            let table = instant.prefix { $0 != "." }
            let isCounted = "\(table).reading NOT IN \(Self.uncounted)"
            let (condition, bounds) = Self.bounds(of: period, on: instant)
            try db.forEachRow(statement("0", "\(condition)\(isCounted)"), bounds) { merge($0, into: &days) }
        }
        return days.values.filter { period.contains($0.day) }.sorted { $0.day < $1.day }
    }

    /// Returns the condition that limits the scan of an index to a period. For all time, the condition is empty, so
    /// that SQLite can choose another plan.
    private static func bounds(of period: Period, on instant: String) -> (String, StatementArguments) {
        guard period != .all else { return ("", []) }
        // The range has one more day at each end, so that it covers every time zone.
        let from = (period.from?.number).map { Int64($0 - 1) * dayLength } ?? .min
        let to = (period.to?.number).map { Int64($0 + 2) * dayLength } ?? .max
        return ("\(instant) BETWEEN ? AND ? AND ", [from, to])
    }

    /// Returns the days on which each reading was read, oldest first.
    func readings(_ readings: [Int64]) throws -> [Int64: [DayStats]] {
        var days: [Int64: [Int: DayStats]] = [:]
        let wanted = "IN (SELECT value FROM json_each(?))"
        let (sessions, entries) = (
            sessions("session.reading", "session.reading \(wanted)"),
            entries("entry.reading", "entry.reading \(wanted)")
        )
        for sql in [sessions, entries] {
            try db.forEachRow(sql, [jsonList(readings)]) { merge($0, into: &days[$0["reading"], default: [:]]) }
        }
        return days.mapValues { $0.values.sorted { $0.day < $1.day } }
    }

    /// Returns, for each reading, the last progress entry of each day, oldest first.
    func points(_ readings: [Int64]) throws -> [Int64: [(day: CalendarDay, amount: ProgressEntry.Amount)]] {
        var points: [Int64: [(day: CalendarDay, amount: ProgressEntry.Amount)]] = [:]
        for reading in readings {
            var ofReading: [(day: CalendarDay, amount: ProgressEntry.Amount)] = []
            var last: Int?
            // This walks backwards through the index, so the first row of a day is the day's last entry. A window
            // function would keep every row in memory.
            try db.forEachRow(
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

    /// Returns the statement that sums sessions by day.
    ///
    /// - Parameters:
    ///   - group: the expression by which rows are grouped in addition to the day. It becomes the column `reading`.
    ///   - condition: the condition that selects the sessions.
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

    /// The SQL expressions for ``Session/minutes`` and ``Session/pagesRead``.
    static let ofSession = """
        ("end" - start) / 60000 AS minutes, min(\(StatsLimit.pages), coalesce(endPage, startPage) - startPage) AS pages
        """

    /// Returns the statement that sums progress entries by day.
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

    /// Returns the SQL expression for ``ProgressEntry/Amount/position(pageCount:)``.
    private func position(_ entry: String) -> String {
        let count = "min(edition.pageCount, \(StatsLimit.pages))"
        return """
            CASE WHEN \(entry).page IS NULL THEN \(entry).percent * \(count) / 10000
            ELSE min(\(entry).page, coalesce(\(count), \(StatsLimit.pages))) END
            """
    }

    /// Returns the SQL expression that converts an instant to its local day, as a number.
    func day(_ column: String) -> String {
        // SQLite's division truncates towards zero. So the dividend is made positive for all dates from the year 1 on.
        let shift = 719_163
        return
            "((\(column) + \(Int64(shift) * Self.dayLength) + \(offset(column, local.spans[...]))) / \(Self.dayLength) - \(shift))"
    }

    /// Returns the SQL expression for the time zone's offset at an instant. It is a binary search, so each row needs
    /// only a few comparisons, regardless of the number of years.
    private func offset(_ column: String, _ spans: ArraySlice<LocalDays.Span>) -> String {
        guard spans.count > 1 else { return "\(spans.first?.offset ?? 0)" }
        let middle = spans.startIndex + spans.count / 2
        return "CASE WHEN \(column) < \(spans[middle].from) THEN \(offset(column, spans[..<middle])) "
            + "ELSE \(offset(column, spans[middle...])) END"
    }

    private func merge(_ row: Row, into days: inout [Int: DayStats]) {
        let number: Int = row["day"]
        var stats = DayStats(day: CalendarDay(number: number))
        stats.sessions = row["sessions"]
        stats.entries = row["entries"]
        stats.minutes = row["minutes"]
        stats.pages = row["pages"]
        stats.pace = Mean(sum: row["paceSum"], count: row["paceCount"])
        days[number, default: DayStats(day: stats.day)].add(stats)
    }

    private static let dayLength: Int64 = 86_400_000
}
