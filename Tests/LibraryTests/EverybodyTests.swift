import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct `The stats of everybody` {
    let folder = Folder()
    /// The last day on which the made libraries were read.
    let now = instant("2026-11-21T12:00:00Z")

    @Test(arguments: [nil, 1] as [Int?], [1, 2] as [UInt64])
    func `are the sums of each reader's, without readers in the trash`(deleted: Int?, seed: UInt64) async throws {
        let library = try await makeSpreadLibrary(at: folder("library.sqlite"), seed: seed, readers: 3)
        try await library.setGoal(.dailyGoal, 20)
        try await library.setGoal(.yearlyGoal, 12)
        var rows: [Int64] = [1, 2, 3]
        if let deleted {
            _ = try await library.deleteReader(try await library.readers()[deleted].id, at: now)
            rows.remove(at: deleted)
        }
        let everybody = library.ofEverybody()
        let each = rows.map { library.reading(with: ReaderAccess(reader: $0)) }

        // Before the stats of any block are in memory, and after.
        let direct = try await everybody.onThisDay(at: now, in: berlin)
        try await expectSums(everybody, each)
        let memories = try await everybody.onThisDay(at: now, in: berlin)
        var wanted: [String] = []
        for reader in each { wanted += try await reader.onThisDay(at: now, in: berlin).map(text) }
        #expect(memories.map(text).sorted() == wanted.sorted() && direct.map(text).sorted() == wanted.sorted())
        #expect(memories.count > 3 && memories.map(\.yearsAgo) == memories.map(\.yearsAgo).sorted())

        try await expectCounts(everybody, each)
        try await expectTimeline(everybody, each)
        try await expectHome(everybody, each)
        try await library.close()
    }

    private func expectSums(_ everybody: LibraryFile, _ each: [LibraryFile]) async throws {
        let overview = try await everybody.overview(.all, year: nil, at: now, in: berlin)
        var own: [Overview] = []
        for reader in each { own.append(try await reader.overview(.all, year: nil, at: now, in: berlin)) }
        func sum(_ value: (Overview) -> Int) -> Int { own.reduce(0) { $0 + value($1) } }

        var days: [CalendarDay: DayStats] = [:]
        for day in own.flatMap(\.days) { days[day.day, default: DayStats(day: day.day)].add(day) }
        #expect(overview.days.map(text) == days.values.sorted { $0.day < $1.day }.map(text) && !days.isEmpty)
        let year = try await everybody.days(in: Period(day("2025")), zone: berlin)
        #expect(year.map(text) == overview.days.filter { $0.day.year == 2025 }.map(text))
        #expect(overview.totals.pages == sum(\.totals.pages) && overview.totals.pages > 0)
        #expect(overview.totals.booksFinished == sum(\.totals.booksFinished) && overview.totals.booksFinished > 0)
        #expect(overview.totals.bookPages == sum(\.totals.bookPages))
        #expect(overview.dateUnknown.books == sum(\.dateUnknown.books))
        #expect(overview.ratings.byQuarter == (0..<20).map { place in sum { $0.ratings.byQuarter[place] } })
        #expect(overview.recentPace != nil)

        // Goals are each reader's.
        #expect(own[0].challenge != nil && own[0].dailyGoal != nil && !own[0].culturalGoals.isEmpty)
        #expect(overview.goals == Goals(challenge: nil, daily: nil, cultural: []))
        #expect(try await everybody.goals(year: nil, at: now, in: berlin) == overview.goals)
        let soFar = try await everybody.yearSoFar(at: now, in: berlin)
        #expect(soFar.challenge == nil && soFar.dailyGoal == nil)
        #expect(soFar.totals.booksFinished == overview.years.first { $0.year == 2026 }?.totals.booksFinished)
    }

    private func expectCounts(_ everybody: LibraryFile, _ each: [LibraryFile]) async throws {
        let counts = try await everybody.overview(.all, year: nil, at: now, in: berlin).counts
        let own = try await each[0].overview(.all, year: nil, at: now, in: berlin).counts
        #expect(counts.copies == own.copies && counts.owned == own.owned)
        #expect(counts.byFormat == own.byFormat && counts.byLanguage == own.byLanguage)
        var copies: [ID<Copy>: [Copy]] = [:]
        for reader in each {
            var query = BookQuery()
            query.limit = .max
            for book in try await reader.books(matching: query).books { copies[book.id, default: []].append(book.copy) }
        }
        let order: [Copy.Status] = [.reading, .onHold, .read, .dnf]
        var statuses: [Copy.Status: Int] = [:]
        for copy in copies.values {
            let status = order.first { status in copy.contains { $0.status == status } }
            statuses[status ?? .toRead, default: 0] += 1
        }
        #expect(counts.byStatus == statuses)
        #expect(counts.wishlist == copies.values.filter { $0.contains { $0.isOnWishlist } }.count)
        #expect(counts.favourites == copies.values.filter { $0.contains { $0.isFavourite } }.count)
    }

    private func expectTimeline(_ everybody: LibraryFile, _ each: [LibraryFile]) async throws {
        func timeline(_ library: LibraryFile) async throws -> [TimelineEvent] {
            let events = Events()
            try await library.timeline(in: berlin) { events.append($0) }
            return events.list
        }
        let all = try await timeline(everybody)
        var wanted: [String] = []
        for reader in each { wanted += try await timeline(reader).map(text) }
        #expect(all.map(text).sorted() == wanted.sorted() && !all.isEmpty)
        #expect(all.map(\.date) == all.map(\.date).sorted())
        let latest = try await everybody.latestEvents(in: .all, limit: 50, includesSessions: true, zone: berlin)
        #expect(latest == Array(all.reversed().prefix(50)))

        let book = try #require(all.last).book.id
        let stats = try #require(try await everybody.stats(of: book, at: now, in: berlin))
        var own: [BookStats] = []
        for reader in each { own.append(try #require(try await reader.stats(of: book, at: now, in: berlin))) }
        #expect(stats.readings.count == own.reduce(0) { $0 + $1.readings.count } && !stats.readings.isEmpty)
        #expect(stats.pages == own.reduce(0) { $0 + $1.pages } && stats.sessions == own.reduce(0) { $0 + $1.sessions })
        #expect(stats.lastRead == own.compactMap(\.lastRead).max())
    }

    private func expectHome(_ everybody: LibraryFile, _ each: [LibraryFile]) async throws {
        let home = try await everybody.home(limit: 10, at: now, in: berlin)
        var homes: [Home] = []
        for reader in each { homes.append(try await reader.home(limit: 500, at: now, in: berlin)) }
        func activity(_ book: ReadingNow) -> Date { book.lastActivity ?? book.book.copy.added }
        let times = homes.flatMap(\.readingNow).map(activity).sorted(by: >)
        #expect(home.readingNow.map(activity) == Array(times.prefix(10)) && times.count > 10)
        #expect(home.readingCount == times.count)
        let finished = homes.flatMap(\.recentlyRead).compactMap(\.finished).sorted(by: >)
        #expect(home.recentlyRead.compactMap(\.finished) == Array(finished.prefix(5)) && finished.count > 5)
        let readers = Set(try await everybody.readers().map(\.id))
        #expect(home.readingNow.allSatisfy { $0.reader.map(readers.contains) ?? false })
        #expect(home.recentlyRead.allSatisfy { $0.reader.map(readers.contains) ?? false })
        #expect(homes.allSatisfy { $0.readingNow.allSatisfy { $0.reader == nil } })
    }

    @Test func `count a copy as what most matters to anybody, and as paused only if nobody goes on`() async throws {
        let library = try LibraryFile.open(at: folder("library.sqlite"), zone: .gmt)
        let book = try await library.save(dune, record("Dune"), preset: Preset(status: .reading))
        let id = try await library.addReader("Anna", naming: "Ben", at: noon).reader.id
        let anna = library.reading(with: ReaderAccess(reader: 2))
        let everybody = library.ofEverybody()
        _ = try await anna.setStatus(.reading, of: book.id, on: nil, at: noon)
        func dayAfter(_ days: Double) -> Date { noon.addingTimeInterval(days * 86_400) }
        for (reader, day) in [(library, 1.0), (anna, 59)] {
            _ = try await reader.addSession(
                of: book.id, start: dayAfter(day), end: dayAfter(day).addingTimeInterval(600), startPage: 1, endPage: 9,
                at: dayAfter(day + 0.5))
        }
        func expect(_ status: Copy.Status, pauses: Int) async throws {
            let overview = try await everybody.overview(.all, year: nil, at: dayAfter(60), in: .gmt)
            #expect(overview.counts.byStatus == [status: 1] && overview.pauseCount == pauses)
            #expect(try await everybody.stats(of: book.id, at: dayAfter(60), in: .gmt)?.status == status)
        }
        #expect(try await library.overview(.all, year: nil, at: dayAfter(60), in: .gmt).pauseCount == 1)
        try await expect(.reading, pauses: 0)
        let home = try await everybody.home(limit: 5, at: dayAfter(60), in: .gmt)
        let ben = try await library.readers()[0].id
        #expect(home.readingNow.map(\.reader) == [id, ben] && home.readingCount == 2)
        #expect(Set(home.readingNow.map(\.book.id)) == [book.id])

        _ = try await anna.setStatus(.onHold, of: book.id, on: nil, at: dayAfter(60))
        try await expect(.reading, pauses: 1)
        _ = try await library.setStatus(.read, of: book.id, on: nil, at: dayAfter(60))
        try await expect(.onHold, pauses: 0)
        _ = try await anna.setStatus(.dnf, of: book.id, on: nil, at: dayAfter(60))
        try await expect(.read, pauses: 0)
        _ = try await library.deleteReader(ben, at: dayAfter(60))
        try await expect(.dnf, pauses: 0)
    }

    @Test func `cannot be changed, because a change belongs to one reader`() async throws {
        let library = try LibraryFile.inMemory()
        let book = try await library.save(dune, record("Dune"))
        let everybody = library.ofEverybody()
        let before = try await library.dump()
        await #expect(throws: ReaderRefusal.everybody) {
            try await everybody.setStatus(.read, of: book.id, on: nil, at: noon)
        }
        await #expect(throws: ReaderRefusal.everybody) {
            try await everybody.update(book.id, at: noon) { $0.copy.rating = 5 }
        }
        await #expect(throws: ReaderRefusal.everybody) { try await everybody.save(odyssey, record("Odyssey")) }
        #expect(try await library.dump() == before)
        _ = try await library.setStatus(.read, of: book.id, on: nil, at: noon)
        #expect(try await everybody.overview(.all, year: nil, at: noon, in: .gmt).counts.byStatus == [.read: 1])
        #expect(try await library.book(book.id)?.copy.status == .read)
    }

    /// Returns a day as text. Its pace is rounded, because the last digits of a sum depend on the order of addition.
    private func text(_ day: DayStats) -> String {
        let pace = day.pace.value.map { String(Int(($0 * 1000).rounded())) } ?? "-"
        return "\(day.day) \(day.pages)p \(day.minutes)m \(day.sessions)s \(day.entries)e \(pace) \(day.pace.count)"
    }

    private func text(_ memory: Memory) -> String {
        "\(memory.yearsAgo) \(memory.event.rawValue) \(memory.day) \(memory.book.id.rawValue)"
    }

    private func text(_ event: TimelineEvent) -> String {
        "\(event.date) \(event.kind) \(event.reading.rawValue) \(event.session?.id.rawValue ?? "-")"
    }
}
