import GRDB

/// Undoes one change row by row, beginning with its last row, inside the caller's transaction.
///
/// Every row must still be as the change left it, and no other change that applies may have touched it later, or need
/// it later for its own undo; otherwise, the whole undo is refused. Therefore, changes can be undone in any order that
/// is not refused, and the others can still be undone from the newest to the oldest. There are two exceptions: after a
/// book was purged, the undo of a change that would give one of its authors back to another book is refused, and so are
/// the undos of two continued changes each of which has touched rows of the other.
///
/// An inserted row stays if other books use it now, or get it back when another change is undone. This applies to
/// authors, tags, subjects and shelves. It also applies to an edition, with all its rows, if the edition has copies
/// that the change has not added.
///
/// A change may have changed one row many times, as an import does if its file contains a book twice. If a row stays,
/// all versions of it in the log have to be skipped, because an undone version would conflict with the skipped ones.
///
/// A redo is the undo of an undo: it takes back every row in the record that the undo has left. It is exact, so no row
/// stays and nothing else is removed, and it is refused if a row cannot be restored.
///
/// An import of 100,000 books is one change with a million rows. The rows are read in batches, and SQLite itself
/// compares and undoes them, without decoding their values here.
struct ChangeUndo {
    /// The error for a row that is no longer as the change left it, or that another change still needs.
    struct RowChangedError: Error {
        var table: String
        var key: String
    }

    private let db: Database
    private let change: Int64
    private let isRedo: Bool
    /// The editions that lose a copy through this undo. An edition that has no copy left is removed. Authors and
    /// subjects are treated in the same way.
    private var touchedEditions: Set<Int64> = []
    private var touchedAuthors: Set<Int64> = []
    private var touchedSubjects: Set<Int64> = []
    private var tables: [String: Table] = [:]
    /// The ids of the rows to which the rows that a redo has restored refer, by the column that refers to them.
    private var references: [Reference: Set<Int64>] = [:]
    /// The facts about rows that other changes have logged after the first row of this change; `nil` if there are none.
    private let later: LaterRows?
    /// True if a change was undone, or is being undone, while a newer one applied. Only then can a name that no book
    /// has now be needed for the undo of another change.
    private let isOutOfOrder: Bool
    /// The authors, subjects, tags and shelves that the undo of another change would give back to a book, by table.
    private var neededNames: [String: Set<Int64>] = [:]

    init(_ db: Database, change: Int64) throws {
        self.db = db
        self.change = change
        isRedo = false
        later = try LaterRows(db, than: change)
        isOutOfOrder =
            try later != nil
            || db.row(
                """
                SELECT 1 FROM change
                WHERE undone IS NOT NULL AND id < (SELECT max(id) FROM change WHERE undone IS NULL) LIMIT 1
                """) != nil
    }

    /// Prepares the redo of the change whose undo has left this record.
    init(_ db: Database, undoRecord: Int64) throws {
        self.db = db
        change = undoRecord
        isRedo = true
        later = try LaterRows(db, than: undoRecord)
        isOutOfOrder = true
    }

    /// - Parameter progress: the function that receives the number of rows that have been undone so far, and the total
    ///   number of rows. If it throws, the caller's transaction is rolled back.
    mutating func run(progress: (Int, Int) throws -> Void = { _, _ in }) throws {
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        let total = try db.value(Int.self, "SELECT count(*) FROM changeRow WHERE change = ?", [change]) ?? 0
        var (last, done) = (Int64.max, 0)
        while let rows = try batch(before: last).nonEmpty {
            for row in rows { try undo(row) }
            last = rows[rows.count - 1].id
            done += rows.count
            try progress(done, total)
        }
        guard !isRedo else { return try checkReferences() }
        for edition in touchedEditions {
            guard let names = try removeOrphan(db, edition: edition) else { continue }
            if let touched = later?.editions[edition] { throw RowChangedError(table: touched.table, key: touched.key) }
            touchedAuthors.formUnion(names.authors)
            touchedSubjects.formUnion(names.subjects)
        }
        for author in touchedAuthors where try !isKept(author, in: "author") { try removeUnusedAuthor(db, author) }
        for subject in touchedSubjects where try !isKept(subject, in: "subject") {
            try removeUnusedSubject(db, subject)
        }
    }

