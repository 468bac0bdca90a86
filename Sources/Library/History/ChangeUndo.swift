import GRDB

/// Takes the rows of one change back, last first, inside the caller's transaction.
///
/// Every row must still be as the change left it, else the whole is refused. Only what other books share by now stays: an
/// author, tag, subject or shelf that others name, and an edition with copies from elsewhere, as it is and with all its rows.
///
/// A change may have touched one row many times, as an import does that meets its own books again. So whatever stays must stay
/// through all of its logged rows: one that is passed over would be in the way of those before it.
///
/// An import of 100,000 books is one change with a million rows: they are read in pieces, and compared and taken back by SQLite
/// itself, without their values passing through here.
struct ChangeUndo {
    /// A row was changed since.
    struct Clash: Error {
        var table: String
        var key: String
    }

    private let db: Database
    private let change: Int64
    /// What loses a copy or an edition by undoing, and goes when that was its last.
    private var touchedEditions: Set<Int64> = []
    private var touchedAuthors: Set<Int64> = []
    private var touchedSubjects: Set<Int64> = []
    private var tables: [String: Table] = [:]

    init(_ db: Database, change: Int64) {
        self.db = db
        self.change = change
    }

    /// - Parameter progress: told how many rows are taken back, and of how many; throwing ends it with nothing taken back.
    mutating func run(progress: (Int, Int) throws -> Void = { _, _ in }) throws {
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        let total = try db.value(Int.self, "SELECT count(*) FROM changeRow WHERE change = ?", [change]) ?? 0
        var (last, done) = (Int64.max, 0)
        while let rows = try piece(before: last).nonEmpty {
            for row in rows { try takeBack(row) }
            last = rows[rows.count - 1].id
            done += rows.count
            try progress(done, total)
        }
        try removeOrphans(db, editions: touchedEditions)
        for author in touchedAuthors { try removeUnusedAuthor(db, author) }
        for subject in touchedSubjects { try removeUnusedSubject(db, subject) }
    }

    private func piece(before last: Int64) throws -> [LoggedRow] {
        try db.rows(
            """
            SELECT id, tableName, key, before, after, json_extract(image, '$.id') AS own,
                json_extract(image, '$.edition') AS edition, json_extract(image, '$.author') AS author,
                json_extract(image, '$.subject') AS subject
            FROM (SELECT *, coalesce(after, before) AS image FROM changeRow
                WHERE change = ? AND id < ? ORDER BY id DESC LIMIT 512)
            ORDER BY id DESC
            """, [change, last]
        ).map(LoggedRow.init)
    }

    private mutating func takeBack(_ row: LoggedRow) throws {
        if try isOfKeptEdition(row) { return }
        let table = try known(row.table)
        switch (row.before, row.after) {
        case (nil, let after?):
            if try isNamedByOthers(row) { return }
            switch row.table {
            case "copy": row.edition.map { _ = touchedEditions.insert($0) }
            case "editionAuthor": row.author.map { _ = touchedAuthors.insert($0) }
            case "editionSubject": row.subject.map { _ = touchedSubjects.insert($0) }
            default: break
            }
            try db.run(table.deletionIfUnchanged, [row.key, after])
            guard db.changesCount == 0 else { return }
            // Gone, or changed; or logged by an earlier schema, whose image has fewer columns.
            guard try isPresent(after, in: table) else { throw Clash(table: row.table, key: row.key) }
            try db.run(table.deletion, [row.key])
        case (let before?, let after?):
            let image = try Self.image(db, before)
            guard try isPresent(after, in: table) else { throw Clash(table: row.table, key: row.key) }
            let (columns, keys) = (image.keys.sorted(), try Self.image(db, after))
            try db.run(
                "UPDATE \(row.table) SET " + columns.map { "\"\($0)\" = ?" }.joined(separator: ", ")
                    + " WHERE \(table.identity)",
                StatementArguments(columns.map { image[$0] ?? .null } + table.keys.map { keys[$0] ?? .null }))
        case (let before?, nil):
            let image = try Self.image(db, before)
            let identity = StatementArguments(table.keys.map { image[$0] ?? .null })
            guard try db.row("SELECT 1 FROM \(row.table) WHERE \(table.identity)", identity) == nil else {
                throw Clash(table: row.table, key: row.key)
            }
            let columns = image.keys.sorted()
            try db.run(
                "INSERT INTO \(row.table) (" + columns.map { "\"\($0)\"" }.joined(separator: ", ") + ") VALUES ("
                    + columns.map { _ in "?" }.joined(separator: ", ") + ")",
                StatementArguments(columns.map { image[$0] ?? .null }))
        case (nil, nil): break
        }
    }

