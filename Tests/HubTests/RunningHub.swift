import Bookplate
import Foundation
import HTTP
import Hub
import Kiosk
import Library
import Logging
import Station
import Synchronization

/// A hub: a kiosk on a free port, with a library in a temporary folder.
final class RunningHub: Sendable {
    let library: LibraryFile
    let port: Int
    let folder: String
    private let server: KioskServer
    private let task: Task<Void, any Error>

    /// - Parameter folder: the folder of a hub that was stopped; by default, a new folder.
    init(accessCode: String? = nil, in folder: String? = nil) async throws {
        let folder = try folder ?? temporaryFolder("hub")
        self.folder = folder
        let library = try LibraryFile.open(at: folder + "/library.sqlite", device: "hub")
        self.library = library
        var configuration = KioskServer.Configuration()
        (configuration.port, configuration.version) = (0, "test")
        if let accessCode { try await library.setAccessCode(accessCode, at: .now) }
        let kioskPorts = KioskPorts(library: library)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = try KioskServer(configuration, ports: kioskPorts, logger: Self.logger) { port.yield($0.http) }
        self.server = server
        task = Task { try await server.run() }
        self.port = await ports.first { _ in true } ?? 0
    }

    var address: String { "http://127.0.0.1:\(port)" }

    /// A silent logger that keeps the metadata that Hummingbird needs: the id of the request.
    private static let logger = Logger(label: "hub") { label in
        var handler = StreamLogHandler.standardError(label: label)
        handler.logLevel = .critical
        return handler
    }

    func stop() async throws {
        await server.stop()
        _ = await task.result
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Stops the hub, puts a backup in place of its library, and starts it again, on another port.
    func restored(from backup: String) async throws -> RunningHub {
        let identity = try await library.identity()
        await server.stop()
        _ = await task.result
        try await library.close()
        _ = try LibraryFile.restore(
            from: backup, to: folder + "/library.sqlite", keeping: identity, at: Date())
        return try await RunningHub(in: folder)
    }

    /// Returns the titles of the books, sorted.
    func titles() async throws -> [String] {
        try await library.books(matching: BookQuery()).books.compactMap(\.edition.metadata.title).sorted()
    }
}

/// A station with an outbox, paired with a hub.
final class StationAtWork: Sendable {
    let outbox: LibraryFile
    let folder: String
    let token: String
    let paired: PairedStation
    let client: HubClient
    let link = HubLink()
    let events = Collected<HubEvent>()
    let sender: HubSender<ContinuousClock>

    /// - Parameter address: the address to which the station connects, such as that of a proxy; by default, the hub's
    ///   own.
    init(_ hub: RunningHub, name: String = "kitchen", address: String? = nil) async throws {
        folder = try temporaryFolder("station")
        let (paired, token) = try await hub.library.pair(ID(), named: name, at: Date())
        (self.paired, self.token) = (paired, token)
        outbox = try await LibraryFile.openOutbox(at: folder + "/library.sqlite", hub: "test", device: name)
        client = HubClient(
            address: try HubAddress(address ?? hub.address), userAgent: "Bookplate/test", certificateFile: nil,
            token: { token })
        sender = HubSender(
            outbox: outbox, client: client, link: link, token: { token }, clock: ContinuousClock(),
            report: { [events] in events.add($0) })
    }

    func remove() throws { try FileManager.default.removeItem(atPath: folder) }

    /// Long enough for a busy machine, because no test is about a slow hub.
    private static let timeout: Duration = .seconds(60)

    var shelf: HubShelf { HubShelf(outbox: outbox, client: client, link: link, timeout: Self.timeout) }
    var flow: CaptureFlow {
        let lookup = HubLookup(client: client, link: link, own: NoSource(), timeout: Self.timeout)
        return CaptureFlow(queue: outbox, shelf: shelf, lookup: lookup)
    }

    @discardableResult
    func capture(_ isbns: ISBN..., thumbnail: [UInt8]? = nil) async throws -> [QueueItem] {
        try await flow.enqueue(isbns.map { Detection(isbn: $0, raw: $0.digits, origin: .camera, thumbnail: thumbnail) })
    }

    /// Gives the item a title and confirms it.
    @discardableResult
    func confirm(_ items: [QueueItem], anotherCopy: Bool = false) async throws -> [SaveResult] {
        for item in items {
            try await outbox.edit(item.id) { metadata, _ in metadata.title = "Book \(item.isbn.digits)" }
        }
        var confirmed: [Confirmed] = []
        for item in items {
            guard let now = try await outbox.item(item.id) else { continue }
            confirmed.append(try Candidate(item: now).confirm(by: .person, anotherCopy: anotherCopy))
        }
        return try await flow.save(confirmed)
    }

    /// Retries until the hub has everything, and its answers have come. A cut needs one retry.
    func deliver(tries: Int = 12) async throws {
        for _ in 0..<tries where await sender.flush() == nil && link.status == .up { return }
        throw NotDelivered()
    }

    struct NotDelivered: Error {}
}

/// A source that knows no book.
struct NoSource: MetadataLookup {
    func lookUp(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool) -> AsyncStream<LookupAnswer> {
        AsyncStream { continuation in
            for isbn in isbns {
                continuation.yield(
                    LookupAnswer(isbn: isbn, outcome: .temporary(SourceError(source: nil, reason: "no network"))))
            }
            continuation.finish()
        }
    }
}

func temporaryFolder(_ what: String) throws -> String {
    let folder = "/tmp/bookplate-\(what)-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
}

extension ISBN {
    static let dune = sample("9780441478125")
    static let emma = sample("9780140268867")
    static let solaris = sample("9780156027601")
    static let kitchen = sample("9780802142443")

    static func sample(_ text: String) -> ISBN {
        do { return try ISBN(text) } catch { preconditionFailure("\(text) is no ISBN: \(error)") }
    }
}

extension SaveResult {
    var isSaved: Bool { if case .saved = self { true } else { false } }
    var isOwned: Bool { if case .owned = self { true } else { false } }
}

/// Values that several tasks have collected.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    var all: [Element] { elements.withLock { $0 } }
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
}