    private func batch(before last: Int64) throws -> [LoggedRow] {
        try db.rows(
            """
            SELECT id, tableName, key, before, after, json_extract(image, '$.id') AS own,
                json_extract(image, '$.edition') AS edition, json_extract(image, '$.author') AS author,
                json_extract(image, '$.subject') AS subject, json_extract(before, '$.author') AS authorBefore,
                json_extract(before, '$.subject') AS subjectBefore
            FROM (SELECT *, coalesce(after, before) AS image FROM changeRow
                WHERE change = ? AND id < ? ORDER BY id DESC LIMIT 512)
            ORDER BY id DESC
            """, [change, last]
        ).map(LoggedRow.init)
    }

    private mutating func undo(_ row: LoggedRow) throws {
        if row.table == "cover" { return try undoCover(row) }
        if try !isRedo && isOfKeptEdition(row) { return noteReferences(of: row) }
        if try !isRedo && isOfMissingEdition(row) {
            // A merge may have removed the edition.
            try checkTouched(row)
            return noteReferences(of: row)
        }
        let table = try table(row.table)
        switch (row.before, row.after) {
        case (nil, let after?):
            if try !isRedo && isUsedByOthers(row) { return }
            try checkLater(row)
            noteReferences(of: row)
            if row.table == "copy" { try deleteUnloggedRequests(of: row.number) }
            try db.run(table.deletionIfUnchanged, [row.key, after])
            guard db.changesCount == 0 else { return }
            // The row was removed or changed, or it was logged by an earlier schema with fewer columns.
            guard try isPresent(after, in: table) else { throw RowChangedError(table: row.table, key: row.key) }
            try db.run(table.deletion, [row.key])
        case (let before?, let after?):
            try checkLater(row)
            noteReferences(of: row)
            let image = try Self.image(db, before)
            guard try isPresent(after, in: table) else { throw RowChangedError(table: row.table, key: row.key) }
            try isRedo ? checkUnique(before, of: row) : freeName(image["name"], for: row)
            noteReferences(from: image, in: table)
            let (columns, keys) = (image.keys.sorted(), try Self.image(db, after))
            try db.run(
                "UPDATE \(row.table) SET " + columns.map { "\"\($0)\" = ?" }.joined(separator: ", ")
                    + " WHERE \(table.identity)",
                StatementArguments(columns.map { image[$0] ?? .null } + table.keys.map { keys[$0] ?? .null }))
        case (let before?, nil):
            try checkLater(row)
            noteReferences(of: row)
            let image = try Self.image(db, before)
            let identity = StatementArguments(table.keys.map { image[$0] ?? .null })
            guard try db.row("SELECT 1 FROM \(row.table) WHERE \(table.identity)", identity) == nil else {
                throw RowChangedError(table: row.table, key: row.key)
            }
            try isRedo ? checkUnique(before, of: row) : freeName(image["name"], for: row)
            noteReferences(from: image, in: table)
            let columns = image.keys.sorted()
            try db.run(
                "INSERT INTO \(row.table) (" + columns.map { "\"\($0)\"" }.joined(separator: ", ") + ") VALUES ("
                    + columns.map { _ in "?" }.joined(separator: ", ") + ")",
                StatementArguments(columns.map { image[$0] ?? .null }))
        case (nil, nil): break
        }
    }

    /// Brings back the picture of a book, or removes the one that a merge has given it, without refusing the undo.
    /// Pictures are not a person's changes, so they may have been replaced since; a fetched picture gives way only to a
    /// person's own photo.
    private func undoCover(_ row: LoggedRow) throws {
        if let after = row.after {
            try db.run(
                """
                DELETE FROM cover WHERE edition = json_extract(?1, '$.edition') AND stored = json_extract(?1, '$.stored')
                """, [after])
        }
        guard let before = row.before else { return }
        try db.run(
            """
            INSERT INTO cover (edition, state, bytes, stored, retryAt)
            SELECT ?1 ->> '$.edition', ?1 ->> '$.state', ?1 ->> '$.bytes', ?1 ->> '$.stored', ?1 ->> '$.retryAt' WHERE true
            ON CONFLICT (edition) DO UPDATE SET state = excluded.state, bytes = excluded.bytes, stored = excluded.stored,
                retryAt = excluded.retryAt
            WHERE excluded.state = 'person' AND cover.state <> 'person'
            """, [before])
    }

