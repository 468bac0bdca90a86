import Bookplate
import GRDB
import LibraryMaker
import Testing

@testable import Library

/// Checks the speed of searches by their query plans instead of their times.
@Suite struct SearchPlanTests {
    let folder = Folder()
    let library: LibraryFile

    init() async throws {
        try await copyMadeLibrary(to: folder("library.sqlite"), copies: 100, seed: 1)
        library = try LibraryFile.open(at: folder("library.sqlite"))
    }

    /// Returns the lines of the query plan of every statement that `body` runs.
    private func plans(_ body: @Sendable @escaping (Database) throws -> Void) async throws -> [String] {
        try await library.read { db in
            var statements: [String] = []
            db.trace { statements.append($0.expandedDescription) }
            try body(db)
            db.trace()
            return try statements.filter { $0.hasPrefix("SELECT") }.flatMap { sql in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
            }
        }
    }

    /// Returns true if a line is a scan of a whole table. Word lists, the values of an argument and subqueries do not
    /// count as tables.
    private func isWholeTable(_ line: String) -> Bool {
        line.hasPrefix("SCAN ")
            && ![
                "SCAN searchText", "SCAN main.searchText_config", "SCAN json_each", "SCAN few", "SCAN (", "SCAN value",
                // A household has few readers.
                "SCAN reader", "SCAN CONSTANT ROW",
            ].contains {
                line.hasPrefix($0)
            }
    }

    @Test(arguments: BookQuery.Sort.allCases, ["", "the", "t", "the gar"])
    func `no page scans a whole table`(sort: BookQuery.Sort, text: String) async throws {
        for index in ListingTests.filters.indices {
            for isReversed in [false, true] {
                let lines = try await plans { db in
                    var query = BookQuery()
                    (query.text, query.sort, query.isReversed, query.limit) = (text, sort, isReversed, 5)
                    ListingTests.filters[index].set(&query)
                    query.after = try BookSearch(db, query).results().next
                    _ = try BookSearch(db, query).results()
                    query.sort = text.isEmpty ? query.sort : nil
                    query.after = nil
                    _ = try BookSearch(db, query).results()
                }
                #expect(!lines.isEmpty)
                let whole = lines.filter(isWholeTable)
                #expect(whole.isEmpty, "\(ListingTests.filters[index].name), \(sort)")
            }
        }
    }

    @Test(arguments: BookQuery.Sort.allCases, [false, true])
    func `a list without filters is walked along its index, and not sorted`(
        sort: BookQuery.Sort, isReversed: Bool
    ) async throws {
        let lines = try await plans { db in
            var query = BookQuery()
            (query.sort, query.isReversed, query.limit) = (sort, isReversed, 5)
            query.after = try BookSearch(db, query).results().next
            _ = try BookSearch(db, query).results()
        }
        let name = sort == .added ? "AddedDay" : sort.rawValue.prefix(1).uppercased() + sort.rawValue.dropFirst()
        #expect(
            lines.contains {
                $0.hasPrefix("SEARCH listing USING COVERING INDEX listingBy\(name) (reader=? AND inTrash=?")
            })
        #expect(!lines.contains { $0.hasPrefix("USE TEMP B-TREE FOR ORDER BY") && lines.count < 3 })
    }

    @Test func `other editions of a book are found along the index of titles`() async throws {
        let lines = try await plans { db in
            let title = "The Garden: a novel"
            let identity = try #require(WorkIdentity(title: title, author: "A"))
            _ = try DuplicateQuery(db).editions(like: identity, title: title)
        }
        #expect(lines.contains { $0.contains("listingByTitle (reader=? AND inTrash=? AND title>? AND title<?)") })
        #expect(!lines.contains(where: isWholeTable))
    }

    @Test func `names are completed along their index`() async throws {
        for kind in [NameKind.author, .tag] {
            let lines = try await plans { db in _ = try suggestedNames(db, kind, "a", 5) }
            #expect(lines.contains { $0.contains("ByFolded (folded>? AND folded<?)") })
            #expect(!lines.contains(where: isWholeTable))
        }
    }
}
