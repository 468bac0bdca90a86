import Bookplate
import GRDB

extension LibraryFile: Search {
    public func books(matching query: BookQuery) async throws -> SearchResults {
        try await read { db in try SearchPage(db, query).page() }
    }

    public func facets(matching query: BookQuery) async throws -> BookFacets {
        try await read { db in try FacetCount(db, query).count() }
    }

    public func suggestions(for kind: NameKind, beginning: String, limit: Int) async throws -> [NameCount] {
        try await read { db in try suggestedNames(db, kind, beginning, limit) }
    }
}

extension BookQuery {
    /// Whether the text has anything that can be looked for: a letter, a digit, a sign such as an emoji.
    public var hasWords: Bool { AskedText(text) != nil }
}

/// Finds one page.
///
/// No page costs more the larger the library is, as far as that can be: lists run along an index and end when the page is
/// full; a text is looked for in word lists that run from the newest copy to the oldest and end so as well; counting ends at
/// ``BookQuery/countLimit``. What has to be looked at whole is what passes a filter that few pass, and with a sort of its own
/// all that a text finds.
///
/// Of books that fit a text equally well the newest is the one that came into the library last. For imported books that is not
/// the day they were added, but the word lists have no other order, and to make one all that was found has to be looked at.
struct SearchPage {
    private let db: Database
    private let query: BookQuery
    private let filter: ListingFilter
    private let asked: AskedText?
    private let after: PageToken?
    /// The copies to sort, where they are few.
    private let few: (sql: String, arguments: StatementArguments)?

    /// A book's place in the order.
    private typealias Place = PageToken

    init(_ db: Database, _ query: BookQuery) throws {
        self.db = db
        self.query = query
        filter = try ListingFilter(db, query)
        asked = AskedText(query)
        after = try query.after.map { try PageToken($0, in: query) }
        few = asked == nil ? try filter.fewCopies(db) : nil
    }

    func page() throws -> SearchResults {
        guard asked != nil || query.text.isEmpty else { return SearchResults(hits: [], total: 0) }
        let limit = max(0, min(query.limit, .max - 1))
        let places: [Place]
        var counted: Int?
        if let asked, query.sort == nil, asked.isBrief {
            places = try newest(asked, limit + 1)
        } else if let asked, query.sort == nil {
            // All that is found, while it is counted: then the steps know when they have it.
            let all = try after == nil ? allFound(asked) : nil
            counted = all?.count
            places = try fitting(asked, limit + 1, of: all.flatMap { $0.count <= query.countLimit ? $0 : nil })
        } else {
            // What is sorted whole is counted by it; what is walked through is not walked further than the page.
            if after == nil, let few {
                (places, counted) = try firstOfFew(few.sql, few.arguments, limit + 1)
            } else {
                places = try sorted(limit + 1)
            }
        }
        if after == nil, places.count <= limit { counted = places.count }
        let shown = places.prefix(limit)
        let total = try counted ?? count()
        let isExact = total <= query.countLimit || isWhole
        return SearchResults(
            hits: try hits(shown.map(\.copy)), total: isExact ? total : query.countLimit, isTotalExact: isExact,
            next: places.count > limit ? shown.last?.text(in: query) : nil)
    }

    private func hits(_ copies: [Int64]) throws -> [BookHit] {
        let entries = try StoredBooks.fetch(db, "WHERE copy.id IN (SELECT value FROM json_each(?))", [list(copies)])
        let byCopy = Dictionary(uniqueKeysWithValues: entries.map { ($0.copyRow, $0) })
        let found = copies.compactMap { byCopy[$0] }
        guard let asked else { return found.map { BookHit(book: $0.book) } }
        return try Matching(asked).hits(db, found)
    }

    // MARK: A text

    private func newest(_ asked: AskedText, _ limit: Int) throws -> [Place] {
        try copies(matching: asked.brief, before: after?.copy, limit).map { Place(copy: $0) }
    }

