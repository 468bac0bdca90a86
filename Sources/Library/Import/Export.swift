import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    /// Exports everything that a person can have entered, from one consistent state of the library. The order is fixed,
    /// so the same library always results in the same records. Memory use is limited, and other connections can read
    /// and write at the same time.
    ///
    /// The export leaves out the queue, the pictures of covers, the answer cache and the change history. It also leaves
    /// out readers in the trash, and all private notes and quotes that the reader of the access may not see.
    ///
    /// - Parameter receive: the function that receives the records one by one. If it throws, the export ends.
    public func export(_ receive: @Sendable @escaping (LibraryRecord) throws -> Void) async throws {
        try await read { db in
            let readers = try StoredReader.several(db)
            try receive(.library(version: readers.isEmpty ? 1 : LibraryRecord.version))
            for stored in readers { try receive(.reader(stored.reader)) }
            let settings = readers.isEmpty ? allSettings : "SELECT name, value FROM setting"
            for row in try db.rows("SELECT * FROM (\(settings)) ORDER BY name") {
                try receive(.setting(name: row["name"], value: row["value"]))
            }
            for stored in readers {
                for row in try db.rows(
                    "SELECT name, value FROM readerSetting WHERE reader = ? ORDER BY name", [stored.row])
                {
                    try receive(.setting(name: row["name"], value: row["value"], reader: stored.reader.id))
                }
            }
            for row in try db.rows(
                """
                SELECT name, sortName FROM author
                WHERE sortName IS NOT NULL OR id NOT IN (SELECT author FROM editionAuthor) ORDER BY name
                """)
            { try receive(.author(row["name"], sortName: row["sortName"])) }
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
                for book in try ExportedBooks(db, editions: editions.map { $0["id"] }, readers: readers).records {
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

/// A reader with the id of the database row.
private struct StoredReader {
    let row: Int64
    let reader: Reader

    /// Fetches the readers outside the trash, in the order in which they were added; none if there is only one.
    static func several(_ db: Database) throws -> [StoredReader] {
        let readers = try db.rows("SELECT id, uuid, displayName, colour FROM reader WHERE deleted IS NULL ORDER BY id")
            .map { row in
                StoredReader(
                    row: row["id"],
                    reader: Reader(id: ID(rawValue: row["uuid"]), name: row["displayName"], colour: row["colour"]))
            }
        return readers.count > 1 ? readers : []
    }
}

/// The records of a few hundred editions, which are fetched with one query for each table and reader.
private struct ExportedBooks {
    private(set) var records: [BookRecord] = []

    /// - Parameter readers: the readers, if there are several.
    init(_ db: Database, editions: [Int64], readers: [StoredReader]) throws {
        let books = try StoredBook.fetch(
            db, "WHERE edition.id IN (SELECT value FROM json_each(?)) ORDER BY edition.uuid, copy.uuid",
            [jsonList(editions)])
        let copies = jsonList(books.map(\.copyRow))
        let own = try OwnHistory(db, of: copies)
        let flags = try grouped(db, "copy, source, what, raw, at FROM importFlag", copies, by: "id") {
            ImportFlag(row: $0)
        }
        let requests = try grouped(db, "copy, id FROM request", copies, by: "id") { $0["id"] as String }
        let ofReaders = try readers.map { reader in
            try db.withReader(reader.row) { try Self.records(of: reader.reader.id, books, copies, db) }
        }
        for stored in books {
            var record = own.record(of: stored.book.copy, at: stored.copyRow)
            record.flags = flags[stored.copyRow] ?? []
            record.requests = requests[stored.copyRow] ?? []
            if !readers.isEmpty { record.readers = ofReaders.compactMap { $0[stored.copyRow] } }
            if records.last?.edition.id == stored.book.edition.id {
                records[records.count - 1].copies.append(record)
            } else {
                records.append(BookRecord(edition: stored.book.edition, copies: [record]))
            }
        }
    }

    /// Returns what the present reader has of the books, by the copy's row id, without the copies of which the reader
    /// has nothing.
    private static func records(
        of reader: ID<Reader>, _ books: [StoredBook], _ copies: String, _ db: Database
    ) throws -> [Int64: ReaderRecord] {
        var values = Dictionary(uniqueKeysWithValues: books.map { ($0.copyRow, $0.book.copy.shared) })
        try db.forEachRow(
            """
            SELECT own.copy, \(OwnCopy.values) FROM readerCopy own
            WHERE own.reader = reader() AND own.copy IN (SELECT value FROM json_each(?))
            """, [copies]
        ) { row in
            let copy: Int64 = row["copy"]
            try values[copy]?.setOwn(row)
        }
        let history = try OwnHistory(db, of: copies)
        var records: [Int64: ReaderRecord] = [:]
        for (row, copy) in values {
            let record = history.record(of: copy, at: row)
            if record.hasOwn { records[row] = ReaderRecord(reader: reader, record: record) }
        }
        return records
    }
}

/// The present reader's readings, notes and quotes of some copies, by the copy's row id.
private struct OwnHistory {
    private let readings: [Int64: [ReadingRecord]]
    private let notes: [Int64: [Note]]
    private let quotes: [Int64: [Quote]]

    /// - Parameter copies: the row ids of the copies, as one JSON argument.
    init(_ db: Database, of copies: String) throws {
        readings = try Self.readings(db, of: copies)
        let isOwn = "AND reader = reader() AND (isPrivate = 0 OR seesPrivate())"
        notes = try grouped(
            db, "copy, uuid, kind, text, created, isPrivate FROM note", copies, and: isOwn, by: "created, id"
        ) { try Note(row: $0) }
        quotes = try grouped(
            db, "copy, uuid, text, page, created, isPrivate FROM quote", copies, and: isOwn, by: "created, id"
        ) { try Quote(row: $0) }
    }

    func record(of copy: Copy, at row: Int64) -> CopyRecord {
        var record = CopyRecord(copy: copy)
        record.copy.readings = []
        record.readings = readings[row] ?? []
        record.notes = notes[row] ?? []
        record.quotes = quotes[row] ?? []
        return record
    }

    private static func readings(_ db: Database, of copies: String) throws -> [Int64: [ReadingRecord]] {
        let inCopies = """
            reading IN (
                SELECT id FROM reading WHERE copy IN (SELECT value FROM json_each(?)) AND reader = reader())
            """
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
            WHERE copy IN (SELECT value FROM json_each(?)) AND reader = reader() ORDER BY copy, position, id
            """, [copies]
        ) { row in
            let reading = try Reading(row: row)
            readings[row["copy"], default: []].append(
                ReadingRecord(reading, entries: entries[row["id"]] ?? [], sessions: sessions[row["id"]] ?? []))
        }
        return readings
    }
}

/// Fetches rows of a table that belong to copies, grouped by the copy's row id.
///
/// - Parameter condition: another condition, which begins with AND.
private func grouped<Value>(
    _ db: Database, _ selection: String, _ copies: String, and condition: String = "", by order: String,
    _ value: (Row) throws -> Value
) throws -> [Int64: [Value]] {
    var values: [Int64: [Value]] = [:]
    try db.forEachRow(
        """
        SELECT \(selection) WHERE copy IN (SELECT value FROM json_each(?)) \(condition) ORDER BY copy, \(order)
        """, [copies]
    ) { values[$0["copy"], default: []].append(try value($0)) }
    return values
}
