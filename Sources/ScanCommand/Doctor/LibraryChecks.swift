import Bookplate
import Foundation
import Library

/// Whether the library can take books.
struct LibraryChecks {
    let facts: LibraryFacts
    let now: Date

    var all: [Check] { [library, disk] + (backup.map { [$0] } ?? []) }

    var library: Check {
        switch facts.status {
        case .unmade: Check("library", .ok, "none at \(facts.path) yet; it will be made at the first scan")
        case .open(let books, let waiting):
            Check(
                "library", .ok, "\(facts.path): \(counted(books, "book")), \(waiting) waiting in the queue, undamaged")
        case .failed(let error): Check("library", .broken, telling: error.description)
        case .unfinished:
            Check(
                "library", .attention, "\(facts.path) is still being checked",
                next: "Scan all the same; a backup (scan backup) checks all of it in its own time.")
        }
    }

    static let little: Int64 = 500_000_000
    static let least: Int64 = 20_000_000

    var disk: Check {
        guard let free = facts.free else { return Check("disk", .unknown, "how much is free cannot be told") }
        let fact = "\(byteText(free)) free"
        let room = "Make room on the disk of \(facts.path), or move the library to another."
        if free < Self.least { return Check("disk", .broken, fact, next: room) }
        return free < Self.little ? Check("disk", .attention, fact, next: room) : Check("disk", .ok, fact)
    }

    /// - Returns: `nil` as long as there is nothing to back up.
    var backup: Check? {
        guard case .open(let books, _) = facts.status, books > 0 else { return nil }
        if let trouble = facts.backupTrouble {
            return Check(
                "backup", .attention, "the folder backups cannot be read: \(trouble)",
                next: "Look after its permissions.")
        }
        guard let backup = facts.backup else {
            return Check("backup", .unknown, "none in the folder backups", next: "scan backup writes one.")
        }
        let days = Int(now.timeIntervalSince(backup) / 86_400)
        let fact = "the last was made on \(backup.utcDay)"
        return days > 30
            ? Check("backup", .attention, "\(fact), \(days) days ago", next: "scan backup writes a new one.")
            : Check("backup", .ok, fact)
    }
}

/// What the doctor knows of the library: gathered here, judged by ``LibraryChecks``.
struct LibraryFacts: Sendable {
    enum Status: Sendable, Equatable {
        /// None yet, and it can be made.
        case unmade
        case open(books: Int, waiting: Int)
        case failed(LibraryError)
        /// Opening or checking took longer than the doctor waits.
        case unfinished
    }

    var path: String
    var status: Status
    /// On its disk, in bytes, for this account; `nil` when it cannot be told.
    var free: Int64?
    /// When the newest backup was made; `nil` when there is none.
    var backup: Date?
    /// Why the backups cannot be looked at.
    var backupTrouble: String?

    init(path: String, status: Status, free: Int64? = nil, backup: Date? = nil) {
        (self.path, self.status, self.free, self.backup) = (path, status, free, backup)
    }

    /// Looks at a library that was opened as every command does it, and reads all of it.
    ///
    /// - Parameter opening: what came of it: nothing where there is no library yet, `nil` when it took too long.
    init(_ path: String, _ opening: Result<LibraryFile?, any Error>?) async {
        self.init(path: path, status: .unfinished, free: freeBytes(at: path))
        guard let opening else { return }
        do {
            guard let library = try opening.get() else {
                try LibraryFile.checkCreation(at: path)
                status = .unmade
                return
            }
            do {
                backup = try library.defaultBackupPath(at: Date()).flatMap(newestFile(beside:))
            } catch {
                backupTrouble = error.localizedDescription
            }
            status = try await Self.check(library)
        } catch let error as LibraryError {
            status = .failed(error)
        } catch {
            status = .failed(.corrupt(path: path, what: "\(error)"))
        }
    }

    private static func check(_ library: LibraryFile) async throws -> Status {
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
