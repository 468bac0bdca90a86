import Bookplate
import FoundationEssentials
import GRDB
import LibraryMaker
import Synchronization
import TestTools
import Testing

@testable import Library

/// Makes a library whose row ids have gaps, so that its copies are in several blocks.
func makeSpreadLibrary(at path: String, seed: UInt64, readers: Int = 1) async throws -> LibraryFile {
    try await copyMadeLibrary(to: path, copies: 200, seed: seed, readers: readers)
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try await queue.write { db in
        for (table, column) in [
            ("copy", "id"), ("readerCopy", "copy"), ("reading", "copy"), ("copyTag", "copy"), ("note", "copy"),
            ("quote", "copy"),
        ] {
            try db.execute(sql: "UPDATE \(table) SET \(column) = -\(column) * 50")
            try db.execute(sql: "UPDATE \(table) SET \(column) = -\(column)")
        }
        // Cases that the made libraries do not have.
        try db.execute(
            sql: """
                UPDATE reading SET state = 'cancelled', finished = NULL WHERE id % 9 = 0;
                UPDATE edition SET format = NULL WHERE id % 7 = 0;
                UPDATE readerCopy SET countsForCulturalGoal = 1 WHERE copy % 3 = 0;
                UPDATE progressEntry SET page = NULL, percent = 2500 WHERE id % 5 = 0 AND session IS NULL;
                UPDATE progressEntry SET isAutomatic = 1 WHERE id % 11 = 0;
                UPDATE reading SET started = '2019-11-21' WHERE id % 13 = 0;
                """)
    }
    try queue.close()
    let library = try LibraryFile.open(at: path)
    try await library.rebuildSearchIndex()
    return library
}

@Suite struct `The stats of blocks of copies` {
    let folder = Folder()
    /// The last day on which the made libraries were read.
    let now = instant("2026-11-21T12:00:00Z")

    private func spreadLibrary(seed: UInt64) async throws -> LibraryFile {
        try await makeSpreadLibrary(at: folder("library.sqlite"), seed: seed)
    }

    @Test(arguments: [1, 2, 3], ["Europe/Berlin", "Asia/Kathmandu"])
    func `add up to what the rules give for each reading of the library`(seed: UInt64, zone: String) async throws {
        let zone = try #require(TimeZone(identifier: zone))
        let library = try await spreadLibrary(seed: seed)
        try await library.setGoal(.dailyGoal, 20)
        try await library.setGoal(.yearlyGoal, 12)
        let expected = try await PlainStats(library, today: CalendarDay(now, in: zone), in: zone)
        let blocks = try await library.read { db in try StatsBlocks().all(db, in: zone) }
        #expect(blocks.count > 2)

        let overview = try await library.overview(.all, year: nil, at: now, in: zone)
        #expect(overview.days.map(text) == expected.days.map(text) && !overview.days.isEmpty)
        for year in [nil, 2019, 2025] {
            let whole = try await library.overview(.all, year: year, at: now, in: zone)
            #expect(try await library.goals(year: year, at: now, in: zone) == whole.goals)
            #expect(whole.challenge != nil && whole.dailyGoal != nil)
        }
        let direct = try await library.read { db in try StatsBlocks().readings(db, in: zone) }
        #expect(direct.sorted { $0.row < $1.row } == blocks.flatMap(\.readings).sorted { $0.row < $1.row })
        #expect(Set(blocks.finishes.map(text)) == Set(expected.finishes.map(text)))
        #expect(overview.totals.booksFinished == expected.finishes.reduce(0) { $0 + $1.books })
        #expect(overview.counts == expected.counts)
        #expect(overview.ratings == Ratings(expected.ratings))
        #expect(overview.pauseCount == expected.pauses.count && overview.pauseCount > 0)
        #expect(
            overview.pauses.map(\.pause.daysSinceLast)
                == Array(expected.pauses.sorted(by: >).prefix(Overview.mostPauses)))
        #expect(try await library.days(in: .all, zone: zone).map(text) == expected.days.map(text))