    /// Deletes the requests of imported rows that found nothing to add to the copy. They were stored without a change,
    /// and they would keep the copy from being removed.
    private func deleteUnloggedRequests(of copy: Int64?) throws {
        try db.run(
            """
            DELETE FROM request WHERE copy = ? AND NOT EXISTS (
                SELECT 1 FROM changeRow JOIN change ON change.id = changeRow.change
                WHERE tableName = 'request' AND key = json_array(request.id) AND undone IS NULL)
            """, [copy])
    }

    /// Notes the rows that may be left without a use, because the row no longer refers to them.
    private mutating func noteReferences(of row: LoggedRow) {
        switch row.table {
        case "copy": row.edition.map { _ = touchedEditions.insert($0) }
        // The copies of an edition that a merge has removed may have been deleted for good.
        case "edition" where row.after == nil: row.number.map { _ = touchedEditions.insert($0) }
        case "editionAuthor": touchedAuthors.formUnion(row.authors)
        case "editionSubject": touchedSubjects.formUnion(row.subjects)
        case "author": row.number.map { _ = touchedAuthors.insert($0) }
        case "subject": row.number.map { _ = touchedSubjects.insert($0) }
        default: break
        }
    }

    /// Refuses the undo of a row that another change has touched later, or that would take from another change what its
    /// own undo needs. The row's values alone cannot show that, because the later changes may have set it to other
    /// values and back.
    private func checkLater(_ row: LoggedRow) throws {
        guard let later else { return }
        try checkTouched(row)
        if row.before == nil, let need = later.needs[row.table]?[row.rowID], need.row > row.id {
            throw RowChangedError(table: need.table, key: need.key)
        }
        guard let before = row.before, let value = try LaterRows.uniqueValue(of: row.table, in: before, db) else {
            return
        }
        if let taken = later.values[row.table]?[value]?.first(where: { $0.key != row.key && $0.row > row.id }) {
            throw RowChangedError(table: row.table, key: taken.key)
        }
    }

    private func checkTouched(_ row: LoggedRow) throws {
        guard later != nil else { return }
        let isTouched = try exists(
            """
            SELECT 1 FROM changeRow JOIN change ON change.id = changeRow.change
            WHERE tableName = ? AND key = ? AND changeRow.id > ? AND change.id <> ? AND undone IS NULL LIMIT 1
            """, [row.table, row.key, row.id, change])
        if isTouched { throw RowChangedError(table: row.table, key: row.key) }
    }

    private mutating func noteReferences(from image: [String: DatabaseValue], in table: Table) {
        guard isRedo else { return }
        for reference in table.references {
            guard let id = image[reference.column].flatMap({ Int64.fromDatabaseValue($0) }) else { continue }
            references[reference, default: []].insert(id)
        }
    }

    /// Refuses the redo if a row to which a restored row refers is missing. A row that the change has changed several
    /// times may have referred to other rows in between; these need not exist.
    private func checkReferences() throws {
        for (reference, ids) in references {
            for id in ids
            where try !exists("SELECT 1 FROM \(reference.target) WHERE id = ?", [id])
                && exists("SELECT 1 FROM \(reference.table) WHERE \"\(reference.column)\" = ? LIMIT 1", [id])
            {
                throw RowChangedError(table: reference.target, key: "[\(id)]")
            }
        }
    }

    /// Refuses the redo of a row whose name, ISBN or running session another row has now.
    private func checkUnique(_ image: String, of row: LoggedRow) throws {
        guard let value = try LaterRows.uniqueValue(of: row.table, in: image, db) else { return }
        let condition =
            switch row.table {
            case "edition": "isbn = ?1"
            case "session": "\"end\" IS NULL AND reader = ?1"
            default: "name = ?1"
            }
        let other = try db.value(
            String.self, "SELECT json_array(id) FROM \(row.table) WHERE \(condition) AND json_array(id) <> ?2",
            [value, row.key])
        if let other { throw RowChangedError(table: row.table, key: other) }
    }

