import Bookplate
import FoundationEssentials
import GRDB
import Glibc

extension LibraryFile {
    /// Replaces a library by a backup. The backup is copied beside the library, and the copy is checked, before anything is
    /// changed. Then the previous library, whatever its condition, is moved aside with its side files, never deleted.
    ///
    /// Network access stays that of the previous library, not that of the backup: all sign-ins end, the access code is that of the
    /// previous library, and a station that it has revoked stays revoked. If the previous library cannot be read, the code is
    /// removed and all stations are revoked (``CopyReport/isAccessClosed``).
    ///
    /// - Parameters:
    ///   - backup: a file that ``backup(to:progress:)`` has made, or a library.
    ///   - path: the path of the library, which need not exist.
    ///   - identity: the id of the previous library, which the restored one keeps, so that the backups stay its own; `nil` keeps
    ///     the backup's id.
    /// - Throws: ``LibraryError``; ``LibraryError/inUse(path:)`` if any process has the library open.
    public static func restore(
        from backup: String, to path: String, keeping identity: String? = nil, at now: Date
    ) throws -> CopyReport {
        let location = LibraryLocation(path)
        let path = location.path
        let incoming = path + ".incoming"
        let lock = try location.prepareForReplacement()
        guard try lock.attempt(.exclusive, .opening), try lock.attempt(.exclusive, .inUse) else {
            throw LibraryError.inUse(path: path)
        }
        do {
            // A killed restore may have left one. Under both locks, no other process uses it.
            removeDatabase(incoming)
            var report = try copyChecked(backup, to: incoming)
            if let identity { try setIdentity(identity, of: incoming) }
            report.isAccessClosed = try RestoredAccess.apply(RestoredAccess.read(from: path), to: incoming, at: now)
            // EPERM for one's own file: a file system without modes, such as FAT.
            guard chmod(incoming, location.mode) == 0 || errno == EPERM else {
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

    /// Renames the library and its side files. The main file gets its new name before it loses the old one, so that no process
    /// finds the library missing and creates an empty one.
    private static func moveAside(_ path: String, at now: Date) throws -> [String] {
        guard try fileFacts(path) != nil else { return [] }
        var aside = "\(path).before-restore-\(stamp(now))"
        var count = 1
        while try fileFacts(aside) != nil {
            count += 1
            aside = "\(path).before-restore-\(stamp(now))-\(count)"
        }
        if link(path, aside) != 0 {
            // Without hard links (FAT, some containers) the library is missing for a moment, but both locks are held.
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
    /// Does the work of ``prepare()`` for a path whose present file need not be a library.
    func prepareForReplacement() throws(LibraryError) -> LibraryLock {
        try createFolder(folder(of: path))
        if let network = try FileSystemKind.network(at: folder(of: path)) {
            throw LibraryError.networkFileSystem(path: path, type: network)
        }
        return try LibraryLock(path: path + "-lock", mode: mode)
    }
}

extension DatabaseError {
    /// True if the disk that was written to had no room or failed, rather than the file that was read.
    fileprivate var isAboutRoom: Bool { resultCode == .SQLITE_FULL || resultCode == .SQLITE_CANTOPEN }
}

/// The network access of a library: its access code, wrong codes and stations. A restore takes these from the library that it
/// replaces, because a backup is older than codes that were changed and stations that were revoked since.
struct RestoredAccess: Sendable {
    private struct Station: Sendable {
        var selector: String
        var hash: String
        var revoked: Int64?
    }

    private var code: (hash: String, since: Int64)?
    private var wrongCodes: [StatementArguments] = []
    private var stations: [String: Station] = [:]

    /// Reads the access of a library that no process has open.
    ///
    /// - Returns: `nil` if there is none, or it cannot be read: it is mostly replaced because it is damaged.
    static func read(from path: String) -> RestoredAccess? {
        do {
            // A read-only connection leaves an empty log and its index behind. Only files that were there before are moved aside.
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
            // Then the caller closes all access, and reports it.
            return nil
        }
    }

    private init(_ db: Database) throws {
        // Older schemas do not have these tables.
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

    /// Applies the access to a copy that no process has open: ends its sign-ins, replaces its code and wrong codes, and revokes its
    /// stations except those that have access here, which keep the token that they have here.
    ///
    /// - Parameter access: `nil` closes all access.
    /// - Returns: true if something was closed only because `access` is `nil`.
    static func apply(_ access: RestoredAccess?, to path: String, at now: Date) throws -> Bool {
        let file = try DatabaseQueue(path: path, configuration: LibraryFile.configuration())
        defer { try? file.close() }
        let isClosed = try file.write { db in
            var isClosed = false
            if try db.tableExists("accessCode") {
                isClosed = try access == nil && db.row("SELECT 1 FROM accessCode") != nil
                for table in ["accessCode", "signIn", "wrongCode"] { try db.run("DELETE FROM \(table)") }
                if let code = access?.code {
                    try db.run("INSERT INTO accessCode (hash, since) VALUES (?, ?)", [code.hash, code.since])
                }
                for wrong in access?.wrongCodes ?? [] {
                    try db.run("INSERT INTO wrongCode (address, count, last, until) VALUES (?, ?, ?, ?)", wrong)
                }
            }
            guard try db.tableExists("station") else { return isClosed }
            for row in try db.rows("SELECT uuid, revoked FROM station") {
                let id: String = row["uuid"]
                if let station = access?.stations[id] {
                    try db.run(
                        "UPDATE station SET selector = ?, hash = ?, revoked = ? WHERE uuid = ?",
                        [station.selector, station.hash, station.revoked, id])
                } else if row["revoked"] as Int64? == nil {
                    try db.run("UPDATE station SET revoked = ? WHERE uuid = ?", [now.milliseconds, id])
                    if access == nil { isClosed = true }
                }
            }
            return isClosed
        }
        try file.close()
        try syncFile(path)
        return isClosed
    }
}
