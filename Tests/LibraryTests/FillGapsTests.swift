import Bookplate
import Foundation
import Library
import Synchronization
import Testing

@Suite struct `Gaps in the records of saved books` {
    private let library: LibraryFile
    private let isbn: ISBN

    init() async throws {
        library = try LibraryFile.inMemory()
        isbn = try ISBN("9780441013593")
    }

    private func book(_ change: (inout Metadata) -> Void = { _ in }) async throws -> Book {
        var metadata = Metadata()
        metadata.title = "Dune"
        change(&metadata)
        let confirmed = try Confirmed(enteredBy: .form, isbn: isbn, metadata: metadata)
        _ = try await library.add([confirmed], at: noon)
        return try #require(try await library.books(with: [isbn])[isbn]?.first)
    }

    private var record: Metadata {
        var record = Metadata()
        (record.title, record.publisher, record.pageCount) = ("Dune: a novel", "Ace", 528)
        record.authors = [Contributor(name: "Frank Herbert")]
        record.attribute(to: .openLibrary)
        return record
    }

    @Test func `are filled, what is there stays, and one undo takes everything back`() async throws {
        let before = try await book()
        let (filled, change) = try await library.fillGaps(from: [isbn: record], continuing: nil, at: noon)
        #expect(filled == [isbn: [.authors, .publisher, .pageCount]])
        let after = try #require(try await library.book(before.id)?.edition.metadata)
        #expect(after.title == "Dune" && after.publisher == "Ace" && after.pageCount == 528)
        #expect(after.authorNames == ["Frank Herbert"] && after.sources[.publisher] == .openLibrary)
        #expect(try await library.lastChange()?.summary == #"completed "Dune""#)
        _ = try await library.undo(try #require(change), at: noon)
        #expect(try await library.book(before.id) == before)
    }

    @Test func `stay as they are where a person has cleared a field`() async throws {
        let before = try await book { $0.publisher = "Wrong" }
        _ = try await library.update(before.id, at: noon) { $0.edition.metadata.publisher = nil }
        let (filled, _) = try await library.fillGaps(from: [isbn: record], continuing: nil, at: noon)
        #expect(filled[isbn]?.contains(.publisher) == false)
        #expect(try await library.book(before.id)?.edition.metadata.publisher == nil)
    }

    @Test func `are not filled from a record that may be another book's`() async throws {
        let before = try await book()
        var weak = record
        weak.isWeakMatch = true
        let (filled, change) = try await library.fillGaps(from: [isbn: weak], continuing: nil, at: noon)
        #expect(filled.isEmpty && change == nil)
        #expect(try await library.book(before.id) == before)
    }

    @Test func `are filled once, and books that are gone are left out`() async throws {
        let before = try await book()
        let other = try ISBN("9780141439587")
        _ = try await library.fillGaps(from: [isbn: record, other: record], continuing: nil, at: noon)
        let again = try await library.fillGaps(from: [isbn: record], continuing: nil, at: noon)
        #expect(again.filled.isEmpty && again.change == nil)
        #expect(try await library.book(before.id)?.edition.metadata.pageCount == 528)
    }
}

private let emma = try! ISBN("9780141439587")

/// The answers whose sources are still pending.
@Suite struct `Answers with gaps` {
    let folder = Folder()
    let library: LibraryFile

    init() throws { library = try LibraryFile.open(at: folder("library.sqlite")) }

    private func answer(_ isbn: ISBN, due: Date?) -> LookupAnswer {
        LookupAnswer(
            isbn: isbn, outcome: .found(record("Dune"), from: .openLibrary),
            pending: due.map { PendingSources([.googleBooks], due: $0) })
    }

    private func due(at now: Date) async throws -> [ISBN] {
        try await library.answersWithGaps(limit: 10, at: now).map(\.isbn)
    }

    @Test func `are kept until no source is pending, and are due from their time on`() async throws {
        try await library.keep([answer(dune, due: noon), answer(emma, due: noon.addingTimeInterval(60))], at: noon)
        #expect(try await due(at: noon) == [dune])
        #expect(try await library.gapCount(at: noon) == 1)
        #expect(try await due(at: noon.addingTimeInterval(60)) == [dune, emma])
        #expect(try await library.answersWithGaps(limit: 1, at: noon)[0].pending?.sources == [.googleBooks])
        // The clock was set back by a year.
        #expect(try await due(at: noon.addingTimeInterval(-365 * 86_400)) == [dune, emma])
        try await library.keep([answer(dune, due: nil)], at: noon)
        #expect(try await due(at: noon).isEmpty)
    }

    @Test func `are filled by one process at a time, and by another once that has ended`() async throws {
        let other = try LibraryFile.open(at: folder("library.sqlite"))
        let turns = Mutex<[String]>([])
        try await library.fillGapsAlone {
            turns.withLock { $0.append("first") }
            try await other.fillGapsAlone { turns.withLock { $0.append("second") } }
        }
        try await other.fillGapsAlone { turns.withLock { $0.append("third") } }
        #expect(turns.withLock { $0 } == ["first", "third"])
        try await other.close()
    }

    @Test func `go into a captured book that is saved as it was seen before`() async throws {
        let items = try await library.enqueue(
            [Detection(isbn: dune, raw: dune.digits, origin: .typed)], preset: Preset(), lease: .zero, at: noon)
        var title = Metadata()
        title.title = "Dune"
        title.attribute(to: .openLibrary)
        let found = LookupAnswer(isbn: dune, outcome: .found(title, from: .openLibrary))
        let seen = Candidate(item: try await library.record([items[0].id: found], at: noon)[0])
        var more = title
        more.publisher = "Ace"
        more.sources[.publisher] = .googleBooks
        try await library.keep([LookupAnswer(isbn: dune, outcome: .found(more, from: .openLibrary))], at: noon)
        let saved = try await library.add([seen.confirm(by: .person)], at: noon)
        let book = try #require(try await library.book(saved[0].copy))
        #expect(book.edition.metadata.publisher == "Ace")
        // A book that a person enters gets nothing that they have not seen.
        var entered = Metadata()
        entered.title = "Another"
        entered.sources[.title] = .person
        try await library.keep([LookupAnswer(isbn: emma, outcome: .found(more, from: .openLibrary))], at: noon)
        let own = try await library.add([Confirmed(enteredBy: .form, isbn: emma, metadata: entered)], at: noon)
        #expect(try await library.book(own[0].copy)?.edition.metadata.publisher == nil)
    }
}
