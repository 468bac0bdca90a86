import Bookplate
import Foundation
import Library
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
