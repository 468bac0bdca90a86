import Bookplate
import FoundationEssentials
import GRDB
import Synchronization
import Testing

@testable import Library

/// Returns the time that is a number of days after noon.
private func day(_ number: Int) -> Date { noon.addingTimeInterval(Double(number) * 86_400) }

@Suite struct `The trash and undo` {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func imported(_ title: String, _ isbn: ISBN, _ more: (inout ImportedBook) -> Void = { _ in })
        -> ImportedBook
    {
        var book = ImportedBook(
            row: 2, source: "goodreads", request: "goodreads:\(title)", metadata: record(title),
            record: CopyRecord(copy: Copy(added: noon)))
        book.isbn = isbn
        book.isbnText = isbn.digits
        more(&book)
        return book
    }

    private func take(_ books: [ImportedBook], at now: Date) async throws {
        _ = try await LibraryImport(into: library, from: "a.csv").importRows(books.map { .book($0) }, at: now)
    }

    /// Makes changes that are not important, on the given days.
    private func changes(on days: Int...) async throws {
        for number in days { try await library.set("goal", to: "\(number)", at: day(number)) }
    }

    private func titles(inTrash: Bool) async throws -> [String] { try await library.find("") { $0.inTrash = inTrash } }

    @Test func `keep a book that was imported into the trash for thirty days, and the whole import can be undone`()
        async throws
    {
        try await changes(on: 0)
        let deleted = imported("Dune", dune) { $0.record.copy.deleted = day(-100) }
        try await take([deleted, imported("The Odyssey", odyssey)], at: day(1))
        let change = try #require(try await library.lastChange())
        try await changes(on: 2, 8, 14, 20, 26, 30)
        #expect(try await titles(inTrash: true) == ["Dune"])
        _ = try await library.undo(change.id, at: day(30))
        #expect(try await titles(inTrash: true).isEmpty)
        #expect(try await titles(inTrash: false).isEmpty)
    }

    @Test func `delete such a book after thirty days`() async throws {
        try await take([imported("Dune", dune) { $0.record.copy.deleted = day(-100) }], at: day(0))
        try await changes(on: 6, 12, 18, 24, 29)
        #expect(try await titles(inTrash: true) == ["Dune"])
        try await changes(on: 31)
        #expect(try await titles(inTrash: true).isEmpty)
    }

    @Test func `allow undo of an import that filled a book which was deleted since`() async throws {
        try await take([imported("Dune", dune)], at: day(0))
        let book = try #require(try await library.books(with: [dune])[dune]?.first)
        _ = try await library.trash([book.id], at: day(0))
        try await changes(on: 6, 12, 18, 24)
        let richer = imported("Dune", dune) { $0.metadata.pageCount = 604 }
        try await take([richer, imported("The Odyssey", odyssey)], at: day(25))
        let change = try #require(try await library.lastChange())
        #expect(try await library.book(book.id)?.edition.metadata.pageCount == 604)
        try await changes(on: 31)
        #expect(try await library.book(book.id) == nil)
        _ = try await library.undo(change.id, at: day(31))
        #expect(try await titles(inTrash: false).isEmpty)
        let foreign = try await library.read { db in try db.rows("PRAGMA foreign_key_check").count }
        #expect(foreign == 0)
    }

    @Test func `read the log once, however many books are deleted`() async throws {
        let books = try (0..<20).map { try confirmed(isbn($0), record("Book \($0)"), preset: Preset(tags: ["t"])) }
        let ids = try await library.add(books, at: noon).compactMap { result -> ID<Copy>? in
            if case .saved(let id, _) = result { id } else { nil }
        }
        _ = try await library.trash(ids, at: noon)
        let passes = Mutex(0)
        try await library.database.writeWithoutTransaction { db in
            db.trace { event in
                if "\(event)".contains("json_extract(coalesce(after, before), '$.copy')") {
                    passes.withLock { $0 += 1 }
                }
            }
        }
        try await library.purge(ids)
        // One scan is for rows that belong to readings, and the other is for all other rows.
        #expect(passes.withLock { $0 } == 2)
        let left = try await library.read { db in try db.value(Int.self, "SELECT count(*) FROM changeRow") }
        // A change with only a new tag has nothing to undo, so it is deleted too.
        #expect(left == 0)
    }
}
