import Bookplate
import Foundation
import LibraryMaker
import TestTools
import Testing

@testable import Library

private let today = CalendarDay(noon, in: .gmt)

extension LibraryFile {
    /// Finds books with the query language.
    fileprivate func find(query text: String, _ more: (inout BookQuery) -> Void = { _ in }) async throws -> [String] {
        let context = QueryContext(
            today: today, readers: try await readers(), filters: try await savedFilters())
        var query = BookQuery()
        query.add(try QueryParser(context).parse(text))
        more(&query)
        return try await books(matching: query).books.map(\.displayTitle)
    }
}

/// A table of docs/query.md.
private struct DocumentTable {
    var columns: [String]
    var rows: [[String]]

    static func all() throws -> [DocumentTable] {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/query.md")
        var tables: [DocumentTable] = []
        var isInside = false
        for line in try String(contentsOf: page, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            guard line.hasPrefix("|"), line.hasSuffix("|") else {
                isInside = false
                continue
            }
            let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if !isInside {
                tables.append(DocumentTable(columns: cells, rows: []))
            } else if !line.hasPrefix("|---") {
                tables[tables.count - 1].rows.append(cells)
            }
            isInside = true
        }
        return tables
    }

    static func with(_ column: String) throws -> DocumentTable {
        try #require(try all().first { $0.columns.first == column })
    }
}

