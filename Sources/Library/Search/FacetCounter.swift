import Bookplate
import GRDB

/// Counts the books for each value of each filter, in one pass. A book that passes all filters is counted for every
/// filter. A book that fails exactly one filter is counted only for that filter. A book that fails two or more filters
/// is not counted.
struct FacetCounter {
    /// The numbers of books in a part of the library. Books that have none of a filter's values are left out, except
    /// in the last place of `ratings`.
    struct Counts: Sendable {
        fileprivate var total = 0
        fileprivate var (owned, notOwned, wishlist, favourites) = (0, 0, 0, 0)
        // Two more than there are statuses and bands, so that no number of three bits is out of range.
        fileprivate var (statuses, ratings) = ([Int](repeating: 0, count: 8), [Int](repeating: 0, count: 8))
        fileprivate var formats = [Int](repeating: 0, count: Metadata.Format.allCases.count)
        fileprivate var pages = [Int](repeating: 0, count: PageBand.allCases.count)
        fileprivate var missing = [Int](repeating: 0, count: MissingField.counted.count)
        /// The keys are row ids.
        fileprivate var (tags, shelves, authors): ([Int64: Int], [Int64: Int], [Int64: Int]) = ([:], [:], [:])
        fileprivate var languages: [String: Int] = [:]
        fileprivate var decades: [Int: Int] = [:]

        static func + (one: Self, other: Self) -> Self {
            var sum = one
            for path in [\Self.total, \.owned, \.notOwned, \.wishlist, \.favourites] {
                sum[keyPath: path] += other[keyPath: path]
            }
            for path in [\Self.statuses, \.ratings, \.formats, \.pages, \.missing] {
                for (place, count) in other[keyPath: path].enumerated() { sum[keyPath: path][place] += count }
            }
            for path in [\Self.tags, \.shelves, \.authors] {
                sum[keyPath: path].merge(other[keyPath: path], uniquingKeysWith: +)
            }
            sum.languages.merge(other.languages, uniquingKeysWith: +)
            sum.decades.merge(other.decades, uniquingKeysWith: +)
            return sum
        }
    }

    private enum Facet {
        case status, rating, tag, shelf, language, author, format, year, pages, publisher, missing
        case owned, wishlist, favourite
    }

    private let db: Database
    private let query: BookQuery
    private static let authorLimit = 20
    private static let whole = 0...Int64.max >> 23

    init(_ db: Database, _ query: BookQuery) {
        self.db = db
        self.query = query
    }

    /// Returns two ranges of the row ids of copies, with as many books each as far as one can know without counting.
    static func halves(_ db: Database) throws -> [ClosedRange<Int64>] {
        let middle = try db.value(Int64.self, "SELECT max(id) / 2 FROM copy") ?? 0
        return [whole.lowerBound...middle, middle + 1...whole.upperBound]
    }

