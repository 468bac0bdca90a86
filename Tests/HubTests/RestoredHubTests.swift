import Bookplate
import FaultServer
import Foundation
import Hub
import Library
import Testing

/// The hub's library is replaced by one of its backups, or by another library, while stations have delivered more.
@Suite(.serialized) struct `A hub that was restored to an older backup` {
    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xD9]

    /// A station that reaches the hub through a proxy, so that the hub's port can change.
    private static func start() async throws -> (hub: RunningHub, proxy: CutProxy, station: StationAtWork) {
        let hub = try await RunningHub()
        let proxy = try CutProxy(to: hub.port) { _, _ in nil }
        return (hub, proxy, try await StationAtWork(hub, address: proxy.address))
    }

    private static func states(_ hub: RunningHub) async throws -> [ISBN: QueueItem.State] {
        let items = try await hub.library.items(in: Set(QueueItem.State.allCases))
        return Dictionary(items.map { ($0.isbn, $0.state) }, uniquingKeysWith: { first, _ in first })
    }

    @Test(.timeLimit(.minutes(5)))
    func `gets again what the station has confirmed, skipped, undone and captured since`() async throws {
        let (hub, proxy, station) = try await Self.start()
        let items = try await station.capture(.dune, .emma, .solaris)
        let undone = try await station.confirm([items[2]])
        try await station.deliver()
        let backup = hub.folder + "/older.sqlite"
        _ = try await hub.library.backup(to: backup)
        try await station.confirm([items[0]])
        _ = try await station.outbox.skip([items[1].id], at: Date())
        _ = try await station.outbox.undo(try #require(undone[0].change), at: Date())
        try await station.confirm(try await station.capture(.kitchen, thumbnail: Self.jpeg))
        try await station.deliver()
        let (titles, before) = (try await hub.titles(), try await Self.states(hub))
        #expect(titles == ["Book 9780441478125", "Book 9780802142443"])

        let restored = try await hub.restored(from: backup)
        #expect(try await restored.titles() == ["Book 9780156027601"])
        proxy.hubPort = restored.port
        try await station.deliver()
        #expect(try await restored.titles() == titles)
        #expect(try await Self.states(restored) == before)
        let picture = try #require(await restored.library.items(in: [.confirmed]).first { $0.isbn == .kitchen })
        #expect(try await restored.library.thumbnail(of: picture.id) == Self.jpeg)

        // Nothing is sent twice.
        let changes = try await restored.library.changes(limit: 100).count
        try await station.deliver()
        #expect(try await restored.library.changes(limit: 100).count == changes)
        #expect(try await restored.titles() == titles)
        try station.remove()
        try await restored.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `gets again what was answered at the hub itself, as an item that waits or is skipped`() async throws {
        let (hub, proxy, station) = try await Self.start()
        let backup = hub.folder + "/older.sqlite"
        _ = try await hub.library.backup(to: backup)
        let items = try await station.capture(.dune, .emma)
        try await station.deliver()
        try await hub.library.edit(items[0].id) { metadata, _ in metadata.title = "At the hub" }
        let item = try #require(await hub.library.item(items[0].id))
        _ = try await hub.library.add([Candidate(item: item).confirm(by: .person)], at: Date())
        _ = try await hub.library.skip([items[1].id], at: Date())
        try await station.deliver()
        #expect(try await station.outbox.items(in: [.waiting]).isEmpty)

        let restored = try await hub.restored(from: backup)
        proxy.hubPort = restored.port
        try await station.deliver()
        #expect(try await Self.states(restored) == [.dune: .waiting, .emma: .skipped])
        #expect(try await restored.titles().isEmpty)
        #expect(try await station.outbox.items(in: [.waiting]).isEmpty, "the hub's household decides")
        try station.remove()
        try await restored.stop()
    }

    /// Two stations, each a process of its own, that were not running while the hub was restored.
    @Test(.timeLimit(.minutes(10)))
    func `gets every book once from two stations that run again later`() async throws {
        let hub = try await RunningHub()
        let books = [["9780441478125", "9780316769488"], ["9780385474542", "9780262510875", "9780316769488"]]
        var stations: [(program: ScanProgram, proxy: CutProxy)] = []
        for name in ["kitchen", "attic"] {
            let program = try ScanProgram()
            let proxy = try CutProxy(to: hub.port) { _, _ in nil }
            let (station, token) = try await hub.library.pair(ID(), named: name, at: Date())
            try program.pair(with: proxy.address, token: token, as: station)
            stations.append((program, proxy))
        }
        func capture(_ index: Int, _ isbns: [String]) async throws {
            let (program, proxy) = stations[index]
            let run = try await program.run(
                "--hub", proxy.address, "--stdin", "--yes", input: isbns.map { $0 + "\n" }.joined())
            #expect([0, 69].contains(run.status), "\(run.err)")
            let sent = try await program.deliver()
            #expect(sent.status == 0, "\(sent.err)")
        }
        try await capture(0, [books[0][0]])
        let backup = hub.folder + "/older.sqlite"
        _ = try await hub.library.backup(to: backup)
        try await capture(0, [books[0][1]])
        try await capture(1, books[1])
        let titles = try await hub.titles()
        #expect(titles.count == 4)

        let restored = try await hub.restored(from: backup)
        #expect(try await restored.titles().count == 1)
        for round in 1...2 {
            for (program, proxy) in stations {
                proxy.hubPort = restored.port
                let sent = try await program.deliver()
                #expect(sent.status == 0, "\(sent.err)")
            }
            #expect(try await restored.titles() == titles, "round \(round)")
        }
        for (program, _) in stations { try program.remove() }
        try await restored.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `gets nothing again if another library has taken its place, until a person asks for it`() async throws {
        let (hub, proxy, station) = try await Self.start()
        try await station.confirm(try await station.capture(.dune))
        let waiting = try await station.capture(.emma)
        try await station.deliver()

        let other = try await RunningHub()
        proxy.hubPort = other.port
        let (_, token) = try await other.library.pair(station.paired.id, named: "kitchen", at: Date())
        let events = Collected<HubEvent>()
        let client = HubClient(
            address: try HubAddress(proxy.address), userAgent: "Bookplate/test", certificateFile: nil, token: { token })
        let sender = HubSender(
            outbox: station.outbox, client: client, link: HubLink(), token: { token }, clock: ContinuousClock(),
            report: { events.add($0) })
        for _ in 1...2 { #expect(await sender.flush() == nil) }
        #expect(try await other.library.count(in: Set(QueueItem.State.allCases)) == 0)
        let news = events.all.flatMap(\.news)
        #expect(news == [.otherLibrary(count: 2)], "the news comes once")

        // What a person does here goes to the present library.
        try await station.confirm(waiting)
        #expect(await sender.flush() == nil)
        #expect(try await other.titles() == ["Book 9780140268867"])
        try await station.outbox.deliverToPresentLibrary()
        #expect(await sender.flush() == nil)
        #expect(try await other.titles() == ["Book 9780140268867", "Book 9780441478125"])
        #expect(try await hub.titles() == ["Book 9780441478125"])
        try station.remove()
        try await hub.stop()
        try await other.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `sends everything again with 'scan hub send --all' to a library that has taken the place`() async throws {
        let hub = try await RunningHub()
        let proxy = try CutProxy(to: hub.port) { _, _ in nil }
        let program = try ScanProgram()
        let (station, token) = try await hub.library.pair(ID(), named: "kitchen", at: Date())
        try program.pair(with: proxy.address, token: token, as: station)
        _ = try await program.run("--hub", proxy.address, "--isbn", "9780441478125", "--yes")
        #expect(try await program.deliver().status == 0)
        let other = try await RunningHub()
        proxy.hubPort = other.port
        let again = try await other.library.pair(station.id, named: "kitchen", at: Date())
        try program.pair(with: proxy.address, token: again.token, as: again.station)
        let sent = try await program.deliver()
        #expect(sent.status == 0)
        #expect(
            sent.err.contains("The hub now has another library. 1 capture that its earlier library received"),
            "\(sent.err)")
        #expect(try await other.titles().isEmpty)
        for _ in 1...2 { #expect(try await program.deliver("--all").status == 0) }
        #expect(try await other.titles() == ["The Left Hand of Darkness"])
        try program.remove()
        try await hub.stop()
        try await other.stop()
    }

    @Test(.timeLimit(.minutes(5)))
    func `does not get items again and again that it has refused`() async throws {
        let hub = try await RunningHub()
        let station = try await StationAtWork(hub)
        let items = try await station.capture(.dune, .emma)
        try await station.confirm([items[0]])
        try await station.deliver()
        // The station's settings were lost, so it was paired as a new station, with the same outbox.
        let (_, token) = try await hub.library.pair(ID(), named: "kitchen", at: Date())
        let events = Collected<HubEvent>()
        let client = HubClient(
            address: try HubAddress(hub.address), userAgent: "Bookplate/test", certificateFile: nil, token: { token })
        for _ in 1...3 {
            let sender = HubSender(
                outbox: station.outbox, client: client, link: HubLink(), token: { token }, clock: ContinuousClock(),
                report: { events.add($0) })
            #expect(await sender.flush() == nil)
        }
        let refused = events.all.flatMap(\.news)
        #expect(refused.count == 2, "\(refused)")
        #expect(try await hub.titles() == ["Book 9780441478125"])
        try station.remove()
        try await hub.stop()
    }
}

extension HubEvent {
    fileprivate var news: [HubNews] { if case .news(let news) = self { news } else { [] } }
}
