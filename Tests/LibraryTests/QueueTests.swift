import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct QueueTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory(device: "hall") }

    private func capture(_ count: Int, at now: Date = noon) async throws -> [QueueItem] {
        try await library.capture(
            (0..<count).map { Detection(isbn: isbn($0), raw: "raw \($0)", origin: .camera) }, preset: Preset(), at: now)
    }

    private func due(_ seconds: TimeInterval) async throws -> Int {
        try await library.lease(nil, limit: 100, for: .milliseconds(1), at: noon.addingTimeInterval(seconds)).count
    }

    @Test func `stores a whole detection before any lookup`() async throws {
        let detection = Detection(
            isbn: dune, raw: "]E09780441172719", addon: "51299", origin: .photo, image: "shelf/a b.jpg",
            thumbnail: [0xFF, 0xD8, 0x00])
        let preset = Preset(shelf: "Hall", tags: ["a"], status: .read, isWishlist: true)
        let items = try await library.capture([detection], preset: preset, at: noon)
        let item = try #require(items.first)
        #expect(item.device == "hall")
        #expect(item.captured == noon)
        #expect(try await library.items(in: [.waiting]) == items)
        #expect(try await library.item(item.id) == item)
        #expect(try await library.thumbnail(of: item.id) == detection.thumbnail)
        #expect(item.addon == "51299" && item.image == "shelf/a b.jpg" && item.preset == preset && item.outcome == nil)
    }

    @Test func `lists by state, oldest first`() async throws {
        let late = try await capture(1, at: noon.addingTimeInterval(5))
        let early = try await capture(2, at: noon)
        _ = try await library.skip([early[1].id], at: noon)
        #expect(try await library.items(in: [.waiting]).map(\.id) == [early[0].id, late[0].id])
        #expect(try await library.items(in: [.skipped]).map(\.id) == [early[1].id])
        #expect(try await library.items(in: []).isEmpty)
        #expect(try await library.lastChange()?.summary == "skipped 1 item in the queue")
    }

    @Test func `an item is leased to one process until the lease ends`() async throws {
        let folder = Folder()
        let one = try LibraryFile.open(at: folder("library.sqlite"))
        let two = try LibraryFile.open(at: folder("library.sqlite"))
        let items = try await one.capture(
            (0..<30).map { Detection(isbn: isbn($0), raw: "", origin: .stdin) }, preset: Preset(), at: noon)

        async let first = one.lease(nil, limit: 20, for: .seconds(60), at: noon)
        async let second = two.lease(nil, limit: 20, for: .seconds(60), at: noon)
        let leased = try await (first.map(\.id.rawValue), second.map(\.id.rawValue))
        #expect(leased.0.count + leased.1.count == 30)
        #expect(Set(leased.0 + leased.1).count == 30)
        // One process has leased the item, so the other process does not get it.
        let other = leased.0.contains(items[0].id.rawValue) ? two : one
        #expect(try await other.lease([items[0].id], limit: 1, for: .seconds(60), at: noon).isEmpty)
        #expect(try await two.lease(nil, limit: 99, for: .seconds(60), at: noon.addingTimeInterval(61)).count == 30)
    }

    @Test func `a clock that was set back does not keep items leased or paused for ever`() async throws {
        let items = try await capture(1, at: noon)
        #expect(try await due(0) == 1)
        _ = try await library.lease(nil, limit: 1, for: .seconds(60), at: noon.addingTimeInterval(1))
        #expect(
            try await library.lease([items[0].id], limit: 1, for: .seconds(60), at: noon.addingTimeInterval(-86_400))
                .count == 1)
        #expect(try await due(-20 * 86_400) == 1)
    }

    @Test(
        arguments: [
            (LookupOutcome.found(record("Dune"), from: .openLibrary), nil),
            (.notFound(asked: [.openLibrary]), 7 * 86_400),
            (.temporary(SourceError(source: nil, reason: "offline")), 30),
            (.temporary(SourceError(source: .openLibrary, reason: "429", retryAfter: .seconds(90))), 90),
            (.blocked(SourceError(source: .googleBooks, reason: "403", retryAfter: .seconds(86_400))), 3600),
            (.badData(SourceError(source: .googleBooks, reason: "no JSON", retryAfter: .zero)), 1),
        ] as [(LookupOutcome, TimeInterval?)])
    func `looks up again at the right time`(outcome: LookupOutcome, after seconds: TimeInterval?) async throws {
        let item = try await capture(1)[0]
        #expect(try await due(0) == 1)
        let items = try await library.record([item.id: LookupAnswer(isbn: item.isbn, outcome: outcome)], at: noon)
        #expect(items.first?.outcome == outcome.name)
        #expect(try await library.item(item.id) == items.first)
        if let seconds {
            #expect(items.first?.reason?.isEmpty == false)
            #expect(try await due(seconds - 0.5) == 0)
            #expect(try await due(seconds) == 1)
        } else {
            #expect(items.first?.reason == nil)
            #expect(try await due(400 * 86_400) == 0)
        }
        #expect(
            try await library.lease([item.id], limit: 1, for: .seconds(1), at: noon.addingTimeInterval(1e8)).count == 1)
    }

    @Test func `pauses grow to an hour while a source stays down`() async throws {
        let item = try await capture(1)[0]
        let answer = LookupAnswer(isbn: item.isbn, outcome: .temporary(SourceError(source: nil, reason: "offline")))
        var pauses: [TimeInterval] = []
        for _ in 0..<9 {
            _ = try await library.record([item.id: answer], at: noon)
            let pause = try await library.read { db in try db.value(Int64.self, "SELECT nextLookup FROM intakeItem") }
            pauses.append(Date(milliseconds: pause ?? 0).timeIntervalSince(noon))
        }
        #expect(pauses == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600])
    }

    @Test func `a person's edits survive every later lookup`() async throws {
        let candidate = try await library.candidate(
            dune,
            record("Dune") {
                $0.publisher = "Ace"; $0.pageCount = 1
            })
        try await library.edit(candidate.item.id) { metadata, preset in
            metadata.title = "Mine"
            metadata.publisher = nil
            preset.tags = ["t"]
        }

        var later = record("Theirs", from: .googleBooks) {
            $0.publisher = "Ace"; $0.language = "en"
        }
        later.sources[.title] = .googleBooks
        let id = candidate.item.id
        let found = LookupAnswer(isbn: dune, outcome: .found(later, from: .googleBooks))
        let item = try await library.record([id: found], at: noon)[0]
        #expect(item.metadata?.title == "Mine")
        #expect(item.metadata?.publisher == nil)
        #expect(item.metadata?.language == "en")
        #expect(item.metadata?.pageCount == 1)
        #expect(item.source == .googleBooks)
        #expect(item.preset.tags == ["t"])

        let failure = LookupOutcome.temporary(SourceError(source: nil, reason: "offline"))
        for outcome in [failure, .notFound(asked: [.openLibrary])] {
            let after = try await library.record([id: LookupAnswer(isbn: dune, outcome: outcome)], at: noon)[0]
            #expect(after.metadata == item.metadata)
        }
        let saved = try await library.add([Candidate(item: item).confirm(by: .person)], at: noon)
        guard case .saved(let copy, _) = saved[0] else { throw UndoRefusal.noSuchChange }
        #expect(try await library.book(copy)?.edition.editedFields == [.title, .publisher])
    }

    @Test func `an item that no longer waits is not changed`() async throws {
        let candidate = try await library.candidate(dune, record("Dune"))
        _ = try await library.add([candidate.confirm(by: .person)], at: noon)
        let confirmed = try await library.item(candidate.item.id)
        let answer = LookupAnswer(isbn: dune, outcome: .notFound(asked: []))
        #expect(try await library.record([candidate.item.id: answer], at: noon) == [confirmed])
        _ = try await library.skip([candidate.item.id], at: noon)
        #expect(try await library.item(candidate.item.id)?.state == .confirmed)
        #expect(try await library.lease([candidate.item.id], limit: 1, for: .seconds(1), at: noon).isEmpty)
        await #expect(throws: LibraryError.notWaiting(candidate.item.id, .confirmed)) {
            try await library.edit(candidate.item.id) { _, _ in }
        }
        await #expect(throws: LibraryError.noSuchItem(ID(rawValue: "x"))) {
            try await library.edit(ID(rawValue: "x")) { _, _ in }
        }
    }

    @Test func `the answer cache keeps found answers for ever and not-found for seven days`() async throws {
        let missing = LookupAnswer(
            isbn: odyssey, outcome: .notFound(asked: [.openLibrary]),
            notAsked: [NotAsked(source: .googleBooks, reason: "needs a key")])
        try await library.keep(
            [
                LookupAnswer(isbn: dune, outcome: .found(record("Dune"), from: .openLibrary)), missing,
                LookupAnswer(isbn: isbn(1), outcome: .blocked(SourceError(source: nil, reason: "403"))),
            ], at: noon)
        let all = [dune, odyssey, isbn(1), isbn(2)]
        let now = try await library.answers(for: all, at: noon.addingTimeInterval(7 * 86_400))
        #expect(Set(now.keys) == [dune, odyssey])
        #expect(now[dune]?.outcome == .found(record("Dune"), from: .openLibrary))
        #expect(now[odyssey]?.outcome == missing.outcome && now[odyssey]?.notAsked == missing.notAsked)
        #expect(now.values.filter(\.isCached).count == 2)
        #expect(try await Set(library.answers(for: all, at: noon.addingTimeInterval(7 * 86_400 + 1)).keys) == [dune])
        #expect(try await Set(library.answers(for: all, at: noon.addingTimeInterval(-60)).keys) == [dune])

        // A later not-found answer does not replace a found record, and an answer that came from the cache keeps its
        // age.
        try await library.keep([LookupAnswer(isbn: dune, outcome: .notFound(asked: []))], at: noon)
        try await library.keep(Array(now.values), at: noon.addingTimeInterval(6 * 86_400))
        #expect(try await Set(library.answers(for: all, at: noon.addingTimeInterval(8 * 86_400)).keys) == [dune])
    }
}
