import Bookplate
import FoundationEssentials
import GRDB

/// Passes the events of all readings to `receive`, in order. They come from a cursor, because there may be very many.
func listTimeline(_ db: Database, in zone: TimeZone, _ receive: (TimelineEvent) throws -> Void) throws {
    let books = try CountedBook.fetch(db, nil)
    let day = try DayStatsQuery(db, in: zone).day("start")
    func dated(_ rank: Int, _ column: String) -> String {
        """
        SELECT \(rank) AS rank, reading.\(column) AS date, NULL AS start, reading.id AS readingRow, NULL AS uuid,
            NULL AS "end", NULL AS startPage, NULL AS endPage, 0 AS sessionRow
        FROM reading WHERE reading.\(column) IS NOT NULL AND \(isCounted)
        """
    }
    let isCounted = "reading.id NOT IN \(DayStatsQuery.uncounted)"
    let cursor = try Row.fetchCursor(
        db,
        sql: """
            SELECT event.*, reading.uuid AS readingID, reading.copy FROM (
                \(dated(0, "started"))
                UNION ALL
                SELECT 1, date(\(day) * 86400, 'unixepoch'), start, session.reading, session.uuid, "end", startPage, endPage,
                    session.id
                FROM session WHERE "end" IS NOT NULL AND session.reading NOT IN \(DayStatsQuery.uncounted)
                UNION ALL
                \(dated(2, "finished"))
                UNION ALL
                \(dated(3, "stopped"))
            ) AS event JOIN reading ON reading.id = event.readingRow
            ORDER BY event.date, event.rank, event.start, event.readingRow, event.sessionRow
            """)
    let kinds: [TimelineEvent.Kind] = [.started, .session, .finished, .stopped]
    while let row = try cursor.next() {
        guard let date = try row.day("date"), let book = books[row["copy"]] else { continue }
        let session = (row["uuid"] as String?).map { _ in Session(row: row) }
        try receive(
            TimelineEvent(
                kind: kinds[row["rank"]], date: date, book: book, reading: ID(rawValue: row["readingID"]),
                session: session))
    }
}

/// Finds memories, which are events of readings on this day in earlier years, latest year first.
struct MemoriesQuery {
    let db: Database
    let today: CalendarDay

    /// Returns all memories, including those of books that were being read on this day.
    func all() throws -> [Memory] {
        let isGoingOn = monthDays.map { monthDay in
            """
            (length(started) = 10 AND coalesce(finished, stopped, CASE state WHEN 'open' THEN :today END)
                > printf('%04d-\(monthDay)', substr(started, 1, 4) + (substr(started, 6) >= '\(monthDay)')))
            """
        }
        return try memories(where: isDated + isGoingOn, arguments: ["today": today.description], limit: .max)
    }

    /// Returns only the memories of readings that were started, finished or stopped on this day. Leaves out the many
    /// books that were being read on this day, because finding them takes as long as everything else together.
    func dated(limit: Int) throws -> [Memory] {
        try memories(where: isDated, arguments: [:], limit: limit) { $0.event != .reading }
    }

    /// The days, in the form `MM-DD`, that count as this day in earlier years. There can be several, because common
    /// years and leap years can have different days.
    private var monthDays: [String] {
        Set([2023, 2024].flatMap { Memory.days(of: $0, on: today) }.map { String($0.description.dropFirst(5)) })
            .sorted()
    }

    private var isDated: [String] {
        monthDays.map { day in
            "(substr(started, 6) = '\(day)' OR substr(finished, 6) = '\(day)' OR substr(stopped, 6) = '\(day)')"
        }
    }

    private func memories(
        where conditions: [String], arguments: StatementArguments, limit: Int,
        _ isWanted: (Memory) -> Bool = { _ in true }
    ) throws -> [Memory] {
        let rows = try db.rows(
            """
            SELECT reading.copy, state, started, finished, stopped FROM reading JOIN copy ON copy.id = reading.copy
            WHERE state <> 'cancelled' AND copy.deleted IS NULL AND (\(conditions.joined(separator: " OR ")))
            ORDER BY reading.id
            """, arguments)
        // The books are fetched last, so that only the few books that are shown have to be fetched.
        let unknown = CountedBook(id: ID(rawValue: ""), title: nil, authors: [], isbn: nil, edition: ID(rawValue: ""))
        let order: [Memory.Event] = [.finished, .stopped, .started, .reading]
        var found: [(copy: Int64, memory: Memory)] = []
        for row in rows {
            let state: Reading.State = try row.word("state")
            let memories = Memory.memories(
                of: unknown, started: try row.day("started"), finished: try row.day("finished"),
                stopped: try row.day("stopped"), isOpen: state == .open, today: today)
            found += memories.filter(isWanted).map { (row["copy"], $0) }
        }
        let shown = found.enumerated().sorted { left, right in
            func key(_ found: (offset: Int, element: (copy: Int64, memory: Memory))) -> (Int, Int, Int) {
                let memory = found.element.memory
                return (memory.yearsAgo, order.firstIndex(of: memory.event) ?? 0, found.offset)
            }
            return key(left) < key(right)
        }.prefix(limit).map(\.element)
        let books = try CountedBook.fetch(db, Array(Set(shown.map(\.copy))))
        return shown.compactMap { copy, memory in
            books[copy].map { Memory(book: $0, day: memory.day, event: memory.event, yearsAgo: memory.yearsAgo) }
        }
    }
}
