import Bookplate
import FaultServer
import Foundation
import GRDB
import Hub
import TestTools

@testable import Library

/// Something that a person does with the program, and what must hold whenever it is cut.
struct Operation: Sendable {
    /// The text that was printed until a moment, and whether the program had ended as it does when all went well.
    struct Moment: Sendable {
        var printed = ""
        var isOver = false
        /// True if the program has reported that it could not fetch a cover, and will fetch it later.
        var hasPostponed = false
    }

    enum Acknowledgement: Sendable {
        /// A line of JSON for every book, after its commit.
        case everyBook
        /// This text, after which everything is done. Before, everything is as it was.
        case text(String)
    }

    let name: String
    /// Variables of the program; an empty value removes one.
    var environment: [String: String] = [:]
    /// Makes the content of the home folder in which the operation begins.
    var prepare: @Sendable (Machine) throws -> Void = { _ in }
    var arguments: [String]
    var input = ""
    /// The exit status when all went well.
    var status: Int32 = 0
    var acknowledgement = Acknowledgement.everyBook
    /// Finds what is wrong with a state, besides what every operation is checked for.
    var findProblems: @Sendable (Machine, Moment) async throws -> [String] = { _, _ in [] }

    /// True if the whole operation was acknowledged.
    func isDone(at moment: Moment) -> Bool {
        if case .text(let text) = acknowledgement, moment.printed.contains(text) { return true }
        return moment.isOver
    }
}

/// The operations, and the servers that they need. BOOKPLATE_OPERATIONS names those to run, separated by commas; all by
/// default.
final class Operations {
    private let hub: HubProcess
    private let sources: FaultServer
    let all: [Operation]