        let memories = try await library.onThisDay(at: now, in: zone)
        #expect(memories.map(text).sorted() == expected.memories.map(text).sorted() && memories.count > 3)
        #expect(memories.map(\.yearsAgo) == memories.map(\.yearsAgo).sorted())
        #expect(try await library.onThisDay(limit: 3, at: now, in: zone) == Array(memories.prefix(3)))
        try await library.close()
    }

    /// Each act is made by another connection, as by another process.
    @Test(arguments: [1, 2]) func `are never out of date after any act`(seed: UInt64) async throws {
        let path = folder("library.sqlite")
        let (reader, writer) = try (LibraryFile.open(at: path, zone: berlin), LibraryFile.open(at: path, zone: berlin))
        var random = SplitMix(seed: seed)
        for number in 0..<8 { try await writer.save(isbn(number), record("Book \(number)")) }
        for number in 0..<120 {
            let time = noon.addingTimeInterval(Double(number) * 3600)
            do {
                let books = try await writer.books(matching: BookQuery()).books
                let book = try #require(books.randomElement(using: &random))
                switch random.below(8) {
                case 0:
                    _ = try await writer.update(book.id, at: time) {
                        $0.edition.metadata.pageCount = 100 + number
                        $0.edition.metadata.language = ["en", "de"][number % 2]
                        $0.copy.rating = 4
                    }
                case 1 where books.count > 3: _ = try await writer.trash([book.id], continuing: nil, at: time)
                case 2:
                    guard let change = try await writer.lastChange() else { continue }
                    _ = try await writer.undo(change.id, at: time)
                case 3: try await writer.importFile(&random, ["Ash", "Birch"], at: time)
                default: try await writer.track(book, &random, at: time)
                }
            } catch let error where error.isRefusal || error is UndoRefusal {}
            try await expectNewest(reader)
        }
        try await reader.close()
        try await writer.close()
    }

    /// Changes by other programs, which know nothing of Bookplate. Each is the only change to its block.
    static let changes = [
        "UPDATE edition SET pageCount = 1 WHERE id = (SELECT edition FROM copy WHERE id = :copy)",
        "UPDATE edition SET format = 'audiobook' WHERE id = (SELECT edition FROM copy WHERE id = :copy)",
        "UPDATE edition SET language = 'xx' WHERE id = (SELECT edition FROM copy WHERE id = :copy)",
        "UPDATE copy SET edition = (SELECT max(id) FROM edition WHERE pageCount IS NOT NULL) WHERE id = :copy",
        "UPDATE readerCopy SET status = 'dnf' WHERE copy = :copy",
        "UPDATE readerCopy SET rating = 1 WHERE copy = :copy",
        "UPDATE copy SET isOwned = 1 - isOwned WHERE id = :copy",
        "UPDATE readerCopy SET isFavourite = 1 - isFavourite WHERE copy = :copy",
        "UPDATE copy SET deleted = 1 WHERE id = :copy",
        "UPDATE reading SET state = 'cancelled' WHERE copy = :copy",
        "UPDATE reading SET finished = '1999-01-01' WHERE copy = :copy",
        "UPDATE reading SET started = '1999-01-01' WHERE copy = :copy",
        "UPDATE reading SET copy = (SELECT max(id) FROM copy) WHERE copy = :copy",
        "INSERT INTO reading (uuid, copy, position, state, stopped) VALUES ('new', :copy, 9, 'stopped', '1999-01-01')",
        """
        INSERT INTO session (uuid, reading, start, "end", startPage, endPage)
        SELECT 'new', id, 0, 60000, 1, 7 FROM reading WHERE copy = :copy LIMIT 1
        """,
        "UPDATE session SET endPage = endPage + 5 WHERE reading IN (SELECT id FROM reading WHERE copy = :copy)",
        "UPDATE session SET start = start - 86400000 WHERE reading IN (SELECT id FROM reading WHERE copy = :copy)",
        """
        INSERT INTO progressEntry (uuid, reading, at, page)
        SELECT 'new', id, 0, 7 FROM reading WHERE copy = :copy LIMIT 1
        """,
        "UPDATE progressEntry SET isAutomatic = 0, session = NULL "
            + "WHERE reading IN (SELECT id FROM reading WHERE copy = :copy)",
        "DELETE FROM progressEntry WHERE reading IN (SELECT id FROM reading WHERE copy = :copy)",
        """
        UPDATE progressEntry SET session = NULL WHERE reading IN (SELECT id FROM reading WHERE copy = :copy);
        DELETE FROM session WHERE reading IN (SELECT id FROM reading WHERE copy = :copy)
        """,
    ]

    @Test func `are computed again when another program writes a row that counts`() async throws {
        let library = try await spreadLibrary(seed: 1)
        let queue = try DatabaseQueue(path: folder("library.sqlite"))
        for sql in Self.changes {
            let before = try await kept(library)
            let hasChanged = try await queue.write { db in
                // A book that was read with sessions, and has an entry of its own.
                let copy = try Int64.fetchOne(
                    db,
                    sql: """
                        SELECT reading.copy FROM reading JOIN copy ON copy.id = reading.copy JOIN session ON
                            session.reading = reading.id JOIN edition ON edition.id = copy.edition
                            JOIN readerCopy ON readerCopy.copy = copy.id
                        WHERE state = 'finished' AND finished IS NOT NULL AND copy.deleted IS NULL
                            AND pageCount > 1 AND status = 'read' ORDER BY reading.copy LIMIT 1
                        """)
                for statement in sql.split(separator: ";") {
                    try db.execute(sql: String(statement), arguments: ["copy": copy])
                }
                return copy != nil
            }
            #expect(hasChanged)
            try await expectNewest(library)
            #expect(try await kept(library) != before, "\(sql)")
            // The next change may insert rows with the same ids.
            try await queue.write { db in
                for table in ["session", "progressEntry", "reading"] {
                    try db.execute(sql: "DELETE FROM \(table) WHERE uuid = 'new'")
                }
            }
        }
        try queue.close()
        try await library.close()
    }

    @Test func `are kept for blocks in which nothing has changed`() async throws {
        let library = try await spreadLibrary(seed: 1)
        func computed() async throws -> Int {
            let statements = Mutex(0)
            try await library.read { [statsBlocks = library.statsBlocks] db in
                db.trace { if $0.description.contains("FROM copy JOIN edition") { statements.withLock { $0 += 1 } } }
                _ = try statsBlocks.all(db, in: berlin)
                db.trace()
            }
            return statements.withLock(\.self)
        }
        let all = try await computed()
        #expect(all > 2)
        #expect(try await computed() == 0)
        let book = try #require(try await library.books(matching: BookQuery()).books.first)
        _ = try await library.setStatus(.dnf, of: book.id, on: nil, at: now)
        #expect(try await computed() == 1)
        _ = try await library.add(Note(text: "Slow", created: now), to: book.id, at: now)
        #expect(try await computed() == 0)
        try await library.close()
    }

    @Test func `are found along indexes, and the first time with one scan of each index`() async throws {
        let library = try await spreadLibrary(seed: 1)
        let kept = StatsBlocks()
        /// Returns the tables and indexes that are scanned as a whole, and all steps of the plans.
        func plans(_ work: @escaping @Sendable (Database) throws -> Void) async throws -> (
            scans: [String], all: [String]
        ) {
            let lines = try await library.read { db in
                let statements = Mutex<[String]>([])
                db.trace { event in statements.withLock { $0.append(event.expandedDescription) } }
                try work(db)
                db.trace()
                return try statements.withLock(\.self).filter { $0.hasPrefix("SELECT") }.flatMap { sql in
                    try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
                }
            }
            let allowed = [
                "SCAN (", "SCAN CONSTANT ROW", "SCAN statsBlock", "SCAN session USING INDEX sessionByStart",
                "SCAN own USING INDEX readerCopyByCulturalGoal",
                // The reader of the access.
                "SCAN CONSTANT ROW",
            ]
            let scans = lines.filter { line in line.hasPrefix("SCAN") && !allowed.contains { line.hasPrefix($0) } }
            return (scans, lines)
        }
        let first = try await plans { db in _ = try kept.all(db, in: berlin) }
        #expect(
            Set(first.scans) == ["SCAN reading", "SCAN entry USING COVERING INDEX progressEntryByReading"])
        let book = try #require(try await library.books(matching: BookQuery()).books.first)
        _ = try await library.setStatus(.dnf, of: book.id, on: nil, at: now)
        let later = try await plans { db in
            _ = try kept.all(db, in: berlin)
            _ = try LibraryStatsQuery.recentPace(db)
            _ = try LibraryStatsQuery.culturalGoals(db, year: 2026)
            _ = try LibraryStatsQuery.finishes(db, in: 2026)
        }
        #expect(later.scans.isEmpty, "\(later.scans)")
        #expect(later.all.contains { $0.contains("COVERING INDEX sessionByReading") })
        #expect(later.all.contains { $0.contains("COVERING INDEX progressEntryByReading") })
        #expect(later.all.contains { $0.contains("INDEX readerCopyByCulturalGoal") })
        #expect(later.all.contains { $0.contains("INDEX readingByFinished") })
        try await library.close()
    }

    private func kept(_ library: LibraryFile) async throws -> [StatsBlock] {
        try await library.read { [statsBlocks = library.statsBlocks] db in try statsBlocks.all(db, in: berlin) }
    }

    /// Expects the kept blocks to be equal to blocks that are computed now.
    private func expectNewest(_ library: LibraryFile) async throws {
        let isNewest = try await library.read { [statsBlocks = library.statsBlocks] db in
            try statsBlocks.all(db, in: berlin) == StatsBlocks().all(db, in: berlin)
        }
        #expect(isNewest)
    }

    /// Returns a day as text. Its pace is rounded, because the last digits of a sum depend on the order of addition.
    private func text(_ day: DayStats) -> String {
        let pace = day.pace.value.map { String(Int(($0 * 1000).rounded())) } ?? "-"
        return "\(day.day) \(day.pages)p \(day.minutes)m \(day.sessions)s \(day.entries)e \(pace) \(day.pace.count)"
    }

    private func text(_ finishes: Finishes) -> String {
        "\(finishes.date?.description ?? "-") \(finishes.books) \(finishes.pages)"
    }

    private func text(_ memory: Memory) -> String {
        "\(memory.yearsAgo) \(memory.event.rawValue) \(memory.day) \(memory.book.id.rawValue)"
    }
}

