import Bookplate
import SystemCalls
import FoundationEssentials
import GRDB
import Glibc
import Synchronization

/// A file in a backup folder.
public struct StoredBackup: Sendable, Equatable {
    public var path: String
    /// The time at which the backup was begun, taken from the file's name. If the name has no time, this is the time of
    /// the last write.
    public var at: Date
    public var bytes: Int
    /// The number of books in the backup, not counting the trash; `nil` if the file cannot be read.
    public var books: Int?
    /// The reason why the file cannot be read; `nil` if it can.
    public var problem: LibraryError?
    /// The time of the newest change in the backup; `nil` if there is none, or the file cannot be read.
    public var lastChange: Date?
    /// The ``LibraryFile/identity()`` of the library that was backed up; `nil` if the file cannot be read, or was made
    /// before libraries had ids.
    public var library: String?

    public init(
        path: String, at: Date, bytes: Int, books: Int? = nil, lastChange: Date? = nil, problem: LibraryError? = nil,
        library: String? = nil
    ) {
        (self.path, self.at, self.bytes) = (path, at, bytes)
        (self.books, self.lastChange, self.problem, self.library) = (books, lastChange, problem, library)
    }
}

extension LibraryFile {
    /// Returns the path of the folder `backups` beside a library. The folder need not exist.
    public static func ownBackupFolder(of library: String) -> String { folder(of: realPath(library)) + "/backups" }

    /// Lists all library files in a folder, regardless of their names, newest first. The list is empty if the folder
    /// does not exist.
    ///
    /// - Throws: ``LibraryError`` if the folder cannot be read. A file that cannot be read is listed with its problem.
    public static func backups(in folder: String) throws -> [StoredBackup] {
        try backupNames(in: folder).compactMap { name in
            let path = folder + "/" + name
            let stamp = BackupRotation.instant(
                stamp: name.dropLast(BackupRotation.ending.count).suffix(BackupRotation.stampLength))
            var backup = StoredBackup(path: path, at: stamp ?? Date(timeIntervalSince1970: 0), bytes: 0)
            do throws(LibraryError) {
                guard let facts = try fileFacts(path), facts.st_mode & S_IFMT == S_IFREG else { return nil }
                backup.bytes = Int(facts.st_size)
                if stamp == nil { backup.at = Date(timeIntervalSince1970: Double(facts.st_mtim.tv_sec)) }
                (backup.books, backup.lastChange, backup.library) = try content(ofBackup: path) { db in
                    let books = try Int.fetchOne(db, sql: "SELECT count(*) FROM copy WHERE deleted IS NULL") ?? 0
                    let last = try Int64.fetchOne(db, sql: "SELECT at FROM change ORDER BY id DESC LIMIT 1")
                    return (books, last.map(Date.init(milliseconds:)), try storedIdentity(db))
                }
            } catch {
                backup.problem = error
            }
            return backup
        }.sorted { ($0.at, $0.path) > ($1.at, $1.path) }
    }

    private static func backupNames(in folder: String) throws -> [String] {
        guard try fileFacts(folder) != nil else { return [] }
        let names: [[UInt8]]
        do throws(FileError) { names = try storedNames(in: folder) } catch { throw LibraryError(error) }
        return names.map { String(decoding: $0, as: UTF8.self) }.filter {
            !$0.hasPrefix(".") && $0.hasSuffix(BackupRotation.ending)
        }
    }

    private static func content<Content>(
        ofBackup path: String, _ read: (Database) throws -> Content
    ) throws(LibraryError) -> Content {
        do {
            try FileHeader(of: path).check(path: path)
            return try LibraryLocation(path).read(isAlone: false, read)
        } catch {
            let error = LibraryError.translated(error, path: path, file: path)
            throw error as? LibraryError ?? .corrupt(path: path, what: "\(error)")
        }
    }
}

/// The reason for a backup in a folder, which is part of the backup's name.
public enum BackupKind: String, Sendable, CaseIterable {
    /// The backup of the day. Older ones are removed according to ``BackupRotation``.
    case daily = ""
    /// A backup that a person asked for. It is never removed.
    case manual = "manual-"
    /// The backup before a migration to a newer schema. It is never removed.
    case beforeUpdate = "before-update-"
}

