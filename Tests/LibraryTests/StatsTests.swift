import Bookplate
import FoundationEssentials
import GRDB
import TestTools
import Testing

@testable import Library

@Suite struct `The library's stats` {
    let library: LibraryFile
    /// A Sunday at noon in Berlin.
    let now = instant("2026-05-10T10:00:00Z")

    init() throws { library = try LibraryFile.inMemory() }

    private func overview(_ period: Period = .all, year: Int? = nil) async throws -> Overview {
        try await library.overview(period, year: year, at: now, in: berlin)
    }

    @Test(arguments: ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"], [1, 2])
    func `are the same in SQL as by the rules for one reading`(zone: String, seed: UInt64) async throws {
        let zone = try #require(TimeZone(identifier: zone))
        var chance = SplitMix(seed: seed)
        var expected: [Int64: [DayStats]] = [:]
        var points: [Int64: [ProgressPoint]] = [:]
        for book in 0..<12 {
            let pageCount = [300, nil, 1, 100_001][book % 4]
            let copy = try await library.insertCopy("Book \(book)", .reading, pages: pageCount)
            let reading = try await library.insertReading(copy.row)
            var sessions: [Session] = []
            var entries: [ProgressEntry] = []
            for _ in 0..<25 {
                // The times are around the two changes between summer time and winter time. They cover most hours of
                // the day, and are in any order.
                let start = instant(["2025-10-24T00:00:00Z", "2026-03-27T00:00:00Z"][chance.below(2)])
                    .addingTimeInterval(Double(chance.below(288)) * 1800)
                if chance.below(3) == 0 {
                    let from = chance.below(200)
                    let session = Session(
                        start: start, end: start.addingTimeInterval(Double(chance.below(200)) * 30), startPage: from,
                        endPage: chance.below(4) == 0 ? nil : from + chance.below(60))
                    let row = try await library.insertSession(
                        reading, session.start, minutes: (session.end ?? start).timeIntervalSince(start) / 60,
                        from: from, to: session.endPage)
                    sessions.append(session)
                    if let page = session.endPage {
                        entries.append(
                            ProgressEntry(at: session.end ?? start, amount: .page(page), session: session.id))
                        try await library.insertEntry(reading, session.end ?? start, page: page, session: row)
                    }
                } else {
                    let amount: ProgressEntry.Amount =
                        chance.below(2) == 0 ? .page(chance.below(400)) : .percent(Double(chance.below(10_001)) / 100)
                    let isAutomatic = chance.below(5) == 0
                    entries.append(ProgressEntry(at: start, amount: amount, isAutomatic: isAutomatic))
                    try await library.insertEntry(
                        reading, start, page: amount.page, percent: amount.percent, automatic: isAutomatic)
                }
            }
            expected[reading] = DayStats.days(sessions: sessions, entries: entries, pageCount: pageCount, in: zone)
            points[reading] = ProgressPoint.points(entries, pageCount: pageCount, in: zone)
        }
        let readings = Array(expected.keys)
        let (storedDays, storedPoints, whole) = try await library.read { db in
            let query = try DayStatsQuery(db, in: zone)
            return (try query.readings(readings), try query.points(readings), try query.library())
        }
        for reading in readings {
            #expect(storedDays[reading]?.map(text) == expected[reading]?.map(text))
            #expect(storedPoints[reading]?.map(\.day) == points[reading]?.map(\.day))
            #expect(storedPoints[reading]?.map(\.amount) == points[reading]?.map(\.amount))
        }
        var merged: [CalendarDay: DayStats] = [:]
        for day in expected.values.joined() { merged[day.day, default: DayStats(day: day.day)].add(day) }
        #expect(whole.map(text) == merged.values.sorted { $0.day < $1.day }.map(text))
        let march = try await library.days(in: Period(day("2026-03-28")), zone: zone)
        #expect(march.map(text) == whole.filter { $0.day == day("2026-03-28") }.map(text))
    }

    /// Returns a day as text. Its pace is rounded, because the last digits of a sum depend on the order of addition.
    private func text(_ day: DayStats) -> String {
        let pace = day.pace.value.map { String(Int(($0 * 1000).rounded())) } ?? "-"
        return "\(day.day) \(day.pages)p \(day.minutes)m \(day.sessions)s \(day.entries)e \(pace) \(day.pace.count)"
    }

    @Test func `of an empty library are all zero`() async throws {
        let empty = try await overview()
        #expect(empty.totals == Totals() && empty.years.isEmpty && empty.streaks.longest == 0)
        #expect(empty.challenge == nil && empty.dailyGoal == nil && empty.recentPace == nil && empty.pauses.isEmpty)
        #expect(empty.counts == LibraryCounts() && empty.ratings.count == 0 && empty.dateUnknown.books == 0)
        #expect(try await library.onThisDay(at: now, in: berlin).isEmpty)
        #expect(try await library.stats(of: ID(), at: now, in: berlin) == nil)
        let home = try await library.home(limit: 10, at: now, in: berlin)
        #expect(home.readingNow.isEmpty && home.recentlyRead.isEmpty && home.readingCount == 0)
    }

    @Test func `leave out the trash and cancelled readings`() async throws {
        let kept = try await library.insertCopy("Kept", .read)
        let trashed = try await library.insertCopy("Trashed", .read, columns: ["deleted": 1, "rating": 8])
        let cancelled = try await library.insertCopy("Cancelled")
        for (copy, state) in [(kept, Reading.State.finished), (trashed, .finished), (cancelled, .cancelled)] {
            let reading = try await library.insertReading(
                copy.row, state, started: "2026-05-01", finished: "2026-05-09")
            try await library.insertSession(reading, "2026-05-09T08:00:00Z", from: 0, to: 30)
            try await library.insertEntry(reading, instant("2026-05-09T20:00:00Z"), page: 40)
        }
        let overview = try await overview()
        #expect(overview.totals.pages == 40 && overview.totals.minutes == 30 && overview.totals.sessions == 1)
        #expect(overview.totals.booksFinished == 1 && overview.totals.bookPages == 300 && overview.recentPace == 60)
        #expect(overview.counts.copies == 2 && overview.ratings.count == 0)
        #expect(try await library.home(limit: 5, at: now, in: berlin).recentlyRead.map(\.book.id) == [kept.id])
        let year = try await library.onThisDay(at: instant("2027-05-09T10:00:00Z"), in: berlin)
        #expect(year.map(\.book.id) == [kept.id])
        #expect(try await events().allSatisfy { $0.hasSuffix("Kept") })
    }

    @Test func `count books by year and month, re-reads again, and imprecise dates separately`() async throws {
        try await library.setGoal(.yearlyGoal, 12)
        for (index, finished) in ["2026-03-01", "2026-03", "2026", nil, "2025-12-31"].enumerated() {
            let copy = try await library.insertCopy("Book \(index)", .read, pages: index == 0 ? 200 : nil)
            try await library.insertReading(copy.row, .finished, finished: finished)
            if index == 0 {
                try await library.insertReading(copy.row, .finished, finished: "2026-05-10", position: 1)
            }
        }
        let overview = try await overview(Period(day("2026")))
        #expect(overview.years.map(\.year) == [2026, 2025])
        #expect(overview.years[0].months.map(\.booksFinished) == [0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0])
        #expect(overview.years[0].monthUnknown.books == 1 && overview.dateUnknown.books == 1)
        #expect(overview.totals.booksFinished == 4 && overview.totals.bookPages == 400)
        #expect(overview.challenge?.done == 4 && overview.challenge?.due == 4 && overview.challenge?.ahead == 0)
        #expect(try await self.overview(year: 2025).challenge?.done == 1)
    }

    @Test func `count copies by status, kind, format, language and rating`() async throws {
        try await library.insertCopy(
            "A", .read, columns: ["rating": 17], edition: ["format": "physical", "language": "en"])
        try await library.insertCopy(
            "B", .dnf, columns: ["isOwned": 0, "isOnWishlist": 1], edition: ["language": "en"])
        try await library.insertCopy(
            "C", .read, columns: ["isFavourite": 1, "rating": 20], edition: ["language": "de"])
        try await library.insertCopy("D")
        let counts = try await overview().counts
        #expect(counts.copies == 4 && counts.owned == 3 && counts.wishlist == 1 && counts.favourites == 1)
        #expect(counts.byStatus == [.read: 2, .dnf: 1, .toRead: 1])
        #expect(counts.byFormat == [.physical: 1, nil: 3])
        #expect(counts.byLanguage.map { "\($0.language ?? "-") \($0.copies)" } == ["en 2", "de 1", "- 1"])
        #expect(try await overview().ratings.byStar == [0, 0, 0, 0, 1, 1])
    }

    @Test func `count cultural goals by category`() async throws {
        for (category, finished) in [("African Literature", "2026-01"), ("African Literature", "2025"), (nil, nil)]
            as [(String?, String?)]
        {
            let copy = try await library.insertCopy("Book", .read, columns: ["countsForCulturalGoal": 1])
            if let category {
                try await library.write { db in
                    try db.execute(
                        sql: "UPDATE readerCopy SET culturalGoalCategory = ? WHERE copy = ?",
                        arguments: [category, copy.row])
                }
            }
            if let finished { try await library.insertReading(copy.row, .finished, finished: finished) }
        }
        try await library.insertCopy("Not counted", columns: ["culturalGoalCategory": "African Literature"])
        #expect(
            try await overview().culturalGoals == [
                CulturalGoal(category: "African Literature", books: 2, finished: 2, finishedThisYear: 1),
                CulturalGoal(category: nil, books: 1, finished: 0, finishedThisYear: 0),
            ])
    }

