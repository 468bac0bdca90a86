import Bookplate
import Foundation
import Kiosk
import Library
import Synchronization
import TestTools
import Testing

@testable import ScanCommand

@Suite struct `A file from a browser` {
    private static let header = "Book Id,Title,Author,ISBN,ISBN13,My Rating,Exclusive Shelf\n"

    /// Runs an import with a new library.
    private func run(
        _ text: String, _ order: ImportOrder, into library: LibraryFile, in scratch: Scratch
    ) async throws -> (summary: ImportSummary, change: ID<Change>?) {
        let importer = BrowserImport(folder: scratch.path)
        let file = try importer.makeFile()
        for part in Array(text.utf8).split(every: 70_000) { try file.append(part) }
        let outcome = Mutex((summary: ImportSummary(), change: ID<Change>?.none))
        try await importer.importRows(of: file, order, into: library) { news in
            guard case .imported(let results, _, let change) = news else { return }
            outcome.withLock { outcome in
                for result in results { outcome.summary.count(result) }
                outcome.change = change
            }
        }
        return outcome.withLock { $0 }
    }

    @Test func `is compared in a dry run, and is one change when it is imported`() async throws {
        let scratch = try Scratch()
        let library = try LibraryFile.open(at: scratch.file("library.sqlite"))
        let rows = (0..<1200).map { "\($0),Volume \($0),Somebody,,,4,read\n" }.joined()
        var order = ImportOrder(name: "many.csv")
        order.preset.tags = ["old"]
        let dry = try await run(Self.header + rows, order, into: library, in: scratch)
        #expect(dry.summary.new == 1200)
        #expect(try await library.lastChange() == nil)
        order.isDryRun = false
        let imported = try await run(Self.header + rows, order, into: library, in: scratch)
        #expect(imported.summary.new == 1200)
        let last = try await library.lastChange()
        #expect(last?.id == imported.change && last?.summary == "imported 1200 books from many.csv")
        #expect(try await library.changes(limit: 9).count == 1)
        try await library.close()
    }

    @Test func `has no name on the disk, so that nothing is left behind`() throws {
        let scratch = try Scratch()
        let file = try BrowserImport(folder: scratch.path).makeFile()
        try file.append([1, 2, 3])
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
        withExtendedLifetime(file) {}
    }

    @Test func `is refused or repaired if it is hostile`() async throws {
        let scratch = try Scratch()
        let library = try LibraryFile.open(at: scratch.file("library.sqlite"))
        let order = ImportOrder(name: "books.csv")
        for text in ["PK\u{3}\u{4}" + String(repeating: "\0", count: 1 << 20), "\0\0\0\0", "<html>", "{\"a\": 1}"] {
            await #expect(throws: ExchangeError.self) { try await run(text, order, into: library, in: scratch) }
        }
        // A row of 40 MB and one with an open quotation mark cost only themselves.
        let long = "1,\"" + String(repeating: "x", count: 40 << 20) + "\",A,,,0,read\n"
        let text = Self.header + long + "2,Good,B,,,0,read\n3,\"Open,C,,,0,read\n4,Last,D,,,0,read\n"
        let outcome = try await run(text, order, into: library, in: scratch)
        #expect(outcome.summary.new >= 2 && outcome.summary.refused >= 1)
        try await library.close()
    }
}

extension [UInt8] {
    fileprivate func split(every count: Int) -> [[UInt8]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}
