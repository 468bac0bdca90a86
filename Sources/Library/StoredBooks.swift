import Bookplate
import FoundationEssentials
import GRDB

/// Books read with one query for the rows and one for each relation, however many they are.
struct StoredBooks {
    /// A book with its rows' numbers.
    struct Entry {
        var copyRow: Int64
        var editionRow: Int64
        var book: Book
    }

    private static let selection = """
        SELECT copy.id AS copyRow, copy.uuid AS copyID, copy.status, copy.isOwned, copy.isOnWishlist, copy.isFavourite,
            copy.rating, copy.added, copy.deleted, copy.isPublic, copy.recommendedBy, copy.wouldRecommend,
            copy.dailyGoal, copy.countsForCulturalGoal, copy.culturalGoalCategory, shelf.displayName AS shelfName,
            edition.uuid AS editionID, edition.id AS editionRow, edition.isbn, edition.isbnText, edition.title,
            edition.subtitle, edition.publisher, edition.publishedDate, edition.publishedDateText, edition.pageCount,
            edition.language, edition.originalLanguage, edition.authorNationality, edition.format, edition.series,
            edition.seriesNumber, edition.description, edition.coverURL, edition.previewLink, edition.infoLink,
            edition.fieldSources, edition.editedFields
        FROM copy JOIN edition ON edition.id = copy.edition LEFT JOIN shelf ON shelf.id = copy.shelf

        """

    /// - Parameter clauses: WHERE, ORDER BY and LIMIT, over the tables copy, edition and shelf.
    static func fetch(_ db: Database, _ clauses: String, _ arguments: StatementArguments = []) throws -> [Entry] {
        var entries: [Entry] = []
        var fields = FieldTexts()
        // Row by row: of a row that SQLite is at, GRDB finds a column by name at once; of one copied out, by comparing names.
        let rows = try Row.fetchCursor(db.cachedStatement(sql: selection + clauses), arguments: arguments)
        while let row = try rows.next() {
            let edition = Edition(
                id: ID(rawValue: row["editionID"]), isbn: try isbn(row), isbnText: row["isbnText"],
                metadata: try metadata(row, &fields), editedFields: try fields.edited(row["editedFields"]))
            entries.append(
                Entry(
                    copyRow: row["copyRow"], editionRow: row["editionRow"],
                    book: Book(edition: edition, copy: try copy(row))))
        }
        guard !entries.isEmpty else { return [] }
        let editions = list(Set(entries.map(\.editionRow)))
        let copies = list(Set(entries.map(\.copyRow)))

        var authors: [Int64: [Contributor]] = [:]
        try db.eachRow(
            """
            SELECT edition, name, role FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, position
            """, [editions]
        ) { authors[$0["edition"], default: []].append(Contributor(name: $0["name"], role: try $0.word("role"))) }
        var subjects: [Int64: [String]] = [:]
        try db.eachRow(
            """
            SELECT edition, name FROM editionSubject JOIN subject ON subject.id = editionSubject.subject
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, position
            """, [editions]
        ) { subjects[$0["edition"], default: []].append($0["name"]) }
        var identifiers: [Int64: [String: [String]]] = [:]
        try db.eachRow(
            """
            SELECT edition, scheme, value FROM identifier
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, scheme, position
            """, [editions]
        ) { identifiers[$0["edition"], default: [:]][$0["scheme"], default: []].append($0["value"]) }
        var tags: [Int64: [String]] = [:]
        try db.eachRow(
            """
            SELECT copy, displayName FROM copyTag JOIN tag ON tag.id = copyTag.tag
            WHERE copy IN (SELECT value FROM json_each(?)) ORDER BY copy, tag.name
            """, [copies]
        ) { tags[$0["copy"], default: []].append($0["displayName"]) }
        let readings = try StoredReadings.fetch(db, of: copies)

        for index in entries.indices {
            let (copyRow, editionRow) = (entries[index].copyRow, entries[index].editionRow)
            entries[index].book.edition.metadata.authors = authors[editionRow] ?? []
            entries[index].book.edition.metadata.subjects = subjects[editionRow] ?? []
            entries[index].book.edition.metadata.identifiers = identifiers[editionRow] ?? [:]
            entries[index].book.copy.tags = tags[copyRow] ?? []
            entries[index].book.copy.readings = readings[copyRow] ?? []
        }
        return entries
    }

    /// - Returns: `nil` when there is no such copy.
    static func one(_ db: Database, _ id: ID<Copy>) throws -> Entry? {
        try fetch(db, "WHERE copy.uuid = ?", [id.rawValue]).first
    }

