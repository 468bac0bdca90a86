import Bookplate
import FoundationEssentials
import GRDB
import Synchronization
import Testing

@testable import Library

@Suite struct `Ten thousand sessions of one book` {
    /// The statements that a connection has run, each of them once.
    private final class Statements: Sendable {
        private let texts = Mutex<Set<String>>([])
        func add(_ text: String) { texts.withLock { _ = $0.insert(text) } }
        var all: [String] { texts.withLock { $0.sorted() } }
    }

    let library: LibraryFile
    let book: ID<Copy>
    private let statements = Statements()

    init() async throws {
        library = try LibraryFile.inMemory(zone: .gmt)
        book = try await library.save(dune, record("Dune") { $0.pageCount = 382 }).id
        _ = try await library.setStatus(.reading, of: book, on: nil, at: noon.addingTimeInterval(-2e9))
        let (first, statements) = (noon.milliseconds - 1_200_000_000, statements)
        try await library.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE number (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i < 9999)
                    INSERT INTO session (uuid, reading, start, "end", startPage, endPage)
                    SELECT 'session-' || i, reading.id, ?1 + i * 120000, ?1 + i * 120000 + (i % 7) * 17000,
                        i % 300, CASE WHEN i % 5 <> 0 THEN i % 300 + i % 11 END FROM number, reading;
                    """, arguments: [first])
            try db.execute(
                sql: """
                    INSERT INTO progressEntry (uuid, reading, at, page, session)
                    SELECT 'entry-' || id, reading, "end", endPage, id FROM session WHERE endPage IS NOT NULL
                    """)
            db.trace { event in
                if case .statement(let statement) = event { statements.add(statement.sql) }
            }
        }
    }

    @Test func `are found by an index in every act of the tracker`() async throws {
        let now = noon.addingTimeInterval(7200)
        _ = try await library.startSession(of: book, page: nil, from: noon, at: now)
        _ = try await library.runningSession()
        let record = try await library.stopSession(page: 381, end: nil, forced: false, at: now)
        _ = try await library.editSession(record.session.id, SessionEdit(endPage: .clear), at: now)
        _ = try await library.editSession(record.session.id, SessionEdit(endPage: .set(382)), at: now)
        _ = try await library.addSession(
            of: book, start: noon, end: now, startPage: nil, endPage: 90, at: now)
        _ = try await library.deleteSession(record.session.id, at: now)
        let newest = try await library.sessions(of: book, limit: 50, offset: 0)
        _ = try await library.sessions(of: nil, limit: 50, offset: 50)
        _ = try await library.sessionTotals(of: book)
        _ = try await library.recordProgress(.page(145), of: book, at: now)
        _ = try await library.progress(of: record.reading, limit: 50, offset: 0)
        _ = try await library.setStatus(.read, of: book, on: nil, at: now)
        _ = try await library.setStatus(.reading, of: book, on: nil, at: now)
        _ = try await library.setDates(DateEdit(started: .clear), of: book, reading: nil, at: now)
        _ = try await library.addReading(to: book, started: nil, finished: nil, stopped: nil, at: now)
        _ = try await library.update(book, at: now) { $0.copy.rating = 4 }
        _ = try await library.book(book)
        let change = try #require(try await library.lastChange())
        _ = try await library.undo(change.id, at: now)
        #expect(newest.count == 50)

        let ran = statements.all
        #expect(ran.contains { $0.contains("INSERT INTO session") })
        for (sql, plan) in try await plans(of: ran) {
            let scans = plan.filter { step in
                ["SCAN session", "SCAN progressEntry", "SCAN entry", "SCAN reading"].contains { step.hasPrefix($0) }
                    // These two scans are allowed. One follows the order of the index and stops at the end of the page,
                    // and the index of the other has at most one row.
                    && step != "SCAN session USING INDEX sessionByStart"
                    && step != "SCAN session USING INDEX sessionRunning"
            }
            #expect(scans.isEmpty, "\(sql)")
            if sql.contains("session") { #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(sql): \(plan)") }
        }
    }

    private func plans(of statements: [String]) async throws -> [(sql: String, plan: [String])] {
        try await library.database.writeWithoutTransaction { db in
            db.trace(nil)
            return try statements.filter { sql in
                ["SELECT", "UPDATE", "DELETE", "INSERT"].contains { sql.hasPrefix($0) }
            }.map { sql in
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
                statement.setUncheckedArguments([])
                return (sql, try Row.fetchAll(statement).map { $0["detail"] as String })
            }
        }
    }

    @Test func `have the same totals in SQL as by the rule`() async throws {
        let sessions = try await library.sessions(of: book, limit: .max, offset: 0).map(\.session)
        #expect(sessions.count == 10_000)
        let totals = try await library.sessionTotals(of: book)
        let rule = SessionTotals(sessions)
        #expect(totals.sessions == rule.sessions && totals.minutes == rule.minutes && totals.pages == rule.pages)
        #expect(totals.lastRead == rule.lastRead)
        // The two sums are added in different orders, so their last digits may differ.
        let (pace, wanted) = (try #require(totals.meanPace), try #require(rule.meanPace))
        #expect(abs(pace - wanted) < 1e-6)
        #expect(try await library.sessionTotals(of: ID()) == SessionTotals([]))
    }
}
