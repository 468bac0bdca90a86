import Bookplate
import FoundationEssentials
import Testing

@testable import Library

/// Tests of the results of searches, their order, and the texts that explain them.
@Suite struct SearchRankTests {
    let library: LibraryFile

    /// Adds the books that are searched, oldest first.
    init() async throws {
        library = try LibraryFile.inMemory()
        let books:
            [(title: String, more: @Sendable (inout Metadata) -> Void, tags: [String], note: String?, quote: String?)] =
                [
                    ("Dune", { _ in }, [], nil, nil),
                    ("Dune Messiah", { $0.series = "Chronicles of Arrakis" }, [], nil, "The spice must flow"),
                    ("Children of Dune", { $0.subtitle = "A Novel of Spice" }, [], nil, nil),
                    ("The Road", { $0.authors = [Contributor(name: "Dunestan Spicer")] }, ["to lend"], nil, nil),
                    ("Spice: A History", { _ in }, ["Dünen"], nil, nil),
                    ("Cookery", { $0.authors = [] }, [], "Not as dry as Dune,\nbut the spice is there.", nil),
                    ("東京の夜", { $0.authors = [Contributor(name: "J.R.R. Nakamura")] }, [], nil, nil),
                ]
        for (number, book) in books.enumerated() {
            let saved = try await library.save(
                isbn(number + 40), record(book.title, by: ["Frank Herbert"], book.more),
                preset: Preset(tags: book.tags),
                at: noon.addingTimeInterval(Double(number)))
            try await library.write { db in
                let copy = try db.value(Int64.self, "SELECT id FROM copy WHERE uuid = ?", [saved.id.rawValue])
                if let note = book.note {
                    try db.run(
                        "INSERT INTO note (uuid, copy, kind, text, created) VALUES (?, ?, 'note', ?, 0)",
                        ["n\(number)", copy, note])
                }
                if let quote = book.quote {
                    try db.run(
                        "INSERT INTO quote (uuid, copy, text, created) VALUES (?, ?, ?, 0)",
                        ["q\(number)", copy, quote])
                }
            }
        }
    }

    @Test(arguments: [
        (
            "dune",
            [
                "title ⟦Dune⟧", "title ⟦Dune⟧ Messiah", "title Children of ⟦Dune⟧", "author ⟦Dune⟧stan Spicer",
                "tag ⟦Düne⟧n",
                "note Not as dry as ⟦Dune⟧, but the spice is there.",
            ]
        ),
        (
            "spice",
            [
                "title ⟦Spice⟧: A History", "author Dunestan ⟦Spice⟧r", "subtitle A Novel of ⟦Spice⟧",
                "note Not as dry as Dune, but the ⟦spice⟧ is there.", "quote The ⟦spice⟧ must flow",
            ]
        ),
        ("dune children", ["title ⟦Children⟧ of ⟦Dune⟧"]),
        ("dune herb", ["author Frank ⟦Herb⟧ert", "author Frank ⟦Herb⟧ert", "author Frank ⟦Herb⟧ert", "tag ⟦Düne⟧n"]),
        ("messiah spice", ["quote The ⟦spice⟧ must flow"]), ("arrak", ["series Chronicles of ⟦Arrak⟧is"]),
        ("jrr naka", ["author ⟦J.R.R⟧. ⟦Naka⟧mura"]), ("東", ["title ⟦東⟧京の夜"]), ("京の", ["title 東⟦京の⟧夜"]), ("京夜", []),
        ("dune of", ["title Children ⟦of⟧ ⟦Dune⟧", "series Chronicles ⟦of⟧ Arrakis"]),
        ("d", ["author ⟦D⟧unestan Spicer", "title ⟦D⟧une Messiah", "title ⟦D⟧une"]),
        ("sp", ["title ⟦Sp⟧ice: A History", "author Dunestan ⟦Sp⟧icer"]),
        ("me", []), ("zz", []), ("dune zz", []),
        ("978000000040", ["isbn ⟦978-0-00-000040⟧-8"]), ("0441-1", []),
    ])
    func `the best match comes first, each with its reason`(text: String, reasons: [String]) async throws {
        var query = BookQuery()
        query.text = text
        let page = try await library.books(matching: query)
        #expect(page.hits.map { "\($0.match?.field.rawValue ?? "") \($0.match?.snippet.marked() ?? "")" } == reasons)
        #expect(page.total == reasons.count && page.isTotalExact && page.next == nil)
    }

