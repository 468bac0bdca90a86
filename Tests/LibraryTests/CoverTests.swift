import Bookplate
import SystemCalls
import FoundationEssentials
import GRDB
import Glibc
import Synchronization
import Testing

@testable import Library

@Suite struct CoverTests {
    let folder = Folder()
    let clock = HandClock()
    let library: LibraryFile

    init() throws {
        let clock = clock
        library = try LibraryFile.open(at: folder("library.sqlite"), clock: { clock.now })
    }

    private func edition(_ number: Int) async throws -> ID<Edition> {
        try await library.save(
            isbn(number),
            record("Book \(number)") { $0.coverURL = "https://covers.openlibrary.org/b/id/\(number)-L.jpg" }
        ).edition.id
    }

    @Test func `a fetched picture is stored, and the edition no longer needs one`() async throws {
        let (one, two) = try await (edition(1), edition(2))
        // The newest editions come first, because a person looks at the books that were just scanned.
        #expect(try await library.editionsWithoutCover(limit: 9).map(\.edition) == [two, one])
        #expect(try await library.editionsWithoutCover(limit: 1).map(\.edition) == [two])
        #expect(try await library.cover(of: one) == nil)
        try await library.keepCover([1, 2, 3], of: one)
        #expect(try await library.cover(of: one) == [1, 2, 3])
        #expect(try await library.editionsWithoutCover(limit: 9).map(\.edition) == [two])
        #expect(
            try await library.editionsWithoutCover(limit: 9).first?.url == "https://covers.openlibrary.org/b/id/2-L.jpg"
        )
        #expect(names(in: folder("covers")) == [file(one)])
    }

    /// The name of a picture that was stored at noon.
    private func file(_ edition: ID<Edition>) -> String {
        "\(edition.rawValue)-\(Int64(noon.timeIntervalSince1970 * 1000))"
    }

    @Test func `a person's photo is never replaced by a fetched one`() async throws {
        let one = try await edition(1)
        try await library.keepCover([1], of: one)
        try await library.keepOwnCover([2], of: one)
        try await library.keepCover([3], of: one)
        try await library.recordMissingCover(of: one, retryAt: nil)
        #expect(try await library.cover(of: one) == [2])
    }

    @Test func `a person's photo can be removed, and the edition needs a fetched picture again`() async throws {
        let one = try await edition(1)
        #expect(try await library.keptCover(of: one) == nil)
        try await library.keepCover([1, 2], of: one)
        #expect(try await library.keptCover(of: one) == KeptCover(isOwn: false, bytes: 2, stored: noon))
        // A fetched picture cannot be removed in this way.
        #expect(try await !library.removeOwnCover(of: one))
        clock.now = noon.addingTimeInterval(5)
        try await library.keepOwnCover([3], of: one)
        #expect(try await library.keptCover(of: one) == KeptCover(isOwn: true, bytes: 1, stored: clock.now))
        #expect(try await library.removeOwnCover(of: one))
        #expect(try await library.keptCover(of: one) == nil)
        #expect(try await library.cover(of: one) == nil)
        #expect(names(in: folder("covers")).isEmpty)
        #expect(try await library.editionsWithoutCover(limit: 9).map(\.edition) == [one])
        #expect(try await !library.removeOwnCover(of: one))
    }

    @Test func `a person's photo stays until its removal is committed`() async throws {
        let one = try await edition(1)
        try await library.keepOwnCover([1], of: one)
        // With this trigger, the transaction fails at the commit, not before.
        try await library.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE late (edition INTEGER REFERENCES edition (id) DEFERRABLE INITIALLY DEFERRED);
                    CREATE TRIGGER late AFTER DELETE ON cover BEGIN INSERT INTO late VALUES (-1); END
                    """)
        }
        await #expect(throws: (any Error).self) { try await library.removeOwnCover(of: one) }
        #expect(try await library.cover(of: one) == [1])
    }

    @Test(arguments: [false, true])
    func `a person's photo stays until the one that replaces it is committed`(isOfVersion01: Bool) async throws {
        let one = try await edition(1)
        try await library.keepOwnCover([1], of: one)
        if isOfVersion01 { #expect(rename(folder("covers/") + file(one), folder("covers/") + one.rawValue) == 0) }
        let name = names(in: folder("covers"))
        // With this trigger, the transaction fails at the commit, not before.
        try await library.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE late (edition INTEGER REFERENCES edition (id) DEFERRABLE INITIALLY DEFERRED);
                    CREATE TRIGGER late AFTER UPDATE ON cover BEGIN INSERT INTO late VALUES (-1); END
                    """)
        }
        await #expect(throws: (any Error).self) { try await library.keepOwnCover([2], of: one) }
        #expect(try await library.cover(of: one) == [1])
        #expect(names(in: folder("covers")) == name)
        try await library.write { db in try db.execute(sql: "DROP TRIGGER late") }
        try await library.keepOwnCover([3], of: one)
        #expect(try await library.cover(of: one) == [3])
        #expect(names(in: folder("covers")).count == 1 && names(in: folder("covers")) != name)
    }

    @Test func `the newest picture stays if the database is older than it`() async throws {
        let one = try await edition(1)
        try await library.keepOwnCover([1], of: one)
        clock.now = noon.addingTimeInterval(60)
        try await library.keepOwnCover([2], of: one)
        // As after the restore of a backup.
        try await library.write { db in try db.execute(sql: "UPDATE cover SET stored = stored - 60000") }
        clock.now = Date().addingTimeInterval(7200)
        try await library.sweepCovers()
        #expect(try await library.cover(of: one) == [2])
    }

    @Test func `a missing picture is fetched again at the given time, or never`() async throws {
        let (one, two) = try await (edition(1), edition(2))
        try await library.recordMissingCover(of: one, retryAt: nil)
        try await library.recordMissingCover(of: two, retryAt: noon.addingTimeInterval(60))
        #expect(try await library.editionsWithoutCover(limit: 9).isEmpty)
        clock.now = noon.addingTimeInterval(61)
        #expect(try await library.editionsWithoutCover(limit: 9).map(\.edition) == [two])
    }

    @Test func `the oldest fetched pictures are removed if there are too many, a person's never`() async throws {
        var editions: [ID<Edition>] = []
        for number in 0..<5 {
            editions.append(try await edition(number))
            clock.now = noon.addingTimeInterval(Double(number))
            let picture = [UInt8](repeating: 7, count: 100)
            if number == 0 {
                try await library.keepOwnCover(picture, of: editions[0])
            } else {
                try await library.keepCover(picture, of: editions[number])
            }
        }
        try await library.evictCovers(over: 250)
        let kept = try await [
            library.cover(of: editions[0]), library.cover(of: editions[1]), library.cover(of: editions[2]),
            library.cover(of: editions[3]), library.cover(of: editions[4]),
        ].map { $0 != nil }
        #expect(kept == [true, false, false, true, true])
        #expect(names(in: folder("covers")).count == 3)
        #expect(try await library.editionsWithoutCover(limit: 9).isEmpty)
    }

    @Test func `a person's photo that another process stores while a fetched picture is removed stays`() async throws {
        let one = try await edition(1)
        try await library.keepCover([1], of: one)
        let other = try LibraryFile.open(at: folder("library.sqlite"))
        let photo = AfterCommit { [path = folder("covers/") + file(one)] in
            // This stores a photo after the commit that removes the picture's row, but before the picture's file is
            // removed.
            try other.database.write { db in try db.execute(sql: "UPDATE cover SET state = 'person', bytes = 1") }
            try replaceFile(path, with: [2], mode: 0o600)
        }
        library.database.add(transactionObserver: photo)
        try await library.evictCovers(over: 0)
        #expect(photo.isDone)
        #expect(try await library.cover(of: one) == [2])
    }

    @Test func `a new cover address is fetched again`() async throws {
        let one = try await edition(1)
        try await library.keepCover([1], of: one)
        var book = try #require(try await library.books(with: [isbn(1)])[isbn(1)]?.first)
        book.edition.metadata.coverURL = "https://archive.org/x.jpg"
        _ = try await library.update(book, at: noon)
        let missing = try #require(try await library.editionsWithoutCover(limit: 9).first)
        #expect(missing.url == "https://archive.org/x.jpg" && missing.isChosen && missing.isbn == isbn(1))
        #expect(try await library.cover(of: one) == [1], "the picture stays until there is another")
        try await library.keepCover([2], of: one)
        #expect(try await library.cover(of: one) == [2])
        #expect(try await library.editionsWithoutCover(limit: 9).isEmpty)
        book.edition.metadata.coverURL = nil
        _ = try await library.update(book, at: noon)
        #expect(try await library.cover(of: one) == nil)
        #expect(try await library.editionsWithoutCover(limit: 9).isEmpty)
    }

    @Test func `a worse picture never replaces a better one`() async throws {
        let one = try await edition(1)
        let (large, small, blank) = (
            picture(600, 900, bytes: 90_000), picture(120, 180, bytes: 9000), picture(5, 5)
        )
        for (bytes, kept) in [(small, small), (blank, small), (large, large), (small, large), (blank, large)] {
            try await library.keepCover(bytes, of: one)
            #expect(try await library.cover(of: one) == kept)
        }
        #expect(try await library.editionsWithoutCover(limit: 9).isEmpty)
    }

    /// Returns the head of a PNG of this size, with as many bytes as it needs at least.
    private func picture(_ width: Int, _ height: Int, bytes count: Int = 40) -> [UInt8] {
        let head: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        let size = [width, height].flatMap { [0, 0, UInt8($0 >> 8), UInt8($0 & 0xFF)] as [UInt8] }
        return head + size + [UInt8](repeating: 1, count: max(0, count - 24))
    }

    @Test func `a German book without an address may have a cover at its national library`() async throws {
        let german = try ISBN("9783161484100")
        let book = try await library.save(german, record("Ein Buch"))
        let missing = try await library.editionsWithoutCover(limit: 9)
        #expect(missing == [MissingCover(edition: book.edition.id, isbn: german, url: nil, isChosen: false)])
        var cleared = book
        cleared.edition.metadata.coverURL = "https://archive.org/x.jpg"
        _ = try await library.update(cleared, at: noon)
        cleared.edition.metadata.coverURL = nil
        _ = try await library.update(cleared, at: noon)
        #expect(try await library.editionsWithoutCover(limit: 9).isEmpty, "a person has cleared the address")
    }

    @Test func `pictures of deleted books are swept`() async throws {
        let (one, two) = try await (edition(1), edition(2))
        try await library.keepCover([1], of: one)
        try await library.keepCover([2], of: two)
        let book = try #require(try await library.books(with: [isbn(2)])[isbn(2)]?.first)
        _ = try await library.trash([book.id], at: noon)
        try await library.purge([book.id])
        clock.now = Date()
        try await library.sweepCovers()
        #expect(names(in: folder("covers")).count == 2)
        clock.now = Date().addingTimeInterval(7200)
        try await library.sweepCovers()
        #expect(names(in: folder("covers")) == [file(one)])
        #expect(try await library.cover(of: one) == [1])
    }

    @Test func `a person's photo comes back when the undone save of its book is redone`() async throws {
        let edition = try await edition(1)
        try await library.keepOwnCover([7], of: edition)
        let change = try #require(try await library.lastChange())
        _ = try await library.undo(change.id, at: noon)
        #expect(try await library.cover(of: edition) == nil)
        clock.now = Date().addingTimeInterval(7200)
        try await library.sweepCovers()
        _ = try await library.redo(change.id, at: noon)
        #expect(try await library.cover(of: edition) == [7])
        #expect(try await library.keptCover(of: edition)?.isOwn == true)
    }

    @Test func `a picture that cannot be removed after its book is reported`() async throws {
        let book = try await library.save(isbn(1), record("Book"))
        _ = try await library.trash([book.id], at: noon)
        // A file where the folder of the pictures should be.
        try write([], to: folder("covers"))
        let logged = Mutex<[String]>([])
        library.onError { text in logged.withLock { $0.append(text) } }
        try await library.purge([book.id])
        #expect(try await library.book(book.id) == nil)
        #expect(logged.withLock(\.count) == 1)
        #expect(logged.withLock(\.first)?.hasPrefix("cannot remove the pictures of deleted books: ") == true)
    }

    @Test(arguments: ["../library.sqlite", "..", ".hidden", "a/../../library.sqlite"])
    func `never leaves its folder, even if an id in the library is a path`(id: String) async throws {
        let book = try await library.save(isbn(1), record("Book"))
        try await library.write { db in
            try db.execute(sql: "UPDATE edition SET uuid = ?", arguments: [id])
            try db.execute(sql: "INSERT INTO cover VALUES (1, 'person', 1, 1, NULL)")
        }
        let edition = ID<Edition>(rawValue: id)
        #expect(try await library.cover(of: edition) == nil)
        await #expect(throws: LibraryError.noSuchEdition(edition)) {
            try await library.keepOwnCover([1], of: edition)
        }
        _ = try await library.trash([book.id], at: noon)
        try await library.purge([book.id])
        try await library.sweepCovers()
        #expect(try await library.books(matching: BookQuery()).total == 0)
        #expect(try fileFacts(folder("library.sqlite")) != nil)
    }

    @Test func `refuses too large pictures, and ids that are unknown or a path`() async throws {
        let one = try await edition(1)
        await #expect(throws: LibraryError.coverTooLarge(bytes: (5 << 20) + 1, limit: 5 << 20)) {
            try await library.keepCover([UInt8](repeating: 0, count: (5 << 20) + 1), of: one)
        }
        for name in ["../library.sqlite", "", "none"] {
            let id = ID<Edition>(rawValue: name)
            #expect(try await !library.keepCover([1], of: id))
            await #expect(throws: LibraryError.noSuchEdition(id)) { try await library.keepOwnCover([1], of: id) }
            #expect(try await library.cover(of: id) == nil)
        }
    }
}

/// Runs a closure once, right after the next commit.
private final class AfterCommit: TransactionObserver, Sendable {
    private let act: @Sendable () throws -> Void
    private let state = Mutex((isDue: true, isDone: false))

    init(_ act: @escaping @Sendable () throws -> Void) { self.act = act }

    var isDone: Bool { state.withLock(\.isDone) }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseDidCommit(_ db: Database) {
        let isDue = state.withLock { state in
            defer { state.isDue = false }
            return state.isDue
        }
        guard isDue else { return }
        do {
            try act()
            state.withLock { $0.isDone = true }
        } catch {
            Issue.record(error)
        }
    }
}

/// A wall clock that a test can set.
final class HandClock: Sendable {
    private let instant = Mutex(noon)

    var now: Date {
        get { instant.withLock { $0 } }
        set { instant.withLock { $0 = newValue } }
    }
}