    /// In no order; at most one more than the limit of counting.
    private func allFound(_ asked: AskedText) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT searchText.rowid FROM searchText CROSS JOIN listing ON listing.copy = searchText.rowid
                    WHERE searchText MATCH ? AND \(filter.condition) LIMIT ?
                    """), arguments: [asked.everywhere] + filter.arguments + [countedAtMost])
    }

    /// - Parameter all: all that is found, where that is known.
    private func fitting(_ asked: AskedText, _ limit: Int, of all: [Int64]?) throws -> [Place] {
        var places: [Place] = []
        let first = after?.step ?? 0
        let limit = min(limit, all?.count ?? limit)
        if first == 0, limit > 0 {
            let same = try db.rows(
                """
                SELECT copy FROM listing INDEXED BY listingByTitle
                WHERE title = ? AND copy < ? AND \(filter.condition) ORDER BY copy DESC LIMIT ?
                """, [asked.title, after?.copy ?? .max] + filter.arguments + [limit])
            places = same.map { Place(step: 0, copy: $0[0]) }
        }
        let steps = asked.steps
        for (index, step) in steps.enumerated() where index + 1 >= first && places.count < limit {
            let found: [Int64]
            if let all, index == steps.count - 1 {
                let taken = Set(places.map(\.copy))
                found = Array(all.filter { !taken.contains($0) }.sorted(by: >).prefix(limit - places.count))
            } else {
                let before = index + 1 == first ? after?.copy : nil
                found = try copies(matching: step, before: before, except: asked.title, limit - places.count)
            }
            places += found.map { Place(step: index + 1, copy: $0) }
        }
        return places
    }

    private func copies(
        matching condition: String, before: Int64?, except title: String? = nil, _ limit: Int
    ) throws -> [Int64] {
        // Without a title to except, a book that has none fits as well.
        let isOther = title == nil ? "" : "AND listing.title IS NOT ?"
        return try db.rows(
            """
            SELECT searchText.rowid FROM searchText CROSS JOIN listing ON listing.copy = searchText.rowid
            WHERE searchText MATCH ? AND searchText.rowid < ? \(isOther) AND \(filter.condition)
            ORDER BY searchText.rowid DESC LIMIT ?
            """, [condition, before ?? .max] + (title.map { [$0] } ?? []) + filter.arguments + [limit]
        ).map { $0[0] }
    }

    // MARK: A sort

    /// What is not empty first, in the order of its index; then what is, newest first.
    private func sorted(_ limit: Int) throws -> [Place] {
        let (column, isDescending) = order
        var places: [Place] = []
        if after?.key != .empty {
            let sign = isDescending ? "<" : ">"
            let direction = isDescending ? "DESC" : "ASC"
            var values: StatementArguments = []
            switch after?.key {
            case .number(let number): values = [number, after?.copy]
            case .text(let text): values = [text, after?.copy]
            case .empty, nil: break
            }
            places = try rows(
                "\(column) IS NOT NULL" + (after == nil ? "" : " AND (\(column), listing.copy) \(sign) (?, ?)"), values,
                "\(column) \(direction), listing.copy \(direction)", limit)
        }
        if places.count < limit, query.sort != .added {
            let before = after?.key == .empty ? after?.copy ?? .max : Int64.max
            places += try rows(
                "\(column) IS NULL AND listing.copy < ?", [before], "listing.copy DESC", limit - places.count)
        }
        return places
    }

    /// The first of all that pass, in the order of ``sorted(_:)``, and how many pass: each is looked at once.
    private func firstOfFew(
        _ copies: String, _ arguments: StatementArguments, _ limit: Int
    ) throws -> (places: [Place], total: Int) {
        let (column, isDescending) = order
        let copy = isDescending ? "-listing.copy" : "iif(\(column) IS NULL, -listing.copy, listing.copy)"
        var places: [Place] = []
        var total = 0
        try db.eachRow(
            """
            SELECT listing.copy, listing.\(column) FROM \(Self.joining(copies)) WHERE \(filter.condition)
            ORDER BY \(column) IS NULL, \(column) \(isDescending ? "DESC" : "ASC"), \(copy)
            """, arguments + filter.arguments
        ) { row in
            total += 1
            if places.count < limit { places.append(Self.place(row)) }
        }
        return (places, total)
    }

    private static func place(_ row: Row) -> Place {
        let key: PageToken.Key =
            switch (row[1] as DatabaseValue).storage {
            case .int64(let number): .number(number)
            case .string(let text): .text(text)
            case .null, .double, .blob: .empty
            }
        return Place(key: key, copy: row[0])
    }

    private var order: (column: String, isDescending: Bool) {
        let sort = query.sort ?? .added
        return switch sort {
        case .added, .started, .finished, .rating: (sort.rawValue, !query.isReversed)
        case .title, .author: (sort.rawValue, query.isReversed)
        }
    }

    private func rows(
        _ condition: String, _ values: StatementArguments, _ order: String, _ limit: Int
    ) throws -> [Place] {
        let column = self.order.column
        let index = "listingBy\(column.prefix(1).uppercased())\(column.dropFirst())"
        let (tables, arguments): (String, StatementArguments)
        if let asked {
            tables = "searchText CROSS JOIN listing ON listing.copy = searchText.rowid AND searchText MATCH ?"
            arguments = [asked.isBrief ? asked.brief : asked.everywhere]
        } else if let few {
            tables = Self.joining(few.sql)
            arguments = few.arguments
        } else {
            tables = "listing INDEXED BY \(index)"
            arguments = []
        }
        let found = try db.rows(
            """
            SELECT listing.copy, listing.\(column) FROM \(tables) WHERE \(condition) AND \(filter.condition)
            ORDER BY \(order) LIMIT ?
            """, arguments + values + filter.arguments + [limit])
        return found.map(Self.place)
    }

    /// Copies that were chosen before, with their rows.
    private static func joining(_ copies: String) -> String {
        "(\(copies)) AS few CROSS JOIN listing ON listing.copy = few.copy"
    }

    // MARK: How many

    /// The whole library, or the whole trash: that is counted quickly.
    private var isWhole: Bool { asked == nil && !query.hasFilters }

    /// One more than the limit at the most.
    private func count() throws -> Int {
        if isWhole {
            // SQLite counts a whole table by its narrowest index, without looking at a row; the trash is small.
            let all = try db.value(Int.self, "SELECT count(*) FROM listing") ?? 0
            let trash = try db.value(Int.self, "SELECT count(*) FROM listing WHERE inTrash = 1") ?? 0
            return query.inTrash ? trash : all - trash
        }
        let (tables, arguments): (String, StatementArguments)
        if let asked {
            tables = "searchText CROSS JOIN listing ON listing.copy = searchText.rowid AND searchText MATCH ?"
            arguments = [asked.isBrief ? asked.brief : asked.everywhere]
        } else if let source = few ?? filter.outside {
            tables = Self.joining(source.sql)
            arguments = source.arguments
        } else {
            tables = "listing INDEXED BY listingByAdded"
            arguments = []
        }
        return try db.value(
            Int.self, "SELECT count(*) FROM (SELECT 1 FROM \(tables) WHERE \(filter.condition) LIMIT ?)",
            arguments + filter.arguments + [countedAtMost]) ?? 0
    }

    private var countedAtMost: Int { min(query.countLimit, .max - 1) + 1 }
}

/// Names that begin so, with the number of their books that are not in the trash.
func suggestedNames(_ db: Database, _ kind: NameKind, _ beginning: String, _ limit: Int) throws -> [NameCount] {
    let folded = String(beginning.unicodeScalars.prefix(TextLimit.name)).cleaned.searchFolded
    let sql: String
    switch kind {
    case .author:
        sql = """
            SELECT name, (SELECT count(*) FROM editionAuthor JOIN copy ON copy.edition = editionAuthor.edition
                WHERE author = author.id AND copy.deleted IS NULL) AS books, folded
            FROM author WHERE folded >= ?1 AND folded < ?2
            """
    case .tag:
        sql = """
            SELECT displayName, (SELECT count(*) FROM copyTag JOIN copy ON copy.id = copyTag.copy
                WHERE tag = tag.id AND copy.deleted IS NULL) AS books, folded
            FROM tag WHERE folded >= ?1 AND folded < ?2
            """
    case .shelf:
        sql = """
            SELECT displayName, (SELECT count(*) FROM copy WHERE shelf = shelf.id AND copy.deleted IS NULL) AS books,
                name AS folded
            FROM shelf WHERE name >= ?1 AND name < ?2
            """
    }
    // The greatest scalar stands behind every text that begins so.
    let rows = try db.rows(
        "\(sql) ORDER BY books DESC, folded LIMIT ?3", [folded, folded + "\u{10FFFF}", max(0, limit)])
    return rows.map { NameCount(name: $0[0], count: $0[1]) }
}
