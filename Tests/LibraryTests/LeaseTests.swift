import Bookplate
import FoundationEssentials
import Testing

@testable import Library

/// Tests of two processes that share one queue. Each test has the file open twice.
@Suite struct LeaseTests {
    let folder = Folder()
    let one: LibraryFile
    let two: LibraryFile

    init() throws {
        one = try LibraryFile.open(at: folder("library.sqlite"))
        two = try LibraryFile.open(at: folder("library.sqlite"))
    }

    private func enqueue(lease: Duration = .zero) async throws -> ID<QueueItem> {
        try await one.enqueue(
            [Detection(isbn: dune, raw: "", origin: .camera)], preset: Preset(), lease: lease, at: noon)[0].id
    }

    private func lease(_ id: ID<QueueItem>, by library: LibraryFile, after seconds: TimeInterval = 0) async throws
        -> Bool
    {
        try await !library.lease([id], limit: 1, for: .seconds(60), at: noon.addingTimeInterval(seconds)).isEmpty
    }

    private func found(_ title: String, _ more: (inout Metadata) -> Void = { _ in }) -> LookupAnswer {
        LookupAnswer(isbn: dune, outcome: .found(record(title, more), from: .openLibrary))
    }

    @Test func `an item captured with a lease is not looked up by another process`() async throws {
        let id = try await enqueue(lease: .seconds(60))
        #expect(try await two.lease(nil, limit: 9, for: .seconds(60), at: noon).isEmpty)
        #expect(try await lease(id, by: two) == false)
        #expect(try await one.lease(nil, limit: 9, for: .seconds(60), at: noon).isEmpty)
        #expect(try await lease(id, by: two, after: 60))
    }

    @Test func `an item captured without a lease can be leased by any process`() async throws {
        let id = try await enqueue()
        #expect(try await lease(id, by: two))
        #expect(try await lease(id, by: one) == false)
    }

    @Test func `a process that leases its own item again renews the lease`() async throws {
        let id = try await enqueue(lease: .seconds(60))
        #expect(try await lease(id, by: one, after: 50))
        #expect(try await lease(id, by: two, after: 109) == false)
        #expect(try await lease(id, by: two, after: 110))
        #expect(try await lease(id, by: one, after: 111) == false)
    }

    @Test func `an answer is ignored after another process has leased the item`() async throws {
        let id = try await enqueue(lease: .seconds(60))
        #expect(try await lease(id, by: two, after: 61))
        let late = try await one.record([id: found("Late")], at: noon.addingTimeInterval(62))
        #expect(late.map(\.id) == [id] && late[0].outcome == nil && late[0].metadata == nil)
        #expect(try await lease(id, by: one, after: 63) == false)
        let timely = try await two.record([id: found("Timely")], at: noon.addingTimeInterval(64))
        #expect(timely[0].metadata?.title == "Timely")
    }

    @Test func `an answer counts if the other's lease has ended, or ends impossibly far ahead`() async throws {
        let id = try await enqueue(lease: .seconds(60))
        #expect(try await lease(id, by: two, after: 61))
        let ended = try await one.record([id: found("Ended")], at: noon.addingTimeInterval(121))
        #expect(ended[0].metadata?.title == "Ended")
        #expect(try await lease(id, by: two, after: 121))
        let setBack = try await one.record([id: found("Set back")], at: noon.addingTimeInterval(-86_400))
        #expect(setBack[0].metadata?.title == "Set back")
    }

    @Test(
        arguments: [
            .notFound(asked: [.openLibrary]), .temporary(SourceError(source: nil, reason: "offline")),
            .blocked(SourceError(source: .googleBooks, reason: "403")),
            .badData(SourceError(source: .googleBooks, reason: "no JSON")),
        ] as [LookupOutcome])
    func `a found record stays if a later lookup fails`(outcome: LookupOutcome) async throws {
        let id = try await enqueue()
        let before = try await one.record([id: found("Dune")], at: noon)
        #expect(try await lease(id, by: one))
        #expect(try await one.record([id: LookupAnswer(isbn: dune, outcome: outcome)], at: noon) == before)
        #expect(before[0].outcome == .found && before[0].source == .openLibrary && before[0].reason == nil)
        // The lease has ended, and no further lookup is needed.
        #expect(try await two.lease(nil, limit: 1, for: .seconds(1), at: noon.addingTimeInterval(1e8)).isEmpty)
        #expect(try await lease(id, by: two))
    }

