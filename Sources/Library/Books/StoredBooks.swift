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
            throw RowDecodingFault(what: "a stored ISBN is wrong: \(error)")
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
