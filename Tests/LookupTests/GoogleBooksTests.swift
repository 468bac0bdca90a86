import Bookplate
import FaultServer
import Foundation
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
        let record = try JSONValue(parsing: Array(try fixture("openlibrary-odyssey.json").utf8))
        rig.openLibrary.on(
            "/api/books",
            .books(
                data: try #require(record["ISBN:9780140268867"]).text,
                details: #"{"key": "/books/OL686519M", "languages": [{"key": "/languages/eng"}]}"#))
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
            403, #"{"error": {"code": 403, "errors": [{"reason": "userRateLimitExceeded"}]}}"#, .temporary,
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

    @Test(arguments: [
        (403, #"{"error": {"code": 403, "errors": [{"reason": "dailyLimitExceeded"}]}}"#),
        (
            429,
            #"{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"reason": "RATE_LIMIT_EXCEEDED", "metadata": {"quota_limit": "defaultPerDayPerProject"}}]}}"#
        ),
    ])
    func `is asked no more once its quota for the day is used up, until midnight in California`(
        _ status: Int, _ body: String
    ) async throws {
        rig.googleBooks.on(path, .json(body, status: status), .json(try fixture("googlebooks-odyssey.json")))
        let first = try #require(try await rig.outcome().failure)
        #expect(first.reason.hasPrefix("has used up its quota for today; it answers again at "))
        let wait = try #require(first.retryAfter)
        rig.clock.advance(by: wait - .seconds(60))
        let second = try await rig.outcome(of: .solaris)
        #expect(second.name == .temporary && second.failure?.reason == first.reason)
        #expect(rig.googleBooks.requests.count == 1)
        rig.clock.advance(by: .seconds(61))
        #expect(try await rig.outcome().name == .found)
    }

    @Test(arguments: [
        ("2026-07-01T10:00:00Z", "07:00", 21), ("2026-01-15T07:59:00Z", "08:00", 0.016_666),
        ("2026-01-15T08:01:00Z", "08:00", 23.983_333),
    ])
    func `names the hour at which its day begins`(_ now: String, _ hour: String, _ hours: Double) throws {
        let error = DayQuota.error(at: try Date(now, strategy: .iso8601), in: .gmt)
        #expect(error.reason == "has used up its quota for today; it answers again at \(hour)")
        #expect(abs(try #require(error.retryAfter) / .seconds(3600) - hours) < 0.001)
    }

    @Test func `a record is read as a librarian would`() async throws {
        rig.googleBooks.on(
            path,
            .json(
                #"""
                {"totalItems": 1, "items": [{"id": "x", "saleInfo": {"isEbook": true}, "volumeInfo": {"title": "Einstein:",
                "publisher": "\"O'Reilly &amp; Sons, Inc.\"", "publishedDate": "2015-10-01T00:00:00+02:00", "language": "un",
                "industryIdentifiers": [{"type": "ISBN_13", "identifier": "9780140268867"}],
                "imageLinks": {"thumbnail": "http://books.google.com/books/content?id=x&zoom=1&edge=curl&source=gbs_api"}}}]}
                """#))
        let book = try #require(try await rig.outcome().metadata)
        #expect(book.title == "Einstein" && book.publisher == "O'Reilly & Sons, Inc.")
        #expect(book.publishedDate == CalendarDay("2015-10-01") && book.publishedDateText == "2015-10-01")
        #expect(book.language == nil && book.format == .digital)
        #expect(book.coverURL == "https://books.google.com/books/content?id=x&zoom=1&source=gbs_api")
    }

    @Test func `a record without a title gives its other fields`() async throws {
        rig.googleBooks.on(
            path,
            .json(
                #"{"totalItems": 1, "items": [{"volumeInfo": {"publisher": "P", "pageCount": 12, "industryIdentifiers": [{"identifier": "9780140268867"}]}}]}"#
            ))
        let alone = try #require(try await rig.outcome().metadata)
        #expect(alone.title == nil && alone.publisher == "P" && alone.pageCount == 12)
    }

    @Test func `the number of a series completes another source's series`() async throws {
        rig.openLibrary.on(
            "/api/books",
            .books(
                data: #"{"title": "T", "identifiers": {"isbn_13": ["9780140268867"]}}"#,
                details: #"{"series": ["Penguin classics"], "isbn_13": ["9780140268867"]}"#))
        rig.googleBooks.on(
            path,
            .json(
                #"{"totalItems": 1, "items": [{"volumeInfo": {"title": "G", "seriesInfo": {"bookDisplayNumber": "12"}, "industryIdentifiers": [{"identifier": "9780140268867"}]}}]}"#
            ))
        let book = try #require(try await rig.outcome().metadata)
        #expect(book.series == "Penguin classics" && book.seriesNumber == "12")
        rig.openLibrary.on("/api/books", .json("{}"))
        #expect(try await rig.lookUp(.odyssey, refresh: true)[0].outcome.metadata?.seriesNumber == nil)
    }
}