    /// Whether an inserted row serves others by now and so outlives its change. Whatever the change itself named it by came
    /// later, and so is taken back already.
    private func isNamedByOthers(_ row: LoggedRow) throws -> Bool {
        switch row.table {
        case "author": try isFound("SELECT 1 FROM editionAuthor WHERE author = ? LIMIT 1", [row.own])
        case "subject": try isFound("SELECT 1 FROM editionSubject WHERE subject = ? LIMIT 1", [row.own])
        case "tag": try isFound("SELECT 1 FROM copyTag WHERE tag = ? LIMIT 1", [row.own])
        case "shelf": try isFound("SELECT 1 FROM copy WHERE shelf = ? LIMIT 1", [row.own])
        default: false
        }
    }

    /// Whether a row belongs to an edition that the change made and that has copies from elsewhere by now. The answer does not
    /// depend on how much is taken back already, so that all rows of one edition get the same.
    private func isOfKeptEdition(_ row: LoggedRow) throws -> Bool {
        let edition: Int64?
        switch row.table {
        case "edition": edition = row.number
        case "editionAuthor", "editionSubject", "identifier": edition = row.edition
        default: return false
        }
        return try isFound(
            """
            SELECT 1 FROM copy WHERE edition = ?1
                AND NOT EXISTS (
                    SELECT 1 FROM changeRow WHERE tableName = 'copy' AND key = json_array(copy.id) AND change = ?2
                        AND json_extract(before, '$.edition') IS NOT copy.edition)
                AND EXISTS (
                    SELECT 1 FROM changeRow WHERE tableName = 'edition' AND key = json_array(?1) AND change = ?2
                        AND before IS NULL)
            LIMIT 1
            """, [edition, change])
    }

    private func isFound(_ question: String, _ arguments: StatementArguments) throws -> Bool {
        try db.row(question, arguments) != nil
    }

    /// Whether the row is there with the image's values. Columns that a later migration added do not count.
    private func isPresent(_ json: String, in table: Table) throws -> Bool {
        let image = try Self.image(db, json)
        let identity = StatementArguments(table.keys.map { image[$0] ?? .null })
        guard let present = try db.row("SELECT * FROM \(table.name) WHERE \(table.identity)", identity) else {
            return false
        }
        return image.allSatisfy { (present[$0.key] as DatabaseValue?) ?? .null == $0.value }
    }

    private mutating func known(_ name: String) throws -> Table {
        if let table = tables[name] { return table }
        let table = try Table(db, name)
        tables[name] = table
        return table
    }

    private static func image(_ db: Database, _ json: String) throws -> [String: DatabaseValue] {
        let members = try db.rows("SELECT key, atom FROM json_each(?)", [json])
        return Dictionary(uniqueKeysWithValues: members.map { ($0["key"] as String, $0["atom"] as DatabaseValue) })
    }
}

/// A row of the change log.
private struct LoggedRow {
    let id: Int64
    let table: String
    let key: String
    let before: String?
    let after: String?
    /// The image's columns of these names.
    let own: DatabaseValue
    /// ``own`` where it is a row number: a request's is a text.
    var number: Int64? { Int64.fromDatabaseValue(own) }
    let edition: Int64?
    let author: Int64?
    let subject: Int64?

