import Bookplate
import FoundationEssentials
import GRDB

/// A book with the ids of its database rows.
struct StoredBook {
    var copyRow: Int64
    var editionRow: Int64
    var book: Book

    private static let selection = """
        SELECT copy.id AS copyRow, copy.uuid AS copyID, copy.isOwned, copy.added, copy.deleted, copy.isPublic,
            \(OwnCopy.values), shelf.displayName AS shelfName,
            edition.uuid AS editionID, edition.id AS editionRow, edition.isbn, edition.isbnText, edition.title,
            edition.subtitle, edition.publisher, edition.publishedDate, edition.publishedDateText, edition.pageCount,
            edition.language, edition.originalLanguage, edition.authorNationality, edition.format, edition.series,
            edition.seriesNumber, edition.description, edition.coverURL, edition.previewLink, edition.infoLink,
            edition.fieldSources, edition.editedFields
        FROM copy JOIN edition ON edition.id = copy.edition LEFT JOIN shelf ON shelf.id = copy.shelf
            \(OwnCopy.join)

        """

    /// Fetches books. This takes one query for the rows and one for each relation, regardless of the number of books.
    ///
    /// - Parameter clauses: the clauses WHERE, ORDER BY and LIMIT, which may use the tables copy, edition and shelf.
    static func fetch(_ db: Database, _ clauses: String, _ arguments: StatementArguments = []) throws -> [StoredBook] {
        var books: [StoredBook] = []
        var fields = FieldCache()
        // A cursor is used because GRDB finds a column of the current row by its name directly, but has to compare
        // names in a copied row.
        let rows = try Row.fetchCursor(db.cachedStatement(sql: selection + clauses), arguments: arguments)
        while let row = try rows.next() {
            let edition = Edition(
                id: ID(rawValue: row["editionID"]), isbn: try row.isbn(), isbnText: row["isbnText"],
                metadata: try metadata(row, &fields), editedFields: try fields.edited(row["editedFields"]))
            books.append(
                StoredBook(
                    copyRow: row["copyRow"], editionRow: row["editionRow"],
                    book: Book(edition: edition, copy: try copy(row))))
        }
        guard !books.isEmpty else { return [] }
        let editions = jsonList(Set(books.map(\.editionRow)))
        let copies = jsonList(Set(books.map(\.copyRow)))

        var authors: [Int64: [Contributor]] = [:]
        try db.forEachRow(
            """
            SELECT edition, name, role FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, position
            """, [editions]
        ) { authors[$0["edition"], default: []].append(Contributor(name: $0["name"], role: try $0.word("role"))) }
        var subjects: [Int64: [String]] = [:]
        try db.forEachRow(
            """
            SELECT edition, name FROM editionSubject JOIN subject ON subject.id = editionSubject.subject
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, position
            """, [editions]
        ) { subjects[$0["edition"], default: []].append($0["name"]) }
        var identifiers: [Int64: [String: [String]]] = [:]
        try db.forEachRow(
            """
            SELECT edition, scheme, value FROM identifier
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, scheme, position
            """, [editions]
        ) { identifiers[$0["edition"], default: [:]][$0["scheme"], default: []].append($0["value"]) }
        var tags: [Int64: [String]] = [:]
        try db.forEachRow(
            """
            SELECT copy, displayName FROM copyTag JOIN tag ON tag.id = copyTag.tag
            WHERE copy IN (SELECT value FROM json_each(?)) ORDER BY copy, tag.name
            """, [copies]
        ) { tags[$0["copy"], default: []].append($0["displayName"]) }
        let readings = try StoredReadings.fetch(db, of: copies)

        for index in books.indices {
            let (copyRow, editionRow) = (books[index].copyRow, books[index].editionRow)
            books[index].book.edition.metadata.authors = authors[editionRow] ?? []
            books[index].book.edition.metadata.subjects = subjects[editionRow] ?? []
            books[index].book.edition.metadata.identifiers = identifiers[editionRow] ?? [:]
            books[index].book.copy.tags = tags[copyRow] ?? []
            books[index].book.copy.readings = readings[copyRow] ?? []
        }
        return books
    }

    /// - Returns: the book of a copy; `nil` if there is no such copy.
    static func one(_ db: Database, _ id: ID<Copy>) throws -> StoredBook? {
        try fetch(db, "WHERE copy.uuid = ?", [id.rawValue]).first
    }

