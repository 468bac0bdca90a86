import Bookplate
import GRDB

extension LibraryFile: Search {
    public func books(matching query: BookQuery) async throws -> SearchResults {
        try await read { db in try BookSearch(db, query).results() }
    }

    /// Returns books that match, in random order, each at most once.
    public func randomBooks(matching query: BookQuery, limit: Int) async throws -> [Book] {
        try await read { db in try BookSearch(db, query).random(limit) }
    }

    public func letters(matching query: BookQuery) async throws -> [LetterGroup] {
        try await read { db in try BookSearch(db, query).letters() }
    }

    public func facets(matching query: BookQuery, countsAuthors: Bool) async throws -> BookFacets {
        guard query.text.isEmpty || query.hasWords else { return BookFacets() }
        return try await kept(.facets(query, countsAuthors: countsAuthors)) {
            // Counting reads more rows than anything else does, so two connections count one half of the books each.
            let halves = try await read { db in try FacetCounter.halves(db) }
            @Sendable func count(_ copies: ClosedRange<Int64>) async throws -> FacetCounter.Counts {
                try await read { db in try FacetCounter(db, query).count(copies, countsAuthors: countsAuthors) }
            }
            async let first = count(halves[0])
            let second = try await count(halves[1])
            let counts = try await first + second
            return try await read { db in try FacetCounter(db, query).facets(counts) }
        }
    }

    public func counts(of facet: NamedFacet, matching query: BookQuery, limit: Int) async throws -> [NameCount] {
        try await kept(.names(facet, query, limit: limit)) {
            try await read { db in try FacetCounter(db, query).counts(of: facet, limit) }
        }
    }

    public func suggestions(for kind: NameKind, beginning: String, limit: Int) async throws -> [NameCount] {
        try await read { db in try suggestedNames(db, kind, beginning, limit) }
    }
}

extension BookQuery {
    /// True if the text contains anything that can be searched for: a letter, a digit, or a sign such as an emoji.
    public var hasWords: Bool { QueryText(text) != nil }
}

/// Finds one page of the results of a query.
///
/// As far as possible, the time for a page does not depend on the size of the library. For a list without a search
/// text, it walks through an index until the page is full. For a search text, it walks through word lists, from the
/// newest copy to the oldest, until the page is full. Counting stops at ``BookQuery/countLimit``. Only two kinds of
/// results are read completely: the books that pass a filter if there are few of them, and the books that match a text
/// if they are sorted by something other than how well they match.
///
/// Books that match a text equally well are in the order in which they came into the library, newest first. For
/// imported books this may not be the order of their dates. But the word lists have no other order, and sorting by
/// another order would mean reading all matches.
struct BookSearch {
    private let db: Database
    private let query: BookQuery
    private let filter: ListingFilter
    private let text: QueryText?
    private let after: PageToken?
    private let before: PageToken?
    /// The statement that returns the copies that pass the narrowest filter (the one that the fewest copies pass);
    /// `nil` if too many copies pass every filter.
    private let few: ListingFilter.Source?

    /// The position of a book in the order of the results.
    private typealias Position = PageToken

    init(_ db: Database, _ query: BookQuery) throws {
        self.db = db
        self.query = query
        filter = try ListingFilter(db, query)
        text = try QueryText(query, db)
        after = try query.after.map { try PageToken($0, in: query) }
        before = try query.before.map { try PageToken($0, in: query) }
        few = text == nil ? try filter.fewCopies(db) : nil
    }