/// The shelf of docs/query.md.
private func documentedShelf() async throws -> LibraryFile {
    let library = try LibraryFile.inMemory()
    let table = try DocumentTable.with("title")
    for (index, row) in table.rows.enumerated() {
        let cells = Dictionary(uniqueKeysWithValues: zip(table.columns, row))
        func cell(_ name: String) -> String? { cells[name].flatMap { $0.isEmpty ? nil : $0 } }
        let metadata = record(cell("title") ?? "", by: [cell("author")].compactMap(\.self)) {
            $0.publishedDate = cell("year").flatMap { CalendarDay($0) }
            $0.pageCount = cell("pages").flatMap { Int($0) }
            $0.language = cell("lang")
            $0.publisher = cell("publisher")
            $0.series = cell("series")
        }
        let preset = Preset(
            shelf: cell("shelf"), tags: cell("tags").map { $0.components(separatedBy: ", ") } ?? [],
            status: try #require(cell("status").flatMap(Copy.Status.init(parsing:))))
        let rating = cell("rating").flatMap(Double.init)
        let notes = cell("note").map { [Note(text: $0, created: noon)] } ?? []
        let dates = DateEdit(finished: cell("finished").flatMap { CalendarDay($0) }.map { .set($0) } ?? .keep)
        _ = try await library.enter(
            confirmed(nil, metadata, preset: preset), notes: notes, dates: dates,
            at: noon.addingTimeInterval(Double(index))
        ) { $0.rating = rating }
    }
    return library
}

private func madeLibrary(in folder: Folder, copies: Int) async throws -> LibraryFile {
    try await makeLibrary(at: folder("library.sqlite"), copies: copies)
    return try LibraryFile.open(at: folder("library.sqlite"))
}

@Suite struct QueryTests {
    @Test func `finds what docs/query.md says`() async throws {
        let library = try await documentedShelf()
        let table = try DocumentTable.with("query")
        #expect(table.rows.count >= 40)
        for row in table.rows {
            let query = String(row[0].dropFirst().dropLast())
            let expected = row[1] == "-" ? [] : row[1].components(separatedBy: "; ")
            #expect(try await Set(library.find(query: query)) == Set(expected), "\(query)")
        }
    }

    @Test func `names every field of the language in docs/query.md`() throws {
        let fields = try DocumentTable.with("field").rows.map { $0[0] }.joined(separator: " ")
        for field in QueryField.allCases { #expect(fields.contains("`\(field.rawValue)`"), "\(field)") }
        let parts = try #require(try DocumentTable.with("field").rows.first { $0[0].contains("`missing`") })[1]
        #expect(parts == MissingField.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", "))
    }

    /// Queries like those of the page.
    static let others: [(String, [String])] = [
        ("dun mes", ["Dune Messiah"]),
        ("sf", ["Dune", "Dune Messiah", "The Left Hand of Darkness", "1984"]),
        ("i must not fear", ["Dune"]),
        ("title:it", ["It", "Stephen King's It: The Essay"]),
        ("\"hand of\"", ["The Left Hand of Darkness"]),
        ("tag:s*", ["Dune", "Dune Messiah", "The Left Hand of Darkness", "1984"]),
        ("tag:sf tag:classic", ["1984"]),
        ("tag:none", ["Stephen King's It: The Essay"]),
        ("shelf:liv* -tag:sf", ["A Wizard of Earthsea"]),
        ("status:reading", ["Stephen King's It: The Essay"]),
        ("pages:..200", ["L'Étranger", "Faust"]),
        ("pages:none", ["Stephen King's It: The Essay"]),
        ("year:1960.. tag:sf", ["Dune", "Dune Messiah", "The Left Hand of Darkness"]),
        ("year:1969", ["Dune Messiah", "The Left Hand of Darkness"]),
        ("rating:4.5", ["Dune"]),
        ("rating:..3", ["It"]),
        ("read:..2022", ["L'Étranger", "1984"]),
        ("times:1.. lang:fr", ["L'Étranger"]),
        ("note:fear", ["Dune"]),
        ("camus OR orwell", ["L'Étranger", "Die Pest", "1984"]),
        ("title:1984", ["1984"]),
    ]

    @Test(arguments: others) func `finds the same way what is not on the page`(
        query: String, titles: [String]
    ) async throws {
        #expect(try await Set(documentedShelf().find(query: query)) == Set(titles))
    }

    @Test(arguments: [
        ("+title tag:sf", ["1984", "Dune", "Dune Messiah", "The Left Hand of Darkness"]),
        ("tag:sf title-", ["The Left Hand of Darkness", "Dune Messiah", "Dune", "1984"]),
        ("rating- tag:sf has:rating", ["The Left Hand of Darkness", "1984", "Dune"]),
        ("+rating tag:sf has:rating", ["Dune", "1984", "The Left Hand of Darkness"]),
        ("+added author:herbert", ["Dune", "Dune Messiah"]), ("added- author:herbert", ["Dune Messiah", "Dune"]),
        ("it", ["It", "Stephen King's It: The Essay"]),
    ])
    func `sorts as the query says, and a short word by how well it fits`(
        query: String, titles: [String]
    ) async throws {
        #expect(try await documentedShelf().find(query: query) == titles)
    }

    /// A page at a time finds the same books as one large page, and the counts agree.
    @Test(arguments: [
        "tag:*", "author:guin OR pages:..200", "-tag:sf", "book -tag:sf", "year:1960..", "\"of the\"", "a", "e",
        "(rating:4.. OR is:favourite) +title", "missing:pages rating-", "id:a", "publisher:press OR genre:fiction",
        "has:note -(status:read OR status:reading)", "note:the", "finished:..2024 finished-",
    ])
    func `gives the same books page by page`(text: String) async throws {
        let folder = Folder()
        let library = try await madeLibrary(in: folder, copies: 400)
        var query = BookQuery()
        query.add(try QueryParser(QueryContext(today: today)).parse(text))
        query.limit = .max
        let all = try await library.books(matching: query)
        #expect(all.total == all.hits.count)
        #expect(Set(all.books.map(\.id)).count == all.hits.count)
        query.limit = 7
        var pages: [ID<Copy>] = []
        repeat {
            let page = try await library.books(matching: query)
            pages += page.books.map(\.id)
            query.after = page.next
        } while query.after != nil
        #expect(pages == all.books.map(\.id))
        let facets = try await library.facets(matching: query)
        #expect(facets.statuses.values.reduce(0, +) == all.total)
    }

    /// The condition and its opposite divide the library, whatever is unknown.
    @Test(arguments: QueryField.allCases.filter { $0 != .filter })
    func `divides the library into what matches and what does not`(field: QueryField) async throws {
        let folder = Folder()
        let library = try await madeLibrary(in: folder, copies: 200)
        let all = try await library.books(matching: BookQuery()).total
        let texts = [field.example, "\(field.rawValue):none"]
        for text in texts {
            guard let parsed = try? QueryParser(QueryContext(today: today)).parse(text),
                let condition = parsed.condition
            else { continue }
            var (query, opposite) = (BookQuery(), BookQuery())
            (query.condition, opposite.condition) = (condition, .not(condition))
            let counts = [
                try await library.books(matching: query).total, try await library.books(matching: opposite).total,
            ]
            #expect(counts.reduce(0, +) == all, "\(text): \(counts)")
        }
    }

    @Test func `finds nothing by notes for guests`() async throws {
        let library = try await documentedShelf()
        for text in ["note:fear", "has:note", "\"must not fear\"", "fear", "has:note OR tag:none", "-missing:note"] {
            let seen = try await library.find(query: text) { $0.searchesAnnotations = false }
            #expect(!seen.contains("Dune"), "\(text)")
        }
    }

    @Test func `keeps saved filters of each reader, and undoes every change`() async throws {
        let library = try LibraryFile.inMemory()
        let anna = try await library.addReader("Anna", naming: "Ben", at: noon).reader
        let annas = try await library.reading(as: anna.id, holder: nil, isGuest: false, at: noon)
        let (saved, _) = try await library.saveFilter(" To lend ", "tag:lend", at: noon)
        #expect(saved.name == "To lend")
        let again = try await library.saveFilter("to lend", "tag:lent", at: noon)
        #expect(again.0.id == saved.id)
        #expect(try await library.saveFilter("to lend", "tag:lent", at: noon).1 == nil)
        #expect(try await annas.savedFilters().isEmpty)
        _ = try await library.undo(try #require(again.1), at: noon)
        #expect(try await library.savedFilters() == [saved])

        let other = try await library.saveFilter("other", "tag:b", at: noon).0
        await #expect(throws: SavedFilterRefusal.nameTaken("TO LEND")) {
            try await library.renameFilter(other.id, to: "TO LEND", at: noon)
        }
        await #expect(throws: SavedFilterRefusal.noSuchFilter) {
            try await annas.renameFilter(other.id, to: "mine", at: noon)
        }
        await #expect(throws: SavedFilterRefusal.noSuchFilter) {
            try await annas.deleteFilter(other.id, at: noon)
        }
        let deleted = try #require(try await library.deleteFilter(other.id, at: noon))
        #expect(try await library.savedFilters().map(\.name) == ["To lend"])
        _ = try await library.undo(deleted, at: noon)
        #expect(try await library.savedFilters().map(\.name) == ["other", "To lend"])
        await #expect(throws: TextRefusal.self) { try await library.saveFilter(" ", "tag:a", at: noon) }
        await #expect(throws: TextRefusal.self) {
            try await library.saveFilter("x", String(repeating: "a", count: 2001), at: noon)
        }
    }

    @Test func `lets no text of a query reach SQL or the full-text index`() async throws {
        let library = try await documentedShelf()
        var random = SplitMix(seed: 20)
        let pieces = [
            "author:", "tag:", "note:", "\"", "'", "(", ")", "-", " OR ", " ", "*", "%", "_", ";", "--", "NEAR(", "AND",
            "a", "it", "l'é", "漢", "漢字", "👩‍👩‍👧", "\u{0}", "1", "9780441", "none", "publisher:", "genre:", "id:", "isbn:",
            "..",
        ]
        for _ in 0..<400 {
            let text = (0..<random.below(12)).map { _ in pieces[random.below(pieces.count)] }.joined()
            var query = BookQuery()
            query.add(try QueryParser(QueryContext(today: today), isLenient: true).parse(text))
            _ = try await library.books(matching: query)
        }
    }
}