/// The stats of a library, computed from everything in it by the rules for one reading, without SQL.
private struct PlainStats {
    private(set) var days: [DayStats] = []
    private(set) var finishes: [Finishes] = []
    private(set) var counts = LibraryCounts()
    private(set) var ratings: [Int: Int] = [:]
    /// The days since the last activity of each paused book.
    private(set) var pauses: [Int] = []
    private(set) var memories: [Memory] = []

    init(_ library: LibraryFile, today: CalendarDay, in zone: TimeZone) async throws {
        let books = Mutex<[BookRecord]>([])
        try await library.export { record in
            if case .book(let book) = record { books.withLock { $0.append(book) } }
        }
        var byDay: [CalendarDay: DayStats] = [:]
        for book in books.withLock(\.self) {
            for copy in book.copies where copy.copy.deleted == nil {
                count(copy.copy, book.edition.metadata)
                let readings = copy.readings.filter { $0.reading.state != .cancelled }
                for reading in readings {
                    let days = DayStats.days(
                        sessions: reading.sessions, entries: reading.entries,
                        pageCount: book.edition.metadata.pageCount, in: zone)
                    for day in days { byDay[day.day, default: DayStats(day: day.day)].add(day) }
                    add(reading.reading, of: copy.copy, book.edition, today: today)
                }
                guard copy.copy.status == .reading else { continue }
                let last = readings.last.flatMap { reading in
                    (reading.entries.map(\.at) + reading.sessions.map(\.start)).max()
                }
                let pause = Pause(
                    last: last.map { CalendarDay($0, in: zone) }, started: readings.last?.reading.started,
                    added: CalendarDay(copy.copy.added, in: zone), today: today)
                if let pause { pauses.append(pause.daysSinceLast) }
            }
        }
        days = byDay.values.sorted { $0.day < $1.day }
        counts.byLanguage.sort { ($1.copies, $0.language ?? "~") < ($0.copies, $1.language ?? "~") }
    }

