import Bookplate
import Foundation
import GRDB

/// A query's filters as conditions on `listing`. Texts of the query are arguments, never part of a statement.
struct ListingFilter {
    /// Joined with AND.
    private(set) var condition: String
    private(set) var arguments: StatementArguments
    /// For each filter a statement that gives the copies that pass it, each once, for the case that these are few.
    private var sources: [(sql: String, arguments: StatementArguments)] = []
    /// The copies of a filter that is not a column of `listing`: looking these up is quicker than asking of every copy.
    private(set) var outside: (sql: String, arguments: StatementArguments)?

    /// Up to so many copies it is quicker to sort what passes than to walk through the order and look who passes.
    private static let few = 3000
    /// So few that it is not worth looking for fewer.
    private static let veryFew = 500

    init(_ db: Database, _ query: BookQuery) throws {
        condition = "listing.inTrash = \(query.inTrash ? 1 : 0)"
        arguments = []
        if !query.statuses.isEmpty { require("status IN (\(numbers(query.statuses.map(Self.code)))) ") }
        if !query.ratings.isEmpty { requireRatings(query.ratings) }
        if !query.languages.isEmpty {
            requireLanguages(query.languages)
        }
        if !query.shelves.isEmpty {
            let rows = try Self.shelfRows(db, query.shelves)
            require("shelf IN (\(numbers(rows)))")
        }
        if let isOwned = query.isOwned { require("isOwned = \(isOwned ? 1 : 0)", isNarrow: false) }
        if let isWish = query.isOnWishlist { require("isOnWishlist = \(isWish ? 1 : 0)", isNarrow: isWish) }
        if let isFavourite = query.isFavourite {
            require("isFavourite = \(isFavourite ? 1 : 0)", isNarrow: isFavourite)
        }
        if let range = query.added { requireAdded(range, query.zone) }
        if let range = query.started { require(range, of: "started") }
        if let range = query.finished { require(range, of: "finished") }
        if !query.tags.isEmpty { requireTags(try Self.tagRows(db, query.tags)) }
        if !query.authors.isEmpty { requireAuthors(try Self.authorRows(db, query.authors)) }
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
        try db.rows(sql, [list(names)]).map { $0[0] }
    }

    /// The copies of the narrowest filter, when they are few.
    func fewCopies(_ db: Database) throws -> (sql: String, arguments: StatementArguments)? {
        var fewest: (source: (sql: String, arguments: StatementArguments), count: Int)?
        for source in sources {
            let count = try db.value(
                Int.self, "SELECT count(*) FROM (\(source.sql) LIMIT \(Self.few + 1))", source.arguments)
            if let count, count < fewest?.count ?? Self.few + 1 { fewest = (source, count) }
            if let fewest, fewest.count <= Self.veryFew { break }
        }
        return fewest?.source
    }

    /// - Parameter isNarrow: whether few copies may pass; such a condition has an index.
    private mutating func require(_ sql: String, _ values: StatementArguments = [], isNarrow: Bool = true) {
        condition += " AND \(sql)"
        arguments += values
        if isNarrow { sources.append(("SELECT copy FROM listing WHERE \(sql)", values)) }
    }

    private mutating func requireLanguages(_ languages: Set<String>) {
        // Asked of every row on the way: one argument each is quicker than a list that SQLite has to look through.
        if languages.count <= 16 {
            let signs = String(repeating: ", ?", count: languages.count).dropFirst(2)
            require("language IN (\(signs))", StatementArguments(languages.sorted()))
        } else {
            require("language IN (SELECT value FROM json_each(?))", [list(languages.sorted())])
        }
    }

    private mutating func requireRatings(_ bands: Set<RatingBand>) {
        let ranges = bands.sorted().map { band in
            switch band {
            case .unrated: "rating IS NULL"
            // In quarter stars.
            case .stars(let stars): "rating BETWEEN \(stars * 4) AND \(stars * 4 + 3)"
            }
        }
        condition += " AND (\(ranges.joined(separator: " OR ")))"
        if !bands.contains(.unrated) {
            let sources = ["0", "1"].flatMap { trash in ranges.map { "inTrash = \(trash) AND \($0)" } }
            self.sources.append(("SELECT copy FROM listing WHERE \(sources.joined(separator: " OR "))", []))
        }
    }

    private mutating func requireAdded(_ range: Period, _ zone: TimeZone) {
        let start = range.from?.beginning(in: zone).milliseconds ?? .min
        // Behind the last day that there is comes none.
        let next = range.to.flatMap { last in
            last.number.map { CalendarDay(number: $0 + 1) }.flatMap { $0 > last ? $0 : nil }
        }
        let end = next?.beginning(in: zone).milliseconds ?? .max
        condition += " AND added >= ? AND added < ?"
        arguments += [start, end]
        sources.append(("SELECT copy FROM listing WHERE inTrash IN (0, 1) AND added >= ? AND added < ?", [start, end]))
    }

