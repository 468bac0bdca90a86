import Bookplate
import FoundationEssentials
import GRDB

/// Readings as rows, each with its latest progress entry.
enum StoredReadings {
    /// - Parameter copies: row numbers as one JSON argument.
    /// - Returns: by copy, oldest first.
    static func fetch(_ db: Database, of copies: String) throws -> [Int64: [Reading]] {
        var readings: [Int64: [Reading]] = [:]
        try db.eachRow(
            """
            SELECT reading.copy, reading.uuid, reading.state, started, finished, stopped,
                entry.uuid AS entryID, entry.at, entry.page, entry.percent, entry.isAutomatic, session.uuid AS sessionID
            FROM reading
            LEFT JOIN progressEntry entry ON entry.id = (
                SELECT id FROM progressEntry WHERE reading = reading.id ORDER BY at DESC, id DESC LIMIT 1)
            LEFT JOIN session ON session.id = entry.session
            WHERE reading.copy IN (SELECT value FROM json_each(?)) ORDER BY reading.copy, position, reading.id
            """, [copies]
        ) { row in
            var reading = try Reading(row: row)
            reading.progress = try progressEntry(row)
            readings[row["copy"], default: []].append(reading)
        }
        return readings
    }

    /// A row's entry under the names `entryID`, `at`, `page`, `percent`, `isAutomatic`, `sessionID`; `nil` where it has none.
    static func progressEntry(_ row: Row) throws -> ProgressEntry? {
        guard let id = row["entryID"] as String? else { return nil }
        let amount: ProgressEntry.Amount
        if let page = row["page"] as Int? {
            amount = .page(page)
        } else if let percent = row["percent"] as Int? {
            amount = .percent(Double(percent) / 100)
        } else {
            throw RowDecodingFault(what: "a progress entry without page and percent")
        }
        return ProgressEntry(
            id: ID(rawValue: id), at: Date(milliseconds: row["at"]), amount: amount, isAutomatic: row["isAutomatic"],
            session: (row["sessionID"] as String?).map { ID(rawValue: $0) })
    }

    /// Stores a new reading; of its progress nothing.
    static func insert(_ reading: Reading, at position: Int, of copy: Int64, _ db: Database) throws {
        try db.run(
            "INSERT INTO reading (uuid, copy, position, state, started, finished, stopped) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                reading.id.rawValue, copy, position, reading.state.rawValue, reading.started?.description,
                reading.finished?.description, reading.stopped?.description,
            ])
    }

    /// Stores what a person corrected of an entry.
    static func update(_ entry: ProgressEntry, _ db: Database) throws {
        try db.run(
            "UPDATE progressEntry SET at = ?, page = ?, percent = ?, isAutomatic = ? WHERE uuid = ?",
            [
                entry.at.milliseconds, entry.amount.page, entry.amount.percent.map { Int(($0 * 100).rounded()) },
                entry.isAutomatic, entry.id.rawValue,
            ])
    }

    /// Stores a progress entry, with its session where that is there.
    static func insert(_ entry: ProgressEntry, of reading: ID<Reading>, _ db: Database) throws {
        try db.run(
            """
            INSERT INTO progressEntry (uuid, reading, at, page, percent, isAutomatic, session)
            VALUES (?, (SELECT id FROM reading WHERE uuid = ?), ?, ?, ?, ?, (SELECT id FROM session WHERE uuid = ?))
            """,
            [
                entry.id.rawValue, reading.rawValue, entry.at.milliseconds, entry.amount.page,
                entry.amount.percent.map { Int(($0 * 100).rounded()) }, entry.isAutomatic, entry.session?.rawValue,
            ])
    }
}

extension Reading {
    /// Without its progress.
    init(row: Row) throws {
        self.init(
            id: ID(rawValue: row["uuid"]), state: try row.word("state"), started: try row.day("started"),
            finished: try row.day("finished"), stopped: try row.day("stopped"))
    }
}

extension Row {
    /// A column that holds a calendar day.
    func day(_ column: String) throws -> CalendarDay? {
        guard let text = self[column] as String? else { return nil }
        guard let day = CalendarDay(text) else { throw RowDecodingFault(what: "\(column) is '\(text.prefix(40))'") }
        return day
    }
}
