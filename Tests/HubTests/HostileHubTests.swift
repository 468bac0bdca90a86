import Bookplate
import FaultServer
import Foundation
import Library
import Synchronization
import TestTools
import Testing

@testable import Hub

/// Any server may answer at the hub's address.
@Suite struct `A server that is no hub` {
    private static let receipt = """
        {"id":"11111111-1111-7111-8111-111111111111","revision":1,"state":"confirmed","outcome":"saved"}
        """

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("a page", Reply.page("<h1>Sign in</h1>")), ("no JSON", .json("{")), ("other JSON", .json(#"{"a":1}"#)),
            ("what was not asked", .json(#"{"items":[\#(receipt)]}"#)), ("nothing of it", .json(#"{"items":[]}"#)),
            ("an endless body", .endless), ("a gzip bomb", .gzipBomb(size: 64 << 20)),
            ("endless headers", .endlessHeaders),
            ("a reset", .reset), ("half an answer", .cut("{\"items\"", length: 100)),
            ("a redirect", .redirect(to: "/x")),
            ("its own fault", .status(500)), ("no room", .status(507)), ("another's limit", .status(413)),
            ("another's refusal", .status(400)), ("another's door", .status(403)),
            ("its own door", .json(#"{"error":{"code":"foreignHost","message":"Not by that name."}}"#, status: 403)),
            ("much too busy", .status(429, headers: ["Retry-After": "99999999999"])),
        ])
    func `loses nothing, and changes nothing`(_ name: String, _ reply: Reply) async throws {
        let server = try FaultServer()
        server.on("/api/hub/items", reply)
        server.on("/api/hub/books", reply)
        let folder = try temporaryFolder("station")
        let outbox = try await LibraryFile.openOutbox(at: folder + "/library.sqlite", hub: "test")
        let link = HubLink()
        let client = HubClient(
            address: try HubAddress(server.address), userAgent: "test", certificateFile: nil, token: { "token" })
        let sender = HubSender(outbox: outbox, client: client, link: link, token: { "token" }, clock: ContinuousClock())
        let items = try await outbox.enqueue(
            [Detection(isbn: .dune, raw: "x", origin: .camera)], preset: Preset(), lease: .zero, at: Date())
        #expect(await sender.flush() != nil)
        #expect(try await outbox.undeliveredCount() == 1)
        #expect(try await outbox.item(items[0].id)?.state == .waiting)
        guard case .away = link.status else {
            Issue.record("\(link.status)")
            return
        }
        let shelf = HubShelf(outbox: outbox, client: client, link: HubLink())
        #expect(try await shelf.books(with: [.dune]).isEmpty)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(arguments: [
        ("http://books.example", false), ("http://books.example.local.evil.example", false), ("ftp://x", false),
        ("https://books.example/path", false), ("https://user@books.example", false), ("books.example", false),
        ("https://books.example", true), ("192.168.0.20", true), ("http://192.168.0.20:9000", true),
        ("shelf.local", true), ("http://[fd00::1]:8278", true), ("localhost:8278", true),
    ])
    func `is refused by its address if plain http would leave the home network`(_ text: String, _ isFine: Bool) {
        let address = try? HubAddress(text)
        #expect((address != nil) == isFine)
    }

    @Test(arguments: [
        ("192.168.0.20", "http://192.168.0.20:8278", "192.168.0.20-8278"),
        ("https://books.example", "https://books.example", "books.example"),
        ("http://[fd00::1]:9000", "http://[fd00::1]:9000", "fd00--1-9000"),
        ("http://shelf.local", "http://shelf.local", "shelf.local"),
    ])
    func `has one address in all spellings, and a folder name`(_ text: String, _ full: String, _ name: String)
        throws
    {
        let address = try HubAddress(text)
        #expect(address.description == full && address.name == name)
    }

    // The addresses for documentation (RFC 5737) lead nowhere. They are refused before anything is sent.
    @Test func `at a public address gets no connection over plain http`() async throws {
        let client = HubClient(
            address: try HubAddress("http://203.0.113.7:9"), userAgent: "test", certificateFile: nil,
            token: { "secret" })
        await #expect {
            _ = try await client.status(of: [])
        } throws: { error in
            if case .badAddress = error as? HubError { true } else { false }
        }
    }

    @Test func `has its token in a file that only the owner can read`() throws {
        let folder = try temporaryFolder("hubs")
        let hubs = PairedHubs(path: folder + "/bookplate/hub.json")
        #expect(try hubs.all().isEmpty)
        let hub = PairedHub(address: "http://127.0.0.1:1", token: "t", name: "kitchen", station: ID())
        try hubs.save(hub)
        let rights = try FileManager.default.attributesOfItem(atPath: folder + "/bookplate/hub.json")[.posixPermissions]
        #expect(rights as? Int == 0o600)
        #expect(try hubs.all() == [hub])
        try Data("{".utf8).write(to: URL(fileURLWithPath: folder + "/bookplate/hub.json"))
        #expect(throws: PairedHubsError.garbled(path: folder + "/bookplate/hub.json")) { try hubs.all() }
        try FileManager.default.removeItem(atPath: folder)
    }

    // The file is written, but cannot be renamed to the name of a folder.
    @Test func `leaves no token behind if the file cannot be replaced`() throws {
        let folder = try temporaryFolder("hubs")
        let hub = PairedHub(address: "http://127.0.0.1:1", token: "t", name: "kitchen", station: ID())
        #expect {
            try PairedHubs(path: folder + "/hub.json/").save(hub)
        } throws: { error in
            if case .unwritable = error as? PairedHubsError { true } else { false }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        try FileManager.default.removeItem(atPath: folder)
    }
}

/// The pauses of the sender, on a clock that jumps.
@Suite struct `The sender's pauses` {
    @Test(arguments: [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (100, 60)])
    func `grow from one second to sixty`(_ failures: Int, _ seconds: Int) {
        #expect(HubSender<ContinuousClock>.pause(after: failures) == .seconds(seconds))
    }

    @Test(.timeLimit(.minutes(5)))
    func `separate attempts while the hub is away, and end when it is back`() async throws {
        let folder = try temporaryFolder("station")
        let outbox = try await LibraryFile.openOutbox(at: folder + "/library.sqlite", hub: "test")
        _ = try await outbox.enqueue(
            [Detection(isbn: .dune, raw: "x", origin: .camera)], preset: Preset(), lease: .zero, at: Date())
        let hub = FlakyHub(failures: 8)
        let clock = JumpClock()
        let sender = HubSender(
            outbox: outbox, client: hub, link: HubLink(), token: { "t" }, clock: clock, jitter: { 1 })
        let task = Task { await sender.run() }
        try await wait(for: "the delivery") { try await outbox.undeliveredCount() == 0 }
        task.cancel()
        await task.value
        let pauses = [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) }
        #expect(Array(clock.slept.prefix(8)) == pauses)
        try FileManager.default.removeItem(atPath: folder)
    }
}

/// A hub that does not answer the first calls.
private final class FlakyHub: HubAPI {
    private let failures: Mutex<Int>
    /// The answers of an older version name neither the library nor its opening.
    private let old = HubInstance(library: nil, opening: nil)
    init(failures: Int) { self.failures = Mutex(failures) }

    func deliver(_ deliveries: [HubDelivery]) async throws(HubError) -> HubAnswer {
        let isAway = failures.withLock { failures in
            failures -= 1
            return failures >= 0
        }
        if isAway { throw .away("not there") }
        return HubAnswer(
            deliveries.map {
                HubReceipt(id: $0.id, revision: $0.revision, state: $0.state, outcome: .accepted)
            }, from: old)
    }
    func status(of items: [ID<QueueItem>]) async throws(HubError) -> HubAnswer {
        HubAnswer(items.map { HubReceipt(id: $0, revision: 1, state: .waiting, outcome: .accepted) }, from: old)
    }
    func keep(thumbnail jpeg: [UInt8], of item: ID<QueueItem>) async throws(HubError) {}
    func books(_ isbns: [ISBN], within limit: Duration) async throws(HubError) -> [HubBook] { [] }
}
