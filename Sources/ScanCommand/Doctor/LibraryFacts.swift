import Bookplate
import Foundation
import Library

/// What the doctor knows of the library: gathered here, judged by ``LibraryChecks``.
struct LibraryFacts: Sendable {
    enum Standing: Sendable, Equatable {
        /// None yet, and it can be made.
        case unmade
        case open(books: Int, waiting: Int)
        case failed(LibraryError)
        /// Opening or checking took longer than the doctor waits.
        case unfinished
    }

    var path: String
    var standing: Standing
    /// On its disk, in bytes, for this account; `nil` when it cannot be told.
    var free: Int64?
    /// When the newest backup was made; `nil` when there is none.
    var backup: Date?
    /// Why the backups cannot be looked at.
    var backupTrouble: String?

    init(path: String, standing: Standing, free: Int64? = nil, backup: Date? = nil) {
        (self.path, self.standing, self.free, self.backup) = (path, standing, free, backup)
    }

    /// Looks at a library that was opened as every command does it, and reads all of it.
    ///
    /// - Parameter opening: what came of it: nothing where there is no library yet, `nil` when it took too long.
    init(_ path: String, _ opening: Result<LibraryFile?, any Error>?) async {
        self.init(path: path, standing: .unfinished, free: freeBytes(at: path))
        guard let opening else { return }
        do {
            guard let library = try opening.get() else {
                _ = try LibraryFile.outlook(at: path)
                standing = .unmade
                return
            }
            do {
                backup = try library.defaultBackupPath(at: Date()).flatMap(newestFile(beside:))
            } catch {
                backupTrouble = error.localizedDescription
            }
            standing = try await Self.check(library)
        } catch let error as LibraryError {
            standing = .failed(error)
        } catch {
            standing = .failed(.corrupt(path: path, what: "\(error)"))
        }
    }

    private static func check(_ library: LibraryFile) async throws -> Standing {
        // A transaction that changes nothing: whether the lock is to be had.
        try await library.update(.library) { _ in }
        try await library.check()
        var query = BookQuery()
        query.limit = 1
        let books = try await library.books(matching: query).total
        return .open(books: books, waiting: try await library.items(in: [.waiting]).count)
    }
}

/// statvfs(3), of the nearest folder that exists.
private func freeBytes(at path: String) -> Int64? {
    var (path, facts) = (path as NSString, statvfs())
    while statvfs(path as String, &facts) != 0 {
        guard errno == ENOENT || errno == ENOTDIR, path.length > 1 else { return nil }
        path = path.deletingLastPathComponent as NSString
        if path.length == 0 { path = "." }
    }
    return Int64(clamping: UInt64(facts.f_bavail) * UInt64(facts.f_frsize))
}

/// When the newest library file in the folder of `path` was written.
///
/// - Throws: when the folder is there and cannot be read.
private func newestFile(beside path: String) throws -> Date? {
    let folder = (path as NSString).deletingLastPathComponent
    let names: [String]
    do {
        names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch CocoaError.fileReadNoSuchFile {
        // Where there is no folder yet, there is no backup.
        return nil
    }
    return names.filter { $0.hasSuffix(".sqlite") && !$0.hasPrefix(".") }.compactMap { name in
        var facts = stat()
        guard stat("\(folder)/\(name)", &facts) == 0 else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(facts.st_mtim.tv_sec))
    }.max()
}
