import Bookplate
import FaultServer
import Testing

@testable import Lookup

@Suite struct `A search for a title` {
    private let catalogues: FaultServer
    private var rig: Rig
    private let google = "/books/v1/volumes"

    init() throws {
        catalogues = try FaultServer()
        rig = try Rig()
        for name: SourceName in [.dnb, .bnf, .bn, .libris] { rig.catalogues[name] = catalogues.address }
        rig.order = SourceOrder([.dnb, .bnf, .bn, .libris, .openLibrary, .googleBooks])
        rig.openLibrary.on("/search.json", .json(#"{"numFound": 0, "docs": []}"#))
    }

    private func find(
        _ title: String, by author: String? = nil, language: String? = nil, index: (any MetadataSource)? = nil,
        notAsked: [NotAsked] = []
    ) async throws -> TitleAnswer {
        let query = try #require(TitleQuery(title: title, author: author))
        return await (try rig.chain(index: index, notAsked: notAsked)).find(query, language: language)
    }

    private static func record(_ title: String, isbn: String?, year: Int, level: Character = "m") -> String {
        """
        <record xmlns="http://www.loc.gov/MARC21/slim"><leader>00000na\(level) a2200000 c 4500</leader>
        <controlfield tag="001">1\(year)</controlfield>
        \(isbn.map { "<datafield tag=\"020\" ind1=\" \" ind2=\" \"><subfield code=\"a\">\($0)</subfield></datafield>" } ?? "")
        <datafield tag="100" ind1="1" ind2=" "><subfield code="a">Zweig, Stefan</subfield></datafield>
        <datafield tag="245" ind1="0" ind2="0"><subfield code="a">\(title)</subfield></datafield>
        <datafield tag="264" ind1=" " ind2="1"><subfield code="b">Insel</subfield><subfield code="c">\(year)</subfield></datafield>
        </record>
        """
    }

    private static func answer(_ records: String...) -> Reply {
        .xml(
            """
            <searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><version>1.1</version>
            <numberOfRecords>\(records.count)</numberOfRecords><records>
            \(records.map { "<record><recordData>\($0)</recordData></record>" }.joined())
            </records></searchRetrieveResponse>
            """)
    }

    @Test func `offers the editions of a work, with number, publisher, year, binding and cover`() async throws {
        rig.openLibrary.on(
            "/search.json",
            .json(
                #"{"numFound": 1, "docs": [{"key": "/works/OL5W", "title": "Solaris", "author_name": ["Stanisław Lem"]}]}"#
            ))
        rig.openLibrary.on(
            "/works/OL5W/editions.json",
            .json(
                #"""
                {"entries": [
                  {"key": "/books/OL1M", "title": "Solaris", "works": [{"key": "/works/OL5W"}], "isbn_10": ["0156027607"],
                   "publishers": ["Harvest"], "publish_date": "2002", "physical_format": "Paperback", "covers": [17],
                   "authors": [{"key": "/authors/OL9A"}]},
                  {"key": "/books/OL2M", "title": "Solaris", "works": [{"key": "/works/OL5W"}], "publish_date": "1961"},
                  {"key": "/books/OL3M", "works": [{"key": "/works/OL5W"}]}]}
                """#))
        let answer = try await find("solaris", by: "lem")
        #expect(answer.outcome == .found && answer.reason == nil && answer.failures.isEmpty)
        #expect(answer.asked == [.openLibrary, .googleBooks])
        let (first, second) = (try #require(answer.offers.first), try #require(answer.offers.last))
        #expect(answer.offers.count == 2, "an edition without a title is no choice")
        #expect(first.isbn == .solaris && second.isbn == nil)
        #expect(first.metadata.publisher == "Harvest" && first.metadata.publishedDate == CalendarDay("2002"))
        #expect(first.metadata.format == .physical && first.metadata.authorNames == ["Stanisław Lem"])
        #expect(first.metadata.coverURL == "https://covers.openlibrary.org/b/id/17-L.jpg")
        #expect(first.metadata.identifiers["openlibrary_work"] == ["OL5W"])
        #expect(first.metadata.sources[.title] == .openLibrary)
        let request = try #require(rig.openLibrary.requests.first)
        #expect(request.query("title") == "solaris" && request.query("author") == "lem")
    }

    @Test func `asks Google for the words of the title and of the author's name`() async throws {
        rig.googleBooks.on(google, .json(try fixture("googlebooks-odyssey.json")))
        let answer = try await find("The Odyssey", by: "Homer")
        #expect(answer.offers.map(\.isbn) == [.odyssey])
        let request = try #require(rig.googleBooks.requests.first)
        #expect(request.query("q") == "intitle:The+intitle:Odyssey+inauthor:Homer")
    }

    @Test(arguments: [
        ("de", SourceName.dnb, "/sru/dnb", "tit=\"Die\" and tit=\"Welt\" and per=\"Zweig\""),
        ("fr", .bnf, "/api/SRU", "bib.title all \"Die\" and bib.title all \"Welt\" and bib.author all \"Zweig\""),
        ("sv", .libris, "/xsearch", "tit:(Die Welt) forf:(Zweig)"),
    ])
    func `asks the catalogue of the person's language`(
        _ language: String, _ name: SourceName, _ path: String, _ query: String
    ) async throws {
        catalogues.on(
            path,
            name == .libris ? .json(#"{"xsearch": {"records": 0, "list": []}}"#) : Self.answer())
        let answer = try await find("Die Welt!", by: "Zweig", language: language)
        #expect(answer.asked.contains(name) && answer.outcome == .notFound)
        #expect(catalogues.requests.map(\.path) == [path])
        #expect(catalogues.requests.first?.query("query") == query)
    }

    @Test func `asks the Polish catalogue by its own parameters`() async throws {
        catalogues.on("/api/institutions/bibs.marcxml", .xml("<resp><bibs/></resp>"))
        let answer = try await find("Lalka", by: "Prus", language: "pl")
        #expect(answer.asked.contains(.bn))
        #expect(catalogues.requests.first?.query("title") == "Lalka")
        #expect(catalogues.requests.first?.query("author") == "Prus")
    }

    @Test func `a catalogue offers books with and without a number, and no articles`() async throws {
        catalogues.on(
            "/sru/dnb",
            Self.answer(
                Self.record("Die Welt von Gestern", isbn: "9783458331049", year: 1982),
                Self.record("Die Welt von Gestern", isbn: nil, year: 1944),
                Self.record("Die Welt von Gestern", isbn: "9783458331049", year: 1990, level: "a")))
        let answer = try await find("die welt von gestern", by: "Stefan Zweig", language: "de")
        #expect(answer.offers.map(\.isbn) == [.sample("9783458331049"), nil])
        #expect(answer.offers.map(\.metadata.publishedDate?.year) == [1982, 1944])
        #expect(answer.offers.first?.metadata.sources[.title] == .dnb)
    }

    @Test func `the same edition from two sources is offered once, with the fields of both`() async throws {
        catalogues.on("/sru/dnb", Self.answer(Self.record("The Odyssey", isbn: "9780140268867", year: 1997)))
        rig.googleBooks.on(google, .json(try fixture("googlebooks-odyssey.json")))
        let offers = try await find("Odyssey", language: "de").offers
        #expect(offers.count == 1)
        #expect(offers.first?.metadata.title == "The Odyssey" && offers.first?.metadata.publisher == "Insel")
        #expect(offers.first?.metadata.pageCount == 560)
    }

    @Test func `an outage is never "not found", and what others offer is shown all the same`() async throws {
        rig.openLibrary.on("/search.json", .status(503))
        var answer = try await find("Solaris")
        #expect(answer.outcome == .temporary && answer.reason == "Open Library: is not working (503)")
        rig.googleBooks.on(google, .json(try fixture("googlebooks-odyssey.json")))
        answer = try await find("The Odyssey")
        #expect(answer.outcome == .found && answer.failures.map(\.error.source) == [.openLibrary])
    }

    @Test(arguments: Fault.ofAnySource) func `every fault of a source has its outcome`(_ fault: Fault) async throws {
        rig.openLibrary.on("/search.json", fault.reply)
        let answer = try await find("Solaris")
        #expect(answer.outcome == fault.outcome)
        #expect(answer.failures.map(\.outcome) == [fault.outcome])
    }

    @Test func `without a network, the index is still asked`() async throws {
        var rig = rig
        rig.isOffline = true
        let query = try #require(TitleQuery(title: "From the index"))
        let answer = await (try rig.chain(index: CannedIndex(authors: ["A. B."]))).find(query, language: "de")
        #expect(answer.offers.map(\.metadata.authorNames) == [["A. B."]] && answer.asked == [.offlineIndex])
        #expect(Set(answer.notAsked.map(\.reason)) == ["offline mode is on"])
        let empty = await (try rig.chain()).find(query, language: "de")
        #expect(empty.outcome == .temporary)
        #expect(empty.reason?.contains("no online source was queried") == true)
    }

    @Test func `counts against the rate limits, and respects a stored refusal`() async throws {
        var rig = rig
        rig.key = nil
        rig.googleBooks.on(google, .status(429))
        let query = try #require(TitleQuery(title: "Solaris"))
        let chain = try rig.chain()
        let first = await chain.find(query, language: nil)
        #expect(first.notAsked.map(\.source) == [.googleBooks] && first.outcome == .notFound)
        _ = await chain.find(query, language: nil)
        #expect(rig.googleBooks.requests.count == 1)
        let tokens = await rig.states.states[.openLibrary]?.bucket
        #expect(tokens != nil)
    }

    @Test(
        arguments: [
            ("The Odyssey", nil, 0), ("the odyssey", "homer", 0), ("THE  ODYSSEY!", nil, 0), ("the", nil, 1),
            ("odyssey", nil, 2), ("odyss", nil, 2), ("Odyssey verse", nil, 2), ("odyssey prose", nil, 4),
            ("iliad", nil, nil), ("The Odyssey", "virgil", nil), ("The Odyssey", "Hömer", 0),
        ] as [(String, String?, Int?)])
    func `a title fits more or less`(_ title: String, _ author: String?, _ distance: Int?) throws {
        var metadata = Metadata()
        (metadata.title, metadata.subtitle) = ("The Odyssey", "a verse translation")
        metadata.authors = [Contributor(name: "Homer")]
        #expect(try #require(TitleQuery(title: title, author: author)).distance(to: metadata) == distance)
    }

    @Test(arguments: ["", "  ", "?!", "\u{200B}"]) func `there is no search without a word`(_ title: String) {
        #expect(TitleQuery(title: title) == nil)
    }
}

@Suite struct `The records of sources` {
    @Test func `come from every source that may have the book, each asked separately`() async throws {
        var rig = try Rig()
        let catalogue = try FaultServer()
        rig.catalogues[.dnb] = catalogue.address
        rig.order = SourceOrder([.dnb, .openLibrary, .googleBooks])
        rig.openLibrary.on("/api/books", .book(.odyssey, #""title": "The Odyssey", "number_of_pages": 541"#))
        rig.googleBooks.on("/books/v1/volumes", .json(try fixture("googlebooks-odyssey.json")))
        let records = await (try rig.chain(index: CannedIndex(authors: []))).records(
            of: Edition(isbn: .odyssey, metadata: Metadata()), language: nil)
        #expect(records.map(\.source) == [.offlineIndex, .openLibrary, .googleBooks], "the DNB has German numbers")
        #expect(records.map(\.metadata?.pageCount) == [nil, 541, 560])
        rig.googleBooks.on("/books/v1/volumes", .status(503))
        let again = await (try rig.chain()).records(of: Edition(isbn: .odyssey, metadata: Metadata()), language: nil)
        #expect(again.map(\.reason) == [nil, "is not working (503)"])
        rig.isOffline = true
        let offline = await (try rig.chain()).records(of: Edition(isbn: .odyssey, metadata: Metadata()), language: nil)
        #expect(Set(offline.map(\.reason)) == ["offline mode is on"])
        #expect(catalogue.requests.isEmpty)
    }

    @Test func `of a book without an ISBN are those of its edition, found by its title`() async throws {
        var rig = try Rig()
        let catalogue = try FaultServer()
        rig.catalogues[.dnb] = catalogue.address
        rig.order = SourceOrder([.dnb, .openLibrary])
        rig.openLibrary.on(
            "/search.json",
            .json(#"{"numFound": 1, "docs": [{"key": "/works/OL5W", "title": "Solaris", "author_name": ["Lem"]}]}"#))
        rig.openLibrary.on(
            "/works/OL5W/editions.json",
            .json(
                #"""
                {"entries": [{"key": "/books/OL1M", "title": "Solaris", "publish_date": "2002", "number_of_pages": 204},
                  {"key": "/books/OL2M", "title": "Solaris", "publish_date": "1961", "number_of_pages": 210}]}
                """#))
        catalogue.on("/", .status(503))
        var metadata = Metadata()
        (metadata.title, metadata.language) = ("Solaris", "de")
        metadata.publishedDate = CalendarDay("1961")
        var book = Edition(isbn: nil, metadata: metadata)
        let records = await (try rig.chain()).records(of: book, language: nil)
        #expect(records.map(\.source) == [.dnb, .openLibrary] && records[0].hasFailed)
        #expect(records.map(\.metadata?.pageCount) == [nil, 210])
        book.metadata.publishedDate = CalendarDay("1980")
        book.metadata.language = "en"
        let other = await (try rig.chain()).records(of: book, language: "de")
        #expect(other.map(\.answer) == [.notFound])
        book.metadata.language = nil
        #expect(await (try rig.chain()).records(of: book, language: "de").map(\.source) == [.dnb, .openLibrary])
        book.metadata.title = "?"
        #expect(await (try rig.chain()).records(of: book, language: "de").isEmpty)
    }
}
