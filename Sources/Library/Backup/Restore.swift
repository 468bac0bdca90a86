import Bookplate
import SystemCalls
import FoundationEssentials
import GRDB
import Glibc

extension LibraryFile {
    /// Replaces a library with a backup. Before anything is changed, the backup is copied beside the library, and the
    /// copy is checked. Then the previous library is moved aside with its side files, even if it is damaged. It is
    /// never deleted.
    ///
    /// The settings for network access come from the previous library, not from the backup: the access code is that of
    /// the previous library, a station or a wishlist link that it has revoked stays revoked, and guests may view the
    /// kiosk's pages only if they may in the previous library. All sign-ins end. If the previous library cannot be
    /// read, the access code is removed, all stations and links are revoked, and guests may not view the pages
    /// (``CopyReport/isAccessClosed``).
    ///
    /// - Parameters:
    ///   - backup: the path of a file that ``backup(to:force:progress:)`` has made, or of a library.
    ///   - path: the path of the library, which need not exist.
    ///   - identity: the id of the previous library, which the restored library keeps, so that the previous library's
    ///     backups still belong to it. With `nil`, the restored library has the backup's id. It also has the backup's
    ///     id if the backup is in the library's own folder `backups`, because then the backups there belong to it.
    /// - Throws: ``LibraryError``, which is ``LibraryError/inUse(path:)`` if any process has the library open.
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
            // A restore that was killed may have left such a file. No other process uses the file while this process
            // has both locks.
            removeDatabase(incoming)
            var report = try copyChecked(backup, to: incoming)
            let isFromOwnFolder = realPath(folder(of: backup)) == realPath(ownBackupFolder(of: path))
            if let identity, !isFromOwnFolder { try setIdentity(identity, of: incoming) }
            report.isAccessClosed = try RestoredAccess.apply(RestoredAccess.read(from: path), to: incoming, at: now)
            // A file system without modes, such as FAT, answers EPERM.
            guard chmod(incoming, location.mode) == 0 || errno == EPERM else {
                throw LibraryError(errno: errno, path: incoming)
            }
            // The copy is synced before the previous library is moved aside, because after that point as little as
            // possible should be able to fail.
            try syncFile(incoming)
            report.movedAside = try moveAside(path, at: now)
            try commitFile(incoming, to: path)
            report.path = path
            return report
        } catch {
            let error = LibraryError.translated(error, path: path, file: incoming)
            removeDatabase(incoming)
            throw error
        }
    }

    private static func copyChecked(_ backup: String, to incoming: String) throws -> CopyReport {
        do {
            guard try LibraryLocation(backup).inspect(isAlone: false) != .new else {
                throw LibraryError.foreign(path: backup, what: "an empty or missing file")
            }
            return try LibraryLocation(backup).read(isAlone: false) { db in
                var report = try copyLibrary(db, from: backup, to: incoming, named: incoming, progress: { _ in })
                report.unknownObjects = try SchemaCheck.unknownObjects(db, path: backup)
                return report
            }
        } catch {
            throw LibraryError.translated(error, path: backup, file: backup)
        }
    }

    /// Renames the library and its side files. The main file gets its new name before it loses its old one, so that no
    /// process finds the library missing and creates an empty library.
    private static func moveAside(_ path: String, at now: Date) throws -> [String] {
        guard try fileFacts(path) != nil else { return [] }
        var aside = "\(path).before-restore-\(stamp(now))"
        var count = 1
        while try fileFacts(aside) != nil {
            count += 1
            aside = "\(path).before-restore-\(stamp(now))-\(count)"
        }
        if link(path, aside) != 0 {
            // If there are no hard links (on FAT, or in some containers), the library is missing for a moment, but this
            // process has both locks then.
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
    /// Creates the folders and the side file with the locks, as ``prepare()`` does. The file that is now at the path
    /// need not be a library.
    func prepareForReplacement() throws(LibraryError) -> LibraryLock {
        try createFolder(folder(of: path))
        if let network = try FileSystemKind.network(at: folder(of: path)) {
            throw LibraryError.networkFileSystem(path: path, type: network)
        }
        return try LibraryLock(path: path + "-lock", mode: mode)
    }
}

/// The network access of a library: its access code, its counts of wrong codes, its sign-in attempts, its stations, its
/// wishlist links, and whether guests may view the kiosk's pages. A restore takes these from the library that it
/// replaces, because codes may have been changed, stations and links revoked and guests excluded since the backup was
/// made.
struct RestoredAccess: Sendable {
    private struct StationToken: Sendable {
        var selector: String
        var hash: String
        var revoked: Int64?
    }

    private var code: (hash: String, since: Int64)?
    private var wrongCodes: [StatementArguments] = []
    private var attempts: [StatementArguments] = []
    private var stations: [String: StationToken] = [:]
    /// The links, each with the id of its reader.
    private var links: [StatementArguments] = []
    private var guestView: String?

    /// Reads the access of a library that no process has open.
    ///
    /// - Returns: `nil` if there is no library at the path, or if it cannot be read, which is common, because most
    ///   libraries that are replaced are damaged.
    static func read(from path: String) -> RestoredAccess? {
        do {
            let location = LibraryLocation(path)
            guard try location.inspect(isAlone: true) != .new else { return nil }
            return try location.read(isAlone: true) { db in try RestoredAccess(db) }
        } catch {
            // In this case the caller closes all access, and reports this.
            return nil
        }
    }

    private init(_ db: Database) throws {
        // A library with an older schema does not have these tables.
        if try db.tableExists("accessCode") {
            code = try db.row("SELECT hash, since FROM accessCode").map { ($0["hash"], $0["since"]) }
            wrongCodes = try db.rows("SELECT address, count, last, until FROM wrongCode").map {
                [$0["address"] as String, $0["count"] as Int64, $0["last"] as Int64, $0["until"] as Int64]
            }
        }
        if try db.tableExists("signInAttempt") {
            attempts = try db.rows("SELECT at, address, device, isRight FROM signInAttempt ORDER BY id").map {
                [$0["at"] as Int64, $0["address"] as String, $0["device"] as String, $0["isRight"] as Bool]
            }
        }
        if try db.tableExists("station") {
            for row in try db.rows("SELECT uuid, selector, hash, revoked FROM station") {
                stations[row["uuid"]] = StationToken(
                    selector: row["selector"], hash: row["hash"], revoked: row["revoked"])
            }
        }
        if try db.tableExists("wishlistLink") {
            links = try db.rows(
                """
                SELECT wishlistLink.uuid, token, wishlistLink.created, used, reader.uuid AS readerID
                FROM wishlistLink JOIN reader ON reader.id = reader ORDER BY wishlistLink.id
                """
            ).map {
                [
                    $0["uuid"] as String, $0["token"] as Data, $0["created"] as Int64, $0["used"] as Int64?,
                    $0["readerID"] as String,
                ]
            }
        }
        guestView = try storedSetting(db, LibrarySetting.guestView.rawValue)
    }

    /// Applies `access` to a copy of a library that no process has open. Ends the copy's sign-ins, and replaces its
    /// access code, its counts of wrong codes, its sign-in attempts, its wishlist links and its setting for guests. A
    /// station that `access` contains gets the token and the state (paired or revoked) that it has in `access`. All
    /// other stations are revoked.
    ///
    /// - Parameter access: the access to apply; `nil` closes all access.
    /// - Returns: true if a code was removed, a station or link revoked or guests excluded because `access` is `nil`.
    static func apply(_ access: RestoredAccess?, to path: String, at now: Date) throws -> Bool {
        let file = try DatabaseQueue(path: path, configuration: LibraryFile.configuration())
        defer { try? file.close() }
        let isClosed = try file.write { db in
            // If somebody has left a change open in the backup, everything from here on would become a part of it.
            try db.run("DELETE FROM openChange")
            let guestView = LibrarySetting.guestView
            var isClosed =
                try access == nil && value(of: guestView, db) != guestView.defaultValue
            try db.run("DELETE FROM setting WHERE name = ?", [guestView.rawValue])
            if let value = access?.guestView {
                try db.run("INSERT INTO setting (name, value) VALUES (?, ?)", [guestView.rawValue, value])
            }
            if try db.tableExists("accessCode") {
                isClosed = try isClosed || access == nil && db.row("SELECT 1 FROM accessCode") != nil
                for table in ["accessCode", "signIn", "wrongCode"] { try db.run("DELETE FROM \(table)") }
                if let code = access?.code {
                    try db.run("INSERT INTO accessCode (hash, since) VALUES (?, ?)", [code.hash, code.since])
                }
                for wrong in access?.wrongCodes ?? [] {
                    try db.run("INSERT INTO wrongCode (address, count, last, until) VALUES (?, ?, ?, ?)", wrong)
                }
            }
            // If the replaced library cannot be read, the attempts of the copy are better than none.
            if let access, try db.tableExists("signInAttempt") {
                try db.run("DELETE FROM signInAttempt")
                for attempt in access.attempts {
                    try db.run("INSERT INTO signInAttempt (at, address, device, isRight) VALUES (?, ?, ?, ?)", attempt)
                }
            }
            if try db.tableExists("wishlistLink") {
                isClosed = try isClosed || access == nil && db.row("SELECT 1 FROM wishlistLink") != nil
                try db.run("DELETE FROM wishlistLink")
                for link in access?.links ?? [] {
                    try db.run(
                        """
                        INSERT INTO wishlistLink (uuid, token, created, used, reader)
                        SELECT ?, ?, ?, ?, id FROM reader WHERE uuid = ?
                        """, link)
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
        return isClosed
    }
}

extension LibraryFile {
    /// Returns true if another process or instance has the library open, so that it cannot be replaced. Somebody who
    /// opens the library at the same moment waits.
    public func isOpenElsewhere() throws(LibraryError) -> Bool {
        guard let lock else { return false }
        guard try lock.attempt(.exclusive, .inUse) else { return true }
        _ = try lock.attempt(.shared, .inUse)
        return false
    }
}
