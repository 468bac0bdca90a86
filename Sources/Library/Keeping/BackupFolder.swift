import Bookplate
import FoundationEssentials
import GRDB
import Glibc

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
