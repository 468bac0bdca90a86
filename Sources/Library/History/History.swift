import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: History {
    public func lastChange() async throws -> Change? {
        try await read { db in
            try db.row(
                """
                SELECT \(Change.columns) FROM change WHERE undone IS NULL AND \(Change.isVisible)
                ORDER BY id DESC LIMIT 1
                """
            ).map(Change.init(row:))
        }
    }

    public func changes(limit: Int) async throws -> [Change] {
        try await read { db in
            try db.rows(
                """
                SELECT \(Change.columns) FROM change WHERE undoes IS NULL AND \(Change.isVisible) ORDER BY id DESC LIMIT ?
                """, [max(0, limit)]
            ).map(Change.init(row:))
        }
    }

    public func redoableChanges(limit: Int) async throws -> [Change] {
        try await read { db in
            try db.rows(
                """
                SELECT \(Change.columns) FROM change WHERE canBeRedone AND \(Change.isVisible)
                ORDER BY (SELECT id FROM change AS record WHERE undoes = change.id) DESC LIMIT ?
                """, [max(0, limit)]
            ).map(Change.init(row:))
        }
    }

    public func undo(_ id: ID<Change>, at now: Date) async throws -> Change {
        try await undo(id, at: now, progress: { _, _ in })
    }

    /// Returns the changes whose id ends with the given text, newest first.
    public func changes(endingIn ending: String) async throws -> [Change] {
        try await read { db in
            try db.rows(
                """
                SELECT \(Change.columns) FROM change
                WHERE undoes IS NULL AND substr(uuid, -length(?1)) = ?1 AND \(Change.isVisible)
                ORDER BY id DESC LIMIT 100
                """, [ending.lowercased()]
            ).map(Change.init(row:))
        }
    }

    /// Undoes one change, completely or not at all.
    ///
    /// - Parameter progress: the function that receives the number of rows that have been undone so far, and the total
    ///   number of rows. If it throws, nothing is undone.
    /// - Throws: ``UndoRefusal`` or ``LibraryError``.
    public func undo(
        _ id: ID<Change>, at now: Date, progress: @escaping @Sendable (Int, Int) throws -> Void
    ) async throws -> Change {
        let device = device
        do {
            let undone = try await write { db in
                guard let row = try Change.row(db, id) else { throw UndoRefusal.noSuchChange }
                var change = try Change(row: row)
                guard change.undone == nil else { throw UndoRefusal.alreadyUndone(change) }
                do {
                    var undo = try ChangeUndo(db, change: row["id"])
                    // What the undo does is logged, so that it can be redone.
                    try db.run(
                        """
                        INSERT INTO change (uuid, at, station, kind, summary, undone, undoes)
                        VALUES (?1, ?2, ?3, 'undo', '', ?2, ?4)
                        """, [ID<Change>().rawValue, now.milliseconds, device, row["id"] as Int64])
                    try db.run("INSERT INTO openChange (change) VALUES (?)", [db.lastInsertedRowID])
                    try undo.run(progress: progress)
                    try Self.checkNumberOfReaders(db)
                    try db.run("DELETE FROM openChange")
                } catch let error as ChangeUndo.RowChangedError {
                    throw UndoRefusal.changedSince(
                        change, later: try laterChange(db, than: row["id"], table: error.table, key: error.key))
                }
                try db.run("UPDATE change SET undone = ? WHERE uuid = ?", [now.milliseconds, id.rawValue])
                change.undone = Date(milliseconds: now.milliseconds)
                change.canBeRedone = true
                return change
            }
            noteChange()
            return undone
        } catch LibraryError.constraint {
            // A later row refers to a row that the undo would remove, or has a name that the undo would bring back.
            let refusal: UndoRefusal? = try await read { db in
                guard let row = try Change.row(db, id) else { return nil }
                return .changedSince(
                    try Change(row: row), later: try laterChange(db, than: row["id"], table: nil, key: nil))
            }
            throw refusal ?? .noSuchChange
        }
    }

    public func redo(_ id: ID<Change>, at now: Date) async throws -> Change {
        try await redo(id, at: now, progress: { _, _ in })
    }

    /// Redoes one change, completely or not at all.
    ///
    /// - Parameter progress: the function that receives the number of rows that have been redone so far, and the total
    ///   number of rows. If it throws, nothing is redone.
    /// - Throws: ``RedoRefusal`` or ``LibraryError``.
    public func redo(
        _ id: ID<Change>, at now: Date, progress: @escaping @Sendable (Int, Int) throws -> Void
    ) async throws -> Change {
        do {
            let redone = try await write { db in
                guard let row = try Change.row(db, id) else { throw RedoRefusal.noSuchChange }
                var change = try Change(row: row)
                guard change.undone != nil else { throw RedoRefusal.notUndone(change) }
                guard let record = try undoRecord(db, of: row["id"]) else { throw RedoRefusal.notKept(change) }
                do {
                    var redo = try ChangeUndo(db, undoRecord: record)
                    try redo.run(progress: progress)
                    try Self.checkNumberOfReaders(db)
                } catch let error as ChangeUndo.RowChangedError {
                    throw RedoRefusal.changedSince(
                        change, by: try obstacle(db, toRedoing: record, table: error.table, key: error.key))
                }
                try db.run("DELETE FROM change WHERE id = ?", [record])
                try db.run("UPDATE change SET undone = NULL WHERE uuid = ?", [id.rawValue])
                (change.undone, change.canBeRedone) = (nil, false)
                return change
            }
            noteChange()
            return redone
        } catch LibraryError.constraint {
            // A row refers to a row that the redo would remove, or the redo would bring back a reference to a row that
            // is missing now.
            let refusal: RedoRefusal? = try await read { db in
                guard let row = try Change.row(db, id), let record = try undoRecord(db, of: row["id"]) else {
                    return nil
                }
                return .changedSince(
                    try Change(row: row), by: try obstacle(db, toRedoing: record, table: nil, key: nil))
            }
            throw refusal ?? .noSuchChange
        }
    }
}

