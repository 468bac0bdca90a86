import Bookplate
import FoundationEssentials
import GRDB
import Synchronization
import Testing

@testable import Library

@Suite struct `Merging books` {
    let folder = Folder()
    let library: LibraryFile

    init() throws { library = try LibraryFile.open(at: folder("library.sqlite"), clock: { noon }) }

    /// Merges, checks that undo and redo are exact, and returns the result.
    @discardableResult
    private func merge(_ others: [Book], into kept: Book, _ options: MergeOptions = MergeOptions()) async throws
        -> MergeResult
    {
        let before = try await library.dump()
        let preview = try await library.previewMerge(others.map(\.id), into: kept.id, options, at: noon)
        #expect(try await library.dump() == before)
        let result = try await library.merge(others.map(\.id), into: kept.id, options, at: noon)
        #expect(preview.change == nil && preview.book.edition == result.book.edition && preview.lost == result.lost)
        let change = try #require(result.change)
        let after = try await library.dump()
        for _ in 0..<2 {
            _ = try await library.undo(change, at: noon)
            #expect(try await library.dump() == before)
            _ = try await library.redo(change, at: noon)
            #expect(try await library.dump() == after)
        }
        let foreign = try await library.read { db in try db.rows("PRAGMA foreign_key_check").count }
        #expect(foreign == 0)
        return result
    }

