import Bookplate
import FoundationEssentials
import GRDB

/// A copy as the tracker's rules take it, with its row.
struct StoredTracker {
    let copyRow: Int64
    let book: Book
    var tracker: Tracker

    /// - Parameter inTrash: whether a copy in the trash counts as well.
    /// - Returns: `nil` when there is no such copy.
    static func load(_ db: Database, _ id: ID<Copy>, inTrash: Bool = false) throws -> StoredTracker? {
        guard let entry = try StoredBooks.one(db, id), inTrash || entry.book.copy.deleted == nil else { return nil }
        return StoredTracker(copyRow: entry.copyRow, book: entry.book, tracker: Tracker(entry.book))
    }

    /// Stores what a rule did.
    static func store(_ steps: [Tracker.Step], of copy: Int64, _ db: Database) throws {
        for step in steps {
            switch step {
            case .status(let status):
                try db.run("UPDATE copy SET status = ? WHERE id = ?", [status.rawValue, copy])
            case .opened(let reading, let next):
                try StoredReadings.insert(reading, at: place(before: next, of: copy, db), of: copy, db)
            case .changed(let reading):
                try db.run(
                    "UPDATE reading SET state = ?, started = ?, finished = ?, stopped = ? WHERE uuid = ?",
                    [
                        reading.state.rawValue, reading.started?.description, reading.finished?.description,
                        reading.stopped?.description, reading.id.rawValue,
                    ])
            case .removed(let id): try remove(id, db)
            case .recorded(let entry, let id): try StoredReadings.insert(entry, of: id, db)
            case .redated(let entry, _):
                try db.run(
                    "UPDATE progressEntry SET at = ? WHERE uuid = ?", [entry.at.milliseconds, entry.id.rawValue])
            case .corrected(let entry, _, _): try StoredReadings.update(entry, db)
            case .forgotten(let id, _, _):
                try db.run("DELETE FROM progressEntry WHERE uuid = ?", [id.rawValue])
            }
        }
    }

    /// The position for a new reading; those behind it make room.
    private static func place(before next: ID<Reading>?, of copy: Int64, _ db: Database) throws -> Int {
        let taken = try next.flatMap {
            try db.value(Int.self, "SELECT position FROM reading WHERE uuid = ?", [$0.rawValue])
        }
        guard let taken else {
            let last = try db.value(Int.self, "SELECT max(position) FROM reading WHERE copy = ?", [copy])
            return last.map { $0 + 1 } ?? 0
        }
        try db.run("UPDATE reading SET position = position + 1 WHERE copy = ? AND position >= ?", [copy, taken])
        return taken
    }

    private static func remove(_ id: ID<Reading>, _ db: Database) throws {
        guard let row = try db.value(Int64.self, "SELECT id FROM reading WHERE uuid = ?", [id.rawValue]) else { return }
        guard try db.row("SELECT 1 FROM session WHERE \"end\" IS NULL AND reading = ?", [row]) == nil else {
            throw ReadingRefusal.sessionRunning
        }
        try db.run("DELETE FROM progressEntry WHERE reading = ?", [row])
        try db.run("DELETE FROM session WHERE reading = ?", [row])
        try db.run("DELETE FROM reading WHERE id = ?", [row])
    }
}

extension LibraryFile {
    /// What a person's act at `now` does by itself: dates only while the library's setting wants them.
    func moment(_ db: Database, _ now: Date) throws -> Tracker.Moment {
        let isOn = try value(of: .automaticDates, db) == "1"
        return Tracker.Moment(now: now, zone: zone, automatic: isOn ? [.dates, .progress] : [.progress])
    }
}
