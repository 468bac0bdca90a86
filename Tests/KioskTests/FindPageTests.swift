import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

/// Knows two editions of one book, one of them without an ISBN; or fails in a given way.
private struct CannedSearch: TitleSearch {
    static let isbn = "9780156027601"
    var failure: SourceFailure?

    func find(_ query: TitleQuery, language: String?) async -> TitleAnswer {
        if let failure { return TitleAnswer(failures: [failure]) }
        guard query.title.lowercased() == "solaris" else { return TitleAnswer(asked: [.openLibrary]) }
        return TitleAnswer(
            offers: [
                EditionOffer(isbn: try? ISBN(Self.isbn), metadata: Self.edition(publisher: "Harvest", language)),
                EditionOffer(isbn: nil, metadata: Self.edition(publisher: "MON", language)),
            ], asked: [.openLibrary])
    }

    private static func edition(publisher: String, _ language: String?) -> Metadata {
        var metadata = Metadata()
        (metadata.title, metadata.publisher, metadata.language) = ("Solaris", publisher, language)
        metadata.authors = [Contributor(name: "Stanisław Lem")]
        metadata.attribute(to: .openLibrary)
        return metadata
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The page Find by title` {
    private func page(_ rig: StationRig, _ query: String) async throws -> String {
        String(decoding: try await rig.ask("GET", "/find" + query).body, as: UTF8.self)
    }

    @Test func `lists editions, and one press saves one with the preset of the station`() async throws {
        let rig = try await StationRig(search: CannedSearch())
        _ = try await rig.ask("PUT", "/api/station/preset", #"{"shelf":"Attic"}"#)
        let list = try await page(rig, "?title=solaris")
        #expect(list.contains("2 editions") && list.contains("Harvest") && list.contains("no ISBN"))
        let act = try #require(list.matches(of: /data-act="POST ([^"]+)"/).last?.output.1)
        let saved = try await rig.ask("POST", String(act), #"{"request":"once"}"#)
        #expect(saved.status == 201 && saved.text("publisher") == "MON" && saved.text("shelf") == "Attic")
        let again = try await rig.ask("POST", String(act), #"{"request":"once"}"#)
        #expect(again.status == 201 && again.text("id") == saved.text("id"), "the request is repeated")
        let change = try #require(saved.text("change"))
        #expect(try await rig.ask("POST", "/api/undo", #"{"change":"\#(change)"}"#).status == 200)
        let book = try await rig.another().book(ID(rawValue: try #require(saved.text("id"))))
        #expect(book == nil)
        try await rig.stop()
    }

    @Test func `says what is owned, and saves another copy only if that is meant`() async throws {
        let rig = try await StationRig(search: CannedSearch())
        let found = try await rig.ask("GET", "/api/find?title=Solaris&author=Lem")
        #expect(found.text("outcome") == "found" && found.text("editions.0.isbn13") == CannedSearch.isbn)
        #expect(found.text("editions.0.language") == "en", "the language of the page")
        let search = try #require(found.text("search"))
        let saved = try await rig.ask("POST", "/api/find/\(search)/1", "{}")
        #expect(saved.status == 201)
        #expect(try await page(rig, "?title=solaris").contains("You have this book: Solaris"))
        let second = try await rig.ask("POST", "/api/find/\(search)/1", "{}")
        #expect(second.status == 409 && second.text("error.code") == "owned")
        #expect(try await rig.ask("POST", "/api/find/\(search)/1", #"{"anotherCopy":true}"#).status == 201)
        try await rig.stop()
    }

    @Test func `gives a captured book the record of the edition with its number`() async throws {
        let rig = try await StationRig(search: CannedSearch())
        let captured = try await rig.ask("POST", "/api/station/captures", #"{"text":"\#(CannedSearch.isbn)"}"#)
        let id = try #require(captured.text("row.id"))
        let list = try await page(rig, "?row=\(id)&title=solaris")
        #expect(list.contains("For the book 978-0-15-602760-1"))
        #expect(list.contains("POST /api/station/rows/\(id)/take"))
        let search = try #require(try await rig.ask("GET", "/api/find?title=solaris").text("search"))
        let taken = try await rig.ask(
            "POST", "/api/station/rows/\(id)/take", #"{"search":"\#(search)","number":1}"#)
        #expect(taken.status == 200 && taken.text("row.title") == "Solaris" && taken.text("row.standing") == "found")
        let item = try #require(try await rig.another().item(ID(rawValue: id)))
        #expect(item.metadata?.publisher == "Harvest" && item.metadata?.sources[.title] == .openLibrary)
        try await rig.stop()
    }

    @Test func `gives a book with another number only what both editions have in common`() async throws {
        let rig = try await StationRig(search: CannedSearch())
        let captured = try await rig.ask("POST", "/api/station/captures", #"{"text":"9783161484100"}"#)
        let id = try #require(captured.text("row.id"))
        let search = try #require(try await rig.ask("GET", "/api/find?title=solaris").text("search"))
        _ = try await rig.ask("POST", "/api/station/rows/\(id)/take", #"{"search":"\#(search)","number":1}"#)
        let item = try #require(try await rig.another().item(ID(rawValue: id)))
        #expect(item.metadata?.title == "Solaris" && item.metadata?.authorNames == ["Stanisław Lem"])
        #expect(item.metadata?.publisher == nil)
        try await rig.stop()
    }

    @Test(arguments: [
        (SourceFailure(.temporary, SourceError(source: .openLibrary, reason: "x")), "cannot be asked at the moment"),
        (SourceFailure(.blocked, SourceError(source: .openLibrary, reason: "x")), "refuses the search"),
    ]) func `an outage is never "not found"`(_ failure: SourceFailure, _ text: String) async throws {
        let rig = try await StationRig(search: CannedSearch(failure: failure))
        #expect(try await page(rig, "?title=solaris").contains(text))
        #expect(try await page(rig, "?title=?!").contains("<form"))
        try await rig.stop()
    }

    @Test func `refuses unknown searches and numbers, and empty queries`() async throws {
        let rig = try await StationRig(search: CannedSearch())
        #expect(try await page(rig, "?title=xyzzy").contains("No edition found"))
        let search = try #require(try await rig.ask("GET", "/api/find?title=solaris").text("search"))
        for path in ["/api/find/none/1", "/api/find/\(search)/0", "/api/find/\(search)/3", "/api/find/\(search)/x"] {
            #expect(try await rig.ask("POST", path, "{}").status == 404)
        }
        #expect(try await rig.ask("GET", "/api/find?title=%20").status == 400)
        #expect(try await rig.ask("GET", "/api/find/\(search)/1/cover").status == 404)
        try await rig.stop()
    }

    @Test func `reads the title in a photo, and offers the other lines`() async throws {
        let rig = try await StationRig(
            search: CannedSearch(),
            readPrint: { bytes in
                switch bytes {
                case [1]:
                    PrintedPage(
                        isbns: PrintedISBN.all(in: "ISBN 0-15-602760-7"),
                        lines: [
                            PrintedLine(text: "Stanisław Lem", height: 20), PrintedLine(text: "SOLARIS", height: 60),
                        ])
                case [2]: PrintedPage()
                case [3]: throw KioskError(.refused, "It is damaged.")
                default: throw KioskError(.unavailable, "tesseract crashed")
                }
            })
        func read(_ byte: UInt8) async throws -> StationRig.Answer {
            try await rig.ask("POST", "/api/find/photo", [byte], type: "image/jpeg")
        }
        let found = try await read(1)
        #expect(found.status == 200 && found.text("title") == "SOLARIS" && found.text("lines.0") == "Stanisław Lem")
        #expect(found.text("isbns.0") == CannedSearch.isbn)
        for (byte, status, code) in [(2, 422, "noWords"), (3, 422, "refused"), (4, 503, "unavailable")] {
            let answer = try await read(UInt8(byte))
            #expect(answer.status == status && answer.text("error.code") == code)
        }
        #expect(try await rig.ask("POST", "/api/find/photo", [1], type: "text/plain").status == 415)
        let list = try await page(rig, "?title=Lem&line=Solaris&line=%3Cb%3E&isbn=0156027607")
        #expect(list.contains("978-0-15-602760-1") && list.contains("&lt;b&gt;") && list.contains("find-photo"))
        #expect(list.contains("/find?title=Solaris&amp;line=Solaris&amp;line=%3Cb%3E&amp;isbn=0156027607"))
        #expect(list.contains("/find?title=Lem&amp;author=Solaris&amp;line=Solaris"))
        #expect(try await rig.ask("GET", "/find?title=Lem&isbn=0156027608").status == 400)
        try await rig.stop()
    }

    @Test func `offers no photo if tesseract is missing`() async throws {
        let rig = try await StationRig(search: CannedSearch())
        #expect(try await !page(rig, "").contains("find-photo"))
        let answer = try await rig.ask("POST", "/api/find/photo", [1], type: "image/jpeg")
        #expect(answer.status == 503 && answer.text("error.code") == "noPrint")
        try await rig.stop()
    }

    @Test func `keeps the latest searches only`() {
        let searches = RecentAnswers<Int>()
        let first = searches.keep(7)
        #expect(searches[first] == 7 && searches["none"] == nil)
        for number in 0..<32 { _ = searches.keep(number) }
        #expect(searches[first] == nil)
    }
}
