import Bookplate
import SystemCalls
import FoundationEssentials
import GRDB
import Glibc
import SystemPackage

/// The result of a backup or a restore.
public struct CopyReport: Sendable, Equatable {
    /// The path of the file that was written.
    public var path: String
    public var bytes: Int
    /// The number of books in the copy, not counting the trash.
    public var books: Int
    /// The paths to which a restore has moved the previous library and its side files.
    public var movedAside: [String] = []
    /// The paths of the older backups that were removed.
    public var removed: [String] = []
    /// True if a restore has removed the access code or revoked stations. It does so if the previous library, which has
    /// the current access code and stations, could not be read.
    public var isAccessClosed = false
    /// The tables and indexes in a restored backup that Bookplate has not created, such as "table bookmark". They do
    /// nothing.
    public var unknownObjects: [String] = []
}

extension LibraryFile {
    /// Makes a consistent copy of the library, while other connections can read and write. Writes the copy under
    /// another name, checks it (with `integrity_check`, and by the number of rows in every table), syncs it and renames
    /// it to its final name. An existing file is replaced only when the copy is complete. If anything fails, the
    /// existing file stays.
    ///
    /// This replaces only an empty file or an older backup of the same library, never the library itself, a library in
    /// use, or a file that is not a Bookplate library.
    ///
    /// - Parameters:
    ///   - target: the path of the file to write or replace. Links are followed. Its folder must exist, unless it is
    ///     the library's own folder `backups`, because a missing folder may be on a disk that is not connected.
    ///   - force: true to replace also a backup of another library, or one that cannot be read.
    ///   - progress: the function that receives the completed fraction, from 0 to 1. If it throws, the backup ends.
    /// - Throws: ``LibraryError``.
    public func backup(
        to target: String, force: Bool = false, progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws -> CopyReport {
        var partial: String?
        do {
            let identity = try await identity()
            if isOwnFolder(folder(of: target)) {
                try createFolderBeside(folder(of: target))
            } else if try fileFacts(folder(of: target)) == nil {
                throw LibraryError.noBackupFolder(path: folder(of: target))
            }
            let destination = BackupTarget(target)
            // The locks are held until the file has been replaced.
            let lock = try destination.check(against: path, identity: force ? nil : identity)
            defer { withExtendedLifetime(lock) {} }
            let copy = destination.partial()
            partial = copy
            beginPartial(copy)
            let report = try await database.read { db in
                try destination.write(db, from: path ?? ":memory:", to: copy, named: target, progress: progress)
            }
            try commitFile(copy, to: destination.path)
            endPartial(copy)
            destination.removeLeftovers(at: clock())
            return report
        } catch {
            if let partial {
                removeDatabase(partial)
                endPartial(partial)
            }
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }
}

extension BackupTarget {
    /// Writes the copy that will replace the target, and checks it.
    ///
    /// - Parameters:
    ///   - library: the path of the library.
    ///   - partial: the path of the copy, which does not exist yet.
    ///   - target: the path that errors and the report give for the copy.
    func write(
        _ db: Database, from library: String, to partial: String, named target: String,
        progress: @escaping (Double) throws -> Void
    ) throws -> CopyReport {
        try checkRoom(for: db)
        return try copyLibrary(db, from: library, to: partial, named: target, progress: progress)
    }
}

extension LibraryLocation {
    /// Makes a backup of a library that is about to be migrated, in the folder `backups` beside it. It is never
    /// removed.
    ///
    /// - Parameter isAlone: true if the caller has the locks *opening* and *in use*.
    /// - Returns: `nil` if the library contains no work of a person.
    /// - Throws: ``LibraryError/corrupt(path:what:)`` if the library is damaged, and otherwise
    ///   ``LibraryError/notUpgraded(path:cause:)``.
    func backUpBeforeUpdate(isAlone: Bool, at now: Date) throws -> CopyReport? {
        let own = LibraryFile.ownBackupFolder(of: path)
        var partial: String?
        do {
            if try hasRollbackJournal() {
                // The connection of the backup cannot write, so it could not roll the transaction back.
                let file = try DatabaseQueue(path: path, configuration: LibraryFile.configuration())
                try file.close()
            }
            return try read(isAlone: isAlone) { db in
                let tables = ["edition", "copy", "intakeItem", "change", "setting"]
                guard try tables.contains(where: { try db.row("SELECT 1 FROM \($0) LIMIT 1") != nil }) else {
                    return nil
                }
                try createFolderBeside(own)
                let target = try BackupRotation(ofLibraryAt: path).freePath(in: own, .beforeUpdate, at: now)
                let destination = BackupTarget(target)
                let copy = destination.partial()
                partial = copy
                let report = try destination.write(db, from: path, to: copy, named: target, progress: { _ in })
                guard chmod(copy, try fileMode(in: own)) == 0 || errno == EPERM else {
                    throw LibraryError(errno: errno, path: copy)
                }
                try commitFile(copy, to: destination.path)
                return report
            }
        } catch {
            if let partial { removeDatabase(partial) }
            switch LibraryError.translated(error, path: path) {
            case LibraryError.corrupt(_, let what): throw LibraryError.corrupt(path: path, what: what)
            case let cause as LibraryError: throw LibraryError.notUpgraded(path: path, cause: cause)
            case let other: throw other
            }
        }
    }
}

/// Copies a database into a single file without side files, and checks the file. The caller syncs it.
///
/// - Parameters:
///   - original: the path of the database, which errors report if it is damaged or cannot be read.
///   - path: the file to write, which does not exist yet.
///   - name: the path that the report and errors give for the written file.
/// - Throws: GRDB's error about the original, or ``LibraryError``. If the copy is damaged, then so is the original.
func copyLibrary(
    _ source: Database, from original: String, to path: String, named name: String,
    progress: @escaping (Double) throws -> Void
) throws -> CopyReport {
    // The first read begins the transaction whose state is copied.
    let expected = try rowCounts(source)
    do {
        try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite
        ).close()
    } catch {
        throw LibraryError(system: error, path: name)
    }
    do {
        let copy = try DatabaseQueue(path: path, configuration: LibraryFile.configuration())
        // After an error, the caller removes the copy, so it does not matter whether it could be closed.
        defer { try? copy.close() }
        let (check, rows, books) = try copy.writeWithoutTransaction { db in
            do {
                try source.backup(to: db, pagesPerStep: 64) { state in
                    guard state.totalPageCount > 0 else { return }
                    try progress(Double(state.completedPageCount) / Double(state.totalPageCount))
                }
            } catch let error as DatabaseError where error.isOfReading {
                throw LibraryError(error, path: original)
            }
            // The copied header says that there is a write-ahead log. This turns the log off, so that the backup is a
            // single file and can be read from a read-only medium.
            try db.execute(sql: "PRAGMA journal_mode = DELETE")
            let check = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "the file check gave no result"
            guard check == "ok" else { return (check, expected, 0) }
            let books = try Int.fetchOne(db, sql: "SELECT count(*) FROM copy WHERE deleted IS NULL") ?? 0
            return (check, try rowCounts(db), books)
        }
        try copy.close()
        guard check == "ok" else { throw LibraryError.damage(check, in: name, file: path) }
        guard rows == expected else {
            throw LibraryError.corrupt(path: original, what: "a copy of it has a different number of rows")
        }
        return CopyReport(path: name, bytes: Int(try fileFacts(path)?.st_size ?? 0), books: books)
    } catch {
        let error = LibraryError.translated(error, path: name, file: path)
        if case LibraryError.corrupt(_, let what) = error { throw LibraryError.corrupt(path: original, what: what) }
        throw error
    }
}

extension DatabaseError {
    /// True if a page could not be read. SQLite's function for copies (`sqlite3_backup_step`) reads only the original.
    fileprivate var isOfReading: Bool {
        [.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ, .SQLITE_IOERR_CORRUPTFS].contains(extendedResultCode)
            || resultCode == .SQLITE_CORRUPT
    }
}

/// Returns the number of rows in every table.
func rowCounts(_ db: Database) throws -> [String: Int] {
    let tables = try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'")
    return try Dictionary(
        uniqueKeysWithValues: tables.map { table in
            (table, try Int.fetchOne(db, sql: "SELECT count(*) FROM \"\(table)\"") ?? 0)
        })
}

/// Removes a database with its side files.
func removeDatabase(_ path: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
}

/// The result of a day's backup.
public struct DailyBackup: Sendable {
    /// The reports of the backup beside the library, and of the second backup if one was made.
    public var made: [CopyReport] = []
    /// The error of the second backup; `nil` if the second backup succeeded or was not requested. The first backup
    /// succeeded, whether or not the second one failed.
    public var secondError: (any Error)?
}

extension LibraryFile {
    /// Makes the backup of the current day in UTC, unless it has already been made. A service calls this on a timer,
    /// and other programs call it after they have changed something. If several processes call it at once, only one of
    /// them makes the backup.
    ///
    /// - Parameters:
    ///   - second: the folder for a second backup, for example on a memory stick.
    ///   - progress: the function that receives the completed fraction of each backup, from 0 to 1. If it throws, the
    ///     backup ends.
    /// - Returns: `nil` if the day's backup has already been made, another process is making it, or the library is in
    ///   memory.
    /// - Throws: ``LibraryError``. In this case the day has no backup, and the next call tries again.
    public func backUpIfDue(
        at now: Date, copying second: String? = nil,
        progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws -> DailyBackup? {
        guard let own = path.map(Self.ownBackupFolder(of:)), let lock else { return nil }
        guard try await isBackupDue(at: now), try lock.attempt(.exclusive, .backup) else { return nil }
        // If this fails, the kernel releases the lock when the library is closed.
        defer { try? lock.release(.backup) }
        // The previous holder of the lock may just have made the backup.
        guard try await isBackupDue(at: now) else { return nil }
        var daily = DailyBackup()
        // After the first backup, damage that is newer than the previous one could no longer be noticed.
        let removesOld = await isAsInBackups()
        func makeBackup(in folder: String) async throws {
            daily.made.append(
                try await backup(into: folder, as: .daily, removesOld: removesOld, at: now, progress: progress))
        }
        try await makeBackup(in: own)
        guard let second else { return daily }
        do {
            guard try fileFacts(second) != nil else { throw LibraryError.noBackupFolder(path: second) }
            try await makeBackup(in: second)
        } catch {
            daily.secondError = error
        }
        return daily
    }

    private func isBackupDue(at now: Date) async throws -> Bool {
        let done = try await read { db in try MaintenanceTask.backup.lastDone(db) }
        // A different day is enough. It need not be later, because a clock that was once far ahead must not stop
        // backups for ever.
        return done != utcDay(now.milliseconds)
    }

    /// Records that today's backup was made. The record is not part of the change history, so it cannot be undone.
    func recordBackup(at now: Date) async throws {
        try await write { db in try MaintenanceTask.backup.record(db, at: now) }
    }
}
