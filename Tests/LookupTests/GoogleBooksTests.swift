import Bookplate
import FaultServer
import Testing

@testable import Lookup

@Suite struct GoogleBooksTests {
    let rig: Rig
    let path = "/books/v1/volumes"

    init() throws { rig = try Rig() }

    @Test func `a book that Open Library does not have is found at Google Books`() async throws {
        rig.googleBooks.on(path, .json(try fixture("googlebooks-odyssey.json")))
        let outcome = try await rig.outcome()
        let book = try #require(outcome.metadata)
        guard case .found(_, from: .googleBooks) = outcome else { throw NoAnswer() }
        #expect(book.title == "The Odyssey (Google)")
        #expect(book.publishedDate == CalendarDay("1997-11"))
        #expect(book.pageCount == 560)
        #expect(book.language == "en")
        #expect(
            book.coverURL == "https://books.google.com/books/content?id=iP1bAAAAMAAJ&printsec=frontcover&img=1&zoom=1")
        #expect(book.identifiers == ["google": ["iP1bAAAAMAAJ"]])
        #expect(book.sources[.title] == .googleBooks)
        let request = try #require(rig.googleBooks.requests.first)
        #expect(request.query("q") == "isbn:9780140268867")
        #expect(request.query("key") == "key")
    }

    @Test func `missing fields are filled, existing ones stay, each with its source`() async throws {
        rig.openLibrary.on(
            "/api/books", .json(#"{"ISBN:9780140268867": {"title": "The Odyssey", "authors": [{"name": "Homer"}]}}"#))
        rig.googleBooks.on(path, .json(try fixture("googlebooks-odyssey.json")))
        let book = try #require(try await rig.outcome().metadata)
        // Open Library's record lists no number, so the certain record of Google Books comes first.
        #expect(book.title == "The Odyssey (Google)")
        rig.openLibrary.on(
            "/api/books",
            .json(
                #"{"ISBN:9780140268867": {"title": "The Odyssey", "authors": [{"name": "Homer"}], "identifiers": {"isbn_10": ["0140268863"]}}}"#
            ))
        let merged = try await rig.lookUp(.odyssey, refresh: true)[0].outcome
        guard case .found(let both, from: .openLibrary) = merged else { throw NoAnswer() }
        #expect(both.title == "The Odyssey" && both.sources[.title] == .openLibrary)
        #expect(both.pageCount == 560 && both.sources[.pageCount] == .googleBooks)
    }

    @Test func `is not asked for a missing description alone`() async throws {
        rig.openLibrary.on("/api/books", .json(try fixture("openlibrary-odyssey.json")))
        rig.openLibrary.on(
            "/isbn/9780140268867.json", .json(#"{"key": "/books/OL686519M", "languages": [{"key": "/languages/eng"}]}"#)
        )
        let book = try #require(try await rig.outcome().metadata)
        #expect(book.description == nil)
        #expect(rig.googleBooks.requests.isEmpty)
    }

    @Test func `without a key its 429 means "not asked" until the next day`() async throws {
        var rig = rig
        rig.key = nil
        rig.googleBooks.on(path, .status(429))
        let first = try await rig.lookUp(.odyssey)[0]
        #expect(first.outcome == .notFound(asked: [.openLibrary]))
        #expect(first.notAsked == [NotAsked(source: .googleBooks, reason: GoogleBooks.needsKey)])
        let second = try await rig.lookUp(.solaris)[0]
        #expect(second.notAsked == first.notAsked)
        #expect(rig.googleBooks.requests.count == 1)
        rig.clock.advance(by: .seconds(86_400))
        _ = try await rig.lookUp(.kitchen)
        #expect(rig.googleBooks.requests.count == 2)
    }

    @Test func `a key set in the meantime is used the same day`() async throws {
        var rig = rig
        rig.key = nil
        rig.googleBooks.on(path, .status(429), .json(try fixture("googlebooks-odyssey.json")))
        _ = try await rig.lookUp(.odyssey)
        rig.key = "new"
        #expect(try await rig.lookUp(.odyssey, refresh: true)[0].outcome.name == .found)
    }

    @Test func `with a key a 429 is temporary`() async throws {
        rig.googleBooks.on(path, .status(429, headers: ["Retry-After": "120"]))
        #expect(
            try await rig.outcome()
                == .temporary(
                    SourceError(
                        source: .googleBooks, reason: "has received too many requests (429)",
                        retryAfter: .seconds(120)))
        )
    }

    @Test func `its 503 is retried up to three times`() async throws {
        rig.googleBooks.on(path, .status(503), .status(503), .json(try fixture("googlebooks-odyssey.json")))
        #expect(try await rig.outcome().name == .found)
        #expect(rig.googleBooks.requests.count == 3)
    }

    @Test(arguments: [
        (
            400,
            #"{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}"#,
            LookupOutcome.Name.blocked, "its key is not valid; check BOOKPLATE_GOOGLEBOOKS_KEY"
        ),
        (
            403,
            #"{"error": {"code": 403, "errors": [{"reason": "accessNotConfigured"}], "message": "Books API has not been used"}}"#,
            .blocked, "the Books API is not enabled for its key; enable it at console.cloud.google.com"
        ),
        (
            403, #"{"error": {"code": 403, "errors": [{"reason": "dailyLimitExceeded"}]}}"#, .temporary,
            "has received too many requests (403)"
        ),
        (
            403, #"{"error": {"code": 403, "message": "Cannot determine\nuser\u0007 location"}}"#, .blocked,
            "refuses to answer (403): Cannot determine user location"
        ),
        (400, "{}", .badData, "sent an unexpected answer (400)"),
        (403, "<html>", .blocked, "refuses to answer (403)"),
    ])
    func `its refusals are reported with their reasons`(
        _ status: Int, _ body: String, _ name: LookupOutcome.Name, _ reason: String
    ) async throws {
        rig.googleBooks.on(path, .json(body, status: status))
        let outcome = try await rig.outcome()
        #expect(outcome.name == name)
        #expect(outcome.failure?.reason == reason)
    }

    @Test func `the record of another book is refused, and the right one of several is used`() async throws {
        let other =
            #"{"volumeInfo": {"title": "Other", "industryIdentifiers": [{"type": "ISBN_13", "identifier": "9780156027601"}]}}"#
        let right =
            #"{"volumeInfo": {"title": "Right", "industryIdentifiers": [{"type": "ISBN_10", "identifier": "0140268863"}]}}"#
        rig.googleBooks.on(path, .json(#"{"totalItems": 1, "items": [\#(other)]}"#))
        #expect(try await rig.outcome().failure?.reason == "answered with the record of another book, 9780156027601")
        rig.googleBooks.on(path, .json(#"{"totalItems": 2, "items": [\#(other), \#(right)]}"#))
        #expect(try await rig.outcome().metadata?.title == "Right")
    }

    @Test func `a hit without any number is a weak match and fills no gaps of a certain one`() async throws {
        rig.googleBooks.on(
            path, .json(#"{"totalItems": 1, "items": [{"volumeInfo": {"title": "Perhaps", "publisher": "P"}}]}"#))
        let weak = try #require(try await rig.outcome().metadata)
        #expect(weak.title == "Perhaps" && weak.isWeakMatch)
        rig.openLibrary.on(
            "/api/books",
            .json(#"{"ISBN:9780140268867": {"title": "Sure", "identifiers": {"isbn_10": ["0140268863"]}}}"#))
        let sure = try #require(try await rig.lookUp(.odyssey, refresh: true)[0].outcome.metadata)
        #expect(sure.title == "Sure" && sure.publisher == nil && !sure.isWeakMatch)
    }

    @Test(arguments: [
        "{}", "[]", #"{"items": []}"#, #"{"totalItems": 1, "items": [5]}"#, #"{"totalItems": 1, "items": [{}]}"#,
    ])
    func `an answer of the wrong shape is bad data`(_ body: String) async throws {
        rig.googleBooks.on(path, .json(body))
        #expect(try await rig.outcome().name == .badData)
    }
}
