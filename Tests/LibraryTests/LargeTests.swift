import Bookplate
import Foundation
import GRDB
import LibraryMaker
import Synchronization
import Testing

@testable import Library

/// 100,000 books with `script/test --long`.
private let isLong = ProcessInfo.processInfo.environment["BOOKPLATE_LONG_TESTS"] != nil

@Suite struct `A large library` {
    let folder = Folder()

    @Test func `is backed up, damaged and restored whole, while another goes on writing`() async throws {
        let books = isLong ? 100_000 : 10_000
        let path = folder("library.sqlite")
        try await makeLibrary(at: path, copies: books)
        let library = try LibraryFile.open(at: path)
        let owned = try await library.books(matching: BookQuery()).total
        let before = try await library.read { db in try rowCounts(db) }
        let other = try LibraryFile.open(at: path)
        let report = try await library.backup(to: folder("b.sqlite")) {
            for number in 0..<20 { try await other.save(nil, record("Meanwhile \(number)")) }
        }
        #expect(report.books == owned)
        #expect(try await library.books(matching: BookQuery()).total == owned + 20)
        try other.close()
        try library.close()

        var content = try bytes(of: path)
        content.replaceSubrange(8192..<40960, with: [UInt8](repeating: 0xA5, count: 32768))
        try write(content, to: path)
        let restored = try LibraryFile.restore(from: report.path, to: path, at: noon)
        #expect(restored.books == owned && restored.movedAside.count == 1)
        let again = try LibraryFile.open(at: path)
        try await again.check()
        let after = try await again.read { db in try rowCounts(db) }
        #expect(after == before)
        #expect(try await again.backUpIfDue(at: noon) != nil)
    }

    @Test func `takes back all of an import at once, and tells how far it is`() async throws {
        let books = isLong ? 100_000 : 2000
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        try await library.save(dune, record("Dune"))
        let before = try await library.dump()
        var batch: [Confirmed] = []
        for number in 0..<books {
            batch.append(
                try confirmed(
                    isbn(number), record("Book \(number)", by: ["Author \(number / 3)"]) { $0.subjects = ["S"] },
                    preset: Preset(shelf: "Shelf", tags: ["import", "\(number % 50)"], status: .read)))
        }
        _ = try await library.add(batch, at: noon)
        batch = []
        let change = try #require(try await library.lastChange())
        let told = Told()
        _ = try await library.undo(change.id, at: noon) { told.add($0, $1) }
        #expect(told.isRising)
        #expect(try await library.dump() == before)
    }
}

/// What a progress closure was told.
private final class Told: Sendable {
    private let steps = Mutex<[(Int, Int)]>([])

    func add(_ done: Int, _ total: Int) { steps.withLock { $0.append((done, total)) } }

    /// Whether it rose to the end.
    var isRising: Bool {
        steps.withLock { steps in
            zip(steps, steps.dropFirst()).allSatisfy { $0.0 < $1.0 } && steps.last.map { $0.0 == $0.1 } == true
        }
    }
}
