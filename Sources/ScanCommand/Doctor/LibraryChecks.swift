import Bookplate
import Foundation
import Library

/// Whether the library can take books.
struct LibraryChecks {
    let facts: LibraryFacts
    let now: Date

    var all: [Check] { [library, disk] + (backup.map { [$0] } ?? []) }

    var library: Check {
        switch facts.standing {
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
        guard case .open(let books, _) = facts.standing, books > 0 else { return nil }
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