    /// Returns true if the row belongs to an edition that does not exist, because it was removed with its last copy.
    /// There is nothing to undo in it, unless a later change that applies, such as a merge, has removed the edition.
    /// An edition that the change itself has removed, as a merge does, comes back before its other rows are undone.
    private func isOfMissingEdition(_ row: LoggedRow) throws -> Bool {
        let edition: Int64?
        switch row.table {
        case "edition" where row.before != nil && row.after != nil: edition = row.number
        case "editionAuthor", "editionSubject", "identifier": edition = row.edition
        default: return false
        }
        return try !exists("SELECT 1 FROM edition WHERE id = ?", [edition])
    }

    /// Returns true if other rows now refer to an inserted row, or will when another change is undone, so that it has
    /// to stay. References that the change itself has made were made after the insertion, so they have already been
    /// undone.
    private mutating func isUsedByOthers(_ row: LoggedRow) throws -> Bool {
        guard let user = Self.users[row.table], let id = row.number else { return false }
        return try exists("SELECT 1 FROM \(user.table) WHERE \(user.column) = ? LIMIT 1", [id])
            || isNeeded(id, in: row.table)
    }

    /// The column that refers to each table of names.
    private static let users: [String: (table: String, column: String)] = [
        "author": ("editionAuthor", "author"), "subject": ("editionSubject", "subject"), "tag": ("copyTag", "tag"),
        "shelf": ("copy", "shelf"),
    ]

    /// Prepares for a row that gets its name back. A name stays when the change that added it is undone while other
    /// books use it; if nothing refers to such a row any more, it is removed.
    private mutating func freeName(_ name: DatabaseValue?, for row: LoggedRow) throws {
        guard let user = Self.users[row.table], let name else { return }
        let namesake = try db.value(
            Int64.self,
            """
            SELECT id FROM \(row.table) AS namesake
            WHERE name = ? AND json_array(id) IS NOT ?
                AND NOT EXISTS (SELECT 1 FROM \(user.table) WHERE \(user.column) = namesake.id)
            """, [name, row.key])
        guard let namesake, try !isKept(namesake, in: row.table) else { return }
        try db.run("DELETE FROM \(row.table) WHERE id = ?", [namesake])
    }

    /// Returns true if the undo of another change would give the name back to a book.
    private mutating func isNeeded(_ id: Int64, in table: String) throws -> Bool {
        guard isOutOfOrder, let user = Self.users[table] else { return false }
        if neededNames[table] == nil {
            neededNames[table] = try Set(
                db.rows(
                    """
                    SELECT DISTINCT json_extract(before, '$.\(user.column)') AS id FROM changeRow
                    WHERE tableName = ? AND json_extract(before, '$.\(user.column)') IS NOT NULL
                        AND change IN (SELECT id FROM change WHERE undone IS NULL AND id <> ?)
                    """, [user.table, change]
                ).compactMap { $0["id"] as Int64? })
        }
        return neededNames[table]?.contains(id) == true
    }

    /// Returns true if a name that no book has must stay: another change needs it, or has added or renamed it.
    private mutating func isKept(_ id: Int64, in table: String) throws -> Bool {
        if try isNeeded(id, in: table) { return true }
        return try isOutOfOrder
            && exists(
                """
                SELECT 1 FROM changeRow JOIN change ON change.id = changeRow.change
                WHERE tableName = ? AND key = json_array(?) AND change.id <> ? AND undone IS NULL LIMIT 1
                """, [table, id, change])
    }