    private static func metadata(_ row: Row, _ fields: inout FieldCache) throws -> Metadata {
        var metadata = Metadata()
        metadata.title = row["title"]
        metadata.subtitle = row["subtitle"]
        metadata.publisher = row["publisher"]
        metadata.publishedDate = (row["publishedDate"] as String?).flatMap { CalendarDay($0) }
        metadata.publishedDateText = row["publishedDateText"]
        metadata.pageCount = row["pageCount"]
        metadata.language = row["language"]
        metadata.originalLanguage = row["originalLanguage"]
        metadata.authorNationality = row["authorNationality"]
        metadata.format = try row.optionalWord("format")
        metadata.series = row["series"]
        metadata.seriesNumber = row["seriesNumber"]
        metadata.description = row["description"]
        metadata.coverURL = row["coverURL"]
        metadata.previewLink = row["previewLink"]
        metadata.infoLink = row["infoLink"]
        metadata.sources = try fields.sources(row["fieldSources"])
        return metadata
    }

    private static func copy(_ row: Row) throws -> Copy {
        var copy = Copy(id: ID(rawValue: row["copyID"]), added: Date(milliseconds: row["added"]))
        copy.isOwned = row["isOwned"]
        copy.shelf = row["shelfName"]
        copy.isPublic = row["isPublic"]
        copy.deleted = (row["deleted"] as Int64?).map(Date.init(milliseconds:))
        try copy.setOwn(row)
        return copy
    }
}

extension Copy {
    /// Sets the reader's own status and opinions from the columns ``OwnCopy/values``.
    mutating func setOwn(_ row: Row) throws {
        status = try row.word("status")
        isOnWishlist = row["isOnWishlist"]
        isFavourite = row["isFavourite"]
        rating = (row["rating"] as Int?).map { Double($0) / 4 }
        recommendedBy = row["recommendedBy"]
        wouldRecommend = row["wouldRecommend"]
        dailyGoal = row["dailyGoal"]
        countsForCulturalGoal = row["countsForCulturalGoal"]
        culturalGoalCategory = row["culturalGoalCategory"]
    }
}

/// Decodes the JSON columns of many rows, and decodes each distinct text only once. Most rows have the same text, and
/// decoding it takes longer than reading the rest of the row.
private struct FieldCache {
    private var sources: [String: [Metadata.Field: SourceName]] = [:]
    private var edited: [String: Set<Metadata.Field>] = [:]

    mutating func sources(_ text: String) throws -> [Metadata.Field: SourceName] {
        if text == "{}" { return [:] }
        if let known = sources[text] { return known }
        let value = try decodeJSON([Metadata.Field: SourceName].self, text)
        sources[text] = value
        return value
    }

    mutating func edited(_ text: String) throws -> Set<Metadata.Field> {
        if text == "[]" { return [] }
        if let known = edited[text] { return known }
        let value = try decodeJSON(Set<Metadata.Field>.self, text)
        edited[text] = value
        return value
    }
}

/// Functions that write rows of the table copy. Status, tags and readings are stored by other functions, because they
/// follow rules of their own.
enum StoredCopy {
    /// Inserts a copy with its tags and with the present reader's status and opinions.
    ///
    /// - Returns: the row id of the copy.
    static func insert(_ copy: Copy, of edition: Int64, _ db: Database) throws -> Int64 {
        let row = try insertShared(copy, of: edition, db)
        try insertOwn(copy, to: row, db)
        return row
    }

    /// Stores the present reader's status and opinions of a copy.
    static func insertOwn(_ copy: Copy, to row: Int64, _ db: Database) throws {
        try OwnCopy.store(
            OwnCopy.facts(of: copy) + [("status", copy.status.rawValue)], of: row, isNew: true, db)
    }

    /// Inserts a copy with its tags, of which no reader has anything yet.
    ///
    /// - Returns: the row id of the copy.
    static func insertShared(_ copy: Copy, of edition: Int64, _ db: Database) throws -> Int64 {
        let head: StatementArguments = [copy.id.rawValue, edition, copy.deleted?.milliseconds]
        try db.run(
            "INSERT INTO copy (uuid, edition, deleted, isOwned, shelf, added, isPublic) VALUES (?, ?, ?, ?, ?, ?, ?)",
            head + values(of: copy, db))
        let row = db.lastInsertedRowID
        try addTags(db, copy.tags, to: row)
        return row
    }

