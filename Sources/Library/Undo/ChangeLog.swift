import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile {
    /// How long a change can be taken back and a book stays in the trash.
    public static let keptDays = Trash.keptDays

    /// Runs `body` as one change: what it does to the tracked tables is logged row by row, in the same transaction.
    ///
    /// - Parameters:
    ///   - earlier: a change of the same kind that this goes on with, if it is still there and not undone.
    ///   - mustGoOn: refuses with ``UndoRefusal`` where it is not, in place of beginning another.
    ///   - body: gets the change's id; returns its result and the summary for a person.
    func change<Result: Sendable>(
        _ kind: Change.Kind, continuing earlier: ID<Change>? = nil, mustGoOn: Bool = false, at now: Date,
        _ body: @Sendable @escaping (Database, ID<Change>) throws -> (result: Result, summary: String)
    ) async throws -> Result {
        try await changed(kind, continuing: earlier, mustGoOn: mustGoOn, at: now, body).result
    }

    /// The same, for who wants to know what undo takes back.
    ///
    /// - Returns: `change` is `nil` when nothing came out different.
    func changed<Result: Sendable>(
        _ kind: Change.Kind, continuing earlier: ID<Change>? = nil, mustGoOn: Bool = false, at now: Date,
        _ body: @Sendable @escaping (Database, ID<Change>) throws -> (result: Result, summary: String)
    ) async throws -> (result: Result, change: ID<Change>?) {
        let station = station
        let (result, hasPurged, change) = try await write { db in
            let hasPurged = try Self.purgeIfDue(db, at: now)
            let open = try earlier.flatMap { earlier in
                try db.value(
                    Int64.self, "SELECT id FROM change WHERE uuid = ? AND kind = ? AND undone IS NULL",
                    [earlier.rawValue, kind.rawValue]
                ).map { (id: earlier, row: $0) }
            }
            if mustGoOn, let earlier, open == nil { throw try UndoRefusal(of: earlier, db) }
            let (id, row) = try open ?? Self.beginChange(db, kind, station, now)
            try db.run("INSERT INTO openChange (change) VALUES (?)", [row])
            let (result, summary) = try body(db, id)
            try db.run("DELETE FROM openChange")
            let isChange = try db.row("SELECT 1 FROM changeRow WHERE change = ? LIMIT 1", [row]) != nil
            if isChange {
                try db.run("UPDATE change SET summary = ? WHERE id = ?", [summary, row])
            } else {
                // Nothing was done: nothing to take back.
                try db.run("DELETE FROM change WHERE id = ?", [row])
            }
            return (result, hasPurged, isChange ? id : nil)
        }
        if change != nil { hasChanged.store(true, ordering: .relaxed) }
        // The change is on the disk whatever comes of this; a picture left over harms nobody and is met again tomorrow.
        if hasPurged { try? await sweepCovers() }
        return (result, change)
    }

    private static func beginChange(
        _ db: Database, _ kind: Change.Kind, _ station: String, _ now: Date
    ) throws -> (id: ID<Change>, row: Int64) {
        let id = ID<Change>()
        try db.run(
            "INSERT INTO change (uuid, at, station, kind, summary) VALUES (?, ?, ?, ?, '')",
            [id.rawValue, now.milliseconds, station, kind.rawValue])
        return (id, db.lastInsertedRowID)
    }
}

extension Change {
    static let columns = "id, uuid, at, station, kind, summary, undone"

    init(row: Row) throws {
        self.init(
            id: ID(rawValue: row["uuid"]), at: Date(milliseconds: row["at"]), station: row["station"],
            kind: try row.word("kind"), summary: row["summary"],
            undone: (row["undone"] as Int64?).map(Date.init(milliseconds:)))
    }
}

extension Date {
    /// Since 1970. The library stores instants so, because SQLite's JSON would round a floating-point number.
    var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded()
        // The years 0 to 9999; beyond, a clock or an import is wrong.
        return Int64(max(-62_167_219_200_000, min(253_402_300_799_999, value.isNaN ? 0 : value)))
    }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension Row {
    /// A column that holds one of an enumeration's words.
    func word<Word: RawRepresentable>(_ column: String) throws -> Word where Word.RawValue == String {
        let text: String = self[column]
        guard let word = Word(rawValue: text) else { throw RowDecodingFault(what: "\(column) is '\(text.prefix(40))'") }
        return word
    }

    func optionalWord<Word: RawRepresentable>(_ column: String) throws -> Word? where Word.RawValue == String {
        if self[column] as String? != nil { return try word(column) }
        // Of a column that is not there GRDB says that it is NULL.
        return try hasNull(atIndex: index(forColumn: column)) ? nil : word(column)
    }

    private func index(forColumn column: String) throws -> Int {
        guard let index = columnNames.firstIndex(of: column) else {
            throw RowDecodingFault(what: "no column \(column)")
        }
        return columnNames.distance(from: columnNames.startIndex, to: index)
    }
}