extension LibraryFile {
    /// Makes a backup in a folder. The file name contains the time in UTC. In a folder other than the library's own, it
    /// also contains the device and the library's id. An existing file is never replaced.
    ///
    /// A daily backup removes older daily backups of the same library that ``BackupRotation`` does not keep. A file
    /// belongs to the library if it contains the library's id, whatever its name is. So several libraries can share a
    /// memory stick, and a library that was begun in the place of a lost one does not remove the lost one's backups.
    ///
    /// While the library differs from its backups without a reason, none of them is removed, because one of them may be
    /// the last sound one; see ``compareWithBackups()``.
    ///
    /// A backup in the library's own folder counts as the day's backup; see ``backUpIfDue(at:copying:progress:)``.
    ///
    /// - Parameters:
    ///   - folder: the path of the folder, which must exist unless it is the library's own folder `backups`.
    ///   - progress: the function that receives the completed fraction, from 0 to 1. If it throws, the backup ends.
    /// - Throws: ``LibraryError``.
    public func backup(
        into folder: String, as kind: BackupKind = .daily, at now: Date,
        progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws -> CopyReport {
        let removesOld = kind == .daily ? await isAsInBackups() : false
        return try await backup(into: folder, as: kind, removesOld: removesOld, at: now, progress: progress)
    }

    /// - Parameter removesOld: true to remove the daily backups that ``BackupRotation`` does not keep.
    func backup(
        into folder: String, as kind: BackupKind, removesOld: Bool, at now: Date,
        progress: @escaping @Sendable (Double) throws -> Void
    ) async throws -> CopyReport {
        let isOwn = isOwnFolder(folder)
        let rotation = isOwn ? BackupRotation(ofLibraryAt: path) : try await sharedRotation()
        var report = try await backup(to: rotation.freePath(in: folder, kind, at: now), progress: progress)
        // The group of the service gets the same access to the backups as to the library. On a file system without
        // modes, such as FAT, chmod fails with EPERM.
        if isOwn, chmod(report.path, try fileMode(in: folder)) != 0, errno != EPERM {
            throw LibraryError(errno: errno, path: report.path)
        }
        if removesOld {
            let identity = try await identity()
            // A file that cannot be read, for whatever reason, is not known to belong to this library, so it stays.
            let own = fileNames(in: folder).filter { name in
                rotation.instant(of: name) != nil && (try? Self.identity(ofBackup: folder + "/" + name)) == identity
            }
            for name in rotation.surplus(own, now: now) {
                // An old backup that cannot be removed does no harm, because the next backup tries again.
                if unlink(folder + "/" + name) == 0 { report.removed.append(folder + "/" + name) }
            }
        }
        if isOwn { try await recordBackup(at: now) }
        return report
    }

    /// Returns true if a folder is the folder `backups` beside this library.
    func isOwnFolder(_ folder: String) -> Bool {
        path.map { realPath(Self.ownBackupFolder(of: $0)) == realPath(folder) } ?? false
    }

    /// Returns the id of the library in a backup; `nil` if the file has none.
    fileprivate static func identity(ofBackup path: String) throws(LibraryError) -> String? {
        try content(ofBackup: path, storedIdentity)
    }

    /// Returns true if ``compareWithBackups()`` finds no difference. If the comparison fails, this is logged, because
    /// it must not prevent a backup, and the result is false.
    func isAsInBackups() async -> Bool {
        do {
            return try await compareWithBackups().isEmpty
        } catch {
            log("cannot compare the library with its backups, so none of them is removed: \(error)")
            return false
        }
    }

    /// Returns the rotation, which decides which old backups are removed, for any folder other than the library's own
    /// folder `backups`.
    private func sharedRotation() async throws -> BackupRotation {
        let prefix = Self.sharedPrefix(of: path, device: device)
        return BackupRotation(prefix: "\(prefix)\(try await identity())-")
    }

    /// Returns the beginning of a library's backup names: the library's file name without `.sqlite`.
    static func stem(of path: String?) -> String {
        path.map(name(of:)).map { $0.hasSuffix(".sqlite") ? String($0.dropLast(7)) : $0 } ?? "library"
    }

    /// Returns the prefix of a library's backup names in a shared folder, such as `library-raspi-`. It is everything
    /// before the library's id.
    static func sharedPrefix(of path: String?, device: String) -> String {
        // The name must contain only characters that FAT allows, and no slash.
        let host = String(device.unicodeScalars.map { $0.isPortable ? Character($0) : "_" }.prefix(60))
        return "\(stem(of: path))-\(host)-"
    }

}

extension Unicode.Scalar {
    /// True for the characters of POSIX's portable file names (XBD 3.282).
    fileprivate var isPortable: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
        default: false
        }
    }
}

