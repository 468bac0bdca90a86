import GRDB

/// Takes the rows of one change back, last first, inside the caller's transaction.
///
/// Every row must still be as the change left it, else the whole is refused. Only what other books share by now stays: an
/// author, tag, subject or shelf that others name, and an edition with copies from elsewhere.
struct ChangeUndo {
    /// A row was changed since.
    struct Clash: Error {
        var table: String
        var key: String
    }

    private struct LoggedRow {
        var table: String
        var key: String
        var before: [String: DatabaseValue]?
        var after: [String: DatabaseValue]?
    }

    private let db: Database
    private let rows: [LoggedRow]
    /// Editions that the change made.
    private let madeEditions: Set<DatabaseValue>
    /// What loses a copy or an edition by undoing, and goes when that was its last.
    private var touchedEditions: Set<Int64> = []
    private var touchedAuthors: Set<Int64> = []
    private var touchedSubjects: Set<Int64> = []

    init(_ db: Database, change: Int64) throws {
        self.db = db
        rows = try db.rows(
            "SELECT tableName, key, before, after FROM changeRow WHERE change = ? ORDER BY id DESC", [change]
        ).map { row in
            LoggedRow(
                table: row["tableName"], key: row["key"], before: try Self.image(db, row["before"]),
                after: try Self.image(db, row["after"]))
        }
        madeEditions = Set(
            rows.compactMap { $0.table == "edition" && $0.before == nil ? $0.after?["id"] : nil })
    }

    mutating func run() throws {
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        for row in rows { try takeBack(row) }
        try removeOrphans(db, editions: touchedEditions)
        for author in touchedAuthors { try removeUnusedAuthor(db, author) }
        for subject in touchedSubjects { try removeUnusedSubject(db, subject) }
    }

    private mutating func takeBack(_ row: LoggedRow) throws {
        switch (row.before, row.after) {
        case (nil, let after?):
            if try isShared(row.table, after) { return }
            guard try isPresent(after, in: row) else { throw Clash(table: row.table, key: row.key) }
            func number(_ column: String) -> Int64? { after[column].flatMap { Int64.fromDatabaseValue($0) } }
            switch row.table {
            case "copy": number("edition").map { _ = touchedEditions.insert($0) }
            case "editionAuthor": number("author").map { _ = touchedAuthors.insert($0) }
            case "editionSubject": number("subject").map { _ = touchedSubjects.insert($0) }
            default: break
            }
            let (condition, keys) = try identity(of: after, in: row.table)
            try db.run("DELETE FROM \(row.table) WHERE \(condition)", keys)
        case (let before?, let after?):
            guard try isPresent(after, in: row) else { throw Clash(table: row.table, key: row.key) }
            let columns = before.keys.sorted()
            let (condition, keys) = try identity(of: after, in: row.table)
            try db.run(
                "UPDATE \(row.table) SET " + columns.map { "\"\($0)\" = ?" }.joined(separator: ", ")
                    + " WHERE \(condition)",
                StatementArguments(columns.map { before[$0] ?? .null }) + keys)
        case (let before?, nil):
            let (condition, keys) = try identity(of: before, in: row.table)
            guard try db.row("SELECT 1 FROM \(row.table) WHERE \(condition)", keys) == nil else {
                throw Clash(table: row.table, key: row.key)
            }
            let columns = before.keys.sorted()
            try db.run(
                "INSERT INTO \(row.table) (" + columns.map { "\"\($0)\"" }.joined(separator: ", ") + ") VALUES ("
                    + columns.map { _ in "?" }.joined(separator: ", ") + ")",
                StatementArguments(columns.map { before[$0] ?? .null }))
        case (nil, nil): break
        }
    }

    /// Whether an inserted row serves others by now and so outlives its change.
    private func isShared(_ table: String, _ image: [String: DatabaseValue]) throws -> Bool {
        let question: String
        var key = image["id"]
        switch table {
        case "author": question = "SELECT 1 FROM editionAuthor WHERE author = ? LIMIT 1"
        case "subject": question = "SELECT 1 FROM editionSubject WHERE subject = ? LIMIT 1"
        case "tag": question = "SELECT 1 FROM copyTag WHERE tag = ? LIMIT 1"
        case "shelf": question = "SELECT 1 FROM copy WHERE shelf = ? LIMIT 1"
        case "edition": question = "SELECT 1 FROM copy WHERE edition = ? LIMIT 1"
        case "editionAuthor", "editionSubject", "identifier":
            key = image["edition"]
            guard let key, madeEditions.contains(key) else { return false }
            question = "SELECT 1 FROM copy WHERE edition = ? LIMIT 1"
        default: return false
        }
        return try db.row(question, [key]) != nil
    }

    /// Whether the row is there with the image's values. Columns that a later migration added do not count.
    private func isPresent(_ image: [String: DatabaseValue], in row: LoggedRow) throws -> Bool {
        let (condition, keys) = try identity(of: image, in: row.table)
        guard let present = try db.row("SELECT * FROM \(row.table) WHERE \(condition)", keys) else { return false }
        return image.allSatisfy { (present[$0.key] as DatabaseValue?) ?? .null == $0.value }
    }

    private func identity(
        of image: [String: DatabaseValue], in table: String
    ) throws -> (condition: String, keys: StatementArguments) {
        let columns = try db.primaryKey(table).columns
        return (
            columns.map { "\"\($0)\" = ?" }.joined(separator: " AND "),
            StatementArguments(columns.map { image[$0] ?? .null })
        )
    }

    private static func image(_ db: Database, _ json: String?) throws -> [String: DatabaseValue]? {
        guard let json else { return nil }
        let members = try db.rows("SELECT key, atom FROM json_each(?)", [json])
        return Dictionary(uniqueKeysWithValues: members.map { ($0["key"] as String, $0["atom"] as DatabaseValue) })
    }
}

/// Removes editions that have no copy left, with what hangs on them, and authors and subjects that no edition names.
func removeOrphans(_ db: Database, editions: some Collection<Int64>) throws {
    for edition in editions {
        guard try db.row("SELECT 1 FROM copy WHERE edition = ? LIMIT 1", [edition]) == nil else { continue }
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
