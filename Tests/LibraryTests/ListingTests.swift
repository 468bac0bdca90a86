import Bookplate
import FoundationEssentials
import GRDB
import LibraryMaker
import Testing

@testable import Library

/// Compares filters, sorts, pages and counts with a naive implementation that checks all books in memory.
@Suite struct ListingTests {
    let folder = Folder()
    let library: LibraryFile
    let books: [Book]

    init() async throws {
        try await copyMadeLibrary(to: folder("library.sqlite"), copies: 400, seed: 5)
        library = try LibraryFile.open(at: folder("library.sqlite"))
        var query = BookQuery()
        query.limit = .max
        books = try await library.books(matching: query).books
    }

    static let filters: [(name: String, set: @Sendable (inout BookQuery) -> Void, fits: @Sendable (Book) -> Bool)] = [
        ("status", { $0.statuses = [.read, .dnf] }, { [.read, .dnf].contains($0.copy.status) }),
        (
            "tag", { $0.tags = ["HISTORY", "café", "no such"] },
            { $0.copy.tags.contains { ["history", "Café"].contains($0) } }
        ),
        ("unknown tag", { $0.tags = ["no such"] }, { _ in false }),
        ("shelf", { $0.shelves = ["kitchen", "Étagère"] }, { ["Kitchen", "Étagère"].contains($0.copy.shelf) }),
        ("4 stars", { $0.ratings = [.stars(4)] }, { (4..<5).contains($0.copy.rating ?? 0) }),
        ("5 stars or none", { $0.ratings = [.stars(5), .unrated] }, { $0.copy.rating ?? 5 == 5 }),
        ("language", { $0.languages = ["fr", "tr"] }, { ["fr", "tr"].contains($0.edition.metadata.language) }),
        ("owned", { $0.isOwned = true }, { $0.copy.isOwned }),
        ("wishlist", { $0.isOnWishlist = true }, { $0.copy.isOnWishlist }),
        ("favourite", { $0.isFavourite = true }, { $0.copy.isFavourite }),
        (
            "added", { $0.added = Period(from: CalendarDay("2018"), to: CalendarDay("2019-06")) },
            {
                let day = CalendarDay($0.copy.added, in: .gmt)
                return day >= CalendarDay("2018-01-01")! && day <= CalendarDay("2019-06-30")!
            }
        ),
        (
            "started", { $0.started = Period(from: CalendarDay("2019-05-10"), to: CalendarDay("2021-05-20")) },
            { book in
                book.copy.reading?.started.map {
                    Period(from: CalendarDay("2019-05-10"), to: CalendarDay("2021-05-20")).mayContain($0)
                } ?? false
            }
        ),
        (
            "finished until", { $0.finished = Period(to: CalendarDay("2019-02")) },
            { $0.copy.reading?.finished.map { $0.span.lowerBound <= CalendarDay("2019-02-28")!.number! } ?? false }
        ),
        (
            "finished since", { $0.finished = Period(from: CalendarDay("2023-02-15")) },
            { $0.copy.reading?.finished.map { $0.span.upperBound >= CalendarDay("2023-02-15")!.number! } ?? false }
        ),
        ("format", { $0.formats = [.audiobook] }, { $0.edition.metadata.format == .audiobook }),
        (
            "years", { $0.years = [1950...1959, 2001...2001] },
            { book in
                book.edition.metadata.publishedDate.map { (1950...1959).contains($0.year) || $0.year == 2001 } ?? false
            }
        ),
        (
            "pages in a range", { $0.pages = [0...149, 500...Int.max] },
            { $0.edition.metadata.pageCount.map { !(150...499).contains($0) } ?? false }
        ),
        ("missing cover or ISBN", { $0.missing = [.cover, .isbn] }, { _ in true }),
        ("not owned", { $0.isOwned = false }, { !$0.copy.isOwned }),
        ("missing pages", { $0.missing = [.pages] }, { $0.edition.metadata.pageCount == nil }),
        ("missing ISBN", { $0.missing = [.isbn] }, { $0.edition.isbn == nil }),
        ("missing author", { $0.missing = [.author] }, { $0.edition.metadata.authorNames.isEmpty }),
        (
            "missing something", { $0.missing = [.title, .language, .publisher, .year, .format] },
            {
                let metadata = $0.edition.metadata
                return metadata.title == nil || metadata.language == nil || metadata.publisher == nil
                    || metadata.publishedDate == nil || metadata.format == nil
            }
        ),
        ("missing cover or description", { $0.missing = [.cover, .description] }, { _ in true }),
    ]

