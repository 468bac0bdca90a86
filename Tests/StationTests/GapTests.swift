import Bookplate
import FoundationEssentials
import Library
import Station
import Testing

private let dune = "9780441013593"
private let emma = "9780141439587"

/// The fields that further sources add to captured and saved books.
@Suite struct `Gaps of records` {
    private func answer(_ isbn: String, _ outcome: LookupOutcome) throws -> LookupAnswer {
        LookupAnswer(isbn: try ISBN(isbn), outcome: outcome)
    }

    @Test func `are filled in the queue, on the card, and in saved books`() async throws {
        let bench = try Workbench([dune: .found("Dune"), emma: .found("Emma")])
        let candidates = try await bench.candidates(for: bench.capture(dune, emma))
        let saved = try await bench.flow.save([candidates[0].confirm(by: .person)])
        bench.lookup.addGaps([
            try answer(dune, .found("DUNE", pages: 528)), try answer(emma, .found("Emma", pages: 474)),
        ])
        let shown = try await bench.delivered { try await bench.flow.fillGaps(deliver: $0) }
        #expect(shown.map(\.item.isbn.digits) == [emma] && shown.map(\.metadata.pageCount) == [474])
        let book = try #require(try await bench.library.book(saved[0].copy))
        #expect(book.displayTitle == "Dune" && book.edition.metadata.pageCount == 528)
        #expect(book.edition.metadata.sources[.pageCount] == .dnb)
    }

    @Test func `are filled in the change that saved the books, so that one undo takes back both`() async throws {
        let bench = try Workbench([dune: .found("Dune"), emma: .found("Emma")])
        let events = try await bench.settle(bench.capture(dune, emma))
        let save = try #require(try await bench.library.lastChange())
        bench.lookup.addGaps([
            try answer(dune, .found("Dune", pages: 528)), try answer(emma, .found("Emma", pages: 474)),
        ])
        #expect(try await bench.flow.fillGaps(deliver: { _ in }) == 2)
        let last = try #require(try await bench.library.lastChange())
        #expect(last.id == save.id && last.summary == save.summary)
        _ = try await bench.library.undo(save.id, at: Date())
        for event in events { #expect(try await bench.library.book(try #require(event.copy)) == nil) }
        _ = try await bench.library.redo(save.id, at: Date())
        for event in events {
            #expect(try await bench.library.book(try #require(event.copy))?.edition.metadata.pageCount != nil)
        }
    }

    @Test func `are a change of their own if a person has edited the book since`() async throws {
        let bench = try Workbench([dune: .found("Dune")])
        let copy = try #require(try await bench.settle(bench.capture(dune))[0].copy)
        _ = try await bench.library.update(copy, at: Date()) { $0.edition.metadata.title = "Dune I" }
        bench.lookup.addGaps([try answer(dune, .found("Dune", pages: 528))])
        #expect(try await bench.flow.fillGaps(deliver: { _ in }) == 1)
        let change = try #require(try await bench.library.lastChange())
        #expect(change.summary == "completed \"Dune I\"")
        _ = try await bench.library.undo(change.id, at: Date())
        let book = try await bench.library.book(copy)
        #expect(book?.displayTitle == "Dune I" && book?.edition.metadata.pageCount == nil)
    }

    @Test func `of a book whose save was undone stay open`() async throws {
        let bench = try Workbench([dune: .found("Dune")])
        _ = try await bench.settle(bench.capture(dune))
        _ = try await bench.library.undo(try #require(try await bench.library.lastChange()).id, at: Date())
        bench.lookup.addGaps([try answer(dune, .found("Dune", pages: 528))])
        #expect(try await bench.flow.fillGaps(deliver: { _ in }) == 0)
        #expect(try await bench.library.items(in: [.waiting]).first?.metadata?.pageCount == 528)
    }

    @Test func `are not filled over what a person has entered or cleared`() async throws {
        let bench = try Workbench([dune: .found("Dune", pages: 1), emma: .found("Emma")])
        let events = try await bench.settle(bench.capture(dune))
        let copy = try #require(events[0].copy)
        _ = try await bench.library.update(copy, at: Date()) { $0.edition.metadata.pageCount = nil }
        var waiting = try await bench.candidates(for: bench.capture(emma))[0]
        waiting.metadata.pageCount = 7
        waiting.metadata.sources[.pageCount] = .person
        _ = try await bench.flow.keepEdits(of: waiting, fields: [.pageCount])
        bench.lookup.addGaps([
            try answer(dune, .found("Dune", pages: 528)), try answer(emma, .found("Emma", pages: 474)),
        ])
        let shown = try await bench.delivered { try await bench.flow.fillGaps(deliver: $0) }
        #expect(shown.map(\.metadata.pageCount) == [7])
        #expect(try await bench.library.book(copy)?.edition.metadata.pageCount == nil)
    }

    @Test func `that cannot be stored are tried again`() async throws {
        struct Full: Error {}
        let bench = try Workbench([dune: .found("Dune")])
        _ = try await bench.candidates(for: bench.capture(dune))
        bench.lookup.addGaps([try answer(dune, .found("Dune", pages: 528))])
        await #expect(throws: Full.self) { try await bench.flow.fillGaps(deliver: { _ in throw Full() }) }
        let shown = try await bench.delivered { try await bench.flow.fillGaps(deliver: $0) }
        #expect(shown.map(\.metadata.pageCount) == [528])
    }
}
