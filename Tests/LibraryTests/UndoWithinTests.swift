import Bookplate
import FoundationEssentials
import GRDB
import TestTools
import Testing

@testable import Library

/// Tests of a change that changes the same rows several times.
@Suite struct UndoWithinTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func row(
        _ number: Int, _ title: String, _ isbn: ISBN? = nil, by author: String = "Someone",
        _ more: (inout ImportedBook) -> Void = { _ in }
    ) -> ImportRow {
        var metadata = Metadata()
        metadata.title = title
        metadata.authors = [Contributor(name: author)]
        // Two ids from the same tracker are two editions, so only rows with an ISBN get such an id.
        metadata.identifiers = [isbn == nil ? "shelfmark" : "goodreads": [String(number)]]
        var book = ImportedBook(
            row: number, source: "goodreads", request: "goodreads:\(number)", metadata: metadata,
            record: CopyRecord(copy: Copy(added: noon)))
        book.isbn = isbn
        more(&book)
        return .book(book)
    }

    @Test(arguments: [nil, dune], [false, true])
    func `an import whose file has a book twice can be undone`(number: ISBN?, inParts: Bool) async throws {
        try await library.save(isbn(0), record("First"))
        let before = try await library.dump()
        let rows = [row(11, "Dup", number), row(12, "Dup", number), row(13, "Dup", number)]
        let run = LibraryImport(into: library, from: "a.csv")
        var results: [ImportResult] = []
        for part in inParts ? rows.map({ [$0] }) : [rows] { results += try await run.importRows(part, at: noon) }
        guard case .new = results[0].outcome, case .merged = results[1].outcome else {
            throw LibraryError.noSuchBook(ID(rawValue: "\(results)"))
        }
        let change = try #require(try await library.lastChange())
        _ = try await library.undo(change.id, at: noon)
        #expect(try await library.dump() == before)
    }

    @Test func `an edition that was filled and has a copy from elsewhere stays as it is`() async throws {
        let run = LibraryImport(into: library, from: "a.csv")
        _ = try await run.importRows([row(11, "Dup", dune), row(12, "Dup", dune, by: "Someone")], at: noon)
        let change = try #require(try await library.lastChange())
        let other = try await library.add([confirmed(dune, record("Dup"), anotherCopy: true)], at: noon)
        guard case .saved(let id, _) = other[0] else { throw LibraryError.noSuchBook(ID(rawValue: "\(other)")) }
        let before = try #require(try await library.book(id))
        _ = try await library.undo(change.id, at: noon)
        #expect(try await library.book(id) == before)
        #expect(try await library.books(with: [dune])[dune]?.count == 1)
    }

    @Test(arguments: 1...8)
    func `repeated edits of the same rows in one change are undone to the last row`(seed: UInt64) async throws {
        var random = SplitMix(seed: seed)
        for number in 0..<4 {
            try await library.save(
                isbn(number), record("Old \(number)", by: ["A\(number % 2)"]) { $0.subjects = ["s\(number % 3)"] },
                preset: Preset(shelf: "One", tags: ["t\(number)"]))
        }
        let before = try await library.dump()
        var change: ID<Change>?
        // The change consists of several transactions, as in an import.
        for _ in 0..<4 {
            let plan = random
            change = try await library.change(.edit, continuing: change, at: noon) { db, id in
                var random = plan
                for _ in 0..<25 { try Self.act(db, &random) }
                return (id, "many acts")
            }
            for _ in 0..<1000 { _ = random.next() }
        }
        let after = try await library.dump()
        #expect(after != before)
        let id = try #require(change)
        _ = try await library.undo(id, at: noon)
        #expect(try await library.dump() == before)
        _ = try await library.redo(id, at: noon)
        #expect(try await library.dump() == after)
        _ = try await library.undo(id, at: noon)
        #expect(try await library.dump() == before)
    }

    private static func act(_ db: Database, _ random: inout SplitMix) throws {
        func word(_ letter: String, _ random: inout SplitMix) -> String { letter + String(random.below(5)) }
        let books = try StoredBook.fetch(db, "ORDER BY copy.id")
        guard let entry = books.randomElement(using: &random) else { return }
        switch random.below(8) {
        case 0, 1:
            var saving = try RowImporter(db: db, now: noon, claimed: [])
            var metadata = Metadata()
            metadata.title = word("Title ", &random)
            metadata.authors = [Contributor(name: word("A", &random))]
            metadata.subjects = [word("s", &random)]
            let number = random.below(1000)
            metadata.identifiers = ["goodreads": [String(number)]]
            var book = ImportedBook(
                row: 2, source: "goodreads", request: "goodreads:\(number)", metadata: metadata,
                record: CopyRecord(copy: Copy(added: noon)))
            book.isbn = random.below(2) == 0 ? isbn(random.below(8)) : nil
            book.record.copy.tags = [word("t", &random)]
            book.record.notes = [Note(text: word("note ", &random), created: noon)]
            _ = try saving.importRow(.book(book))
        case 2, 3, 4:
            var new = entry.book.edition
            new.metadata.title = word("Title ", &random)
            new.metadata.authors = (0...random.below(3)).map { _ in Contributor(name: word("A", &random)) }
            new.metadata.subjects = (0..<random.below(3)).map { _ in word("s", &random) }
            new.metadata.identifiers = ["goodreads": (0..<random.below(4)).map { _ in word("", &random) }]
            new.isbn = random.below(3) == 0 ? nil : new.isbn
            try StoredEdition(row: entry.editionRow, edition: entry.book.edition).update(to: new, db)
        case 5:
            try addTags(db, [word("t", &random)], to: entry.copyRow)
            try db.run("UPDATE copy SET shelf = ? WHERE id = ?", [try shelfRow(db, word("S", &random)), entry.copyRow])
        case 6:
            try db.run("DELETE FROM copyTag WHERE copy = ?", [entry.copyRow])
            try db.run("DELETE FROM note WHERE copy = ?", [entry.copyRow])
        default:
            try OwnCopy.store([("rating", 1 + random.below(20))], of: entry.copyRow, db)
            try db.run(
                "UPDATE copy SET deleted = ? WHERE id = ?", [random.below(2) == 0 ? 1 : nil, entry.copyRow])
        }
    }
}
