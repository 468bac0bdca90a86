import GRDB

/// The tables whose rows the change log follows, and for some the only columns that count.
///
/// Leases, lookups, covers and the answer cache are no work of a person, so undo leaves them alone.
let trackedTables: [(name: String, columns: Set<String>?)] = [
    ("edition", nil), ("author", nil), ("editionAuthor", nil), ("subject", nil), ("editionSubject", nil),
    ("identifier", nil), ("shelf", nil), ("copy", nil), ("tag", nil), ("copyTag", nil), ("request", nil),
    ("reading", nil), ("progressEntry", nil), ("session", nil), ("note", nil), ("quote", nil), ("importFlag", nil),
    ("setting", nil), ("intakeItem", ["id", "state"]),
]

extension Schema {
    /// Writes the triggers that log row images, from the tables as they are after a migration.
    ///
    /// Source of the method: https://www.sqlite.org/undoredo.html
    static func createUndoTriggers(_ db: Database) throws {
        // An older version has only some of them.
        for table in trackedTables where try db.tableExists(table.name) {
            let info = try db.columns(in: table.name)
            let keys = try db.primaryKey(table.name).columns
            let columns = info.map(\.name).filter { table.columns?.contains($0) ?? true }
            let isLogged = "EXISTS (SELECT 1 FROM openChange)"
            func image(_ version: String) -> String { rowImage(columns, of: version + ".") }
            func key(_ version: String) -> String {
                "json_array(" + keys.map { "\(version).\"\($0)\"" }.joined(separator: ", ") + ")"
            }
            func trigger(_ event: String, when: String, key: String, before: String, after: String) -> String {
                """
                DROP TRIGGER IF EXISTS "undo_\(table.name)_\(event)";
                CREATE TRIGGER "undo_\(table.name)_\(event)" AFTER \(event) ON "\(table.name)" WHEN \(when) BEGIN
                    INSERT INTO changeRow (change, tableName, key, before, after)
                    SELECT change, '\(table.name)', \(key), \(before), \(after) FROM openChange;
                END;
                """
            }
            let differs = columns.map { "OLD.\"\($0)\" IS NOT NEW.\"\($0)\"" }.joined(separator: " OR ")
            try db.execute(
                sql: trigger(
                    "UPDATE", when: "\(isLogged) AND (\(differs))", key: key("OLD"), before: image("OLD"),
                    after: image("NEW")))
            // Of a table followed in part, rows cannot be brought back whole.
            guard table.columns == nil else { continue }
            try db.execute(
                sql: trigger("INSERT", when: isLogged, key: key("NEW"), before: "NULL", after: image("NEW")))
            try db.execute(
                sql: trigger("DELETE", when: isLogged, key: key("OLD"), before: image("OLD"), after: "NULL"))
        }
    }
}

/// The SQL expression of a row's image: a JSON object of its columns in the table's order.
///
/// - Parameter row: `OLD.` or `NEW.` in a trigger.
func rowImage(_ columns: [String], of row: String = "") -> String {
    "json_object(" + columns.map { "'\($0)', \(row)\"\($0)\"" }.joined(separator: ", ") + ")"
}
