import Bookplate
import FoundationEssentials
import GRDB
import Glibc

/// What a backup or a restore made.
public struct CopyReport: Sendable, Equatable {
    /// The file that is in place now.
    public var path: String
    public var bytes: Int
    /// Books in it, those in the trash left out.
    public var books: Int
    /// Where a restore put the library that was there before, with its side files.
    public var movedAside: [String] = []
    /// Older backups that made room for this one.
    public var removed: [String] = []
    /// Whether a restore took the access code away and revoked the stations, because the library that was there, which would say whom it
    /// let in, could not be read.
    public var isClosed = false
}

extension LibraryFile {
    /// Makes a consistent copy while others go on reading and writing: copied under another name, checked
    /// (`integrity_check` and the number of rows of every table), synced, then renamed into place. Until then, and when
    /// anything fails, a file that was there stays.
    ///
    /// Only an empty file or an older backup is replaced: never the library itself, nor what is no Bookplate library.
    ///
    /// - Parameters:
    ///   - target: the file to write or replace; where it is a link, what it leads to.
    ///   - progress: told the part done, 0 to 1; throwing ends the backup.
    /// - Throws: ``LibraryError``.
    public func backup(
        to target: String, progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws -> CopyReport {
        var partial: String?
        do {
            try makeFolder(folder(of: target))
            let place = BackupTarget(target)
            try place.check(against: path)
            let copy = place.partial()
            partial = copy
            beginPartial(copy)
            let report = try await database.read { db in
                // Reading the counts begins the transaction whose state is copied.
                let expected = try rowCounts(db)
                try place.checkRoom(for: db)
                let facts = try copyLibrary(db, to: copy, named: target, progress: progress)
                guard facts.rows == expected else {
                    throw LibraryError.corrupt(path: target, what: "the copy has other rows than the library")
                }
                return CopyReport(path: target, bytes: facts.bytes, books: facts.books)
            }
            guard rename(copy, place.path) == 0 else { throw LibraryError(errno: errno, path: target) }
            endPartial(copy)
            try syncFolder(of: place.path)
            place.removeLeftovers(at: clock())
            return report
        } catch {
            if let partial {
                removeDatabase(partial)
                endPartial(partial)
            }
            let error = LibraryError.translated(error, path: target)
            // Damage in the copy is damage in what was copied.
            if case LibraryError.corrupt(_, let what) = error {
                throw LibraryError.corrupt(path: path ?? ":memory:", what: what)
            }
            throw error
        }
    }
}

extension LibraryFile {
    /// Reads the whole file and looks for damage (`quick_check`): what a service does once a day. Others go on meanwhile.
    ///
    /// - Throws: ``LibraryError/corrupt(path:what:)`` with the first damage found.
    public func check() async throws {
        let error = try await read { db in try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "no answer" }
        guard error == "ok" else { throw LibraryError.corrupt(path: path ?? ":memory:", what: error) }
    }
}

/// Copies a database into a file of its own, without side files, checked and on the disk.
///
/// - Parameters:
///   - path: a file that is not there yet.
///   - name: what errors call it.
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
        // A copy of pages says of itself that it has a write-ahead log; it is one file, and so can be read from a medium that
        // cannot be written.
        try db.execute(sql: "PRAGMA journal_mode = DELETE")
        let error = try String.fetchOne(db, sql: "PRAGMA integrity_check(1)") ?? "no answer"
        guard error == "ok" else { throw LibraryError.corrupt(path: name, what: error) }
        let books = try Int.fetchOne(db, sql: "SELECT count(*) FROM copy WHERE deleted IS NULL") ?? 0
        return (try rowCounts(db), books)
    }
    try copy.close()
    try syncFile(path)
    return (rows, books, Int(try fileFacts(path)?.st_size ?? 0))
}

/// The number of rows of every table.
func rowCounts(_ db: Database) throws -> [String: Int] {
    let tables = try String.fetchAll(
        db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'")
    return try Dictionary(
        uniqueKeysWithValues: tables.map { table in
            (table, try Int.fetchOne(db, sql: "SELECT count(*) FROM \"\(table)\"") ?? 0)
        })
}

/// Removes a database that did not come to be, with its side files.
func removeDatabase(_ path: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
}

/// What the backup of a day came to.
public struct DailyBackup: Sendable {
    /// The backup beside the library, then the second one where there was a place for it.
    public var made: [CopyReport] = []
    /// What went wrong with the second one: the first is there all the same.
    public var trouble: (any Error)?
}

extension LibraryFile {
    /// Makes the backup of the day, in UTC, when there is none: for a service's timer, and for a program that has changed something.
    /// Of several processes that come to it at once, one makes it.
    ///
    /// - Parameters:
    ///   - second: another folder for a second one, such as a memory stick's; left out when it is not there.
    ///   - progress: told the part done of each, 0 to 1; throwing ends it.
    /// - Returns: `nil` when the day has its backup, another process is at it, or the library is in memory.
    /// - Throws: ``LibraryError``; then the day has none, and the next to come tries again.
    public func backUpIfDue(
        at now: Date, copying second: String? = nil,
        progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws -> DailyBackup? {
        guard let own = folderBeside("backups"), let lock else { return nil }
        guard try await isBackupDue(at: now), try lock.attempt(.exclusive, .backup) else { return nil }
        defer { try? lock.release(.backup) }
        // Whoever had the lock may have made it just now.
        guard try await isBackupDue(at: now) else { return nil }
        var daily = DailyBackup()
        daily.made.append(try await backup(into: own, at: now, progress: progress))
        guard let second else { return daily }
        do {
            guard try fileFacts(second) != nil else { throw LibraryError.noBackupFolder(path: second) }
            daily.made.append(try await backup(into: second, at: now, progress: progress))
        } catch {
            daily.trouble = error
        }
        return daily
    }

    private func isBackupDue(at now: Date) async throws -> Bool {
        let done = try await read { db in try MaintenanceTask.backup.lastDone(db) }
        // Another day, not only a later one: a clock that was once far ahead must not stop it for ever.
        return done != now.utcDayNumber
    }

    /// Records that the day has its backup. No change: there is nothing to take back.
    func recordBackup(at now: Date) async throws {
        try await write { db in try MaintenanceTask.backup.record(db, at: now) }
    }
}

/// What is done once a day, by whichever process comes to it first.
enum MaintenanceTask: String {
    case purge, backup

    /// The day on which it was last done, counted from 1970 in UTC; `nil` for never.
    func lastDone(_ db: Database) throws -> Int64? {
        try db.value(Int64.self, "SELECT done FROM chore WHERE name = ?", [rawValue])
    }

    /// No change: there is nothing to take back.
    func record(_ db: Database, at now: Date) throws {
        try db.run(
            "INSERT INTO chore (name, done) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET done = excluded.done",
            [rawValue, now.utcDayNumber])
    }
}

extension Date {
    /// The day in UTC, counted from 1970.
    var utcDayNumber: Int64 { Int64((Double(milliseconds) / 86_400_000).rounded(.down)) }
}