    private static func metadata(_ row: Row, _ fields: inout FieldTexts) throws -> Metadata {
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
        copy.status = try row.word("status")
        copy.isOwned = row["isOwned"]
        copy.isOnWishlist = row["isOnWishlist"]
        copy.isFavourite = row["isFavourite"]
        copy.shelf = row["shelfName"]
        copy.rating = (row["rating"] as Int?).map { Double($0) / 4 }
        copy.isPublic = row["isPublic"]
        copy.recommendedBy = row["recommendedBy"]
        copy.wouldRecommend = row["wouldRecommend"]
        copy.dailyGoal = row["dailyGoal"]
        copy.countsForCulturalGoal = row["countsForCulturalGoal"]
        copy.culturalGoalCategory = row["culturalGoalCategory"]
        copy.deleted = (row["deleted"] as Int64?).map(Date.init(milliseconds:))
        return copy
    }

    static func isbn(_ row: Row) throws -> ISBN? {
        guard let digits = row["isbn"] as String? else { return nil }
        do {
            return try ISBN(ean13: digits)
        } catch {
            throw RowDecodingError(what: "a stored ISBN is wrong: \(error)")
        }
    }
}

/// The JSON columns of a list's rows. Most rows say the same, and decoding costs more than the rest of a row.
private struct FieldTexts {
    private var sources: [String: [Metadata.Field: SourceName]] = [:]
    private var edited: [String: Set<Metadata.Field>] = [:]

    mutating func sources(_ text: String) throws -> [Metadata.Field: SourceName] {
        if text == "{}" { return [:] }
        if let known = sources[text] { return known }
        let value = try decoded([Metadata.Field: SourceName].self, text)
        sources[text] = value
        return value
    }

    mutating func edited(_ text: String) throws -> Set<Metadata.Field> {
        if text == "[]" { return [] }
        if let known = edited[text] { return known }
        let value = try decoded(Set<Metadata.Field>.self, text)
        edited[text] = value
        return value
    }
}

/// Values as one JSON argument, so that a list of any length is the same statement.
func list(_ numbers: some Collection<Int64>) -> String { "[" + numbers.map(String.init).joined(separator: ",") + "]" }

/// Texts as one JSON argument.
func list(_ texts: some Collection<String>) -> String { JSONValue(Array(texts)).text }

/// What is known of a copy as a row. Its status, tags and readings are stored apart: they follow rules of their own.
enum StoredCopy {
    private static let columns = [
        "isOwned", "isOnWishlist", "isFavourite", "shelf", "rating", "added", "isPublic", "recommendedBy",
        "wouldRecommend",
        "dailyGoal", "countsForCulturalGoal", "culturalGoalCategory",
    ]
    private static let insertion =
        "INSERT INTO copy (uuid, edition, status, deleted, \(columns.joined(separator: ", "))) VALUES (?, ?, ?, ?"
        + String(repeating: ", ?", count: columns.count) + ")"
    private static let update =
        "UPDATE copy SET " + columns.map { "\($0) = ?" }.joined(separator: ", ") + " WHERE id = ?"

    /// Stores a new copy, its tags too.
    ///
    /// - Returns: its row number.
    static func insert(_ copy: Copy, of edition: Int64, _ db: Database) throws -> Int64 {
        let head: StatementArguments = [
            copy.id.rawValue, edition, copy.status.rawValue, copy.deleted?.milliseconds,
        ]
        try db.run(insertion, head + values(of: copy, db))
        let row = db.lastInsertedRowID
        try addTags(db, copy.tags, to: row)
        return row
    }

    /// Stores what a person says of a copy.
    ///
    /// - Throws: ``InputRefusal``.
    static func store(_ copy: Copy, at row: Int64, _ db: Database) throws {
        try copy.checkEntries()
        try db.run(update, values(of: copy, db) + [row])
    }

    private static func values(of copy: Copy, _ db: Database) throws -> StatementArguments {
        let values: [(any DatabaseValueConvertible)?] = [
            copy.isOwned, copy.isOnWishlist, copy.isFavourite, try copy.shelf.flatMap { try shelfRow(db, $0) },
            copy.rating.map { Int($0 * 4) }, copy.added.milliseconds, copy.isPublic,
            copy.recommendedBy?.storable(TextLimit.name), copy.wouldRecommend, copy.dailyGoal,
            copy.countsForCulturalGoal, copy.culturalGoalCategory?.storable(TextLimit.name),
        ]
        return StatementArguments(values)
    }
}

