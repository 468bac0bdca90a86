import Bookplate
import Foundation
import GRDB
import TestTools
import Testing

@testable import Library

@Suite struct `Quick reads` {
    let folder = Folder()

    private var path: String { folder("library.sqlite") }

    private func isOpened(_ path: String) throws -> Bool {
        let library = try LibraryFile.openForQuickReads(at: path)
        return library != nil
    }

    private func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test func `find the books, change nothing and leave no file behind`() async throws {
        let library = try LibraryFile.open(at: path)
        try await library.save(dune, record("Dune"))
        try await library.close()
        let (files, before) = (names(in: folder.path), try bytes())
        let quick = try #require(try LibraryFile.openForQuickReads(at: path))
        #expect(try await quick.find("dun") == ["Dune"])
        await #expect(throws: (any Error).self) { try await quick.save(odyssey, record("Odyssey")) }
        #expect(names(in: folder.path) == files)
        #expect(try bytes() == before)
    }

    @Test func `find what another process has written to its log, and do not wait for its write`() async throws {
        let library = try LibraryFile.open(at: path)
        try await library.save(dune, record("Dune"))
        let found = try await library.database.write { db in
            try db.execute(sql: "UPDATE edition SET title = 'never committed'")
            let quick = try #require(try LibraryFile.openForQuickReads(at: path))
            let titles = try quick.database.read { try String.fetchAll($0, sql: "SELECT title FROM edition") }
            try db.execute(sql: "UPDATE edition SET title = 'Dune'")
            return titles
        }
        #expect(found == ["Dune"])
        try await library.close()
    }

    @Test func `refuse a library that another program has locked, without waiting`() async throws {
        let library = try LibraryFile.open(at: path)
        try await library.save(dune, record("Dune"))
        try await library.close()
        var exclusive = Configuration()
        exclusive.prepareDatabase { db in try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        let foreign = try DatabaseQueue(path: path, configuration: exclusive)
        try await foreign.write { db in try db.execute(sql: "UPDATE edition SET title = 'locked'") }
        #expect(throws: LibraryError.locked(path: path)) { try LibraryFile.openForQuickReads(at: path) }
        try foreign.close()
    }

    @Test func `open no file that is missing or empty, and create none`() throws {
        #expect(try !isOpened(path) && !isOpened(folder("no/such/library.sqlite")))
        #expect(names(in: folder.path).isEmpty)
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(try !isOpened(path))
        #expect(try bytes().isEmpty)
    }

    @Test func `do not migrate a library of an earlier version`() throws {
        let earlier = try DatabaseQueue(path: path, configuration: LibraryFile.configuration())
        try Schema.migrate(earlier, upTo: Schema.version - 1)
        try earlier.close()
        let before = try bytes()
        #expect(try !isOpened(path))
        #expect(try bytes() == before)
    }

    @Test func `refuse what a newer version or another program has written`() async throws {
        try await LibraryFile.open(at: path).close()
        let foreign = try DatabaseQueue(path: path)
        try await foreign.write { db in try db.execute(sql: "PRAGMA user_version = \(Schema.version + 1)") }
        try foreign.close()
        #expect(throws: LibraryError.newerSchema(path: path, version: Schema.version + 1, known: Schema.version)) {
            try LibraryFile.openForQuickReads(at: path)
        }
        try Data("Dune\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: LibraryError.self) { try LibraryFile.openForQuickReads(at: path) }
    }
}