/// Returns the row of the record that the undo of a change has left; `nil` if there is none.
private func undoRecord(_ db: Database, of change: Int64) throws -> Int64? {
    try db.value(Int64.self, "SELECT id FROM change WHERE undoes = ?", [change])
}

/// Returns the change that prevents a redo: one that applies and has touched the row since the undo, or one that was
/// undone later and whose undo has touched the row. If there is none, returns the last change that was made or undone
/// after the undo. Taking back what was done since, beginning with the last, always makes the redo possible.
private func obstacle(_ db: Database, toRedoing record: Int64, table: String?, key: String?) throws -> Change? {
    let touches = "EXISTS (SELECT 1 FROM changeRow WHERE change = toucher.id AND tableName = ?2 AND key = ?3)"
    let applied = "SELECT id FROM change AS toucher WHERE undone IS NULL"
    let undone = "SELECT undoes FROM change AS toucher WHERE undoes IS NOT NULL AND id > ?1"
    let candidates = [
        "\(applied) AND id > ?1 AND \(touches) ORDER BY id DESC LIMIT 1",
        "\(undone) AND \(touches) ORDER BY id DESC LIMIT 1",
        "\(applied) AND \(touches) ORDER BY id DESC LIMIT 1",
        // The record of an undo stands for the change that was undone.
        "SELECT coalesce(undoes, id) FROM change WHERE id > ?1 AND ?2 IS ?2 AND ?3 IS ?3 ORDER BY id DESC LIMIT 1",
    ]
    for candidate in candidates {
        let row = try db.row(
            "SELECT \(Change.columns) FROM change WHERE id = (\(candidate)) AND \(Change.isVisible)",
            [record, table, key])
        if let row { return try Change(row: row) }
    }
    return nil
}

