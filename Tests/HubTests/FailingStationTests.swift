import Bookplate
import FaultServer
import Foundation
import GRDB
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import Hub
@testable import Library

/// Failures at the station, and items with which the hub fails.
@Suite struct `A failing station` {
    /// - Returns: the items that wait for the hub.
    private func capture(_ outbox: LibraryFile, _ isbns: [ISBN], at instant: Date = Date()) async throws -> [QueueItem]
    {
        try await outbox.enqueue(
            isbns.map { Detection(isbn: $0, raw: $0.digits, origin: .camera) }, preset: Preset(), lease: .zero,
            at: instant)
    }

    private func sender(
        _ outbox: LibraryFile, _ hub: some HubAPI, _ events: Collected<HubEvent>, _ link: HubLink = HubLink()
    ) -> HubSender<ContinuousClock> {
        HubSender(
            outbox: outbox, client: hub, link: link, token: { "t" }, clock: ContinuousClock(),
            report: { events.add($0) })
    }

    @Test(arguments: [(HubError.failed("a fault"), 1), (.refused("too large"), 0)])
    func `delivers all items but the one with which the hub fails, and reports that one`(
        _ error: HubError, _ waiting: Int
    ) async throws {
        let folder = try temporaryFolder("station")
        let outbox = try await LibraryFile.openOutbox(at: folder + "/library.sqlite", hub: "test")
        _ = try await capture(outbox, [.dune, .emma, .solaris, .kitchen])
        let hub = PickyHub { $0.isbn13 == ISBN.emma.digits ? error : nil }
        let events = Collected<HubEvent>()
        #expect((await sender(outbox, hub, events).flush() == nil) == (waiting == 0))
        #expect(hub.accepted == [ISBN.dune, .solaris, .kitchen].map(\.digits))
        #expect(try await outbox.undelivered(limit: 9).count == waiting)
        let reasons = events.all.flatMap { event -> [String] in
            guard case .news(let news) = event else { return [] }
            return news.compactMap { if case .refused(_, let reason) = $0 { reason } else { nil } }
        }
        #expect(reasons.count == 1 - waiting)
        for reason in reasons { #expect(reason.contains("978-0-14-026886-7"), "\(reason)") }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `gets answers and sends pictures for all items but the one with which the hub fails`()
        async throws
    {
        let folder = try temporaryFolder("station")
        let outbox = try await LibraryFile.openOutbox(at: folder + "/library.sqlite", hub: "test")
        _ = try await capture(outbox, [.emma])
        // More items than one request asks for.
        let others = try await capture(outbox, Array(repeating: .dune, count: 60))
        let pictured = try await outbox.enqueue(
            [Detection(isbn: .solaris, raw: "x", origin: .camera, thumbnail: [0xFF, 0xD8, 0xFF, 0xD9])],
            preset: Preset(), lease: .zero, at: Date())
        let answered = Set(others.map(\.id))
        let hub = PickyHub(answered: answered) { $0.isbn13 == ISBN.emma.digits ? .failed("its own") : nil }
        let (events, link) = (Collected<HubEvent>(), HubLink())
        #expect(await sender(outbox, hub, events, link).flush() != nil)
        let reported = events.all.flatMap { event -> [ID<QueueItem>] in
            guard case .news(let news) = event else { return [] }
            return news.compactMap { if case .answered(let id, .skipped, _) = $0 { id } else { nil } }
        }
        #expect(Set(reported) == answered)
        #expect(hub.pictures == pictured.map(\.id))
        #expect(link.status == .up)
        #expect(try await outbox.undelivered(limit: 9).map(\.isbn13) == [ISBN.emma.digits])
        let errors = events.all.compactMap { if case .error(let message) = $0 { message } else { nil } }
        #expect(errors.count == 1 && errors.allSatisfy { $0.contains("its own") }, "\(errors)")
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(.timeLimit(.minutes(5)))
    func `reports once that the hub fails with an item, and polls as often as before`() async throws {
        let folder = try temporaryFolder("station")
        let outbox = try await LibraryFile.openOutbox(at: folder + "/library.sqlite", hub: "test")
        _ = try await capture(outbox, [.emma])
        let hub = PickyHub { _ in .failed("its own") }
        let (events, clock) = (Collected<HubEvent>(), JumpClock())
        let sender = HubSender(
            outbox: outbox, client: hub, link: HubLink(), token: { "t" }, clock: clock, jitter: { 1 },
            report: { events.add($0) })
        let task = Task { await sender.run() }
        try await wait(for: "eight pauses") { clock.slept.count >= 8 }
        task.cancel()
        await task.value
        #expect(Array(clock.slept.prefix(8)) == [1, 2, 4, 5, 5, 5, 5, 5].map { Duration.seconds($0) })
        #expect(events.all.count { if case .error = $0 { true } else { false } } == 1)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `does not send each item separately to a hub that fails with everything`() async throws {
        let folder = try temporaryFolder("station")
        let outbox = try await LibraryFile.openOutbox(at: folder + "/library.sqlite", hub: "test")
        _ = try await capture(
            outbox, Array(repeating: [ISBN.dune, .emma, .solaris, .kitchen], count: 10).flatMap { $0 })
        let hub = PickyHub { _ in .failed("its own") }
        #expect(await sender(outbox, hub, Collected()).flush() != nil)
        #expect(hub.calls == 5)
        #expect(try await outbox.undeliveredCount() == 40)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `without its token keeps everything, also on the hub's own machine`() async throws {
        let hub = try await RunningHub()
        let folder = try temporaryFolder("station")
        let outbox = try await LibraryFile.openOutbox(at: folder + "/library.sqlite", hub: "test")
        _ = try await capture(outbox, [.dune])
        let client = HubClient(
            address: try HubAddress(hub.address), userAgent: "test", certificateFile: nil, token: { nil })
        let link = HubLink()
        let sender = HubSender(outbox: outbox, client: client, link: link, token: { nil }, clock: ContinuousClock())
        #expect(await sender.flush() != nil)
        #expect(link.status == .unpaired)
        #expect(try await outbox.undeliveredCount() == 1)
        try await hub.stop()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `that cannot read its list of hubs for a moment stays paired, and then delivers`() async throws {
        let hub = try await RunningHub()
        let station = try await StationAtWork(hub)
        _ = try await station.capture(.dune)
        let error = PairedHubsError.unreadable(FileError(path: "hub.json", errno: .ioError))
        let failures = Mutex(2)
        let token = station.token
        let read: HubToken = { () throws(PairedHubsError) in
            let fails = failures.withLock { left in
                defer { left = max(0, left - 1) }
                return left > 0
            }
            if fails { throw error }
            return token
        }
        let client = HubClient(
            address: try HubAddress(hub.address), userAgent: "test", certificateFile: nil, token: read)
        let (events, clock, link) = (Collected<HubEvent>(), JumpClock(), HubLink())
        let sender = HubSender(
            outbox: station.outbox, client: client, link: link, token: read, clock: clock, jitter: { 1 },
            report: { events.add($0) })
        #expect(await sender.flush() as? HubError == .noToken(error))
        let task = Task { await sender.run() }
        try await wait(for: "the delivery") { link.status == .up }
        task.cancel()
        await task.value
        let statuses = events.all.compactMap { if case .status(let status) = $0 { status } else { nil } }
        #expect(Array(statuses.prefix(3)) == [.away("\(error)"), .away("\(error)"), .up])
        #expect(clock.slept.first == .seconds(1))
        #expect(try await station.outbox.undeliveredCount() == 0)
        try station.remove()
        try await hub.stop()
    }

    @Test(arguments: [Date(timeIntervalSince1970: 7), Date(timeIntervalSinceNow: 86_400 * 365 * 50)])
    func `whose clock is wrong gets the hub's time for its captures`(_ wrong: Date) async throws {
        let hub = try await RunningHub()
        let station = try await StationAtWork(hub)
        let items = try await capture(station.outbox, [.dune], at: wrong)
        let before = Date(timeIntervalSinceNow: -1)
        try await station.deliver()
        let captured = try #require(await hub.library.item(items[0].id)?.captured)
        #expect((before...Date()).contains(captured))
        try await station.confirm(items)
        try await station.deliver()
        #expect(try await hub.titles().count == 1)
        try station.remove()
        try await hub.stop()
    }

    @Test func `with another's name gets a number, and can neither read nor change the other's items`() async throws {
        let hub = try await RunningHub()
        let (one, two) = (try await StationAtWork(hub), try await StationAtWork(hub))
        #expect([one.paired.name, two.paired.name] == ["kitchen", "kitchen 2"])
        let (mine, theirs) = (try await one.capture(.dune), try await two.capture(.dune))
        try await one.deliver()
        try await two.deliver()
        #expect(try await hub.library.items(in: [.waiting]).compactMap(\.device).sorted() == ["kitchen", "kitchen 2"])
        #expect(try await two.client.status(of: mine.map(\.id)).receipts.isEmpty)
        _ = try await hub.library.revoke(one.paired.id, at: Date())
        try await two.confirm(theirs)
        try await two.deliver()
        #expect(try await hub.titles().count == 1)
        #expect(try await hub.library.item(mine[0].id)?.state == .waiting)
        for station in [one, two] { try station.remove() }
        try await hub.stop()
    }

    @Test func `whose disk is full acknowledges nothing more, and loses nothing acknowledged`() async throws {
        let hub = try await RunningHub()
        let station = try await StationAtWork(hub)
        let items = try await station.capture(.dune)
        // SQLite then returns SQLITE_FULL, as for ENOSPC.
        try await station.outbox.database.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        let many = Array(repeating: [ISBN.emma, .solaris, .kitchen], count: 100).flatMap { $0 }
        await #expect(throws: LibraryError.diskFull(path: station.folder + "/library.sqlite")) {
            _ = try await capture(station.outbox, many)
        }
        #expect(try await station.outbox.undeliveredCount() == 1)
        _ = await station.sender.flush()
        try await station.outbox.database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA max_page_count = 1000000")
        }
        try await station.confirm(items)
        try await station.deliver()
        #expect(try await hub.titles() == ["Book 9780441478125"])
        #expect(try await hub.library.count(in: Set(QueueItem.State.allCases)) == 1)
        try station.remove()
        try await hub.stop()
    }
}

/// A hub that fails with some deliveries, depending on their content.
private final class PickyHub: HubAPI {
    private let instance = HubInstance(library: "00000001", opening: "1")
    private let answered: Set<ID<QueueItem>>
    private let error: @Sendable (HubDelivery) -> HubError?
    private let state = Mutex((calls: 0, accepted: [String](), pictures: [ID<QueueItem>]()))

    /// - Parameter answered: the items that were skipped at the hub.
    init(
        answered: Set<ID<QueueItem>> = [], _ error: @escaping @Sendable (HubDelivery) -> HubError?
    ) {
        (self.answered, self.error) = (answered, error)
    }

    var calls: Int { state.withLock(\.calls) }
    /// The ISBNs in the order of their delivery.
    var accepted: [String] { state.withLock(\.accepted) }
    var pictures: [ID<QueueItem>] { state.withLock(\.pictures) }

    func deliver(_ deliveries: [HubDelivery]) async throws(HubError) -> HubAnswer {
        state.withLock { $0.calls += 1 }
        if let error = deliveries.lazy.compactMap(self.error).first { throw error }
        state.withLock { $0.accepted += deliveries.map(\.isbn13) }
        return HubAnswer(
            deliveries.map {
                HubReceipt(id: $0.id, revision: $0.revision, state: $0.state, outcome: .accepted)
            }, from: instance)
    }
    func status(of items: [ID<QueueItem>]) async throws(HubError) -> HubAnswer {
        HubAnswer(
            items.map {
                HubReceipt(id: $0, revision: 1, state: answered.contains($0) ? .skipped : .waiting, outcome: .accepted)
            }, from: instance)
    }
    func keep(thumbnail jpeg: [UInt8], of item: ID<QueueItem>) async throws(HubError) {
        state.withLock { $0.pictures.append(item) }
    }
    func books(_ isbns: [ISBN], within limit: Duration) async throws(HubError) -> [HubBook] { [] }
}
