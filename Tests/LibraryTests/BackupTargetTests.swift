import Bookplate
import SystemCalls
import FoundationEssentials
import GRDB
import Glibc
import Testing

@testable import Library

@Suite struct BackupTargetTests {
    let folder = Folder()
    let library: LibraryFile
    var path: String { folder("library.sqlite") }

    init() async throws {
        library = try LibraryFile.open(at: folder("library.sqlite"))
        try await library.save(dune, record("Dune"))
    }

    @Test(arguments: ["itself", "link", "hard link", "folder link", "-wal", "-shm", "-lock", "-wal hard link", "dots"])
    func `never overwrites the library itself, by any of its names`(kind: String) async throws {
        var target = folder("b.sqlite")
        switch kind {
        case "itself": target = path
        case "link": symlink(path, target)
        case "hard link": link(path, target)
        case "folder link":
            symlink(folder.path, folder("elsewhere"))
            target = folder("elsewhere/library.sqlite")
        case "-wal hard link": link(path + "-wal", target)
        case "dots": target = folder("./covers/../library.sqlite")
        default: target = path + kind
        }
        if kind == "dots" { mkdir(folder("covers"), 0o700) }
        let before = names(in: folder.path)
        let error = await #expect(throws: LibraryError.self) { try await library.backup(to: target) }
        guard case .wouldOverwrite(_, let what)? = error else { throw try #require(error) }
        #expect(what.contains("itself"))
        #expect(names(in: folder.path) == before)
        try await library.save(odyssey, record("The Odyssey"))
        try await library.close()
        #expect(try await LibraryFile.open(at: path).find("") == ["Dune", "The Odyssey"])
    }

    @Test(arguments: ["text", "foreign", "short", "folder", "pipe"])
    func `never overwrites a file that is not a Bookplate library`(kind: String) async throws {
        let target = folder("thesis.sqlite")
        switch kind {
        case "text": try write(Array("all my work".utf8), to: target)
        case "short": try write(Array("SQLite format 3\0 and".utf8), to: target)
        case "foreign":
            let other = try DatabaseQueue(path: target)
            try await other.write { db in try db.execute(sql: "CREATE TABLE t (x)") }
            try other.close()
        case "folder": mkdir(target, 0o700)
        default: mkfifo(target, 0o600)
        }
        let isFile = kind != "folder" && kind != "pipe"
        let before = try (names(in: folder.path), isFile ? bytes(of: target) : [])
        let error = await #expect(throws: LibraryError.self) { try await library.backup(to: target) }
        guard case .wouldOverwrite(target, _)? = error else { throw try #require(error) }
        #expect(error?.category == .refused)
        #expect(names(in: folder.path) == before.0)
        if isFile { #expect(try bytes(of: target) == before.1) }
    }

    @Test func `never overwrites another library that is open`() async throws {
        let other = try LibraryFile.open(at: folder("other.sqlite"))
        try await other.save(odyssey, record("The Odyssey"))
        await #expect(throws: LibraryError.self) { try await library.backup(to: folder("other.sqlite")) }
        #expect(try await other.find("") == ["The Odyssey"])
        await #expect(throws: LibraryError.self) {
            try await library.backup(to: folder("other.sqlite"), force: true)
        }
        #expect(try await other.find("") == ["The Odyssey"])
        try await other.close()
        await #expect(throws: LibraryError.otherLibrary(path: folder("other.sqlite"))) {
            try await library.backup(to: folder("other.sqlite"))
        }
        #expect(try await LibraryFile.open(at: folder("other.sqlite")).find("") == ["The Odyssey"])
        _ = try await library.backup(to: folder("other.sqlite"), force: true)
        #expect(try await LibraryFile.open(at: folder("other.sqlite")).find("") == ["Dune"])
    }

    @Test func `never overwrites a backup that is open as a library, even of this library`() async throws {
        _ = try await library.backup(to: folder("b.sqlite"))
        let opened = try LibraryFile.open(at: folder("b.sqlite"))
        // An open library whose log is empty can be recognised only by its lock.
        _ = try await opened.database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        for force in [false, true] {
            let error = await #expect(throws: LibraryError.self) {
                try await library.backup(to: folder("b.sqlite"), force: force)
            }
            guard case .wouldOverwrite(_, "a library that is in use")? = error else { throw try #require(error) }
        }
        try await opened.close()
        // A process that was killed as soon as it had opened the backup has left an empty log, which is no obstacle.
        try write([UInt8](repeating: 0, count: LibraryLocation.logHeaderSize), to: folder("b.sqlite-wal"))
        _ = try await library.backup(to: folder("b.sqlite"))
        #expect(try LibraryFile.identity(at: folder("b.sqlite")) == (try await library.identity()))
    }

    @Test(arguments: ["of another library", "of another library's first version", "that is damaged"])
    func `overwrites a backup only if it is forced to, if that is one`(kind: String) async throws {
        let target = folder("b.sqlite")
        let other = try LibraryFile.open(at: folder("other.sqlite"))
        _ = try await other.backup(to: target)
        try await other.close()
        if kind == "that is damaged" {
            var content = try bytes(of: target)
            content.replaceSubrange(100..<4096, with: [UInt8](repeating: 0xA5, count: 3996))
            try write(content, to: target)
        } else if kind != "of another library" {
            let first = try DatabaseQueue(path: target)
            try await first.writeWithoutTransaction { db in try db.execute(sql: "DROP TABLE identity") }
            try first.close()
        }
        let before = try bytes(of: target)
        await #expect(throws: LibraryError.otherLibrary(path: target)) { try await library.backup(to: target) }
        #expect(try bytes(of: target) == before)
        #expect(try await library.backup(to: target, force: true).books == 1)
    }

    @Test func `makes no folder where a disk may be missing`() async throws {
        for target in [folder("stick/b.sqlite"), folder("stick/deep/b.sqlite")] {
            await #expect(throws: LibraryError.noBackupFolder(path: SystemCalls.folder(of: target))) {
                try await library.backup(to: target)
            }
        }
        await #expect(throws: LibraryError.noBackupFolder(path: folder("stick/"))) {
            try await library.backup(into: folder("stick/"), at: noon)
        }
        #expect(!names(in: folder.path).contains("stick"))
    }

    @Test func `replaces an empty file, an older backup, and the target of a link`() async throws {
        mkdir(folder("disk"), 0o700)
        symlink("disk/latest.sqlite", folder("b.sqlite"))
        _ = try await library.backup(to: folder("b.sqlite"))
        #expect(names(in: folder("disk")) == ["latest.sqlite"])
        _ = try await library.backup(to: folder("b.sqlite"))
        try write([], to: folder("empty.sqlite"))
        #expect(try await library.backup(to: folder("empty.sqlite")).books == 1)
        #expect(try LibraryFile.restore(from: folder("b.sqlite"), to: folder("again.sqlite"), at: noon).books == 1)
    }

    @Test func `leftovers of killed backups do no harm, and are removed after a day`() async throws {
        let library = try LibraryFile.open(at: folder("library.sqlite"), clock: { Date() })
        let (old, new) = (folder(".bookplate-partial-1"), folder(".bookplate-partial-2-journal"))
        try write([1], to: old)
        try write([2], to: new)
        var times = [timeval(tv_sec: time(nil) - 90_000, tv_usec: 0), timeval(tv_sec: time(nil) - 90_000, tv_usec: 0)]
        utimes(old, &times)
        _ = try await library.backup(to: folder("b.sqlite"))
        let left = names(in: folder.path).filter { $0.hasPrefix(".") || $0.hasPrefix("b") }
        #expect(left == [".bookplate-partial-2-journal", "b.sqlite"])
    }

    @Test func `backups to one file at the same moment do not interfere`() async throws {
        let reports = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try await library.backup(to: folder("b.sqlite")).books } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports == [1, 1, 1, 1])
        #expect(names(in: folder.path).filter { $0.contains("partial") }.isEmpty)
    }
}

