import Bookplate
import Foundation
import Library
import Terminal

/// Judges whether books can be saved to the library.
struct LibraryChecks {
    let facts: LibraryFacts
    let now: Date

    var all: [Check] { [library, disk] + (backup.map { [$0] } ?? []) }

    var library: Check {
        switch facts.status {
        case .missing: Check("library", .ok, "none at \(facts.path) yet; the first scan creates it")
        case .open(let books, let waiting):
            Check(
                "library", .ok, "\(facts.path): \(counted(books, "book")), \(waiting) waiting in the queue, not damaged"
            )
        case .failed(let error): Check("library", .broken, message: error.description)
        case .unfinished:
            Check(
                "library", .attention, "\(facts.path) is still being checked",
                next: "You can go on scanning in the meantime. To check the whole library, run 'scan backup'.")
        }
    }

    static let little: Int64 = 500_000_000
    static let least: Int64 = 20_000_000

    var disk: Check {
        guard let free = facts.free else { return Check("disk", .unknown, "the free space cannot be determined") }
        let fact = "\(byteText(free)) free"
        let room = "Free some space on the disk that holds \(facts.path), or move the library to another disk."
        if free < Self.least { return Check("disk", .broken, fact, next: room) }
        return free < Self.little ? Check("disk", .attention, fact, next: room) : Check("disk", .ok, fact)
    }

    /// The check of the backups; `nil` if there is nothing to back up.
    var backup: Check? {
        guard case .open(let books, _) = facts.status, books > 0 else { return nil }
        if let error = facts.backupError {
            return Check(
                "backup", .attention, "the folder \"backups\" cannot be read: \(error)",
                next: "Check the permissions of the folder.")
        }
        if let first = facts.differences.first {
            let count = facts.differences.count
            return Check(
                "backup", .attention,
                "\(counted(count, "unexplained difference")) from the backups: \(first)",
                next: "The library or the backup is damaged. If the library is wrong, correct the book, or restore the "
                    + "backup with 'scan restore'. No backup is removed meanwhile.")
        }
        guard let backup = facts.backup else {
            return Check("backup", .unknown, "none in the folder \"backups\"", next: "To make one, run 'scan backup'.")
        }
        let days = Int(now.timeIntervalSince(backup) / 86_400)
        let fact = "the latest one was made on \(backup.utcDay)"
        return days > 30
            ? Check("backup", .attention, "\(fact), \(days) days ago", next: "To make a new one, run 'scan backup'.")
            : Check("backup", .ok, fact)
    }
}

/// The facts about the library, which ``LibraryChecks`` judges.
struct LibraryFacts: Sendable {
    enum Status: Sendable, Equatable {
        /// There is no library yet, but one can be created.
        case missing
        case open(books: Int, waiting: Int)
        case failed(LibraryError)
        /// Opening or checking took longer than the time limit.
        case unfinished
    }

    var path: String
    var status: Status
    /// The free space for this account on the library's disk, in bytes; `nil` if it cannot be determined.
    var free: Int64?
    /// The date of the newest backup; `nil` if there is none.
    var backup: Date?
    /// The reason why the backups cannot be read; `nil` if they can.
    var backupError: String?
    /// The differences between the library and its backups that no change explains.
    var differences: [UnexplainedDifference] = []

    init(path: String, status: Status, free: Int64? = nil, backup: Date? = nil) {
        (self.path, self.status, self.free, self.backup) = (path, status, free, backup)
    }

    /// Gathers the facts, and checks the whole library for damage.
    ///
    /// - Parameter opening: the result of opening the library in the same way as for other commands: the library, no
    ///   library if there is none yet, or the error; `nil` if opening took too long.
    init(_ path: String, _ opening: Result<LibraryFile?, any Error>?) async {
        self.init(path: path, status: .unfinished, free: freeBytes(at: path))
        guard let opening else { return }
        do {
            guard let library = try opening.get() else {
                try LibraryFile.checkCreation(at: path)
                status = .missing
                return
            }
            do {
                backup = try library.defaultBackupPath(at: Date()).flatMap(newestFile(beside:))
            } catch {
                backupError = error.localizedDescription
            }
            status = try await Self.check(library)
            do {
                differences = try await library.compareWithBackups()
            } catch {
                backupError = "\(error)"
            }
        } catch let error as LibraryError {
            status = .failed(error)
        } catch {
            status = .failed(.corrupt(path: path, what: "\(error)"))
        }
    }

    private static func check(_ library: LibraryFile) async throws -> Status {
        try await library.checkWriting()
        try await library.check()
        var query = BookQuery()
        query.limit = 1
        let books = try await library.books(matching: query).total
        return .open(books: books, waiting: try await library.items(in: [.waiting]).count)
    }
}

/// Returns the free space on the disk of a path, with statvfs(3). If the path does not exist, the nearest existing
/// folder above it is used.
private func freeBytes(at path: String) -> Int64? {
    var (path, facts) = (path as NSString, statvfs())
    while statvfs(path as String, &facts) != 0 {
        guard errno == ENOENT || errno == ENOTDIR, path.length > 1 else { return nil }
        path = path.deletingLastPathComponent as NSString
        if path.length == 0 { path = "." }
    }
    return Int64(clamping: UInt64(facts.f_bavail) * UInt64(facts.f_frsize))
}

/// Returns the date of the newest library file in the folder of `path`.
///
/// - Throws: an error if the folder exists but cannot be read.
private func newestFile(beside path: String) throws -> Date? {
    let folder = (path as NSString).deletingLastPathComponent
    let names: [String]
    do {
        names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch CocoaError.fileReadNoSuchFile {
        return nil
    }
    return names.filter { $0.hasSuffix(".sqlite") && !$0.hasPrefix(".") }.compactMap { name in
        var facts = stat()
        guard stat("\(folder)/\(name)", &facts) == 0 else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(facts.st_mtim.tv_sec))
    }.max()
}
