import Bookplate
import FoundationEssentials
import GRDB
import Glibc
import Synchronization

/// A backup as it lies in a folder.
public struct StoredBackup: Sendable, Equatable {
    public var path: String
    /// When it was begun: by its name, else when the file was last written.
    public var at: Date
    public var bytes: Int
    /// Books in it, those in the trash left out; `nil` when it cannot be read.
    public var books: Int?
    /// Why it cannot be read.
    public var problem: String?
    /// Which library it is of: ``LibraryFile/identity()``. `nil` when it cannot be read, or is of a time when they had none.
    public var library: String?
}

extension LibraryFile {
    /// The folder `backups` beside a library, which need not exist.
    public static func ownBackupFolder(of library: String) -> String { folder(of: realPath(library)) + "/backups" }

    /// The Bookplate libraries that lie in a folder, whatever they are called, newest first; none where there is no folder.
    ///
    /// - Throws: ``LibraryError`` when the folder cannot be read. A file that cannot is listed with its problem.
    public static func backups(in folder: String) throws -> [StoredBackup] {
        try backupNames(in: folder).compactMap { name in
            let path = folder + "/" + name
            guard let facts = try? fileFacts(path), facts.st_mode & S_IFMT == S_IFREG else { return nil }
            let written = Date(timeIntervalSince1970: Double(facts.st_mtim.tv_sec))
            let stamp = BackupRotation.instant(stamp: name.dropLast(BackupRotation.ending.count).suffix(18))
            var backup = StoredBackup(path: path, at: stamp ?? written, bytes: Int(facts.st_size))
            do {
                (backup.books, backup.library) = try content(ofBackup: path)
            } catch {
                backup.problem = "\(LibraryError.translated(error, path: path))"
            }
            return backup
        }.sorted { ($0.at, $0.path) > ($1.at, $1.path) }
    }

    private static func backupNames(in folder: String) throws -> [String] {
        guard try fileFacts(folder) != nil else { return [] }
        guard access(folder, R_OK | X_OK) == 0 else { throw LibraryError(errno: errno, path: folder) }
        return fileNames(in: folder).filter { !$0.hasPrefix(".") && $0.hasSuffix(BackupRotation.ending) }
    }

    private static func content(ofBackup path: String) throws -> (books: Int, library: String?) {
        try FileHeader(of: path).check(path: path)
        let backup = try DatabaseQueue(path: path, configuration: configuration(readonly: true))
        defer { try? backup.close() }
        return try backup.read { db in
            let books = try Int.fetchOne(db, sql: "SELECT count(*) FROM copy WHERE deleted IS NULL") ?? 0
            return (books, try storedIdentity(db))
        }
    }
}

extension LibraryFile {
    /// Makes a backup into a folder, named by the instant in UTC, and removes there what ``BackupRotation`` has no place for.
    /// Elsewhere than beside the library the name tells the station and the library's id too, so that a stick that goes round
    /// holds everybody's and none makes room for another's.
    ///
    /// A day on which this was done has its backup; see ``backUpIfDue(at:copying:progress:)``.
    ///
    /// - Parameters:
    ///   - folder: made where there is none.
    ///   - progress: told the part done, 0 to 1; throwing ends the backup.
    /// - Throws: ``LibraryError``. Then the older backups are all there still.
    public func backup(
        into folder: String, at now: Date, progress: @escaping @Sendable (Double) throws -> Void = { _ in }
    ) async throws -> CopyReport {
        let isOwn = folderBeside("backups").map { realPath($0) == realPath(folder) } ?? false
        let rotation = isOwn ? ownRotation : try await sharedRotation()
        if isOwn { try makeFolderBeside(folder) }
        var report = try await backup(to: folder + "/" + rotation.name(at: now), progress: progress)
        // The service's backups are its group's, as its library is. EPERM: a file system that keeps no rights, such as FAT.
        if isOwn, chmod(report.path, try fileMode(in: folder)) != 0, errno != EPERM {
            throw LibraryError(errno: errno, path: report.path)
        }
        for name in rotation.surplus(fileNames(in: folder), now: now) {
            // An old backup that cannot be removed is in nobody's way; the next one tries again.
            if unlink(folder + "/" + name) == 0 { report.removed.append(folder + "/" + name) }
        }
        if isOwn { try await recordBackup(at: now) }
        return report
    }

    /// Of the folder `backups` beside the library.
    private var ownRotation: BackupRotation { BackupRotation(prefix: Self.stem(of: path) + "-") }

    /// Of any other folder.
    private func sharedRotation() async throws -> BackupRotation {
        let prefix = Self.sharedPrefix(of: path, station: station)
        return BackupRotation(prefix: "\(prefix)\(try await identity())-")
    }

    /// What a library's backups are called after: its name without the ending.
    static func stem(of path: String?) -> String {
        path.map(name(of:)).map { $0.hasSuffix(".sqlite") ? String($0.dropLast(7)) : $0 } ?? "library"
    }

    /// `library-raspi-`: what its backups in a shared folder begin with, before the library's id.
    static func sharedPrefix(of path: String?, station: String) -> String {
        // As FAT takes it, and no folder.
        let host = String(station.unicodeScalars.map { $0.isPortable ? Character($0) : "_" }.prefix(60))
        return "\(stem(of: path))-\(host)-"
    }

    /// Where a backup goes unless told.
    public func defaultBackupPath(at now: Date) -> String? {
        folderBeside("backups").map { $0 + "/" + ownRotation.name(at: now) }
    }
}

extension Unicode.Scalar {
    /// POSIX's portable file name characters (XBD 3.282).
    fileprivate var isPortable: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
        default: false
        }
    }
}

/// Where a backup goes, and what must not be lost there.
struct BackupTarget {
    /// The file itself, behind whatever links lead to it.
    let path: String

