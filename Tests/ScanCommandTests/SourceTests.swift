import FaultServer
import Foundation
import TestTools
import Testing

/// Runs the program against sources that answer, fail and lie, on free ports of this machine.
@Suite struct `Asking the sources` {
    private static let dune = "9780441013593"
    private static let record = """
        {"ISBN:9780441013593": {"title": "Dune", "authors": [{"name": "Frank Herbert"}], "number_of_pages": 528,
        "publishers": [{"name": "Ace Books"}], "publish_date": "August 2, 2005", "key": "/books/OL1M",
        "identifiers": {"isbn_13": ["9780441013593"], "openlibrary": ["OL1M"]}}}
        """

    /// Runs the body with a program whose sources are two fault servers.
    private func withSources<Result>(
        _ body: (ScanProcess, FaultServer, FaultServer) throws -> Result
    ) throws -> Result {
        let (openLibrary, googleBooks) = (try FaultServer(), try FaultServer())
        var scan = try ScanProcess()
        defer { try? scan.remove() }
        scan.ask(openLibrary, googleBooks)
        scan.environment["BOOKPLATE_CONTACT"] = "me@example.org"
        return try body(scan, openLibrary, googleBooks)
    }

    @Test func `prints exactly the documented JSON of a lookup, and saves nothing`() throws {
        try withSources { scan, openLibrary, _ in
            openLibrary.on("/api/books", .json(Self.record))
            let ending = try scan.run("lookup", "--json", Self.dune)
            let line = try #require(ending.objects().first)
            #expect(
                Set(line.keys) == [
                    "isbn13", "outcome", "source", "cached", "notAsked", "title", "subtitle", "authors", "publisher",
                    "publishedDate", "publishedDateText", "pageCount", "language", "coverURL", "identifiers",
                    "subjects", "contributors", "originalLanguage", "format", "series", "seriesNumber", "description",
                    "weakMatch", "reason", "input",
                ])
            #expect(line["reason"] is NSNull && line["input"] as? String == Self.dune)
            #expect(line["outcome"] as? String == "found")
            #expect(line["source"] as? String == "openLibrary")
            #expect(line["cached"] as? Bool == false)
            #expect(line["authors"] as? [String] == ["Frank Herbert"])
            #expect(line["publishedDate"] as? String == "2005-08-02")
            #expect(line["publishedDateText"] as? String == "August 2, 2005")
            #expect(line["pageCount"] as? Int == 528)
            #expect(ending.status == 0)
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }

    @Test func `prints one line of JSON for each number, with the reason why there is no record`() throws {
        try withSources { scan, openLibrary, _ in
            openLibrary.on("/api/books", .status(500))
            let ending = try scan.run("lookup", "--json", Self.dune, "123", Self.dune)
            let lines = try ending.objects()
            #expect(lines.map { $0["input"] as? String } == [Self.dune, "123", Self.dune])
            #expect(lines.map { $0["outcome"] as? String } == ["temporary", nil, "temporary"])
            #expect(Set(lines[1].keys) == Set(lines[0].keys), "all keys are always there")
            #expect(lines[0]["reason"] as? String == "Open Library: is not working (500)")
            #expect((lines[1]["reason"] as? String)?.isEmpty == false)
            #expect(ending.status == 69)
        }
    }

    @Test func `fills in what saved books lack, also after an outage, and can be undone`() throws {
        try withSources { scan, openLibrary, _ in
            try scan.run("library", "add", "--isbn", Self.dune, "--title", "Dune by hand")
            try scan.run("library", "add", "--isbn", "9780141439587", "--title", "Emma")
            openLibrary.on("/api/books", .status(500))
            let failed = try scan.run("library", "refresh")
            #expect(failed.status == 69 && failed.err.contains("0 books of 2 completed."))
            #expect(failed.err.contains("2 books could not be looked up: Open Library: is not working (500)."))

            openLibrary.on("/api/books", .json(Self.record))
            let ending = try scan.run("library", "refresh", "dune by hand")
            #expect(ending.status == 0 && ending.out.contains("1 book of 1 completed."))
            let book = try #require(scan.run("library", "show", Self.dune, "--json").objects().first)
            #expect(book["title"] as? String == "Dune by hand" && book["pageCount"] as? Int == 528)
            let again = try scan.run("library", "refresh", "--json")
            #expect(again.status == 0 && again.out.isEmpty)

            try scan.run("undo")
            let undone = try #require(scan.run("library", "show", Self.dune, "--json").objects().first)
            #expect(undone["pageCount"] is NSNull)
        }
    }

