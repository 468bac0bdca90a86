import Bookplate
import FoundationEssentials
import GRDB
import Glibc

/// The result of a backup or a restore.
public struct CopyReport: Sendable, Equatable {
    /// The file that was written.
    public var path: String
    public var bytes: Int
    /// The number of books in it, without the trash.
    public var books: Int
    /// The paths to which a restore has moved the previous library and its side files.
    public var movedAside: [String] = []
    /// The older backups that were removed.
    public var removed: [String] = []
    /// True if a restore has removed the access code or revoked stations because the previous library, which has the current ones,
    /// could not be read.
    public var isAccessClosed = false
}

extension LibraryFile {
    /// Makes a consistent copy while others read and write: writes it under another name, checks it (`integrity_check` and the
    /// number of rows of every table), syncs it and renames it into place. Until then, and if anything fails, an existing file
    /// stays.
    ///
    /// Replaces only an empty file or an older backup, never the library itself or a file that is not a Bookplate library.
    ///
    /// - Parameters:
    ///   - target: the file to write or replace. Links are followed.
    ///   - progress: receives the fraction done, 0 to 1. If it throws, the backup ends.
    /// - Throws: ``LibraryError``.
    public func backup(
        to target: String, progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws -> CopyReport {
        var partial: String?
        do {
            try createFolder(folder(of: target))
            let destination = BackupTarget(target)
            try destination.check(against: path)
            let copy = destination.partial()
            partial = copy
            beginPartial(copy)
            let report = try await database.read { db in
                // The first read begins the transaction whose state is copied.
                let expected = try rowCounts(db)
                try destination.checkRoom(for: db)
                let facts = try copyLibrary(db, to: copy, named: target, progress: progress)
                guard facts.rows == expected else {
                    throw LibraryError.corrupt(path: target, what: "the copy has other rows than the library")
                }
                return CopyReport(path: target, bytes: facts.bytes, books: facts.books)
            }
            guard rename(copy, destination.path) == 0 else { throw LibraryError(errno: errno, path: target) }
            endPartial(copy)
            try syncFolder(of: destination.path)
            destination.removeLeftovers(at: clock())
            return report
        } catch {
            if let partial {
                removeDatabase(partial)
                endPartial(partial)
            }
            let error = LibraryError.translated(error, path: target)
            // Damage in the copy comes from the library.
            if case LibraryError.corrupt(_, let what) = error {
                throw LibraryError.corrupt(path: path ?? ":memory:", what: what)
            }
            throw error
        }
    }
}

/// Copies a database into a file without side files, and checks and syncs it.
///
/// - Parameters:
///   - path: a file that does not exist yet.
///   - name: the path of the file in errors.
/// - Throws: GRDB's error, or ``LibraryError``.
func copyLibrary(
    _ source: Database, to path: String, named name: String, progress: @escaping (Double) throws -> Void
) throws -> (rows: [String: Int], books: Int, bytes: Int) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw LibraryError(errno: errno, path: name) }
    close(descriptor)
    let copy = try DatabaseQueue(path: path, configuration: LibraryFile.configuration())
    defer { try? copy.close() }
    let (rows, books) = try copy.writeWithoutTransaction { db in
        try source.backup(to: db, pagesPerStep: 64) { state in
            guard state.totalPageCount > 0 else { return }
            try progress(Double(state.completedPageCount) / Double(state.totalPageCount))
        }
        // The copied header says that there is a write-ahead log. Without one, the backup is a single file that can be read from a
        // read-only medium.
        try db.execute(sql: "PRAGMA journal_mode = DELETE")
        let error = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "the check gave no result"
        guard error == "ok" else { throw LibraryError.corrupt(path: name, what: error) }
        let books = try Int.fetchOne(db, sql: "SELECT count(*) FROM copy WHERE deleted IS NULL") ?? 0
        return (try rowCounts(db), books)
    }
    try copy.close()
    try syncFile(path)
    return (rows, books, Int(try fileFacts(path)?.st_size ?? 0))
}

/// Returns the number of rows of every table.
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
    /// The backup beside the library, then the second one, if there was a folder for it.
    public var made: [CopyReport] = []
    /// The error of the second backup. The first one was made.
    public var secondError: (any Error)?
}

extension LibraryFile {
    /// Makes the day's backup, in UTC, unless it exists: for a service's timer, and for a program that has changed something. Of
    /// several processes that call this at once, one makes it.
    ///
    /// - Parameters:
    ///   - second: the folder for a second backup, such as a memory stick's.
    ///   - progress: receives the fraction done of each, 0 to 1. If it throws, the backup ends.
    /// - Returns: `nil` if the day has its backup, another process is making it, or the library is in memory.
    /// - Throws: ``LibraryError``. Then the day has no backup, and the next call tries again.
    public func backUpIfDue(
        at now: Date, copying second: String? = nil,
        progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws -> DailyBackup? {
        guard let own = folderBeside("backups"), let lock else { return nil }
        guard try await isBackupDue(at: now), try lock.attempt(.exclusive, .backup) else { return nil }
        defer { try? lock.release(.backup) }
        // The previous holder of the lock may have made it just now.
        guard try await isBackupDue(at: now) else { return nil }
        var daily = DailyBackup()
        daily.made.append(try await backup(into: own, at: now, progress: progress))
        guard let second else { return daily }
        do {
            guard try fileFacts(second) != nil else { throw LibraryError.noBackupFolder(path: second) }
            daily.made.append(try await backup(into: second, at: now, progress: progress))
        } catch {
            daily.secondError = error
        }
        return daily
    }

    private func isBackupDue(at now: Date) async throws -> Bool {
        let done = try await read { db in try MaintenanceTask.backup.lastDone(db) }
        // A different day, not a later one, because a clock that was once far ahead must not stop backups for ever.
        return done != now.utcDayNumber
    }

    /// Records that the day has its backup. This is not a change that can be undone.
    func recordBackup(at now: Date) async throws {
        try await write { db in try MaintenanceTask.backup.record(db, at: now) }
    }
}
