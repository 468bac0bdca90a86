import Bookplate
import FoundationEssentials
import GRDB

/// What notes and quotes have in common as rows: a table, an id, a copy, a time.
protocol StoredRemark: Sendable, Equatable {
    static var table: String { get }
    /// The order in which a book shows them.
    static var order: String { get }
    var id: ID<Self> { get }
    var created: Date { get }
    init(row: Row) throws
    /// As it is stored.
    ///
    /// - Parameter old: what it was; only what differs is checked, because an import may have brought more than is entered.
    /// - Throws: ``TextRefusal`` or ``EntryRefusal``.
    func checked(after old: Self?) throws -> Self
    /// The columns of its own, by name.
    var columns: [(name: String, value: (any DatabaseValueConvertible)?)] { get }
}

extension Note: StoredRemark {
    static let table = "note"
    static let order = "created, id"

    init(row: Row) throws {
        self.init(
            id: ID(rawValue: row["uuid"]), kind: try row.word("kind"), text: row["text"],
            created: Date(milliseconds: row["created"]))
    }

    func checked(after old: Note?) throws -> Note {
        var note = self
        if text != old?.text { note.text = try text.checked(as: "note", limit: TextLimit.note) }
        return note
    }

    var columns: [(name: String, value: (any DatabaseValueConvertible)?)] { [("kind", kind.rawValue), ("text", text)] }
}

extension Quote: StoredRemark {
    static let table = "quote"
    static let order = "page IS NULL, page, created, id"

    init(row: Row) throws {
        self.init(
            id: ID(rawValue: row["uuid"]), text: row["text"], page: row["page"],
            created: Date(milliseconds: row["created"]))
    }

    func checked(after old: Quote?) throws -> Quote {
        var quote = self
        if text != old?.text { quote.text = try text.checked(as: "quote", limit: TextLimit.note) }
        try NumberLimit.check(page, as: "page", in: NumberLimit.pages)
        return quote
    }

    var columns: [(name: String, value: (any DatabaseValueConvertible)?)] { [("text", text), ("page", page)] }
}

extension StoredRemark {
    static func fetch(_ db: Database, of copy: ID<Copy>) throws -> [Self] {
        try db.rows(
            "SELECT * FROM \(table) WHERE copy = (SELECT id FROM copy WHERE uuid = ?) ORDER BY \(order)",
            [copy.rawValue]
        ).map(Self.init(row:))
    }

    /// - Parameter clauses: a condition and what follows it, over the tables of the remark and copy.
    static func fetch(
        _ db: Database, where clauses: String, _ arguments: StatementArguments
    ) throws -> [Remark<Self>] {
        let rows = try db.rows(
            "SELECT \(table).* FROM \(table) JOIN copy ON copy.id = \(table).copy WHERE \(clauses)", arguments)
        let books = try StoredBooks.fetch(
            db, "WHERE copy.id IN (SELECT value FROM json_each(?))", [list(Set(rows.map { $0["copy"] as Int64 }))])
        let byCopy = Dictionary(uniqueKeysWithValues: books.map { ($0.copyRow, $0.book) })
        return try rows.compactMap { row in
            try byCopy[row["copy"]].map { Remark(try Self(row: row), on: $0) }
        }
    }

    static func latest(_ db: Database, limit: Int) throws -> [Remark<Self>] {
        try fetch(
            db, where: "copy.deleted IS NULL ORDER BY \(table).created DESC, \(table).id DESC LIMIT ?", [max(0, limit)])
    }

    static func named(_ db: Database, _ name: String) throws -> [Remark<Self>] {
        let name = name.lowercased()
        guard (4...64).contains(name.utf8.count) else { return [] }
        return try fetch(
            db, where: "copy.deleted IS NULL AND substr(\(table).uuid, -length(?1)) = ?1 ORDER BY \(table).id", [name])
    }

    static func one(_ db: Database, _ id: ID<Self>) throws -> Remark<Self>? {
        try fetch(db, where: "\(table).uuid = ?", [id.rawValue]).first
    }

    func insert(_ db: Database, to copy: Int64) throws {
        let columns = columns
        try db.run(
            "INSERT INTO \(Self.table) (uuid, copy, created, \(columns.map(\.name).joined(separator: ", "))) VALUES (?, ?, ?"
                + String(repeating: ", ?", count: columns.count) + ")",
            StatementArguments([id.rawValue, copy, created.milliseconds] + columns.map(\.value)))
    }

    func update(_ db: Database) throws {
        let columns = columns
        try db.run(
            "UPDATE \(Self.table) SET \(columns.map { "\($0.name) = ?" }.joined(separator: ", ")) WHERE uuid = ?",
            StatementArguments(columns.map(\.value) + [id.rawValue]))
    }
}

extension ImportFlag {
    init(row: Row) {
        self.init(source: row["source"], what: row["what"], raw: row["raw"], at: Date(milliseconds: row["at"]))
    }

    /// Oldest first.
    static func fetch(_ db: Database, on copy: ID<Copy>) throws -> [ImportFlag] {
        try db.rows(
            """
            SELECT source, what, raw, at FROM importFlag
            WHERE copy = (SELECT id FROM copy WHERE uuid = ?) ORDER BY id
            """, [copy.rawValue]
        ).map(ImportFlag.init(row:))
    }

    func insert(_ db: Database, to copy: Int64) throws {
        try db.run(
            "INSERT INTO importFlag (copy, source, what, raw, at) VALUES (?, ?, ?, ?, ?)",
            [copy, source, what, raw, at.milliseconds])
    }
}