    @Test func `a pause that a source requests of a lookup without a library holds for captures too`() throws {
        try withSources { scan, openLibrary, _ in
            openLibrary.on("/api/books", .status(429, headers: ["Retry-After": "3600"]))
            try scan.run("lookup", "--refresh", Self.dune)
            #expect(openLibrary.count("/api/books") == 1)
            try scan.run("--isbn", Self.dune, "--yes", "--json")
            try scan.run("--library", scan.home.path + "/another.sqlite", "--isbn", Self.dune, "--yes", "--json")
            #expect(openLibrary.count("/api/books") == 1)
        }
    }

    @Test func `identifies itself and its contact`() throws {
        try withSources { scan, openLibrary, _ in
            try scan.run("lookup", Self.dune)
            let agent = try #require(openLibrary.requests.first?.headers["user-agent"])
            #expect(agent.hasPrefix("Bookplate/"))
            #expect(agent.contains("me@example.org"))
        }
    }

    @Test func `uses the cache of an existing library, but not with --refresh`() throws {
        try withSources { scan, openLibrary, _ in
            openLibrary.on("/api/books", .json(Self.record))
            try scan.run("--isbn", Self.dune, "--json")
            let asked = openLibrary.count("/api/books")
            let cached = try scan.run("lookup", "--json", Self.dune)
            #expect(try cached.objects().first?["cached"] as? Bool == true)
            #expect(openLibrary.count("/api/books") == asked)
            let fresh = try scan.run("lookup", "--json", "--refresh", Self.dune)
            #expect(try fresh.objects().first?["cached"] as? Bool == false)
            #expect(openLibrary.count("/api/books") == 2 * asked)
        }
    }

    /// The behaviour of a source, the outcome and the exit status.
    static let faults: [(String, Reply, String, Int32)] = [
        ("an honest miss", .json("{}"), "notFound", 4), ("503", .status(503), "temporary", 69),
        ("429", .status(429, headers: ["Retry-After": "60"]), "temporary", 69), ("403", .status(403), "blocked", 69),
        ("511", .status(511), "blocked", 69), ("a sign-in page", .page("<html>Sign in</html>"), "blocked", 69),
        ("a redirect to another host", .redirect(to: "https://login.example/"), "blocked", 69),
        ("a reset", .reset, "temporary", 69), ("half a body", .cut("{\"ISBN:97", length: 500), "temporary", 69),
        ("nonsense", .json("{\"ISBN:"), "badData", 69), ("an endless body", .endless, "badData", 69),
        ("a gzip bomb", .gzipBomb(size: 64 << 20), "badData", 69),
    ]

    @Test(arguments: faults)
    func `distinguishes`(what: String, reply: Reply, outcome: String, status: Int32) throws {
        try withSources { scan, openLibrary, googleBooks in
            openLibrary.on("/api/books", reply)
            // The other source has no key, so it does not affect the outcome.
            googleBooks.on("/books/v1/volumes", .status(429))
            let ending = try scan.run("--isbn", Self.dune, "--yes", "--json")
            #expect(try ending.objects().map { $0["event"] as? String } == ["captured", outcome, "queued"], "\(what)")
            #expect(ending.status == status, "\(what)")
            #expect(try scan.run("intake", "list", "--json").lines.count == 1, "nothing is lost")
        }
    }

