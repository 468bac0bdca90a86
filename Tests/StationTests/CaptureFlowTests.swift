import Async
import Bookplate
import FoundationEssentials
import Library
import Station
import Synchronization
import Testing

private let dune = "9780441013593"
private let emma = "9780141439587"
private let noon = Date(timeIntervalSince1970: 1_795_262_400)
private let unknown = "9783161484100"

@Suite struct `From a detection to a book` {
    @Test func `what is captured is in the queue before any source is asked`() async throws {
        let bench = try Workbench()
        _ = try await bench.capture(dune)
        #expect(try await bench.library.items(in: [.waiting]).map(\.isbn.digits) == [dune])
        #expect(bench.lookup.questions.isEmpty)
    }

    @Test func `items that wait together are looked up together, each ISBN once`() async throws {
        let bench = try Workbench([dune: .found("Dune"), emma: .found("Emma")])
        let items = try await bench.capture(dune, emma, dune)
        let candidates = try await bench.candidates(for: items)
        #expect(bench.lookup.questions.map { $0.map(\.digits) } == [[dune, emma]])
        #expect(candidates.map(\.metadata.title) == ["Dune", "Emma", "Dune"])
    }

    @Test func `a book that the library holds is known without asking`() async throws {
        let bench = try Workbench([dune: .found("Dune")])
        let first = try await bench.candidates(for: bench.capture(dune))
        _ = try await bench.flow.save([first[0].confirm(by: .person)])
        let second = try await bench.candidates(for: bench.capture(dune))
        #expect(bench.lookup.questions.count == 1)
        #expect(second[0].item.source == .library)
        #expect(second[0].owned?.displayTitle == "Dune")
    }

