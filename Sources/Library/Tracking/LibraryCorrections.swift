import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    public func editProgress(
        _ entry: ID<ProgressEntry>, of copy: ID<Copy>, _ edit: ProgressEdit, at now: Date
    ) async throws -> TrackingResult {
        let told = edit.amount.map { "corrected to \($0.summary)" } ?? "corrected the time of an entry"
        return try await track(copy, at: now, told) { db, tracker, _ in
            let found = try FoundEntry(entry, of: copy, db)
            return try tracker.correct(found.entry, by: edit, in: found.reading, beside: found.other, now: now)
        }
    }

    public func deleteProgress(
        _ entry: ID<ProgressEntry>, of copy: ID<Copy>, at now: Date
    ) async throws -> TrackingResult {
        try await track(copy, at: now, "deleted an entry of its history") { db, tracker, _ in
            let found = try FoundEntry(entry, of: copy, db)
            return try tracker.forget(found.entry, in: found.reading, beside: found.other)
        }
    }
}

/// An entry of a copy's history, and the latest of those beside it.
private struct FoundEntry {
    let entry: ProgressEntry
    let reading: ID<Reading>
    let other: ProgressEntry?

    private static let columns =
        "entry.uuid AS entryID, at, page, percent, isAutomatic, session.uuid AS sessionID, reading.uuid AS readingID"

    /// - Throws: ``ReadingRefusal/noSuchEntry``.
    init(_ id: ID<ProgressEntry>, of copy: ID<Copy>, _ db: Database) throws {
        let row = try db.row(
            """
            SELECT \(Self.columns) FROM progressEntry entry JOIN reading ON reading.id = entry.reading
                JOIN copy ON copy.id = reading.copy LEFT JOIN session ON session.id = entry.session
            WHERE entry.uuid = ? AND copy.uuid = ?
            """, [id.rawValue, copy.rawValue])
        guard let row, let entry = try StoredReadings.progressEntry(row) else { throw ReadingRefusal.noSuchEntry }
        self.entry = entry
        reading = ID(rawValue: row["readingID"])
        other = try db.row(
            """
            SELECT \(Self.columns) FROM progressEntry entry JOIN reading ON reading.id = entry.reading
                LEFT JOIN session ON session.id = entry.session
            WHERE reading.uuid = ? AND entry.uuid <> ? ORDER BY at DESC, entry.id DESC LIMIT 1
            """, [reading.rawValue, id.rawValue]
        ).flatMap(StoredReadings.progressEntry)
    }
}