    /// - Parameter copies: the range of the row ids of the copies that are counted.
    func count(_ copies: ClosedRange<Int64>, countsAuthors: Bool) throws -> Counts {
        let statuses = Set(query.statuses.map(ListingFilter.code))
        let tags = Set(try ListingFilter.tagRows(db, query.tags))
        let shelves = Set(try ListingFilter.shelfRows(db, query.shelves))
        let authors = Set(try ListingFilter.authorRows(db, query.authors))
        let formats = Set(query.formats.compactMap(Metadata.Format.allCases.firstIndex))
        let rest = self.rest
        let lacks = rest.missing.isEmpty ? query.missing.reduce(0) { $0 | Self.bit(of: $1) } : 0

        var counts = Counts()
        var (rowTags, rowAuthors): ([Int64], [Int64]) = ([], [])
        let rows = try cursor(ListingFilter(db, rest), copies, hasAuthors: countsAuthors || !authors.isEmpty)
        while let row = try rows.next() {
            let own = OwnBits(row[0])
            let facts = FactsSummary(row[1])
            let shelf: Int64? = row[2]
            let language: String? = row[3]
            Self.parse(row, 4, &rowTags)
            Self.parse(row, 5, &rowAuthors)
            let missing =
                (shelf == nil ? 1 : 0) | (rowTags.isEmpty ? 2 : 0) | (language == nil ? 4 : 0) | facts.lacks << 3

            var failed: Facet?
            var failures = 0
            func fail(_ facet: Facet, unless passes: Bool) {
                if !passes {
                    failed = facet
                    failures += 1
                }
            }
            fail(.status, unless: query.statuses.isEmpty || statuses.contains(Int64(own.status)))
            if !query.ratings.isEmpty {
                fail(.rating, unless: query.ratings.contains(own.stars.map { .stars($0) } ?? .unrated))
            }
            fail(.tag, unless: query.tags.isEmpty || rowTags.contains(where: tags.contains))
            fail(.shelf, unless: query.shelves.isEmpty || shelf.map(shelves.contains) ?? false)
            fail(.language, unless: query.languages.isEmpty || language.map(query.languages.contains) ?? false)
            fail(.author, unless: query.authors.isEmpty || rowAuthors.contains(where: authors.contains))
            fail(.format, unless: formats.isEmpty || facts.format.map(formats.contains) ?? false)
            fail(.year, unless: own.isOfYear)
            fail(.pages, unless: own.isOfLength)
            fail(.publisher, unless: own.isOfPublisher)
            fail(.missing, unless: lacks == 0 || missing & lacks != 0)
            fail(.owned, unless: query.isOwned.map { $0 == own.isOwned } ?? true)
            fail(.wishlist, unless: query.isOnWishlist.map { $0 == own.isOnWishlist } ?? true)
            fail(.favourite, unless: query.isFavourite.map { $0 == own.isFavourite } ?? true)
            guard failures < 2 else { continue }
            func counted(for facet: Facet) -> Bool { failures == 0 || failed == facet }

            if counted(for: .status) { counts.statuses[own.status] += 1 }
            if counted(for: .rating) { counts.ratings[own.stars ?? 6] += 1 }
            if counted(for: .tag) { for tag in rowTags { counts.tags[tag, default: 0] += 1 } }
            if counted(for: .shelf), let shelf { counts.shelves[shelf, default: 0] += 1 }
            if counted(for: .language), let language { counts.languages[language, default: 0] += 1 }
            if countsAuthors, counted(for: .author) {
                for author in rowAuthors { counts.authors[author, default: 0] += 1 }
            }
            if counted(for: .format), let format = facts.format { counts.formats[format] += 1 }
            if counted(for: .year), let year = facts.year { counts.decades[year / 10 * 10, default: 0] += 1 }
            if counted(for: .pages), let band = facts.pageBand { counts.pages[band] += 1 }
            if counted(for: .missing), missing != 0 {
                for bit in counts.missing.indices where missing & 1 << bit != 0 { counts.missing[bit] += 1 }
            }
            if failures == 0 { counts.total += 1 }
            if counted(for: .owned) { if own.isOwned { counts.owned += 1 } else { counts.notOwned += 1 } }
            if counted(for: .wishlist), own.isOnWishlist { counts.wishlist += 1 }
            if counted(for: .favourite), own.isFavourite { counts.favourites += 1 }
        }
        return counts
    }

    /// Returns the counts with the names of what they count.
    func facets(_ counts: Counts) throws -> BookFacets {
        var facets = BookFacets()
        facets.total = counts.total
        (facets.owned, facets.notOwned) = (counts.owned, counts.notOwned)
        (facets.wishlist, facets.favourites) = (counts.wishlist, counts.favourites)
        for (index, status) in Copy.Status.allCases.enumerated()
        where counts.statuses[index] > 0 || query.statuses.contains(status) {
            facets.statuses[status] = counts.statuses[index]
        }
        for (index, count) in counts.ratings.prefix(7).enumerated() {
            let band = index == 6 ? RatingBand.unrated : .stars(index)
            if count > 0 || query.ratings.contains(band) { facets.ratings[band] = count }
        }
        for (index, format) in Metadata.Format.allCases.enumerated()
        where counts.formats[index] > 0 || query.formats.contains(format) {
            facets.formats[format] = counts.formats[index]
        }
        for band in PageBand.allCases where counts.pages[band.rawValue] > 0 || query.pages.contains(band.range) {
            facets.pages[band] = counts.pages[band.rawValue]
        }
        for (index, field) in MissingField.counted.enumerated()
        where counts.missing[index] > 0 || query.missing.contains(field) {
            facets.missing[field] = counts.missing[index]
        }
        facets.decades = counts.decades
        func all<Key>(_ counts: [Key: Int], and chosen: some Sequence<Key>) -> [Key: Int] {
            counts.merging(chosen.map { ($0, 0) }) { count, _ in count }
        }
        facets.tags = try named(
            all(counts.tags, and: ListingFilter.tagRows(db, query.tags)), "SELECT id, displayName FROM tag", limit: .max
        )
        facets.shelves = try named(
            all(counts.shelves, and: ListingFilter.shelfRows(db, query.shelves)), "SELECT id, displayName FROM shelf",
            limit: .max)
        facets.languages = ordered(
            all(counts.languages, and: query.languages).map { NameCount(name: $0.key, count: $0.value) })
        facets.authors = try named(counts.authors, "SELECT id, name FROM author", limit: Self.authorLimit)
        return facets
    }