    @Test func `a title typed while the authors arrive keeps the authors`() async throws {
        let id = try await enqueue()
        // When the person began the edit, the item was still empty.
        _ = try await two.record([id: found("Dune")], at: noon)
        try await one.edit(id) { metadata, preset in
            metadata.title = "Mine"
            preset.shelf = "Hall"
        }
        try await two.edit(id) { metadata, preset in
            metadata.pageCount = 9
            preset.tags = ["t"]
        }
        let item = try #require(try await one.item(id))
        #expect(item.metadata?.title == "Mine" && item.metadata?.authorNames == ["Frank Herbert"])
        #expect(item.metadata?.sources == [.title: .person, .authors: .openLibrary, .pageCount: .person])
        #expect(item.preset == Preset(shelf: "Hall", tags: ["t"]))
    }

    @Test func `edits by two processes at the same moment are all kept`() async throws {
        let id = try await enqueue()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                let library = number.isMultiple(of: 2) ? one : two
                group.addTask { try await library.edit(id) { _, preset in preset.tags.append("\(number)") } }
            }
            try await group.waitForAll()
        }
        #expect(try await one.item(id)?.preset.tags.count == 40)
    }

    @Test func `an edit that throws or changes nothing leaves the item as it was`() async throws {
        struct NotNow: Error {}
        let id = try await enqueue()
        let before = try await one.item(id)
        try await one.edit(id) { _, _ in }
        await #expect(throws: NotNow.self) {
            try await one.edit(id) { metadata, _ in
                metadata.title = "X"
                throw NotNow()
            }
        }
        #expect(try await two.item(id) == before)
        #expect(before?.metadata == nil)
    }

    @Test func `a record that may be another book's is marked, and replaced by a sure one`() async throws {
        let id = try await enqueue()
        let weak = try await one.record(
            [
                id: found("Dune?") {
                    $0.isWeakMatch = true; $0.publisher = "Wrong"
                }
            ], at: noon)[0]
        #expect(weak.metadata?.isWeakMatch == true)
        #expect(try await two.item(id) == weak)

        try await one.edit(id) { metadata, _ in metadata.pageCount = 9 }
        let sure = try await one.record([id: found("Dune")], at: noon)[0]
        #expect(sure.metadata?.isWeakMatch == false)
        #expect(sure.metadata?.title == "Dune" && sure.metadata?.publisher == nil && sure.metadata?.pageCount == 9)
        #expect(try await one.record([id: found("Dune?") { $0.isWeakMatch = true }], at: noon) == [sure])
    }

    @Test func `a weak match that a person confirmed is a book like any other`() async throws {
        let candidate = try await one.candidate(dune, record("Dune?") { $0.isWeakMatch = true })
        #expect(candidate.metadata.isWeakMatch)
        _ = try await one.add([candidate.confirm(by: .person)], at: noon)
        var expected = record("Dune?")
        // The bar code was shown to a camera, and no source names the format.
        expected.format = .physical
        #expect(try await one.books(with: [dune])[dune]?.first?.edition.metadata == expected)
    }

    @Test(arguments: ["{}", #"{"title":"Dune","sources":{"title":"openLibrary"}}"#])
    func `metadata stored before a field existed can be decoded`(stored: String) async throws {
        let id = try await enqueue()
        try await one.write { db in
            try db.run("UPDATE intakeItem SET metadata = ?", [stored])
            try db.run(
                "INSERT INTO answer (isbn, outcome, at, content) VALUES (?, 'found', 0, ?)",
                [dune.digits, #"{"found":\#(stored),"from":"openLibrary","notAsked":[]}"#])
        }
        var expected = Metadata()
        if stored != "{}" { expected.title = "Dune"; expected.sources = [.title: .openLibrary] }
        #expect(try await two.item(id)?.metadata == expected)
        #expect(try await two.answers(for: [dune], at: noon)[dune]?.outcome == .found(expected, from: .openLibrary))
    }
}
