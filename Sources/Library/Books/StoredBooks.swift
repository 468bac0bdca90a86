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
            copy.rating, copy.added, copy.deleted, shelf.displayName AS shelfName,
            edition.uuid AS editionID, edition.id AS editionRow, edition.isbn, edition.isbnText, edition.title,
            edition.subtitle, edition.publisher, edition.publishedDate, edition.publishedDateText, edition.pageCount,
            edition.language, edition.originalLanguage, edition.authorNationality, edition.format, edition.series,
            edition.seriesNumber, edition.description, edition.coverURL, edition.previewLink, edition.infoLink,
            edition.fieldSources, edition.editedFields
        FROM copy JOIN edition ON edition.id = copy.edition LEFT JOIN shelf ON shelf.id = copy.shelf

        """

    /// - Parameter clauses: WHERE, ORDER BY and LIMIT, over the tables copy, edition and shelf.
    static func fetch(_ db: Database, _ clauses: String, _ arguments: StatementArguments = []) throws -> [Entry] {
        let rows = try db.rows(selection + clauses, arguments)
        guard !rows.isEmpty else { return [] }
        let editions = list(Set(rows.map { $0["editionRow"] as Int64 }))
        let copies = list(Set(rows.map { $0["copyRow"] as Int64 }))

        var authors: [Int64: [Contributor]] = [:]
        for row in try db.rows(
            """
            SELECT edition, name, role FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, position
            """, [editions])
        {
            authors[row["edition"], default: []].append(Contributor(name: row["name"], role: try row.word("role")))
        }
        var subjects: [Int64: [String]] = [:]
        for row in try db.rows(
            """
            SELECT edition, name FROM editionSubject JOIN subject ON subject.id = editionSubject.subject
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, position
            """, [editions])
        { subjects[row["edition"], default: []].append(row["name"]) }
        var identifiers: [Int64: [String: [String]]] = [:]
        for row in try db.rows(
            """
            SELECT edition, scheme, value FROM identifier
            WHERE edition IN (SELECT value FROM json_each(?)) ORDER BY edition, scheme, position
            """, [editions])
        { identifiers[row["edition"], default: [:]][row["scheme"], default: []].append(row["value"]) }
        var tags: [Int64: [String]] = [:]
        for row in try db.rows(
            """
            SELECT copy, displayName FROM copyTag JOIN tag ON tag.id = copyTag.tag
            WHERE copy IN (SELECT value FROM json_each(?)) ORDER BY copy, tag.name
            """, [copies])
        { tags[row["copy"], default: []].append(row["displayName"]) }

        return try rows.map { row in
            let (copyRow, editionRow): (Int64, Int64) = (row["copyRow"], row["editionRow"])
            var metadata = try metadata(row)
            metadata.authors = authors[editionRow] ?? []
            metadata.subjects = subjects[editionRow] ?? []
            metadata.identifiers = identifiers[editionRow] ?? [:]
            let edition = Edition(
                id: ID(rawValue: row["editionID"]), isbn: try isbn(row), isbnText: row["isbnText"],
                metadata: metadata, editedFields: try decoded(Set<Metadata.Field>.self, row["editedFields"]))
            var copy = try copy(row)
            copy.tags = tags[copyRow] ?? []
            return Entry(copyRow: copyRow, editionRow: editionRow, book: Book(edition: edition, copy: copy))
        }
    }

    /// - Returns: `nil` when there is no such copy.
    static func one(_ db: Database, _ id: ID<Copy>) throws -> Entry? {
        try fetch(db, "WHERE copy.uuid = ?", [id.rawValue]).first
    }

    private static func metadata(_ row: Row) throws -> Metadata {
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
        metadata.sources = try decoded([Metadata.Field: SourceName].self, row["fieldSources"])
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

/// Values as one JSON argument, so that a list of any length is the same statement.
func list(_ numbers: some Collection<Int64>) -> String { "[" + numbers.map(String.init).joined(separator: ",") + "]" }

/// Texts as one JSON argument.
func list(_ texts: some Collection<String>) -> String { JSONValue(Array(texts)).text }
