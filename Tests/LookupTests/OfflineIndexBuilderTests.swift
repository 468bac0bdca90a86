import Bookplate
import FaultServer
import Foundation
import GRDB
import TestTools
import Testing

@testable import Lookup

/// The effects of a build on the files around it.
@Suite struct OfflineIndexBuilderTests: IndexBuilding {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `a failed build leaves the old index and no other file`() async throws {
        let good = [row("edition", "/books/OL1M", #"{"title": "Old", "isbn_13": ["9780140268867"]}"#)]
        try build(good)
        let whole = gzip(Array(String(repeating: good[0], count: 1000).utf8))
        let cut = try scratch.write(Array(whole.dropLast(20)), to: "cut.txt.gz")
        let index = scratch.file("index.sqlite")
        #expect { try OfflineIndexBuilder.build(dumpFiles: [cut], to: index) } throws: {
            if case OfflineIndexError.brokenDump = $0 { true } else { false }
        }
        #expect { try OfflineIndexBuilder.build(dumpFiles: [scratch.file("none.txt")], to: index) } throws: {
            if case OfflineIndexError.unreadable = $0 { true } else { false }
        }
        #expect { try OfflineIndexBuilder.build(dumpFiles: [scratch.path], to: index) } throws: {
            if case OfflineIndexError.unreadable = $0 { true } else { false }
        }
        let empty = try dump(["nothing of the kind\n"], "empty.txt")
        #expect(throws: OfflineIndexError.noEditions(paths: [empty])) {
            try OfflineIndexBuilder.build(dumpFiles: [empty], to: index)
        }
        #expect(try await record(.odyssey)?.title == "Old")
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        #expect(left == ["cut.txt.gz", "empty.txt", "index.sqlite", "ol_dump.txt"])
    }

    @Test func `a build that is cancelled leaves the old index`() async throws {
        try build([row("edition", "/books/OL1M", #"{"title": "Old", "isbn_13": ["9780140268867"]}"#)])
        let rows = (0..<5000).map {
            row("edition", "/books/OL\($0 + 1)M", #"{"title": "New", "isbn_13": ["9780140268867"]}"#)
        }
        let (file, index) = (try dump(rows), scratch.file("index.sqlite"))
        let task = Task {
            try OfflineIndexBuilder.build(dumpFiles: [file], to: index) { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: OfflineIndexError.cancelled) { try await task.value }
        #expect(try await record(.odyssey)?.title == "Old")
    }

    @Test func `two builds of one index do not run at the same time`() throws {
        let index = scratch.file("index.sqlite")
        let lock = try BuildLock(index + ".building", for: index)
        defer { lock.release() }
        #expect(throws: OfflineIndexError.alreadyBuilding(path: index)) {
            try OfflineIndexBuilder.build(dumpFiles: [], to: index)
        }
    }

    @Test(arguments: ["library", "text", "short", "dump"])
    func `any other file at the path of the index is left alone`(_ kind: String) throws {
        let path = scratch.file(kind)
        switch kind {
        case "library":
            try DatabaseQueue(path: path).write { db in
                try db.execute(sql: "PRAGMA application_id = 1112558157; CREATE TABLE copy (id)")
            }
        case "text": try scratch.write(Array(String(repeating: "my notes ", count: 100).utf8), to: kind)
        case "short": try scratch.write(Array("SQLite format 3\0".utf8), to: kind)
        default: try scratch.write(gzip(Array("another dump".utf8)), to: kind)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let edition = row("edition", "/books/OL1M", #"{"title": "T", "isbn_13": ["9780140268867"]}"#)
        let dump = try dump([edition])
        #expect(throws: OfflineIndexError.occupied(path: path)) {
            try OfflineIndexBuilder.build(dumpFiles: [dump], to: path)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
        #expect(left == [kind, "ol_dump.txt"].sorted())
    }

    @Test func `a folder or a pipe at the path of the index is left alone`() throws {
        #expect(mkfifo(scratch.file("pipe"), 0o600) == 0)
        for path in [scratch.path, scratch.file("pipe")] {
            #expect(throws: OfflineIndexError.occupied(path: path)) {
                try OfflineIndexBuilder.build(dumpFiles: [], to: path)
            }
        }
    }

    @Test(arguments: ["ol_dump.txt", "link.txt", "./ol_dump.txt"])
    func `a dump is not replaced by its own index, by whatever name`(_ name: String) throws {
        let edition = row("edition", "/books/OL1M", #"{"title": "T", "isbn_13": ["9780140268867"]}"#)
        let dump = try dump([edition])
        try FileManager.default.createSymbolicLink(atPath: scratch.file("link.txt"), withDestinationPath: dump)
        let path = scratch.file(name)
        #expect(throws: OfflineIndexError.dumpInTheWay(path: path, dump: dump)) {
            try OfflineIndexBuilder.build(dumpFiles: [dump], to: path)
        }
        #expect(try String(contentsOfFile: dump, encoding: .utf8) == edition)
    }

    @Test(arguments: [
        "index.sqlite.rows", "index.sqlite.building", "index.sqlite.authors", "index.sqlite.checkpoint",
    ])
    func `a dump at the path of one of the build's own files is not overwritten`(_ name: String) throws {
        let edition = row("edition", "/books/OL1M", #"{"title": "T", "isbn_13": ["9780140268867"]}"#)
        let dump = try dump([edition], name)
        let index = scratch.file("index.sqlite")
        #expect(throws: OfflineIndexError.dumpInTheWay(path: index, dump: dump)) {
            try OfflineIndexBuilder.build(dumpFiles: [dump], to: index)
        }
        #expect(try String(contentsOfFile: dump, encoding: .utf8) == edition)
    }

    @Test func `an empty file and a damaged index may be replaced`() async throws {
        let rows = [row("edition", "/books/OL1M", #"{"title": "T", "isbn_13": ["9780140268867"]}"#)]
        try scratch.write([], to: "index.sqlite")
        try build(rows)
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: scratch.file("index.sqlite"))))
        for path in 100..<bytes.count { bytes[path] = 0xA5 }
        try scratch.write(bytes, to: "index.sqlite")
        try build(rows)
        #expect(try await record(.odyssey)?.title == "T")
    }
}

/// A suite that builds small indexes in its own folder.
protocol IndexBuilding { var scratch: Scratch { get } }

extension IndexBuilding {
    func row(_ type: String, _ key: String, _ json: String, revision: Int = 1, modified: String = "2020-01-01T00:00:00")
        -> String
    {
        "/type/\(type)\t\(key)\t\(revision)\t\(modified)\t\(json)\n"
    }

    func dump(_ rows: [String], _ name: String = "ol_dump.txt") throws -> String {
        try scratch.write(Array(rows.joined().utf8), to: name)
    }

    @discardableResult
    func build(_ rows: [String], options: OfflineIndexOptions = .everything) throws -> OfflineIndexBuilder.Report {
        try OfflineIndexBuilder.build(dumpFiles: [dump(rows)], to: scratch.file("index.sqlite"), options: options)
    }

    func indexBytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: scratch.file("index.sqlite"))) }

    /// Returns the titles that the index offers, in order.
    func titles(_ title: String, by author: String? = nil, limit: Int = 20) async throws -> [String] {
        let query = try #require(TitleQuery(title: title, author: author))
        let offers = try await OfflineIndex(path: scratch.file("index.sqlite")).find(query, limit: limit)
        return try #require(offers).map { $0.metadata.title ?? "" }
    }

    func record(_ isbn: ISBN) async throws -> Metadata? {
        guard
            case .found(let metadata)? = await (try OfflineIndex(path: scratch.file("index.sqlite"))).lookUp([isbn])[
                isbn]
        else {
            return nil
        }
        return metadata
    }
}
