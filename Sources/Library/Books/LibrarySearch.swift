import Bookplate
import GRDB

extension LibraryFile: Search {
    public func books(matching query: BookQuery) async throws -> BookPage {
        try await read { db in
            let (condition, arguments) = condition(of: query)
            let total = try db.value(
                Int.self,
                """
                SELECT count(*) FROM copy JOIN edition ON edition.id = copy.edition
                LEFT JOIN shelf ON shelf.id = copy.shelf WHERE \(condition)
                """, arguments)
            let books = try StoredBooks.fetch(
                db, "WHERE \(condition) ORDER BY \(order(query.sort)) LIMIT ? OFFSET ?",
                arguments + [max(0, query.limit), max(0, query.offset)])
            return BookPage(books: books.map(\.book), total: total ?? 0)
        }
    }
}

/// Every text of the query is an argument, never part of the statement.
private func condition(of query: BookQuery) -> (sql: String, arguments: StatementArguments) {
    var conditions = ["copy.deleted IS \(query.inTrash ? "NOT NULL" : "NULL")"]
    var arguments: StatementArguments = []
    func require(_ sql: String, _ values: StatementArguments = []) {
        conditions.append(sql)
        arguments += values
    }
    if !query.statuses.isEmpty {
        require("copy.status IN (SELECT value FROM json_each(?))", [list(query.statuses.map(\.rawValue))])
    }
    if !query.tags.isEmpty {
        require(
            """
            EXISTS (SELECT 1 FROM copyTag JOIN tag ON tag.id = copyTag.tag
                WHERE copyTag.copy = copy.id AND tag.name IN (SELECT value FROM json_each(?)))
            """, [list(query.tags.map(\.cleaned.caseFolded))])
    }
    if !query.shelves.isEmpty {
        require("shelf.name IN (SELECT value FROM json_each(?))", [list(query.shelves.map(\.cleaned.caseFolded))])
    }
    if let isOwned = query.isOwned { require("copy.isOwned = ?", [isOwned]) }
    if let isOnWishlist = query.isOnWishlist { require("copy.isOnWishlist = ?", [isOnWishlist]) }
    if let isFavourite = query.isFavourite { require("copy.isFavourite = ?", [isFavourite]) }

    let text = query.text.storable(wordsLimit * 32) ?? ""
    if let isbn = try? ISBN(text) {
        require("(edition.isbn = ? OR \(isbnText) = ?)", [isbn.digits, isbn.digits])
    } else {
        for word in text.searchFolded.split(whereSeparator: \.isWhitespace).prefix(wordsLimit) {
            require(wordCondition, [String(word), String(word), String(word), numberPart(of: word)])
        }
    }
    return (conditions.joined(separator: " AND "), arguments)
}

/// More words than this narrow nothing down.
private let wordsLimit = 16

private let isbnText = "replace(replace(edition.isbnText, '-', ''), ' ', '')"

/// One word of the query, somewhere in title, subtitle, authors, tags or number. `instr` takes the word as it is: no
/// character in it means anything.
private let wordCondition = """
    (instr(edition.folded, ?) > 0
        OR EXISTS (SELECT 1 FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE editionAuthor.edition = edition.id AND instr(author.folded, ?) > 0)
        OR EXISTS (SELECT 1 FROM copyTag JOIN tag ON tag.id = copyTag.tag
            WHERE copyTag.copy = copy.id AND instr(tag.folded, ?) > 0)
        OR instr(coalesce(edition.isbn, '') || ' ' || lower(coalesce(\(isbnText), '')), ?) > 0)
    """

/// The digits of a word that can be part of an ISBN (`978-0-14`, `01404`); three or fewer are no part worth looking for.
///
/// - Returns: `nil`, which matches nothing, for any other word.
private func numberPart(of word: Substring) -> String? {
    guard word.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == "-" || $0 == "x") }) else { return nil }
    let digits = word.filter { $0 != "-" }
    return digits.count > 3 ? digits : nil
}

/// Empty values last; the copy's number settles the rest, so that pages do not overlap.
private func order(_ sort: BookQuery.Sort) -> String {
    switch sort {
    case .added: "copy.added DESC, copy.id DESC"
    case .title: "edition.title IS NULL, edition.folded, copy.id"
    case .author:
        """
        (SELECT author.folded FROM editionAuthor JOIN author ON author.id = editionAuthor.author
            WHERE editionAuthor.edition = edition.id AND editionAuthor.role = 'author'
            ORDER BY editionAuthor.position LIMIT 1) NULLS LAST, edition.folded, copy.id
        """
    case .rating: "copy.rating DESC NULLS LAST, copy.added DESC, copy.id DESC"
    }
}