    @Test func `remember this day, the latest year first`() async throws {
        for (title, started, finished) in [
            ("Finished", "2024-04-01", "2024-05-10"), ("Going on", "2025-05-01", nil),
            ("Begun", "2025-05-10", "2025-08-01"),
            ("Elsewhere", "2025-06-01", "2025-07-01"), ("Partial", "2025-05", "2025-05"), ("Now", "2026-05-10", nil),
        ] as [(String, String, String?)] {
            let copy = try await library.insertCopy(title, finished == nil ? .reading : .read)
            try await library.insertReading(
                copy.row, finished == nil ? .open : .finished, started: started, finished: finished)
        }
        let memories = try await library.onThisDay(at: now, in: berlin)
        #expect(
            memories.map { "\($0.yearsAgo) \($0.event.rawValue) \($0.book.displayTitle)" } == [
                "1 started Begun", "1 reading Going on", "2 finished Finished",
            ])
        let leap = try await library.insertCopy("Leap", .read)
        try await library.insertReading(leap.row, .finished, finished: "2024-02-29")
        let shortFebruary = try await library.onThisDay(at: instant("2027-02-28T10:00:00Z"), in: berlin)
        #expect(shortFebruary.map(\.book.displayTitle).contains("Leap"))
    }

    @Test func `list the timeline in order`() async throws {
        let copy = try await library.insertCopy("Dune", .read)
        let first = try await library.insertReading(copy.row, .finished, started: "2026-05-01", finished: "2026-05-09")
        try await library.insertSession(first, "2026-05-08T22:30:00Z", from: 0, to: 30)
        try await library.insertSession(first, "2026-05-01T10:00:00Z", from: 0, to: 30)
        try await library.insertReading(copy.row, .stopped, started: "2026", stopped: "2026-05", position: 1)
        #expect(
            try await events() == [
                "2026 started Dune", "2026-05 stopped Dune", "2026-05-01 started Dune", "2026-05-01 session Dune",
                "2026-05-09 session Dune", "2026-05-09 finished Dune",
            ])
    }

    private func events() async throws -> [String] {
        let events = Events()
        try await library.timeline(in: berlin) { events.append($0) }
        let list = events.list
        for event in list { #expect(event.cells.count == TimelineEvent.columns.count) }
        return list.map { "\($0.date) \($0.kind.rawValue) \($0.book.displayTitle)" }
    }
}
