import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import TestTools
import Testing

@testable import Library

@Suite struct OpeningTests {
    let folder = Folder()

    /// A connection of another program, which may leave a transaction open.
    private static var foreign: Configuration {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return configuration
    }

    @Test func `creates a library with its folders, for its owner alone`() async throws {
        let path = folder("deep/er/library.sqlite")
        let library = try LibraryFile.open(at: path, device: "hall")
        #expect(try mode(of: folder("deep/er")) == 0o700)
        for name in ["", "-wal", "-shm", "-lock"] { #expect(try mode(of: path + name) == 0o600) }
        let settings = try await library.database.write { db in
            try ["journal_mode", "synchronous", "foreign_keys", "application_id", "user_version"].map {
                try String.fetchOne(db, sql: "PRAGMA \($0)")
            }
        }
        #expect(settings == ["wal", "2", "1", "\(0x424B_504C)", "\(Schema.version)"])
        try await library.close()
        #expect(names(in: folder("deep/er")) == ["library.sqlite"])
    }

    @Test func `new libraries have ids of their own`() async throws {
        let libraries = try [
            LibraryFile.inMemory(), .open(at: folder("one.sqlite")), .open(at: folder("two.sqlite")),
        ]
        var texts: [[String]] = []
        for library in libraries {
            texts += [
                try await library.read { db in
                    let tables = try db.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
                        .map { $0[0] as String }.filter { $0 != "sqlite_schema" && $0 != "grdb_migrations" }
                    return try tables.flatMap { table in
                        try db.rows("SELECT * FROM \"\(table)\"").flatMap { row in
                            row.databaseValues.compactMap { String.fromDatabaseValue($0) }.map { "\(table): \($0)" }
                        }
                    }
                }
            ]
        }
        // The ids of the library and of its first reader.
        let ids = texts.map { Set($0.filter { $0.contains(/: [0-9a-f-]{8,}$/) }) }
        #expect(ids.map(\.count) == [2, 2, 2])
        #expect(Set(ids.joined()).count == 6)
    }

    @Test func `a library in a group's folder is open to the group`() async throws {
        chmod(folder.path, 0o770)
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        for name in ["", "-wal", "-shm", "-lock"] { #expect(try mode(of: folder("library.sqlite") + name) == 0o660) }
        try await library.close()
    }

    /// The foreign connection has begun a write, as `sqlite3` does, before the library is opened.
    @Test(arguments: [false, true])
    func `a library is opened and read while another program writes`(hasLog: Bool) async throws {
        let path = folder("library.sqlite")
        let first = try LibraryFile.open(at: path)
        try await first.save(dune, record("Dune"))
        try await first.close()
        let foreign = try DatabaseQueue(path: path, configuration: Self.foreign)
        if hasLog { try await foreign.write { db in try db.execute(sql: "UPDATE edition SET title = 'Dune'") } }
        try await foreign.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE; UPDATE edition SET title = 'never committed'")
        }
        let library = try LibraryFile.open(at: path, lockTimeout: .zero)
        #expect(try await library.find("") == ["Dune"])
        await #expect(throws: LibraryError.locked(path: path)) { try await library.save(odyssey, record("Odyssey")) }
        try await library.close()
        try await foreign.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
        try foreign.close()
        #expect(try await LibraryFile.open(at: path).find("") == ["Dune"])
    }

    @Test func `a log that grew during a long read is cut afterwards`() async throws {
        let path = folder("library.sqlite")
        let library = try LibraryFile.open(at: path)
        try await library.save(dune, record("Dune"))
        let reader = try DatabaseQueue(path: path, configuration: Self.foreign)
        try await reader.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN")
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM copy")
        }
        for _ in 0..<3 {
            try await library.database.write { db in
                try db.execute(
                    sql: """
                        INSERT OR REPLACE INTO answer (isbn, outcome, at, content)
                        VALUES ('9780000000000', 'found', 0, '"' || hex(zeroblob(2 << 20)) || '"')
                        """)
            }
        }
        func size() throws -> Int { try fileFacts(path + "-wal")?.st_size ?? 0 }
        #expect(try size() > 8 << 20)
        try await reader.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        for title in ["Emma", "Ulysses"] { try await library.save(nil, record(title)) }
        #expect(try size() <= 4 << 20)
        try reader.close()
        try await library.close()
    }

    @Test func `a library that is only read stays as it is, byte for byte`() async throws {
        let path = folder("library.sqlite")
        let library = try LibraryFile.open(at: path)
        try await library.save(dune, record("Dune"))
        try await library.close()
        let before = try bytes(of: path)
        let again = try LibraryFile.open(at: path)
        #expect(try await again.find("") == ["Dune"])
        try await again.close()
        #expect(try bytes(of: path) == before)
        #expect(names(in: folder.path) == ["library.sqlite"])
    }

