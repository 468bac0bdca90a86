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

    /// Returns the days in a period on which something was read, for the whole library, oldest first.
    func library(in period: Period = .all) throws -> [DayStats] {
        let (isOwn, isCounted) = (
            try db.isOwn("reading.reader"), "reading.state <> 'cancelled' AND copy.deleted IS NULL"
        )
        let sessions = "session JOIN reading ON reading.id = session.reading JOIN copy ON copy.id = reading.copy"
        // The plus sign before a condition keeps SQLite from taking it for one that few readings meet. A scan of all
        // entries is faster than a search for those of each reading, because most belong to sessions and are left out.
        let (sessionBounds, sessionArguments) = Self.bounds(of: period, on: "session.start")
        let (entryBounds, entryArguments) = Self.bounds(of: period, on: "entry.at")
        let days = try days(
            sessionRows("0", from: sessions, where: "\(sessionBounds)\(isOwn) AND \(isCounted)"), sessionArguments,
            entryDays("0", where: "\(entryBounds)+\(isOwn) AND \(isCounted)"), entryArguments)
        return (days[0] ?? []).filter { period.contains($0.day) }
    }

    /// Returns the condition that limits the scan of an index to a period and a day on each side of it, with `AND` at
    /// its end. For all time, the condition is empty, so that SQLite can choose another plan.
    static func bounds(of period: Period, on instant: String) -> (String, StatementArguments) {
        guard period != .all else { return ("", []) }
        // The range has one more day at each end, so that it covers every time zone.
        let from = (period.from?.number).map { Int64($0 - 1) * dayLength } ?? .min
        let to = (period.to?.number).map { Int64($0 + 2) * dayLength } ?? .max
        return ("\(instant) BETWEEN ? AND ? AND ", [from, to])
    }

    /// Returns the days on which each reading was read, oldest first.
    func readings(_ readings: [Int64]) throws -> [Int64: [DayStats]] {
        let (wanted, list) = ("IN (SELECT value FROM json_each(?))", jsonList(readings))
        return try days(
            sessionRows("session.reading", from: "session", where: "session.reading \(wanted)"), [list],
            entryDays("entry.reading", where: "entry.reading \(wanted)"), [list])
    }

    /// Returns the days on which the copies with these row ids were read, oldest first. Leaves out cancelled readings
    /// and copies in the trash.
    func copies(_ copies: ClosedRange<Int64>) throws -> [DayStats] {
        let isCounted = """
            copy.id BETWEEN ? AND ? AND copy.deleted IS NULL AND reading.reader = reader()
                AND reading.state <> 'cancelled'
            """
        let bounds: StatementArguments = [copies.lowerBound, copies.upperBound]
        // Sessions come in the order of their readings, as in blocks(of:), because sums of fractions depend on it.
        let readings = "SELECT reading.id FROM copy CROSS JOIN reading ON reading.copy = copy.id WHERE \(isCounted)"
        let days = try days(
            sessionRows("0", from: Self.sessionsByReading, where: "session.reading IN (\(readings))"), bounds,
            entryDays("0", where: isCounted), bounds)
        return days[0] ?? []
    }

    /// Returns the days on which copies were read, oldest first, for all blocks of copies at once. Leaves out the same
    /// as ``copies(_:)``.
    ///
    /// - Parameter block: the SQL expression for a copy's block.
    func blocks(of block: String) throws -> [Int64: [DayStats]] {
        // The plus sign is explained in library(in:).
        let isCounted = "copy.deleted IS NULL AND +reading.reader = reader() AND reading.state <> 'cancelled'"
        // The sessions of each reading are looked up, so that those of other readers are not read.
        let sessions = """
            reading NOT INDEXED CROSS JOIN copy ON copy.id = reading.copy
                CROSS JOIN \(Self.sessionsByReading) ON session.reading = reading.id
            """
        return try days(
            sessionRows(block, from: sessions, where: isCounted), [], entryDays(block, where: isCounted), [])
    }

    private static let sessionsByReading = "session INDEXED BY sessionByReading"

    /// Sums the results of ``sessionRows(_:from:where:)`` and ``entryDays(_:where:)`` by group and day.
    ///
    /// - Returns: the days of each group, oldest first.
    private func days(
        _ sessions: String, _ sessionArguments: StatementArguments, _ entries: String,
        _ entryArguments: StatementArguments
    ) throws -> [Int64: [DayStats]] {
        var days: [Int64: [Int: DayStats]] = [:]
        // The days of one group are kept at hand, since many rows of the same group follow one another.
        var (current, ofCurrent): (Int64, [Int: DayStats]) = (.min, [:])
        func add(_ group: Int64, _ day: Int, _ change: (inout DayStats) -> Void) {
            if group != current {
                if !ofCurrent.isEmpty { days[current] = ofCurrent }
                (current, ofCurrent) = (group, days.removeValue(forKey: group) ?? [:])
            }
            change(&ofCurrent[day, default: DayStats(day: CalendarDay(number: day))])
        }
        var finder = DayFinder(local)
        // Sessions are grouped here and not in SQL, because SQLite would have to sort them first.
        try db.forEachRow(sessions, sessionArguments) { row in
            let (start, end): (Int64, Int64) = (row[1], row[2])
            let (from, to): (Int, Int) = (row[3], row[4])
            // The numbers of a damaged file can be so far apart that their sums overflow.
            let (minutes, pages) = (Int((end &- start) / 60_000), max(0, min(StatsLimit.pages, to &- from)))
            add(row[0], finder.day(of: start)) { day in
                day.sessions += 1
                day.minutes &+= minutes
                day.pages += pages
                if minutes > 0, pages > 0 { day.pace.add(60 * Double(pages) / Double(minutes)) }
            }
        }
        try db.forEachRow(entries, entryArguments) { row in
            let (count, pages): (Int, Int) = (row[2], row[3])
            add(row[0], row[1]) { day in
                day.entries += count
                day.pages += pages
            }
        }
        if !ofCurrent.isEmpty { days[current] = ofCurrent }
        return days.mapValues { $0.sorted { $0.key < $1.key }.map(\.value) }
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

    /// Returns the statement that lists ended sessions: the group, the start, the end, and the first and last page.
    ///
    /// - Parameters:
    ///   - group: the expression by which the sessions are grouped in addition to the day.
    ///   - tables: the FROM clause, which contains the table session.
    private func sessionRows(_ group: String, from tables: String, where condition: String) -> String {
        """
        SELECT \(group), session.start, session."end", session.startPage, coalesce(session.endPage, session.startPage)
        FROM \(tables) WHERE session."end" IS NOT NULL AND \(condition)
        """
    }

    /// The SQL expressions for ``Session/minutes`` and ``Session/pagesRead``.
    static let ofSession = """
        ("end" - start) / 60000 AS minutes, min(\(StatsLimit.pages), coalesce(endPage, startPage) - startPage) AS pages
        """

    /// Returns the statement that sums manual progress entries by day: the group, the day, the number of entries, and
    /// the pages by which they moved forward.
    private func entryDays(_ group: String, where condition: String) -> String {
        """
        SELECT \(group), \(day("entry.at")), count(*),
            sum(max(0, coalesce(\(position("entry")), 0) - coalesce((
                SELECT \(position("before")) FROM progressEntry before
                WHERE before.reading = entry.reading AND (before.at, before.id) < (entry.at, entry.id)
                    AND (before.page IS NOT NULL OR edition.pageCount IS NOT NULL)
                ORDER BY before.at DESC, before.id DESC LIMIT 1), 0)))
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

    private static let dayLength: Int64 = 86_400_000
}

/// Finds the local days of instants. Instants that follow one another are mostly in the same span of the time zone, so
/// the span of the last one is tried first.
private struct DayFinder {
    private let spans: [LocalDays.Span]
    private var current = 0

    init(_ local: LocalDays) { spans = local.spans }

    /// - Parameter instant: milliseconds since 1970.
    /// - Returns: the ``CalendarDay/number`` of the day.
    mutating func day(of instant: Int64) -> Int {
        while current > 0, instant < spans[current].from { current -= 1 }
        while current + 1 < spans.count, instant >= spans[current + 1].from { current += 1 }
        let (day, rest) = (instant &+ spans[current].offset).quotientAndRemainder(dividingBy: 86_400_000)
        return Int(rest < 0 ? day - 1 : day)
    }
}