    private static let isbns = ["9780441478125", "9780316769488", "9780385474542"]
    private static let more = ["9780262510875", "9780135957059", "9780132350884", "9780465050659"]
    private static let picture: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE0] + (0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 7) }

    init() throws {
        let hub = try HubProcess()
        let sources = try FaultServer()
        (self.hub, self.sources) = (hub, sources)
        let covered = "9780441013593"
        sources.on(
            "/api/books",
            .json(
                """
                {"ISBN:\(covered)": {"title": "Dune", "authors": [{"name": "Frank Herbert"}],
                "key": "/books/OL1M", "identifiers": {"isbn_13": ["\(covered)"], "openlibrary": ["OL1M"]},
                "cover": {"large": "\(sources.address)/b/id/77-L.jpg"}}}
                """))
        sources.on("/b/id/77-L.jpg", .answer(Self.picture, type: "image/jpeg"))
        let online = [
            "BOOKPLATE_OFFLINE": "", "BOOKPLATE_INDEX": "", "BOOKPLATE_OPENLIBRARY_URL": sources.address,
            "BOOKPLATE_COVERS_URL": sources.address, "BOOKPLATE_GOOGLEBOOKS_URL": sources.address,
        ]
        // A port on which nobody listens.
        let away = "http://127.0.0.1:9"
        let withBooks: @Sendable (Machine) throws -> Void = { machine in
            try machine.run("--stdin", "--yes", input: Self.isbns.joined(separator: "\n") + "\n")
        }
        let export = ScanProcess.samples.appendingPathComponent("exports/goodreads.csv").path
        let all = [
            Operation(name: "first run", arguments: ["--isbn", Self.isbns[0], "--yes", "--json"]),
            Operation(
                name: "capture", prepare: withBooks, arguments: ["--stdin", "--json"],
                input: Self.more.joined(separator: "\n") + "\n", status: 4),
            Operation(
                name: "save", prepare: withBooks, arguments: ["--stdin", "--yes", "--json"],
                input: Self.more.joined(separator: "\n") + "\n"),
            Operation(
                name: "add by hand", prepare: withBooks,
                arguments: ["library", "add", "--title", "A Diary", "--author", "Me", "--tag", "own", "--json"],
                acknowledgement: .text(#""title":"A Diary""#)),
            Operation(
                name: "import", prepare: withBooks, arguments: ["import", export],
                acknowledgement: .text("To undo this")),
            Operation(
                name: "undo",
                prepare: { machine in
                    try withBooks(machine)
                    try machine.run("import", export)
                }, arguments: ["undo", "--yes"], acknowledgement: .text("Undone.")),
            Operation(
                name: "backup", prepare: withBooks, arguments: ["backup"], acknowledgement: .text("verified."),
                findProblems: { machine, moment in
                    let backups = try LibraryFile.backups(in: LibraryFile.ownBackupFolder(of: machine.library))
                    return backups.contains { $0.books == 3 }
                        ? [] : ["no backup has the three books: \(backups)"]
                }),
            Operation(
                name: "restore",
                prepare: { machine in
                    try withBooks(machine)
                    try machine.run("backup")
                    try machine.run("--isbn", Self.more[0], "--yes")
                }, arguments: ["restore", "--yes"], acknowledgement: .text("Restored"),
                findProblems: Self.problemsOfRestore),
            Operation(
                name: "migration", prepare: Self.writeOldLibrary, arguments: ["library", "list", "--json"],
                acknowledgement: .text(#""title""#)),
            Operation(
                name: "cover", environment: online, prepare: withBooks,
                arguments: ["--isbn", covered, "--yes", "--json"], findProblems: Self.problemsOfCovers),
            Operation(
                name: "first setting", arguments: ["settings", "set", "contact", "new@example.org"],
                acknowledgement: .text("is set"), findProblems: { try Self.problemsOfSettings($0, $1, old: nil) }),
            Operation(
                name: "changed setting",
                prepare: { try $0.run("settings", "set", "contact", "old@example.org") },
                arguments: ["settings", "set", "contact", "new@example.org"],
                acknowledgement: .text("is set"),
                findProblems: { try Self.problemsOfSettings($0, $1, old: "old@example.org") }),
            Operation(
                name: "pairing", arguments: ["hub", "pair", hub.address, "--name", "kitchen"],
                input: HubProcess.code + "\n", acknowledgement: .text("Paired with"),
                findProblems: Self.problemsOfPairing),
            Operation(
                name: "capture for a hub that is away",
                prepare: { machine in
                    try PairedHubs(path: machine.disk + "/.config/bookplate/hub.json").save(
                        PairedHub(address: away, token: "t", name: "kitchen", station: ID()))
                },
                arguments: ["--hub", away, "--stdin", "--yes", "--json"],
                input: Self.more.joined(separator: "\n") + "\n", status: 69,
                findProblems: { try await Self.problemsOfOutbox($0, $1, hub: away) }),
            Operation(
                name: "delivery to a hub",
                prepare: { [address = hub.address] machine in
                    try machine.run("hub", "pair", address, "--name", "kitchen", input: HubProcess.code + "\n")
                },
                arguments: ["--hub", hub.address, "--stdin", "--yes", "--json"],
                input: Self.more.joined(separator: "\n") + "\n",
                findProblems: { [scan = hub.scan, address = hub.address] machine, moment in
                    try await Self.problemsOfDelivery(machine, moment, address, hub: scan)
                }),
        ]
        let chosen = ProcessInfo.processInfo.environment["BOOKPLATE_OPERATIONS"]?.split(separator: ",").map(String.init)
        self.all = all.filter { chosen?.contains($0.name) ?? true }
    }

    func end() throws {
        sources.stop()
        try hub.end()
    }

    // MARK: What else must hold

    /// The library that a restore replaced is moved aside with all its books.
    private static func problemsOfRestore(_ machine: Machine, _ moment: Operation.Moment) throws -> [String] {
        guard try machine.books().count == 3 else { return [] }
        let folder = (machine.library as NSString).deletingLastPathComponent
        let aside = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasPrefix("library.sqlite.before-restore-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        for name in aside {
            let count = try DatabaseQueue(path: folder + "/" + name).read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM copy") ?? 0
            }
            if count == 4 { return [] }
        }
        return ["the library that was replaced is not there with its four books: \(aside)"]
    }

    /// Every cover that the library names is there, whole.
    private static func problemsOfCovers(_ machine: Machine, _ moment: Operation.Moment) async throws -> [String] {
        let library = try LibraryFile.open(at: machine.library)
        var problems: [String] = []
        var count = 0
        for book in try await library.books(matching: BookQuery()).books {
            guard try await library.keptCover(of: book.edition.id) != nil else { continue }
            count += 1
            if try await library.cover(of: book.edition.id) != picture {
                problems.append("the cover of \(book.edition.metadata.title ?? "?") is not whole")
            }
        }
        try await library.close()
        if moment.isOver, count != 1, !moment.hasPostponed {
            problems.append("the cover that was fetched is not there")
        }
        return problems
    }

    private static func problemsOfSettings(_ machine: Machine, _ moment: Operation.Moment, old: String?) throws
        -> [String]
    {
        let lines = try machine.run("settings", "--json").objects()
        let value = lines.first { $0["name"] as? String == "contact" }?["value"] as? String
        let isDone = moment.isOver || moment.printed.contains("is set")
        if value == "new@example.org" || (value == old && !isDone) { return [] }
        return ["the setting is \(value ?? "not set")"]
    }

    private static func problemsOfPairing(_ machine: Machine, _ moment: Operation.Moment) throws -> [String] {
        let hubs = try machine.run("hub", "status", "--json").objects()
        let isDone = moment.isOver || moment.printed.contains("Paired with")
        if hubs.isEmpty { return isDone ? ["the station is not paired"] : [] }
        return hubs.count == 1 && hubs[0]["standing"] as? String == "up" ? [] : ["the pairing is half there: \(hubs)"]
    }

    /// Every item that was captured waits in the outbox.
    private static func problemsOfOutbox(_ machine: Machine, _ moment: Operation.Moment, hub: String) async throws
        -> [String]
    {
        let hubs = try machine.run("hub", "status", "--json").objects()
        let items = try await itemsInOutbox(machine, hub: hub)
        var problems = try problemsOfItems(items, moment)
        if hubs.count != 1 || hubs[0]["waiting"] as? Int != items.count {
            problems.append("\(items.count) items are in the outbox, but the program says \(hubs)")
        }
        return problems
    }

    /// Returns the state of each item in the outbox, which also keeps delivered items, by its ISBN.
    private static func itemsInOutbox(_ machine: Machine, hub: String) async throws -> [String: QueueItem.State] {
        let name = try HubAddress(hub).name
        let path = (machine.library as NSString).deletingLastPathComponent + "/outbox/\(name)/library.sqlite"
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        let outbox = try await LibraryFile.openOutbox(at: path, hub: hub)
        let items = try await outbox.items(in: Set(QueueItem.State.allCases))
        try await outbox.close()
        return Dictionary(items.map { ($0.isbn.digits, $0.state) }, uniquingKeysWith: { first, _ in first })
    }

    private static func problemsOfItems(_ items: [String: QueueItem.State], _ moment: Operation.Moment) throws
        -> [String]
    {
        let lost = try moment.isbns("captured").filter { items[$0] == nil }.map { "\($0) was lost" }
        let unconfirmed = try moment.isbns("saved").filter { items[$0] != .confirmed }
        return lost + unconfirmed.map { "the confirmation of \($0) was lost" }
    }

    /// Everything that was acknowledged is still in the outbox. After the next delivery, the hub has every book exactly
    /// once; it may have it from an earlier state.
    private static func problemsOfDelivery(
        _ machine: Machine, _ moment: Operation.Moment, _ address: String, hub: ScanProcess
    ) async throws -> [String] {
        let lost = try problemsOfItems(try await itemsInOutbox(machine, hub: address), moment)
        try machine.run("hub", "send")
        let isbns = try hub.run("library", "list", "--json").objects().compactMap { $0["isbn13"] as? String }
        let hubs = try machine.run("hub", "status", "--json").objects()
        var problems = lost
        if isbns.sorted() != more.sorted() { problems.append("the hub has \(isbns)") }
        if hubs.first?["waiting"] as? Int != 0 { problems.append("the outbox is not empty: \(hubs)") }
        return problems
    }

    /// Writes a library with version 1 of the schema.
    private static func writeOldLibrary(_ machine: Machine) throws {
        try FileManager.default.createDirectory(
            atPath: (machine.library as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        let old = try DatabaseQueue(path: machine.library)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 books, intake queue, changes") { db in
            try Schema.createFirstSchema(db)
            try Schema.createUndoTriggers(db)
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 1")
            for number in 1...20 {
                try db.execute(
                    sql: """
                        INSERT INTO edition (id, uuid, title, folded)
                        VALUES (\(number), 'e\(number)', 'Book \(number)', 'book \(number)');
                        INSERT INTO copy (id, uuid, edition, status, added)
                        VALUES (\(number), 'c\(number)', \(number), 'read', \(number));
                        """)
            }
        }
        try migrator.migrate(old)
        try old.close()
    }
}

extension Operation.Moment {
    /// Returns the ISBNs that were acknowledged with events of this name.
    func isbns(_ event: String) throws -> [String] { try ScanProcess.isbns(of: event, in: printed) }
}
