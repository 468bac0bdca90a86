import Bookplate
import Dispatch
import FaultServer
import Testing

@testable import Lookup

/// The chain with catalogues, which one server stands for.
@Suite struct `Catalogues in the chain` {
    private let catalogues: FaultServer
    private var rig: Rig
    private let german = ISBN.sample("9783161484100")

    init() throws {
        catalogues = try FaultServer()
        rig = try Rig()
        rig.key = nil
        rig.googleBooks.on("/books/v1/volumes", .status(429))
        for name: SourceName in [.dnb, .k10plus, .loc, .citoid] {
            rig.catalogues[name] = catalogues.address
        }
        rig.order = SourceOrder([.dnb, .openLibrary, .googleBooks, .k10plus, .loc, .citoid])
        catalogues.on("/sru/dnb", .xml(Self.nothing))
        catalogues.on("/opac-de-627", .xml(Self.nothing))
        catalogues.on("/sru/lcdb", .xml(Self.nothing))
        for isbn in [german, .odyssey] {
            catalogues.on(
                "/api/rest_v1/data/citation/mediawiki/\(isbn.digits)",
                .json(#"{"type": "https://example.org/errors/not_found", "title": "Not found."}"#, status: 404))
        }
    }

    private static let nothing = """
        <searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><version>1.1</version>
        <numberOfRecords>0</numberOfRecords></searchRetrieveResponse>
        """

    private static func record(_ isbn: ISBN, title: String) -> String {
        """
        <searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><version>1.1</version>
        <numberOfRecords>1</numberOfRecords><records><record><recordData>
        <record xmlns="http://www.loc.gov/MARC21/slim"><leader>00000nam a2200000 c 4500</leader>
        <datafield tag="020" ind1=" " ind2=" "><subfield code="a">\(isbn.digits)</subfield></datafield>
        <datafield tag="245" ind1="0" ind2="0"><subfield code="a">\(title)</subfield></datafield>
        <datafield tag="264" ind1=" " ind2="1"><subfield code="b">Mohr</subfield></datafield>
        </record></recordData></record></records></searchRetrieveResponse>
        """
    }

    @Test func `the catalogue of the number's group has a book that Open Library lacks`() async throws {
        catalogues.on("/sru/dnb", .xml(Self.record(german, title: "Ein Buch")))
        let outcome = try await rig.outcome(of: german)
        guard case .found(let book, from: .dnb) = outcome else { throw NoAnswer() }
        #expect(book.title == "Ein Buch" && book.publisher == "Mohr" && book.sources[.title] == .dnb)
        #expect(catalogues.count("/opac-de-627") == 1, "it may know the missing fields")
        #expect(catalogues.count("/sru/lcdb") == 0, "it is asked only for books that nobody has")
    }

    @Test func `its title wins over Open Library's, which fills the gaps`() async throws {
        rig.openLibrary.on("/api/books", .book(german, #""title": "EIN BUCH", "number_of_pages": 12"#))
        catalogues.on("/sru/dnb", .xml(Self.record(german, title: "Ein Buch")))
        let book = try #require(try await rig.outcome(of: german).metadata)
        #expect(book.title == "Ein Buch" && book.pageCount == 12 && book.sources[.pageCount] == .openLibrary)
    }

    @Test func `is not asked for numbers of other groups`() async throws {
        _ = try await rig.outcome()
        #expect(catalogues.count("/sru/dnb") == 0 && catalogues.count("/opac-de-627") == 1)
    }

    @Test func `not found means that all that were asked have answered`() async throws {
        let outcome = try await rig.outcome(of: german)
        #expect(outcome == .notFound(asked: [.dnb, .openLibrary, .k10plus, .loc, .citoid]))
        catalogues.on("/opac-de-627", .status(503))
        #expect(try await rig.lookUp(german, refresh: true)[0].outcome.name == .temporary)
    }

    @Test func `a web page in place of XML is never "not found"`() async throws {
        catalogues.on("/sru/dnb", .xml("<!DOCTYPE html><html><body>Sign in</body></html>"))
        #expect(try await rig.outcome(of: german).name == .blocked)
    }

    @Test func `its catalogue is asked at the same time as Open Library, and whoever has a title is shown first`()
        async throws
    {
        catalogues.on("/sru/dnb", .xml(Self.record(german, title: "Ein Buch")))
        rig.openLibrary.on("/api/books", .blackHole)
        let answers = try rig.chain().lookUp([german], for: .title, refresh: false)
        let first = try #require(await answers.first { _ in true })
        #expect(first.outcome.metadata?.title == "Ein Buch" && first.pending?.sources.first == .openLibrary)
    }

    @Test func `what the second of both adds is another answer, and stays pending until a book has it`() async throws {
        catalogues.on("/sru/dnb", .xml(Self.record(german, title: "Ein Buch")))
        rig.openLibrary.on("/api/books", .book(german, #""title": "EIN BUCH", "number_of_pages": 12"#))
        let answers = try await rig.lookUp(german, for: .title)
        let last = try #require(answers.last?.outcome.metadata)
        if answers.count > 1 { #expect(last.title == "Ein Buch" && last.pageCount == 12) }
        let applied = try await rig.fillGaps()
        #expect(applied.map(\.pending) == [nil])
        #expect(applied.first?.outcome.metadata?.publisher == "Mohr")
    }

    @Test func `what the second of both adds is applied once more, even if no source is pending`() async throws {
        var rig = rig
        rig.order = SourceOrder([.dnb, .openLibrary])
        let openLibrary = Reply.book(german, #""title": "EIN BUCH", "authors": [{"name": "A. B."}]"#)
        // Both are asked before either answers.
        let asked = DispatchGroup()
        for (server, path, reply) in [
            (catalogues, "/sru/dnb", Reply.xml(Self.record(german, title: "Ein Buch"))),
            (rig.openLibrary, "/api/books", openLibrary),
        ] {
            asked.enter()
            let held = Reply { connection, request in
                asked.leave()
                asked.wait()
                reply.send(connection, request)
            }
            server.on(path, held, openLibrary)
        }
        let answers = try await rig.lookUp(german, for: .title)
        #expect(answers.count == 2 && answers.last?.pending?.sources == [])
        #expect(answers.last?.outcome.metadata?.title == "Ein Buch")
        #expect(answers.last?.outcome.metadata?.authorNames == ["A. B."])
        #expect(try await rig.fillGaps().map(\.pending) == [nil])
        #expect(try await rig.fillGaps().isEmpty)
    }

    @Test func `a person can set the order and leave sources out`() async throws {
        rig.openLibrary.on("/api/books", .book(german, #""title": "EIN BUCH""#))
        catalogues.on("/sru/dnb", .xml(Self.record(german, title: "Ein Buch")))
        var rig = rig
        rig.order = SourceOrder(parsing: "openlibrary,DNB")
        let book = try #require(try await rig.outcome(of: german).metadata)
        #expect(book.title == "EIN BUCH" && book.publisher == "Mohr")
        #expect(catalogues.requests.count == 1 && rig.googleBooks.requests.isEmpty)
        rig.order = SourceOrder([.k10plus])
        #expect(try await rig.lookUp(german, refresh: true)[0].outcome == .notFound(asked: [.k10plus]))
    }

    @Test func `the Library of Congress is left out while its five requests a minute are used up`() async throws {
        _ = try await rig.lookUp(german)
        let second = try await rig.lookUp(.odyssey)[0]
        #expect(await rig.cache.kept.keys.sorted() == [german], "it may know the book")
        #expect(second.outcome.name == .temporary && second.outcome.failure?.source == .loc)
    }

    @Test(arguments: ["", "dnb,", "dnb dnb", "dnb, dnb", "amazon"])
    func `an order with unknown, repeated or missing names is refused`(_ text: String) {
        #expect(SourceOrder(parsing: text) == nil)
    }

    @Test func `the names of an order are read as they are written`() {
        #expect(SourceOrder(parsing: SourceOrder.standard.text) == .standard)
    }

    @Test func `the Library of Congress is not left out when it fails`() async throws {
        catalogues.on("/sru/lcdb", .status(503))
        for isbn in [german, .odyssey, .solaris, .kitchen] {
            catalogues.on(
                "/api/rest_v1/data/citation/mediawiki/\(isbn.digits)", .json(#"{"title": "Not found."}"#, status: 404))
            #expect(try await rig.lookUp(isbn)[0].outcome.name == .temporary)
            rig.clock.advance(by: .seconds(20))
        }
    }

    @Test func `a stored order of a later version keeps off what is off`() {
        #expect(SourceOrder(stored: "openLibrary, bibsys").sources == [.openLibrary])
        #expect(SourceOrder(stored: "bibsys").sources.isEmpty)
    }
}