/// An edition and its rows in the tables around it.
struct StoredEdition {
    let row: Int64
    var edition: Edition

    private static let columns = [
        "isbn", "isbnText", "title", "subtitle", "publisher", "publishedDate", "publishedDateText", "pageCount",
        "language", "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description",
        "coverURL", "previewLink", "infoLink", "fieldSources", "editedFields", "folded",
    ]
    private static let insertion =
        "INSERT INTO edition (uuid, \(columns.joined(separator: ", "))) VALUES (?"
        + String(repeating: ", ?", count: columns.count) + ")"
    private static let update =
        "UPDATE edition SET " + columns.map { "\($0) = ?" }.joined(separator: ", ") + " WHERE id = ?"

    /// Stores a new edition.
    static func insert(_ edition: Edition, _ db: Database) throws -> StoredEdition {
        try db.run(insertion, StatementArguments([edition.id.rawValue]) + values(of: edition))
        let stored = StoredEdition(row: db.lastInsertedRowID, edition: edition)
        try stored.insertAuthors(db)
        try stored.insertSubjects(db)
        try stored.insertIdentifiers(db)
        return stored
    }

    /// Brings the stored edition to `new`, touching only the tables in which something differs.
    func store(_ new: Edition, _ db: Database) throws {
        let changed = StoredEdition(row: row, edition: new)
        if new != edition { try db.run(Self.update, try Self.values(of: new) + [row]) }
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
            // The picture of the old address; a person's own photo stays.
            try db.run("DELETE FROM cover WHERE edition = ? AND state <> 'person'", [row])
        }
    }

    private static func values(of edition: Edition) throws -> StatementArguments {
        let data = edition.metadata
        let title = [data.title, data.subtitle].compactMap(\.self).joined(separator: " ")
        let values: [(any DatabaseValueConvertible)?] = [
            edition.isbn?.digits, edition.isbnText, data.title, data.subtitle, data.publisher,
            data.publishedDate?.description, data.publishedDateText, data.pageCount, data.language,
            data.originalLanguage, data.authorNationality, data.format?.rawValue, data.series, data.seriesNumber,
            data.description, data.coverURL, data.previewLink, data.infoLink, try storedJSON(data.sources),
            try storedJSON(edition.editedFields.sorted { $0.rawValue < $1.rawValue }), title.searchFolded,
        ]
        return StatementArguments(values)
    }

    private func insertAuthors(_ db: Database) throws {
        for (position, author) in edition.metadata.authors.enumerated() {
            let id = try storedID(
                db, find: "SELECT id FROM author WHERE name = ?", [author.name],
                make: "INSERT INTO author (name, folded) VALUES (?, ?)", [author.name, author.name.searchFolded])
            try db.run(
                "INSERT INTO editionAuthor (edition, position, author, role) VALUES (?, ?, ?, ?)",
                [row, position, id, author.role.rawValue])
        }
    }

    private func insertSubjects(_ db: Database) throws {
        for (position, subject) in edition.metadata.subjects.enumerated() {
            let id = try storedID(
                db, find: "SELECT id FROM subject WHERE name = ?", [subject],
                make: "INSERT INTO subject (name) VALUES (?)", [subject])
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

/// The id of a row that is found, else made.
func storedID(
    _ db: Database, find: String, _ key: StatementArguments, make: String, _ values: StatementArguments
) throws -> Int64 {
    if let id = try db.value(Int64.self, find, key) { return id }
    try db.run(make, values)
    return db.lastInsertedRowID
}

/// A value as JSON whose keys are sorted, so that the same value is the same text.
func storedJSON(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

/// The value of a JSON column.
func decoded<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(json.utf8))
}

extension Metadata {
    /// The metadata as it is stored: texts cleaned and cut at their limits, what is empty left out.
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

extension String {
    /// The text cleaned (on one line unless its limit is a text's with lines) and cut after `limit` characters; `nil` when
    /// nothing is left.
    func storable(_ limit: Int) -> String? {
        let cleaned = start(bytes: limit * TextLimit.bytesPerCharacter).cleaned(forLimit: limit)
        let cut = cleaned.utf8.count <= limit ? cleaned : String(cleaned.prefix(limit)).cleaned(forLimit: limit)
        return cut.isEmpty ? nil : cut
    }

    /// As much of the text as fits into so many bytes of UTF-8, cut between characters as Unicode's scalars have it.
    private func start(bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var end = utf8.index(startIndex, offsetBy: bytes)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
