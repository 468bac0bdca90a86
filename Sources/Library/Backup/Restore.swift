import Bookplate
import FoundationEssentials
import GRDB
import Glibc

extension LibraryFile {
    /// Puts a backup in a library's place. The backup is copied beside the library and the copy is checked before anything is
    /// touched; then the library that is there, whatever its condition, is moved aside with its side files, never deleted.
    ///
    /// Who may come in over the network stays as it is and not as it was: all sign-ins end, the access code is that of the library that
    /// is there, and a station that it has revoked stays out. Where it cannot be read, there is no code, and no station is let in
    /// (``CopyReport/isClosed``).
    ///
    /// - Parameters:
    ///   - backup: a file made by ``backup(to:progress:)``, or a library.
    ///   - path: the library's place; it need not exist.
    ///   - identity: that of the library that is there, which the place keeps, so that its backups stay its own; `nil` takes the
    ///     backup's.
    /// - Throws: ``LibraryError``; ``LibraryError/inUse(path:)`` while any process has the library open.
    public static func restore(
        from backup: String, to path: String, keeping identity: String? = nil, at now: Date
    ) throws -> CopyReport {
        let place = LibraryLocation(path)
        let path = place.path
        let incoming = path + ".incoming"
        let lock = try place.prepareReplacing()
        guard try lock.attempt(.exclusive, .opening), try lock.attempt(.exclusive, .inUse) else {
            throw LibraryError.inUse(path: path)
        }
        do {
            // What a restore that was killed left; nobody else can be at it, under both locks.
            removeDatabase(incoming)
            var report = try copyChecked(backup, to: incoming)
            if let identity { try setIdentity(identity, of: incoming) }
            report.isClosed = try RestoredAccess.put(RestoredAccess.read(of: path), in: incoming, at: now)
            // EPERM for one's own file: a file system that keeps no rights, such as FAT.
            guard chmod(incoming, place.mode) == 0 || errno == EPERM else {
                throw LibraryError(errno: errno, path: incoming)
            }
            report.movedAside = try moveAside(path, at: now)
            guard rename(incoming, path) == 0 else { throw LibraryError(errno: errno, path: path) }
            try syncFolder(of: path)
            report.path = path
            return report
        } catch {
            removeDatabase(incoming)
            throw LibraryError.translated(error, path: path)
        }
    }

    private static func copyChecked(_ backup: String, to incoming: String) throws -> CopyReport {
        do {
            guard try LibraryLocation(backup).inspect(endedUncleanly: false) == .existing else {
                throw LibraryError.foreign(path: backup, what: "an empty or missing file")
            }
            let source = try DatabaseQueue(path: backup, configuration: configuration(readonly: true))
            defer { try? source.close() }
            let facts = try source.read { db in
                let expected = try rowCounts(db)
                let facts = try copyLibrary(db, to: incoming, named: incoming, progress: { _ in })
                guard facts.rows == expected else {
                    throw LibraryError.corrupt(path: backup, what: "its copy has other rows")
                }
                return facts
            }
            return CopyReport(path: incoming, bytes: facts.bytes, books: facts.books)
        } catch LibraryError.corrupt(_, let what) {
            throw LibraryError.corrupt(path: backup, what: what)
        } catch let error as DatabaseError {
            throw LibraryError(error, path: error.isAboutRoom ? incoming : backup)
        }
    }

    /// Gives the library and its side files another name. The main file gets its new name before it loses the old one, so that
    /// at no moment a process finds no library and begins an empty one.
    private static func moveAside(_ path: String, at now: Date) throws -> [String] {
        guard try fileFacts(path) != nil else { return [] }
        var aside = "\(path).before-restore-\(stamp(now))"
        var count = 1
        while try fileFacts(aside) != nil {
            count += 1
            aside = "\(path).before-restore-\(stamp(now))-\(count)"
        }
        if link(path, aside) != 0 {
            // No hard links (FAT, some containers): the rename leaves a moment without a library, under both locks.
            guard rename(path, aside) == 0 else { throw LibraryError(errno: errno, path: path) }
        }
        var moved = [aside]
        for suffix in ["-wal", "-shm", "-journal"] where try fileFacts(path + suffix) != nil {
            guard rename(path + suffix, aside + suffix) == 0 else { throw LibraryError(errno: errno, path: path) }
            moved.append(aside + suffix)
        }
        try syncFolder(of: path)
        return moved
    }
}