    func results() throws -> SearchResults {
        guard text != nil || query.text.isEmpty else { return SearchResults(hits: [], total: 0) }
        let limit = max(0, min(query.limit, .max - 1))
        if let before { return try results(before: before, limit) }
        let positions: [Position]
        var counted: Int?
        if let text, query.sort == nil {
            // The first page fetches all matches in order to count them. With this number, the ranking steps can stop
            // when they have found all matches.
            let all = try after == nil ? allMatches(text) : nil
            counted = all?.count
            positions = try ranked(text, limit + 1, of: all.flatMap { $0.count <= query.countLimit ? $0 : nil })
        } else {
            // If there are few copies, sorting them also counts them. Otherwise, the walk through an index ends when
            // the page is full.
            if after == nil, let few {
                (positions, counted) = try firstOfFew(few, limit + 1)
            } else {
                positions = try sorted(limit + 1)
            }
        }
        if after == nil, positions.count <= limit { counted = positions.count }
        let shown = positions.prefix(limit)
        var results = try results(shown.map(\.copy), total: counted)
        if positions.count > limit { results.next = shown.last?.text(in: query) }
        if let after, isSorted, try !preceding(after, 1).isEmpty { results.start = query.after }
        return results
    }

    /// Returns the last of the books that come before the page of a position.
    private func results(before position: PageToken, _ limit: Int) throws -> SearchResults {
        guard isSorted, query.after == nil else { throw SearchRefusal.badPosition(query.before ?? "") }
        let positions = try preceding(position, limit + 1)
        var results = try results(positions.prefix(limit).reversed().map(\.copy), total: nil)
        if positions.count > limit { results.start = positions.last?.text(in: query) }
        results.next = query.before
        return results
    }

    private func results(_ copies: [Int64], total counted: Int?) throws -> SearchResults {
        let total = try counted ?? count()
        let isExact = total <= query.countLimit || isWhole
        return SearchResults(
            hits: try hits(copies), total: isExact ? total : query.countLimit, isTotalExact: isExact)
    }

    /// False if the books are ranked by how well they match.
    private var isSorted: Bool { text == nil || query.sort != nil }

    /// Returns books that match, in random order, each at most once. All matches are read, but only their row ids.
    func random(_ limit: Int) throws -> [Book] {
        guard text != nil || query.text.isEmpty else { return [] }
        let (clauses, arguments) = matches(few, along: Self.added)
        let copies = try db.rows(
            "SELECT listing.copy \(clauses) ORDER BY random() LIMIT ?", arguments + [max(0, limit)])
        return try hits(copies.map { $0["copy"] }).map(\.book)
    }

    private func hits(_ copies: [Int64]) throws -> [BookHit] {
        let entries = try StoredBook.fetch(db, "WHERE copy.id IN (SELECT value FROM json_each(?))", [jsonList(copies)])
        let byCopy = Dictionary(uniqueKeysWithValues: entries.map { ($0.copyRow, $0) })
        let found = copies.compactMap { byCopy[$0] }
        guard let text else { return found.map { BookHit(book: $0.book) } }
        return try MatchFinder(text).hits(db, found)
    }

    // MARK: Texts

