import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Annotations {
    public func notes(of copy: ID<Copy>) async throws -> [Note] { try await read { try Note.fetch($0, of: copy) } }

    public func quotes(of copy: ID<Copy>) async throws -> [Quote] { try await read { try Quote.fetch($0, of: copy) } }

    public func latestNotes(limit: Int) async throws -> [Annotation<Note>] {
        try await read { try Note.latest($0, limit: limit) }
    }

    public func latestQuotes(limit: Int) async throws -> [Annotation<Quote>] {
        try await read { try Quote.latest($0, limit: limit) }
    }

    public func notes(named name: String) async throws -> [Annotation<Note>] {
        try await read { try Note.named($0, name) }
    }

    public func quotes(named name: String) async throws -> [Annotation<Quote>] {
        try await read { try Quote.named($0, name) }
    }

    public func add(_ note: Note, to copy: ID<Copy>, at now: Date) async throws -> Annotation<Note> {
        try await add(note, to: copy, at: now, as: "a note")
    }

    public func add(_ quote: Quote, to copy: ID<Copy>, at now: Date) async throws -> Annotation<Quote> {
        try await add(quote, to: copy, at: now, as: "a quote")
    }

    public func editNote(
        _ id: ID<Note>, at now: Date, _ change: @escaping @Sendable (inout Note) throws -> Void
    ) async throws -> Annotation<Note> {
        try await edit(id, at: now, as: "a note", orThrow: AnnotationRefusal.noSuchNote(id.rawValue), change)
    }

    public func editQuote(
        _ id: ID<Quote>, at now: Date, _ change: @escaping @Sendable (inout Quote) throws -> Void
    ) async throws -> Annotation<Quote> {
        try await edit(id, at: now, as: "a quote", orThrow: AnnotationRefusal.noSuchQuote(id.rawValue), change)
    }

    public func deleteNotes(_ ids: [ID<Note>], at now: Date) async throws -> ID<Change> {
        try await delete(ids, at: now, as: "note", orThrow: AnnotationRefusal.noSuchNote)
    }

    public func deleteQuotes(_ ids: [ID<Quote>], at now: Date) async throws -> ID<Change> {
        try await delete(ids, at: now, as: "quote", orThrow: AnnotationRefusal.noSuchQuote)
    }

    public func wholeBook(_ copy: ID<Copy>) async throws -> WholeBook? {
        try await read { db in
            guard let stored = try StoredBook.one(db, copy) else { return nil }
            return WholeBook(
                book: stored.book, notes: try Note.fetch(db, of: copy), quotes: try Quote.fetch(db, of: copy),
                flags: try ImportFlag.fetch(db, on: copy), others: try OtherReader.fetch(db, of: stored.copyRow))
        }
    }

    private func add<Content: StoredAnnotation>(
        _ content: Content, to copy: ID<Copy>, at now: Date, as what: String
    ) async throws -> Annotation<Content> {
        let content = try content.checked(after: nil)
        return try await change(.edit, at: now) { db, change in
            guard let book = try StoredBook.one(db, copy) else { throw LibraryError.noSuchBook(copy) }
            try book.book.checkOutsideTrash()
            try content.checkUnlocked(db)
            try content.insert(db, to: book.copyRow)
            guard var stored = try Content.one(db, content.id) else { throw LibraryError.noSuchBook(copy) }
            stored.change = change
            return (stored, "added \(what) to \(quoted(book.book.displayTitle))")
        }
    }

    private func edit<Content: StoredAnnotation>(
        _ id: ID<Content>, at now: Date, as what: String, orThrow refusal: AnnotationRefusal,
        _ change: @escaping @Sendable (inout Content) throws -> Void
    ) async throws -> Annotation<Content> {
        let (annotation, logged) = try await changed(.edit, at: now) { db, _ in
            guard var annotation = try Content.one(db, id) else { throw refusal }
            try annotation.book.checkOutsideTrash()
            try annotation.content.checkOwn()
            let old = annotation.content
            try change(&annotation.content)
            try annotation.content.checkUnlocked(db)
            if annotation.content != old { try annotation.content.checked(after: old).update(db) }
            guard let stored = try Content.one(db, id) else { throw refusal }
            return (stored, "edited \(what) on \(quoted(stored.book.displayTitle))")
        }
        return Annotation(annotation.content, on: annotation.book, change: logged)
    }

    private func delete<Content: StoredAnnotation>(
        _ ids: [ID<Content>], at now: Date, as what: String,
        orThrow refusal: @escaping @Sendable (String) -> AnnotationRefusal
    ) async throws -> ID<Change> {
        try await change(.edit, at: now) { db, change in
            var titles: [String] = []
            for id in ids {
                guard let annotation = try Content.one(db, id) else { throw refusal(id.rawValue) }
                try annotation.book.checkOutsideTrash()
                try annotation.content.checkOwn()
                try db.run("DELETE FROM \(Content.table) WHERE uuid = ?", [id.rawValue])
                if !titles.contains(annotation.book.displayTitle) { titles.append(annotation.book.displayTitle) }
            }
            let count = ids.count == 1 ? "a \(what)" : "\(ids.count) \(what)s"
            return (change, "deleted \(count) on \(quoted(titles))")
        }
    }
}

