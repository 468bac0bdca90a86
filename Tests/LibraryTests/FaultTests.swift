import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import Testing

@testable import Library

@Suite struct FaultTests {
    let folder = Folder()

    @Test func `a full disk loses nothing that was acknowledged, and the library works again when there is room`()
        async throws
    {
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        try await library.save(dune, record("Dune"))
        // With this limit, SQLite returns SQLITE_FULL, as it does after ENOSPC.
        try await library.database.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        let batch = try (0..<500).map { try confirmed(isbn($0), record("Book \($0)", by: ["Author \($0)"])) }
        await #expect(throws: LibraryError.diskFull(path: folder("library.sqlite"))) {
            try await library.add(batch, at: noon)
        }
        #expect(try await library.find("") == ["Dune"])
        #expect(try await library.changes(limit: 9).count == 1)
        try await library.database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA max_page_count = 1000000")
        }
        #expect(try await library.add(batch, at: noon).count == 500)
    }

    @Test(.enabled(if: canMount, "needs root and mount"))
    func `a small disk that runs full at any write keeps every acknowledged book`() async throws {
        let disk = try SmallDisk(bytes: 2 << 20)
        let library = try LibraryFile.open(at: disk("library.sqlite"))
        var saved: [ISBN] = []
        do {
            for number in 0..<5000 {
                try await library.save(isbn(number), record("Book \(number)", by: ["Author \(number)"]))
                saved.append(isbn(number))
            }
        } catch LibraryError.diskFull {}
        #expect(!saved.isEmpty && saved.count < 5000)
        #expect(try await Set(library.books(with: saved).keys) == Set(saved))
        let error = try await #require(throws: LibraryError.self) {
            _ = try await library.backup(to: disk("backup.sqlite"))
        }
        guard case .noRoom = error else { throw error }
        #expect(!names(in: disk.path).contains { $0.hasPrefix("backup") })

        try disk.grow(to: 32 << 20)
        try await library.save(dune, record("Dune"))
        try await library.close()
        let again = try LibraryFile.open(at: disk("library.sqlite"))
        #expect(try await again.books(matching: BookQuery()).total == saved.count + 1)
    }

    @Test(.enabled(if: canMount, "needs root and mount"))
    func `on a disk mounted read-only, a library can be read, and every write is a permission error`() async throws {
        let disk = try SmallDisk(bytes: 4 << 20)
        do {
            let library = try LibraryFile.open(at: disk("library.sqlite"))
            try await library.save(dune, record("Dune"))
            try await library.close()
        }
        try disk.remount("ro")
        let existing = try LibraryFile.open(at: disk("library.sqlite"))
        #expect(try await existing.find("dune") == ["Dune"])
        await #expect(throws: LibraryError.permission(path: disk("library.sqlite"), errno: EROFS)) {
            try await existing.save(odyssey, record("Odyssey"))
        }
        try await existing.close()
        for path in [disk("new.sqlite"), disk("folder/new.sqlite")] {
            let error = #expect(throws: LibraryError.self) { try LibraryFile.open(at: path) }
            #expect(error?.category == .permission)
        }
        try disk.remount("rw")
    }

    @Test(.enabled(if: getuid() != 0, "root may write everywhere"))
    func `without permission to write, a library can be read, and every write is a permission error`() async throws {
        try await LibraryFile.open(at: folder("library.sqlite")).close()
        chmod(folder("library.sqlite"), 0o400)
        let existing = try LibraryFile.open(at: folder("library.sqlite"))
        #expect(existing.isReadOnly)
        #expect(try await existing.find("").isEmpty)
        await #expect(throws: LibraryError.permission(path: folder("library.sqlite"), errno: EACCES)) {
            try await existing.save(dune, record("Dune"))
        }
        try await existing.close()
        chmod(folder.path, 0o500)
        defer { chmod(folder.path, 0o700) }
        #expect(throws: LibraryError.self) { try LibraryFile.open(at: folder("new.sqlite")) }
    }

    @Test func `reports that another process holds the lock, and loses nothing`() async throws {
        let path = folder("library.sqlite")
        let library = try LibraryFile.open(at: path, lockTimeout: .milliseconds(50))
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: LibraryError.locked(path: path)) { try await library.save(dune, record("Dune")) }
        #expect(try await library.find("").isEmpty)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
        try await library.save(dune, record("Dune"))
    }

    @Test
    func
        `the same book saved by two processes at the same moment is one edition, and the second save reports it as owned`()
        async throws
    {
        let path = folder("library.sqlite")
        let libraries = try (0..<4).map { _ in try LibraryFile.open(at: path) }
        for round in 0..<20 {
            let results = try await withThrowingTaskGroup(of: SaveResult.self) { group in
                for library in libraries {
                    group.addTask {
                        try await library.add([confirmed(isbn(round), record("Book", by: ["Same"]))], at: noon)[0]
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let saved = results.filter { if case .saved = $0 { true } else { false } }
            let owned = results.filter { if case .owned = $0 { true } else { false } }
            #expect(saved.count == 1 && owned.count == 3)
        }
        #expect(try await libraries[0].books(matching: BookQuery()).total == 20)
        #expect(try await libraries[1].dump().filter { $0.hasPrefix("edition ") }.count == 20)
        #expect(try await libraries[2].dump().filter { $0.hasPrefix("author ") }.count == 1)
    }

    @Test func `a batch with one row that cannot be saved is not saved at all`() async throws {
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        try await library.database.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER no BEFORE INSERT ON copy WHEN (SELECT count(*) FROM copy) = 3
                    BEGIN SELECT RAISE(ABORT, 'no'); END
                    """)
        }
        let before = try await library.dump()
        let batch = try (0..<5).map { try confirmed(isbn($0), record("Book \($0)")) }
        let error = await #expect(throws: LibraryError.self) { try await library.add(batch, at: noon) }
        #expect(error?.category == .fault)
        #expect(try await library.dump() == before)
        #expect(try await library.lastChange() == nil)
    }

    @Test(
        arguments: [
            (.SQLITE_FULL, .inputOutput), (.SQLITE_IOERR_FSYNC, .inputOutput), (.SQLITE_IOERR_WRITE, .inputOutput),
            (.SQLITE_IOERR_SHMSIZE, .inputOutput), (.SQLITE_CANTOPEN, .inputOutput), (.SQLITE_CORRUPT, .corrupt),
            (.SQLITE_CORRUPT_VTAB, .corrupt), (.SQLITE_NOTADB, .corrupt), (.SQLITE_BUSY, .locked),
            (.SQLITE_BUSY_SNAPSHOT, .locked), (.SQLITE_BUSY_RECOVERY, .locked), (.SQLITE_READONLY, .permission),
            (.SQLITE_READONLY_DBMOVED, .permission), (.SQLITE_READONLY_CANTLOCK, .permission),
            (.SQLITE_PERM, .permission), (.SQLITE_CONSTRAINT_CHECK, .fault),
        ] as [(ResultCode, LibraryError.Category)])
    func `errors are classified by SQLite's code, whatever the text`(code: ResultCode, category: LibraryError.Category)
    {
        let error = LibraryError(DatabaseError(resultCode: code, message: "disk is full, locked, corrupt"), path: "x")
        #expect(error.category == category)
    }

    @Test
    func `a file that SQLite opened only for reading, although it may be written, is on a failing disk`() async throws {
        let path = folder("library.sqlite")
        try await LibraryFile.open(at: path).close()
        let error = LibraryError(DatabaseError(resultCode: .SQLITE_READONLY), path: path)
        #expect(error == .inputOutput(path: path, code: 8))
    }

    /// Reading the memory of a process at the address 0 fails with EIO (proc_pid_mem(5)).
    @Test(arguments: ["", "-wal"])
    func `a page that the disk cannot read is not damage, whichever file it is in`(suffix: String) async throws {
        let (library, copy) = (folder("library.sqlite"), folder("copy.sqlite"))
        for path in [library, copy] { try await LibraryFile.open(at: path).close() }
        unlink(copy + suffix)
        try FileManager.default.createSymbolicLink(atPath: copy + suffix, withDestinationPath: "/proc/self/mem")
        let error = DatabaseError(resultCode: .SQLITE_CORRUPT)
        #expect(LibraryError(error, path: library, file: copy) == .inputOutput(path: library, code: EIO))
        #expect(LibraryError(error, path: copy) == .inputOutput(path: copy, code: EIO))
        #expect(LibraryError(error, path: copy, file: library).category == .corrupt)
    }

    @Test func `a full disk and missing permissions are distinguished from a failing disk`() {
        let sync = LibraryError(DatabaseError(resultCode: .SQLITE_IOERR_FSYNC), path: "x")
        #expect(sync == .inputOutput(path: "x", code: 1034))
        #expect(LibraryError(DatabaseError(resultCode: .SQLITE_FULL), path: "x") == .diskFull(path: "x"))
        #expect(LibraryError(errno: ENOSPC, path: "x") == .diskFull(path: "x"))
        #expect(LibraryError(errno: EROFS, path: "x") == .permission(path: "x", errno: EROFS))
        #expect(LibraryError(errno: EIO, path: "x") == .inputOutput(path: "x", code: EIO))
    }
}

/// True if a small disk can be mounted on this machine. This is tried only once.
let canMount: Bool = getuid() == 0 && (try? SmallDisk(bytes: 1 << 20)) != nil

/// A small disk (a tmpfs) that is removed at the end of the test.
final class SmallDisk: Sendable {
    let path: String
    private let folder = Folder()

    init(bytes: Int) throws {
        path = folder("disk")
        guard mkdir(path, 0o700) == 0, mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0 else {
            throw LibraryError(errno: errno, path: path)
        }
    }

    deinit { umount2(path, 2) }

    func callAsFunction(_ name: String) -> String { path + "/" + name }

    func grow(to bytes: Int) throws {
        // The number 32 is MS_REMOUNT from sys/mount.h.
        guard mount("tmpfs", path, "tmpfs", 32, "size=\(bytes)") == 0 else {
            throw LibraryError(errno: errno, path: path)
        }
    }

    func remount(_ how: String) throws {
        guard mount("tmpfs", path, "tmpfs", how == "ro" ? 33 : 32, "") == 0 else {
            throw LibraryError(errno: errno, path: path)
        }
    }
}