    /// - Parameter target: in a folder that exists.
    init(_ target: String) { path = realPath(target) }

    /// Makes sure that nothing is lost when a backup takes the place of what is there.
    ///
    /// - Parameter library: the library that is copied; `nil` for one in memory.
    /// - Throws: ``LibraryError/wouldOverwrite(path:what:)``.
    func check(against library: String?) throws(LibraryError) {
        let present = try fileFacts(path)
        for suffix in library == nil ? [] : ["", "-wal", "-shm", "-journal", "-lock"] {
            let own = (library ?? "") + suffix
            var isOwn = path == own
            if let present, let facts = try fileFacts(own) {
                // Another name of the same file is a hard link.
                isOwn = isOwn || present.st_dev == facts.st_dev && present.st_ino == facts.st_ino
            }
            guard !isOwn else { throw refusal("the library itself, or one of its side files") }
        }
        guard let present else { return }
        guard present.st_mode & S_IFMT == S_IFREG else { throw refusal("a folder or device") }
        // A log that lies there would be taken for the new file's.
        guard try fileFacts(path + "-wal")?.st_size ?? 0 == 0 else { throw refusal("a database that is in use") }
        guard present.st_size > 0 else { return }
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
    }

    /// Looks before it writes: a stick that cannot hold the copy is not filled to the brim.
    ///
    /// - Throws: ``LibraryError/noRoom(path:needed:free:)``.
    func checkRoom(for db: Database) throws {
        let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let needed = try pages * (Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
        var facts = statvfs()
        guard statvfs(folder(of: path), &facts) == 0 else { throw LibraryError(errno: errno, path: path) }
        let (bytes, isHuge) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        let free = isHuge ? .max : Int64(clamping: bytes)
        // A file system that tells nothing of itself (some of FUSE's) is tried.
        guard facts.f_blocks == 0 || free >= needed else {
            throw LibraryError.noRoom(path: path, needed: needed, free: free)
        }
    }

    /// A name beside it that no other backup has, for the copy until it is whole.
    func partial() -> String { "\(folder(of: path))/\(Self.prefix)\(UUID().uuidString.lowercased())" }

    /// Removes what backups left that were killed a day ago or longer.
    func removeLeftovers(at now: Date) {
        for name in fileNames(in: folder(of: path)) where name.hasPrefix(Self.prefix) {
            let leftover = folder(of: path) + "/" + name
            // One that cannot be looked at stays; the backup is made all the same.
            guard let facts = try? fileFacts(leftover), facts.st_mode & S_IFMT == S_IFREG,
                facts.st_mtim.tv_sec < Int(now.timeIntervalSince1970) - 86_400
            else { continue }
            unlink(leftover)
        }
    }

    private static let prefix = ".bookplate-partial-"

    private func refusal(_ what: String) -> LibraryError { .wouldOverwrite(path: path, what: what) }
}

/// Which backups of a folder stay: the newest of each of the last seven days that have one, and the newest of each of the last four
/// weeks that have one. A day is a day in UTC, as the names tell it; a week begins on Monday (ISO 8601).
///
/// Only names of one library's own backups take part; a person's copy under another name is nobody's to remove.
struct BackupRotation {
    static let keptDays = 7
    static let keptWeeks = 4

    /// What the names of a library's backups begin with, up to the stamp: `library-`.
    let prefix: String

    /// `library-2026-11-21T120000Z.sqlite`
    func name(at now: Date) -> String { prefix + stamp(now) + Self.ending }

    /// - Returns: when a backup of that name was begun; `nil` when the name is none of ours.
    func instant(of name: String) -> Date? {
        guard name.hasPrefix(prefix), name.hasSuffix(Self.ending),
            name.utf8.count == prefix.utf8.count + Self.stampLength + Self.ending.utf8.count
        else { return nil }
        return Self.instant(stamp: name.dropFirst(prefix.count).prefix(Self.stampLength))
    }

    /// The names that may go.
    ///
    /// A backup dated later than `now` neither goes nor counts: it was made by a clock that was ahead, or it is a good one and this
    /// clock is behind. So however wrong the clock, what is there is not cleared away, and the one just made is always among those
    /// that stay.
    ///
    /// - Parameters:
    ///   - names: of files in one folder, in any order.
    ///   - now: the instant of the backup that was just made.
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
            // 1970-01-01 was a Thursday: three days later a week ends.
            let week = Int64((Double(day + 3) / 7).rounded(.down))
            let isDaily = days.last != day && days.count < Self.keptDays
            if isDaily { days.append(day) }
            let isWeekly = weeks.last != week && weeks.count < Self.keptWeeks
            if isWeekly { weeks.append(week) }
            return !isDaily && !isWeekly
        }.map(\.name)
    }

    static let ending = ".sqlite"
    private static let stampLength = "2026-11-21T120000Z".utf8.count

    /// The instant that ``stamp(_:)`` wrote.
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

/// `2026-11-21T021500Z`
func stamp(_ now: Date) -> String { now.ISO8601Format().replacing(":", with: "") }

/// The copies that are being made, by the instance that makes them: nobody else's to remove.
private let partials = Mutex<[String: Set<String>]>([:])

extension LibraryFile {
    /// Removes what unfinished backups of this instance have written: for a program that is about to be ended by a signal. A
    /// backup that goes on after it fails.
    public func abandonBackups() { partials.withLock { $0[holder]?.forEach(removeDatabase) } }

    func beginPartial(_ path: String) { partials.withLock { _ = $0[holder, default: []].insert(path) } }

    func endPartial(_ path: String) {
        partials.withLock { partials in
            partials[holder]?.remove(path)
            if partials[holder]?.isEmpty == true { partials[holder] = nil }
        }
    }
}
