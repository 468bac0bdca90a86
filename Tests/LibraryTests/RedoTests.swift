import Bookplate
import FoundationEssentials
import Testing

@testable import Library

/// Tests of a redo after something else has happened since the undo.
@Suite struct RedoTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory(zone: .gmt) }

    private func undone(_ id: ID<Change>? = nil) async throws -> Change {
        let last = try await library.lastChange()?.id
        return try await library.undo(try #require(id ?? last), at: noon)
    }

    /// Expects the redo to be refused, without effect, with the given change named.
    private func expectRefusal(of change: Change, naming other: Change?) async throws {
        let before = try await library.dump()
        await #expect(throws: RedoRefusal.changedSince(change, by: other)) {
            try await library.redo(change.id, at: noon)
        }
        #expect(try await library.dump() == before)
    }

    @Test func `the change undone last is redone first, whatever the clock says`() async throws {
        for number in 1...3 { try await library.save(isbn(number), record("Book \(number)")) }
        let state = try await library.dump()
        for offset in [0.0, -9000, 9000] {
            let last = try #require(try await library.lastChange())
            _ = try await library.undo(last.id, at: noon.addingTimeInterval(offset))
        }
        #expect(try await library.redoableChanges(limit: 9).map(\.summary) == (1...3).map { "saved \"Book \($0)\"" })
        while let next = try await library.redoableChanges(limit: 1).first {
            _ = try await library.redo(next.id, at: noon)
        }
        #expect(try await library.dump() == state)
    }

    @Test func `a change to other rows since the undo does not matter`() async throws {
        try await library.save(dune, record("Dune"))
        let save = try await undone()
        try await library.save(odyssey, record("The Odyssey", by: ["Homer"]))
        _ = try await library.redo(save.id, at: noon)
        #expect(try await library.find("").sorted() == ["Dune", "The Odyssey"])
        #expect(try await library.find("herbert") == ["Dune"])
    }

    @Test func `is refused if the same row was changed since, and names that change`() async throws {
        let book = try await library.save(dune, record("Dune"))
        _ = try await library.update(book.id, at: noon) { $0.copy.rating = 4 }
        let rated = try await undone()
        // The rows are as the undo left them, but two changes have touched them since.
        _ = try await library.update(book.id, at: noon) { $0.copy.rating = 1 }
        _ = try await library.update(book.id, at: noon) { $0.copy.rating = nil }
        try await expectRefusal(of: rated, naming: try await library.lastChange())
        _ = try await undone()
        try await expectRefusal(of: rated, naming: try await library.lastChange())
        _ = try await undone()
        _ = try await library.redo(rated.id, at: noon)
        #expect(try await library.book(book.id)?.copy.rating == 4)
    }

    @Test func `names the change that has to be redone first`() async throws {
        let book = try await library.save(dune, record("Dune"))
        _ = try await library.update(book.id, at: noon) { $0.copy.rating = 4 }
        _ = try await library.update(book.id, at: noon) { $0.copy.rating = 5 }
        let later = try await undone()
        let earlier = try await undone()
        try await expectRefusal(of: later, naming: earlier)
        _ = try await library.redo(earlier.id, at: noon)
        _ = try await library.redo(later.id, at: noon)
        #expect(try await library.book(book.id)?.copy.rating == 5)
    }

    @Test func `is refused if another row has its name, ISBN or running session now`() async throws {
        let other = try await library.save(odyssey, record("The Odyssey", by: ["Homer"]))
        try await library.save(dune, record("Dune", by: ["Frank Herbert"]))
        let save = try await undone()
        try await library.save(dune, record("Dune", by: ["Frank Herbert"]))
        try await expectRefusal(of: save, naming: try await library.lastChange())
        let copy = try #require(try await library.books(with: [dune])[dune]?.first).id
        _ = try await library.startSession(of: copy, page: 1, from: nil, at: noon)
        let started = try await undone()
        _ = try await library.startSession(of: other.id, page: 1, from: nil, at: noon)
        try await expectRefusal(of: started, naming: try await library.lastChange())
    }

    @Test func `names that the undo kept for other books are not added twice`() async throws {
        let preset = Preset(shelf: "Attic", tags: ["sf"])
        try await library.save(dune, record("Dune") { $0.subjects = ["Sand"] }, preset: preset)
        let first = try #require(try await library.lastChange())
        try await library.save(isbn(2), record("Dune Messiah") { $0.subjects = ["Sand"] }, preset: preset)
        let state = try await library.dump()
        _ = try await undone(first.id)
        _ = try await library.redo(first.id, at: noon)
        #expect(try await library.dump() == state)
        // The kept names still belong to the first change, so they go with the last book.
        for _ in 0..<2 { _ = try await undone() }
        #expect(try await library.dump().isEmpty)
    }

    @Test func `what the undo removed because nothing used it any more comes back`() async throws {
        try await library.save(dune, record("Dune"))
        let first = try #require(try await library.lastChange())
        _ = try await library.add([confirmed(dune, record("Dune"), anotherCopy: true)], at: noon)
        let second = try #require(try await library.lastChange())
        let state = try await library.dump()
        // The edition and its author stay with the second copy, and go with it.
        _ = try await undone(first.id)
        _ = try await undone(second.id)
        #expect(try await library.dump().isEmpty)
        try await expectRefusal(
            of: try #require(try await library.changes(limit: 2).last), naming: try await library.changes(limit: 1)[0])
        _ = try await library.redo(second.id, at: noon)
        _ = try await library.redo(first.id, at: noon)
        #expect(try await library.dump() == state)
    }

    @Test func `is refused after a book of the change was deleted for good`() async throws {
        let books = [try await library.save(isbn(1), record("One")), try await library.save(isbn(2), record("Two"))]
        _ = try await library.update(books.map(\.id), at: noon) { $0.rating = 3 }
        let rated = try await undone()
        _ = try await library.trash([books[0].id], at: noon)
        try await library.purge([books[0].id])
        await #expect(throws: RedoRefusal.self) { try await library.redo(rated.id, at: noon) }
        #expect(try await library.redoableChanges(limit: 9).isEmpty)
        #expect(try await library.book(books[1].id)?.copy.rating == nil)
    }

    @Test func `a change that was undone by an earlier version cannot be redone`() async throws {
        try await library.save(dune, record("Dune"))
        let save = try await undone()
        try await library.write { db in try db.run("DELETE FROM change WHERE undoes IS NOT NULL") }
        let change = try await library.changes(limit: 1)[0]
        #expect(change.undone != nil && !change.canBeRedone)
        await #expect(throws: RedoRefusal.notKept(change)) { try await library.redo(save.id, at: noon) }
        await #expect(throws: RedoRefusal.noSuchChange) { try await library.redo(ID(), at: noon) }
    }

    @Test func `a redone save confirms its item of the queue again`() async throws {
        let candidate = try await library.candidate(dune, record("Dune"))
        _ = try await library.add([candidate.confirm(by: .person)], at: noon)
        let save = try await undone()
        #expect(try await library.item(candidate.item.id)?.state == .waiting)
        _ = try await library.redo(save.id, at: noon)
        #expect(try await library.item(candidate.item.id)?.state == .confirmed)
        _ = try await undone()
        // Skipped in the meantime, so saving it again would contradict the person.
        _ = try await library.skip([candidate.item.id], at: noon)
        try await expectRefusal(of: try await library.changes(limit: 2)[1], naming: try await library.lastChange())
    }
}
