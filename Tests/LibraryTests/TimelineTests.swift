import Bookplate
import FoundationEssentials
import GRDB
import LibraryMaker
import Synchronization
import Testing

@testable import Library

@Suite struct `The latest events` {
    let folder = Folder()
    let library: LibraryFile

    init() async throws {
        try await copyMadeLibrary(to: folder("library.sqlite"), copies: 150, seed: 3)
        library = try LibraryFile.open(at: folder("library.sqlite"))
        try await library.write { db in
            try db.execute(sql: "UPDATE reading SET state = 'cancelled' WHERE id % 10 = 0")
        }
    }

    static let periods: [Period] = [
        .all, Period(day("2020")), Period(day("2020-05")), Period(from: day("2019-03-10"), to: day("2021-07-20")),
        Period(from: day("2022-02-02")), Period(to: day("2016-06")), Period(day("1990")),
    ]

    @Test(arguments: periods, [1, 7, 100, 10_000])
    func `are the end of the timeline, backwards`(period: Period, limit: Int) async throws {
        let timeline = Events()
        try await library.timeline(in: berlin) { timeline.append($0) }
        for includesSessions in [true, false] {
            let expected = timeline.list.filter {
                period.mayContain($0.date) && (includesSessions || $0.kind != .session)
            }
            let latest = try await library.latestEvents(
                in: period, limit: limit, includesSessions: includesSessions, zone: berlin)
            #expect(latest == Array(expected.reversed().prefix(limit)))
            #expect(period != .all || latest.count == min(limit, expected.count) && !latest.isEmpty)
        }
    }

    @Test func `are read along indexes, and only as far as needed`() async throws {
        let lines = try await library.read { db in
            let statements = Mutex<[String]>([])
            db.trace { event in statements.withLock { $0.append(event.expandedDescription) } }
            _ = try LatestEventsQuery(db: db, period: .all, limit: 5, zone: berlin).events(includesSessions: true)
            db.trace()
            let walks = statements.withLock(\.self).filter { $0.hasPrefix("SELECT") && $0.contains(" DESC") }
            return try walks.map { sql in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
            }
        }
        #expect(lines.count == 4)
        for (plan, index) in zip(
            lines, ["readingByStarted", "readingByFinished", "readingByStopped", "sessionByStart"])
        {
            #expect(plan.first?.contains("USING INDEX \(index)") == true, "\(plan)")
            #expect(!plan.contains("USE TEMP B-TREE FOR ORDER BY"), "\(plan)")
        }
    }
}