@Suite struct LinkedLibraryTests {
    let folder = Folder()

    init() {
        mkdir(folder("disk"), 0o700)
        mkdir(folder("home"), 0o700)
        symlink("../disk/real.sqlite", folder("home/library.sqlite"))
    }

    @Test func `side files are beside the real file, and one lock guards all its names`() async throws {
        let library = try LibraryFile.open(at: folder("home/library.sqlite"))
        #expect(library.path == folder("disk/real.sqlite"))
        let book = try await library.save(dune, record("Dune"))
        try await library.keepCover([1], of: book.edition.id)
        #expect(fileNames(in: folder("home")).filter { !$0.hasPrefix(".") } == ["library.sqlite"])
        #expect(fileNames(in: folder("disk")).contains("real.sqlite-lock"))
        #expect(names(in: folder("disk/covers")).map { $0.prefix(36) } == [book.edition.id.rawValue[...]])
        let beside = LibraryFile.ownBackupFolder(of: folder("home/library.sqlite"))
        let backup = try await library.backup(into: beside, at: noon).path
        #expect(backup.hasPrefix(folder("disk/backups/")))
        // A library that is open under one name cannot be replaced under another name.
        for name in ["home/library.sqlite", "disk/real.sqlite"] {
            #expect(throws: LibraryError.inUse(path: folder("disk/real.sqlite"))) {
                try LibraryFile.restore(from: backup, to: folder(name), at: noon)
            }
        }
    }

    @Test func `restore replaces the real file and leaves the link`() async throws {
        let library = try LibraryFile.open(at: folder("home/library.sqlite"))
        try await library.save(dune, record("Dune"))
        _ = try await library.backup(to: folder("b.sqlite"))
        try await library.save(odyssey, record("The Odyssey"))
        try await library.close()
        let report = try LibraryFile.restore(from: folder("b.sqlite"), to: folder("home/library.sqlite"), at: noon)
        #expect(report.path == folder("disk/real.sqlite"))
        #expect(report.movedAside.allSatisfy { $0.hasPrefix(folder("disk/")) })
        #expect(fileNames(in: folder("home")).filter { !$0.hasPrefix(".") } == ["library.sqlite"])
        for name in ["home/library.sqlite", "disk/real.sqlite"] {
            #expect(try await LibraryFile.open(at: folder(name)).find("") == ["Dune"])
        }
    }

    @Test func `links in a circle are refused`() throws {
        symlink("b.sqlite", folder("a.sqlite"))
        symlink("a.sqlite", folder("b.sqlite"))
        #expect(throws: LibraryError.self) { try LibraryFile.open(at: folder("a.sqlite")) }
    }

    @Test func `a refused restore does not touch the files of another restore`() throws {
        let lock = try LibraryLocation(folder("disk/real.sqlite")).prepareForReplacement()
        #expect(try lock.attempt(.exclusive, .opening))
        try write([1], to: folder("disk/real.sqlite.incoming"))
        #expect(throws: LibraryError.inUse(path: folder("disk/real.sqlite"))) {
            try LibraryFile.restore(from: folder("none"), to: folder("home/library.sqlite"), at: noon)
        }
        #expect(names(in: folder("disk")) == ["real.sqlite.incoming"])
    }
}
