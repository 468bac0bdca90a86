import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import Testing

@testable import Library

@Suite struct BackupTests {
    let folder = Folder()
    var path: String { folder("library.sqlite") }
    let library: LibraryFile

    init() async throws {
        library = try LibraryFile.open(at: folder("library.sqlite"))
        _ = try await library.add((0..<50).map { try confirmed(isbn($0), record("Book \($0)")) }, at: noon)
    }

    @Test func `a backup is one file with everything, and can be restored`() async throws {
        let before = try await library.dump()
        let target = folder("backups/library-2026-11-21T120000Z.sqlite")
        let report = try await library.backup(into: folder("backups"), at: noon)
        #expect(report.path == target)
        #expect(report.books == 50)
        #expect(names(in: folder("backups")) == ["library-2026-11-21T120000Z.sqlite"])
        #expect(try bytes(of: target).count == report.bytes)

        try await library.save(dune, record("Dune"))
        try await library.close()
        let restored = try LibraryFile.restore(from: target, to: path, at: noon)
        #expect(restored.books == 50)
        let again = try LibraryFile.open(at: path)
        #expect(try await again.dump() == before)
        // The previous library was moved aside and is not lost.
        let aside = try LibraryFile.open(at: try #require(restored.movedAside.first))
        #expect(try await aside.books(matching: BookQuery()).total == 51)
    }

    @Test func `others can write during a backup, which has the state of its beginning`() async throws {
        let before = try await library.dump()
        let report = try await library.backup(to: folder("b.sqlite")) {
            for number in 100..<130 { try await library.save(isbn(number), record("Late")) }
        }
        #expect(report.books == 50)
        #expect(try await library.books(matching: BookQuery()).total == 80)
        #expect(try await LibraryFile.open(at: folder("b.sqlite")).dump() == before)
    }

    @Test func `an interrupted backup leaves only the old one`() async throws {
        struct PowerCut: Error {}
        let target = folder("backups/b.sqlite")
        _ = try await library.backup(to: target)
        let old = try bytes(of: target)
        try await library.save(dune, record("Dune"))
        await #expect(throws: PowerCut.self) { try await library.backup(to: target) { _ in throw PowerCut() } }
        #expect(names(in: folder("backups")) == ["b.sqlite"])
        #expect(try bytes(of: target) == old)
        #expect(try await library.backup(to: target).books == 51)
        #expect(names(in: folder("backups")) == ["b.sqlite"])
    }

    @Test(.enabled(if: canMount, "needs root and mount"))
    func `a full disk keeps the old backup`() async throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        _ = try await library.backup(to: disk("b.sqlite"))
        let old = try bytes(of: disk("b.sqlite"))
        _ = try await library.add((100..<3000).map { try confirmed(isbn($0), record("Book \($0)")) }, at: noon)
        let error = await #expect(throws: LibraryError.self) { try await library.backup(to: disk("b.sqlite")) }
        guard case .noRoom? = error else { throw try #require(error) }
        #expect(names(in: disk.path) == ["b.sqlite"])
        #expect(try bytes(of: disk("b.sqlite")) == old)
        // There is enough room at first, but then another program fills the disk.
        try disk.grow(to: 16 << 20)
        await #expect(throws: LibraryError.diskFull(path: disk("b.sqlite"))) {
            try await library.backup(to: disk("b.sqlite")) { _ in try fill(disk("other")) }
        }
        #expect(names(in: disk.path) == ["b.sqlite", "other"])
        #expect(try bytes(of: disk("b.sqlite")) == old)
    }

    @Test func `a damaged library is not backed up`() async throws {
        try await library.close()
        var content = try bytes(of: path)
        content.replaceSubrange(8192..<12288, with: [UInt8](repeating: 0xA5, count: 4096))
        try write(content, to: path)
        let damaged = try LibraryFile.open(at: path)
        let error = await #expect(throws: LibraryError.self) { try await damaged.backup(to: folder("b.sqlite")) }
        #expect(error?.category == .corrupt)
        #expect(error?.description.contains(path + ":") == true)
        await #expect(throws: LibraryError.self) { try await damaged.check() }
        #expect(!names(in: folder.path).contains { $0.hasPrefix("b.sqlite") })
    }