/// A note or a quote as a database row. Each kind has a table of its own, and each row has an id, the copy that it
/// belongs to, and a time.
protocol StoredAnnotation: Sendable, Equatable {
    static var table: String { get }
    /// The order of one book's annotations, as terms of ORDER BY.
    static var order: String { get }
    var id: ID<Self> { get }
    var created: Date { get }
    var reader: ReaderName? { get }
    var isPrivate: Bool { get }
    init(row: Row) throws
    /// Checks the annotation, and returns it with its text cleaned.
    ///
    /// - Parameter old: the annotation before an edit; `nil` for a new one. An unchanged text is not checked, because
    ///   an import may have stored one that is longer than the limit.
    /// - Throws: ``TextRefusal`` or ``InputRefusal``.
    func checked(after old: Self?) throws -> Self
    /// The columns that only this kind of annotation has, with their values.
    var columns: [(name: String, value: (any DatabaseValueConvertible)?)] { get }
}

extension Note: StoredAnnotation {
    static let table = "note"
    static let order = "created, id"

    init(row: Row) throws {
        self.init(
            id: ID(rawValue: row["uuid"]), kind: try row.word("kind"), text: row["text"],
            created: Date(milliseconds: row["created"]), reader: ReaderName(row: row),
            isPrivate: row["isPrivate"])
    }

    func checked(after old: Note?) throws -> Note {
        var note = self
        if text != old?.text { note.text = try text.checked(as: "note", limit: TextLimit.note) }
        return note
    }

    var columns: [(name: String, value: (any DatabaseValueConvertible)?)] {
        [("kind", kind.rawValue), ("text", text), ("isPrivate", isPrivate)]
    }
}

extension Quote: StoredAnnotation {
    static let table = "quote"
    static let order = "page IS NULL, page, created, id"

    init(row: Row) throws {
        self.init(
            id: ID(rawValue: row["uuid"]), text: row["text"], page: row["page"],
            created: Date(milliseconds: row["created"]), reader: ReaderName(row: row),
            isPrivate: row["isPrivate"])
    }

    func checked(after old: Quote?) throws -> Quote {
        var quote = self
        if text != old?.text { quote.text = try text.checked(as: "quote", limit: TextLimit.note) }
        try NumberLimit.check(page, as: "page", in: NumberLimit.pages)
        return quote
    }

    var columns: [(name: String, value: (any DatabaseValueConvertible)?)] {
        [("text", text), ("page", page), ("isPrivate", isPrivate)]
    }
}