    /// Counts the books of each publisher or series that match the query except for its filter by them.
    func counts(of facet: NamedFacet, _ limit: Int) throws -> [NameCount] {
        guard query.text.isEmpty || query.hasWords else { return [] }
        var others = query
        let chosen: [String]
        switch facet {
        case .publisher: (chosen, others.publishers) = (query.publishers, [])
        case .series: (chosen, others.series) = (query.series, [])
        }
        let (tables, arguments) = try matches(ListingFilter(db, others))
        let counts = try db.rows(
            """
            SELECT min(\(facet.column)) AS name, count(*) AS books
            FROM \(tables) AND \(facet.column) IS NOT NULL GROUP BY \(facet.key)
            ORDER BY \(facet.key) IN (SELECT value FROM json_each(?)) DESC, books DESC, name LIMIT ?
            """, arguments + [jsonList(chosen), max(0, limit) + chosen.count]
        ).map { NameCount(name: $0[0], count: $0[1]) }
        let absent = chosen.filter { name in !counts.contains { facet.areSame($0.name, name) } }
        return ordered(counts + absent.map { NameCount(name: $0, count: 0) })
    }

    /// The query without the filters that are counted.
    private var rest: BookQuery {
        var rest = query
        (rest.statuses, rest.ratings, rest.tags, rest.shelves) = ([], [], [], [])
        (rest.languages, rest.authors, rest.formats, rest.publishers) = ([], [], [], [])
        (rest.years, rest.pages) = ([], [])
        (rest.isOwned, rest.isOnWishlist, rest.isFavourite) = (nil, nil, nil)
        // Fields that are not counted are checked like the other conditions.
        if rest.missing.isSubset(of: MissingField.counted) { rest.missing = [] }
        return rest
    }

    /// Returns the bit for a field in the number that says which fields a book lacks; 0 if the field is not counted.
    private static func bit(of field: MissingField) -> Int {
        MissingField.counted.firstIndex(of: field).map { 1 << $0 } ?? 0
    }