    private mutating func add(_ reading: Reading, of copy: Copy, _ edition: Edition, today: CalendarDay) {
        if reading.state == .finished {
            let index = finishes.firstIndex { $0.date == reading.finished }
            let pages = min(edition.metadata.pageCount ?? 0, StatsLimit.pages)
            if let index {
                finishes[index].books += 1
                finishes[index].pages += pages
            } else {
                finishes.append(Finishes(date: reading.finished, pages: pages))
            }
        }
        let book = CountedBook(id: copy.id, title: nil, authors: [], isbn: nil, edition: edition.id)
        memories += Memory.memories(
            of: book, started: reading.started, finished: reading.finished, stopped: reading.stopped,
            isOpen: reading.state == .open, today: today)
    }

    private mutating func count(_ copy: Copy, _ metadata: Metadata) {
        counts.copies += 1
        counts.owned += copy.isOwned ? 1 : 0
        counts.wishlist += copy.isOnWishlist ? 1 : 0
        counts.favourites += copy.isFavourite ? 1 : 0
        counts.byStatus[copy.status, default: 0] += 1
        counts.byFormat[metadata.format, default: 0] += 1
        if let rating = copy.rating { ratings[Int(rating * 4), default: 0] += 1 }
        if let index = counts.byLanguage.firstIndex(where: { $0.language == metadata.language }) {
            counts.byLanguage[index].copies += 1
        } else {
            counts.byLanguage.append(LanguageCount(language: metadata.language, copies: 1))
        }
    }
}
