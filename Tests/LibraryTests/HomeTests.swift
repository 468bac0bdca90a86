import Bookplate
import FoundationEssentials
import GRDB
import LibraryMaker
import Synchronization
import Testing

@testable import Library

/// Collects the events of a timeline.
final class Events: Sendable {
    private let events = Mutex<[TimelineEvent]>([])
    var list: [TimelineEvent] { events.withLock { $0 } }
    func append(_ event: TimelineEvent) { events.withLock { $0.append(event) } }
}

@Suite struct `The list of books being read` {
    let library: LibraryFile
    let now = instant("2026-05-10T10:00:00Z")

    init() throws { library = try LibraryFile.inMemory() }

    private func home(limit: Int = 10) async throws -> Home {
        try await library.home(limit: limit, at: now, in: berlin)
    }

    @Test func `is sorted by newest activity, with progress, forecast and the running session`() async throws {
        try await library.setGoal(.dailyGoal, 25)
        let resting = try await library.insertCopy("Resting", .reading)
        try await library.insertReading(resting.row, started: "2026-04-10")
        let dune = try await library.insertCopy("Dune", .reading)
        let reading = try await library.insertReading(dune.row, started: "2026-05-08")
        try await library.insertSession(reading, "2026-05-08T18:00:00Z", from: 0, to: 50)
        try await library.insertSession(reading, "2026-05-09T18:00:00Z", from: 50, to: 150)
        let odyssey = try await library.insertCopy("Odyssey", .reading, columns: ["dailyGoal": 10])
        let other = try await library.insertReading(odyssey.row)
        try await library.insertEntry(other, instant("2026-05-10T07:00:00Z"), percent: 50)
        try await library.insertSession(other, instant("2026-05-10T09:30:00Z"), minutes: nil, from: 150)
        try await library.insertCopy("Not begun")

        let home = try await home()
        #expect(home.readingNow.map(\.book.displayTitle) == ["Odyssey", "Dune", "Resting"])
        #expect(home.readingNow.map(\.fraction) == [0.5, 0.5, nil])
        #expect(home.readingNow.map(\.forecast.daysByPace) == [1, 2, nil])
        #expect(home.readingNow.map(\.forecast.daysByGoal) == [15, 6, nil])
        #expect(home.readingNow.map(\.pagesToday) == [150, 0, 0])
        #expect(home.readingNow.map { $0.running?.startPage } == [150, nil, nil])
        #expect(home.readingNow.map { $0.pause?.daysSinceLast } == [nil, nil, 30])
        #expect(home.readingNow[2].forecast.reason == .noProgress)
        #expect(try await self.home(limit: 1).readingNow.map(\.book.displayTitle) == ["Odyssey"])
        #expect(try await self.home(limit: 1).readingCount == 3)
        let pauses = try await library.overview(.all, year: nil, at: now, in: berlin).pauses
        #expect(pauses.map(\.book.displayTitle) == ["Resting"])
    }

    @Test func `is followed by the five books read last, those without a date at the end`() async throws {
        for (title, finished) in [
            ("Year", "2026"), ("Day", "2026-05-09"), ("Old", "2025-12-31"), ("Month", "2026-05"), ("Undated", nil),
            ("Marked", nil), ("Other", nil),
        ] as [(String, String?)] {
            let copy = try await library.insertCopy(title, .read)
            let reading = try await library.insertReading(copy.row, .finished, finished: finished)
            if title == "Marked" {
                try await library.insertEntry(reading, instant("2026-05-01T10:00:00Z"), percent: 100, automatic: true)
            }
        }
        let again = try await library.insertCopy("Again", .reading)
        try await library.insertReading(again.row, .finished, finished: "2026-05-10")
        try await library.insertReading(again.row, position: 1)
        #expect(try await home().recentlyRead.map(\.book.displayTitle) == ["Day", "Month", "Year", "Old", "Marked"])
        let dune = try await library.insertCopy("Dune", .read)
        try await library.insertReading(dune.row, .finished, finished: "2026-01-01")
        try await library.insertReading(dune.row, .finished, started: "2026-05-10", finished: "2026-05-10", position: 1)
        let read = try await home().recentlyRead
        #expect(read.map(\.book.displayTitle) == ["Dune", "Day", "Month", "Year", "Old"])
        #expect(read[0].daysToRead == 0)
    }

