import Bookplate
import FaultServer
import Foundation
import Hub
import Library
import TestTools
import Testing

/// The connection between station and hub is cut at every step of every request, and every book is at the hub once.
@Suite(.serialized) struct `A connection that is cut` {
    static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xD9]

    /// Saves two books in one act, undoes that and saves them again; skips one item and leaves one in the queue.
    private func work(_ station: StationAtWork) async throws {
        let items = try await station.capture(.dune, .emma, .solaris, .kitchen, thumbnail: Self.jpeg)
        try await station.deliver()
        let first = try await station.confirm(Array(items[0...1]))
        try await station.deliver()
        _ = try await station.outbox.undo(try #require(first[0].change), at: Date())
        try await station.deliver()
        try await station.confirm(Array(items[0...1]))
        _ = try await station.outbox.skip([items[2].id], at: Date())
        try await station.deliver()
    }

    private func check(_ hub: RunningHub, _ station: StationAtWork) async throws {
        // Pictures do not count as undelivered.
        for _ in 0..<12 where try await station.outbox.nextThumbnail() != nil { _ = await station.sender.flush() }
        #expect(try await hub.titles() == ["Book 9780140268867", "Book 9780441478125"])
        let items = try await hub.library.items(in: Set(QueueItem.State.allCases))
        let states = Dictionary(items.map { ($0.isbn, $0.state) }, uniquingKeysWith: { first, _ in first })
        #expect(items.count == 4)
        #expect(
            states == [.dune: .confirmed, .emma: .confirmed, .solaris: .skipped, .kitchen: .waiting])
        #expect(items.allSatisfy { $0.origin == .hub && $0.device == "kitchen" })
        for item in items { #expect(try await hub.library.thumbnail(of: item.id) == Self.jpeg) }
        let changes = try await hub.library.changes(limit: 10)
        #expect(changes.filter { $0.undone == nil }.count == 1, "one act at the station is one change at the hub")
        #expect(changes.allSatisfy { $0.device == "kitchen" })
    }

    /// Every request is cut at the first attempt and succeeds at the second.
    @Test(.timeLimit(.minutes(5)), arguments: CutProxy.Cut.allCases)
    func `at every request transfers every book to the hub once`(_ cut: CutProxy.Cut) async throws {
        let hub = try await RunningHub()
        let seen = Collected<String>()
        let proxy = try CutProxy(to: hub.port) { _, request in
            if seen.all.contains(request) { return nil }
            seen.add(request)
            return cut
        }
        let station = try await StationAtWork(hub, address: proxy.address)
        try await work(station)
        try await check(hub, station)
        #expect(seen.all.count >= 10)
        try station.remove()
        try await hub.stop()
    }

    /// The number of requests if nothing is cut.
    private func requests() async throws -> Int {
        let hub = try await RunningHub()
        let proxy = try CutProxy(to: hub.port) { _, _ in nil }
        let station = try await StationAtWork(hub, address: proxy.address)
        try await work(station)
        try await check(hub, station)
        try station.remove()
        try await hub.stop()
        return proxy.requests
    }

    @Test(
        .enabled(if: isLong, "a hub for each request takes minutes: BOOKPLATE_LONG_TESTS=1"), .timeLimit(.minutes(20)),
        arguments: CutProxy.Cut.allCases)
    func `at any one request transfers every book to the hub once`(_ cut: CutProxy.Cut) async throws {
        let count = try await requests()
        #expect(count >= 12)
        for number in 0..<count {
            let hub = try await RunningHub()
            let proxy = try CutProxy(to: hub.port) { request, _ in request == number ? cut : nil }
            let station = try await StationAtWork(hub, address: proxy.address)
            try await work(station)
            try await check(hub, station)
            #expect(proxy.requests > number)
            try station.remove()
            try await hub.stop()
        }
    }

    @Test func `for good never blocks capturing, confirming and undo`() async throws {
        let hub = try await RunningHub()
        let station = try await StationAtWork(hub)
        try await hub.stop()
        let items = try await station.capture(.dune, .emma)
        #expect(await station.sender.flush() != nil)
        let saved = try await station.confirm(items)
        #expect(saved.map(\.isSaved) == [true, true])
        #expect(try await station.shelf.books(with: [.dune])[.dune]?.count == 1, "it is known here that it is saved")
        _ = try await station.outbox.undo(try #require(saved[0].change), at: Date())
        #expect(try await station.outbox.count(in: [.waiting]) == 2)
        #expect(try await station.outbox.undeliveredCount() == 2)
        guard case .away = station.link.status else {
            Issue.record("\(station.link.status)")
            return
        }
        try station.remove()
    }
}