    @Test func `names the source that it did not ask, with the reason`() throws {
        try withSources { scan, openLibrary, googleBooks in
            openLibrary.on("/api/books", .json("{}"))
            googleBooks.on("/books/v1/volumes", .status(429))
            let line = try #require(scan.run("lookup", "--json", Self.dune).objects().first)
            #expect(line["outcome"] as? String == "notFound")
            let skipped = try #require((line["notAsked"] as? [[String: Any]])?.first)
            #expect(skipped["source"] as? String == "googleBooks")
            #expect((skipped["reason"] as? String)?.contains("key") == true)
        }
    }

    @Test func `keeps a capture and looks it up when the source is back`() throws {
        try withSources { scan, openLibrary, _ in
            openLibrary.on("/api/books", .status(503))
            #expect(try scan.run("--isbn", Self.dune, "--yes").status == 69)
            openLibrary.on("/api/books", .json(Self.record))
            let refreshed = try scan.run("intake", "refresh", "--json")
            #expect(try refreshed.objects().map { $0["event"] as? String } == ["found"])
            #expect(refreshed.status == 0)
            #expect(try scan.run("intake", "confirm", "--yes", "--json").events("saved").count == 1)
        }
    }

    @Test func `a refresh during an outage asks again, and says that the source is unavailable`() throws {
        try withSources { scan, openLibrary, googleBooks in
            openLibrary.on("/api/books", .status(403))
            googleBooks.on("/books/v1/volumes", .status(429))
            #expect(try scan.run("--isbn", Self.dune, "--yes").status == 69)
            let asked = openLibrary.requests.count
            let refreshed = try scan.run("intake", "refresh", "--json")
            #expect(try refreshed.objects().map { $0["event"] as? String } == ["blocked"])
            #expect(refreshed.status == 69)
            #expect(openLibrary.requests.count > asked)
        }
    }

    @Test func `never asks a source when it is offline`() throws {
        try withSources { scan, openLibrary, googleBooks in
            let ending = try scan.run("lookup", Self.dune, "--offline")
            #expect(ending.status == 69)
            #expect(openLibrary.requests.isEmpty && googleBooks.requests.isEmpty)
        }
    }

    @Test func `shows a hostile title as text, without control characters`() throws {
        try withSources { scan, openLibrary, _ in
            let title = #"\u001b[31mEvil\u0000\u202e <script>alert(1)</script>"#
            openLibrary.on("/api/books", .json(Self.record.replacingOccurrences(of: "\"Dune\"", with: "\"\(title)\"")))
            let ending = try scan.run("lookup", Self.dune)
            #expect(ending.out.contains("<script>alert(1)</script>"))
            #expect(!ending.out.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0 || $0.value == 0x202E })
        }
    }

    @Test func `asks for many ISBNs in one request`() throws {
        try withSources { scan, openLibrary, googleBooks in
            googleBooks.on("/books/v1/volumes", .status(429))
            let numbers = try Data(contentsOf: ScanProcess.samples.appendingPathComponent("isbns.txt"))
            try scan.run("--stdin", "--json", input: numbers)
            let asked = openLibrary.requests.compactMap { $0.query("bibkeys") }
            #expect(Set(asked.flatMap { $0.split(separator: ",") }).count == 40)
            #expect(asked.contains { $0.split(separator: ",").count >= 20 })
        }
    }

    @Test func `keeps four processes to a burst of three and one request a second`() throws {
        try withSources { scan, openLibrary, googleBooks in
            googleBooks.on("/books/v1/volumes", .status(429))
            let start = ContinuousClock.now
            openLibrary.stampRequests { ContinuousClock.now - start }
            let list = ScanProcess.samples.appendingPathComponent("isbns.txt")
            let numbers = try String(contentsOf: list, encoding: .utf8).split(separator: "\n")
            let running = try (0..<4).map { process in
                try scan.start(["--isbn", String(numbers[process]), "--json"])
            }
            for process in running { _ = try process.wait() }
            let times = openLibrary.requests.map { $0.time / .seconds(1) }.sorted()
            #expect(times.count >= 4)
            // A busy machine only makes them later.
            for (number, time) in times.enumerated() {
                #expect(time > Double(number - 3), "request \(number + 1) came after \(time) s")
            }
        }
    }

