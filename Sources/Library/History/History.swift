import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: History {
    public func lastChange() async throws -> Change? {
        try await read { db in
            try db.row("SELECT \(Change.columns) FROM change WHERE undone IS NULL ORDER BY id DESC LIMIT 1")
                .map(Change.init(row:))
        }
    }

    public func changes(limit: Int) async throws -> [Change] {
        try await read { db in
            try db.rows("SELECT \(Change.columns) FROM change ORDER BY id DESC LIMIT ?", [max(0, limit)])
                .map(Change.init(row:))
        }
    }

    public func undo(_ id: ID<Change>, at now: Date) async throws -> Change {
        try await undo(id, at: now, progress: { _, _ in })
    }

    /// The changes whose id is, or ends with, what a person typed; newest first.
    public func changes(named ending: String) async throws -> [Change] {
        try await read { db in
            try db.rows(
                "SELECT \(Change.columns) FROM change WHERE substr(uuid, -length(?1)) = ?1 ORDER BY id DESC LIMIT 100",
                [ending.lowercased()]
            ).map(Change.init(row:))
        }
    }

    /// Takes one change back, whole or not at all.
    ///
    /// - Parameter progress: told how many rows are taken back, and of how many; throwing ends it with nothing taken back.
    /// - Throws: ``UndoRefusal``, ``LibraryError``.
    public func undo(
        _ id: ID<Change>, at now: Date, progress: @escaping @Sendable (Int, Int) throws -> Void
    ) async throws -> Change {
        do {
            let undone = try await write { db in
                guard let row = try db.row("SELECT \(Change.columns) FROM change WHERE uuid = ?", [id.rawValue]) else {
                    throw UndoRefusal.noSuchChange
                }
                var change = try Change(row: row)
                guard change.undone == nil else { throw UndoRefusal.alreadyUndone(change) }
                do {
                    var undo = ChangeUndo(db, change: row["id"])
                    try undo.run(progress: progress)
                } catch let clash as ChangeUndo.Clash {
                    throw UndoRefusal.changedSince(
                        change, later: try laterChange(db, than: row["id"], table: clash.table, key: clash.key))
                }
                try db.run("UPDATE change SET undone = ? WHERE uuid = ?", [now.milliseconds, id.rawValue])
                change.undone = Date(milliseconds: now.milliseconds)
                return change
            }
            hasChanged.store(true, ordering: .relaxed)
            return undone
        } catch LibraryError.constraint {
            // Later rows refer to what would go, or hold a name that would come back.
            let refusal: UndoRefusal? = try await read { db in
                guard let row = try db.row("SELECT \(Change.columns) FROM change WHERE uuid = ?", [id.rawValue]) else {
                    return nil
                }
                return .changedSince(
                    try Change(row: row), later: try laterChange(db, than: row["id"], table: nil, key: nil))
            }
            throw refusal ?? .noSuchChange
        }
    }
}

/// The newest change after `id`, not undone, that touched the row; else the newest of all: undoing backwards in order always
/// works.
private func laterChange(_ db: Database, than id: Int64, table: String?, key: String?) throws -> Change? {
    let sameRow = try db.row(
        """
        SELECT \(Change.columns) FROM change
        WHERE id > ? AND undone IS NULL
            AND EXISTS (SELECT 1 FROM changeRow WHERE change = change.id AND tableName = ? AND key = ?)
        ORDER BY id DESC LIMIT 1
        """, [id, table, key])
    let row =
        try sameRow
        ?? db.row(
            "SELECT \(Change.columns) FROM change WHERE id > ? AND undone IS NULL ORDER BY id DESC LIMIT 1", [id])
    return try row.map(Change.init(row:))
}

extension UndoRefusal {
    /// Why nothing more can be added to a change.
    init(of id: ID<Change>, _ db: Database) throws {
        let row = try db.row(
            "SELECT \(Change.columns) FROM change WHERE uuid = ? AND undone IS NOT NULL", [id.rawValue])
        self = try row.map { .alreadyUndone(try Change(row: $0)) } ?? .noSuchChange
    }
}

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
            id: ID(rawValue: row["uuid"]), at: Date(milliseconds: row["at"]), device: row["station"],
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
        guard let word = Word(rawValue: text) else { throw RowDecodingError(what: "\(column) is '\(text.prefix(40))'") }
        return word
    }

    func optionalWord<Word: RawRepresentable>(_ column: String) throws -> Word? where Word.RawValue == String {
        if self[column] as String? != nil { return try word(column) }
        // Of a column that is not there GRDB says that it is NULL.
        return try hasNull(atIndex: index(forColumn: column)) ? nil : word(column)
    }

    private func index(forColumn column: String) throws -> Int {
        guard let index = columnNames.firstIndex(of: column) else {
            throw RowDecodingError(what: "no column \(column)")
        }
        return columnNames.distance(from: columnNames.startIndex, to: index)
    }
}