    /// Stores a person's edits of a copy, except its status, tags and readings.
    ///
    /// - Throws: ``InputRefusal`` if a value is not allowed.
    static func update(_ copy: Copy, at row: Int64, _ db: Database) throws {
        try copy.checkEntries()
        try db.run(
            "UPDATE copy SET isOwned = ?, shelf = ?, added = ?, isPublic = ? WHERE id = ?",
            values(of: copy, db) + [row])
        try OwnCopy.store(OwnCopy.facts(of: copy), of: row, db)
    }

    private static func values(of copy: Copy, _ db: Database) throws -> StatementArguments {
        let values: [(any DatabaseValueConvertible)?] = [
            copy.isOwned, try copy.shelf.flatMap { try shelfRow(db, $0) }, copy.added.milliseconds, copy.isPublic,
        ]
        return StatementArguments(values)
    }
}

/// An edition with the id of its database row.
struct StoredEdition {
    let row: Int64
    var edition: Edition

    private static let columns = [
        "isbn", "isbnText", "title", "subtitle", "publisher", "publishedDate", "publishedDateText", "pageCount",
        "language", "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description",
        "coverURL", "previewLink", "infoLink", "fieldSources", "editedFields", "folded",
    ]
    private static let insertStatement =
        "INSERT INTO edition (uuid, \(columns.joined(separator: ", "))) VALUES (?"
        + String(repeating: ", ?", count: columns.count) + ")"
    private static let updateStatement =
        "UPDATE edition SET " + columns.map { "\($0) = ?" }.joined(separator: ", ") + " WHERE id = ?"

    /// Inserts an edition with its authors, subjects and identifiers.
    static func insert(_ edition: Edition, _ db: Database) throws -> StoredEdition {
        try db.run(insertStatement, StatementArguments([edition.id.rawValue]) + values(of: edition))
        let stored = StoredEdition(row: db.lastInsertedRowID, edition: edition)
        try stored.insertAuthors(db)
        try stored.insertSubjects(db)
        try stored.insertIdentifiers(db)
        return stored
    }

    /// Updates the stored edition to `new`. Only the tables in which something differs are written.
    func update(to new: Edition, _ db: Database) throws {
        let changed = StoredEdition(row: row, edition: new)
        if new != edition { try db.run(Self.updateStatement, try Self.values(of: new) + [row]) }
        if new.metadata.authors != edition.metadata.authors {
            let before = try db.rows("SELECT author FROM editionAuthor WHERE edition = ?", [row])
            try db.run("DELETE FROM editionAuthor WHERE edition = ?", [row])
            try changed.insertAuthors(db)
            for author in before { try removeUnusedAuthor(db, author[0]) }
        }
        if new.metadata.subjects != edition.metadata.subjects {
            let before = try db.rows("SELECT subject FROM editionSubject WHERE edition = ?", [row])
            try db.run("DELETE FROM editionSubject WHERE edition = ?", [row])
            try changed.insertSubjects(db)
            for subject in before { try removeUnusedSubject(db, subject[0]) }
        }
        if new.metadata.identifiers != edition.metadata.identifiers {
            try db.run("DELETE FROM identifier WHERE edition = ?", [row])
            try changed.insertIdentifiers(db)
        }
        if new.metadata.coverURL != edition.metadata.coverURL {
            // The stored picture came from the old address, and stays until there is one from the new address. A
            // person's own photo stays in any case.
            let isRemoved = new.metadata.coverURL == nil
            try db.run(
                "DELETE FROM cover WHERE edition = ? AND state <> 'person' AND (? OR state <> 'fetched')",
                [row, isRemoved])
            try db.run("UPDATE cover SET retryAt = 0 WHERE edition = ? AND state = 'fetched'", [row])
        }
    }

    private static func values(of edition: Edition) throws -> StatementArguments {
        let data = edition.metadata
        let title = [data.title, data.subtitle].compactMap(\.self).joined(separator: " ")
        let values: [(any DatabaseValueConvertible)?] = [
            edition.isbn?.digits, edition.isbnText, data.title, data.subtitle, data.publisher,
            data.publishedDate?.description, data.publishedDateText, data.pageCount, data.language,
            data.originalLanguage, data.authorNationality, data.format?.rawValue, data.series, data.seriesNumber,
            data.description, data.coverURL, data.previewLink, data.infoLink, try encodeJSON(data.sources),
            try encodeJSON(edition.editedFields.sorted { $0.rawValue < $1.rawValue }), title.searchFolded,
        ]
        return StatementArguments(values)
    }