    @Test func `captures without the offline index, and says so`() throws {
        try withSources { scan, openLibrary, _ in
            openLibrary.on("/api/books", .json(Self.record))
            let ending = try scan.run("--isbn", Self.dune, "--yes", "--json", "--index", "/nowhere/index.sqlite")
            #expect(try ending.events("saved").count == 1)
            #expect(ending.err.contains("/nowhere/index.sqlite"))
            #expect(ending.status == 0)
        }
    }

    private static func recordWithCover(at server: FaultServer) -> String {
        record.replacingOccurrences(
            of: "\"title\"", with: "\"cover\": {\"large\": \"\(server.address)/b/id/77-L.jpg\"}, \"title\"")
    }

    @Test func `says that a cover could not be fetched, and saves the book`() throws {
        try withSources { scan, openLibrary, _ in
            openLibrary.on("/api/books", .json(Self.recordWithCover(at: openLibrary)))
            openLibrary.on("/b/id/77-L.jpg", .status(503))
            let ending = try scan.run("--isbn", Self.dune, "--yes", "--json")
            #expect(try ending.status == 0 && ending.events("saved").count == 1)
            #expect(ending.err.contains("1 cover could not be fetched and will be fetched later. "), "\(ending.err)")
        }
    }

    @Test func `says that a cover could not be stored, saves the book, and ends with 74`() throws {
        try withSources { scan, openLibrary, _ in
            let cover = try Data(contentsOf: ScanProcess.samples.appendingPathComponent("photos/webcam-640x480.jpg"))
            openLibrary.on("/api/books", .json(Self.recordWithCover(at: openLibrary)))
            openLibrary.on("/b/id/77-L.jpg", .answer(Array(cover), type: "image/jpeg"))
            // A file is in the place of the folder of covers.
            try Data().write(to: scan.home.appendingPathComponent("covers"))
            let ending = try scan.run("--isbn", Self.dune, "--yes", "--json")
            #expect(try ending.status == 74 && ending.events("saved").count == 1)
            #expect(ending.err.contains("/covers"), "\(ending.err)")
        }
    }

    @Test func `fetches the cover of a saved book once and keeps it beside the library`() throws {
        try withSources { scan, openLibrary, _ in
            let cover = try Data(contentsOf: ScanProcess.samples.appendingPathComponent("photos/webcam-640x480.jpg"))
            openLibrary.on("/api/books", .json(Self.recordWithCover(at: openLibrary)))
            openLibrary.on("/b/id/77-L.jpg", .answer(Array(cover), type: "image/jpeg"))
            #expect(try scan.run("--isbn", Self.dune, "--yes").status == 0)
            let folder = scan.home.appendingPathComponent("covers")
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            #expect(try files.map { try Data(contentsOf: $0) } == [cover])
            try scan.run("intake", "refresh")
            #expect(openLibrary.count("/b/id/77-L.jpg") == 1)
        }
    }

    /// Lets Open Library know every book by its title alone, and Google Books the rest.
    private func knowTitles(_ openLibrary: FaultServer, _ googleBooks: FaultServer) {
        openLibrary.on(
            "/api/books",
            .json { request in
                guard request.query("jscmd") == "data" else { return "{}" }
                let records = (request.query("bibkeys") ?? "").split(separator: ",").map { key in
                    #""\#(key)": {"title": "A book", "authors": [{"name": "A. B."}], "identifiers": {"isbn_13": ["\#(key.dropFirst(5))"]}}"#
                }
                return "{\(records.joined(separator: ","))}"
            })
        googleBooks.on(
            "/books/v1/volumes",
            .json { request in
                let isbn = (request.query("q") ?? "").dropFirst(5)
                return """
                    {"kind": "books#volumes", "totalItems": 1, "items": [{"volumeInfo": {"title": "A book", "publisher": "Ace",
                    "industryIdentifiers": [{"type": "ISBN_13", "identifier": "\(isbn)"}]}}]}
                    """
            })
    }