    /// Returns one row for each book. Few columns are read faster than many, so small numbers are in ``OwnBits``.
    ///
    /// - Parameter hasAuthors: true if the rows need the authors.
    private func cursor(
        _ filter: ListingFilter, _ copies: ClosedRange<Int64>, hasAuthors: Bool
    ) throws -> RowCursor {
        let (tables, arguments) = try matches(filter, copies)
        func passes(_ clause: ListingFilter.Clause?) -> String { clause.map { "((\($0.sql)) IS TRUE)" } ?? "1" }
        let own: [ListingFilter.Clause?] = [
            query.publishers.isEmpty ? nil : .publisher(query.publishers),
            query.years.isEmpty ? nil : .facts("year", query.years),
            query.pages.isEmpty ? nil : .facts("pages", query.pages),
        ]
        let flags = ["isOwned", "isOnWishlist", "isFavourite"].map { "(\($0) <> 0)" } + own.map(passes)
        let bits = flags.enumerated().map { place, flag in " | (\(flag) << \(OwnBits.flags + place))" }.joined()
        return try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT status | (coalesce(rating / 4, 6) << \(OwnBits.rating))\(bits),
                        summary, shelf, language, tags, \(hasAuthors ? "authors" : "''")
                    FROM \(tables)
                    """),
            arguments: own.reduce(into: []) { $0 += $1?.arguments ?? [] } + arguments)
    }

    /// Returns the clauses after FROM for the present reader's rows of `listing`, with their rows of `copyFacts`, that
    /// match the text and pass the filter.
    ///
    /// - Parameter copies: the range of the row ids of the copies.
    private func matches(
        _ filter: ListingFilter, _ copies: ClosedRange<Int64> = Self.whole
    ) throws -> (sql: String, arguments: StatementArguments) {
        let facts = "CROSS JOIN copyFacts ON copyFacts.copy = listing.copy"
        let part: StatementArguments = [copies.lowerBound, copies.upperBound]
        guard let all = try QueryText(query, db)?.all else {
            return (
                """
                listing NOT INDEXED \(facts)
                WHERE listing.id BETWEEN (reader() << 40) + ? AND (reader() << 40) + ? AND \(filter.condition)
                """, part + filter.arguments
            )
        }
        return (
            """
            searchText CROSS JOIN listing ON \(ListingFilter.row(of: "searchText.rowid")) \(facts)
            WHERE searchText MATCH ? AND searchText.rowid BETWEEN ? AND ?
                AND \(all.condition) AND \(filter.condition)
            """, [all.match] + part + all.arguments + filter.arguments
        )
    }

    /// Parses row ids that are separated by spaces.
    private static func parse(_ row: Row, _ column: Int, _ numbers: inout [Int64]) {
        numbers.removeAll(keepingCapacity: true)
        guard var text = row[column] as String?, !text.isEmpty else { return }
        text.withUTF8 { bytes in
            var number: Int64 = 0
            for byte in bytes {
                if byte == UInt8(ascii: " ") {
                    numbers.append(number)
                    number = 0
                } else {
                    number = number &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
                }
            }
            numbers.append(number)
        }
    }

    private func named(_ counts: [Int64: Int], _ selection: String, limit: Int) throws -> [NameCount] {
        // Names with the same number of books are sorted by name, but the names are not known yet. So this fetches
        // every name that has at least as many books as the last name within the limit.
        var chosen = counts
        if counts.count > limit {
            let least = counts.values.sorted(by: >)[limit - 1]
            chosen = counts.filter { $0.value >= least }
        }
        let rows = try db.rows(
            "\(selection) WHERE id IN (SELECT value FROM json_each(?))", [jsonList(Array(chosen.keys))])
        let all = ordered(rows.map { NameCount(name: $0[1], count: chosen[$0[0] as Int64] ?? 0) })
        return Array(all.prefix(limit))
    }

    private func ordered(_ counts: [NameCount]) -> [NameCount] {
        counts.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    }
}

/// The columns of `listing` with few values, and whether the book passes the filters that SQL checks, in one number.
private struct OwnBits {
    /// The places of the stars and of the first flag in the number. The status comes first.
    static let (rating, flags) = (3, 6)

    private let bits: Int

    init(_ bits: Int) { self.bits = bits }

    /// The position in `Copy.Status.allCases`.
    var status: Int { bits & 7 }
    /// The whole stars; `nil` without a rating.
    var stars: Int? {
        let stars = bits >> Self.rating & 7
        return stars == 6 ? nil : stars
    }

    var isOwned: Bool { has(0) }
    var isOnWishlist: Bool { has(1) }
    var isFavourite: Bool { has(2) }
    var isOfPublisher: Bool { has(3) }
    var isOfYear: Bool { has(4) }
    var isOfLength: Bool { has(5) }

    private func has(_ flag: Int) -> Bool { bits >> (Self.flags + flag) & 1 == 1 }
}

extension NamedFacet {
    /// The column of `copyFacts` with the name.
    var column: String { self == .publisher ? "publisher" : "series" }

    /// The expression by which names are compared: those of series ignoring case, those of publishers exactly.
    var key: String { self == .publisher ? column : "\(column) COLLATE NOCASE" }

    fileprivate func areSame(_ one: String, _ other: String) -> Bool {
        self == .publisher ? one == other : one.lowercased() == other.lowercased()
    }
}