    @Test(arguments: [
        "9780441172719", "978-0-441-17271-9", "0441172717", "0-441-17271-7", "ISBN 0 441 17271 7", "9780441",
        "978-0-44", "04411",
        "978 0 441", "0441172",
    ])
    func `a number is found in any form`(text: String) async throws {
        try await library.save(dune, record("By number"))
        #expect(try await library.find(text) { $0.sort = nil }.first == "By number")
    }

    @Test(arguments: [
        "\"", "*", "NEAR(", "dune NEAR(", "OR", "dune OR", "AND", "NOT dune", "\u{0}", "dune\u{0}*", "title:dune",
        "{title}: dune",
        "^dune", "dune*", "(dune", "dune)", "-dune", "+dune", "''", "\"dune\"", " ", "\n", "🐛\u{200D}", "\u{301}",
        "\u{202E}dune", "\\",
        "x' OR 1=1; --", "tdune", "sdune OR adune", "10 MB", "10 MB of words", "10 MB of quotes",
    ])
    func `no text is a command to the index`(text: String) async throws {
        var query = BookQuery()
        switch text {
        case "10 MB": query.text = HostileText.tenMegabytes
        case "10 MB of words": query.text = String(repeating: String(repeating: "dune ", count: 2000), count: 1000)
        case "10 MB of quotes": query.text = String(repeating: String(repeating: "\"", count: 10_000), count: 1000)
        default: query.text = text
        }
        let page = try await library.books(matching: query)
        #expect(page.hits.count <= 7)
        _ = try await library.facets(matching: query)
        _ = try await library.suggestions(for: .author, beginning: query.text, limit: 5)
        if text.hasPrefix("tdune") || text.hasPrefix("sdune") || text == "10 MB" { #expect(page.hits.isEmpty) }
        if ["dune*", "(dune", "-dune", "\"dune\"", "^dune", "\u{202E}dune", "dune\u{0}*"].contains(text) {
            #expect(page.books.first?.displayTitle == "Dune")
        }
    }

    @Test func `a query of a thousand words uses the first sixteen`() async throws {
        var query = BookQuery()
        query.text = Array(repeating: "dune", count: 16).joined(separator: " ") + " nowhere"
        #expect(try await library.books(matching: query).total == 6)
    }

    @Test func `the results for a text can be sorted and filtered`() async throws {
        #expect(
            try await library.find("dune") { $0.sort = .title } == [
                "Children of Dune", "Cookery", "Dune", "Dune Messiah", "The Road", "Spice: A History",
            ])
        #expect(try await library.find("dune") { ($0.sort, $0.tags) = (nil, ["TO LEND"]) } == ["The Road"])
        #expect(
            try await library.find("d") { ($0.sort, $0.isReversed) = (.added, true) } == [
                "Dune", "Dune Messiah", "The Road",
            ])
    }

    @Test func `a JSON line carries the match`() async throws {
        var query = BookQuery()
        query.text = "arrak"
        let hit = try #require(try await library.books(matching: query).hits.first)
        #expect(
            hit.json.text.hasSuffix(
                #","match":{"field":"series","snippet":"Chronicles of Arrakis","ranges":[[14,19]]}}"#))
        #expect(BookHit(book: hit.book).json.text.hasSuffix(#","match":null}"#))
    }

    @Test func `names are completed, most used first`() async throws {
        let found = try await library.suggestions(for: .author, beginning: "FRÄ", limit: 5)
        #expect(found == [NameCount(name: "Frank Herbert", count: 4)])
        #expect(try await library.suggestions(for: .tag, beginning: "", limit: 5).map(\.name) == ["Dünen", "to lend"])
        #expect(try await library.suggestions(for: .tag, beginning: "dun", limit: 5).map(\.name) == ["Dünen"])
        #expect(try await library.suggestions(for: .shelf, beginning: "x", limit: 5) == [])
    }
}
