import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    /// Exports everything that a person can have entered, from one consistent state of the library. The order is fixed,
    /// so the same library always results in the same records. Memory use is limited, and other connections can read
    /// and write at the same time.
    ///
    /// The export leaves out the queue, the pictures of covers, the answer cache and the change history.
    ///
    /// - Parameter receive: the function that receives the records one by one. If it throws, the export ends.
    public func export(_ receive: @Sendable @escaping (LibraryRecord) throws -> Void) async throws {
        try await read { db in
            try receive(.library(version: LibraryRecord.version))
            for row in try db.rows("SELECT name, value FROM setting ORDER BY name") {
                try receive(.setting(name: row["name"], value: row["value"]))
            }
            for row in try db.rows(
                "SELECT name FROM author WHERE id NOT IN (SELECT author FROM editionAuthor) ORDER BY name")
            { try receive(.author(row["name"])) }
            for row in try db.rows("SELECT displayName FROM shelf ORDER BY name") {
                try receive(.shelf(row["displayName"]))
            }
            for row in try db.rows("SELECT displayName FROM tag ORDER BY name") {
                try receive(.tag(row["displayName"]))
            }
            var last = ""
            while true {
                let editions = try db.rows(
                    """
                    SELECT id, uuid FROM edition WHERE uuid > ? AND EXISTS (SELECT 1 FROM copy WHERE edition = edition.id)
                    ORDER BY uuid LIMIT 200
                    """, [last])
                guard let end = editions.last else { return }
                last = end["uuid"]
                for book in try ExportedBooks(db, editions: editions.map { $0["id"] }).records {
                    try receive(.book(book))
                }
            }
        }
    }

    /// Returns the number of editions, for the progress bar of an export. Includes editions without a copy, which an
    /// export leaves out.
    public func editionCount() async throws -> Int {
        try await read { db in try db.value(Int.self, "SELECT count(*) FROM edition") ?? 0 }
    }
}

/// The records of a few hundred editions, which are fetched with one query for each table.
private struct ExportedBooks {
    private(set) var records: [BookRecord] = []

    init(_ db: Database, editions: [Int64]) throws {
        let books = try StoredBook.fetch(
            db, "WHERE edition.id IN (SELECT value FROM json_each(?)) ORDER BY edition.uuid, copy.uuid",
            [jsonList(editions)])
        let copies = jsonList(books.map(\.copyRow))
        let readings = try Self.readings(db, of: copies)
        let notes = try Self.grouped(db, "copy, uuid, kind, text, created FROM note", copies, by: "created, id") {
            try Note(row: $0)
        }
        let quotes = try Self.grouped(db, "copy, uuid, text, page, created FROM quote", copies, by: "created, id") {
            try Quote(row: $0)
        }
        let flags = try Self.grouped(db, "copy, source, what, raw, at FROM importFlag", copies, by: "id") {
            ImportFlag(row: $0)
        }
        let requests = try Self.grouped(db, "copy, id FROM request", copies, by: "id") { $0["id"] as String }
        for stored in books {
            var record = CopyRecord(copy: stored.book.copy)
            record.copy.readings = []
            record.readings = readings[stored.copyRow] ?? []
            record.notes = notes[stored.copyRow] ?? []
            record.quotes = quotes[stored.copyRow] ?? []
            record.flags = flags[stored.copyRow] ?? []
            record.requests = requests[stored.copyRow] ?? []
            if records.last?.edition.id == stored.book.edition.id {
                records[records.count - 1].copies.append(record)
            } else {
                records.append(BookRecord(edition: stored.book.edition, copies: [record]))
            }
        }
    }

    private static func grouped<Value>(
        _ db: Database, _ selection: String, _ copies: String, by order: String, _ value: (Row) throws -> Value
    ) throws -> [Int64: [Value]] {
        var values: [Int64: [Value]] = [:]
        try db.forEachRow(
            "SELECT \(selection) WHERE copy IN (SELECT value FROM json_each(?)) ORDER BY copy, \(order)", [copies]
        ) { values[$0["copy"], default: []].append(try value($0)) }
        return values
    }

    private static func readings(_ db: Database, of copies: String) throws -> [Int64: [ReadingRecord]] {
        let inCopies = "reading IN (SELECT id FROM reading WHERE copy IN (SELECT value FROM json_each(?)))"
        var sessions: [Int64: [Session]] = [:]
        try db.forEachRow(
            "SELECT reading, uuid, start, \"end\", startPage, endPage FROM session WHERE \(inCopies) ORDER BY start, id",
            [copies]
        ) { sessions[$0["reading"], default: []].append(Session(row: $0)) }
        var entries: [Int64: [ProgressEntry]] = [:]
        try db.forEachRow(
            """
            SELECT entry.reading, entry.uuid AS entryID, entry.at, entry.page, entry.percent, entry.isAutomatic,
                session.uuid AS sessionID
            FROM progressEntry entry LEFT JOIN session ON session.id = entry.session
            WHERE entry.\(inCopies) ORDER BY entry.at, entry.id
            """, [copies]
        ) { row in
            guard let entry = try StoredReadings.progressEntry(row) else { return }
            entries[row["reading"], default: []].append(entry)
        }
        var readings: [Int64: [ReadingRecord]] = [:]
        try db.forEachRow(
            """
            SELECT id, copy, uuid, state, started, finished, stopped FROM reading
            WHERE copy IN (SELECT value FROM json_each(?)) ORDER BY copy, position, id
            """, [copies]
        ) { row in
            let reading = try Reading(row: row)
            readings[row["copy"], default: []].append(
                ReadingRecord(reading, entries: entries[row["id"]] ?? [], sessions: sessions[row["id"]] ?? []))
        }
        return readings
    }
}
