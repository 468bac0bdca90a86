import Bookplate
import FoundationEssentials
import GRDB
import LibraryMaker
import Testing

@testable import Library

@Suite struct `The order of a list` {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func save(
        _ number: Int, _ title: String, by author: String? = nil, language: String? = "en", series: String? = nil
    ) async throws {
        _ = try await library.save(
            isbn(number),
            record(title) {
                ($0.authors, $0.language, $0.series) = (author.map { [Contributor(name: $0)] } ?? [], language, series)
            })
    }

    private func titles(_ sort: BookQuery.Sort, _ change: (inout BookQuery) -> Void = { _ in }) async throws -> [String]
    {
        var query = BookQuery()
        query.sort = sort
        change(&query)
        return try await library.books(matching: query).books.map(\.displayTitle)
    }

    @Test func `by title ignores articles unless the setting says otherwise`() async throws {
        for (index, (title, language)) in [
            ("The Dispossessed", "en"), ("Die Verwandlung", "de"), ("Die Hard", "en"), ("Emma", "en"),
        ].enumerated() { try await save(index, title, language: language) }
        let ignoring = ["Die Hard", "The Dispossessed", "Emma", "Die Verwandlung"]
        #expect(try await titles(.title) == ignoring)
        let change = try await library.set(LibrarySetting.ignoreArticles.rawValue, to: "0", at: noon)
        #expect(try await titles(.title) == ["Die Hard", "Die Verwandlung", "Emma", "The Dispossessed"])
        _ = try await library.undo(try #require(change), at: noon)
        #expect(try await titles(.title) == ignoring)
        // A whole title still comes first in a search, with and without its article.
        try await save(9, "The Dispossessed and others")
        for text in ["the dispossessed", "The  Dispossessed!"] {
            var query = BookQuery()
            query.text = text
            let hits = try await library.books(matching: query).hits
            #expect(hits.map(\.book.displayTitle) == ["The Dispossessed", "The Dispossessed and others"])
            #expect(hits[0].match?.isWholeTitle == true)
        }
        #expect(try await library.find("the").contains("The Dispossessed"))
    }

    @Test func `by author follows family names, corrections and the setting`() async throws {
        for (index, author) in [
            "Ursula K. Le Guin", "Jane Austen", "Gabriel García Márquez", "Anna Smith Jones", "Zoe Smith",
        ]
        .enumerated() { try await save(index, author, by: author) }
        #expect(
            try await titles(.author) == [
                "Jane Austen", "Anna Smith Jones", "Ursula K. Le Guin", "Gabriel García Márquez", "Zoe Smith",
            ])
        _ = try await library.setSortName(of: "Gabriel García Márquez", to: "García Márquez, Gabriel", at: noon)
        _ = try await library.setSortName(of: "Anna Smith Jones", to: "Smith Jones, Anna", at: noon)
        #expect(
            try await titles(.author) == [
                "Jane Austen", "Gabriel García Márquez", "Ursula K. Le Guin", "Zoe Smith", "Anna Smith Jones",
            ])
        _ = try await library.set(LibrarySetting.authorsByFamilyName.rawValue, to: "0", at: noon)
        #expect(
            try await titles(.author) == [
                "Anna Smith Jones", "Gabriel García Márquez", "Jane Austen", "Ursula K. Le Guin", "Zoe Smith",
            ])
        #expect(try await library.authors().map(\.name).first == "Anna Smith Jones")
    }

    @Test func `by addition is by day, then by when a book came`() async throws {
        // An import without times is stamped at noon, so that it must not win over a scan of the same morning.
        for (index, (title, hour)) in [("Imported", 12.0), ("Scanned", 9), ("Next day", 24), ("Day before", -1)]
            .enumerated()
        {
            let midnight = Date(timeIntervalSince1970: 1_795_219_200)
            try await library.save(isbn(index), record(title), at: midnight.addingTimeInterval(hour * 3600))
        }
        #expect(try await titles(.added) == ["Next day", "Scanned", "Imported", "Day before"])
        #expect(try await titles(.added) { $0.isReversed = true } == ["Day before", "Imported", "Scanned", "Next day"])
    }

    @Test func `is filtered by series, whatever the case`() async throws {
        try await save(1, "One", series: "Earthsea")
        try await save(2, "Two", series: "EARTHSEA")
        try await save(3, "Other", series: "Earthsea Tales")
        #expect(try await titles(.title) { $0.series = ["earthsea"] } == ["One", "Two"])
        #expect(try await titles(.title) { $0.series = ["none"] } == [])
        var query = BookQuery()
        #expect(
            try await library.counts(of: .series, matching: query, limit: 9) == [
                NameCount(name: "EARTHSEA", count: 2), NameCount(name: "Earthsea Tales", count: 1),
            ])
        // A chosen series is counted even if it has few books or none, and its filter does not narrow the counts.
        query.series = ["earthsea tales", "none"]
        #expect(
            try await library.counts(of: .series, matching: query, limit: 0) == [
                NameCount(name: "EARTHSEA", count: 2), NameCount(name: "Earthsea Tales", count: 1),
                NameCount(name: "none", count: 0),
            ])
        #expect(
            try await library.suggestions(for: .series, beginning: "TALES", limit: 5) == [
                NameCount(name: "Earthsea Tales", count: 1)
            ])
    }
}