    @Test func `an empty file is a new library`() async throws {
        try write([], to: folder("library.sqlite"))
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        try await library.save(dune, record("Dune"))
        try await library.close()
        let again = try LibraryFile.open(at: folder("library.sqlite"))
        #expect(try await again.find("") == ["Dune"])
    }

    @Test func `a file that has only the application id is a new library`() async throws {
        let queue = try DatabaseQueue(path: folder("library.sqlite"))
        try await queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
        }
        try queue.close()
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        try await library.save(dune, record("Dune"))
    }

    /// A library's first transaction is written with a rollback journal. The argument is the part of the file that was
    /// written before a power cut.
    @Test(arguments: ["nothing", "zeros", "half", "everything"])
    func `a file whose first transaction was cut off is a new library`(written: String) async throws {
        let path = folder("library.sqlite")
        try write([], to: path)
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { db in
            // With such a small cache, pages are written to the file before the commit.
            try db.execute(sql: "BEGIN; PRAGMA application_id = \(Schema.applicationID);")
            try db.execute(sql: "CREATE TABLE t (x); PRAGMA cache_spill = 1; PRAGMA cache_size = 1;")
            try db.execute(
                sql: """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
                    INSERT INTO t SELECT zeroblob(1000) FROM n
                    """)
            var main = try bytes(of: path)
            let journal = try bytes(of: path + "-journal")
            #expect(main.count > 4096 && journal.count >= 512)
            switch written {
            case "nothing": main = []
            case "zeros": main = [UInt8](repeating: 0, count: 4096)
            case "half": main = Array(main.prefix(2000)) + [UInt8](repeating: 0, count: 2096)
            default: break
            }
            try write(main, to: folder("cut.sqlite"))
            try write(journal, to: folder("cut.sqlite-journal"))
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
        let library = try LibraryFile.open(at: folder("cut.sqlite"))
        #expect(library.isNew)
        try await library.save(dune, record("Dune"))
        try await library.close()
        #expect(try await LibraryFile.open(at: folder("cut.sqlite")).find("") == ["Dune"])
        #expect(!names(in: folder.path).contains { $0.contains("journal") || $0.contains("rollback") })
    }

    @Test func `a foreign file with an interrupted transaction is refused and left byte for byte`() async throws {
        let path = folder("library.sqlite")
        let journal: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] + [UInt8](repeating: 0, count: 504)
        for content in [Array("Dear diary".utf8), (0..<9000).map { UInt8(truncatingIfNeeded: $0 * 7) }] {
            try write(content, to: path)
            try write(journal, to: path + "-journal")
            let before = try snapshot(folder.path)
            let error = #expect(throws: LibraryError.self) { try LibraryFile.open(at: path) }
            #expect(error?.category == .corrupt)
            #expect(try snapshot(folder.path) == before)
        }
    }

    @Test(.enabled(if: canMount, "needs root and mount"))
    func `a file with an interrupted transaction is left as it is if there is no room to check it`() throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        try write([UInt8](repeating: 1, count: 700_000), to: disk("library.sqlite"))
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        try write(magic + [UInt8](repeating: 0, count: 504), to: disk("library.sqlite-journal"))
        let before = try snapshot(disk.path)
        #expect(throws: LibraryError.diskFull(path: disk("library.sqlite.rollback"))) {
            try LibraryFile.open(at: disk("library.sqlite"))
        }
        #expect(try snapshot(disk.path) == before)
    }

    /// Damages libraries in many ways, with and without a log. Those that are refused must be left as they are.
    @Test(arguments: 0..<8)
    func `a damaged library is left byte for byte if it is refused`(seed: Int) async throws {
        let library = try LibraryFile.open(at: folder("sound"))
        _ = try await library.add(
            (0..<60).map { try confirmed(isbn($0), record("Book \($0)", by: ["Author \($0)"])) }, at: noon)
        _ = try await library.database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        let (checkpointed, path) = (try bytes(of: folder("sound")), folder("library.sqlite"))
        try await library.save(dune, record("Dune"))
        let log = try bytes(of: folder("sound-wal"))
        try await library.close()
        let closed = try bytes(of: folder("sound"))
        for suffix in ["", "-lock"] { unlink(folder("sound") + suffix) }
        var chance = SplitMix(seed: UInt64(seed))
        var refused = 0
        for _ in 0..<40 {
            let hasLog = chance.below(2) == 0
            var (main, wal) = (hasLog ? checkpointed : closed, hasLog ? log : [])
            // Damage is most often where it does the most harm: in the header and in the schema.
            let isInLog = hasLog && chance.below(3) == 0
            let limit = [100, 4096, 40 * 4096, Int.max][chance.below(4)]
            func damage(_ bytes: inout [UInt8]) {
                let place = chance.below(min(limit, bytes.count))
                switch chance.below(5) {
                case 0: bytes[place] ^= UInt8(1 << chance.below(8))
                case 1: bytes[place] = UInt8(chance.below(256))
                case 2:
                    let end = min(place + 1 + chance.below(600), bytes.count)
                    bytes.replaceSubrange(place..<end, with: [UInt8](repeating: 0, count: end - place))
                case 3: bytes.removeLast(bytes.count - place)
                default:
                    let end = min(place + 1 + chance.below(9000), bytes.count)
                    bytes.replaceSubrange(place..<end, with: (place..<end).map { _ in UInt8(chance.below(256)) })
                }
            }
            if isInLog { damage(&wal) } else { damage(&main) }
            for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
            try write(main, to: path)
            if hasLog { try write(wal, to: path + "-wal") }
            let before = try snapshot(folder.path)
            do {
                try await LibraryFile.open(at: path).close()
            } catch is LibraryError {
                refused += 1
                let after = try snapshot(folder.path).filter { !$0.key.hasSuffix("-shm") }
                #expect(after == before, "\(after.mapValues(\.count)) \(before.mapValues(\.count))")
            }
        }
        #expect(refused >= 5)
    }

    /// One letter of a name in the schema has changed, so the file is sound for SQLite.
    @Test(arguments: [("edition", " uuid TEXT", " uuie TEXT"), ("copy", "shelf", "shelg")])
    func `a library with a changed letter in its schema is said to be damaged`(
        _ table: String, _ name: String, _ damaged: String
    ) async throws {
        let path = folder("library.sqlite")
        let library = try LibraryFile.open(at: path)
        try await library.save(dune, record("Dune"))
        try await library.close()
        let disk = try DatabaseQueue(path: path)
        try await disk.write { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(
                sql: "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?",
                arguments: [name, damaged, table])
        }
        try disk.close()
        await #expect {
            let opened = try LibraryFile.open(at: path)
            _ = try await opened.find("")
        } throws: { error in
            (error as? LibraryError)?.category == .corrupt
        }
    }

    /// The kinds of files that must be refused and left as they are.
    enum Refused: String, CaseIterable {
        case text, binary, foreign, foreignWithLog, newer, newerInLog, halved, cutInHeader, damagedSchema, noPages
    }

    @Test(arguments: Refused.allCases)
    func `refuses a file that is no sound library of this version, and leaves it byte for byte`(what: Refused)
        async throws
    {
        let path = folder("library.sqlite")
        try await make(what, at: path)
        let before = try snapshot(folder.path)

        let error = #expect(throws: LibraryError.self) { try LibraryFile.open(at: path) }

        #expect(error?.category == (what == .newer || what == .newerInLog ? .configuration : .corrupt))
        #expect(error?.description.contains(path) == true)
        if [.text, .binary, .foreign, .newer].contains(what) { #expect(try fileFacts(path + "-lock") == nil) }
        let after = try snapshot(folder.path)
        #expect(after.filter { !$0.key.hasSuffix("-shm") } == before.filter { !$0.key.hasSuffix("-shm") })
    }

    private func make(_ what: Refused, at path: String) async throws {
        switch what {
        case .text: try write(Array("Dear diary,\nnothing happened.\n".utf8), to: path)
        case .binary: try write((0..<9000).map { UInt8(truncatingIfNeeded: $0 * 7) }, to: path)
        case .foreign, .foreignWithLog:
            let other = try DatabasePool(path: folder("other"))
            try await other.write { db in try db.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES (1)") }
            if what == .foreignWithLog {
                try copyWithLog("other", to: "library.sqlite")
                try other.close()
            } else {
                try other.close()
                try write(bytes(of: folder("other")), to: path)
            }
        case .newer, .newerInLog:
            let library = try LibraryFile.open(at: folder("other"))
            if what == .newerInLog {
                _ = try await library.database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            }
            try await library.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 99") }
            if what == .newerInLog { try copyWithLog("other", to: "library.sqlite") }
            try await library.close()
            if what == .newer { try write(bytes(of: folder("other")), to: path) }
        case .halved, .cutInHeader, .damagedSchema, .noPages:
            let library = try LibraryFile.open(at: path)
            try await library.save(dune, record("Dune"))
            try await library.close()
            var content = try bytes(of: path)
            switch what {
            case .halved: content.removeLast(content.count / 2)
            case .cutInHeader: content.removeLast(content.count - 60)
            case .noPages: content.removeLast(content.count - 100)
            default: content.replaceSubrange(100..<4096, with: (100..<4096).map { UInt8(truncatingIfNeeded: $0 * 13) })
            }
            try write(content, to: path)
        }
    }

    @Test func `after an unclean end the log is read, and nothing is missing`() async throws {
        let library = try LibraryFile.open(at: folder("other"))
        try await library.save(dune, record("Dune"))
        try copyWithLog("other", to: "library.sqlite")
        let again = try LibraryFile.open(at: folder("library.sqlite"))
        #expect(try await again.find("") == ["Dune"])
    }

    @Test func `damage is found after an unclean end, although a clean start does not check for it`() async throws {
        let library = try LibraryFile.open(at: folder("other"))
        _ = try await library.add(
            (0..<200).map { try confirmed(isbn($0), record("Book \($0)", by: ["Author \($0)"])) }, at: noon)
        _ = try await library.database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try await library.save(dune, record("Dune"))
        try copyWithLog("other", to: "library.sqlite")
        var content = try bytes(of: folder("library.sqlite"))
        let start = content.count / 2 / 4096 * 4096
        content.replaceSubrange(start..<start + 4096, with: [UInt8](repeating: 0xA5, count: 4096))
        try write(content, to: folder("library.sqlite"))
        let before = try snapshot(folder.path)

        let error = #expect(throws: LibraryError.self) { try LibraryFile.open(at: folder("library.sqlite")) }
        #expect(error?.category == .corrupt)
        #expect(
            try snapshot(folder.path).filter { !$0.key.hasSuffix("-shm") }
                == before.filter { !$0.key.hasSuffix("-shm") })
    }

    @Test func `a folder at the path is refused`() throws {
        mkdir(folder("library.sqlite"), 0o700)
        #expect(throws: LibraryError.foreign(path: folder("library.sqlite"), what: "a folder or device")) {
            try LibraryFile.open(at: folder("library.sqlite"))
        }
    }

    @Test func `several processes can open a new library at once, and one creates it`() async throws {
        let path = folder("library.sqlite")
        let opened = try await withThrowingTaskGroup(of: LibraryFile.self) { group in
            for number in 0..<8 { group.addTask { try LibraryFile.open(at: path, device: "station \(number)") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, library) in opened.enumerated() {
                group.addTask { try await library.save(isbn(number), record("Book \(number)")) }
            }
            try await group.waitForAll()
        }
        for library in opened { #expect(try await library.find("").count == 8) }
        for library in opened { try await library.close() }
        #expect(names(in: folder.path) == ["library.sqlite"])
    }

    @Test func `waits for another process that is opening, and reports it if that takes too long`() async throws {
        let path = folder("library.sqlite")
        let lock = try LibraryLock(path: path + "-lock", mode: 0o600)
        #expect(try lock.attempt(.exclusive, .opening))
        #expect(throws: LibraryError.locked(path: path)) {
            try LibraryFile.open(at: path, lockTimeout: .milliseconds(30))
        }
        try lock.release(.opening)
        try await LibraryFile.open(at: path).close()
    }

    @Test func `a process that has the file open refuses to write after another has migrated it to a newer schema`()
        async throws
    {
        let path = folder("library.sqlite")
        let library = try LibraryFile.open(at: path)
        let newer = try DatabaseQueue(path: path)
        try await newer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 99") }
        await #expect(throws: LibraryError.newerSchema(path: path, version: 99, known: Schema.version)) {
            try await library.save(dune, record("Dune"))
        }
    }

    @Test(
        arguments: [
            ("21 1 0:50 / /net rw - nfs4 host:/x rw", 50, "nfs4"),
            ("21 1 0:50 / /net rw shared:1 - fuse.sshfs u@h: rw", 50, "fuse.sshfs"),
            ("20 1 8:2 / / rw - ext4 /dev/sda2 rw\n21 1 0:51 / /n rw - cifs //h/x rw", 51, "cifs"),
            ("20 1 8:2 / / rw - ext4 /dev/sda2 rw", 0x802, "ext4"), ("21 1 0:50 / /net rw - nfs4 h rw", 51, nil),
            ("garbage", 0, nil), ("1 2 0:0 -", 0, nil),
        ] as [(String, UInt, String?)])
    func `reads the type of a file system from mountinfo`(text: String, device: UInt, type: String?) {
        #expect(FileSystemKind.type(ofDevice: device, in: text) == type)
    }

    @Test(arguments: [
        ("nfs4", true), ("cifs", true), ("fuse.sshfs", true), ("ext4", false), ("9p", false), ("fuseblk", false),
    ])
    func `refuses network file systems only`(type: String, isRefused: Bool) throws {
        #expect(FileSystemKind.refused.contains(type) == isRefused)
        #expect(try FileSystemKind.network(at: folder.path) == nil)
    }

    /// Copies the files of a database while it is open. The copy is in the state in which a killed process leaves a
    /// database.
    private func copyWithLog(_ name: String, to copy: String) throws {
        try write(bytes(of: folder(name)), to: folder(copy))
        try write(bytes(of: folder(name + "-wal")), to: folder(copy + "-wal"))
    }

    private func mode(of path: String) throws -> mode_t { try #require(try fileFacts(path)).st_mode & 0o777 }
}
