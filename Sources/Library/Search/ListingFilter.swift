import Bookplate
import Foundation
import GRDB

/// The filters of a query as conditions on the table `listing`. Texts of the query are arguments, never parts of a
/// statement.
struct ListingFilter {
    /// A statement that returns the ids of the present reader's rows for some copies, without duplicates.
    typealias Source = (sql: String, arguments: StatementArguments)

    /// The conditions of all filters, joined with AND. A statement also needs one of the conditions that select the
    /// present reader's rows: ``row(of:)`` if it finds rows by their id, or ``ofReader`` if it walks through an index.
    private(set) var condition: String
    private(set) var arguments: StatementArguments
    /// For each filter, the statement for the copies that pass the filter. It is used if only few copies pass.
    private var sources: [Source] = []
    /// The statement for the copies with the wanted tags or authors, for which `listing` has no columns. Looking these
    /// copies up is faster than checking every copy.
    private(set) var outside: Source?

    static let ofReader = "listing.reader = reader()"

    /// Returns the condition that finds the present reader's row of a copy.
    static func row(of copy: String) -> String { "listing.id = \(id(of: copy))" }

    private static func id(of copy: String) -> String { "(reader() << 40) + \(copy)" }

    /// Returns the beginning of a statement that walks through an index. The statement returns ids, because every index
    /// contains them, so that no row is read.
    private static func selection(along index: String) -> String {
        "SELECT id FROM listing INDEXED BY listing\(index) WHERE \(ofReader) AND"
    }

    /// The number of matching copies up to which sorting them all is faster than walking through an index and checking
    /// each copy.
    private static let few = 3000
    /// The number of copies up to which a filter is narrow enough, so that no narrower filter is looked for.
    private static let veryFew = 500

    init(_ db: Database, _ query: BookQuery) throws {
        condition = "listing.inTrash = \(query.inTrash ? 1 : 0)"
        arguments = []
        if !query.statuses.isEmpty {
            require("status IN (\(numbers(query.statuses.map(Self.code)))) ", along: "ByStatus")
        }
        if !query.ratings.isEmpty { requireRatings(query.ratings) }
        if !query.languages.isEmpty {
            requireLanguages(query.languages)
        }
        if !query.shelves.isEmpty {
            let rows = try Self.shelfRows(db, query.shelves)
            require("shelf IN (\(numbers(rows)))", along: "ByShelf")
        }
        if let isOwned = query.isOwned { require("isOwned = \(isOwned ? 1 : 0)", along: nil) }
        if let isWish = query.isOnWishlist {
            require("isOnWishlist = \(isWish ? 1 : 0)", along: isWish ? "Wishes" : nil)
        }
        if let isFavourite = query.isFavourite {
            require("isFavourite = \(isFavourite ? 1 : 0)", along: isFavourite ? "Favourites" : nil)
        }
        if let range = query.added { requireAdded(range, query.zone) }
        if let range = query.started { require(range, of: "started") }
        if let range = query.finished { require(range, of: "finished") }
        if !query.tags.isEmpty { requireTags(try Self.tagRows(db, query.tags)) }
        if !query.authors.isEmpty { requireAuthors(try Self.authorRows(db, query.authors)) }
        try requireRead(db, query)
        if !query.missing.isEmpty { requireMissing(query.missing) }
    }

    static func code(_ status: Copy.Status) -> Int64 { Int64(Copy.Status.allCases.firstIndex(of: status) ?? 0) }

    static func tagRows(_ db: Database, _ names: [String]) throws -> [Int64] {
        try rows(
            db, "SELECT id FROM tag WHERE name IN (SELECT value FROM json_each(?))", names.map(\.cleaned.caseFolded))
    }

    static func shelfRows(_ db: Database, _ names: [String]) throws -> [Int64] {
        try rows(
            db, "SELECT id FROM shelf WHERE name IN (SELECT value FROM json_each(?))", names.map(\.cleaned.caseFolded))
    }

    static func authorRows(_ db: Database, _ names: [String]) throws -> [Int64] {
        try rows(
            db, "SELECT id FROM author WHERE folded IN (SELECT value FROM json_each(?))",
            names.map(\.cleaned.searchFolded))
    }

    private static func rows(_ db: Database, _ sql: String, _ names: [String]) throws -> [Int64] {
        try db.rows(sql, [jsonList(names)]).map { $0[0] }
    }