/// The backups in a list that belong to one library.
public struct OwnBackups: Sendable, Equatable {
    /// The backups that can be read, newest first.
    public var backups: [StoredBackup]
    /// The backups in the library's own folder that have the library's name, but belong to another library, newest
    /// first. They are those of a lost library in whose place this one was begun.
    public var others: [StoredBackup] = []
    /// True if the backups may belong to several libraries, so that a person has to choose one of the backups.
    public var areMixed: Bool
}

extension LibraryFile {
    /// Chooses the backups that have the id of the library at `path`. If the id is unknown, chooses the backups that
    /// are named like this library's backups.
    ///
    /// - Parameters:
    ///   - identity: the library's ``identity()``; `nil` if it cannot be read.
    ///   - device: the device name with which the library was opened; the host name by default.
    public static func ownBackups(
        among backups: [StoredBackup], of path: String, identity: String?, device: String? = nil
    ) -> OwnBackups {
        let readable = backups.filter { $0.problem == nil }.sorted { ($0.at, $0.path) > ($1.at, $1.path) }
        let own = realPath(ownBackupFolder(of: path))
        let rotation = BackupRotation(ofLibraryAt: realPath(path))
        func isInOwnFolder(_ backup: StoredBackup) -> Bool { realPath(folder(of: backup.path)) == own }
        // A backup in the folder beside the library that has the library's name may be restored without asking, even if
        // it has no id, because it was made before libraries had ids.
        func isBeside(_ backup: StoredBackup) -> Bool {
            isInOwnFolder(backup) && rotation.isName(name(of: backup.path))
        }
        if let identity {
            let fitting = readable.filter { $0.library == identity || $0.library == nil && isBeside($0) }
            let others = readable.filter { $0.library != nil && $0.library != identity && isBeside($0) }
            return OwnBackups(backups: fitting, others: others, areMixed: false)
        }
        let prefix = sharedPrefix(of: realPath(path), device: device ?? hostName())
        let beside = readable.filter(isBeside)
        let elsewhere = readable.filter { !isInOwnFolder($0) && name(of: $0.path).hasPrefix(prefix) }
        let libraries = Set(beside.compactMap(\.library))
        let others = Set(elsewhere.map { $0.library ?? "" }).subtracting(libraries)
        return OwnBackups(
            backups: readable.filter { beside.contains($0) || elsewhere.contains($0) },
            areMixed: others.count + (beside.isEmpty ? 0 : max(1, libraries.count)) > 1)
    }
}

extension LibraryFile {
    /// Returns the newest backup with books in the folder `backups` beside a library that is missing or was just begun.
    /// If there is one, an earlier library at this place was lost.
    public static func newestBackup(besideLibraryAt path: String) throws -> StoredBackup? {
        let rotation = BackupRotation(ofLibraryAt: realPath(path))
        return try backups(in: ownBackupFolder(of: path)).first { backup in
            rotation.isName(name(of: backup.path)) && backup.books ?? 0 > 0
        }
    }

    /// Returns the newest backup with books in the library's own folder that has the library's name, but belongs to
    /// another library; `nil` if there is none. If there is one, this library was begun in the place of a lost one.
    public func newestOtherBackup() async throws -> StoredBackup? {
        guard let path else { return nil }
        let backups = try Self.backups(in: Self.ownBackupFolder(of: path))
        return Self.ownBackups(among: backups, of: path, identity: try await identity()).others
            .first { $0.books ?? 0 > 0 }
    }
}

/// The target of a backup. It checks that a backup does not destroy another file.
struct BackupTarget {
    /// The path of the target, with links resolved.
    let path: String

    /// - Parameter target: a path in an existing folder.
    init(_ target: String) { path = realPath(target) }

