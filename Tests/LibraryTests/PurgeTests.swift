import Bookplate
import FoundationEssentials
import GRDB
import Testing

@testable import Library

@Suite struct `Purging` {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func kinds() async throws -> [Change.Kind] {
        try await library.changes(limit: 99).filter { $0.undone == nil }.map(\.kind)
    }

    @Test func `removes a book from the trash with all its rows, and from the log`() async throws {
        let book = try await library.save(
            dune, record("Secret Dune") { $0.subjects = ["Sand"] }, preset: Preset(tags: ["t"], status: .reading))
        try await library.save(odyssey, record("The Odyssey", by: ["Homer"]))
        _ = try await library.update(book.id, at: noon) { $0.copy.tags = ["u"] }
        _ = try await library.trash([book.id], at: noon)
        try await library.purge([book.id])

        #expect(try await library.book(book.id) == nil)
        let rest = try await library.dump().filter {
            $0.contains("Dune") || $0.contains(dune.digits) || $0.contains("Sand")
        }
        #expect(rest.isEmpty)
        let images = try await library.read { db in
            try db.value(
                Int.self,
                """
                SELECT count(*) FROM changeRow WHERE coalesce(before, '') || coalesce(after, '') LIKE '%Secret%'
                    OR tableName IN ('reading', 'copyTag')
                """)
        }
        #expect(images == 0)
        // The remaining changes can be undone in order, as if the purged book had never existed.
        #expect(try await kinds() == [.save])
        while let change = try await library.lastChange() { _ = try await library.undo(change.id, at: noon) }
        #expect(try await library.find("").isEmpty)
        let foreign = try await library.read { db in try db.rows("PRAGMA foreign_key_check").count }
        #expect(foreign == 0)
    }

    @Test func `leaves no title in the change history`() async throws {
        let long = "Secret Diary" + String(repeating: " of a Secret", count: 8)
        _ = try await library.add([confirmed(isbn(1), record(long)), confirmed(isbn(2), record("Plain"))], at: noon)
        #expect(try await library.lastChange()?.summary.hasPrefix("saved \"Secret Diary") == true)
        #expect(try await library.lastChange()?.summary.hasSuffix("…\" and 1 more") == true)
        let book = try #require(try await library.books(with: [isbn(1)])[isbn(1)]?.first)
        _ = try await library.update(book.id, at: noon) { $0.edition.metadata.authors = [Contributor(name: "New")] }
        _ = try await library.update(book.id, at: noon) { $0.edition.metadata.title = "Secret Letters" }
        _ = try await library.update(book.id, at: noon) { $0.copy.tags = ["hidden"] }
        _ = try await library.recordProgress(.page(3), of: book.id, at: noon)
        _ = try await library.trash([book.id], at: noon)
        try await library.purge([book.id])
        #expect(try await library.changes(limit: 99).map(\.summary) == ["saved a book deleted for good and 1 more"])
        while let change = try await library.lastChange() { _ = try await library.undo(change.id, at: noon) }
        #expect(try await library.find("").isEmpty)
    }

    @Test func `leaves no text in the file`() async throws {
        let folder = Folder()
        let path = folder("library.sqlite")
        let file = try LibraryFile.open(at: path)
        let book = try await file.save(dune, record("Dune"))
        let note = try await file.add(Note(text: "Buried under the pear tree.", created: noon), to: book.id, at: noon)
        _ = try await file.editNote(note.content.id, at: noon) { $0.text = "Buried under the old pear tree." }
        _ = try await file.trash([book.id], at: noon)
        let sentence = Array("Buried under".utf8)
        try await file.purge([book.id])
        try await file.close()
        #expect(try !bytes(of: path).contains(sentence))
    }

    @Test func `leaves the other books of a batch for undo`() async throws {
        _ = try await library.add((0..<5).map { try confirmed(isbn($0), record("Book \($0)", by: ["A"])) }, at: noon)
        let book = try #require(try await library.books(with: [isbn(2)])[isbn(2)]?.first)
        _ = try await library.trash([book.id], at: noon)
        try await library.purge([book.id])
        #expect(try await library.find("") == ["Book 0", "Book 1", "Book 3", "Book 4"])
        #expect(try await kinds() == [.save])
        _ = try await library.undo(try #require(try await library.lastChange()).id, at: noon)
        #expect(try await library.find("").isEmpty)
    }

    @Test func `is refused outside the trash, and removes nothing`() async throws {
        let kept = try await library.save(dune, record("Dune"))
        let trashed = try await library.save(odyssey, record("The Odyssey"))
        _ = try await library.trash([trashed.id], at: noon)
        let before = try await library.dump()
        await #expect(throws: LibraryError.notInTrash(kept.id)) {
            try await library.purge([trashed.id, kept.id])
        }
        let none = ID<Copy>()
        await #expect(throws: LibraryError.noSuchBook(none)) { try await library.purge([trashed.id, none]) }
        #expect(try await library.dump() == before)
        #expect(try await kinds() == [.trash, .save, .save])
    }

    @Test func `leaves the edition to another copy`() async throws {
        let first = try await library.save(dune, record("Dune"))
        _ = try await library.add([confirmed(dune, record("Dune"), anotherCopy: true)], at: noon)
        _ = try await library.trash([first.id], at: noon)
        try await library.purge([first.id])
        #expect(try await library.find("frank") == ["Dune"])
        _ = try await library.undo(try #require(try await library.lastChange()).id, at: noon)
        #expect(try await library.find("").isEmpty)
    }
}