    init(_ row: Row) {
        (id, table, key, before, after) = (row["id"], row["tableName"], row["key"], row["before"], row["after"])
        (own, edition, author, subject) = (row["own"], row["edition"], row["author"], row["subject"])
    }
}

/// The statements that take back rows of one table.
private struct Table {
    let name: String
    let keys: [String]
    /// `"id" = ?`, one parameter for each of ``keys``.
    let identity: String
    /// ?1 is the logged key.
    let deletion: String
    /// The same, and ?2 the image that the row must still have, as the trigger writes it.
    let deletionIfUnchanged: String

    init(_ db: Database, _ name: String) throws {
        self.name = name
        keys = try db.primaryKey(name).columns
        identity = keys.map { "\"\($0)\" = ?" }.joined(separator: " AND ")
        let logged = keys.enumerated().map { "\"\($1)\" = json_extract(?1, '$[\($0)]')" }.joined(separator: " AND ")
        deletion = "DELETE FROM \(name) WHERE \(logged)"
        let followed = trackedTables.first { $0.name == name }?.columns
        let columns = try db.columns(in: name).map(\.name).filter { followed?.contains($0) ?? true }
        deletionIfUnchanged = deletion + " AND \(rowImage(columns)) = ?2"
    }
}

extension Array {
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}

/// Removes editions that have no copy left, with what hangs on them, and authors and subjects that no edition names.
func removeOrphans(_ db: Database, editions: some Collection<Int64>) throws {
    for edition in editions {
        let isOrphan = try db.row(
            "SELECT 1 FROM edition WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM copy WHERE edition = ?1)", [edition])
        guard isOrphan != nil else { continue }
        let authors = try db.rows("SELECT author FROM editionAuthor WHERE edition = ?", [edition])
        let subjects = try db.rows("SELECT subject FROM editionSubject WHERE edition = ?", [edition])
        try db.run("DELETE FROM editionAuthor WHERE edition = ?", [edition])
        try db.run("DELETE FROM editionSubject WHERE edition = ?", [edition])
        try db.run("DELETE FROM identifier WHERE edition = ?", [edition])
        try db.run("DELETE FROM edition WHERE id = ?", [edition])
        for row in authors { try removeUnusedAuthor(db, row[0]) }
        for row in subjects { try removeUnusedSubject(db, row[0]) }
    }
}

func removeUnusedAuthor(_ db: Database, _ author: Int64) throws {
    try db.run(
        "DELETE FROM author WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM editionAuthor WHERE author = ?1)", [author])
}

func removeUnusedSubject(_ db: Database, _ subject: Int64) throws {
    try db.run(
        "DELETE FROM subject WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM editionSubject WHERE subject = ?1)",
        [subject])
}

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
        // All at once: after a trigger is created, GRDB reads the whole schema again to find the columns of the next table.
        var triggers: [String] = []
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
            triggers.append(
                trigger(
                    "UPDATE", when: "\(isLogged) AND (\(differs))", key: key("OLD"), before: image("OLD"),
                    after: image("NEW")))
            // Of a table followed in part, rows cannot be brought back whole.
            guard table.columns == nil else { continue }
            triggers.append(trigger("INSERT", when: isLogged, key: key("NEW"), before: "NULL", after: image("NEW")))
            triggers.append(trigger("DELETE", when: isLogged, key: key("OLD"), before: image("OLD"), after: "NULL"))
        }
        try db.execute(sql: triggers.joined(separator: "\n"))
    }
}

/// The SQL expression of a row's image: a JSON object of its columns in the table's order.
///
/// - Parameter row: `OLD.` or `NEW.` in a trigger.
func rowImage(_ columns: [String], of row: String = "") -> String {
    "json_object(" + columns.map { "'\($0)', \(row)\"\($0)\"" }.joined(separator: ", ") + ")"
}
