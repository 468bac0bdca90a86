import Bookplate
import GRDB

/// Counts the books for each value of each filter, in one pass. A book that passes all filters is counted for every
/// filter. A book that fails exactly one filter is counted only for that filter. A book that fails two or more filters
/// is not counted.
struct FacetCounter {
    private enum Facet: Int { case status, rating, tag, shelf, language, author, owned, wishlist, favourite, date }

    private let db: Database
    private let query: BookQuery
    private static let authorLimit = 20

    init(_ db: Database, _ query: BookQuery) {
        self.db = db
        self.query = query
    }

    func count() throws -> BookFacets {
        guard query.text.isEmpty || query.hasWords else { return BookFacets() }
        let statuses = Set(query.statuses.map(ListingFilter.code))
        let tags = Set(try ListingFilter.tagRows(db, query.tags))
        let shelves = Set(try ListingFilter.shelfRows(db, query.shelves))
        let authors = Set(try ListingFilter.authorRows(db, query.authors))
        var dates = BookQuery()
        (dates.added, dates.started, dates.finished) = (query.added, query.started, query.finished)
        (dates.zone, dates.inTrash, dates.missing) = (query.zone, query.inTrash, query.missing)
        (dates.condition, dates.searchesAnnotations) = (query.condition, query.searchesAnnotations)
        (dates.readBy, dates.notReadBy, dates.readByNobody) = (query.readBy, query.notReadBy, query.readByNobody)
        let filter = try ListingFilter(db, dates)

        var facets = BookFacets()
        var statusCounts = [Int](repeating: 0, count: Copy.Status.allCases.count)
        var ratingCounts = [Int](repeating: 0, count: 7)
        var tagCounts: [Int64: Int] = [:]
        var shelfCounts: [Int64: Int] = [:]
        var languageCounts: [String: Int] = [:]
        var authorCounts: [Int64: Int] = [:]
        var (rowTags, rowAuthors): ([Int64], [Int64]) = ([], [])

        let rows = try cursor(filter)
        while let row = try rows.next() {
            let status: Int64 = row[0]
            let rating: Int? = row[1]
            let (isOwned, isOnWishlist, isFavourite): (Bool, Bool, Bool) = (row[2], row[3], row[4])
            let shelf: Int64? = row[5]
            let language: String? = row[6]
            Self.parse(row, 7, &rowTags)
            Self.parse(row, 8, &rowAuthors)

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
            if counts(.author) { for author in rowAuthors { authorCounts[author, default: 0] += 1 } }
            if counts(.owned), isOwned { facets.owned += 1 }
            if counts(.wishlist), isOnWishlist { facets.wishlist += 1 }
            if counts(.favourite), isFavourite { facets.favourites += 1 }
        }

        for (index, status) in Copy.Status.allCases.enumerated() { facets.statuses[status] = statusCounts[index] }
        for (index, count) in ratingCounts.enumerated() {
            facets.ratings[index == 6 ? .unrated : .stars(index)] = count
        }
        facets.statuses = facets.statuses.filter { $0.value > 0 || query.statuses.contains($0.key) }
        facets.ratings = facets.ratings.filter { $0.value > 0 || query.ratings.contains($0.key) }
        for tag in tags { tagCounts[tag, default: 0] += 0 }
        for shelf in shelves { shelfCounts[shelf, default: 0] += 0 }
        for language in query.languages { languageCounts[language, default: 0] += 0 }
        facets.tags = try named(tagCounts, "SELECT id, displayName FROM tag", limit: .max)
        facets.shelves = try named(shelfCounts, "SELECT id, displayName FROM shelf", limit: .max)
        facets.languages = ordered(languageCounts.map { NameCount(name: $0.key, count: $0.value) })
        facets.authors = try named(authorCounts, "SELECT id, name FROM author", limit: Self.authorLimit)
        return facets
    }

    private func cursor(_ filter: ListingFilter) throws -> RowCursor {
        let columns = "status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, tags, authors"
        guard let all = try QueryText(query, db)?.all else {
            return try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT \(columns) FROM listing NOT INDEXED
                        WHERE listing.id BETWEEN reader() << 40 AND ((reader() + 1) << 40) - 1 AND \(filter.condition)
                        """),
                arguments: filter.arguments)
        }
        return try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT \(columns) FROM searchText CROSS JOIN listing ON \(ListingFilter.row(of: "searchText.rowid"))
                    WHERE searchText MATCH ? AND \(all.condition) AND \(filter.condition)
                    """),
            arguments: [all.match] + all.arguments + filter.arguments)
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
