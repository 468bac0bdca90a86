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
        case .missing:
            if let lost = facts.otherBackup {
                Check("library", .attention, "none at \(facts.path), but \(lost.factOfLostLibrary)", next: restore)
            } else {
                Check("library", .ok, "none at \(facts.path) yet; the first scan creates it")
            }
        case .open(let books, let waiting):
            if facts.unknownObjects.isEmpty {
                Check("library", .ok, "\(facts.path): \(content(books, waiting)), not damaged")
            } else {
                Check(
                    "library", .attention,
                    "\(facts.path): \(content(books, waiting)), not damaged, but it contains what Bookplate has not "
                        + "created: \(facts.unknownObjects.joined(separator: ", "))",
                    next: "This does nothing. If you do not know which program has added it, restore a backup.")
            }
        case .failed(let error): Check("library", .broken, message: error.description)
        case .unfinished:
            Check(
                "library", .attention, "\(facts.path) is still being checked",
                next: "You can go on scanning in the meantime. To check the whole library, run 'scan backup'.")
        }
    }

    private func content(_ books: Int, _ waiting: Int) -> String {
        "\(counted(books, "book")), \(waiting) waiting in the queue"
    }

    private var restore: String {
        "To put the newest backup in place, run 'scan restore'. Otherwise, the first scan begins a new library."
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
        if let other = facts.otherBackup {
            return Check("backup", .attention, other.factOfOtherLibrary, next: other.adviceOnOtherLibrary)
        }
        if let first = facts.differences.first {
            let count = facts.differences.count
            return Check(
                "backup", .attention,
                "\(counted(count, "unexplained difference")) from the backups: \(first)",
                next: "The library or the backup is damaged. If the library is wrong, correct the book, or restore the "
                    + "backup with 'scan restore'. No backup is removed meanwhile.")
        }
        if let error = facts.comparisonError {
            // The error's own advice is for a library that cannot be read.
            var check = Check(
                "backup", .attention, message: "the library cannot be compared with its backups: \(error)")
            check.next = "If a backup is damaged, move it to another folder. To make a new one, run 'scan backup'."
            return check
        }
        guard let backup = facts.backup else {
            return Check("backup", .unknown, "none in the folder \"backups\"", next: "To make one, run 'scan backup'.")
        }
        let days = Int(now.timeIntervalSince(backup) / 86_400)
        let fact = "the latest one was made on \(CalendarDay(backup, in: .current))"
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
    /// The date of the newest backup of this library beside it; `nil` if there is none.
    var backup: Date?
    /// The newest backup of another library beside this one, or any backup beside a missing library; `nil` if there is
    /// none.
    var otherBackup: StoredBackup?
    /// The tables and indexes in the library that Bookplate has not created.
    var unknownObjects: [String] = []
    /// The reason why the backups cannot be read; `nil` if they can.
    var backupError: String?
    /// The reason why the library cannot be compared with its backups; `nil` if it can.
    var comparisonError: String?
    /// The differences between the library and its backups that no change explains.
    var differences: [UnexplainedDifference] = []

    init(
        path: String, status: Status, free: Int64? = nil, backup: Date? = nil, otherBackup: StoredBackup? = nil
    ) {
        (self.path, self.status, self.free) = (path, status, free)
        (self.backup, self.otherBackup) = (backup, otherBackup)
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
                otherBackup = try LibraryFile.newestBackup(besideLibraryAt: path)
                status = .missing
                return
            }
            do {
                let own = LibraryFile.ownBackups(
                    among: try LibraryFile.backups(in: LibraryFile.ownBackupFolder(of: path)), of: path,
                    identity: try await library.identity())
                backup = own.backups.first?.at
                otherBackup = own.others.first { $0.books ?? 0 > 0 }
            } catch {
                backupError = CommandError(describing: error).description
            }
            unknownObjects = try await library.unknownObjects()
            status = try await Self.check(library)
            do {
                differences = try await library.compareWithBackups()
            } catch {
                comparisonError = CommandError(describing: error).description
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
