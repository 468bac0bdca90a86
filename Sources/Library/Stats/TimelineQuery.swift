import Bookplate
import FoundationEssentials
import GRDB

/// Passes the events of all readings to `receive`, in order. They come from a cursor, because there may be very many.
func listTimeline(_ db: Database, in zone: TimeZone, _ receive: (TimelineEvent) throws -> Void) throws {
    let books = try CountedBook.fetch(db, nil)
    let day = try DayStatsQuery(db, in: zone).day("start")
    let isOwn = try db.isOwn("reading.reader")
    // The readings of other readers, cancelled readings, and those of copies in the trash.
    let uncounted = """
        (SELECT id FROM reading WHERE state = 'cancelled' OR NOT \(isOwn)
        UNION ALL SELECT reading.id FROM copy JOIN reading ON reading.copy = copy.id WHERE copy.deleted IS NOT NULL)
        """
    func dated(_ rank: Int, _ column: String) -> String {
        """
        SELECT \(rank) AS rank, reading.\(column) AS date, NULL AS start, reading.id AS readingRow, NULL AS uuid,
            NULL AS "end", NULL AS startPage, NULL AS endPage, 0 AS sessionRow
        FROM reading WHERE reading.\(column) IS NOT NULL AND reading.id NOT IN \(uncounted)
        """
    }
    let cursor = try Row.fetchCursor(
        db,
        sql: """
            SELECT event.*, reading.uuid AS readingID, reading.copy FROM (
                \(dated(0, "started"))
                UNION ALL
                SELECT 1, date(\(day) * 86400, 'unixepoch'), start, session.reading, session.uuid, "end", startPage, endPage,
                    session.id
                FROM session WHERE "end" IS NOT NULL AND session.reading NOT IN \(uncounted)
                UNION ALL
                \(dated(2, "finished"))
                UNION ALL
                \(dated(3, "stopped"))
            ) AS event JOIN reading ON reading.id = event.readingRow
            ORDER BY event.date, event.rank, event.start, event.readingRow, event.sessionRow
            """)
    while let row = try cursor.next() {
        guard let book = books[row["copy"]], let event = try TimelineEvent(row: row, book) else { continue }
        try receive(event)
    }
}

extension TimelineEvent {
    /// The kinds in the order in which the timeline lists the events of a day.
    fileprivate static let kinds: [Kind] = [.started, .session, .finished, .stopped]

    /// Decodes an event from the columns `rank` (the index in ``kinds``), `date`, `readingID`, and those of a session.
    fileprivate init?(row: Row, _ book: CountedBook) throws {
        guard let date = try row.day("date") else { return nil }
        self.init(
            kind: Self.kinds[row["rank"]], date: date, book: book, reading: ID(rawValue: row["readingID"]),
            session: (row["uuid"] as String?).map { _ in Session(row: row) })
    }
}

/// Finds the last events of the timeline. It walks backwards through the indexes of dates and sessions, so the required
/// time does not depend on the number of earlier events.
struct LatestEventsQuery {
    let db: Database
    let period: Period
    let limit: Int
    let zone: TimeZone

    /// An event, with the values by which the timeline sorts events.
    private typealias Found = (row: Row, place: (CalendarDay, Int, Int64, Int64, Int64))

    func events(includesSessions: Bool) throws -> [TimelineEvent] {
        var found = try dated("started", along: "readingByStarted") + dated("finished", along: "readingByFinished")
        found += try dated("stopped", along: "readingByStopped") + (includesSessions ? sessions() : [])
        let latest = found.sorted { $1.place < $0.place }.prefix(limit)
        let books = try CountedBook.fetch(db, Array(Set(latest.map { $0.row["copy"] as Int64 })))
        return try latest.compactMap { event in
            try books[event.row["copy"]].flatMap { try TimelineEvent(row: event.row, $0) }
        }
    }

    private func dated(_ column: String, along index: String) throws -> [Found] {
        // A year or a month sorts before its days, so the range begins with the year of the first day.
        let from = period.from.flatMap { CalendarDay(year: $0.year) }?.description ?? ""
        let isOwn = try db.isOwn("reading.reader")
        return try latest(
            """
            SELECT \(TimelineEvent.kinds.firstIndex { $0.rawValue == column } ?? 0) AS rank, reading.\(column) AS date,
                NULL AS start, NULL AS uuid, NULL AS "end", NULL AS startPage, NULL AS endPage, 0 AS sessionRow,
                reading.id AS readingRow, reading.uuid AS readingID, reading.copy
            FROM reading INDEXED BY \(index) CROSS JOIN copy ON copy.id = reading.copy
            WHERE reading.\(column) IS NOT NULL AND reading.\(column) BETWEEN ? AND ?
                AND \(isOwn) AND state <> 'cancelled' AND copy.deleted IS NULL
            ORDER BY reading.\(column) DESC, reading.id DESC
            """, [from, period.to?.description ?? ":"])
    }