    @Test(arguments: filters.indices)
    func `each filter selects what fits, alone and with every other`(index: Int) async throws {
        for other in Self.filters.indices {
            let (one, two) = (Self.filters[index], Self.filters[other])
            var query = BookQuery()
            query.limit = .max
            one.set(&query)
            // Values of the same kind of filter are combined with OR, so two different filters of the same kind are
            // skipped.
            let isSameKind = other != index && Self.isSameKind(one.name, two.name)
            guard !isSameKind else { continue }
            two.set(&query)
            let wanted = books.filter { one.fits($0) && two.fits($0) }.map(\.id)
            let page = try await library.books(matching: query)
            #expect(page.books.map(\.id) == wanted, "\(one.name) and \(two.name)")
            #expect(page.total == wanted.count && page.isTotalExact)
        }
    }

    private static func isSameKind(_ one: String, _ two: String) -> Bool {
        let kinds = [
            ["tag", "unknown tag"], ["4 stars", "5 stars or none"], ["finished until", "finished since"],
            ["owned", "not owned"],
        ]
        return (kinds + [filters.map(\.name).filter { $0.hasPrefix("missing") }])
            .contains { $0.contains(one) && $0.contains(two) }
    }

    @Test func `an author is a filter by name, in any role`() async throws {
        let name = try #require(books.first { !$0.edition.metadata.authors.isEmpty }?.edition.metadata.authors[0].name)
        let wanted = books.filter { $0.edition.metadata.authors.contains { $0.name == name } }.map(\.id)
        var query = BookQuery()
        query.authors = [name.uppercased()]
        #expect(try await library.books(matching: query).books.map(\.id) == wanted)
    }

    @Test(arguments: BookQuery.Sort.allCases, [false, true])
    func `every sort has empty values last, and its pages join`(sort: BookQuery.Sort, isReversed: Bool) async throws {
        var query = BookQuery()
        (query.sort, query.isReversed, query.limit) = (sort, isReversed, 37)
        var pages: [Book] = []
        repeat {
            let page = try await library.books(matching: query)
            #expect(page.total == books.count && page.isTotalExact)
            pages += page.books
            query.after = page.next
        } while query.after != nil
        #expect(Set(pages.map(\.id)).count == books.count && pages.count == books.count)

        var splitter = WordSplitter()
        func words(_ text: String) -> String { SearchIndex.joined(splitter.words(of: text, for: .query)) }
        let keys: [String?] = pages.map { book in
            switch sort {
            case .added: String(Int64(book.copy.added.timeIntervalSince1970) / 86_400 + 100_000)
            case .started: book.copy.reading?.started?.description
            case .finished: book.copy.reading?.finished?.description
            case .title:
                book.edition.metadata.title.map {
                    words(String(SortTitle($0, language: book.edition.metadata.language).rest))
                }
            case .author:
                book.edition.metadata.authorNames.first.map { name in
                    SortName.derived(from: name).split(separator: ",").map { words(String($0)) }.joined(
                        separator: "\u{2}")
                }
            case .rating: book.copy.rating.map { String($0 + 100) }
            }
        }
        let filled = keys.prefix { $0 != nil }.compactMap(\.self)
        #expect(keys.dropFirst(filled.count).allSatisfy { $0 == nil })
        let isRising = (sort == .title || sort == .author) != isReversed
        let risen = isRising ? filled : filled.reversed()
        for (first, second) in zip(risen, risen.dropFirst()) {
            #expect(first == second || first.utf8.lexicographicallyPrecedes(second.utf8))
        }
    }

    @Test(arguments: [nil, .added, .title, .author, .rating, .finished] as [BookQuery.Sort?], ["", "the", "t"])
    func `pages stay in place while books are added and removed`(sort: BookQuery.Sort?, text: String) async throws {
        var query = BookQuery()
        (query.sort, query.text, query.limit) = (sort, text, .max)
        let wanted = try await library.books(matching: query).books
        query.limit = 10
        var seen: [ID<Copy>] = []
        var gone: Set<ID<Copy>> = []
        for round in 0... {
            let page = try await library.books(matching: query)
            seen += page.books.map(\.id)
            query.after = page.next
            guard query.after != nil, round < 12 else { break }
            // Each round removes the first and the last book of the page, and a book that has not been shown yet. Then
            // it adds one book near the beginning of the order and one near the end.
            let ids = [
                page.books[0].id, page.books[9].id, wanted.last { !seen.contains($0.id) && !gone.contains($0.id) }?.id,
            ]
            .compactMap(\.self)
            gone.formUnion(ids)
            _ = try await library.trash(ids, at: noon)
            for title in ["The A\(round)", "The Z\(round)"] {
                try await library.save(
                    isbn(1000 + round * 2 + (title.hasPrefix("The A") ? 0 : 1)), record(title), at: noon)
            }
        }
        let added = Set(seen).subtracting(wanted.map(\.id))
        let old = seen.filter { !added.contains($0) }
        // Each book is shown once and in order, except books that were removed before they were shown.
        #expect(Set(seen).count == seen.count)
        let expected = wanted.map(\.id).filter { old.contains($0) || !gone.contains($0) }
        #expect(old == Array(expected.prefix(old.count)))
    }