    private func isRefused(
        _ refusal: MergeRefusal, _ others: [Book], into kept: Book, _ options: MergeOptions = MergeOptions()
    ) async throws {
        let before = try await library.dump()
        await #expect(throws: refusal) {
            try await library.merge(others.map(\.id), into: kept.id, options, at: noon)
        }
        await #expect(throws: refusal) {
            try await library.previewMerge(others.map(\.id), into: kept.id, options, at: noon)
        }
        #expect(try await library.dump() == before)
    }

    private func anotherCopy(_ isbn: ISBN, preset: Preset = Preset()) async throws -> Book {
        let result = try await library.add(
            [confirmed(isbn, record("Dune"), preset: preset, anotherCopy: true)], at: noon)
        return try #require(try await library.book(result[0].copy))
    }

    @Test func `moves everything of the other copy`() async throws {
        let kept = try await library.save(nil, record("Dune"), preset: Preset(tags: ["a"]))
        let other = try await library.save(
            dune, record("Dune: a novel") { $0.pageCount = 412 }, preset: Preset(shelf: "Attic", tags: ["a", "b"]))
        _ = try await library.addReading(to: kept.id, started: nil, finished: day("2021"), stopped: nil, at: noon)
        _ = try await library.addReading(to: other.id, started: nil, finished: day("2020"), stopped: nil, at: noon)
        _ = try await library.setStatus(.reading, of: other.id, on: nil, at: noon)
        _ = try await library.startSession(of: other.id, page: 7, from: nil, at: noon)
        _ = try await library.add(Note(text: "Mine", created: noon), to: kept.id, at: noon)
        for text in ["Mine", "Yours"] {
            _ = try await library.add(Note(text: text, created: noon), to: other.id, at: noon)
        }
        _ = try await library.add(Quote(text: "Fear", page: 8, created: noon), to: other.id, at: noon)
        _ = try await library.update([other.id], at: noon) { $0.isFavourite = true }
        try await library.write { db in
            try ImportFlag(source: "csv", what: "date", raw: "?", at: noon).insert(
                db, to: db.value(Int64.self, "SELECT id FROM copy WHERE uuid = ?", [other.id.rawValue])!)
        }
        let result = try await merge([other], into: kept)

        let book = try #require(try await library.wholeBook(kept.id))
        #expect(result.book == book.book && result.merged.map(\.id) == [other.id] && result.lost.isEmpty)
        #expect(try await library.book(other.id) == nil)
        #expect(book.notes.map(\.text) == ["Mine", "Yours"] && book.quotes.map(\.text) == ["Fear"])
        #expect(book.flags.map(\.what) == ["date"])
        #expect(book.book.copy.tags == ["a", "b"] && book.book.copy.shelf == "Attic" && book.book.copy.isFavourite)
        #expect(book.book.copy.status == .reading)
        #expect(book.book.copy.readings.map { $0.finished?.description } == ["2020", "2021", nil])
        #expect(try await library.sessions(of: kept.id, limit: 9, offset: 0).map(\.session.startPage) == [7])
        #expect(book.book.edition.isbn == dune && book.book.edition.metadata.pageCount == 412)
        #expect(result.filled.contains(.isbn) && result.filled.contains(.pageCount))
        #expect(try await library.find("yours") == ["Dune"])
        #expect(try await library.find("").count == 1)
        #expect(try await library.lastChange()?.summary == "merged \"Dune: a novel\" into \"Dune\"")
    }

    @Test func `notes what the kept book has not taken, in several notes if it is long`() async throws {
        let kept = try await library.save(dune, record("Dune") { $0.description = "Sand." })
        let other = try await library.save(nil, record("Dune"))
        _ = try await library.update(kept.id, at: noon) { ($0.copy.shelf, $0.copy.rating) = ("Hall", 5) }
        let long = String(repeating: "é", count: 9000)
        _ = try await library.update(other.id, at: noon) {
            ($0.copy.shelf, $0.copy.rating, $0.edition.metadata.description) = ("Attic", 2, long)
        }
        let result = try await merge([other], into: kept)
        #expect(result.lost.map(\.field) == ["Description", "Shelf", "Rating"])
        let notes = try await library.notes(of: kept.id)
        #expect(notes.map(\.text.count) == [5000, notes[1].text.count])
        #expect(
            notes.map(\.text).joined()
                == "From a copy that was merged into this one:\nDescription: \(long)\nShelf: Attic\nRating: ★★☆☆☆")
    }

    @Test func `makes one copy of several, whatever their number`() async throws {
        let kept = try await library.save(dune, record("Dune"), preset: Preset(tags: ["a"]))
        let others = try await [
            anotherCopy(dune, preset: Preset(tags: ["b"])), anotherCopy(dune, preset: Preset(tags: ["c"])),
        ]
        let result = try await merge(others + [kept] + others, into: kept)
        #expect(result.merged.map(\.id) == others.map(\.id) && result.filled.isEmpty)
        #expect(try await library.books(with: [dune])[dune]?.map(\.copy.tags) == [["a", "b", "c"]])
        #expect(try await library.lastChange()?.summary == "merged \"Dune\" and 1 more into \"Dune\"")
    }

    @Test func `of different ISBNs has to be asked for, and keeps both`() async throws {
        let kept = try await library.save(dune, record("Dune"))
        let other = try await library.save(isbn(1), record("Dune", by: ["Frank Herbert", "Someone"]))
        try await isRefused(.differentISBNs(kept: dune, other: isbn(1)), [other], into: kept)
        let result = try await merge([other], into: kept, MergeOptions(joinsEditions: true))
        #expect(result.book.edition.isbn == dune)
        #expect(result.book.edition.metadata.identifiers == ["isbn_13": [isbn(1).digits]])
        #expect(try await library.books(with: [isbn(1)]).isEmpty)
        let names = try await library.authors().map(\.name)
        #expect(names == ["Frank Herbert"])
    }

    @Test(
        arguments: [
            ("1961", nil, "1987", nil, .differentYears(kept: 1961, other: 1987)),
            ("1961", "pl", "1961", "en", .differentLanguages(kept: "pl", other: "en")),
        ] as [(String, String?, String, String?, MergeRefusal)])
    func `of a book without an ISBN and one of another year or language has to be asked for`(
        _ year: String, _ language: String?, _ otherYear: String, _ otherLanguage: String?, _ refusal: MergeRefusal
    ) async throws {
        func edition(_ isbn: ISBN?, _ year: String, _ language: String?) async throws -> Book {
            try await library.save(
                isbn, record("Dune") { ($0.publishedDate, $0.language) = (CalendarDay(year), language) })
        }
        let (old, new) = (try await edition(nil, year, language), try await edition(dune, otherYear, otherLanguage))
        try await isRefused(refusal, [new], into: old)
        let result = try await merge([new], into: old, MergeOptions(joinsEditions: true))
        #expect(result.book.edition.isbn == dune)
    }

    @Test func `of editions alone keeps every copy, even in the trash`() async throws {
        let kept = try await library.save(nil, record("Dune") { $0.authors = [] }, preset: Preset(tags: ["a"]))
        let other = try await library.save(dune, record("Dune") { $0.subjects = ["Sand"] })
        let trashed = try await anotherCopy(dune)
        _ = try await library.trash([trashed.id], at: noon)
        let options = MergeOptions(keepsCopies: true)
        let result = try await merge([other], into: kept, options)
        #expect(result.book.edition.isbn == dune && result.book.edition.metadata.subjects == ["Sand"])
        #expect(result.book.displayAuthors == "Frank Herbert")
        let copies = try #require(try await library.books(with: [dune])[dune])
        #expect(copies.map(\.id) == [kept.id, other.id, trashed.id])
        #expect(copies.map(\.edition) == Array(repeating: result.book.edition, count: 3))
        #expect(try await library.lastChange()?.summary == "made \"Dune\" a copy of \"Dune\"")
        try await isRefused(.alreadyOne(title: "Dune"), [other], into: kept, options)
    }

    @Test func `is refused for one book, two open readings, and books in the trash`() async throws {
        let kept = try await library.save(dune, record("Dune"))
        let other = try await anotherCopy(dune)
        try await isRefused(.alreadyOne(title: "Dune"), [kept], into: kept)
        for book in [kept, other] {
            _ = try await library.setStatus(.reading, of: book.id, on: nil, at: noon)
            _ = try await library.recordProgress(.page(3), of: book.id, at: noon)
        }
        try await isRefused(.twoOpenReadings(title: "Dune"), [other], into: kept)
        _ = try await library.trash([other.id], at: noon)
        for (one, two) in [(kept, other), (other, kept)] {
            await #expect(throws: InTrashRefusal(other.id)) {
                try await library.merge([one.id], into: two.id, MergeOptions(), at: noon)
            }
        }
    }

    @Test func `makes a repeated save and a repeated import find the kept book`() async throws {
        let request = try confirmed(dune, record("Dune"), request: "once")
        let saved = try await library.add([request], at: noon)[0].copy
        let other = try #require(try await library.book(saved))
        let kept = try await library.save(nil, record("Dune"))
        let records = Mutex<[ImportRow]>([])
        try await library.export { record in
            if case .book = record { records.withLock { $0.append(.record(record, row: $0.count)) } }
        }
        try await merge([other], into: kept)
        #expect(try await library.add([request], at: noon) == [.alreadySaved(kept.id)])
        let run = LibraryImport(into: library, from: "backup.jsonl")
        let after = try await library.dump()
        _ = try await run.importRows(records.withLock(\.self), at: noon)
        #expect(try await library.find("").count == 1)
        #expect(
            try await library.dump().filter { !$0.hasPrefix("request") } == after.filter { !$0.hasPrefix("request") })
    }

    @Test func `makes earlier changes to the other book wait for its undo`() async throws {
        let kept = try await library.save(nil, record("Dune"))
        let other = try await library.save(dune, record("Dune: a novel"))
        let edit = try #require(try await library.update(other.id, at: noon) { $0.edition.metadata.title = "X" }.change)
        let rate = try #require(try await library.update(other.id, at: noon) { $0.copy.rating = 1 }.change)
        let change = try #require(
            try await library.merge([other.id], into: kept.id, MergeOptions(), at: noon).change)
        let merge = try #require(try await library.lastChange())
        for earlier in [edit, rate] {
            let error = await #expect(throws: UndoRefusal.self) { try await library.undo(earlier, at: noon) }
            guard case .changedSince(_, later: merge)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        _ = try await library.undo(change, at: noon)
        for earlier in [rate, edit] { _ = try await library.undo(earlier, at: noon) }
        #expect(try await library.book(other.id)?.displayTitle == "Dune: a novel")
    }
}

