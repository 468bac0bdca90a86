import Bookplate
import GRDB

/// Books as figures name them, with one query for the rows and one for the authors.
enum FigureBooks {
    /// - Parameter copies: row numbers; `nil` for every copy that has a reading.
    /// - Returns: by the copy's row number.
    static func fetch(_ db: Database, _ copies: [Int64]?) throws -> [Int64: FigureBook] {
        let wanted =
            copies == nil
            ? "IN (SELECT reading.copy FROM reading)" : "IN (SELECT value FROM json_each(?))"
        let arguments: StatementArguments = copies.map { [list($0)] } ?? []
        var authors: [Int64: [String]] = [:]
        for row in try db.rows(
            """
            SELECT editionAuthor.edition, author.name FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE editionAuthor.role = 'author'
                AND editionAuthor.edition IN (SELECT copy.edition FROM copy WHERE copy.id \(wanted))
            ORDER BY editionAuthor.edition, position
            """, arguments)
        { authors[row["edition"], default: []].append(row["name"]) }
        var books: [Int64: FigureBook] = [:]
        for row in try db.rows(
            """
            SELECT copy.id AS copyRow, copy.uuid AS copyID, edition.id AS editionRow, edition.uuid AS editionID,
                edition.isbn, edition.title
            FROM copy JOIN edition ON edition.id = copy.edition WHERE copy.id \(wanted)
            """, arguments)
        {
            books[row["copyRow"]] = FigureBook(
                id: ID(rawValue: row["copyID"]), title: row["title"], authors: authors[row["editionRow"]] ?? [],
                isbn: try StoredBooks.isbn(row), edition: ID(rawValue: row["editionID"]))
        }
        return books
    }
}