extension ReaderName {
    fileprivate init?(row: Row) {
        guard let id = row["otherReader"] as String? else { return nil }
        self.init(id: ID(rawValue: id), name: row["otherName"] ?? "")
    }
}

extension StoredAnnotation {
    /// The condition that the reader of the access may see an annotation: it belongs to no reader in the trash, and if
    /// it is private, it is the reader's own and the reader is not locked.
    static var isVisible: String {
        """
        (\(table).isPrivate = 0 OR \(table).reader = reader() AND seesPrivate())
            AND \(table).reader IN (SELECT id FROM reader WHERE deleted IS NULL)
        """
    }

    /// All columns, and those of ``ReaderName``, which are NULL for the reader's own annotations.
    private static var selection: String {
        """
        SELECT \(table).*, other.uuid AS otherReader, other.displayName AS otherName
        FROM \(table) LEFT JOIN reader other ON other.id = \(table).reader AND other.id <> reader()
        """
    }

    static func fetch(_ db: Database, of copy: ID<Copy>) throws -> [Self] {
        try db.rows(
            """
            \(selection) WHERE copy = (SELECT id FROM copy WHERE uuid = ?) AND \(isVisible) ORDER BY \(order)
            """, [copy.rawValue]
        ).map(Self.init(row:))
    }

    /// - Throws: ``ReaderRefusal/locked`` if the annotation is private and its reader must give the PIN first.
    fileprivate func checkUnlocked(_ db: Database) throws {
        guard isPrivate, try db.value(Bool.self, "SELECT seesPrivate()") == false else { return }
        throw ReaderRefusal.locked
    }

    /// - Throws: ``AnnotationRefusal/ofOtherReader(_:)`` if the annotation is another reader's.
    fileprivate func checkOwn() throws(AnnotationRefusal) {
        if let reader { throw .ofOtherReader(reader.name) }
    }

    /// - Parameter clauses: the condition after WHERE, and any clauses that follow it. They may use the annotation's
    ///   table and the table copy.
    static func fetch(
        _ db: Database, where clauses: String, _ arguments: StatementArguments
    ) throws -> [Annotation<Self>] {
        let rows = try db.rows(
            "\(selection) JOIN copy ON copy.id = \(table).copy WHERE \(isVisible) AND \(clauses)", arguments)
        let books = try StoredBook.fetch(
            db, "WHERE copy.id IN (SELECT value FROM json_each(?))", [jsonList(Set(rows.map { $0["copy"] as Int64 }))])
        let byCopy = Dictionary(uniqueKeysWithValues: books.map { ($0.copyRow, $0.book) })
        return try rows.compactMap { row in
            try byCopy[row["copy"]].map { Annotation(try Self(row: row), on: $0) }
        }
    }

    static func latest(_ db: Database, limit: Int) throws -> [Annotation<Self>] {
        try fetch(
            db, where: "copy.deleted IS NULL ORDER BY \(table).created DESC, \(table).id DESC LIMIT ?", [max(0, limit)])
    }

    static func named(_ db: Database, _ name: String) throws -> [Annotation<Self>] {
        let name = name.lowercased()
        guard (4...64).contains(name.utf8.count) else { return [] }
        return try fetch(
            db, where: "copy.deleted IS NULL AND substr(\(table).uuid, -length(?1)) = ?1 ORDER BY \(table).id", [name])
    }

    static func one(_ db: Database, _ id: ID<Self>) throws -> Annotation<Self>? {
        try fetch(db, where: "\(table).uuid = ?", [id.rawValue]).first
    }

    func insert(_ db: Database, to copy: Int64) throws {
        let columns = columns
        try db.run(
            "INSERT INTO \(Self.table) (reader, uuid, copy, created, \(columns.map(\.name).joined(separator: ", ")))"
                + " VALUES (reader(), ?, ?, ?" + String(repeating: ", ?", count: columns.count) + ")",
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

    /// Fetches the import flags of a copy, oldest first.
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
