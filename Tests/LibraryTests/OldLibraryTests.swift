import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import SystemCalls
import Testing

@testable import Library

/// Tests of opening a library with version 1 of the schema, which had statuses but no readings.
@Suite struct `A library from before the tracker` {
    let folder = Folder()
    let library: LibraryFile

    init() throws {
        let path = folder("library.sqlite")
        let old = try DatabaseQueue(path: path)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 books, intake queue, changes") { db in
            try Schema.createFirstSchema(db)
            try Schema.createUndoTriggers(db)
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 1")
            func change(_ number: Int, _ sql: String, isUndone: Bool = false) throws {
                try db.execute(
                    sql: """
                        INSERT INTO change (id, uuid, at, station, kind, summary, undone)
                        VALUES (\(number), 'change\(number)', \(noon.milliseconds), 's', 'edit', '\(number)',
                            \(isUndone ? "1" : "NULL"));
                        INSERT INTO openChange VALUES (\(number));
                        \(sql);
                        DELETE FROM openChange;
                        """)
            }
            func save(_ number: Int, _ status: String) -> String {
                """
                INSERT INTO edition (id, uuid, title, folded) VALUES (\(number), 'e\(number)', 'Book', 'book');
                INSERT INTO copy (id, uuid, edition, status, added) VALUES (\(number), 'c\(number)', \(number), '\(status)', 1)
                """
            }
            func set(_ number: Int, _ status: String) -> String {
                "UPDATE copy SET status = '\(status)' WHERE id = \(number)"
            }
            try change(1, save(1, "toRead"))
            try change(2, set(1, "reading"))
            try change(3, set(1, "onHold"))
            try change(4, set(1, "dnf"), isUndone: true)
            try db.execute(sql: set(1, "onHold"))
            try change(5, set(1, "read"))
            try change(6, save(2, "read"))
            try change(7, set(2, "toRead"))
            try change(8, save(3, "read"))
        }
        try migrator.migrate(old)
        try old.close()
        library = try LibraryFile.open(at: path)
    }

    /// Returns the status and the readings of a copy, such as `read finished`.
    private func status(_ number: Int) async throws -> String? {
        try await library.book(ID(rawValue: "c\(number)")).map { book in
            ([book.copy.status.rawValue] + book.copy.readings.map(\.state.rawValue)).joined(separator: " ")
        }
    }

    @Test func `undoes earlier changes together with the readings that belong to them`() async throws {
        #expect(try await status(1) == "read finished")
        #expect(try await status(2) == "toRead")
        let first = try await library.book(ID(rawValue: "c1"))?.copy.readings[0].id
        for (number, copy, expected) in [
            (8, 3, nil), (7, 2, "read finished"), (6, 2, nil), (5, 1, "onHold open"), (3, 1, "reading open"),
            (2, 1, "toRead"), (1, 1, nil),
        ] as [(Int, Int, String?)] {
            _ = try await library.undo(ID(rawValue: "change\(number)"), at: noon)
            #expect(try await status(copy) == expected, "after \(number)")
            if number == 5 { #expect(try await library.book(ID(rawValue: "c1"))?.copy.readings[0].id == first) }
            let foreign = try await library.read { db in try db.rows("PRAGMA foreign_key_check").count }
            #expect(foreign == 0)
        }
        #expect(try await library.dump().isEmpty)
    }

    @Test func `refuses to undo a change after later acts of the tracker, and names these`() async throws {
        let id = ID<Copy>(rawValue: "c3")
        let day = try #require(CalendarDay("2026-11-01"))
        let dated = try await library.setDates(DateEdit(finished: .set(day)), of: id, reading: nil, at: noon)
        let refusal = await #expect(throws: UndoRefusal.self) {
            try await library.undo(ID(rawValue: "change8"), at: noon)
        }
        guard case .changedSince(_, let later?) = refusal else { throw try #require(refusal) }
        #expect(later.id == dated.change)
        _ = try await library.undo(later.id, at: noon)
        _ = try await library.undo(ID(rawValue: "change8"), at: noon)
        #expect(try await status(3) == nil)
    }
}