    /// Checks that nothing is lost if a backup replaces the file at the target path.
    ///
    /// - Parameters:
    ///   - library: the path of the library; `nil` for a library in memory.
    ///   - identity: the id that an existing backup must have; `nil` if any backup may be replaced.
    /// - Returns: the locks that prevent other processes from opening the file while it is replaced; `nil` if no
    ///   process has ever opened it as a library.
    /// - Throws: ``LibraryError/wouldOverwrite(path:what:)`` if the file is neither an older backup nor empty, or is a
    ///   library in use; ``LibraryError/otherLibrary(path:)`` if its id is not `identity`.
    func check(against library: String?, identity: String?) throws(LibraryError) -> LibraryLock? {
        let present = try fileFacts(path)
        for suffix in library == nil ? [] : ["", "-wal", "-shm", "-journal", "-lock"] {
            let own = (library ?? "") + suffix
            var isOwn = path == own
            if let present, let facts = try fileFacts(own) {
                // A hard link is another name of the same file.
                isOwn = isOwn || present.st_dev == facts.st_dev && present.st_ino == facts.st_ino
            }
            guard !isOwn else { throw refusal("the library itself, or one of its side files") }
        }
        guard let present else { return nil }
        guard present.st_mode & S_IFMT == S_IFREG else { throw refusal("a folder or device") }
        // SQLite would use an existing write-ahead log as the log of the new file.
        guard try !LibraryLocation(path).hasLeftoverLog() else { throw refusal("a database that is in use") }
        guard present.st_size > 0 else { return nil }
        let header: FileHeader
        do {
            header = try FileHeader(of: path)
        } catch .foreign(_, let what) {
            throw refusal("\(what), not a backup")
        } catch .corrupt(_, let what) {
            throw refusal("a damaged file (\(what))")
        }
        guard header.applicationID == Schema.applicationID else {
            throw refusal("another program's database, not a backup")
        }
        if let identity, try owner() != identity { throw .otherLibrary(path: path) }
        guard try fileFacts(path + "-lock") != nil else { return nil }
        let lock = try LibraryLock(path: path + "-lock", mode: 0o600)
        guard try lock.attempt(.exclusive, .opening), try lock.attempt(.exclusive, .inUse) else {
            throw refusal("a library that is in use")
        }
        return lock
    }

    /// Returns the id of the library in the file that is replaced; `nil` if it has none or is damaged.
    private func owner() throws(LibraryError) -> String? {
        do {
            return try LibraryFile.identity(ofBackup: path)
        } catch {
            guard error.category == .corrupt else { throw error }
            return nil
        }
    }

    /// Checks that the disk has room for the copy, so that a backup does not fill up a small memory stick and then
    /// fail.
    ///
    /// - Throws: ``LibraryError/noRoom(path:needed:free:)`` if there is not enough room.
    func checkRoom(for db: Database) throws {
        let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let needed = try pages * (Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
        var facts = statvfs()
        guard statvfs(folder(of: path), &facts) == 0 else { throw LibraryError(errno: errno, path: path) }
        let (bytes, isHuge) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        let free = isHuge ? .max : Int64(clamping: bytes)
        // Some FUSE file systems do not report their size. On these, the backup is simply attempted.
        guard facts.f_blocks == 0 || free >= needed else {
            throw LibraryError.noRoom(path: path, needed: needed, free: free)
        }
    }

    /// Returns a unique path beside the target. The copy is written there, and stays there until it is complete.
    func partial() -> String { "\(folder(of: path))/\(Self.prefix)\(UUID().uuidString.lowercased())" }

    /// Removes partial copies that are at least a day old. They come from backups that were killed.
    func removeLeftovers(at now: Date) {
        for name in fileNames(in: folder(of: path)) where name.hasPrefix(Self.prefix) {
            let leftover = folder(of: path) + "/" + name
            // If a leftover cannot be removed, the backup must still succeed.
            guard let facts = try? fileFacts(leftover), facts.st_mode & S_IFMT == S_IFREG,
                facts.st_mtim.tv_sec < Int(now.timeIntervalSince1970) - 86_400
            else { continue }
            unlink(leftover)
        }
    }

    private static let prefix = ".bookplate-partial-"

    private func refusal(_ what: String) -> LibraryError { .wouldOverwrite(path: path, what: what) }
}

/// The names of a library's backups in a folder, and the rotation of its daily backups. The rotation keeps the newest
/// backup of each of the last seven days on which a backup was made, and the newest backup of each of the last four
/// weeks in which one was made. Days are in UTC, as in the file names, and weeks begin on Monday (ISO 8601).
///
/// Only files that are named like this library's daily backups are considered. So a backup that a person has asked for,
/// or has given another name, is never removed.
struct BackupRotation {
    static let keptDays = 7
    static let keptWeeks = 4

    /// The prefix of the library's backup names, such as `library-`. It is everything before the time.
    let prefix: String

    init(prefix: String) { self.prefix = prefix }

    /// Creates the rotation for the folder `backups` beside the library at `path`.
    init(ofLibraryAt path: String?) { prefix = LibraryFile.stem(of: path) + "-" }

    /// Returns the name of a backup, such as `library-2026-11-21T120000Z.sqlite` or
    /// `library-manual-2026-11-21T120000Z.sqlite`.
    func name(_ kind: BackupKind = .daily, at now: Date) -> String { prefix + kind.rawValue + stamp(now) + Self.ending }

