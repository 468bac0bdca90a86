import Bookplate
import FoundationEssentials
import TestTools
import Testing

@testable import Library

@Suite struct `Readers of one library` {
    let folder = Folder()
    let library: LibraryFile

    init() throws { library = try LibraryFile.open(at: folder("library.sqlite"), zone: .gmt) }

    private func anna() async throws -> LibraryFile {
        let added = try await library.addReader("Anna", naming: "Ben", at: noon)
        return try await library.reading(as: added.reader.id, holder: nil, isGuest: false, at: noon)
    }

    @Test func `are one without a name, until there is another`() async throws {
        #expect(try await library.readers().map(\.name) == [nil])
        await #expect(throws: ReaderRefusal.firstNeedsName) {
            try await library.addReader("Anna", naming: nil, at: noon)
        }
        let before = try await library.dump()
        let added = try await library.addReader("Anna", naming: "Ben", at: noon)
        #expect(try await library.readers().map(\.name) == ["Ben", "Anna"])
        #expect(Set(try await library.readers().map(\.colour)).count == 2)
        await #expect(throws: ReaderRefusal.nameTaken("ANNA")) {
            try await library.addReader("ANNA", naming: nil, at: noon)
        }
        _ = try await library.undo(try #require(added.change), at: noon)
        #expect(try await library.readers().map(\.name) == [nil])
        #expect(try await library.dump() == before)
    }

    @Test func `have status, rating and readings of their own`() async throws {
        let book = try await library.save(dune, record("Dune"), preset: Preset(status: .reading))
        let anna = try await anna()
        #expect(try await anna.book(book.id)?.copy.status == .toRead)
        _ = try await anna.setStatus(.read, of: book.id, on: CalendarDay("2024"), at: noon)
        _ = try await anna.update(book.id, at: noon) { ($0.copy.rating, $0.copy.isFavourite) = (4.5, true) }
        let (own, hers) = (
            try #require(try await library.book(book.id)), try #require(try await anna.book(book.id))
        )
        #expect(own.copy.status == .reading && own.copy.rating == nil && !own.copy.isFavourite)
        #expect(hers.copy.status == .read && hers.copy.rating == 4.5 && hers.copy.isFavourite)
        #expect(own.copy.readings.count == 1 && hers.copy.readings.map(\.finished?.description) == ["2024"])
        var query = BookQuery()
        query.statuses = [.read]
        #expect(try await library.books(matching: query).total == 0)
        #expect(try await anna.books(matching: query).books.map(\.id) == [book.id])
        #expect(try await anna.home(limit: 9, at: noon, in: .gmt).recentlyRead.map(\.book.id) == [book.id])
        #expect(try await library.home(limit: 9, at: noon, in: .gmt).readingNow.map(\.book.id) == [book.id])
    }

    @Test func `are never all in the trash, whatever is undone`() async throws {
        let anna = try await library.addReader("Anna", naming: "Ben", at: noon).reader
        let ben = try #require(try await library.readers().first)
        _ = try await library.deleteReader(ben.id, at: noon)
        let restored = try await library.restoreReader(ben.id, at: noon)
        let deleted = try await library.deleteReader(anna.id, at: noon)
        await #expect(throws: ReaderRefusal.lastReader) {
            try await library.undo(try #require(restored.change), at: noon)
        }
        await #expect(throws: ReaderRefusal.lastReader) { try await library.deleteReader(ben.id, at: noon) }
        _ = try await library.undo(try #require(deleted.change), at: noon)
        #expect(try await library.readers().map(\.name) == ["Ben", "Anna"])
    }

    @Test func `change neither each other's sessions nor, with a book, each other's history`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let anna = try await anna()
        let hers = try await anna.startSession(of: book.id, page: 0, from: nil, at: noon).session.id
        await #expect(throws: SessionError.noSuchSession) { try await library.deleteSession(hers, at: noon) }
        await #expect(throws: SessionError.noSuchSession) {
            try await library.editSession(hers, SessionEdit(startPage: 3), at: noon)
        }
        // A title is nobody's own, so correcting it does not stand in the way of an undo.
        let (_, edited) = try await anna.update(book.id, at: noon) { $0.edition.metadata.title = "Dune!" }
        _ = try await anna.update(book.id, at: noon) { $0.copy.rating = 4 }
        _ = try await library.undo(try #require(edited), at: noon)
        #expect(try await anna.book(book.id)?.copy.rating == 4)
    }

    @Test func `have no wish for a book that one of them has bought`() async throws {
        let anna = try await anna()
        let wish = try await anna.save(dune, record("Dune"), preset: Preset(isWishlist: true))
        #expect(try await anna.book(wish.id)?.copy.isOnWishlist == true)
        let bought = try await library.save(dune, record("Dune"))
        #expect(bought.id == wish.id)
        #expect(try await anna.book(wish.id)?.copy.isOnWishlist == false)
    }

    @Test func `can each have a running session, even of one copy`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let anna = try await anna()
        _ = try await library.startSession(of: book.id, page: 0, from: nil, at: noon)
        _ = try await anna.startSession(of: book.id, page: 50, from: nil, at: noon.addingTimeInterval(60))
        await #expect(throws: SessionError.alreadyActive) {
            try await anna.startSession(of: book.id, page: 50, from: nil, at: noon)
        }
        #expect(try await library.runningSession()?.session.startPage == 0)
        #expect(try await anna.runningSession()?.session.startPage == 50)
        let end = noon.addingTimeInterval(1800)
        _ = try await anna.stopSession(page: 90, end: nil, forced: false, at: end)
        #expect(try await library.runningSession() != nil)
        #expect(try await anna.book(book.id)?.copy.reading?.progress?.amount == .page(90))
        #expect(try await library.book(book.id)?.copy.reading?.progress?.amount != .page(90))
    }

    @Test func `leave the lists when they are deleted, with all that is theirs, and come back by undo`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let anna = try await anna()
        _ = try await anna.setStatus(.read, of: book.id, on: nil, at: noon)
        let before = try await library.dump()
        let id = try await library.readers()[1].id
        let deleted = try await library.deleteReader(id, at: noon)
        #expect(try await library.readers().map(\.name) == ["Ben"])
        #expect(try await library.deletedReaders().map(\.name) == ["Anna"])
        await #expect(throws: ReaderRefusal.lastReader) {
            try await library.deleteReader(try await library.readers()[0].id, at: noon)
        }
        await #expect(throws: ReaderRefusal.noSuchReader) {
            try await library.reading(as: id, holder: nil, isGuest: false, at: noon)
        }
        _ = try await library.undo(try #require(deleted.change), at: noon)
        #expect(try await library.dump() == before)
        #expect(
            try await library.reading(as: id, holder: nil, isGuest: false, at: noon).books(matching: BookQuery()).books
                .first?.copy.status == .read)
    }

    @Test func `are gone for good after thirty days in the trash, and the books stay`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let anna = try await anna()
        _ = try await anna.addSession(
            of: book.id, start: noon.addingTimeInterval(-600), end: noon, startPage: 1, endPage: 9, at: noon)
        _ = try await anna.add(Note(text: "Hers", created: noon), to: book.id, at: noon)
        _ = try await library.deleteReader(try await library.readers()[1].id, at: noon)
        for day in 1...32 {
            try await library.save(isbn(day), record("Other"), at: noon.addingTimeInterval(Double(day) * 86_400))
        }
        #expect(try await library.deletedReaders().isEmpty)
        #expect(try await library.book(book.id) != nil)
        let rows = try await library.read { db in
            try ["reading", "session", "note", "readerCopy", "listing"].map { table in
                try db.value(Int.self, "SELECT count(*) FROM \(table) WHERE reader = 2") ?? 0
            }
        }
        #expect(rows == [0, 0, 0, 0, 0])
        let log = try await library.read { db in
            try db.value(Int.self, "SELECT count(*) FROM changeRow WHERE before || after LIKE '%Hers%'") ?? 0
        }
        #expect(log == 0)
    }

    @Test func `are all kept when two copies are merged`() async throws {
        let kept = try await library.save(dune, record("Dune"))
        let other = try await library.save(nil, record("Dune"))
        let anna = try await anna()
        _ = try await anna.setStatus(.read, of: other.id, on: CalendarDay("2020"), at: noon)
        _ = try await anna.update(other.id, at: noon) { $0.copy.rating = 3 }
        let before = try await library.dump()
        let merged = try await library.merge([other.id], into: kept.id, MergeOptions(), at: noon)
        let hers = try #require(try await anna.book(kept.id)).copy
        #expect(hers.status == .read && hers.rating == 3 && hers.readings.count == 1)
        #expect(try await library.book(kept.id)?.copy.status == .toRead)
        _ = try await library.undo(try #require(merged.change), at: noon)
        #expect(try await library.dump() == before)
    }

    /// Returns all that a reader sees, without ids.
    private func view(_ library: LibraryFile, _ books: [ID<Copy>]) async throws -> [String] {
        var lines: [String] = []
        for id in books {
            let book = try #require(try await library.book(id))
            let copy = book.copy
            lines.append("\(copy.status) \(copy.rating as Any) \(copy.isFavourite) \(copy.isOnWishlist)")
            for reading in copy.readings {
                let days = [reading.started, reading.finished, reading.stopped].map { $0?.description ?? "-" }
                lines.append(
                    "  \(reading.state) \(days) \(reading.progress.map { "\($0.at) \($0.amount) \($0.isAutomatic)" } ?? "")"
                )
            }
            for record in try await library.sessions(of: id, limit: 999, offset: 0) {
                var session = record.session
                session.id = ID(rawValue: "")
                lines.append("  \(session)")
            }
        }
        let stats = try await library.overview(.all, year: nil, at: noon, in: .gmt)
        lines += stats.days.map { "\($0)" }
        lines.append("\(stats.totals) \(stats.counts.byStatus.map { "\($0)" }.sorted()) \(stats.ratings)")
        lines += try await library.home(limit: 99, at: noon, in: .gmt).readingNow.map {
            "\($0.lastActivity as Any) \($0.pagesToday)"
        }
        return lines
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `act as if each were alone`(seed: UInt64) async throws {
        var random = SplitMix(seed: seed)
        var shared = [library]
        shared.append(try await anna())
        let third = try await library.addReader("Cleo", naming: nil, at: noon)
        shared.append(try await library.reading(as: third.reader.id, holder: nil, isGuest: false, at: noon))
        let alone = try (0..<3).map { _ in try LibraryFile.inMemory(zone: .gmt) }
        var books: [ID<Copy>] = []
        var others: [[ID<Copy>]] = [[], [], []]
        for number in 0..<4 {
            let metadata = record("Book \(number)") { $0.pageCount = 300 }
            books.append(try await library.save(isbn(number), metadata).id)
            for index in 0..<3 { others[index].append(try await alone[index].save(isbn(number), metadata).id) }
        }
        for step in 0..<500 {
            let (reader, place, kind) = (random.below(3), random.below(4), random.below(5))
            let rating = Double(1 + random.below(20)) / 4
            let now = noon.addingTimeInterval(Double(step) * 700 - 400_000)
            var outcomes: [String] = []
            let start = random
            for (library, id) in [(shared[reader], books[place]), (alone[reader], others[reader][place])] {
                random = start
                do {
                    if kind == 0 {
                        _ = try await library.update(id, at: now) { book in
                            (book.copy.rating, book.copy.isFavourite) = (rating, rating > 3)
                        }
                    } else {
                        try await library.track(try #require(try await library.book(id)), &random, at: now)
                    }
                    outcomes.append("done")
                } catch {
                    outcomes.append("\(error)")
                }
            }
            #expect(outcomes[0] == outcomes[1], "step \(step)")
        }
        for index in 0..<3 {
            #expect(try await view(shared[index], books) == view(alone[index], others[index]), "reader \(index)")
        }
        try await library.check()
    }
}