/// Makes a library as a version of Bookplate with an earlier schema has left it, with work that can be undone.
private func makeOldLibrary(_ version: Int, at path: String) throws {
    let folder = folder(of: #filePath) + "/OldLibraries/"
    let old = try DatabaseQueue(path: path)
    try old.write { db in
        for part in 1...version {
            try db.execute(sql: String(decoding: readFile("\(folder)\(part).sql", limit: 1 << 20), as: UTF8.self))
        }
    }
    try old.close()
}

@Suite struct `A library of each earlier version` {
    let folder = Folder()
    var path: String { folder("library.sqlite") }
    var backups: String { folder("backups") }

    /// Returns the rows of every table, as text, except the tables of SQLite, of the search and of the migrator.
    private func rows(_ path: String) throws -> [String: [String]] {
        let file = try DatabaseQueue(path: path)
        defer { try? file.close() }
        return try file.read { db in
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'
                        AND name NOT GLOB 'searchText_*' AND name NOT IN ('grdb_migrations', 'searchStale')
                    """)
            return try Dictionary(
                uniqueKeysWithValues: tables.map { table in
                    (table, try Row.fetchAll(db, sql: "SELECT * FROM \"\(table)\"").map(\.description).sorted())
                })
        }
    }

    /// The versions of which there are files.
    static let versions = 1...6

    @Test(arguments: versions)
    func `has everything after it was opened, and every change can be undone`(version: Int) async throws {
        try makeOldLibrary(version, at: path)
        let before = try rows(path)
        try await LibraryFile.open(at: path).close()
        let after = try rows(path)
        // Versions 8 and 13 add columns that are the same for everything earlier.
        let added = [
            "author": " sortName:NULL",
            "reading": " reader:1", "session": " reader:1", "note": " reader:1 isPrivate:0",
            "quote": " reader:1 isPrivate:0",
        ]
        // The rate limits of the sources are no longer in the library.
        for (table, old) in before where table != "sourceState" {
            let new = try #require(after[table])
            switch table {
            // The migrations to versions 2 and 8 change the log, so that every change can still be undone (below).
            case "changeRow": #expect(!new.isEmpty || old.isEmpty)
            // Version 8 moves columns to another table.
            case "copy":
                let own = try #require(after["readerCopy"])
                #expect(new.count == old.count && own.count == old.count)
                for (copy, facts) in zip(old, own) {
                    let values = Set(copy.dropLast().split(separator: " "))
                    #expect(Set(facts.dropFirst().dropLast().split(separator: " ").dropFirst(2)).isSubset(of: values))
                }
            case "listing": #expect(new.count == old.count)
            case "setting":
                let own = try #require(after["readerSetting"]).map { $0.replacing("reader:1 ", with: "") }
                #expect((new + own).sorted() == old)
            // Versions 6 and 8 add columns that are empty for the changes of a person and for earlier changes.
            case "change":
                let plain = [old, new].map { rows in
                    rows.map { $0.replacing(" undoes:NULL", with: "").replacing(" privateTo:NULL", with: "") }
                }
                #expect(plain[0] == plain[1])
            // Version 7 adds a column that is empty for earlier answers.
            case "answer": #expect(new.map { $0.replacing(" gapsDue:NULL", with: "") } == old)
            default:
                let plain = added[table].map { member in new.map { $0.replacing(member, with: "") } } ?? new
                #expect(plain == old, "\(table)")
            }
        }
        #expect(after["identity"]?.count == 1)

        let library = try LibraryFile.open(at: path)
        #expect(try await library.find("hand of") == ["The Left Hand of Darkness"])
        #expect(try await library.find("ahre muller").isEmpty)
        #expect(try await library.find("ahre mueller") == ["Zeit und Ähre"])
        let read = try #require(try await library.books(matching: BookQuery()).books.first { $0.copy.status == .read })
        #expect(read.copy.readings.map(\.state) == [.finished])
        #expect(try await library.items(in: [.waiting]).count == 2)
        var undone = 0
        while let change = try await library.lastChange() {
            _ = try await library.undo(change.id, at: noon)
            undone += 1
        }
        #expect(undone == (before["change"] ?? []).count - 1)
        #expect(try await library.dump().filter { !$0.hasPrefix("intakeItem") }.isEmpty)
        #expect(try await library.read { db in try db.rows("PRAGMA foreign_key_check").count } == 0)
        try await library.check()
    }

    @Test func `is rolled back and backed up if a power cut has interrupted a transaction`() async throws {
        try makeOldLibrary(1, at: path)
        let before = try rows(path)
        let cut = folder("cut.sqlite")
        let old = try DatabaseQueue(path: path)
        try await old.writeWithoutTransaction { db in
            // With such a small cache, pages are written to the file before the commit.
            try db.execute(sql: "BEGIN; PRAGMA cache_spill = 1; PRAGMA cache_size = 1;")
            try db.execute(sql: "CREATE TABLE t AS SELECT zeroblob(100000) AS x")
            for suffix in ["", "-journal"] { try write(bytes(of: path + suffix), to: cut + suffix) }
            try db.execute(sql: "ROLLBACK")
        }
        try old.close()
        let library = try LibraryFile.open(at: cut, clock: { noon })
        #expect(try rows(#require(library.updateBackup).path) == before)
        #expect(try await library.books(matching: BookQuery()).total == 4)
    }

    @Test(arguments: versions.filter { $0 < Schema.version })
    func `is backed up before it is migrated`(version: Int) async throws {
        try makeOldLibrary(version, at: path)
        let before = try rows(path)
        let library = try LibraryFile.open(at: path, clock: { noon })
        let backup = try #require(library.updateBackup)
        #expect(backup.path == backups + "/library-before-update-2026-11-21T120000Z.sqlite")
        #expect(backup.books == 4)
        #expect(names(in: backups) == [name(of: backup.path)])
        #expect(try FileHeader(of: backup.path).userVersion == version)
        #expect(try rows(backup.path) == before)
        try await library.close()
        #expect(try LibraryFile.open(at: path).updateBackup == nil)
        // It leads back to the earlier version.
        _ = try LibraryFile.restore(from: backup.path, to: path, at: noon)
        let restored = try rows(path)
        // A restore ends all sign-ins, and writes the attempts again.
        for (table, old) in before where !["signIn", "signInAttempt"].contains(table) {
            #expect(restored[table] == old, "\(table)")
        }
    }

    @Test func `keeps its backup for ever, which is not one of the daily ones`() async throws {
        try makeOldLibrary(2, at: path)
        let library = try LibraryFile.open(at: path, clock: { noon })
        let backup = try #require(library.updateBackup)
        for day in 1..<40 {
            _ = try await library.backup(into: backups, at: noon.addingTimeInterval(Double(day) * 86_400))
        }
        #expect(names(in: backups).contains(name(of: backup.path)))
    }

    @Test func `is not backed up if there is nothing in it`() async throws {
        let old = try DatabaseQueue(path: path)
        try Schema.migrate(old, upTo: 3)
        try old.close()
        #expect(try LibraryFile.open(at: path).updateBackup == nil)
        #expect(names(in: folder.path) == ["library.sqlite"])
    }

    @Test func `is left byte for byte if the backup cannot be written, and can be opened later`() throws {
        try makeOldLibrary(2, at: path)
        try write(Array("in the way".utf8), to: backups)
        let before = try snapshot(folder.path)
        let error = #expect(throws: LibraryError.self) { try LibraryFile.open(at: path) }
        guard case .notUpgraded(path, _)? = error else { throw try #require(error) }
        #expect(error?.description.contains(backups) == true)
        #expect(try snapshot(folder.path) == before)
        unlink(backups)
        #expect(try LibraryFile.open(at: path).updateBackup != nil)
    }

    @Test(.enabled(if: canMount, "needs root and mount"))
    func `is left byte for byte if there is no room for the backup`() throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        let path = disk("library.sqlite")
        try makeOldLibrary(2, at: path)
        let before = try bytes(of: path)
        try write([UInt8](repeating: 1, count: (1 << 20) - before.count - 100_000), to: disk("other"))
        let error = #expect(throws: LibraryError.self) { try LibraryFile.open(at: path) }
        guard case .notUpgraded(path, .noRoom)? = error else { throw try #require(error) }
        #expect(error?.category == .inputOutput)
        #expect(try bytes(of: path) == before)
        #expect(names(in: disk("backups")).isEmpty)
        try disk.grow(to: 8 << 20)
        #expect(try LibraryFile.open(at: path).updateBackup?.books == 4)
    }

    @Test func `is left byte for byte if it is damaged, and is not backed up`() throws {
        try makeOldLibrary(3, at: path)
        var content = try bytes(of: path)
        // The page of the last table that has rows.
        content.replaceSubrange((content.count - 4096)..., with: [UInt8](repeating: 0xA5, count: 4096))
        try write(content, to: path)
        let error = #expect(throws: LibraryError.self) { try LibraryFile.open(at: path) }
        #expect(error?.category == .corrupt)
        #expect(error?.description.contains(path + ":") == true)
        #expect(try bytes(of: path) == content)
        #expect(names(in: backups).isEmpty)
    }

    @Test func `is migrated by one of several processes that open it at once, with one backup`() async throws {
        try makeOldLibrary(4, at: path)
        let opened = try await withThrowingTaskGroup(of: LibraryFile.self) { [path] group in
            for number in 0..<6 {
                group.addTask {
                    try LibraryFile.open(at: path, device: "station \(number)", lockTimeout: .seconds(60))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(opened.filter { $0.updateBackup != nil }.count == 1)
        for library in opened { #expect(try await library.find("").count == 4) }
        #expect(names(in: backups).count == 1)
    }
}
