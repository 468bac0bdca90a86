import Bookplate
import FoundationEssentials
import GRDB

/// Stores a copy with all that hangs on it, identities kept.
struct ImportedRows {
    let db: Database

    /// - Returns: the copy's row number.
    @discardableResult
    func insert(_ record: CopyRecord, of edition: Int64) throws -> Int64 {
        let row = try StoredCopy.insert(record.copy, of: edition, db)
        for (position, reading) in record.readings.enumerated() { try insert(reading, at: position, of: row) }
        for note in record.notes { try note.insert(db, to: row) }
        for quote in record.quotes { try quote.insert(db, to: row) }
        for flag in record.flags { try flag.insert(db, to: row) }
        for request in record.requests {
            try db.run("INSERT INTO request (id, copy) VALUES (?, ?) ON CONFLICT DO NOTHING", [request, row])
        }
        return row
    }

    func insert(_ record: ReadingRecord, at position: Int, of copy: Int64) throws {
        try StoredReadings.insert(record.reading, at: position, of: copy, db)
        try insert(record.sessions, record.entries, of: record.reading.id)
    }

    func insert(_ sessions: [Session], _ entries: [ProgressEntry], of reading: ID<Reading>) throws {
        for session in sessions {
            // A library has one running session; that of an export waits for nobody here.
            if session.isRunning, try StoredSessions.running(db) != nil { continue }
            try StoredSessions.insert(session, of: reading, db)
        }
        for entry in entries { try StoredReadings.insert(entry, of: reading, db) }
    }
}