@Suite struct `The letters of a list` {
    let folder = Folder()
    let library: LibraryFile

    init() async throws {
        try await copyMadeLibrary(to: folder("library.sqlite"), copies: 400, seed: 5)
        library = try LibraryFile.open(at: folder("library.sqlite"))
    }

    @Test(arguments: [BookQuery.Sort.title, .author], [false, true])
    func `lead to the books that begin with them, and back`(sort: BookQuery.Sort, isReversed: Bool) async throws {
        for text in ["", "the"] {
            var query = BookQuery()
            (query.sort, query.isReversed, query.limit, query.text) = (sort, isReversed, .max, text)
            query.statuses = [.read, .toRead]
            let all = try await library.books(matching: query).books.map(\.id)
            let groups = try await library.letters(matching: query)
            #expect(groups.count > 3 && groups.map(\.count).reduce(0, +) <= all.count)
            var place = 0
            for group in groups {
                query.after = group.start
                let from = try await library.books(matching: query)
                #expect(from.books.map(\.id) == Array(all.dropFirst(place)), "\(group)")
                #expect((from.start == nil) == (place == 0))
                (query.after, query.before, query.limit) = (nil, group.start, 7)
                let before = try await library.books(matching: query)
                #expect(before.books.map(\.id) == Array(all[..<place].suffix(7)))
                #expect((before.start == nil) == (place <= 7) && before.next == group.start)
                (query.before, query.limit) = (nil, .max)
                if let start = before.start {
                    query.after = start
                    #expect(try await library.books(matching: query).books.map(\.id) == Array(all.dropFirst(place - 7)))
                }
                query.after = nil
                place += group.count
            }
        }
    }

    @Test(arguments: BookQuery.Sort.allCases, [false, true])
    func `pages backwards have the same books as forwards`(sort: BookQuery.Sort, isReversed: Bool) async throws {
        var query = BookQuery()
        (query.sort, query.isReversed, query.limit) = (sort, isReversed, .max)
        let all = try await library.books(matching: query).books.map(\.id)
        query.limit = 150
        _ = try await library.books(matching: query)
        var tokens: [String] = []
        repeat {
            let page = try await library.books(matching: query)
            #expect(page.start == query.after)
            query.after = page.next
            page.next.map { tokens.append($0) }
        } while query.after != nil
        for (index, token) in tokens.enumerated() {
            query.before = token
            let page = try await library.books(matching: query)
            #expect(page.books.map(\.id) == Array(all[(index * 150)..<(index * 150 + 150)]))
        }
    }

    @Test func `are of no other order, and positions of a ranked search are refused`() async throws {
        var query = BookQuery()
        query.sort = .rating
        #expect(try await library.letters(matching: query).isEmpty)
        query.sort = .title
        let start = try #require(try await library.letters(matching: query).last?.start)
        (query.before, query.after) = (start, start)
        await #expect(throws: SearchRefusal.badPosition(start)) { try await library.books(matching: query) }
    }

    @Test func `are counted along the index of the order`() async throws {
        let plan = try await library.read { db in
            var statements: [String] = []
            db.trace { statements.append($0.expandedDescription) }
            var query = BookQuery()
            query.sort = .title
            _ = try BookSearch(db, query).letters()
            db.trace()
            return try statements.filter { $0.hasPrefix("SELECT") }.flatMap { sql in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
            }
        }
        #expect(
            plan.contains {
                $0
                    == "SEARCH listing USING COVERING INDEX listingByTitle (reader=? AND inTrash=? AND title>? AND title<?)"
            })
        #expect(!plan.contains { $0.contains("TEMP B-TREE") })
    }
}