    @Test func `only found books are saved in advance; owned ones leave the queue, and the rest stays`()
        async throws
    {
        let bench = try Workbench([dune: .found("Dune"), emma: .offline])
        _ = try await bench.settle(bench.capture(dune))
        let events = try await bench.settle(bench.capture(dune, emma, unknown))
        #expect(events.map(\.name) == [.owned, .queued, .queued])
        #expect(try await bench.library.items(in: [.waiting]).map(\.isbn.digits) == [emma, unknown])
        #expect(
            try await bench.library.lastChange()?.summary.contains("Dune") == true, "closing is no change of a person's"
        )
    }

    @Test func `a title that a person typed is enough, and a lookup does not take it away`() async throws {
        let bench = try Workbench()
        var candidate = try await bench.candidates(for: bench.capture(unknown))[0]
        #expect(throws: ConfirmRefusal.self) { try candidate.confirm(by: .person) }
        candidate.metadata.title = "By hand"
        candidate.metadata.sources[.title] = .person
        _ = try await bench.flow.keepEdits(of: candidate, fields: [.title])
        bench.lookup.learn(unknown, .found("By a source"))
        let refreshed = try await bench.delivered { try await bench.flow.lookUpAgain(nil, deliver: $0) }
        #expect(refreshed.map(\.metadata.title) == ["By hand"])
        let events = try await bench.settle(refreshed.map(\.item))
        #expect(events.map(\.name) == [.saved])
        let saved = try await bench.library.book(try #require(events[0].copy))
        #expect(saved?.edition.editedFields.contains(.title) == true)
    }

    @Test func `a lookup on request asks about what had no answer, before it is due, and about nothing else`()
        async throws
    {
        let bench = try Workbench([dune: .offline, emma: .found("Emma")])
        _ = try await bench.candidates(for: bench.capture(dune, emma, unknown))
        #expect(try await bench.refreshed().isEmpty, "nothing is due")
        let before = bench.lookup.questions.count
        bench.lookup.learn(dune, .found("Dune"))
        let found = try await bench.delivered { try await bench.flow.lookUpUnanswered(deliver: $0) }
        #expect(found.map(\.metadata.title) == ["Dune"])
        #expect(try bench.lookup.questions.dropFirst(before) == [[ISBN(dune)]])
    }

    @Test(arguments: [
        (Origin.camera, Metadata.Format?.none, Metadata.Format?.some(.physical)), (.photo, nil, .physical),
        (.scanner, nil, .physical), (.typed, nil, nil), (.stdin, nil, nil), (.camera, .audiobook, .audiobook),
    ])
    func `a book whose bar code was shown is a printed one, unless a source knows better`(
        _ origin: Origin, _ known: Metadata.Format?, _ saved: Metadata.Format?
    ) async throws {
        var record = Metadata()
        (record.title, record.format) = ("Dune", known)
        let bench = try Workbench([dune: .found(record, from: .openLibrary)])
        let items = try await bench.flow.enqueue(
            [Detection(isbn: try ISBN(dune), raw: dune, origin: origin)], preset: Preset())
        let candidate = try await bench.candidates(for: items)[0]
        #expect(try candidate.confirm(by: .person).metadata.format == saved)
    }

    @Test func `a skipped book leaves the queue, and undo brings it back`() async throws {
        let bench = try Workbench([dune: .found("Dune")])
        let candidate = try await bench.candidates(for: bench.capture(dune))[0]
        let change = try #require(try await bench.flow.skip([candidate]))
        #expect(try await bench.library.items(in: [.waiting]).isEmpty)
        _ = try await bench.library.undo(change, at: candidate.item.captured)
        #expect(try await bench.library.items(in: [.waiting]).map(\.id) == [candidate.item.id])
        #expect(try await bench.flow.candidate(candidate.item.id)?.metadata.title == "Dune")
    }

    @Test func `the same confirmation retried a hundred times makes one copy`() async throws {
        let bench = try Workbench([dune: .found("Dune")])
        let confirmed = try await bench.candidates(for: bench.capture(dune))[0].confirm(by: .person)
        for _ in 0..<100 { _ = try await bench.flow.save([confirmed]) }
        #expect(try await bench.library.books(matching: BookQuery()).total == 1)
    }

    @Test func `an outage is never shown as not found`() async throws {
        let bench = try Workbench([dune: .offline])
        let candidate = try await bench.candidates(for: bench.capture(dune))[0]
        #expect(CaptureEvent.lookedUp(candidate.item)?.name == .temporary)
        #expect(candidate.item.reason?.contains("offline") == true)
    }

    @Test func `an item that an outage left is looked up when it is due, by any process`() async throws {
        let clock = Mutex(noon)
        let bench = try Workbench([dune: .offline], now: { clock.withLock { $0 } })
        _ = try await bench.candidates(for: bench.capture(dune))
        bench.lookup.learn(dune, .found("Dune"))
        #expect(try await bench.refreshed().isEmpty, "not due yet")
        clock.withLock { $0 = noon.addingTimeInterval(3600) }
        #expect(try await bench.refreshed().map(\.metadata.title) == ["Dune"])
        #expect(try await bench.refreshed().isEmpty, "nothing is left to do")
    }

    @Test func `a found book stays found if the sources are unavailable when it is confirmed`() async throws {
        let bench = try Workbench([dune: .found("Dune")])
        let items = try await bench.candidates(for: bench.capture(dune)).map(\.item)
        bench.lookup.learn(dune, .offline)
        let again = try await bench.candidates(for: items)
        #expect(again.map(\.item.outcome) == [.found])
        #expect(try await bench.settle(again.map(\.item)).map(\.name) == [.saved])
    }

    @Test func `a record that may be another book waits for a person, marked`() async throws {
        var metadata = Metadata()
        metadata.title = "Some Other Book"
        metadata.isWeakMatch = true
        let bench = try Workbench([dune: .found(metadata, from: .googleBooks)])
        let candidates = try await bench.candidates(for: bench.capture(dune))
        let events = try await bench.settle(candidates.map(\.item))
        #expect(events.map(\.name) == [.queued])
        #expect(events[0].reason?.contains("another book") == true)
    }

    @Test func `two processes never look up the same item at once`() async throws {
        let bench = try Workbench([dune: .found("Dune")])
        let items = try await bench.capture(dune)
        #expect(try await bench.library.lease(nil, limit: 10, for: .seconds(60), at: items[0].captured).isEmpty)
    }
}

@Suite struct `Bursts` {
    @Test func `grow while the body is busy, and contain everything in order`() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        for number in 0..<1000 { continuation.yield(number) }
        continuation.finish()
        var all: [Int] = []
        var sizes: [Int] = []
        try await forEachBurst(of: stream, upTo: 64) { burst in
            sizes.append(burst.count)
            all += burst
            await Task.yield()
        }
        #expect(all == Array(0..<1000))
        #expect(sizes.allSatisfy { $0 <= 64 })
    }

    @Test func `throw the error of the sequence`() async throws {
        struct Wrong: Error {}
        let stream = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: Wrong()) }
        await #expect(throws: Wrong.self) { try await forEachBurst(of: stream) { _ in } }
    }

    @Test func `a candidate has the owned copies of other editions of its work`() async throws {
        let (first, second) = ("9780441013593", "9780441172719")
        let bench = try Workbench([first: .found("Dune"), second: .found("Dune")])
        let candidates = try await bench.candidates(for: bench.capture(first))
        #expect(candidates[0].otherEditions.isEmpty)
        _ = try await bench.flow.save([candidates[0].confirm(by: .person)])
        let other = try await bench.candidates(for: bench.capture(second))[0]
        #expect(other.existing.isEmpty && other.otherEditions.map(\.edition.isbn?.digits) == [first])
        let again = try #require(try await bench.flow.candidate(other.item.id))
        #expect(again.otherEditions == other.otherEditions)
    }
}