    private func sessions() throws -> [Found] {
        let (condition, bounds) = DayStatsQuery.bounds(of: period, on: "session.start")
        let day = try DayStatsQuery(db, in: zone).day("session.start")
        let isOwn = try db.isOwn("session.reader")
        return try latest(
            """
            SELECT 1 AS rank, date(\(day) * 86400, 'unixepoch') AS date, session.start, session.uuid, "end", startPage,
                endPage, session.id AS sessionRow, reading.id AS readingRow, reading.uuid AS readingID, reading.copy
            FROM session INDEXED BY sessionByStart CROSS JOIN reading ON reading.id = session.reading
                CROSS JOIN copy ON copy.id = reading.copy
            WHERE \(condition)"end" IS NOT NULL AND \(isOwn) AND state <> 'cancelled' AND copy.deleted IS NULL
            ORDER BY session.start DESC, readingRow DESC, sessionRow DESC
            """, bounds)
    }

    /// Reads rows, latest first, until there are enough events that may lie in the period.
    private func latest(_ sql: String, _ arguments: StatementArguments) throws -> [Found] {
        var found: [Found] = []
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        while found.count < limit, let row = try rows.next() {
            guard let date = try row.day("date"), period.mayContain(date) else { continue }
            let start: Int64? = row["start"]
            found.append((row.copy(), (date, row["rank"], start ?? .min, row["readingRow"], row["sessionRow"])))
        }
        return found
    }
}

/// Finds memories, which are events of readings on this day in earlier years, latest year first.
struct MemoriesQuery {
    let readings: [StatsBlock.DatedReading]
    let today: CalendarDay

    /// Returns memories, including those of books that were being read on this day.
    func all(_ db: Database, limit: Int) throws -> [Memory] {
        try books(db, of: found(limit: limit, includesReading: true))
    }

    /// Returns only the memories of readings that were started, finished or stopped on this day.
    func dated(_ db: Database, limit: Int) throws -> [Memory] {
        try books(db, of: found(limit: limit, includesReading: false))
    }

    /// A memory without its book, because of very many only few are shown.
    private struct Found {
        var row: Int64
        var copy: Int64
        var day: CalendarDay
        var event: Memory.Event
        var yearsAgo: Int
        private let rank: Int

        init(_ memory: Memory, of reading: StatsBlock.DatedReading) {
            (row, copy) = (reading.row, reading.copy)
            (day, event, yearsAgo) = (memory.day, memory.event, memory.yearsAgo)
            rank = Self.order.firstIndex(of: memory.event) ?? 0
        }

        /// Memories of few years ago come first; of one year, the most important ones.
        static func precedes(_ one: Found, _ other: Found) -> Bool {
            (one.yearsAgo, one.rank, one.row) < (other.yearsAgo, other.rank, other.row)
        }

        private static let order: [Memory.Event] = [.finished, .stopped, .started, .reading]
    }

    private func books(_ db: Database, of found: [Found]) throws -> [Memory] {
        let books = try CountedBook.fetch(db, Array(Set(found.map(\.copy))))
        return found.compactMap { one in
            books[one.copy].map { Memory(book: $0, day: one.day, event: one.event, yearsAgo: one.yearsAgo) }
        }
    }

    /// - Parameter includesReading: true to include books that were being read on this day.
    private func found(limit: Int, includesReading: Bool) -> [Found] {
        // On 28 February, the 29th of leap years may be remembered, too, and the reverse.
        let daysOfYear = (1...4).flatMap { Memory.days(of: today.year - $0, on: today) }
            .map { StatsBlock.DateNumber($0).dayOfYear }
        var found: [Found] = []
        for reading in readings where reading.mayBeRemembered(onAny: daysOfYear, includesReading: includesReading) {
            let memories = Memory.memories(
                of: Self.unknown, started: reading.started?.date, finished: reading.finished?.date,
                stopped: reading.stopped?.date, isOpen: reading.isOpen, today: today)
            for memory in memories where includesReading || memory.event != .reading {
                found.append(Found(memory, of: reading))
            }
            // A few are sorted many times faster than all.
            if found.count / 2 > max(limit, Self.fewMemories) { found = first(limit, of: found) }
        }
        return first(limit, of: found)
    }

    private static let fewMemories = 100

    private func first(_ limit: Int, of found: [Found]) -> [Found] {
        Array(found.sorted(by: Found.precedes).prefix(max(0, limit)))
    }

    private static let unknown = CountedBook(
        id: ID(rawValue: ""), title: nil, authors: [], isbn: nil, edition: ID(rawValue: ""))
}
