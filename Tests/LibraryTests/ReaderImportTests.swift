import Bookplate
import FoundationEssentials
import Synchronization
import Testing

@testable import Library

@Suite struct `With several readers, an import` {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory(zone: .gmt) }

    /// Returns a library of Ben, Anna and Cleo, each of whom has something of the same book.
    private func household() async throws -> LibraryFile {
        let ben = try LibraryFile.inMemory(zone: .gmt)
        let preset = Preset(shelf: "Attic", tags: ["sand"], status: .reading)
        let book = try await ben.save(dune, record("Dune"), preset: preset)
        _ = try await ben.save(odyssey, record("The Odyssey", by: ["Homer"]))
        _ = try await ben.recordProgress(.page(40), of: book.id, at: noon)
        _ = try await ben.addReader("Anna", naming: "Ben", at: noon)
        let added = try await ben.addReader("Cleo", naming: nil, at: noon)
        _ = try await ben.colourReader(added.reader.id, 7, at: noon)
        let (anna, cleo) = (
            try ben.reading(asNamed: "Anna", holder: nil), try ben.reading(asNamed: "Cleo", holder: nil)
        )
        _ = try await anna.setStatus(.read, of: book.id, on: CalendarDay("2024"), at: noon)
        _ = try await anna.update(book.id, at: noon) { book in
            (book.copy.rating, book.copy.isFavourite, book.copy.recommendedBy) = (4.5, true, "Kim")
            (book.copy.countsForCulturalGoal, book.copy.culturalGoalCategory) = (true, "Deserts")
        }
        _ = try await cleo.addSession(
            of: book.id, start: noon.addingTimeInterval(-600), end: noon, startPage: 1, endPage: 9, at: noon)
        _ = try await cleo.add(Quote(text: "Cleo's quote", page: 8, created: noon), to: book.id, at: noon)
        for (reader, name) in [(ben, "Ben"), (anna, "Anna")] {
            for isPrivate in [false, true] {
                let note = Note(
                    text: name + (isPrivate ? "'s secret" : "'s note"), created: noon, isPrivate: isPrivate)
                _ = try await reader.add(note, to: book.id, at: noon)
            }
        }
        return ben
    }

    private func records(of library: LibraryFile) async throws -> [LibraryRecord] {
        let records = Mutex<[LibraryRecord]>([])
        try await library.export { record in records.withLock { $0.append(record) } }
        return records.withLock(\.self)
    }

    private func take(
        _ records: [LibraryRecord], into library: LibraryFile
    ) async throws -> (results: [ImportResult], change: ID<Change>?) {
        let run = LibraryImport(into: library, from: "a.json")
        let results = try await run.importRows(records.enumerated().map { .record($1, row: $0 + 1) }, at: noon)
        return (results, await run.change)
    }

    private func take(_ book: ImportedBook, into library: LibraryFile) async throws -> ImportResult {
        try await LibraryImport(into: library, from: "a.csv").importRows([.book(book)], at: noon)[0]
    }

    private func readers(_ library: LibraryFile) async throws -> [String?] {
        try await library.readers().map(\.name)
    }

    /// Returns the only copy of Dune, as a reader has it.
    private func copy(_ library: LibraryFile, _ reader: String) async throws -> Copy {
        let books = try await library.reading(asNamed: reader, holder: nil).books(with: [dune])[dune] ?? []
        #expect(books.count == 1)
        return try #require(books.first).copy
    }

    private func texts(_ library: LibraryFile, _ reader: String) async throws -> [String] {
        let library = try library.reading(asNamed: reader, holder: nil)
        let copy = try await copy(library, reader).id
        return try await library.notes(of: copy).map(\.text).sorted()
    }

    @Test(arguments: ["Ben", "Anna", "Cleo"])
    func `restores what each reader has, and of private notes those of the reader who has exported`(
        name: String
    ) async throws {
        let records = try await records(of: household().reading(asNamed: name, holder: nil))
        #expect(records.first == .library(version: 2))
        let restored = try library.reading(asNamed: nil, holder: nil)
        let first = try await take(records, into: restored)
        #expect(!first.results.contains { if case .refused = $0.outcome { true } else { false } }, "\(first.results)")
        #expect(try await readers(library) == ["Ben", "Anna", "Cleo"])
        #expect(try await self.records(of: library.reading(asNamed: name, holder: nil)) == records)
        #expect(try await take(records, into: restored).change == nil)
        #expect(try await self.records(of: library.reading(asNamed: name, holder: nil)) == records)

        let (ben, anna, cleo) = (
            try await copy(library, "Ben"), try await copy(library, "Anna"), try await copy(library, "Cleo")
        )
        #expect(ben.status == .reading && ben.rating == nil && ben.reading?.progress?.amount == .page(40))
        #expect(anna.status == .read && anna.rating == 4.5 && anna.isFavourite && anna.countsForCulturalGoal)
        #expect(cleo.status == .reading && cleo.reading?.progress?.amount == .page(9))
        #expect([ben, anna, cleo].allSatisfy { $0.shelf == "Attic" && $0.tags == ["sand"] })
        for reader in ["Ben", "Anna"] {
            let secret = reader == name ? ["\(reader)'s secret"] : []
            #expect(try await texts(library, reader) == (["Anna's note", "Ben's note"] + secret).sorted())
        }
    }

    @Test func `leaves out readers in the trash, with all that is theirs`() async throws {
        let household = try await household()
        for reader in try await household.readers().dropFirst() {
            _ = try await household.deleteReader(reader.id, at: noon)
        }
        let records = try await records(of: household)
        #expect(records.first == .library(version: 1))
        _ = try await take(records, into: library)
        #expect(try await readers(library) == [nil])
        let copy = try #require(try await library.books(with: [dune])[dune]?.first).copy
        #expect(copy.status == .reading && copy.readings.count == 1)
        #expect(try await library.notes(of: copy.id).map(\.text).sorted() == ["Ben's note", "Ben's secret"])
    }

    @Test(arguments: [false, true])
    func `is undone exactly, with the readers that it has added`(isUsed: Bool) async throws {
        if isUsed { try await library.save(dune, record("Dune")) }
        let (before, readersBefore) = (try await library.dump(), try await library.readers())
        let records = try await records(of: household())
        let change = try #require(try await take(records, into: library).change)
        let (after, readersAfter) = (try await library.dump(), try await library.readers())
        #expect(readersAfter.map(\.name) == ["Ben", "Anna", "Cleo"] && readersAfter.map(\.colour) == [0, 1, 7])
        // Without books, the library's reader is the file's first one; otherwise it is known by its id already.
        #expect((readersAfter[0].id == readersBefore[0].id) == isUsed)
        #expect(try await copy(library, "Anna").rating == 4.5)
        _ = try await library.undo(change, at: noon)
        #expect(try await library.dump() == before)
        #expect(try await library.readers() == readersBefore)
        _ = try await library.redo(change, at: noon)
        #expect(try await library.dump() == after)
        #expect(try await library.readers() == readersAfter)
        try await library.check()
    }

    @Test func `finds readers by their names, whatever the case`() async throws {
        _ = try await library.addReader("ANNA", naming: "Dora", at: noon)
        let ids = try await library.readers().map(\.id)
        _ = try await take(try await records(of: household()), into: library)
        #expect(try await readers(library) == ["Dora", "ANNA", "Ben", "Cleo"])
        #expect(try await library.readers().prefix(2).map(\.id) == ids)
        #expect(try await copy(library, "anna").rating == 4.5)
        #expect(try await copy(library, "Ben").status == .reading)
        #expect(try await copy(library, "Dora").status == .toRead)
    }

    @Test func `restores a deleted reader who has the same name, but not one whom it knows by the id`() async throws {
        let records = try await records(of: household())
        _ = try await library.addReader("Anna", naming: "Dora", at: noon)
        _ = try await library.deleteReader(try await library.readers()[1].id, at: noon)
        _ = try await take(records, into: library)
        #expect(try await readers(library) == ["Dora", "Anna", "Ben", "Cleo"])
        #expect(try await copy(library, "Anna").rating == 4.5)
        _ = try await library.deleteReader(try await library.readers()[2].id, at: noon)
        #expect(try await take(records, into: library).change == nil)
        #expect(try await readers(library) == ["Dora", "Anna", "Cleo"])
    }

    @Test func `never makes two readers of a file one`() async throws {
        _ = try await library.addReader("Anna", naming: "Ben", at: noon)
        let anna = try await library.readers()[1]
        let twins = [anna, Reader(name: "ANNA", colour: 3)]
        let file = [LibraryRecord.library(version: 2)] + twins.map(LibraryRecord.reader)
        let results = try await take(file, into: library).results
        #expect(results[1].outcome == .other(isNew: false))
        guard case .refused(let reason) = results[2].outcome else { throw ReaderRefusal.noSuchReader }
        #expect(reason.contains("another reader is called \"ANNA\""))
    }

    @Test func `of a file of version 1 belongs to one reader, private notes and all`() async throws {
        let other = try LibraryFile.inMemory(zone: .gmt)
        let book = try await other.save(dune, record("Dune"), preset: Preset(status: .reading))
        _ = try await other.update(book.id, at: noon) { $0.copy.rating = 3 }
        _ = try await other.add(Note(text: "Mine", created: noon, isPrivate: true), to: book.id, at: noon)
        let records = try await records(of: other)
        #expect(records.first == .library(version: 1))

        try await library.save(dune, record("Dune"), preset: Preset(status: .read))
        _ = try await library.addReader("Anna", naming: "Ben", at: noon)
        let before = try await library.dump()
        let anna = try library.reading(asNamed: "anna", holder: nil)
        let change = try #require(try await take(records, into: anna).change)
        #expect(try await copy(library, "Ben").status == .read)
        #expect(try await copy(library, "Anna").status == .reading)
        #expect(try await copy(library, "Anna").rating == 3)
        #expect(try await texts(library, "Anna") == ["Mine"])
        #expect(try await texts(library, "Ben") == [])
        #expect(try await take(records, into: anna).change == nil)
        _ = try await library.undo(change, at: noon)
        #expect(try await library.dump() == before)
    }

    @Test func `of another system gives each reader the opinions of the reader's own file`() async throws {
        _ = try await library.addReader("Anna", naming: "Ben", at: noon)
        let anna = try library.reading(asNamed: "Anna", holder: nil)
        // Goodreads numbers books, so both files have the same id.
        let his = imported("Dune", dune, request: "goodreads:1", asRead)
        let hers = imported("Dune", dune, request: "goodreads:1") { book in
            asRead(&book)
            book.record.copy.rating = 2
            book.record.copy.tags = ["hers"]
            book.record.notes = [Note(text: "Dull.", created: noon)]
        }
        _ = try await take(his, into: library)
        let id = try await copy(library, "Ben").id
        // A favourite of hers is already there, and what the file has is added.
        _ = try await anna.update(id, at: noon) { $0.copy.isFavourite = true }
        _ = try await take(hers, into: anna)
        let (ben, theirs) = (try await copy(library, "Ben"), try await copy(library, "Anna"))
        #expect(ben.rating == 4.5 && !ben.isFavourite && theirs.rating == 2 && theirs.isFavourite)
        #expect(theirs.status == .read && theirs.readings.count == 2 && ben.readings.count == 2)
        #expect(ben.tags == ["hers", "sand", "Zoë"])
        #expect(try await texts(library, "Ben") == ["Dull.", "Good."])
        let changes = try await library.changes(limit: 9)
        #expect(try await take(his, into: library).outcome == .unchanged(id))
        #expect(try await take(hers, into: anna).outcome == .unchanged(id))
        #expect(try await library.changes(limit: 9) == changes)
    }

    @Test func `of a book that only others have read gives a reader everything, and a dry run says so`() async throws {
        try await library.save(dune, record("Dune"), preset: Preset(shelf: "Hall", status: .read))
        _ = try await library.addReader("Anna", naming: "Ben", at: noon)
        let anna = try library.reading(asNamed: "Anna", holder: nil)
        let book = imported("Dune", dune) { book in
            asRead(&book)
            book.record.copy.isFavourite = true
        }
        let reported = try await take(book, into: try await anna.temporaryCopy())
        let result = try await take(book, into: anna)
        #expect(reported == result)
        guard case .merged(_, let filled) = result.outcome else { throw ReaderRefusal.noSuchReader }
        #expect(
            filled == ["identifiers", "pageCount", "tags", "rating", "favourite", "status", "readings", "notes"])
        #expect(try await copy(library, "Anna").isFavourite)
        #expect(try await copy(library, "Ben").rating == nil)
    }
}