    /// Returns all matches in any order. If there are too many, returns only one more than ``BookQuery/countLimit``.
    private func allMatches(_ text: QueryText) throws -> [Int64] {
        let all = text.all
        return try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT searchText.rowid
                    FROM searchText CROSS JOIN listing ON \(ListingFilter.row(of: "searchText.rowid"))
                    WHERE searchText MATCH ? AND \(all.condition) AND \(filter.condition) LIMIT ?
                    """), arguments: [all.match] + all.arguments + filter.arguments + [countingLimit])
    }

    /// Returns the matches on this page, best first.
    ///
    /// - Parameter all: all matches of the query; `nil` if they are not known.
    private func ranked(_ text: QueryText, _ limit: Int, of all: [Int64]?) throws -> [Position] {
        var positions: [Position] = []
        let first = after?.step ?? 0
        let limit = min(limit, all?.count ?? limit)
        if first == 0, limit > 0 {
            let same = try db.rows(
                """
                SELECT copy FROM listing INDEXED BY listingByTitle
                WHERE \(ListingFilter.ofReader) AND title IN (?, ?) AND copy < ? AND \(filter.condition)
                ORDER BY copy DESC LIMIT ?
                """, text.titleArguments + [after?.copy ?? .max] + filter.arguments + [limit])
            positions = same.map { Position(step: 0, copy: $0[0]) }
        }
        let steps = text.steps
        for (index, step) in steps.enumerated() where index + 1 >= first && positions.count < limit {
            let found: [Int64]
            if let all, index == steps.count - 1 {
                let earlier = Set(positions.map(\.copy))
                found = Array(all.filter { !earlier.contains($0) }.sorted(by: >).prefix(limit - positions.count))
            } else {
                let before = index + 1 == first ? after?.copy : nil
                found = try copies(matching: step, before: before, except: text, limit - positions.count)
            }
            positions += found.map { Position(step: index + 1, copy: $0) }
        }
        return positions
    }

    private func copies(
        matching step: QueryText.Step, before: Int64?, except text: QueryText, _ limit: Int
    ) throws -> [Int64] {
        try db.rows(
            """
            SELECT searchText.rowid FROM searchText CROSS JOIN listing ON \(ListingFilter.row(of: "searchText.rowid"))
            WHERE searchText MATCH ? AND searchText.rowid < ?
                AND (listing.title IN (?, ?)) IS NOT TRUE AND \(step.condition) AND \(filter.condition)
            ORDER BY searchText.rowid DESC LIMIT ?
            """, [step.match, before ?? .max] + text.titleArguments + step.arguments + filter.arguments + [limit]
        ).map { $0[0] }
    }

    // MARK: Sorts

    /// Returns the books on this page. Books that have a value in the sorted column come first, in the order of the
    /// column's index. Books without a value follow, newest first.
    private func sorted(_ limit: Int) throws -> [Position] {
        let (column, isDescending) = order
        var positions: [Position] = []
        if after?.key != .empty {
            let sign = isDescending ? "<" : ">"
            let direction = isDescending ? "DESC" : "ASC"
            var values: StatementArguments = []
            switch after?.key {
            case .number(let number): values = [number, after?.copy]
            case .text(let text): values = [text, after?.copy]
            case .empty, nil: break
            }
            positions = try rows(
                "\(column) IS NOT NULL" + (after == nil ? "" : " AND (\(column), listing.copy) \(sign) (?, ?)"), values,
                "\(column) \(direction), listing.copy \(direction)", limit)
        }
        if positions.count < limit, !isAlwaysFilled {
            let before = after?.key == .empty ? after?.copy ?? .max : Int64.max
            positions += try rows(
                "\(column) IS NULL AND listing.copy < ?", [before], "listing.copy DESC", limit - positions.count)
        }
        return positions
    }

    /// Returns the books of this page in the opposite order, beginning with the last one that is not after the
    /// position.
    private func preceding(_ position: PageToken, _ limit: Int) throws -> [Position] {
        let (column, isDescending) = order
        let direction = isDescending ? "ASC" : "DESC"
        var positions: [Position] = []
        var (condition, values): (String, StatementArguments) = ("", [])
        switch position.key {
        case .empty:
            guard !isAlwaysFilled else { throw SearchRefusal.badPosition(query.after ?? query.before ?? "") }
            positions = try rows(
                "\(column) IS NULL AND listing.copy >= ?", [position.copy], "listing.copy ASC", limit)
        case .number(let number): values = [number, position.copy]
        case .text(let text): values = [text, position.copy]
        }
        guard positions.count < limit else { return positions }
        if position.key != .empty { condition = " AND (\(column), listing.copy) \(isDescending ? ">=" : "<=") (?, ?)" }
        return try positions
            + rows(
                "\(column) IS NOT NULL" + condition, values, "\(column) \(direction), listing.copy \(direction)",
                limit - positions.count)
    }

    /// Sorts a few copies in the order of ``sorted(_:)``, and returns the first `limit` of them with their total
    /// number. Each copy is read once.
    private func firstOfFew(
        _ few: ListingFilter.Source, _ limit: Int
    ) throws -> (positions: [Position], total: Int) {
        let (column, isDescending) = order
        let (clauses, arguments) = matches(few, along: column)
        let copy = isDescending ? "-listing.copy" : "iif(\(column) IS NULL, -listing.copy, listing.copy)"
        var positions: [Position] = []
        var total = 0
        try db.forEachRow(
            """
            SELECT listing.copy, listing.\(column) \(clauses)
            ORDER BY \(column) IS NULL, \(column) \(isDescending ? "DESC" : "ASC"), \(copy)
            """, arguments
        ) { row in
            total += 1
            if positions.count < limit { positions.append(Self.position(row)) }
        }
        return (positions, total)
    }

    private static func position(_ row: Row) -> Position {
        let key: PageToken.Key =
            switch (row[1] as DatabaseValue).storage {
            case .int64(let number): .number(number)
            case .string(let text): .text(text)
            case .null, .double, .blob: .empty
            }
        return Position(key: key, copy: row[0])
    }

    /// True if every book has a value in the sorted column.
    private var isAlwaysFilled: Bool { query.sort ?? .added == .added }

    private var order: (column: String, isDescending: Bool) {
        let sort = query.sort ?? .added
        return switch sort {
        case .added: (Self.added, !query.isReversed)
        case .started, .finished, .rating: (sort.rawValue, !query.isReversed)
        case .title, .author: (sort.rawValue, query.isReversed)
        }
    }

    /// The column by which additions are sorted.
    private static let added = "addedDay"

    private func rows(
        _ condition: String, _ values: StatementArguments, _ order: String, _ limit: Int
    ) throws -> [Position] {
        let column = self.order.column
        let (clauses, arguments) = matches(few, along: column)
        let found = try db.rows(
            "SELECT listing.copy, listing.\(column) \(clauses) AND \(condition) ORDER BY \(order) LIMIT ?",
            arguments + values + [limit])
        return found.map(Self.position)
    }

    /// Returns the clauses FROM and WHERE for the present reader's rows of `listing` that match the text and pass the
    /// filters.
    ///
    /// - Parameters:
    ///   - few: the statement for the only rows that need to be checked; `nil` to check all rows.
    ///   - column: the column through whose index all rows are walked.
    private func matches(
        _ few: ListingFilter.Source?, along column: String
    ) -> (clauses: String, arguments: StatementArguments) {
        let (tables, selection): (String, String)
        var arguments: StatementArguments = []
        if let text {
            tables = "searchText CROSS JOIN listing"
            let all = text.all
            selection = "\(ListingFilter.row(of: "searchText.rowid")) AND searchText MATCH ? AND \(all.condition)"
            arguments = [all.match] + all.arguments
        } else if let few {
            tables = "(\(few.sql)) AS few CROSS JOIN listing"
            selection = "listing.id = few.id"
            arguments = few.arguments
        } else {
            tables = "listing INDEXED BY listingBy\(column.prefix(1).uppercased())\(column.dropFirst())"
            selection = ListingFilter.ofReader
        }
        return ("FROM \(tables) WHERE \(selection) AND \(filter.condition)", arguments + filter.arguments)
    }

    // MARK: Letters

    func letters() throws -> [LetterGroup] {
        guard [.title, .author].contains(query.sort), text != nil || query.text.isEmpty else { return [] }
        let (column, isDescending) = order
        let source = few ?? filter.outside
        let (clauses, arguments) = matches(source, along: column)
        let counts: [Row]
        if text == nil, source == nil {
            // The keys of each group are together in the index, so that counting them needs no grouping.
            let codes = 96...123
            counts = try db.rows(
                codes.map { "SELECT \($0) AS initial, count(*) \(clauses) AND \(column) >= ? AND \(column) < ?" }
                    .joined(separator: " UNION ALL "),
                codes.reduce(into: []) { $0 += arguments + [Self.firstKey($1), Self.firstKey($1 + 1)] })
        } else {
            counts = try db.rows(
                """
                SELECT max(96, min(123, unicode(listing.\(column)))) AS initial, count(*) \(clauses)
                    AND \(column) <> ''
                GROUP BY initial ORDER BY initial
                """, arguments)
        }
        let groups = counts.filter { $0[1] as Int > 0 }.map { row in
            let code: Int = row[0]
            let initial: LetterGroup.Initial =
                switch code {
                case 96: .digit
                case 123: .other
                default: .letter(Character(Self.firstKey(code - 32)))
                }
            // In the opposite order, a group begins with its last key, before the first one of the next group.
            let start = Position(key: .text(Self.firstKey(isDescending ? code + 1 : code)), copy: 0)
            return LetterGroup(initial: initial, count: row[1], start: start.text(in: query))
        }
        return isDescending ? groups.reversed() : groups
    }

    /// Returns the text with which the keys of a group begin. The groups are the letters, everything before "a", which
    /// is 96, and everything after "z", which is 123.
    private static func firstKey(_ code: Int) -> String {
        switch code {
        case 96: ""
        case 124: "\u{10FFFF}"
        default: String(Character(Unicode.Scalar(UInt8(code))))
        }
    }

    // MARK: Counts

    /// True if the query returns the whole library or the whole trash, which can be counted quickly.
    private var isWhole: Bool { text == nil && !query.hasFilters }

    /// Counts the books that match the query. Counting stops at one more than ``BookQuery/countLimit``.
    private func count() throws -> Int {
        if isWhole {
            // SQLite counts a whole table with its smallest index, without reading rows. The trash is small.
            let all = try db.value(Int.self, "SELECT count(*) FROM copy") ?? 0
            let trash = try db.value(Int.self, "SELECT count(*) FROM copy WHERE deleted IS NOT NULL") ?? 0
            return query.inTrash ? trash : all - trash
        }
        let (clauses, arguments) = matches(few ?? filter.outside, along: Self.added)
        return try db.value(
            Int.self, "SELECT count(*) FROM (SELECT 1 \(clauses) LIMIT ?)", arguments + [countingLimit]) ?? 0
    }

    private var countingLimit: Int { min(query.countLimit, .max - 1) + 1 }
}

/// Returns the names that begin with a text. Each name comes with the number of its books that are not in the trash.
///
/// Publishers and series are found by all words of the text instead, because people do not know how their names begin.
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
    case .publisher: return try suggestedNames(db, NamedFacet.publisher, beginning, limit)
    case .series: return try suggestedNames(db, NamedFacet.series, beginning, limit)
    }
    // The text followed by the greatest scalar sorts after all names that begin with the text.
    let rows = try db.rows(
        "\(sql) ORDER BY books DESC, folded LIMIT ?3", [folded, folded + "\u{10FFFF}", max(0, limit)])
    return rows.map { NameCount(name: $0[0], count: $0[1]) }
}

private func suggestedNames(
    _ db: Database, _ facet: NamedFacet, _ beginning: String, _ limit: Int
) throws -> [NameCount] {
    let pattern = TextPattern(beginning, .words)
    let rows = try db.rows(
        """
        SELECT name, (SELECT count(*) FROM copyFacts JOIN copy ON copy.id = copyFacts.copy
            WHERE copyFacts.\(facet.key) = names.name AND copyFacts.\(facet.column) IS NOT NULL
                AND copy.deleted IS NULL) AS books
        FROM (SELECT min(\(facet.column)) AS name FROM copyFacts WHERE \(facet.column) IS NOT NULL
            GROUP BY \(facet.key)) AS names
        WHERE \(pattern.condition("name")) ORDER BY books DESC, name LIMIT ?
        """, pattern.arguments + [max(0, limit)])
    return rows.map { NameCount(name: $0[0], count: $0[1]) }
}
