import Bookplate
import FoundationEssentials
import GRDB
import Testing

@testable import Library

/// Tests of imports of books that an earlier import has added, and that a person has changed after that.
@Suite struct ImportAgainTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func take(_ rows: [ImportRow], at now: Date = noon) async throws -> [ImportResult] {
        try await LibraryImport(into: library, from: "a").importRows(rows, at: now)
    }

    private func id(_ result: ImportResult) throws -> ID<Copy> {
        switch result.outcome {
        case .new(let id), .merged(let id, _), .unchanged(let id): return id
        case .other, .refused: throw LibraryError.noSuchBook(ID(rawValue: "\(result)"))
        }
    }

    /// Returns a record of a book in Bookplate's own JSON format.
    private func record(
        _ title: String, _ copies: [CopyRecord], id: String, isbn: ISBN? = nil, by author: String = "Frank Herbert"
    ) -> ImportRow {
        var metadata = Metadata()
        metadata.title = title
        metadata.authors = [Contributor(name: author)]
        let edition = Edition(id: ID(rawValue: id), isbn: isbn, isbnText: isbn?.digits, metadata: metadata)
        return .record(.book(BookRecord(edition: edition, copies: copies)), row: 2)
    }

    private func copy(_ id: String, _ more: (inout CopyRecord) -> Void = { _ in }) -> CopyRecord {
        var record = CopyRecord(copy: Copy(id: ID(rawValue: id), added: noon))
        more(&record)
        return record
    }

    @Test func `the only reading keeps the dates that a person has set, and no reading is added`() async throws {
        let id = try await library.save(
            dune, LibraryTests.record("Dune"), preset: Preset(status: .read)
        ).id
        _ = try await library.setDates(
            DateEdit(finished: .set(try #require(CalendarDay("2019-05")))), of: id, reading: nil, at: noon)
        let before = try #require(try await library.book(id)).copy.readings
        for _ in 0..<2 {
            _ = try await take([.book(imported("Dune", dune, asRead))])
            #expect(try #require(try await library.book(id)).copy.readings == before)
        }
    }

    @Test(arguments: [false, true])
    func `nothing that a person has removed comes back`(isOwn: Bool) async throws {
        let row: ImportRow
        if isOwn {
            var book = imported("Dune", dune, asRead)
            book.record.copy.id = ID(rawValue: "c1")
            row = record("Dune", [book.record], id: "e1", isbn: dune)
        } else {
            row = .book(imported("Dune", dune, asRead))
        }
        let id = try id(try await take([row])[0])
        var book = try #require(try await library.book(id))
        (book.copy.rating, book.copy.shelf, book.copy.tags) = (nil, nil, ["sand"])
        (book.edition.isbn, book.edition.isbnText) = (nil, nil)
        _ = try await library.update(book, at: noon)
        _ = try await library.deleteNotes(try await library.notes(of: id).map(\.id), at: noon)
        try await library.write { db in
            try db.run("UPDATE reading SET started = NULL, finished = NULL WHERE finished IS NOT NULL")
        }
        #expect(try await library.book(id)?.edition.editedFields.map(\.rawValue).contains("isbn") == true)
        let before = try await library.dump()
        let again = try await take([row])[0]
        #expect(again.outcome == .unchanged(id))
        #expect(try await library.dump() == before)
        // The removed ISBN does not come back from another file either.
        _ = try await take([.book(imported("Dune", odyssey, request: "other:1") { $0.record.copy.rating = 1 })])
        #expect(try await library.book(id)?.edition.isbn == nil)
    }

    @Test func `a newer export adds the readings of a book that was never begun here`() async throws {
        let id = try id(try await take([.book(imported("Dune", dune))])[0])
        var mine = try #require(try await library.book(id))
        mine.copy.shelf = "Mine"
        _ = try await library.update(mine, at: noon)
        let merged = try await take([.book(imported("Dune", dune, asRead))])[0]
        #expect(merged.outcome == .merged(id, filled: ["identifiers", "pageCount", "status", "readings"]))
        let book = try #require(try await library.book(id))
        #expect(book.copy.status == .read && book.copy.readings.count == 2 && book.copy.rating == nil)
    }

    @Test func `a book set back to To Read stays there`() async throws {
        let id = try id(try await take([.book(imported("Dune", dune, asRead))])[0])
        _ = try await library.setStatus(.toRead, of: id, on: nil, at: noon)
        let before = try await library.dump()
        #expect(try await take([.book(imported("Dune", dune, asRead))])[0].outcome == .unchanged(id))
        #expect(try await library.dump() == before)
    }

    @Test func `readings that were deleted do not come back`() async throws {
        let row = ImportRow.book(
            imported("Dune", dune) {
                asRead(&$0)
                $0.record.copy.status = .toRead
            })
        let id = try id(try await take([row])[0])
        for reading in try #require(try await library.book(id)).copy.readings {
            _ = try await library.deleteReading(reading.id, of: id, at: noon)
        }
        #expect(try await library.book(id)?.copy.readings == [])
        let before = try await library.dump()
        #expect(try await take([row])[0].outcome == .unchanged(id))
        #expect(try await library.dump() == before)
    }

    @Test func `two ids of one tracker are two books, also without an ISBN`() async throws {
        let rows = ["1", "2"].map { number in
            ImportRow.book(
                imported("Poems", number == "1" ? dune : nil, request: "goodreads:\(number)") {
                    $0.metadata.identifiers = ["goodreads": [number]]
                })
        }
        let results = try await take(rows)
        #expect(try id(results[0]) != id(results[1]), "\(results)")
    }

    @Test(arguments: [false, true])
    func `a missing second copy is new, whichever copy the file names first`(isTable: Bool) async throws {
        let rows: [ImportRow] =
            if isTable {
                ["b", "a"].map { letter in
                    .book(
                        imported("Dune", dune, request: "bookplate:\(letter)") {
                            $0.id = ID(rawValue: letter)
                            $0.edition = ID(rawValue: "e1")
                        })
                }
            } else {
                [record("Dune", [copy("b") { $0.copy.shelf = "B" }, copy("a")], id: "e1", isbn: dune)]
            }
        _ = try await take([record("Dune", [copy("a")], id: "e1", isbn: dune)])
        _ = try await take(rows)
        for letter in ["a", "b"] { #expect(try await library.book(ID(rawValue: letter)) != nil, "\(letter)") }
        let count = try await library.read { db in try db.value(Int.self, "SELECT count(*) FROM copy") }
        #expect(count == 2)
    }

    @Test func `a book of our own export is matched by its ids and its ISBN, never by its title`() async throws {
        let stored = try await library.save(nil, LibraryTests.record("Poems"))
        let results = try await take([
            record("Poems", [copy("a")], id: "e1", isbn: dune), record("Poems", [copy("b")], id: "e2"),
            record("Poems", [copy("c")], id: "e3"),
        ])
        #expect(
            try Set(results.map(id)) == ["a", "b", "c"].map { ID(rawValue: $0) }.reduce(into: []) { $0.insert($1) })
        #expect(try await library.book(stored.id)?.edition.isbn == nil)
        // A known copy does not get a new edition if a person has changed its ISBN after the first import.
        try await library.write { db in try db.run("UPDATE edition SET uuid = 'x', isbn = NULL WHERE uuid = 'e1'") }
        let again = try await take([record("Poems", [copy("a")], id: "e1", isbn: odyssey)])
        #expect(try id(again[0]) == ID(rawValue: "a"))
        let editions = try await library.read { db in try db.value(Int.self, "SELECT count(*) FROM edition") }
        #expect(editions == 4)
    }

    @Test func `the dates of another reading stay as they are`() async throws {
        let stored = try await library.save(dune, LibraryTests.record("Dune"), preset: Preset(status: .read))
        let reading = Reading(state: .finished, finished: CalendarDay("2020-02-01"))
        let offered = copy("a") {
            $0.copy.status = .read
            $0.readings = [ReadingRecord(reading)]
        }
        _ = try await take([record("Dune", [offered], id: "e1", isbn: dune)])
        let readings = try #require(try await library.book(stored.id)).copy.readings
        #expect(readings.map(\.finished) == [nil])
    }

    @Test func `a book that was deleted in a tracker is in the trash from now, so that it stays for the full time`()
        async throws
    {
        let old = noon.addingTimeInterval(-400 * 86_400)
        let id = try id(try await take([.book(imported("Dune", dune) { $0.record.copy.deleted = old })])[0])
        #expect(try await library.book(id)?.copy.deleted == noon)
    }

    @Test func `a second row of a book adds its reading and its notes`() async throws {
        func read(_ day: String, _ note: String) -> (inout ImportedBook) -> Void {
            return {
                $0.record.copy.status = .read
                $0.record.readings = [ReadingRecord(Reading(state: .finished, finished: CalendarDay(day)))]
                $0.record.notes = [Note(text: note, created: noon)]
            }
        }
        let rows = [
            imported("Dune", dune, request: "storyGraph:1", read("2023-05-01", "Good.")),
            imported("Dune", dune, request: "storyGraph:1:2", row: 3) {
                read("2020-01-02", "Better.")(&$0)
                $0.isFurther = true
            },
        ].map { ImportRow.book($0) }
        let results = try await take(rows)
        #expect(try id(results[0]) == id(results[1]), "\(results)")
        let book = try #require(try await library.book(id(results[0])))
        #expect(book.copy.readings.map(\.finished) == [CalendarDay("2020-01-02"), CalendarDay("2023-05-01")])
        #expect(try await library.notes(of: book.id).map(\.text).sorted() == ["Better.", "Good."])
        let before = try await library.dump()
        _ = try await take(rows)
        #expect(try await library.dump() == before)
    }

    @Test func `an import that adds nothing is no change, and the book's own change can still be undone`() async throws
    {
        let book = imported("Dune", dune)
        let id = try await library.save(dune, book.metadata).id
        let save = try #require(try await library.lastChange())
        let run = LibraryImport(into: library, from: "a")
        #expect(try await run.importRows([.book(book)], at: noon)[0].outcome == .unchanged(id))
        #expect(await run.change == nil)
        #expect(try await library.changes(limit: 9) == [save])
        // The row is known nevertheless, so it does not bring back what a person removes later.
        _ = try await library.update(id, at: noon) { $0.edition.metadata.publisher = nil }
        #expect(try await take([.book(book)])[0].outcome == .unchanged(id))
        for _ in 0..<2 where try await library.lastChange() != nil {
            _ = try await library.undo(try #require(try await library.lastChange()).id, at: noon)
        }
        #expect(try await library.books(with: [dune]).isEmpty)
        #expect(try await library.dump().isEmpty)
    }

    @Test func `the connection is reset after an import`() async throws {
        func settings() async throws -> [Int?] {
            try await library.database.write { db in
                try ["cache_size", "wal_autocheckpoint", "temp_store"].map { try Int.fetchOne(db, sql: "PRAGMA \($0)") }
            }
        }
        let before = try await settings()
        #expect(before.last == 0)
        _ = try await take([.book(imported("Dune", dune))])
        #expect(try await settings() == before)
        try await library.tuneConnection(.bulk)
        #expect(try await settings().last == 2)
    }

    @Test func `a row without an ISBN finds its book by an index`() async throws {
        try await library.save(dune, LibraryTests.record("Dune"))
        let lines = try await library.read { db in
            var statements: [String] = []
            db.trace { statements.append($0.expandedDescription) }
            var metadata = Metadata()
            metadata.title = "Solaris"
            metadata.identifiers = ["goodreads": ["1"]]
            _ = try ImportMatcher(db: db).edition(odyssey, metadata)
            db.trace()
            return try statements.filter { $0.hasPrefix("SELECT") }.flatMap { sql in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
            }
        }
        #expect(lines.count >= 3 && !lines.contains { $0.hasPrefix("SCAN ") }, "\(lines)")
    }
}