    @Test(arguments: ["", "x", "???", "MXwx", "🐛", String(repeating: "A", count: 10_000)])
    func `an invalid page token is refused`(token: String) async throws {
        var query = BookQuery()
        query.after = token
        await #expect(throws: SearchRefusal.badPosition(token)) { try await library.books(matching: query) }
    }

    @Test func `a page token of one list is refused in another`() async throws {
        var query = BookQuery()
        query.limit = 5
        let token = try #require(try await library.books(matching: query).next)
        #expect(token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
        query.after = token
        for change in [{ $0.sort = .title }, { $0.text = "the" }, { $0.inTrash = true }] as [(inout BookQuery) -> Void]
        {
            var other = query
            change(&other)
            await #expect(throws: SearchRefusal.badPosition(token)) { try await library.books(matching: other) }
        }
        #expect(try await library.books(matching: query).hits.count == 5)
    }

    @Test(arguments: [0, -5, 1, 399, 400, 401])
    func `a page has the requested number of books`(limit: Int) async throws {
        var query = BookQuery()
        query.limit = limit
        let page = try await library.books(matching: query)
        #expect(page.hits.count == min(max(0, limit), books.count) && page.total == books.count)
        #expect((page.next == nil) == (limit <= 0 || limit >= books.count))
    }

    @Test func `counting ends at its limit, and says so`() async throws {
        var query = BookQuery()
        (query.statuses, query.limit, query.countLimit) = ([.read], 5, 20)
        let page = try await library.books(matching: query)
        #expect(page.total == 20 && !page.isTotalExact)
        query.text = "the"
        let found = try await library.books(matching: query)
        #expect(found.total == 20 && !found.isTotalExact)
    }

    @Test(
        arguments: ["", "the", "t", "zz"],
        [[], [0], [1, 3], [0, 1, 3, 4, 7], [10], [11, 6], [2], [14], [15, 16], [17, 0]] as [[Int]])
    func `facets count the books for each value`(text: String, chosen: [Int]) async throws {
        var query = BookQuery()
        query.text = text
        for index in chosen { Self.filters[index].set(&query) }
        let facets = try await library.facets(matching: query)
        func count(_ change: (inout BookQuery) -> Void) async throws -> Int {
            var query = query
            change(&query)
            query.limit = 1
            return try await library.books(matching: query).total
        }
        for status in Copy.Status.allCases {
            #expect(try await count { $0.statuses = [status] } == facets.statuses[status] ?? 0)
        }
        for band in RatingBand.all { #expect(try await count { $0.ratings = [band] } == facets.ratings[band] ?? 0) }
        for tag in ["history", "Café", "fantasy"] {
            #expect(try await count { $0.tags = [tag] } == facets.tags.first { $0.name == tag }?.count ?? 0)
        }
        for shelf in ["Kitchen", "Attic"] {
            #expect(try await count { $0.shelves = [shelf] } == facets.shelves.first { $0.name == shelf }?.count ?? 0)
        }
        for code in ["en", "fr"] {
            #expect(try await count { $0.languages = [code] } == facets.languages.first { $0.name == code }?.count ?? 0)
        }
        if let author = facets.authors.first {
            #expect(try await count { $0.authors = [author.name] } == author.count)
        }
        for format in Metadata.Format.allCases {
            #expect(try await count { $0.formats = [format] } == facets.formats[format] ?? 0)
        }
        for band in PageBand.allCases {
            #expect(try await count { $0.pages = [band.range] } == facets.pages[band] ?? 0)
        }
        for decade in [1950, 1990, 2010] {
            #expect(try await count { $0.years = [decade...decade + 9] } == facets.decades[decade] ?? 0)
        }
        for field in MissingField.counted {
            #expect(try await count { $0.missing = [field] } == facets.missing[field] ?? 0, "\(field)")
        }
        for facet in [NamedFacet.publisher, .series] {
            let names = try await library.counts(of: facet, matching: query, limit: 5)
            #expect(
                names.count <= 5
                    && names == names.sorted { $0.count > $1.count || $0.count == $1.count && $0.name < $1.name })
            for name in names {
                let found = try await count {
                    if facet == .series { $0.series = [name.name] } else { $0.publishers = [name.name] }
                }
                #expect(found == name.count, "\(name)")
            }
        }
        #expect(try await count { _ in } == facets.total)
        #expect(try await count { $0.isOwned = true } == facets.owned)
        #expect(try await count { $0.isOwned = false } == facets.notOwned)
        #expect(try await count { $0.isOnWishlist = true } == facets.wishlist)
        #expect(try await count { $0.isFavourite = true } == facets.favourites)
        #expect(facets.authors.count <= 20)
    }
}