/// Returns the newest other change that has touched the row after the change `id` did, and has not been undone. If
/// there is none, returns the newest of all later changes, because undoing these one by one makes `id` the newest.
private func laterChange(_ db: Database, than id: Int64, table: String?, key: String?) throws -> Change? {
    let sameRow = try db.row(
        """
        SELECT \(Change.columns) FROM change
        WHERE id <> ?1 AND undone IS NULL AND \(Change.isVisible)
            AND EXISTS (
                SELECT 1 FROM changeRow WHERE change = change.id AND tableName = ?2 AND key = ?3
                    AND changeRow.id > (SELECT min(id) FROM changeRow WHERE change = ?1))
        ORDER BY id DESC LIMIT 1
        """, [id, table, key])
    let row =
        try sameRow
        ?? db.row(
            """
            SELECT \(Change.columns) FROM change WHERE id > ? AND undone IS NULL AND \(Change.isVisible)
            ORDER BY id DESC LIMIT 1
            """, [id])
    return try row.map(Change.init(row:))
}

extension UndoRefusal {
    /// Creates the refusal for a change that cannot be continued.
    init(of id: ID<Change>, _ db: Database) throws {
        let row = try db.row(
            "SELECT \(Change.columns) FROM change WHERE uuid = ? AND undone IS NOT NULL AND \(Change.isVisible)",
            [id.rawValue])
        self = try row.map { .alreadyUndone(try Change(row: $0)) } ?? .noSuchChange
    }
}

extension LibraryFile {
    /// The number of days for which a change can be undone, and for which a book stays in the trash.
    public static let keptDays = Trash.keptDays

    /// Runs `body` as one change. Everything that it does to the tables tracked for undo is logged row by row, in the
    /// same transaction.
    ///
    /// - Parameters:
    ///   - earlier: a change of the same kind. If it still exists and has not been undone, it is continued.
    ///   - mustContinue: true to throw ``UndoRefusal`` if `earlier` cannot be continued; false to begin another change.
    ///   - body: the function that receives the change's id, and returns its result and the change's summary.
    func change<Result: Sendable>(
        _ kind: Change.Kind, continuing earlier: ID<Change>? = nil, mustContinue: Bool = false, at now: Date,
        _ body: @Sendable @escaping (Database, ID<Change>) throws -> (result: Result, summary: String)
    ) async throws -> Result {
        try await changed(kind, continuing: earlier, mustContinue: mustContinue, at: now, body).result
    }

    /// Runs `body` as one change, as ``change(_:continuing:mustContinue:at:_:)`` does, and also returns the id of the
    /// change.
    ///
    /// - Returns: the result of `body` and the id of the change; `change` is `nil` if `body` has changed nothing.
    func changed<Result: Sendable>(
        _ kind: Change.Kind, continuing earlier: ID<Change>? = nil, mustContinue: Bool = false, at now: Date,
        _ body: @Sendable @escaping (Database, ID<Change>) throws -> (result: Result, summary: String)
    ) async throws -> (result: Result, change: ID<Change>?) {
        let device = device
        let (result, hasSwept, change) = try await write { db in
            let hasSwept = try Self.sweepIfDue(db, at: now)
            let open = try earlier.flatMap { earlier in
                try db.value(
                    Int64.self, "SELECT id FROM change WHERE uuid = ? AND kind = ? AND undone IS NULL",
                    [earlier.rawValue, kind.rawValue]
                ).map { (id: earlier, row: $0) }
            }
            if mustContinue, let earlier, open == nil { throw try UndoRefusal(of: earlier, db) }
            let (id, row) = try open ?? Self.beginChange(db, kind, device, now)
            let last = try db.value(Int64.self, "SELECT max(id) FROM changeRow") ?? 0
            try db.run("INSERT INTO openChange (change) VALUES (?)", [row])
            let (result, summary) = try body(db, id)
            try db.run("DELETE FROM openChange")
            let isChange = try Self.hasChange(db, after: last)
            if isChange {
                try db.run(
                    "UPDATE change SET summary = ?, privateTo = (\(Self.privateReader)) WHERE id = ?", [summary, row])
                try Self.hideEarlier(than: row, db)
            } else {
                try db.run("DELETE FROM changeRow WHERE id > ?", [last])
                if open == nil { try db.run("DELETE FROM change WHERE id = ?", [row]) }
            }
            return (result, hasSwept, isChange ? id : nil)
        }
        if change != nil { noteChange() }
        if hasSwept { await sweepCoversOrLog() }
        return (result, change)
    }