    private mutating func require(_ range: Period, of column: String) {
        let (first, last) = (range.from, range.to)
        var parts = ["\(column) IS NOT NULL"]
        var values: StatementArguments = []
        if let last {
            // A text that says less is less: 2024-03 stands before each of its days.
            parts.append("\(column) <= ?")
            values += [last.description]
        }
        if let first {
            // "~" is after every digit and hyphen: 2024-03 reaches to the end of its month. The year alone serves the index.
            parts.append("\(column) >= ? AND \(column) || '~' >= ?")
            values += [String(first.description.prefix(4)), first.description]
        }
        let sql = parts.joined(separator: " AND ")
        condition += " AND \(sql)"
        arguments += values
        sources.append(("SELECT copy FROM listing WHERE inTrash IN (0, 1) AND \(sql)", values))
    }

    private mutating func requireTags(_ tags: [Int64]) {
        condition +=
            " AND EXISTS (SELECT 1 FROM copyTag WHERE copyTag.copy = listing.copy AND tag IN (\(numbers(tags))))"
        let isDistinct = tags.count > 1 ? "DISTINCT " : ""
        let copies = "SELECT \(isDistinct)copy FROM copyTag WHERE tag IN (\(numbers(tags)))"
        outside = (copies, [])
        sources.append((copies, []))
    }

    private mutating func requireAuthors(_ authors: [Int64]) {
        let copies = """
            SELECT copy.id AS copy FROM editionAuthor JOIN copy ON copy.edition = editionAuthor.edition
            WHERE author IN (\(numbers(authors)))
            """
        condition += " AND EXISTS (\(copies) AND copy.id = listing.copy)"
        // One author can be named twice on a book, with two roles.
        outside = ("SELECT DISTINCT copy FROM (\(copies))", [])
        sources.append(("SELECT DISTINCT copy FROM (\(copies))", []))
    }
}

/// For `IN (…)`. Nothing is a number that no row has: of an empty list SQLite would ask every row.
private func numbers(_ numbers: [Int64]) -> String {
    numbers.isEmpty ? "-1" : numbers.sorted().map(String.init).joined(separator: ", ")
}

/// Where a page ended: the last book's place in its order. Books that come and go do not move it.
struct PageToken: Equatable {
    enum Key: Equatable {
        case empty
        case number(Int64)
        case text(String)
    }

    /// The step of the best order; 0 in a sort.
    var step = 0
    var key: Key
    var copy: Int64

    /// Printable: Base64 for addresses (RFC 4648, 5) of a line of text that also says which list it belongs to.
    func text(in list: BookQuery) -> String {
        let key =
            switch key {
            case .empty: "-"
            case .number(let number): "i\(number)"
            case .text(let text): "t\(text)"
            }
        let line = "1|\(Self.mark(of: list))|\(step)|\(copy)|\(key)"
        return Data(line.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// - Throws: ``SearchRefusal/badPosition(_:)`` for what is no token, or another list's.
    init(_ text: String, in list: BookQuery) throws(SearchRefusal) {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        // Longer than any token: sort keys are cut.
        guard text.utf8.count < 8192,
            let data = Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)),
            let line = String(validating: data, as: UTF8.self)
        else { throw .badPosition(text) }
        let fields = line.split(separator: "|", maxSplits: 4, omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0] == "1", fields[1] == Self.mark(of: list), let step = Int(fields[2]),
            (0...Self.lastStep).contains(step), let copy = Int64(fields[3])
        else { throw .badPosition(text) }
        switch fields[4].first {
        case "-" where fields[4].count == 1: key = .empty
        case "i":
            guard let number = Int64(fields[4].dropFirst()) else { throw .badPosition(text) }
            key = .number(number)
        case "t": key = .text(String(fields[4].dropFirst()))
        default: throw .badPosition(text)
        }
        self.step = step
        self.copy = copy
    }

    init(step: Int = 0, key: Key = .empty, copy: Int64) {
        self.step = step
        self.key = key
        self.copy = copy
    }

    private static let lastStep = 6

    /// Tells lists of other words or another order apart (FNV-1a).
    private static func mark(of list: BookQuery) -> String {
        let identity = "\(list.sort?.rawValue ?? "best")|\(list.isReversed)|\(list.inTrash)|\(list.text.prefix(512))"
        var hash: UInt32 = 2_166_136_261
        for byte in identity.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return String(hash, radix: 36)
    }
}
