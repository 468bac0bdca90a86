import Bookplate
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
        for name: SourceName in [.dnb, .k10plus, .libraryOfCongress, .citoid] {
            rig.catalogues[name] = catalogues.address
        }
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
        #expect(catalogues.count("/opac-de-627") == 0, "the others are asked only for books that nobody has")
    }

    @Test func `its title wins over Open Library's, which fills the gaps`() async throws {
        rig.openLibrary.on(
            "/api/books",
            .books(
                data:
                    #"{"title": "EIN BUCH", "number_of_pages": 12, "identifiers": {"isbn_13": ["\#(german.digits)"]}}"#,
                details: nil))
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
        #expect(outcome == .notFound(asked: [.openLibrary, .dnb, .k10plus, .libraryOfCongress, .citoid]))
        catalogues.on("/opac-de-627", .status(503))
        #expect(try await rig.lookUp(german, refresh: true)[0].outcome.name == .temporary)
    }

    @Test func `a web page in place of XML is never "not found"`() async throws {
        catalogues.on("/sru/dnb", .xml("<!DOCTYPE html><html><body>Sign in</body></html>"))
        #expect(try await rig.outcome(of: german).name == .blocked)
    }
}