extension LibraryLocation {
    /// Like ``prepare()``, for a place whose present file need not be a library.
    func prepareReplacing() throws(LibraryError) -> LibraryLock {
        try makeFolder(folder(of: path))
        if let network = try FileSystemKind.network(at: folder(of: path)) {
            throw LibraryError.networkFileSystem(path: path, type: network)
        }
        return try LibraryLock(path: path + "-lock", mode: mode)
    }
}

extension DatabaseError {
    /// Whether the disk that was written to had no room, or failed, rather than the file that was read.
    fileprivate var isAboutRoom: Bool { resultCode == .SQLITE_FULL || resultCode == .SQLITE_CANTOPEN }
}

/// Who may come in over the network: what a restore takes over from the library that it replaces, so that no door is open afterwards
/// that was closed before. A backup is older than what was revoked and changed since.
struct RestoredAccess: Sendable {
    private struct Station: Sendable {
        var selector: String
        var hash: String
        var revoked: Int64?
    }

    private var code: (hash: String, since: Int64)?
    private var wrongCodes: [StatementArguments] = []
    private var stations: [String: Station] = [:]

    /// Those of a library that nobody has open.
    ///
    /// - Returns: `nil` where there is none, or it cannot be read: it is mostly replaced because it is damaged.
    static func read(of path: String) -> RestoredAccess? {
        do {
            // A connection that only reads leaves an empty log and its index behind; they are moved aside only where they were before.
            var made: [String] = []
            for suffix in ["-wal", "-shm"] where try fileFacts(path + suffix) == nil { made.append(path + suffix) }
            defer { for file in made { unlink(file) } }
            guard try fileFacts(path) != nil, try LibraryLocation(path).inspect(endedUncleanly: false) == .existing
            else {
                return nil
            }
            let file = try DatabaseQueue(path: path, configuration: LibraryFile.configuration(readonly: true))
            defer { try? file.close() }
            return try file.read { db in try RestoredAccess(db) }
        } catch {
            // The caller closes what it cannot compare, and the report says so.
            return nil
        }
    }

    private init(_ db: Database) throws {
        // Older schemas have no such doors at all.
        if try db.tableExists("accessCode") {
            code = try db.row("SELECT hash, since FROM accessCode").map { ($0["hash"], $0["since"]) }
            wrongCodes = try db.rows("SELECT address, count, last, until FROM wrongCode").map {
                [$0["address"] as String, $0["count"] as Int64, $0["last"] as Int64, $0["until"] as Int64]
            }
        }
        if try db.tableExists("station") {
            for row in try db.rows("SELECT uuid, selector, hash, revoked FROM station") {
                stations[row["uuid"]] = Station(selector: row["selector"], hash: row["hash"], revoked: row["revoked"])
            }
        }
    }

    /// Puts them in place of those of a copy that nobody has open: its sign-ins end, code and wrong codes are these, and of its
    /// stations only those stay in that are let in here, by the token they have here.
    ///
    /// - Parameter doors: `nil` closes all.
    /// - Returns: whether something was closed only because `doors` is `nil`.
    static func put(_ doors: RestoredAccess?, in path: String, at now: Date) throws -> Bool {
        let file = try DatabaseQueue(path: path, configuration: LibraryFile.configuration())
        defer { try? file.close() }
        let isClosed = try file.write { db in
            var isClosed = false
            if try db.tableExists("accessCode") {
                isClosed = try doors == nil && db.row("SELECT 1 FROM accessCode") != nil
                for table in ["accessCode", "signIn", "wrongCode"] { try db.run("DELETE FROM \(table)") }
                if let code = doors?.code {
                    try db.run("INSERT INTO accessCode (hash, since) VALUES (?, ?)", [code.hash, code.since])
                }
                for wrong in doors?.wrongCodes ?? [] {
                    try db.run("INSERT INTO wrongCode (address, count, last, until) VALUES (?, ?, ?, ?)", wrong)
                }
            }
            guard try db.tableExists("station") else { return isClosed }
            for row in try db.rows("SELECT uuid, revoked FROM station") {
                let id: String = row["uuid"]
                if let station = doors?.stations[id] {
                    try db.run(
                        "UPDATE station SET selector = ?, hash = ?, revoked = ? WHERE uuid = ?",
                        [station.selector, station.hash, station.revoked, id])
                } else if row["revoked"] as Int64? == nil {
                    try db.run("UPDATE station SET revoked = ? WHERE uuid = ?", [now.milliseconds, id])
                    if doors == nil { isClosed = true }
                }
            }
            return isClosed
        }
        try file.close()
        try syncFile(path)
        return isClosed
    }
}