    /// Returns true if the row belongs to an edition that must stay: the change has inserted the edition, but other
    /// copies now belong to it as well. The answer does not depend on how much has already been undone, so it is the
    /// same for all rows of an edition.
    private func isOfKeptEdition(_ row: LoggedRow) throws -> Bool {
        let edition: Int64?
        switch row.table {
        case "edition": edition = row.number
        case "editionAuthor", "editionSubject", "identifier": edition = row.edition
        default: return false
        }
        return try exists(
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

    private func exists(_ query: String, _ arguments: StatementArguments) throws -> Bool {
        try db.row(query, arguments) != nil
    }

    /// Returns true if the row exists and has the values in a logged image, which is a JSON object. Columns that a
    /// later migration has added are ignored.
    private func isPresent(_ json: String, in table: Table) throws -> Bool {
        let image = try Self.image(db, json)
        let identity = StatementArguments(table.keys.map { image[$0] ?? .null })
        guard let present = try db.row("SELECT * FROM \(table.name) WHERE \(table.identity)", identity) else {
            return false
        }
        return image.allSatisfy { (present[$0.key] as DatabaseValue?) ?? .null == $0.value }
    }

    private mutating func table(_ name: String) throws -> Table {
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
    /// The row's id, as the log has recorded it.
    let rowID: DatabaseValue
    /// The ``rowID`` if it is a number; `nil` for a request, whose id is a text.
    var number: Int64? { Int64.fromDatabaseValue(rowID) }
    let edition: Int64?
    /// The authors before and after the change.
    let authors: [Int64]
    /// The subjects before and after the change.
    let subjects: [Int64]

    init(_ row: Row) {
        (id, table, key, before, after) = (row["id"], row["tableName"], row["key"], row["before"], row["after"])
        (rowID, edition) = (row["own"], row["edition"])
        authors = [row["author"], row["authorBefore"]].compactMap(\.self)
        subjects = [row["subject"], row["subjectBefore"]].compactMap(\.self)
    }
}

/// The facts about the rows that other changes, which apply, have logged after the first row of a change. A change that
/// is continued, such as an import, may log rows after those of a change that began later, so rows are compared, and
/// not changes.
private struct LaterRows {
    /// A row of the log.
    struct Place {
        var row: Int64
        var table: String
        var key: String
    }

    /// The latest row whose undo would bring back a reference, by the table and the id of the row referred to.
    private(set) var needs: [String: [DatabaseValue: Place]] = [:]
    /// The rows whose undo would bring back a value that only one row can have, by table and value.
    private(set) var values: [String: [DatabaseValue: [Place]]] = [:]
    /// The latest row of each edition of which a row was touched.
    private(set) var editions: [Int64: Place] = [:]

    /// - Returns: `nil` if there are no such rows.
    init?(_ db: Database, than change: Int64) throws {
        let others = "id <> ?1 AND undone IS NULL"
        guard let first = try db.value(Int64.self, "SELECT min(id) FROM changeRow WHERE change = ?", [change]),
            try db.row(
                """
                SELECT 1 FROM change
                WHERE \(others) AND (SELECT max(id) FROM changeRow WHERE change = change.id) > ?2 LIMIT 1
                """, [change, first]) != nil
        else { return nil }

        var references: [String: [Reference]] = [:]
        for table in trackedTables { references[table.name] = try Reference.all(of: table.name, db) }
        let columns = Set(references.values.flatMap { $0.map(\.column) }).sorted()
        // The unary + keeps SQLite from reading all rows of a table instead of only the later ones.
        let replaced = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, tableName, key, before
                    \(columns.map { ", json_extract(before, '$.\($0)') AS \"\($0)\"" }.joined())
                FROM changeRow
                WHERE id > ?2 AND before IS NOT NULL AND +change IN (SELECT id FROM change WHERE \(others))
                """, arguments: [change, first])
        while let row = try replaced.next() {
            let place = Place(row: row["id"], table: row["tableName"], key: row["key"])
            for reference in references[place.table] ?? [] {
                let id: DatabaseValue = row[reference.column]
                if !id.isNull { needs[reference.target, default: [:]][id] = place }
            }
            if let value = try Self.uniqueValue(of: place.table, in: row["before"], db) {
                values[place.table, default: [:]][value, default: []].append(place)
            }
        }
        for row in try db.rows(
            """
            SELECT max(id) AS id, tableName, key,
                json_extract(coalesce(after, before), iif(tableName = 'edition', '$.id', '$.edition')) AS edition
            FROM changeRow
            WHERE id > ?2 AND +tableName IN ('edition', 'editionAuthor', 'editionSubject', 'identifier')
                AND +change IN (SELECT id FROM change WHERE \(others))
            GROUP BY edition
            """, [change, first])
        { editions[row["edition"]] = Place(row: row["id"], table: row["tableName"], key: row["key"]) }
    }

    /// Returns the value in a row's image that no other row of the table can have at the same time: a name, an ISBN, or
    /// for a running session the fact that it runs. Returns `nil` if the row has no such value.
    static func uniqueValue(of table: String, in image: String, _ db: Database) throws -> DatabaseValue? {
        let expression: String
        switch table {
        case "author", "subject", "tag", "shelf": expression = "json_extract(?1, '$.name')"
        case "edition": expression = "json_extract(?1, '$.isbn')"
        case "session": expression = "iif(json_extract(?1, '$.end') IS NULL, json_extract(?1, '$.reader'), NULL)"
        default: return nil
        }
        return try db.value(DatabaseValue.self, "SELECT \(expression)", [image]).flatMap { $0.isNull ? nil : $0 }
    }
}

/// A column that refers to the rows of another table.
private struct Reference: Hashable {
    var table: String
    var column: String
    /// The table that is referred to.
    var target: String

    static func all(of table: String, _ db: Database) throws -> [Reference] {
        try db.foreignKeys(on: table).compactMap { key in
            key.mapping.first.map { Reference(table: table, column: $0.origin, target: key.destinationTable) }
        }
    }
}

/// The statements that undo rows of one table.
private struct Table {
    let name: String
    let keys: [String]
    /// The columns that refer to other tables.
    let references: [Reference]
    /// The condition that selects a row, such as `"id" = ?`, with one parameter for each of ``keys``.
    let identity: String
    /// The statement that deletes a row. The parameter ?1 is the row's logged key.
    let deletion: String
    /// The statement that deletes a row if it still has the logged image, which is a JSON object with the row's values.
    /// The parameter ?1 is the row's logged key, and ?2 is the image.
    let deletionIfUnchanged: String

    init(_ db: Database, _ name: String) throws {
        self.name = name
        keys = try db.primaryKey(name).columns
        references = try Reference.all(of: name, db)
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

/// The tables whose rows are logged in changes. If a table has `columns`, only these columns are logged.
///
/// Leases, lookups, covers and the answer cache are not a person's work, so they are not logged, and an undo does not
/// change them.
let trackedTables: [(name: String, columns: Set<String>?)] = [
    ("edition", nil), ("author", nil), ("editionAuthor", nil), ("subject", nil), ("editionSubject", nil),
    ("identifier", nil), ("shelf", nil), ("copy", nil), ("tag", nil), ("copyTag", nil), ("request", nil),
    ("reading", nil), ("progressEntry", nil), ("session", nil), ("note", nil), ("quote", nil), ("importFlag", nil),
    ("reader", nil), ("readerCopy", nil), ("setting", nil), ("readerSetting", nil), ("savedFilter", nil),
    ("distinctCopy", nil), ("intakeItem", ["id", "state"]),
]

extension Schema {
    /// Creates the triggers that log each change of a row with the row's images, which are JSON objects with its values
    /// before and after the change. Every migration calls this, because the triggers must match the columns of the
    /// tables.
    ///
    /// Source of the method: https://www.sqlite.org/undoredo.html
    static func createUndoTriggers(_ db: Database) throws {
        // All triggers are created at once, because after each statement that creates one, GRDB reads the whole schema
        // again to find the columns of the next table.
        var triggers: [String] = []
        // An older schema has only some of the tables.
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
            // Insertions and deletions are not logged if only some columns are, because a whole row could not be
            // restored.
            guard table.columns == nil else { continue }
            triggers.append(trigger("INSERT", when: isLogged, key: key("NEW"), before: "NULL", after: image("NEW")))
            triggers.append(trigger("DELETE", when: isLogged, key: key("OLD"), before: image("OLD"), after: "NULL"))
        }
        try db.execute(sql: triggers.joined(separator: "\n"))
    }
}

/// Returns the SQL expression for the image of a row, which is a JSON object with the row's columns in the table's
/// order.
///
/// - Parameter row: the prefix of the columns, which is `OLD.` or `NEW.` in a trigger.
func rowImage(_ columns: [String], of row: String = "") -> String {
    "json_object(" + columns.map { "'\($0)', \(row)\"\($0)\"" }.joined(separator: ", ") + ")"
}