    @Test(arguments: ["corrupt", "text", "missing", "with its log"])
    func `restore works whatever file is there, and moves it aside`(present: String) async throws {
        _ = try await library.backup(to: folder("b.sqlite"))
        if present == "with its log" {
            let (main, log) = try (bytes(of: path), bytes(of: path + "-wal"))
            try await library.close()
            try write(main, to: path)
            try write(log, to: path + "-wal")
        } else {
            try await library.close()
        }
        switch present {
        case "corrupt": try write(Array(bytes(of: path).prefix(5000)), to: path)
        case "text": try write(Array("hello".utf8), to: path)
        case "missing": unlink(path)
        default: break
        }
        let old = try fileFacts(path) == nil ? nil : bytes(of: path)
        let report = try LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon)
        #expect(report.movedAside.count == (present == "missing" ? 0 : present == "with its log" ? 2 : 1))
        if let aside = report.movedAside.first { #expect(try bytes(of: aside) == old) }
        let again = try LibraryFile.open(at: path)
        #expect(try await again.books(matching: BookQuery()).total == 50)
    }

    @Test func `restore is refused while another process has the library open, and changes nothing`() async throws {
        _ = try await library.backup(to: folder("b.sqlite"))
        let before = names(in: folder.path)
        #expect(throws: LibraryError.inUse(path: path)) {
            try LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon)
        }
        #expect(names(in: folder.path) == before)
        try await library.save(dune, record("Dune"))
        try await library.close()
        _ = try LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon)
    }

    @Test func `a file of an older schema is migrated when it is opened after a restore`() async throws {
        let old = try DatabaseQueue(path: folder("old.sqlite"))
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 books, intake queue, changes") { db in
            try Schema.createFirstSchema(db)
            try Schema.createUndoTriggers(db)
            try db.execute(
                sql: """
                    PRAGMA application_id = \(Schema.applicationID);
                    PRAGMA user_version = 1;
                    INSERT INTO edition (id, uuid, title, folded) VALUES (1, 'e', 'Old', 'old');
                    INSERT INTO copy (uuid, edition, status, added) VALUES ('c', 1, 'reading', 1);
                    """)
        }
        try migrator.migrate(old)
        try old.close()
        try await library.close()
        let report = try LibraryFile.restore(from: folder("old.sqlite"), to: path, at: noon)
        #expect(report.books == 1)
        #expect(try LibraryFile.backups(in: folder.path).map(\.books).contains(1))
        let again = try LibraryFile.open(at: path)
        let version = try await again.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
        #expect(version == Schema.version)
        let book = try #require(try await again.books(matching: BookQuery()).books.first)
        #expect(book.displayTitle == "Old" && book.copy.readings.count == 1)
    }

    @Test(arguments: ["missing", "empty", "text", "foreign", "damaged", "newer"])
    func `restoring a file that is not a backup leaves the library as it is`(kind: String) async throws {
        let backup = folder("b.sqlite")
        switch kind {
        case "empty": try write([], to: backup)
        case "text": try write(Array("hello".utf8), to: backup)
        case "foreign":
            let other = try DatabaseQueue(path: backup)
            try await other.write { db in try db.execute(sql: "CREATE TABLE t (x)") }
            try other.close()
        case "damaged", "newer":
            _ = try await library.backup(to: backup)
            var content = try bytes(of: backup)
            if kind == "newer" {
                content[63] = 99
            } else {
                content.replaceSubrange(8192..<12288, with: [UInt8](repeating: 0xA5, count: 4096))
            }
            try write(content, to: backup)
        default: break
        }
        try await library.close()
        let before = try (names(in: folder.path), bytes(of: path))
        let error = #expect(throws: LibraryError.self) { try LibraryFile.restore(from: backup, to: path, at: noon) }
        #expect(error?.category == (kind == "newer" ? .configuration : .corrupt))
        #expect(error?.description.contains(backup) == true)
        #expect(names(in: folder.path) == before.0)
        #expect(try bytes(of: path) == before.1)
    }
}

/// Writes a file until the disk is full.
private func fill(_ path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let block = [UInt8](repeating: 1, count: 4096)
    while write(descriptor, block, block.count) > 0 {}
}