    private func publishers(_ scan: ScanProcess) throws -> [String?] {
        try scan.run("library", "list", "--json").objects().map { $0["publisher"] as? String }
    }

    @Test func `saves a book with its title, then fills its gaps, and one undo takes back both`() throws {
        try withSources { scan, openLibrary, googleBooks in
            knowTitles(openLibrary, googleBooks)
            var scan = scan
            scan.environment["BOOKPLATE_GOOGLEBOOKS_KEY"] = "key"
            let ending = try scan.run("--isbn", Self.dune, "--yes", "--json")
            #expect(
                try ending.objects().map { $0["event"] as? String } == ["captured", "found", "saved"], "\(ending.err)")
            #expect(try publishers(scan) == ["Ace"])
            _ = try scan.run("undo")
            #expect(try publishers(scan).isEmpty)
        }
    }

    @Test func `a run that was ended goes on filling gaps at the next start`() throws {
        try withSources { scan, openLibrary, googleBooks in
            knowTitles(openLibrary, googleBooks)
            let asked = DispatchSemaphore(value: 0)
            googleBooks.on(
                "/books/v1/volumes",
                Reply { connection, request in
                    asked.signal()
                    Reply.blackHole.send(connection, request)
                })
            var scan = scan
            scan.environment["BOOKPLATE_GOOGLEBOOKS_KEY"] = "key"
            let running = try scan.start(["--isbn", Self.dune, "--yes", "--json"])
            // Google Books is asked once the book is saved.
            asked.wait()
            killProgram(below: running.process.processIdentifier, by: SIGKILL)
            _ = try running.wait()
            #expect(try publishers(scan) == [nil])
            knowTitles(openLibrary, googleBooks)
            _ = try scan.run("--stdin", "--yes")
            #expect(try publishers(scan) == ["Ace"])
        }
    }

    @Test func `asks only the sources that are switched on in the library`() throws {
        try withSources { scan, openLibrary, googleBooks in
            knowTitles(openLibrary, googleBooks)
            var scan = scan
            (scan.environment["BOOKPLATE_SOURCES"], scan.environment["BOOKPLATE_GOOGLEBOOKS_KEY"]) = (nil, "key")
            #expect(try scan.run("settings", "set", "sources", "amazon").status == 78)
            #expect(try scan.run("settings", "set", "sources", "googlebooks").status == 0)
            let line = try #require(try scan.run("lookup", "--json", Self.dune).objects().first)
            #expect(line["source"] as? String == "googleBooks" && openLibrary.requests.isEmpty)
            scan.environment["BOOKPLATE_SOURCES"] = "openLibrary"
            #expect(
                try scan.run("lookup", "--json", "--refresh", Self.dune).objects().first?["source"] as? String
                    == "openLibrary")
            scan.environment["BOOKPLATE_SOURCES"] = "all"
            let refused = try scan.run("lookup", Self.dune)
            #expect(refused.status == 78 && refused.err.contains("one or more of dnb, bnf"))
        }
    }
}

extension ScanProcess {
    /// Gives the program two sources, which know no book until a test says otherwise.
    mutating func ask(_ openLibrary: FaultServer, _ googleBooks: FaultServer) {
        openLibrary.on("/api/books", .json("{}"))
        googleBooks.on("/books/v1/volumes", .json(#"{"kind":"books#volumes","totalItems":0}"#))
        environment["BOOKPLATE_OPENLIBRARY_URL"] = openLibrary.address
        environment["BOOKPLATE_COVERS_URL"] = openLibrary.address
        environment["BOOKPLATE_GOOGLEBOOKS_URL"] = googleBooks.address
    }
}
