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