    /// Returns the statement for the copies that pass the narrowest filter (the one that the fewest copies pass); `nil`
    /// if too many copies pass every filter.
    func fewCopies(_ db: Database) throws -> Source? {
        var fewest: (source: Source, count: Int)?
        for source in sources {
            let count = try db.value(
                Int.self, "SELECT count(*) FROM (\(source.sql) LIMIT \(Self.few + 1))", source.arguments)
            if let count, count < fewest?.count ?? Self.few + 1 { fewest = (source, count) }
            if let fewest, fewest.count <= Self.veryFew { break }
        }
        return fewest?.source
    }

    /// Adds a condition.
    ///
    /// - Parameter index: the end of the name of the index along which the copies that pass the condition are found;
    ///   `nil` if the condition is never narrow. Without statistics, SQLite would choose another index, because all
    ///   begin with the reader.
    private mutating func require(_ sql: String, _ values: StatementArguments = [], along index: String?) {
        condition += " AND \(sql)"
        arguments += values
        if let index { sources.append(("\(Self.selection(along: index)) \(sql)", values)) }
    }

    private mutating func requireLanguages(_ languages: Set<String>) {
        // This condition is checked for every row of a walk. One argument for each language is faster than a list that
        // SQLite has to search.
        if languages.count <= 16 {
            let placeholders = String(repeating: ", ?", count: languages.count).dropFirst(2)
            require("language IN (\(placeholders))", StatementArguments(languages.sorted()), along: "ByLanguage")
        } else {
            require("language IN (SELECT value FROM json_each(?))", [jsonList(languages.sorted())], along: "ByLanguage")
        }
    }

    private mutating func requireRatings(_ bands: Set<RatingBand>) {
        let ranges = bands.sorted().map { band in
            switch band {
            case .unrated: "rating IS NULL"
            // The column has quarter stars.
            case .stars(let stars): "rating BETWEEN \(stars * 4) AND \(stars * 4 + 3)"
            }
        }
        condition += " AND (\(ranges.joined(separator: " OR ")))"
        if !bands.contains(.unrated) {
            let sources = ["0", "1"].flatMap { trash in
                ranges.map { "\(Self.selection(along: "ByRating")) inTrash = \(trash) AND \($0)" }
            }
            self.sources.append((sources.joined(separator: " UNION ALL "), []))
        }
    }

    private mutating func requireAdded(_ range: Period, _ zone: TimeZone) {
        let start = range.from?.beginning(in: zone).milliseconds ?? .min
        // The last possible day has no next day.
        let next = range.to.flatMap { last in
            last.number.map { CalendarDay(number: $0 + 1) }.flatMap { $0 > last ? $0 : nil }
        }
        let end = next?.beginning(in: zone).milliseconds ?? .max
        condition += " AND added >= ? AND added < ?"
        arguments += [start, end]
        sources.append(
            ("\(Self.selection(along: "ByAdded")) inTrash IN (0, 1) AND added >= ? AND added < ?", [start, end]))
    }

    private mutating func require(_ range: Period, of column: String) {
        let (first, last) = (range.from, range.to)
        var parts = ["\(column) IS NOT NULL"]
        var values: StatementArguments = []
        if let last {
            // A shorter text sorts first, so 2024-03 comes before each day of that month.
            parts.append("\(column) <= ?")
            values += [last.description]
        }
        if let first {
            // A "~" sorts after every digit and hyphen, so 2024-03 with a "~" comes after each day of that month. The
            // condition on the year alone can use the index.
            parts.append("\(column) >= ? AND \(column) || '~' >= ?")
            values += [String(first.description.prefix(4)), first.description]
        }
        let sql = parts.joined(separator: " AND ")
        condition += " AND \(sql)"
        arguments += values
        let index = "By\(column.prefix(1).uppercased())\(column.dropFirst())"
        sources.append(("\(Self.selection(along: index)) inTrash IN (0, 1) AND \(sql)", values))
    }

    private mutating func requireTags(_ tags: [Int64]) {
        condition +=
            " AND EXISTS (SELECT 1 FROM copyTag WHERE copyTag.copy = listing.copy AND tag IN (\(numbers(tags))))"
        let isDistinct = tags.count > 1 ? "DISTINCT " : ""
        let source: Source = (
            "SELECT \(isDistinct)\(Self.id(of: "copy")) AS id FROM copyTag WHERE tag IN (\(numbers(tags)))", []
        )
        outside = source
        sources.append(source)
    }

