import Async
import Bookplate
import Foundation
import Hub
import Library
import Testing

/// Station and hub with a working connection.
@Suite struct `A station at its hub` {
    let hub: RunningHub
    let station: StationAtWork

    init() async throws {
        hub = try await RunningHub()
        station = try await StationAtWork(hub)
    }

    private func end() async throws {
        try station.remove()
        try await hub.stop()
    }

    @Test func `sends its captures to the hub's queue, with a person's edits and the shelf`() async throws {
        let preset = Preset(shelf: "Attic", tags: ["new"], status: .read)
        let items = try await station.outbox.enqueue(
            [Detection(isbn: .dune, raw: "0-441-47812-3", origin: .typed)], preset: preset, lease: .zero, at: Date())
        try await station.outbox.edit(items[0].id) { metadata, _ in metadata.title = "By hand" }
        try await station.deliver()
        let item = try #require(await hub.library.item(items[0].id))
        #expect(item.isbn == .dune && item.raw == "0-441-47812-3" && item.preset == preset)
        #expect(item.metadata?.title == "By hand" && item.metadata?.sources[.title] == .person)
        #expect(item.origin == .hub && item.device == "kitchen" && item.state == .waiting)
        #expect(abs(item.captured.timeIntervalSince(items[0].captured)) < 0.001)
        try await end()
    }

    @Test func `saves a book for the reader whom it names`() async throws {
        let added = try await hub.library.addReader("Anna", naming: "Ben", at: Date())
        let anna = try await hub.library.reading(as: added.reader.id, holder: nil, isGuest: false, at: Date())
        let items = try await station.flow.enqueue(
            [Detection(isbn: .dune, raw: ISBN.dune.digits, origin: .camera)],
            preset: Preset(status: .reading, reader: "anna"))
        try await station.confirm(items)
        try await station.deliver()
        #expect(try await hub.library.books(with: [.dune])[.dune]?.map(\.copy.status) == [.toRead])
        #expect(try await anna.books(with: [.dune])[.dune]?.map(\.copy.status) == [.reading])
        try await end()
    }

    @Test(.timeLimit(.minutes(5)))
    func `names the reader of 'scan --hub', whom its own library need not know`() async throws {
        let added = try await hub.library.addReader("Anna", naming: "Ben", at: Date())
        let anna = try await hub.library.reading(as: added.reader.id, holder: nil, isGuest: false, at: Date())
        let program = try ScanProgram()
        let (paired, token) = try await hub.library.pair(ID(), named: "attic", at: Date())
        try program.pair(with: hub.address, token: token, as: paired)
        let run = try await program.run(
            "--hub", hub.address, "--isbn", ISBN.dune.digits, "--yes", "--status", "reading", "--reader", "anna")
        #expect([0, 69].contains(run.status), "\(run.err)")
        #expect(try await program.deliver().status == 0)
        #expect(try await hub.library.books(with: [.dune])[.dune]?.map(\.copy.status) == [.toRead])
        #expect(try await anna.books(with: [.dune])[.dune]?.map(\.copy.status) == [.reading])
        try program.remove()
        try await end()
    }

    @Test func `gets the hub's books, and the records of its queue, before it asks any source`() async throws {
        try await hub.own(.dune, "The Left Hand of Darkness", shelf: "Living room")
        let book = try #require(try await station.shelf.books(with: [.dune, .emma])[.dune]?.first)
        #expect(book.copy.shelf == "Living room" && book.displayTitle == "The Left Hand of Darkness")
        let items = try await station.capture(.dune)
        let delivered = SharedValue<[Candidate]>([])
        try await station.flow.lookUp(items, areCaptured: true) { more in delivered.withLock { $0 += more } }
        let candidates = delivered.value
        #expect(candidates.first?.owned != nil)
        #expect(candidates.first?.metadata.title == "The Left Hand of Darkness")
        #expect(try await station.confirm(items).map(\.isOwned) == [true])
        #expect(try await station.confirm(items, anotherCopy: true).map(\.isSaved) == [true])
        try await station.deliver()
        #expect(try await hub.library.books(with: [.dune])[.dune]?.count == 2)
        try await end()
    }

