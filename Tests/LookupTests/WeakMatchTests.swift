import Bookplate
import FaultServer
import Foundation
import Testing

@testable import Lookup

/// Records that list no number, which would prove that they are for the requested book. They are marked, and never
/// merged with a certain record.
@Suite struct WeakMatchTests {
    let rig: Rig
    let google = "/books/v1/volumes"
    let weakRecord = #"{"ISBN:9780140268867": {"title": "Weak", "publishers": [{"name": "P"}]}}"#
    let sureRecord =
        #"{"ISBN:9780140268867": {"title": "Sure", "key": "/books/OL1M", "identifiers": {"isbn_10": ["0140268863"]}}}"#
    let sureHit =
        #"{"totalItems": 1, "items": [{"volumeInfo": {"title": "Sure", "industryIdentifiers": [{"identifier": "9780140268867"}]}}]}"#
    let weakHit =
        #"{"totalItems": 1, "items": [{"volumeInfo": {"title": "Perhaps", "publisher": "P", "authors": ["A"]}}]}"#

    init() throws { rig = try Rig() }

    func book(refresh: Bool = false) async throws -> Metadata {
        try #require(try await rig.lookUp(.odyssey, refresh: refresh)[0].outcome.metadata)
    }

    @Test func `a certain record of the second source is used alone, without the weak one of the first`()
        async throws
    {
        rig.openLibrary.on("/api/books", .json(weakRecord))
        rig.googleBooks.on(google, .json(sureHit))
        let book = try await book()
        #expect(book.title == "Sure" && book.publisher == nil && !book.isWeakMatch)
        #expect(book.sources.values.allSatisfy { $0 == .googleBooks })
    }

    @Test func `of two weak matches the first is used alone and is marked`() async throws {
        rig.openLibrary.on("/api/books", .json(weakRecord))
        rig.googleBooks.on(google, .json(weakHit))
        let book = try await book()
        #expect(book.title == "Weak" && book.authors.isEmpty && book.isWeakMatch)
    }

    @Test(arguments: [
        // The edition's own JSON, its title, and true if the edition's language was merged.
        (#"{"title": "E", "languages": [{"key": "/languages/eng"}]}"#, nil as String?),
        (#"{"key": "/books/OL2M", "title": "E", "languages": [{"key": "/languages/eng"}]}"#, nil),
        (#"{"key": "/books/OL1M", "title": "E", "languages": [{"key": "/languages/eng"}]}"#, "en"),
        (#"{"isbn_13": ["9780140268867"], "languages": [{"key": "/languages/eng"}]}"#, "en"),
        (#"{"isbn_13": ["9780156027601"], "languages": [{"key": "/languages/eng"}]}"#, nil),
    ])
    func `a certain record is repaired only by an edition that is certainly the same`(
        _ edition: String, _ language: String?
    ) async throws {
        rig.openLibrary.on("/api/books", .json(sureRecord))
        rig.openLibrary.on("/isbn/9780140268867.json", .json(edition))
        let book = try await book()
        #expect(book.title == "Sure" && book.language == language && !book.isWeakMatch)
    }

    @Test func `a weak record is replaced by the edition that has the number, without merging`() async throws {
        rig.openLibrary.on("/api/books", .json(weakRecord))
        rig.openLibrary.on("/isbn/9780140268867.json", .json(#"{"title": "E", "isbn_10": ["0140268863"]}"#))
        let book = try await book()
        #expect(book.title == "E" && book.publisher == nil && !book.isWeakMatch)
        #expect(book.sources == [.title: .openLibrary])
    }

    @Test func `a weak record becomes certain by the number of its own edition`() async throws {
        rig.openLibrary.on(
            "/api/books",
            .json(#"{"ISBN:9780140268867": {"key": "/books/OL1M", "title": "T", "publishers": [{"name": "P"}]}}"#))
        rig.openLibrary.on(
            "/isbn/9780140268867.json", .json(#"{"key": "/books/OL1M", "isbn_13": ["9780140268867"]}"#))
        let book = try await book()
        #expect(book.title == "T" && book.publisher == "P" && !book.isWeakMatch)
    }

    @Test func `the mark survives the answer cache`() async throws {
        rig.googleBooks.on(google, .json(weakHit))
        #expect(try await book().isWeakMatch)
        let cached = try await rig.lookUp(.odyssey)[0]
        #expect(cached.isCached && cached.outcome.metadata?.isWeakMatch == true)
        // A certain answer removes the mark.
        rig.openLibrary.on("/api/books", .json(sureRecord))
        #expect(try await !book(refresh: true).isWeakMatch)
        let sure = try await rig.lookUp(.odyssey)[0]
        #expect(sure.isCached && sure.outcome.metadata?.isWeakMatch == false)
    }

    @Test func `a weak match is not cached if a source that failed could know better`() async throws {
        rig.openLibrary.on("/api/books", .status(503))
        rig.googleBooks.on(google, .json(weakHit))
        #expect(try await book().isWeakMatch)
        #expect(await rig.cache.kept.isEmpty)
    }

    @Test func `a record stored before the mark existed is read as certain`() throws {
        let text = #"{"title": "T", "authors": [], "subjects": [], "identifiers": {}, "sources": {}}"#
        let metadata = try JSONDecoder().decode(Metadata.self, from: Data(text.utf8))
        #expect(metadata.title == "T" && !metadata.isWeakMatch)
    }
}