    private func insertAuthors(_ db: Database) throws {
        for (position, author) in edition.metadata.authors.enumerated() {
            let id = try findOrInsert(
                db, find: "SELECT id FROM author WHERE name = ?", [author.name],
                insert: "INSERT INTO author (name, folded) VALUES (?, ?)", [author.name, author.name.searchFolded])
            try db.run(
                "INSERT INTO editionAuthor (edition, position, author, role) VALUES (?, ?, ?, ?)",
                [row, position, id, author.role.rawValue])
        }
    }

    private func insertSubjects(_ db: Database) throws {
        for (position, subject) in edition.metadata.subjects.enumerated() {
            let id = try findOrInsert(
                db, find: "SELECT id FROM subject WHERE name = ?", [subject],
                insert: "INSERT INTO subject (name) VALUES (?)", [subject])
            try db.run(
                "INSERT INTO editionSubject (edition, position, subject) VALUES (?, ?, ?)", [row, position, id])
        }
    }

    private func insertIdentifiers(_ db: Database) throws {
        for (scheme, values) in edition.metadata.identifiers.sorted(by: { $0.key < $1.key }) {
            for (position, value) in values.enumerated() {
                try db.run(
                    "INSERT INTO identifier (edition, scheme, position, value) VALUES (?, ?, ?, ?)",
                    [row, scheme, position, value])
            }
        }
    }
}

extension Metadata {
    /// The metadata in the form in which it is stored: its texts are cleaned and cut at their limits, and empty values
    /// are left out.
    var storable: Metadata {
        var stored = self
        stored.title = title?.storable(TextLimit.title)
        stored.subtitle = subtitle?.storable(TextLimit.title)
        stored.publisher = publisher?.storable(TextLimit.name)
        stored.publishedDateText = publishedDateText?.storable(TextLimit.name)
        stored.pageCount = pageCount.flatMap { $0 > 0 ? $0 : nil }
        stored.language = language?.storable(TextLimit.name)
        stored.originalLanguage = originalLanguage?.storable(TextLimit.name)
        stored.authorNationality = authorNationality?.storable(TextLimit.name)
        stored.series = series?.storable(TextLimit.name)
        stored.seriesNumber = seriesNumber?.storable(TextLimit.name)
        stored.description = description?.storable(TextLimit.description)
        stored.coverURL = coverURL?.storable(TextLimit.link)
        stored.previewLink = previewLink?.storable(TextLimit.link)
        stored.infoLink = infoLink?.storable(TextLimit.link)
        stored.authors = authors.compactMap { author in
            author.name.storable(TextLimit.name).map { Contributor(name: $0, role: author.role) }
        }
        stored.subjects = subjects.compactMap { $0.storable(TextLimit.name) }
        stored.identifiers = [:]
        for (scheme, values) in identifiers {
            let values = values.compactMap { $0.storable(TextLimit.name) }
            guard let scheme = scheme.storable(TextLimit.name), !values.isEmpty else { continue }
            stored.identifiers[scheme] = values
        }
        let filled = Set(stored.filledFields)
        stored.sources = sources.filter { filled.contains($0.key) }
        return stored
    }
}

/// Removes those of the given editions that have no copy left, with all their rows. Also removes their authors and
/// subjects, unless other editions have them too.
func removeOrphans(_ db: Database, editions: some Collection<Int64>) throws {
    for edition in editions {
        guard let names = try removeOrphan(db, edition: edition) else { continue }
        for author in names.authors { try removeUnusedAuthor(db, author) }
        for subject in names.subjects { try removeUnusedSubject(db, subject) }
    }
}

/// Removes an edition that has no copy, and returns the names that it had; `nil` if it has a copy or does not exist.
func removeOrphan(_ db: Database, edition: Int64) throws -> (authors: [Int64], subjects: [Int64])? {
    let isOrphan = try db.row(
        "SELECT 1 FROM edition WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM copy WHERE edition = ?1)", [edition])
    guard isOrphan != nil else { return nil }
    let authors: [Int64] = try db.rows("SELECT author FROM editionAuthor WHERE edition = ?", [edition]).map { $0[0] }
    let subjects: [Int64] = try db.rows("SELECT subject FROM editionSubject WHERE edition = ?", [edition]).map { $0[0] }
    try db.run("DELETE FROM editionAuthor WHERE edition = ?", [edition])
    try db.run("DELETE FROM editionSubject WHERE edition = ?", [edition])
    try db.run("DELETE FROM identifier WHERE edition = ?", [edition])
    try db.run("DELETE FROM edition WHERE id = ?", [edition])
    return (authors, subjects)
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