@Suite struct `The picture of a merged book` {
    let folder = Folder()
    let library: LibraryFile
    let kept: Book
    let other: Book

    init() async throws {
        // In the future, every file is old enough for a sweep.
        library = try LibraryFile.open(at: folder("library.sqlite"), clock: { Date(timeIntervalSince1970: 4e9) })
        kept = try await library.save(nil, record("Dune"))
        other = try await library.save(dune, record("Dune"))
    }

    private func merge() async throws -> MergeResult {
        try await library.merge([other.id], into: kept.id, MergeOptions(), at: noon)
    }

    @Test(arguments: [false, true]) func `is taken if the kept one has none, and goes back`(isOwn: Bool) async throws {
        if isOwn {
            try await library.keepOwnCover([1], of: other.edition.id)
        } else {
            try await library.keepCover([1], of: other.edition.id)
        }
        let result = try await merge()
        let change = try #require(result.change)
        for _ in 0..<2 {
            #expect(try await library.cover(of: kept.edition.id) == [1])
            #expect(try await library.keptCover(of: kept.edition.id)?.isOwn == isOwn)
            #expect(try await library.cover(of: other.edition.id) == nil)
            try await library.sweepCovers()
            _ = try await library.undo(change, at: noon)
            #expect(try await library.cover(of: kept.edition.id) == nil)
            #expect(try await library.cover(of: other.edition.id) == [1])
            _ = try await library.redo(change, at: noon)
        }
        #expect(result.lost.isEmpty)
    }