    @Test func `a book has its own stats, over all its readings`() async throws {
        let copy = try await library.insertCopy("Dune", .reading, columns: ["dailyGoal": 40])
        let first = try await library.insertReading(copy.row, .finished, started: "2025-01-01", finished: "2025-01-30")
        try await library.insertSession(first, "2025-01-01T18:00:00Z", from: 0, to: 60)
        let cancelled = try await library.insertReading(copy.row, .cancelled, position: 1)
        try await library.insertSession(cancelled, "2026-02-01T18:00:00Z", from: 0, to: 60)
        let second = try await library.insertReading(copy.row, started: "2026-05-08", position: 2)
        try await library.insertEntry(second, instant("2026-05-08T10:00:00Z"), page: 0, automatic: true)
        try await library.insertSession(second, "2026-05-09T18:00:00Z", from: 0, to: 40)
        try await library.insertEntry(second, instant("2026-05-10T08:00:00Z"), page: 100)

        let stats = try #require(try await library.stats(of: copy.id, at: now, in: berlin))
        #expect(stats.pages == 160 && stats.minutes == 60 && stats.sessions == 2 && stats.daysRead == 3)
        #expect(stats.pace == 100 && stats.lastRead == instant("2026-05-10T08:00:00Z"))
        #expect(stats.dailyGoal?.pagesToday == 60 && stats.dailyGoal?.daysMet == 3 && stats.dailyGoal?.run == 2)
        #expect(stats.readings.map(\.reading.daysToRead) == [29, nil])
        #expect(stats.readings.map(\.pagesPerDay) == [10, 50])
        #expect(stats.readings.map(\.forecast.daysByPace) == [nil, 4])
        #expect(stats.readings[0].forecast.reason == .notReading)
        #expect(stats.readings[1].points.map(\.day) == [day("2026-05-08"), day("2026-05-09"), day("2026-05-10")])
        #expect(stats.readings[1].points.map(\.amount) == [.page(0), .page(40), .page(100)])
        #expect(stats.pause == nil)
    }

    @Test func `scans no table for the stats of one book`() async throws {
        let copy = try await library.insertCopy("Dune", .reading)
        let reading = try await library.insertReading(copy.row)
        let plans = try await plans(arguments: "[\(reading)]") { db in
            guard let stored = try StoredBook.one(db, copy.id) else { return }
            _ = try BookStatsQuery(db: db, stored: stored, now: now, zone: berlin).stats()
        }
        #expect(plans.count > 8)
        for (sql, plan) in plans {
            for table in ["session", "progressEntry", "entry", "before", "reading", "copy", "edition"] {
                #expect(!plan.contains { $0 == "SCAN \(table)" }, "\(table) is scanned by \(sql)")
            }
        }
    }

    @Test func `reads only indexes of entries for the sums over a library`() async throws {
        let plans = try await plans(arguments: "0") { db in _ = try DayStatsQuery(db, in: berlin).library() }
        let entries = plans.flatMap(\.plan).filter { $0.contains("entry ") || $0.contains("before ") }
        #expect(entries.count == 2)
        #expect(entries.allSatisfy { $0.contains("USING COVERING INDEX progressEntryByReading") }, "\(entries)")
    }

    /// Returns the query plan of every statement that `body` runs.
    private func plans(
        arguments: String, _ body: @escaping @Sendable (Database) throws -> Void
    ) async throws -> [(sql: String, plan: [String])] {
        let statements = Statements()
        try await library.write { db in
            db.trace { if case .statement(let statement) = $0 { statements.append(statement.sql) } }
            try body(db)
            db.trace(options: [])
        }
        return try await library.read { db in
            try statements.list.map { sql in
                let count = sql.contains("?1") ? 1 : sql.filter { $0 == "?" }.count
                let values = StatementArguments((0..<count).map { _ in arguments })
                let rows = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: values)
                return (sql, rows.map { $0["detail"] })
            }
        }
    }
}

@Suite struct `The books read last, out of very many` {
    let folder = Folder()

    @Test func `are the reader's own, whatever others have read since`() async throws {
        try await copyMadeLibrary(to: folder("library.sqlite"), copies: 1500, seed: 2, readers: 2)
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        for row in [1, 2] as [Int64] {
            let reader = library.reading(with: ReaderAccess(reader: row))
            var query = BookQuery()
            (query.statuses, query.sort, query.limit) = ([.read], .finished, 5)
            let page = try await reader.books(matching: query)
            // More than are sorted.
            #expect(page.total > 500)
            let home = try await reader.home(limit: 5, at: instant("2026-11-21T12:00:00Z"), in: berlin)
            #expect(home.recentlyRead.map(\.finished) == page.books.map(\.copy.reading?.finished))
        }
        try await library.close()
    }
}

/// The statements that a connection has run.
final class Statements: Sendable {
    private let texts = Mutex<[String]>([])
    var list: [String] { texts.withLock { $0 } }
    func append(_ sql: String) { texts.withLock { $0.append(sql) } }
}
