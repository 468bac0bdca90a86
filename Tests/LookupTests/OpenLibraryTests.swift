import Bookplate
import FaultServer
import HTTP
import Testing

@testable import Lookup

@Suite struct OpenLibraryTests {
    var rig: Rig

    init() throws {
        rig = try Rig()
        // Google Books counts as not asked unless a test sets a key.
        rig.key = nil
        rig.googleBooks.on("/books/v1/volumes", .status(429))
    }

    @Test func `a record is completed from its edition, also if it is the only one`() async throws {
        let record = try JSONValue(parsing: Array(try fixture("openlibrary-odyssey.json").utf8))
        rig.openLibrary.on(
            "/api/books",
            .books(
                data: try #require(record["ISBN:9780140268867"]).text, details: try fixture("openlibrary-edition.json"))
        )
        let book = try #require(try await rig.outcome().metadata)
        #expect(book.title == "The Odyssey")
        #expect(book.subtitle == "translated by Robert Fagles")
        #expect(book.authors == [Contributor(name: "Homer"), Contributor(name: "Robert Fagles", role: .translator)])
        #expect(book.publisher == "Penguin Books")
        #expect(book.publishedDateText == "November 1, 1997")
        #expect(book.publishedDate == CalendarDay("1997-11-01"))
        #expect(book.pageCount == 541)
        #expect(book.language == "en")
        #expect(book.originalLanguage == "grc")
        #expect(book.series == "Penguin classics")
        #expect(book.seriesNumber == "12")
        #expect(book.format == .physical)
        #expect(book.description == "The journey home.")
        #expect(book.coverURL == "https://covers.openlibrary.org/b/id/295580-L.jpg")
        #expect(
            book.identifiers == [
                "openlibrary": ["OL686519M"], "openlibrary_work": ["OL61982W"], "goodreads": ["1381"],
                "lccn": ["96017280"],
            ])
        #expect(book.sources[.title] == .openLibrary)
        #expect(book.sources[.language] == .openLibrary)
    }

    @Test func `asks as the service requires: JSON, the data command, a user agent with a contact`() async throws {
        _ = try await rig.outcome()
        let request = try #require(rig.openLibrary.requests.first)
        #expect(request.query("bibkeys") == "ISBN:9780140268867")
        #expect(request.query("format") == "json")
        #expect(request.query("jscmd") == "data")
        #expect(request.headers["user-agent"] == "Bookplate/1.0 (+https://bookplate.example; station@example.org)")
    }

