import Bookplate
import Foundation
import GRDB
import LibraryMaker
import Synchronization
import TestTools
import Testing

@testable import Library

/// The libraries of the long tests have 100,000 books.
@Suite struct `A large library` {
    let folder = Folder()

    @Test func `is backed up while another process writes, damaged, and restored completely`() async throws {
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
        try await other.close()
        try await library.close()

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

    @Test func `undoes a whole import at once, and reports the progress`() async throws {
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
        let progress = ReportedProgress()
        _ = try await library.undo(change.id, at: noon) { progress.add($0, $1) }
        #expect(progress.isRising)
        #expect(try await library.dump() == before)
    }
}

/// The values that a progress closure has received.
private final class ReportedProgress: Sendable {
    private let steps = Mutex<[(Int, Int)]>([])

    func add(_ done: Int, _ total: Int) { steps.withLock { $0.append((done, total)) } }

    /// True if the reported number of rows rose in each step, up to the total.
    var isRising: Bool {
        steps.withLock { steps in
            zip(steps, steps.dropFirst()).allSatisfy { $0.0 < $1.0 } && steps.last.map { $0.0 == $0.1 } == true
        }
    }
}
