import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct SweepTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    /// Makes a change that is not important, a number of days after noon.
    private func change(day: Int) async throws {
        try await library.set("goal", to: "\(day)", at: noon.addingTimeInterval(Double(day) * 86_400))
    }

    private func capture(day: Int) async throws -> ID<QueueItem> {
        try await library.capture(
            [Detection(isbn: dune, raw: "", origin: .photo, thumbnail: [1])],
            at: noon.addingTimeInterval(Double(day) * 86_400))[0].id
    }

    private func trashed() async throws -> ID<Copy> {
        let book = try await library.save(dune, record("Dune"))
        _ = try await library.trash([book.id], at: noon)
        return book.id
    }

    @Test func `the trash is swept after thirty days, with all rows of the book`() async throws {
        let gone = try await library.save(dune, record("Dune") { $0.subjects = ["Sand"] }, preset: Preset(tags: ["t"]))
        let kept = try await library.save(odyssey, record("The Odyssey", by: ["Homer"]))
        _ = try await library.trash([gone.id, kept.id], at: noon)
        _ = try await library.restore([kept.id], at: noon)

        try await library.set("goal", to: "12", at: noon.addingTimeInterval(29 * 86_400))
        #expect(try await library.book(gone.id) != nil)
        try await library.set("goal", to: "13", at: noon.addingTimeInterval(31 * 86_400))
        #expect(try await library.book(gone.id) == nil)
        #expect(try await library.book(kept.id) != nil)
        let rest = try await library.dump().map { $0.prefix { $0 != " " } }
        #expect(rest.filter { $0 == "edition" || $0 == "author" }.count == 2)
        #expect(!rest.contains("subject") && !rest.contains("copyTag"))
        #expect(try await library.changes(limit: 9).count == 2)
    }

    @Test func `a clock that jumped far ahead does not empty the trash`() async throws {
        let book = try await trashed()
        // The trash stays even if a book was captured with the same clock just before.
        _ = try await capture(day: 3650)
        try await change(day: 3650)
        #expect(try await library.book(book) != nil)
        try await change(day: 1)
        #expect(try await library.book(book) != nil)
        #expect(try await library.changes(limit: 9).count == 4)
    }

    @Test(arguments: [(7, false), (8, true)])
    func `a library that was unused for more than a week waits a day before it sweeps the trash`(
        gap: Int, isKept: Bool
    ) async throws {
        let book = try await trashed()
        try await change(day: 28)
        try await change(day: 28 + gap)
        #expect((try await library.book(book) != nil) == isKept)
        try await change(day: 29 + gap)
        #expect(try await library.book(book) == nil)
    }

    @Test func `captures of earlier days show that the clock is right`() async throws {
        let book = try await trashed()
        _ = try await capture(day: 30)
        try await change(day: 31)
        #expect(try await library.book(book) == nil)
    }

    @Test func `answered items leave the queue after thirty days, unless undo would bring them back`() async throws {
        let (closed, waiting) = try await (capture(day: 0), capture(day: 0))
        let (early, late) = try await (capture(day: 0), capture(day: 0))
        try await library.close([closed])
        _ = try await library.skip([early], at: noon)
        let undone = try #require(try await library.skip([waiting], at: noon))
        _ = try await library.undo(undone, at: noon)
        let undoable = try #require(try await library.skip([late], at: noon.addingTimeInterval(29 * 86_400)))
        let new = try await capture(day: 29)
        try await library.close([new])

        try await change(day: 31)
        #expect(try await Set(library.items(in: [.skipped]).map(\.id)) == [late, new])
        #expect(try await library.items(in: [.waiting]).map(\.id) == [waiting])
        #expect(try await library.thumbnail(of: closed) == nil)
        #expect(try await library.thumbnail(of: late) == [1])
        let thumbnails = try await library.read { db in try db.value(Int.self, "SELECT count(*) FROM intakeThumbnail") }
        #expect(thumbnails == 3)

        _ = try await library.undo(undoable, at: noon.addingTimeInterval(31 * 86_400))
        #expect(try await library.item(late)?.state == .waiting)
    }

    @Test func `a confirmed item is deleted with its change, and its book stays`() async throws {
        let candidate = try await library.candidate(dune, record("Dune"))
        let request = try candidate.confirm(by: .person)
        _ = try await library.add([request], at: noon)
        try await change(day: 29)
        #expect(try await library.item(candidate.item.id) != nil)
        try await change(day: 31)
        #expect(try await library.item(candidate.item.id) == nil)
        // The request of the remaining book is still known.
        let copy = try #require(try await library.books(with: [dune])[dune]?.first?.id)
        #expect(try await library.add([request], at: noon) == [.alreadySaved(copy)])
    }
}