    @Test func `authors that only the edition lists are requested by their keys`() async throws {
        rig.openLibrary.on("/api/books", .json(#"{"ISBN:9780140268867": {"title": "The Odyssey"}}"#))
        rig.openLibrary.on("/isbn/9780140268867.json", .json(try fixture("openlibrary-edition.json")))
        rig.openLibrary.on("/authors/OL6848355A.json", .json(#"{"name": "Homer"}"#))
        let book = try #require(try await rig.outcome().metadata)
        // The edition lists the translator, who counts as an author, so no further request is made.
        #expect(
            book.authors == [Contributor(name: "Robert Fagles", role: .translator)] || book.authorNames == ["Homer"])
        #expect(book.authorNames == ["Homer"])
    }

    @Test func `several books are one request, and repairing them is one more`() async throws {
        rig.openLibrary.on(
            "/api/books",
            .json { request in
                let records = (request.query("bibkeys") ?? "").split(separator: ",").map { key in
                    request.query("jscmd") == "data"
                        ? #""\#(key)": {"title": "T \#(key)"}"#
                        : #""\#(key)": {"details": {"title": "x", "authors": [{"name": "A"}], "languages": [{"key": "/languages/ger"}]}}"#
                }
                return "{" + records.joined(separator: ",") + "}"
            })
        let isbns = (0..<20).map { ISBN.sample(numbered: $0) }
        var answers: [LookupAnswer] = []
        for await answer in try rig.chain().lookUp(isbns, refresh: false) { answers.append(answer) }
        #expect(answers.count == 20)
        #expect(
            answers.allSatisfy { $0.outcome.metadata?.authorNames == ["A"] && $0.outcome.metadata?.language == "de" })
        #expect(rig.openLibrary.requests.count == 2)
    }

    @Test func `a record that was merged into another is followed, and a deleted one is none`() async throws {
        rig.openLibrary.on("/api/books", .json(#"{"ISBN:9780140268867": {"title": "The Odyssey"}}"#))
        rig.openLibrary.on(
            "/isbn/9780140268867.json",
            .json(#"{"isbn_13": ["9780140268867"], "authors": [{"key": "/authors/OL1A"}, {"key": "/authors/OL2A"}]}"#))
        rig.openLibrary.on(
            "/authors/OL1A.json", .json(#"{"type": {"key": "/type/redirect"}, "location": "/authors/OL9A"}"#))
        rig.openLibrary.on("/authors/OL9A.json", .json(#"{"name": "Homer"}"#))
        rig.openLibrary.on("/authors/OL2A.json", .json(#"{"type": {"key": "/type/delete"}, "name": "Nobody"}"#))
        #expect(try await rig.outcome().metadata?.authorNames == ["Homer"])
    }

    @Test func `the article of a title, and pages as text, are kept`() async throws {
        rig.openLibrary.on(
            "/api/books",
            .books(
                data:
                    #"{"title": "utolsó kenet", "pagination": "xii, 188 p.", "identifiers": {"isbn_13": ["9780140268867"]}}"#,
                details: #"{"title": "utolsó kenet", "title_prefix": "Az ", "isbn_13": ["9780140268867"]}"#))
        let book = try #require(try await rig.outcome().metadata)
        #expect(book.title == "Az utolsó kenet" && book.pageCount == 188)
    }

    @Test func `a removed cover leaves the field to others`() async throws {
        rig.openLibrary.on(
            "/api/books",
            .json(
                #"{"ISBN:9780140268867": {"title": "X", "cover": {"large": "https://covers.openlibrary.org/b/id/-1-L.jpg"}}}"#
            ))
        #expect(try await rig.outcome().metadata?.coverURL == nil)
    }

    @Test func `an empty object means that there is no record`() async throws {
        #expect(try await rig.outcome() == .notFound(asked: [.openLibrary]))
    }

    @Test func `the record of another book is refused`() async throws {
        rig.openLibrary.on(
            "/api/books",
            .json(#"{"ISBN:9780140268867": {"title": "X", "identifiers": {"isbn_13": ["9780156027601"]}}}"#))
        #expect(
            try await rig.outcome().failure
                == SourceError(
                    source: .openLibrary, reason: "answered with the record of another book, 9780156027601"))
        #expect(try await rig.outcome().name == .badData)
    }

    @Test(arguments: ["0-14-026886-3", "0140268863", "978-0-14-026886-7", "ISBN 9780140268867"])
    func `the record may list the ISBN in either form`(_ number: String) async throws {
        rig.openLibrary.on(
            "/api/books",
            .json(#"{"ISBN:9780140268867": {"title": "X", "identifiers": {"isbn_10": ["junk", "\#(number)"]}}}"#))
        let book = try #require(try await rig.outcome().metadata)
        #expect(!book.isWeakMatch)
    }

    @Test(arguments: [
        "[1,2]", "null", "\"text\"", #"{"ISBN:9780140268867": 5}"#, #"{"ISBN:9780140268867": {}}"#,
        #"{"ISBN:9780140268867": {"title": 7}}"#, #"{"ISBN:9780140268867": {"title": "\u0000\u202e "}}"#,
        #"{"ISBN:9780140268867": {"title": "cut"#, #"var _OLBookInfo = {};"#, "",
    ])
    func `an answer of the wrong shape is bad data, never "no such book"`(_ body: String) async throws {
        rig.openLibrary.on("/api/books", .json(body))
        #expect(try await rig.outcome().name == .badData)
    }

    @Test func `JSON nested too deep is bad data`() async throws {
        let deep = String(repeating: "[", count: 200_000)
        rig.openLibrary.on("/api/books", .json(#"{"ISBN:9780140268867": \#(deep)"#))
        #expect(try await rig.outcome().name == .badData)
    }

    @Test func `wrong types drop their field, not the book`() async throws {
        rig.openLibrary.on(
            "/api/books",
            .json(
                #"""
                {"ISBN:9780140268867": {"title": "The \ud800Odyssey\u0000\u202e", "subtitle": {"a": 1}, "authors": "Homer",
                "publishers": 5, "publish_date": ["1997"], "number_of_pages": "541", "subjects": {"x": []}, "cover": "no",
                "url": "javascript:alert(1)", "identifiers": [1], "classifications": null}}
                """#))
        let book = try #require(try await rig.outcome().metadata)
        #expect(book.title == "The \u{FFFD}Odyssey")
        #expect(book.authorNames == ["Homer"])
        #expect(book.pageCount == 541)
        #expect(book.subtitle == nil && book.publisher == nil && book.publishedDate == nil && book.coverURL == nil)
        #expect(book.infoLink == nil && book.subjects.isEmpty)
        // It lists no number, so it is marked as a weak match.
        #expect(book.isWeakMatch)
    }

    @Test func `texts and lists are cut to the library's limits`() async throws {
        let title = String(repeating: "é", count: 200_000)
        let subjects = (0..<500).map { #"{"name": "S\#($0)"}"# }.joined(separator: ",")
        rig.openLibrary.on(
            "/api/books", .json(#"{"ISBN:9780140268867": {"title": "\#(title)", "subjects": [\#(subjects)]}}"#))
        let book = try #require(try await rig.outcome().metadata)
        #expect(book.title?.count == 512)
        #expect(book.subjects.count == 100)
    }

    @Test func `a title of 5 MB exceeds the limit of an answer`() async throws {
        rig.openLibrary.on(
            "/api/books", .json(#"{"ISBN:9780140268867": {"title": "\#(String(repeating: "x", count: 5_000_000))"}}"#))
        #expect(try await rig.outcome().failure?.reason == "the answer is larger than 1024 KiB")
        #expect(try await rig.outcome().name == .badData)
    }

    @Test(arguments: [
        "http://169.254.169.254/x.jpg", "https://evil.example/x.jpg", "file:///etc/passwd", "https://2130706433/x.jpg",
        "https://covers.openlibrary.org.evil.example/x.jpg", "https://covers.openlibrary.org:8443/x.jpg",
    ])
    func `a cover address on any other host is dropped`(_ address: String) async throws {
        rig.openLibrary.on(
            "/api/books", .json(#"{"ISBN:9780140268867": {"title": "X", "cover": {"large": "\#(address)"}}}"#))
        #expect(try await rig.outcome().metadata?.coverURL == nil)
    }
}

extension ISBN {
    /// Returns one of a million different ISBNs.
    static func sample(numbered number: Int) -> ISBN {
        let body = "978014" + String(String(1_000_000 + number).suffix(6))
        let sum = body.utf8.enumerated().reduce(0) { $0 + Int($1.element - 48) * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
        return sample(body + String((10 - sum % 10) % 10))
    }
}
