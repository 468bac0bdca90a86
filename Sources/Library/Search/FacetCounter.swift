import Bookplate
import GRDB

/// Counts the books for each value of each filter, in one pass. A book that passes all filters is counted for every
/// filter. A book that fails exactly one filter is counted only for that filter. A book that fails two or more filters
/// is not counted.
struct FacetCounter {
    private enum Facet {
        case status, rating, tag, shelf, language, author, format, year, pages, publisher, missing
        case owned, wishlist, favourite
    }

    private let db: Database
    private let query: BookQuery
    private static let authorLimit = 20

    init(_ db: Database, _ query: BookQuery) {
        self.db = db
        self.query = query
    }

    func count(countsAuthors: Bool) throws -> BookFacets {
        guard query.text.isEmpty || query.hasWords else { return BookFacets() }
        let statuses = Set(query.statuses.map(ListingFilter.code))
        let tags = Set(try ListingFilter.tagRows(db, query.tags))
        let shelves = Set(try ListingFilter.shelfRows(db, query.shelves))
        let authors = Set(try ListingFilter.authorRows(db, query.authors))
        let formats = Set(query.formats.compactMap(Metadata.Format.allCases.firstIndex))
        let rest = self.rest
        let lacks = rest.missing.isEmpty ? query.missing.reduce(0) { $0 | Self.bit(of: $1) } : 0
        let filter = try ListingFilter(db, rest)

        var facets = BookFacets()
        var statusCounts = [Int](repeating: 0, count: Copy.Status.allCases.count)
        var ratingCounts = [Int](repeating: 0, count: 7)
        var tagCounts: [Int64: Int] = [:]
        var shelfCounts: [Int64: Int] = [:]
        var languageCounts: [String: Int] = [:]
        var authorCounts: [Int64: Int] = [:]
        var formatCounts = [Int](repeating: 0, count: Metadata.Format.allCases.count)
        var pageCounts = [Int](repeating: 0, count: PageBand.allCases.count)
        var missingCounts = [Int](repeating: 0, count: MissingField.counted.count)
        var decadeCounts: [Int: Int] = [:]
        var (rowTags, rowAuthors): ([Int64], [Int64]) = ([], [])

        let rows = try cursor(filter, countsAuthors || !authors.isEmpty)
        while let row = try rows.next() {
            let status: Int64 = row[0]
            let rating: Int? = row[1]
            let (isOwned, isOnWishlist, isFavourite): (Bool, Bool, Bool) = (row[2], row[3], row[4])
            let shelf: Int64? = row[5]
            let language: String? = row[6]
            Self.parse(row, 7, &rowTags)
            Self.parse(row, 8, &rowAuthors)
            let facts = FactsSummary(row[9])
            let (isOfPublisher, isOfYear, isOfLength): (Bool, Bool, Bool) = (row[10], row[11], row[12])
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
            fail(.status, unless: query.statuses.isEmpty || statuses.contains(status))
            if !query.ratings.isEmpty {
                fail(.rating, unless: query.ratings.contains(rating.map { .stars($0 / 4) } ?? .unrated))
            }
            fail(.tag, unless: query.tags.isEmpty || rowTags.contains(where: tags.contains))
            fail(.shelf, unless: query.shelves.isEmpty || shelf.map(shelves.contains) ?? false)
            fail(.language, unless: query.languages.isEmpty || language.map(query.languages.contains) ?? false)
            fail(.author, unless: query.authors.isEmpty || rowAuthors.contains(where: authors.contains))
            fail(.format, unless: formats.isEmpty || facts.format.map(formats.contains) ?? false)
            fail(.year, unless: isOfYear)
            fail(.pages, unless: isOfLength)
            fail(.publisher, unless: isOfPublisher)
            fail(.missing, unless: lacks == 0 || missing & lacks != 0)
            fail(.owned, unless: query.isOwned.map { $0 == isOwned } ?? true)
            fail(.wishlist, unless: query.isOnWishlist.map { $0 == isOnWishlist } ?? true)
            fail(.favourite, unless: query.isFavourite.map { $0 == isFavourite } ?? true)
            guard failures < 2 else { continue }
            func counts(_ facet: Facet) -> Bool { failures == 0 || failed == facet }

            if counts(.status) { statusCounts[Int(status)] += 1 }
            if counts(.rating) { ratingCounts[rating.map { $0 / 4 } ?? 6] += 1 }
            if counts(.tag) { for tag in rowTags { tagCounts[tag, default: 0] += 1 } }
            if counts(.shelf), let shelf { shelfCounts[shelf, default: 0] += 1 }
            if counts(.language), let language { languageCounts[language, default: 0] += 1 }
            if countsAuthors, counts(.author) { for author in rowAuthors { authorCounts[author, default: 0] += 1 } }
            if counts(.format), let format = facts.format { formatCounts[format] += 1 }
            if counts(.year), let year = facts.year { decadeCounts[year / 10 * 10, default: 0] += 1 }
            if counts(.pages), let band = facts.pageBand { pageCounts[band] += 1 }
            if counts(.missing), missing != 0 {
                for bit in missingCounts.indices where missing & 1 << bit != 0 { missingCounts[bit] += 1 }
            }
            if failures == 0 { facets.total += 1 }
            if counts(.owned) { if isOwned { facets.owned += 1 } else { facets.notOwned += 1 } }
            if counts(.wishlist), isOnWishlist { facets.wishlist += 1 }
            if counts(.favourite), isFavourite { facets.favourites += 1 }
        }

        for (index, status) in Copy.Status.allCases.enumerated() { facets.statuses[status] = statusCounts[index] }
        for (index, count) in ratingCounts.enumerated() {
            facets.ratings[index == 6 ? .unrated : .stars(index)] = count
        }
        facets.statuses = facets.statuses.filter { $0.value > 0 || query.statuses.contains($0.key) }
        facets.ratings = facets.ratings.filter { $0.value > 0 || query.ratings.contains($0.key) }
        for (index, format) in Metadata.Format.allCases.enumerated() where formatCounts[index] > 0 {
            facets.formats[format] = formatCounts[index]
        }
        for format in query.formats { facets.formats[format, default: 0] += 0 }
        for band in PageBand.allCases where pageCounts[band.rawValue] > 0 || query.pages.contains(band.range) {
            facets.pages[band] = pageCounts[band.rawValue]
        }
        for (index, field) in MissingField.counted.enumerated()
        where missingCounts[index] > 0 || query.missing.contains(field) {
            facets.missing[field] = missingCounts[index]
        }
        facets.decades = decadeCounts
        for tag in tags { tagCounts[tag, default: 0] += 0 }
        for shelf in shelves { shelfCounts[shelf, default: 0] += 0 }
        for language in query.languages { languageCounts[language, default: 0] += 0 }
        facets.tags = try named(tagCounts, "SELECT id, displayName FROM tag", limit: .max)
        facets.shelves = try named(shelfCounts, "SELECT id, displayName FROM shelf", limit: .max)
        facets.languages = ordered(languageCounts.map { NameCount(name: $0.key, count: $0.value) })
        facets.authors = try named(authorCounts, "SELECT id, name FROM author", limit: Self.authorLimit)
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

    /// - Parameter hasAuthors: true if the rows need the authors.
    private func cursor(_ filter: ListingFilter, _ hasAuthors: Bool) throws -> RowCursor {
        let (tables, arguments) = try matches(filter)
        func passes(_ clause: ListingFilter.Clause?) -> String { clause.map { "(\($0.sql)) IS TRUE" } ?? "1" }
        let own: [ListingFilter.Clause?] = [
            query.publishers.isEmpty ? nil : .publisher(query.publishers),
            query.years.isEmpty ? nil : .facts("year", query.years),
            query.pages.isEmpty ? nil : .facts("pages", query.pages),
        ]
        return try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, tags,
                        \(hasAuthors ? "authors" : "''"), summary, \(own.map(passes).joined(separator: ", "))
                    FROM \(tables)
                    """),
            arguments: own.reduce(into: []) { $0 += $1?.arguments ?? [] } + arguments)
    }

    /// Returns the clauses after FROM for the present reader's rows of `listing`, with their rows of `copyFacts`, that
    /// match the text and pass the filter.
    private func matches(_ filter: ListingFilter) throws -> (sql: String, arguments: StatementArguments) {
        let facts = "CROSS JOIN copyFacts ON copyFacts.copy = listing.copy"
        guard let all = try QueryText(query, db)?.all else {
            return (
                """
                listing NOT INDEXED \(facts)
                WHERE listing.id BETWEEN reader() << 40 AND ((reader() + 1) << 40) - 1 AND \(filter.condition)
                """, filter.arguments
            )
        }
        return (
            """
            searchText CROSS JOIN listing ON \(ListingFilter.row(of: "searchText.rowid")) \(facts)
            WHERE searchText MATCH ? AND \(all.condition) AND \(filter.condition)
            """, [all.match] + all.arguments + filter.arguments
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

extension NamedFacet {
    /// The column of `copyFacts` with the name.
    var column: String { self == .publisher ? "publisher" : "series" }

    /// The expression by which names are compared: those of series ignoring case, those of publishers exactly.
    var key: String { self == .publisher ? column : "\(column) COLLATE NOCASE" }

    fileprivate func areSame(_ one: String, _ other: String) -> Bool {
        self == .publisher ? one == other : one.lowercased() == other.lowercased()
    }
}