    private mutating func requireAuthors(_ authors: [Int64]) {
        let copies = """
            SELECT copy.id AS copy FROM editionAuthor JOIN copy ON copy.edition = editionAuthor.edition
            WHERE author IN (\(numbers(authors)))
            """
        condition += " AND EXISTS (\(copies) AND copy.id = listing.copy)"
        // A book can have the same author twice, in two roles.
        let source: Source = ("SELECT DISTINCT \(Self.id(of: "copy")) AS id FROM (\(copies))", [])
        outside = source
        sources.append(source)
    }

    /// Requires that some readers have read a book, and that others have not. A reader in the trash has read nothing.
    private mutating func requireRead(_ db: Database, _ query: BookQuery) throws {
        func isRead(by readers: String) -> String {
            """
            EXISTS (SELECT 1 FROM readerCopy WHERE readerCopy.copy = listing.copy AND \(readers)
                AND readerCopy.status = 'read')
            """
        }
        for reader in query.readBy {
            let row = try Self.readerRow(db, reader)
            let isReader = "readerCopy.reader = \(row)"
            condition += " AND \(isRead(by: isReader))"
            sources.append(
                (
                    """
                    SELECT \(Self.id(of: "copy")) AS id FROM readerCopy INDEXED BY readerCopyByStatus
                    WHERE \(isReader) AND status = 'read'
                    """, []
                ))
        }
        for reader in query.notReadBy {
            let row = try Self.readerRow(db, reader)
            condition += " AND NOT \(isRead(by: "readerCopy.reader = \(row)"))"
        }
        if query.readByNobody {
            let all = try db.rows("SELECT id FROM reader WHERE deleted IS NULL").map { $0[0] as Int64 }
            // The rows of a copy are together. The plus sign keeps SQLite from searching for each reader instead.
            condition += " AND NOT \(isRead(by: "+readerCopy.reader IN (\(numbers(all)))"))"
        }
    }

    /// - Returns: the row id of a reader; an id that no reader has if there is no such reader outside the trash.
    private static func readerRow(_ db: Database, _ reader: ID<Reader>) throws -> Int64 {
        try db.value(Int64.self, "SELECT id FROM reader WHERE uuid = ? AND deleted IS NULL", [reader.rawValue]) ?? -1
    }

    /// Requires that a book lacks at least one of the fields. `listing` has columns for some of them; for the others,
    /// the edition of each copy is looked up.
    private mutating func requireMissing(_ fields: Set<MissingField>) {
        let conditions = fields.sorted { $0.rawValue < $1.rawValue }.map(Self.lacks)
        let ofListing = conditions.filter { !$0.isOfEdition }.map(\.sql)
        let ofEdition = conditions.filter(\.isOfEdition).map(\.sql).joined(separator: " OR ")
        let lookup = """
            EXISTS (SELECT 1 FROM copy JOIN edition ON edition.id = copy.edition
                WHERE copy.id = listing.copy AND (\(ofEdition)))
            """
        let sql = (ofListing + (ofEdition.isEmpty ? [] : [lookup])).joined(separator: " OR ")
        condition += " AND (\(sql))"
        guard fields.count == 1, let only = fields.first else { return }
        switch only {
        case .author, .title:
            let index = only == .author ? "ByAuthor" : "ByTitle"
            sources.append(("\(Self.selection(along: index)) inTrash IN (0, 1) AND \(sql)", []))
        case .isbn:
            sources.append(
                (
                    """
                    SELECT \(Self.id(of: "copy.id")) AS id FROM edition JOIN copy ON copy.edition = edition.id
                    WHERE isbn IS NULL
                    """, []
                ))
        default: break
        }
    }

    private static func lacks(_ field: MissingField) -> (sql: String, isOfEdition: Bool) {
        switch field {
        case .author: ("listing.author IS NULL", false)
        case .title: ("listing.title IS NULL", false)
        case .language: ("listing.language IS NULL", false)
        case .isbn: ("isbn IS NULL", true)
        case .pages: ("pageCount IS NULL", true)
        case .publisher: ("publisher IS NULL", true)
        case .year: ("publishedDate IS NULL", true)
        case .format: ("format IS NULL", true)
        case .description: ("description IS NULL", true)
        case .cover:
            (
                """
                NOT EXISTS (
                    SELECT 1 FROM cover WHERE cover.edition = edition.id AND cover.state IN ('fetched', 'person'))
                """, true
            )
        }
    }
}

/// Returns numbers for use in `IN (…)`. An empty list is replaced by an id that no row has, because SQLite would check
/// an empty list for every row.
private func numbers(_ numbers: [Int64]) -> String {
    numbers.isEmpty ? "-1" : numbers.sorted().map(String.init).joined(separator: ", ")
}
