import Bookplate
import FoundationEssentials
import GRDB
import Testing

@testable import Library

@Suite struct `A correction of the history` {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory(zone: .gmt) }

    /// Adds a book with progress entries for the pages 10, 20 and 300, an hour apart. The entry for page 20 belongs to
    /// a session.
    private func book() async throws -> (copy: ID<Copy>, entries: [ProgressEntry]) {
        let id = try await library.save(dune, record("Dune") { $0.pageCount = 382 }).id
        _ = try await library.recordProgress(.page(10), of: id, at: noon)
        _ = try await library.addSession(
            of: id, start: noon.addingTimeInterval(1800), end: noon.addingTimeInterval(3600), startPage: 10,
            endPage: 20,
            at: noon.addingTimeInterval(3600))
        _ = try await library.recordProgress(.page(300), of: id, at: noon.addingTimeInterval(7200))
        return (id, try await entries(id))
    }

    private func entries(_ id: ID<Copy>) async throws -> [ProgressEntry] {
        let reading = try #require(try await library.book(id)?.copy.reading)
        return try await library.progress(of: reading.id, limit: 100, offset: 0)
    }

    @Test func `changes pace, totals and the current page, and undo brings the mistake back`() async throws {
        let (id, before) = try await book()
        let dump = try await library.dump()
        let mistyped = before[0]
        let now = noon.addingTimeInterval(10_000)
        let done = try await library.editProgress(mistyped.id, of: id, ProgressEdit(amount: .page(30)), at: now)
        #expect(done.reading?.progress?.amount == .page(30) && done.change != nil)
        #expect(try await library.stats(of: id, at: now, in: .gmt)?.pages == 30)
        #expect(try await library.lastChange()?.summary == "\"Dune\": corrected the progress to page 30")
        _ = try await library.undo(try #require(done.change), at: now)
        #expect(try await library.dump() == dump)

        let moved = try await library.editProgress(
            mistyped.id, of: id, ProgressEdit(amount: .percent(2), at: noon.addingTimeInterval(60)), at: now)
        #expect(moved.reading?.progress?.amount == .page(20))
        #expect(try await entries(id).map(\.amount) == [.page(20), .percent(2), .page(10)])
        let same = try await library.editProgress(mistyped.id, of: id, ProgressEdit(amount: .percent(2)), at: now)
        #expect(same.change == nil)
    }

    @Test func `may delete an entry, and undo brings it back`() async throws {
        let (id, before) = try await book()
        let dump = try await library.dump()
        let done = try await library.deleteProgress(before[0].id, of: id, at: noon.addingTimeInterval(8000))
        #expect(done.reading?.progress?.amount == .page(20))
        #expect(try await entries(id).count == before.count - 1)
        _ = try await library.undo(try #require(done.change), at: noon.addingTimeInterval(8000))
        #expect(try await library.dump() == dump)
    }

    @Test func `is refused for an entry of another book, of a session, and of a book in the trash`() async throws {
        let (id, before) = try await book()
        let other = try await library.save(odyssey, record("The Odyssey")).id
        await #expect(throws: ReadingRefusal.noSuchEntry) {
            try await library.deleteProgress(before[0].id, of: other, at: noon)
        }
        await #expect(throws: ReadingRefusal.entryOfSession) {
            try await library.deleteProgress(before[1].id, of: id, at: noon)
        }
        _ = try await library.trash([id], at: noon)
        await #expect(throws: LibraryError.noSuchBook(id)) {
            try await library.editProgress(before[0].id, of: id, ProgressEdit(amount: .page(1)), at: noon)
        }
        #expect(before[1].session != nil)
    }
}

@Suite struct `A book in the trash of the library` {
    @Test func `refuses notes and corrections until it is restored`() async throws {
        let library = try LibraryFile.inMemory(zone: .gmt)
        let id = try await library.save(dune, record("Dune")).id
        let note = try await library.add(Note(text: "n", created: noon), to: id, at: noon).content
        let quote = try await library.add(Quote(text: "q", created: noon), to: id, at: noon).content
        let session = try await library.addSession(
            of: id, start: noon.addingTimeInterval(-600), end: noon, startPage: 0, endPage: 9, at: noon
        ).session
        _ = try await library.trash([id], at: noon)
        let dump = try await library.dump()
        let acts: [@Sendable () async throws -> Void] = [
            { _ = try await library.add(Note(text: "m", created: noon), to: id, at: noon) },
            { _ = try await library.editNote(note.id, at: noon) { $0.text = "m" } },
            { _ = try await library.deleteNotes([note.id], at: noon) },
            { _ = try await library.add(Quote(text: "r", created: noon), to: id, at: noon) },
            { _ = try await library.editQuote(quote.id, at: noon) { $0.text = "r" } },
            { _ = try await library.deleteQuotes([quote.id], at: noon) },
            { _ = try await library.editSession(session.id, SessionEdit(startPage: 1), at: noon) },
            { _ = try await library.deleteSession(session.id, at: noon) },
        ]
        for act in acts { await #expect(throws: InTrashRefusal(id)) { try await act() } }
        #expect(try await library.dump() == dump)
        _ = try await library.restore([id], at: noon)
        for act in acts.dropFirst() { try await act() }
    }
}

@Suite struct `A continued act on many books` {
    @Test func `is one change, with the number of books in its summary`() async throws {
        let library = try LibraryFile.inMemory(zone: .gmt)
        var ids: [ID<Copy>] = []
        for number in 1...5 { ids.append(try await library.save(nil, record("Book \(number)")).id) }
        let dump = try await library.dump()
        let first = try await library.update(Array(ids.prefix(2)), at: noon) { $0.shelf = "Attic" }.change
        for id in ids.dropFirst(2) {
            let next = try await library.update([id], continuing: first, at: noon) { $0.shelf = "Attic" }
            #expect(next.changed == 1 && next.change == first)
        }
        _ = try await library.update([ids[0]], continuing: first, at: noon) { $0.shelf = "Attic" }
        let change = try #require(try await library.lastChange())
        #expect(change.summary == "edited \"Book 1\" and 4 more" && change.id == first)
        _ = try await library.undo(change.id, at: noon)
        #expect(try await library.dump() == dump)

        let trashed = try #require(try await library.trash([ids[0]], at: noon))
        _ = try await library.trash([ids[1]], continuing: trashed, at: noon)
        #expect(try await library.lastChange()?.summary == "moved to the trash: \"Book 1\" and 1 more")
        _ = try await library.undo(trashed, at: noon)
        #expect(try await library.dump() == dump)
    }
}
