import Bookplate
import Foundation
import Library
import Testing

@testable import Kiosk

private struct CannedRecords: RecordSearch {
    func records(of edition: Edition, language: String?) async -> [SourceRecord] {
        var metadata = Metadata()
        (metadata.title, metadata.publisher) = ("Dune", "Chilton <Books>")
        metadata.coverURL = "https://covers.openlibrary.org/b/id/1-L.jpg"
        metadata.attribute(to: .openLibrary)
        return [
            SourceRecord(source: .openLibrary, answer: .found(metadata)),
            SourceRecord(source: .dnb, answer: .notFound),
            SourceRecord(source: .googleBooks, answer: .notAsked(reason: "needs a key")),
        ]
    }
}

/// Serves a picture for every address.
private struct CannedCover: CoverFetch {
    func addresses(of cover: MissingCover) -> [String] { cover.url.map { [$0] } ?? [] }
    func cover(at url: String) async throws -> [UInt8]? { [0xFF, 0xD8, 0xFF, 0xE0] }
}

@Suite(.timeLimit(.minutes(5))) struct `The page Compare sources` {
    private func withKiosk(_ body: (RunningKiosk, Book) async throws -> Void) async throws {
        let kiosk = try await RunningKiosk { _, ports in
            (ports.records, ports.fetchCover) = (CannedRecords(), CannedCover())
        }
        try await kiosk.use { kiosk in
            try await body(kiosk, try await kiosk.book("Dune", isbn: "9780441172719") { $0.publisher = "Mine" })
        }
    }

    @Test func `shows the values of each source, and one press takes one`() async throws {
        try await withKiosk { kiosk, book in
            let page = try await kiosk.send("GET", "/books/\(book.id)/sources").text
            #expect(page.contains("Chilton &lt;Books&gt;") && page.contains("Mine"))
            #expect(page.contains("Deutsche Nationalbibliothek: no record"))
            #expect(page.contains("Google Books: not asked"))
            let comparison = try #require(page.firstMatch(of: /data-comparison="([^"]+)"/)?.output.1)
            let body = #"{"comparison":"\#(comparison)","field":"publisher","source":"openLibrary"}"#
            let taken = try await kiosk.send("POST", "/api/books/\(book.id)/take", body)
            #expect(taken.status == 200 && taken["publisher"] == "Chilton <Books>" && taken.change != nil)
            let again = try await kiosk.send("GET", "/books/\(book.id)/sources?of=\(comparison)").text
            #expect(again.contains("✓ in the library") && !again.contains("Mine"))
            let cover = try await kiosk.send("GET", "/api/sources/\(comparison)/openLibrary/cover")
            #expect(cover.status == 200)
        }
    }

    @Test func `compares a book without an ISBN by its title, and says so`() async throws {
        try await withKiosk { kiosk, dune in
            let other = try await kiosk.book("Dune", isbn: nil) { $0.publisher = "Mine" }
            let page = try await kiosk.send("GET", "/books/\(other.id)/sources").text
            #expect(page.contains("This book has no ISBN") && page.contains("Chilton &lt;Books&gt;"))
            #expect(try await kiosk.send("GET", "/books/\(other.id)").text.contains("/books/\(other.id)/sources"))
            let comparison = try #require(page.firstMatch(of: /data-comparison="([^"]+)"/)?.output.1)
            let body = #"{"comparison":"\#(comparison)","field":"publisher","source":"openLibrary"}"#
            #expect(try await kiosk.send("POST", "/api/books/\(dune.id)/take", body).status == 404)
            #expect(try await kiosk.send("POST", "/api/books/\(other.id)/take", body)["publisher"] == "Chilton <Books>")
        }
    }

    @Test func `refuses what no source has said`() async throws {
        try await withKiosk { kiosk, book in
            let page = try await kiosk.send("GET", "/books/\(book.id)/sources").text
            let comparison = try #require(page.firstMatch(of: /data-comparison="([^"]+)"/)?.output.1)
            for (comparison, field, source) in [
                ("none", "publisher", "openLibrary"), (String(comparison), "pageCount", "openLibrary"),
                (String(comparison), "isbn", "openLibrary"), (String(comparison), "publisher", "dnb"),
                (String(comparison), "publisher", "nobody"),
            ] {
                let body = #"{"comparison":"\#(comparison)","field":"\#(field)","source":"\#(source)"}"#
                #expect(try await kiosk.send("POST", "/api/books/\(book.id)/take", body).status == 404)
            }
            #expect(try await kiosk.send("GET", "/api/sources/\(comparison)/dnb/cover").status == 404)
        }
    }
}