    /// Selects the reader to whom a change is private: one that touches nothing but notes or quotes of which one is or
    /// was private.
    private static let privateReader = """
        SELECT iif(
            EXISTS (SELECT 1 FROM changeRow WHERE changeRow.change = change.id AND tableName NOT IN ('note', 'quote')), NULL,
            (SELECT json_extract(coalesce(after, before), '$.reader') FROM changeRow
            WHERE changeRow.change = change.id
                AND (json_extract(before, '$.isPrivate') = 1 OR json_extract(after, '$.isPrivate') = 1)
            LIMIT 1))
        """

    /// Makes the earlier changes of a note or quote that has become private private as well.
    private static func hideEarlier(than change: Int64, _ db: Database) throws {
        let reader = try db.value(Int64.self, "SELECT privateTo FROM change WHERE id = ?", [change])
        guard let reader else { return }
        try db.run(
            """
            UPDATE change SET privateTo = ?1
            WHERE privateTo IS NULL AND id IN (
                    SELECT earlier.change FROM changeRow row JOIN changeRow earlier
                        ON earlier.tableName = row.tableName AND earlier.key = row.key
                    WHERE row.change = ?2)
                AND NOT EXISTS (
                    SELECT 1 FROM changeRow other
                    WHERE other.change = change.id AND other.tableName NOT IN ('note', 'quote'))
            """, [reader, change])
    }

    /// Returns true if something that a person can see was logged after the row `last`. The request of an imported row
    /// that added nothing to its book is stored without a change.
    private static func hasChange(_ db: Database, after last: Int64) throws -> Bool {
        try db.row("SELECT 1 FROM changeRow WHERE id > ? AND tableName <> 'request' LIMIT 1", [last]) != nil
    }

    private static func beginChange(
        _ db: Database, _ kind: Change.Kind, _ device: String, _ now: Date
    ) throws -> (id: ID<Change>, row: Int64) {
        let id = ID<Change>()
        try db.run(
            "INSERT INTO change (uuid, at, station, kind, summary) VALUES (?, ?, ?, ?, '')",
            [id.rawValue, now.milliseconds, device, kind.rawValue])
        return (id, db.lastInsertedRowID)
    }
}

/// A result that contains the id of the change that led to it. The id is filled in after the commit.
protocol ChangeResult {
    var change: ID<Change>? { get set }
}

extension LabelChange: ChangeResult {}
extension AuthorChange: ChangeResult {}

extension ChangeResult {
    func with(change: ID<Change>?) -> Self {
        var result = self
        result.change = change
        return result
    }
}

extension Array where Element: ChangeResult {
    func with(change: ID<Change>?) -> [Element] { map { $0.with(change: change) } }
}

extension Change {
    static let columns = """
        id, uuid, at, station, kind, summary, undone,
        EXISTS (SELECT 1 FROM change AS record WHERE record.undoes = change.id) AS canBeRedone
        """

    /// The condition that the reader of the access may see a change, as far as private notes and quotes are concerned.
    static let isVisible = "(change.privateTo IS NULL OR change.privateTo = reader() AND seesPrivate())"

    /// Returns the row of a change, with all ``columns``; `nil` if there is no such change, or none that the reader may
    /// see.
    static func row(_ db: Database, _ id: ID<Change>) throws -> Row? {
        try db.row(
            "SELECT \(columns) FROM change WHERE uuid = ? AND undoes IS NULL AND \(isVisible)", [id.rawValue])
    }

    init(row: Row) throws {
        self.init(
            id: ID(rawValue: row["uuid"]), at: Date(milliseconds: row["at"]), device: row["station"],
            kind: try row.word("kind"), summary: row["summary"],
            undone: (row["undone"] as Int64?).map(Date.init(milliseconds:)), canBeRedone: row["canBeRedone"])
    }
}