    @Test func `removes an item that was confirmed at the hub, and does not save it again`() async throws {
        let items = try await station.capture(.dune, .emma)
        try await station.deliver()
        var item = try #require(await hub.library.item(items[0].id))
        try await hub.library.edit(item.id) { metadata, _ in metadata.title = "At the hub" }
        item = try #require(await hub.library.item(items[0].id))
        _ = try await hub.library.add([Candidate(item: item).confirm(by: .person)], at: Date())
        _ = try await hub.library.skip([items[1].id], at: Date())
        _ = await station.sender.flush()
        #expect(try await station.outbox.items(in: [.waiting]).isEmpty)
        #expect(try await station.outbox.item(items[0].id)?.state == .confirmed)
        #expect(try await station.outbox.item(items[1].id)?.state == .skipped)
        #expect(try await station.outbox.undeliveredCount() == 0, "the hub knows it")
        let news = station.events.all.compactMap { if case .news(let news) = $0 { news } else { nil } }.flatMap { $0 }
        #expect(news.count == 2)
        #expect(try await hub.titles() == ["At the hub"])
        try await end()
    }

    @Test func `leaves a book that another station has saved meanwhile to a person at the hub`() async throws {
        let other = try await StationAtWork(hub, name: "attic")
        let mine = try await station.capture(.dune)
        let theirs = try await other.capture(.dune)
        // Both confirm before either has delivered.
        try await station.confirm(mine, anotherCopy: false)
        try await other.confirm(theirs, anotherCopy: false)
        try await station.deliver()
        try await other.deliver()
        #expect(try await hub.library.books(with: [.dune])[.dune]?.count == 1)
        #expect(try await hub.library.item(theirs[0].id)?.state == .waiting)
        #expect(
            other.events.all.contains {
                if case .news(let news) = $0, case .owned(theirs[0].id, _)? = news.first { true } else { false }
            })
        #expect(try await other.outbox.undeliveredCount() == 0)
        try other.remove()
        try await end()
    }

    @Test func `is notified that an undo came too late, and the book stays`() async throws {
        let items = try await station.capture(.dune)
        let saved = try await station.confirm(items)
        try await station.deliver()
        let book = try #require(await hub.library.books(with: [.dune])[.dune]?.first)
        _ = try await hub.library.update(book.id, at: Date()) { $0.copy.rating = 5 }
        _ = try await station.outbox.undo(try #require(saved[0].change), at: Date())
        try await station.deliver()
        #expect(try await hub.titles().count == 1)
        #expect(try await station.outbox.item(items[0].id)?.state == .confirmed)
        #expect(
            station.events.all.contains {
                if case .news(let news) = $0, case .kept? = news.first { true } else { false }
            })
        try await end()
    }

    @Test func `that undoes, corrects and confirms again before it delivers sends its last state`() async throws {
        let items = try await station.capture(.dune)
        let saved = try await station.confirm(items)
        try await station.deliver()
        _ = try await station.outbox.undo(try #require(saved[0].change), at: Date())
        try await station.outbox.edit(items[0].id) { metadata, _ in metadata.title = "Mended" }
        let mended = try #require(await station.outbox.item(items[0].id))
        _ = try await station.outbox.confirm(
            [Candidate(item: mended).confirm(by: .person)], continuing: nil, at: Date())
        try await station.deliver()
        #expect(try await hub.titles() == ["Mended"])
        try await end()
    }

    @Test func `undoes a save and saves again before it delivers`() async throws {
        let items = try await station.capture(.dune)
        let saved = try await station.confirm(items)
        try await station.deliver()
        let item = try #require(await station.outbox.item(items[0].id))
        let twice = try await station.flow.save([Candidate(item: item).confirm(by: .person)])
        #expect(twice.contains { if case .alreadySaved = $0 { true } else { false } })
        _ = try await station.outbox.undo(try #require(saved[0].change), at: Date())
        #expect(try await station.shelf.books(with: [.dune]).isEmpty, "the hub has it still")
        #expect(try await station.confirm(items).map(\.isSaved) == [true])
        try await station.deliver()
        #expect(try await hub.titles().count == 1)
        try await end()
    }

    @Test(arguments: [true, false])
    func `redoes a save that it has undone, whether or not the hub knew of the undo`(isUndoDelivered: Bool) async throws
    {
        let items = try await station.capture(.dune)
        let change = try #require(try await station.confirm(items)[0].change)
        try await station.deliver()
        _ = try await station.outbox.undo(change, at: Date())
        if isUndoDelivered {
            try await station.deliver()
            #expect(try await hub.titles().isEmpty)
        }
        _ = try await station.outbox.redo(change, at: Date())
        try await station.deliver()
        #expect(try await hub.titles().count == 1)
        // A delivery that is repeated neither undoes the save again nor adds another copy.
        try await station.outbox.deliverAgain(items.map(\.id))
        try await station.deliver()
        #expect(try await hub.titles().count == 1)
        try await end()
    }

    @Test func `whose token is revoked keeps everything, and continues when it is paired again`() async throws {
        let items = try await station.capture(.dune)
        try await station.deliver()
        _ = try await hub.library.revoke(station.paired.id, at: Date())
        try await station.confirm(items)
        #expect(await station.sender.flush() != nil)
        #expect(station.link.status == .unpaired)
        #expect(try await station.outbox.undeliveredCount() == 1)
        let (again, token) = try await hub.library.pair(station.paired.id, named: "kitchen", at: Date())
        #expect(again.name == "kitchen")
        let client = HubClient(
            address: try HubAddress(hub.address), userAgent: "Bookplate/test", certificateFile: nil, token: { token })
        let sender = HubSender(
            outbox: station.outbox, client: client, link: HubLink(), token: { token }, clock: ContinuousClock())
        #expect(await sender.flush() == nil)
        #expect(try await hub.titles().count == 1)
        try await end()
    }

    @Test func `delivers 200 items in the order of their changes, at most 50 in one request`() async throws {
        let items = try await captureMany(200)
        try await station.deliver()
        #expect(try await hub.library.items(in: [.waiting]).map(\.id) == items.map(\.id))
        try await end()
    }

    @Test func `is notified of every answer at the hub, however many items wait`() async throws {
        let items = try await captureMany(120)
        try await station.deliver()
        _ = try await hub.library.skip([items[0].id, items[60].id, items[119].id], at: Date())
        try await station.deliver()
        #expect(try await station.outbox.count(in: [.waiting]) == 117)
        try await end()
    }

    private func captureMany(_ count: Int) async throws -> [QueueItem] {
        let isbns = (0..<count).compactMap { number in
            (0...9).lazy.compactMap { try? ISBN(ean13: "978000000\(100 + number)\($0)") }.first
        }
        #expect(isbns.count == count)
        return try await station.flow.enqueue(isbns.map { Detection(isbn: $0, raw: $0.digits, origin: .camera) })
    }

    @Test func `sends long records without their long fields`() async throws {
        let items = try await station.capture(.dune, .emma)
        try await station.outbox.edit(items[0].id) { metadata, _ in
            metadata.title = "Long"
            metadata.description = String(repeating: "字", count: 10_000)
            metadata.subjects = (0..<5000).map { "subject number \($0)" }
        }
        try await station.deliver()
        #expect(try await hub.library.item(items[0].id)?.metadata?.title == "Long")
        #expect(try await hub.library.count(in: [.waiting]) == 2)
        try await end()
    }
}

extension RunningHub {
    func own(_ isbn: ISBN, _ title: String, shelf: String? = nil) async throws {
        var metadata = Metadata()
        metadata.title = title
        _ = try await library.add(
            [Confirmed(enteredBy: .form, isbn: isbn, metadata: metadata, preset: Preset(shelf: shelf))], at: Date())
    }
}
