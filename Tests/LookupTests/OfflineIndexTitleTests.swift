import Bookplate
import Foundation
import GRDB
import TestTools
import Testing

@testable import Lookup

/// Finding editions in the offline index by words, and the parts of a dump that an index can be limited to.
@Suite struct OfflineIndexTitleTests: IndexBuilding {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func edition(_ number: Int, _ title: String, _ rest: String = "") -> String {
        row("edition", "/books/OL\(number)M", #"{"title": "\#(title)"\#(rest)}"#)
    }

    private func isbn(_ number: Int) -> String { #", "isbn_13": ["\#(ISBN.sample(numbered: number))"]"# }

    @Test func `titles are found by any of their words, without case and diacritics`() async throws {
        try build([
            row("author", "/authors/OL1A", #"{"name": "Émile Zola"}"#),
            edition(1, "L’Assommoir", isbn(1) + #", "authors": [{"key": "/authors/OL1A"}]"#),
            edition(2, "Żółty ptak", isbn(2)), edition(3, "Война и мир", isbn(3)),
            edition(4, "The Sea, the Sea", #", "subtitle": "A novel""#), edition(5, "百年の孤独", isbn(5)),
        ])
        #expect(try await titles("assommoir") == ["L’Assommoir"])
        #expect(try await titles("ASSOMMOIR", by: "emile zola") == ["L’Assommoir"])
        #expect(try await titles("Zola Assommoir") == ["L’Assommoir"])
        #expect(try await titles("assommoir", by: "Hugo") == [])
        #expect(try await titles("zolty") == ["Żółty ptak"])
        #expect(try await titles("мир война") == ["Война и мир"])
        #expect(try await titles("the sea") == ["The Sea, the Sea"])
        #expect(try await titles("sea novel") == ["The Sea, the Sea"])
        #expect(try await titles("百年の孤独") == ["百年の孤独"])
        #expect(try await titles("nothing of the kind") == [])
    }

    @Test func `the last word may be the beginning of one, the others not`() async throws {
        try build([edition(1, "Comprehensive chemistry", isbn(1))])
        #expect(try await titles("comprehensive chemi") == ["Comprehensive chemistry"])
        #expect(try await titles("compre chemistry") == [])
    }

    @Test func `an exact title comes before longer ones, and of equal ones the most complete first`() async throws {
        let longer = (10..<300).map { edition($0, "Love and \($0)", isbn($0)) }
        try build(
            longer + [
                edition(1, "Love", #", "publish_date": "1950""#),
                edition(2, "Love", #", "publish_date": "1951", "publishers": ["P"], "number_of_pages": 9"#),
                edition(3, "It"), edition(4, "Love story"),
            ])
        #expect(try await titles("love", limit: 4).prefix(2) == ["Love", "Love"])
        let query = try #require(TitleQuery(title: "Love"))
        let offers = try #require(
            try await OfflineIndex(path: scratch.file("index.sqlite")).find(query, limit: 4))
        #expect(offers.map(\.metadata.publishedDateText).prefix(2) == ["1951", "1950"])
        #expect(offers[0].isbn == nil && offers[3].isbn != nil)
        // A title that consists of common words alone is found as a whole.
        #expect(try await titles("it") == ["It"])
    }

    @Test func `an edition with several ISBNs is answered under each and offered once`() async throws {
        try build([
            edition(1, "Twice", #", "isbn_13": ["\#(ISBN.sample(numbered: 7))", "\#(ISBN.sample(numbered: 900_000))"]"#)
        ])
        #expect(try await record(.sample(numbered: 7))?.title == "Twice")
        #expect(try await record(.sample(numbered: 900_000))?.title == "Twice")
        #expect(try await titles("twice") == ["Twice"])
    }

    @Test func `an index of numbers only answers numbers and says why it has no titles`() async throws {
        let report = try build(
            [edition(1, "One", isbn(1)), edition(2, "Two")],
            options: OfflineIndexOptions(languages: [], isNumbersOnly: true))
        #expect(report.editions == 1 && report.withoutISBN == 1)
        #expect(try await record(.sample(numbered: 1))?.title == "One")
        let query = try #require(TitleQuery(title: "one"))
        let index = try OfflineIndex(path: scratch.file("index.sqlite"))
        #expect(try await index.find(query, limit: 9) == nil)
        let rig = try Rig()
        rig.openLibrary.on("/search.json", .json(#"{"numFound": 0, "docs": []}"#))
        let answer = await (try rig.chain(index: index)).find(query, language: nil)
        #expect(answer.failures.isEmpty && answer.notAsked.map(\.source) == [.offlineIndex])
        #expect(answer.notAsked.first?.reason.contains("--numbers-only") == true)
    }

    @Test func `an index that was damaged says so when it is asked for titles`() async throws {
        try build((0..<2000).map { edition($0 + 1, "Common \($0)", isbn($0)) })
        try await DatabaseQueue(path: scratch.file("index.sqlite")).write { db in
            try db.execute(sql: "UPDATE block SET rows = zeroblob(length(rows))")
        }
        await #expect { _ = try await titles("common") } throws: {
            ($0 as? SourceError)?.reason.contains("damaged") == true
        }
    }

    // Subsets

    private struct Kept: Sendable, CustomTestStringConvertible {
        var languages: [String]
        var countries: [String]
        var titles: Set<String>
        init(_ languages: [String], _ countries: [String], _ titles: Set<String>) {
            (self.languages, self.countries, self.titles) = (languages, countries, titles)
        }
        var testDescription: String { "\(languages) \(countries)" }
    }

    @Test(arguments: [
        Kept(["de"], [], ["stated German", "German number"]),
        Kept(["ger", "eng"], [], ["stated German", "German number", "stated English", "English number"]),
        Kept([], ["DE"], ["stated German", "German number", "from Germany"]),
        Kept([], ["us"], ["from New York", "English number", "stated English"]),
        Kept(["en"], ["US"], ["English number", "stated English"]),
    ])
    private func `a subset holds the editions of some languages or countries`(_ kept: Kept) throws {
        let german = #", "isbn_13": ["9783161484100"]"#, english = #", "isbn_10": ["0140268863"]"#
        let options = try OfflineIndexOptions(languages: kept.languages, countries: kept.countries)
        let rows = [
            ("stated German", #", "languages": [{"key": "/languages/ger"}], "isbn_13": ["9783540000020"]"#),
            ("German number", german),
            ("stated English", #", "languages": [{"key": "/languages/eng"}], "isbn_10": ["0156027607"]"#),
            ("English number", english), ("nothing known", ""),
            ("from Germany", #", "publish_country": "gw ""#), ("from New York", #", "publish_country": "nyu""#),
        ]
        let report = try build(
            rows.enumerated().map { edition($0.offset + 1, $0.element.0, $0.element.1) }, options: options)
        let stored = try DatabaseQueue(path: scratch.file("index.sqlite")).read { db in
            try Row.fetchAll(db, sql: "SELECT first, rows FROM block").flatMap { row in
                try EditionBlock.decode([UInt8](row["rows"] as Data), first: row["first"]).editions
            }
        }
        #expect(Set(stored.compactMap(\.metadata.title)) == kept.titles)
        #expect(report.notInSubset == rows.count - kept.titles.count)
        #expect(try OfflineIndex(path: scratch.file("index.sqlite")).info().options == options)
    }

    @Test func `an unknown language or country is refused`() {
        #expect(throws: OfflineIndexError.unknownLanguage("klingon")) {
            try OfflineIndexOptions(languages: ["klingon"])
        }
        #expect(throws: OfflineIndexError.unknownCountry("XX")) {
            try OfflineIndexOptions(languages: [], countries: ["XX"])
        }
    }
}
