import Bookplate
import FoundationEssentials
import Testing

@testable import Library

/// Returns a row as it is read from a tracker's file.
func imported(
    _ title: String?, _ isbn: ISBN? = nil, by author: String = "Frank Herbert", request: String? = nil, row: Int = 2,
    _ more: (inout ImportedBook) -> Void = { _ in }
) -> ImportedBook {
    var metadata = Metadata()
    metadata.title = title
    metadata.authors = [Contributor(name: author)]
    var book = ImportedBook(
        row: row, source: "goodreads", request: request ?? "goodreads:\(title ?? "")", metadata: metadata,
        record: CopyRecord(copy: Copy(added: noon)))
    book.isbn = isbn
    book.isbnText = isbn?.digits
    more(&book)
    return book
}

/// Fills in the fields of a book that was read.
func asRead(_ book: inout ImportedBook) {
    book.record.copy.status = .read
    book.record.copy.rating = 4.5
    book.record.copy.tags = ["Zoë", "sand"]
    book.record.copy.shelf = "Hall"
    book.record.readings = [
        ReadingRecord(Reading(state: .finished)),
        ReadingRecord(
            Reading(state: .finished, started: CalendarDay("2020-01-01"), finished: CalendarDay("2020-02-01")),
            sessions: [Session(start: noon, end: noon.addingTimeInterval(600))]),
    ]
    book.record.notes = [Note(text: "Good.", created: noon)]
    book.metadata.pageCount = 604
    book.metadata.identifiers = ["goodreads": ["42"]]
    book.hasAdded = true
}

