import Bookplate
import FoundationEssentials
import GRDB
import TestTools
import Testing

@testable import Library

@Suite struct `The stats of this year` {
    let library: LibraryFile
    let now = instant("2026-05-10T10:00:00Z")

    init() throws { library = try LibraryFile.inMemory() }

    @Test(arguments: [1, 2, 3, 4])
    func `is the same as in the overview`(seed: UInt64) async throws {
        try await library.setGoal(.yearlyGoal, 12)
        try await library.setGoal(.dailyGoal, 20)
        var chance = SplitMix(seed: seed)
        for book in 0..<20 {
            let copy = try await library.insertCopy(
                "Book \(book)", .read, pages: [300, nil, 100_001][book % 3],
                columns: book % 7 == 0 ? ["deleted": now.milliseconds] : [:])
            let finished = ["2026", "2026-03", "2026-05-10", "2025-05-10", "2025", nil, "2026-12-31", "2027"][book % 8]
            let state: Reading.State = book % 5 == 0 ? .cancelled : .finished
            let reading = try await library.insertReading(
                copy.row, state, started: "2025-05-10", finished: state == .finished ? finished : nil)
            for _ in 0..<chance.below(12) {
                let start = now.addingTimeInterval(-Double(chance.below(300 * 24)) * 3600)
                try await library.insertSession(reading, start, minutes: Double(chance.below(90)), from: 0, to: 30)
            }
        }
        let year = Period(try #require(CalendarDay(year: 2026)))
        let overview = try await library.overview(year, year: 2026, at: now, in: berlin)
        let line = try await library.yearSoFar(at: now, in: berlin)
        #expect(line.totals == overview.totals)
        #expect(line.todayStats == overview.todayStats)
        #expect(line.streak == overview.streaks.current)
        #expect(line.challenge == overview.challenge && line.challenge?.goal == 12)
        #expect(line.dailyGoal == 20)
        let memories = try await library.onThisDay(at: now, in: berlin).filter { $0.event != .reading }
        #expect(line.memories == Array(memories.prefix(YearSoFar.mostMemories)) && !line.memories.isEmpty)
    }

    @Test(arguments: [
        ("2026-01-01T10:00:00Z", true, 3, 3), ("2026-01-01T10:00:00Z", false, 3, 3),
        ("2026-01-02T10:00:00Z", false, 5, 5), ("2026-01-01T10:00:00Z", true, 800, 800),
        ("2026-05-10T10:00:00Z", true, 0, 0), ("2026-01-03T10:00:00Z", true, 1, 1),
    ])
    func `counts days in a row across years`(now: String, today: Bool, days: Int, streak: Int) async throws {
        let now = instant(now)
        let copy = try await library.insertCopy("Dune", .reading)
        let reading = try await library.insertReading(copy.row)
        for back in 0..<days {
            let day = now.addingTimeInterval(-Double(today ? back : back + 1) * 86_400)
            try await library.insertSession(reading, day, minutes: 10, from: 0, to: 1)
        }
        // An earlier day that does not belong to the streak.
        try await library.insertSession(reading, instant("2020-01-01T10:00:00Z"), minutes: 10, from: 0, to: 1)
        #expect(try await library.yearSoFar(at: now, in: berlin).streak == streak)
    }

    @Test func `is all zero in an empty library`() async throws {
        let line = try await library.yearSoFar(at: now, in: berlin)
        #expect(line.totals == Totals() && line.streak == 0 && line.challenge == nil && line.memories.isEmpty)
    }
}

@Suite struct `The list of books being read, out of very many` {
    @Test(arguments: [1, 2]) func `is the same as for few`(seed: UInt64) async throws {
        let library = try LibraryFile.inMemory()
        let now = instant("2026-05-10T10:00:00Z")
        var chance = SplitMix(seed: seed)
        for number in 0..<620 {
            let added = instant("2026-01-01T12:00:00Z").addingTimeInterval(Double(chance.below(150)) * 86_400)
            let copy = try await library.insertCopy(
                "\(number)", chance.below(20) == 0 ? .read : .reading, added: added.rfc3339,
                columns: chance.below(30) == 0 ? ["deleted": now.milliseconds] : [:])
            // Some books have another reading before the reading that is shown. The activity in that earlier reading
            // does not count.
            let readings = 1 + chance.below(2)
            for position in 0..<readings {
                let reading = try await library.insertReading(
                    copy.row, position + 1 < readings ? .finished : .open, position: position)
                for _ in 0..<chance.below(3) {
                    // The times differ by whole days, so that many of them are the same.
                    let at = now.addingTimeInterval(-Double(chance.below(60)) * 86_400)
                    if chance.below(2) == 0 {
                        try await library.insertEntry(reading, at, page: 10, automatic: chance.below(3) == 0)
                    } else {
                        try await library.insertSession(reading, at, minutes: 20, from: 0, to: 5)
                    }
                }
            }
        }
        let (all, walked) = try await library.read { db in
            let copies = try NewestActivity(db: db, limit: 20).copies()
            #expect(copies != nil)
            return (try ReadingNowRow.fetch(db).map(\.copy), try ReadingNowRow.fetch(db, limit: 20).map(\.copy))
        }
        #expect(walked == Array(all.prefix(20)))
    }
}