    /// Returns the path of a backup that does not exist yet. If there is one of the same second, a later second is
    /// used.
    func freePath(in folder: String, _ kind: BackupKind, at now: Date) throws(LibraryError) -> String {
        var at = now
        while try fileFacts(folder + "/" + name(kind, at: at)) != nil { at.addTimeInterval(1) }
        return folder + "/" + name(kind, at: at)
    }

    /// Returns true if a name is one that this library gives its backups, of whatever kind.
    func isName(_ name: String) -> Bool { BackupKind.allCases.contains { instant(of: name, $0) != nil } }

    /// Parses the time at which a backup was begun from the name of its file; `nil` if the name is not one that this
    /// library gives its backups of this kind.
    func instant(of name: String, _ kind: BackupKind = .daily) -> Date? {
        let prefix = prefix + kind.rawValue
        guard name.hasPrefix(prefix), name.hasSuffix(Self.ending),
            name.utf8.count == prefix.utf8.count + Self.stampLength + Self.ending.utf8.count
        else { return nil }
        return Self.instant(stamp: name.dropFirst(prefix.count).prefix(Self.stampLength))
    }

    /// Returns the names of the backups to remove.
    ///
    /// A backup with a date later than `now` is neither removed nor counted, because the clock either was ahead when
    /// the backup was made, or is behind now. So a wrong clock never leads to the removal of all earlier backups, and
    /// the backup that was just made always stays.
    ///
    /// - Parameters:
    ///   - names: the names of the files in one folder, in any order.
    ///   - now: the time of the backup that was just made.
    func surplus(_ names: [String], now: Date) -> [String] {
        let limit = now.milliseconds / 1000
        let own = names.compactMap { name -> (name: String, second: Int64)? in
            guard let second = instant(of: name).map({ $0.milliseconds / 1000 }), second <= limit else { return nil }
            return (name, second)
        }.sorted { ($0.second, $0.name) > ($1.second, $1.name) }
        var days: [Int64] = []
        var weeks: [Int64] = []
        return own.filter { backup in
            let day = Int64((Double(backup.second) / 86_400).rounded(.down))
            // 1970-01-01 was a Thursday, so days 4, 11, … are the first days of weeks.
            let week = Int64((Double(day + 3) / 7).rounded(.down))
            let isDaily = days.last != day && days.count < Self.keptDays
            if isDaily { days.append(day) }
            let isWeekly = weeks.last != week && weeks.count < Self.keptWeeks
            if isWeekly { weeks.append(week) }
            return !isDaily && !isWeekly
        }.map(\.name)
    }

    static let ending = ".sqlite"
    static let stampLength = "2026-11-21T120000Z".utf8.count

    /// Parses a time that ``stamp(_:)`` has written.
    static func instant(stamp text: some StringProtocol) -> Date? {
        let text = Array(text.utf8)
        guard text.count == stampLength, text[10] == UInt8(ascii: "T"), text[17] == UInt8(ascii: "Z"),
            let day = CalendarDay(String(decoding: text[..<10], as: UTF8.self))?.number
        else { return nil }
        let clock = text[11..<17]
        guard clock.allSatisfy({ (48...57).contains($0) }) else { return nil }
        let digits = clock.map { Int($0) - 48 }
        let (hours, minutes, seconds) = (
            digits[0] * 10 + digits[1], digits[2] * 10 + digits[3], digits[4] * 10 + digits[5]
        )
        guard hours < 24, minutes < 60, seconds < 60 else { return nil }
        return Date(timeIntervalSince1970: Double(day * 86_400 + hours * 3600 + minutes * 60 + seconds))
    }
}

/// Returns a time as part of a file name, such as `2026-11-21T021500Z`.
func stamp(_ now: Date) -> String { now.ISO8601Format().replacing(":", with: "") }

/// The paths of the partial copies of running backups, by library instance.
private let partials = Mutex<[String: Set<String>]>([:])

extension LibraryFile {
    /// Removes the partial copies of this instance's running backups. A program calls this when a signal is about to
    /// end it. If a backup still continues after this, it fails.
    public func abandonBackups() { partials.withLock { $0[holder]?.forEach(removeDatabase) } }

    func beginPartial(_ path: String) { partials.withLock { _ = $0[holder, default: []].insert(path) } }

    func endPartial(_ path: String) {
        partials.withLock { partials in
            partials[holder]?.remove(path)
            if partials[holder]?.isEmpty == true { partials[holder] = nil }
        }
    }
}