@Suite struct ImportTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func take(_ books: [ImportedBook], _ run: LibraryImport? = nil) async throws -> [ImportResult] {
        let run = run ?? LibraryImport(into: library, from: "a.csv")
        return try await run.importRows(books.map { .book($0) }, at: noon.addingTimeInterval(60))
    }

    private func id(_ result: ImportResult) throws -> ID<Copy> {
        switch result.outcome {
        case .new(let id), .merged(let id, _), .unchanged(let id): return id
        case .other, .refused: throw LibraryError.noSuchBook(ID(rawValue: "\(result)"))
        }
    }

    @Test func `a new book has everything from the file`() async throws {
        let results = try await take([imported("Dune", dune, asRead)])
        guard case .new(let id) = results[0].outcome else { throw LibraryError.noSuchBook(ID(rawValue: "\(results)")) }
        let book = try #require(try await library.book(id))
        #expect(book.copy.status == .read && book.copy.rating == 4.5 && book.copy.tags == ["sand", "Zoë"])
        #expect(book.copy.shelf == "Hall" && book.copy.added == noon && book.edition.metadata.pageCount == 604)
        #expect(book.copy.readings.map(\.finished) == [nil, CalendarDay("2020-02-01")])
        #expect(try await library.lastChange()?.summary == "imported 1 book from a.csv")
        #expect(try await library.lastChange()?.kind == .importing)
    }

    @Test func `the same file again changes nothing and is no change`() async throws {
        let books = [
            imported("Dune", dune, row: 2, asRead), imported("Solaris", row: 3),
            imported(nil, odyssey, request: "x", row: 4),
        ]
        #expect(try await take(books).count { if case .new = $0.outcome { true } else { false } } == 3)
        let before = try await library.dump()
        let changes = try await library.changes(limit: 10)
        let again = try await take(books)
        #expect(again.allSatisfy { if case .unchanged = $0.outcome { true } else { false } }, "\(again)")
        #expect(try await library.dump() == before)
        #expect(try await library.changes(limit: 10) == changes)
    }

    @Test func `undo removes a whole import, however many batches it had`() async throws {
        let kept = try await library.save(dune, record("Dune"), preset: Preset(shelf: "One", tags: ["a"]))
        let before = try await library.dump()
        let run = LibraryImport(into: library, from: "a.csv")
        _ = try await take([imported("Dune", dune, asRead)], run)
        for part in 0..<3 {
            _ = try await take((0..<5).map { imported("Book \(part) \($0)", isbn(part * 5 + $0)) }, run)
        }
        let changes = try await library.changes(limit: 10)
        #expect(changes.count == 2 && changes[0].summary == "imported 16 books from a.csv")
        _ = try await library.undo(changes[0].id, at: noon)
        #expect(try await library.dump() == before)
        #expect(try await library.book(kept.id) == kept)
    }

    @Test func `a book that is in the library gets only what it lacks`() async throws {
        let book = try await library.save(
            dune, record("Dune, by hand") { $0.pageCount = 600 }, preset: Preset(tags: ["SAND"]))
        var mine = book
        mine.copy.rating = 2
        mine.edition.metadata.publisher = "Mine"
        _ = try await library.update(mine, at: noon)
        let result = try await take(
            [
                imported("Dune", dune) {
                    asRead(&$0)
                    $0.metadata.publisher = "Theirs"
                    $0.metadata.language = "en"
                }
            ])[0]
        guard case .merged(let id, let filled) = result.outcome else {
            throw LibraryError.noSuchBook(ID(rawValue: "\(result)"))
        }
        #expect(id == book.id)
        #expect(filled == ["identifiers", "language", "shelf", "tags", "status", "readings", "notes"])
        let merged = try #require(try await library.book(id))
        #expect(merged.edition.metadata.title == "Dune, by hand" && merged.edition.metadata.publisher == "Mine")
        #expect(
            merged.copy.rating == 2 && merged.copy.tags == ["SAND", "Zoë"] && merged.edition.metadata.pageCount == 600)
        #expect(merged.copy.status == .read && merged.copy.readings.count == 2)
    }

    /// A way in which a row is matched with a book in the library.
    enum Meeting: CaseIterable {
        case isbn, identifier, title, titleWithoutISBN, otherISBN, otherAuthor, trash
    }

    @Test(arguments: Meeting.allCases)
    func `a row is matched with its book`(meeting: Meeting) async throws {
        let stored = try await library.save(
            meeting == .titleWithoutISBN ? nil : dune, record("Düne") { $0.identifiers = ["goodreads": ["42"]] })
        if meeting == .trash { _ = try await library.trash([stored.id], at: noon) }
        let row =
            switch meeting {
            case .isbn, .trash: imported("Other title", dune)
            case .identifier: imported("Other") { $0.metadata.identifiers = ["goodreads": ["42"]] }
            case .title: imported("DUNE", by: "frank herbert")
            case .titleWithoutISBN: imported("dune", dune)
            case .otherISBN: imported("Düne", odyssey)
            case .otherAuthor: imported("Düne", by: "Somebody Else")
            }
        let result = try await take([row])[0]
        let isSame = try id(result) == stored.id
        #expect(isSame == ![.otherISBN, .otherAuthor].contains(meeting), "\(result)")
        let book = try #require(try await library.book(stored.id))
        #expect(book.copy.deleted == nil)
        if meeting == .titleWithoutISBN { #expect(book.edition.isbn == dune) }
    }

    @Test func `a reading without dates gets those of the file, one with dates keeps its own`() async throws {
        let bare = try await library.save(dune, record("Dune"), preset: Preset(status: .read))
        _ = try await take([imported("Dune", dune, asRead)])
        let book = try #require(try await library.book(bare.id))
        #expect(book.copy.readings.map(\.finished) == [nil, CalendarDay("2020-02-01")])
        _ = try await take([
            imported("Dune", dune, request: "else:1") {
                asRead(&$0)
                $0.record.readings[1].reading.finished = CalendarDay("2024")
            }
        ])
        #expect(try await library.book(bare.id)?.copy.readings == book.copy.readings)
    }

    @Test func `what was removed or reset since is not filled again`() async throws {
        let id = try id(try await take([imported("Dune", dune, asRead)])[0])
        _ = try await library.trash([id], at: noon)
        let before = try await library.dump()
        #expect(try await take([imported("Dune", dune, asRead)])[0].outcome == .unchanged(id))
        #expect(try await library.dump() == before)
    }

    @Test func `doubts are stored once, with the original row`() async throws {
        let doubtful = imported("Dune", dune) {
            $0.doubts = ["cut", "no day"]
            $0.raw = "raw \"row\""
        }
        #expect(try await take([doubtful])[0].doubts == ["cut", "no day"])
        _ = try await take([doubtful])
        let flags = try await library.dump().filter { $0.hasPrefix("importFlag ") }
        #expect(flags.count == 1 && flags[0].contains("cut; no day") && flags[0].contains("raw"))
    }

    @Test func `a row that the schema refuses does not affect other rows`() async throws {
        let bad = imported("Bad", isbn(1)) { $0.record.copy.dailyGoal = -1 }
        let results = try await take([imported("A", isbn(2)), bad, imported("B", isbn(3)), imported(nil)])
        guard case .refused(let reason) = results[1].outcome, case .refused = results[3].outcome else {
            throw LibraryError.noSuchBook(ID(rawValue: "\(results)"))
        }
        #expect(reason.contains("the library does not accept a value from this row"))
        #expect(try await library.find("") == ["A", "B"])
        let rest = try await library.dump().filter { $0.contains("Bad") }
        #expect(rest.isEmpty)
    }

    @Test func `an import resets the writing connection`() async throws {
        func settings() async throws -> [Int] {
            try await library.database.writeWithoutTransaction { db in
                try ["cache_size", "wal_autocheckpoint"].compactMap { try Int.fetchOne(db, sql: "PRAGMA \($0)") }
            }
        }
        let before = try await settings()
        _ = try await take([imported("A", isbn(2))])
        #expect(try await settings() == before)
        _ = try await take([imported("Bad", isbn(1)) { $0.record.copy.dailyGoal = -1 }])
        #expect(try await settings() == before)
    }

    @Test func `two imports at once make no duplicates`() async throws {
        let folder = Folder()
        let first = try LibraryFile.open(at: folder("library.sqlite"))
        let second = try LibraryFile.open(at: folder("library.sqlite"))
        let rows = (0..<120).map { ImportRow.book(imported("Book \($0)", isbn($0), row: $0)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for library in [first, second] {
                group.addTask {
                    let run = LibraryImport(into: library, from: "a.csv")
                    for start in stride(from: 0, to: rows.count, by: 10) {
                        _ = try await run.importRows(Array(rows[start..<start + 10]), at: noon)
                    }
                }
            }
            try await group.waitForAll()
        }
        var query = BookQuery()
        query.limit = 500
        #expect(try await first.books(matching: query).total == 120)
    }

    @Test func `a dry run reports the same and changes nothing`() async throws {
        _ = try await take([imported("Dune", dune)])
        let before = try await library.dump()
        let rows = [ImportRow.book(imported("Dune", dune, asRead)), .book(imported("New", isbn(1)))]
        let copy = try await library.temporaryCopy()
        let reported = try await LibraryImport(into: copy, from: "a.csv").importRows(rows, at: noon)
        #expect(try await library.dump() == before)
        let done = try await LibraryImport(into: library, from: "a.csv").importRows(rows, at: noon)
        #expect(reported.map(\.row) == done.map(\.row) && reported[0] == done[0])
    }

    @Test func `two copies of one edition in our own export stay two`() async throws {
        let rows = ["a", "b"].map { letter in
            imported("Dune", dune, request: "bookplate:\(letter)") { $0.id = ID(rawValue: "0000000\(letter)") }
        }
        let results = try await take(rows)
        #expect(try id(results[0]) != id(results[1]))
        let again = try await take(rows)
        #expect(again.allSatisfy { if case .unchanged = $0.outcome { true } else { false } })

        let other = try LibraryFile.inMemory()
        let there = try await other.save(dune, record("Dune"))
        let merged = try await LibraryImport(into: other, from: "a").importRows(rows.map { .book($0) }, at: noon)
        #expect(try id(merged[0]) == there.id)
        #expect(try id(merged[1]) == ID(rawValue: "0000000b"))
    }
}