    @Test func `replaces a fetched one only if it is a person's photo`() async throws {
        try await library.keepCover([1], of: kept.edition.id)
        try await library.keepCover([2], of: other.edition.id)
        let change = try #require(try await merge().change)
        #expect(try await library.cover(of: kept.edition.id) == [1])
        _ = try await library.undo(change, at: noon)
        #expect(try await library.cover(of: other.edition.id) == [2])
        try await library.keepOwnCover([3], of: other.edition.id)
        #expect(try await merge().lost.isEmpty)
        #expect(try await library.cover(of: kept.edition.id) == [3])
    }

    @Test func `that a person made is said to be lost if there are two`() async throws {
        try await library.keepOwnCover([1], of: kept.edition.id)
        try await library.keepOwnCover([2], of: other.edition.id)
        #expect(try await merge().lost == [LostValue("Cover", "your own photo")])
        #expect(try await library.cover(of: kept.edition.id) == [1])
    }

    @Test func `that was replaced since stays when the merge is undone`() async throws {
        try await library.keepCover([1], of: other.edition.id)
        let change = try #require(try await merge().change)
        try await library.keepOwnCover([2], of: kept.edition.id)
        _ = try await library.undo(change, at: noon)
        #expect(try await library.cover(of: kept.edition.id) == [2])
        #expect(try await library.cover(of: other.edition.id) == [1])
        _ = try await library.redo(change, at: noon)
        #expect(try await library.cover(of: kept.edition.id) == [2])
    }
}

@Suite struct `Purging a merged book` {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func log() async throws -> [String] {
        try await library.read { db in
            try db.rows("SELECT coalesce(before, '') || coalesce(after, '') AS row FROM changeRow").map { $0["row"] }
                + db.rows("SELECT summary FROM change").map { $0["summary"] }
        }
    }

    @Test(arguments: [false, true]) func `leaves nothing of the book that was merged into it`(keepsCopies: Bool)
        async throws
    {
        let kept = try await library.save(nil, record("Dune"))
        let other = try await library.save(dune, record("Secret", by: ["Nobody"]), preset: Preset(tags: ["x"]))
        _ = try await library.add(Note(text: "Secret note", created: noon), to: other.id, at: noon)
        _ = try await library.merge([other.id], into: kept.id, MergeOptions(keepsCopies: keepsCopies), at: noon)
        let copies = keepsCopies ? [kept.id, other.id] : [kept.id]
        _ = try await library.trash(copies, at: noon)
        try await library.purge(copies)
        #expect(try await log() == [])
        #expect(try await library.dump().filter { !$0.hasPrefix("tag") } == [])
    }

    @Test func `leaves the other copies of the edition as they are, and the merge can be undone for them`() async throws
    {
        let kept = try await library.save(nil, record("Dune"))
        let other = try await library.save(dune, record("Dune: a novel"))
        let second = try await library.add([confirmed(dune, record("Dune"), anotherCopy: true)], at: noon)[0].copy
        _ = try await library.add(Note(text: "Secret note", created: noon), to: other.id, at: noon)
        _ = try await library.merge([other.id], into: kept.id, MergeOptions(), at: noon)
        _ = try await library.trash([kept.id], at: noon)
        try await library.purge([kept.id])
        #expect(try await !log().contains { $0.contains("Secret note") || $0.contains(other.id.rawValue) })
        #expect(try await library.books(with: [dune])[dune]?.map(\.id) == [second])
        let merge = try #require(try await library.lastChange())
        _ = try await library.undo(merge.id, at: noon)
        #expect(try await library.find("") == ["Dune: a novel"])
        let orphans = try await library.read { db in
            try db.rows("PRAGMA foreign_key_check").count
                + db.rows("SELECT 1 FROM edition WHERE id NOT IN (SELECT edition FROM copy)").count
        }
        #expect(orphans == 0)
    }
}
