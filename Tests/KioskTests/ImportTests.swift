import Bookplate
import Foundation
import Synchronization
import Testing

@testable import Kiosk

/// An importer whose rows are given by the test. An import that is held waits until the test lets it go on.
private final class StubImport: FileImport {
    let results: [ImportResult]
    let orders = Mutex<[ImportOrder]>([])
    let files = Mutex<[Weak]>([])
    /// The error that ends an import; `nil` for none.
    let failure = Mutex<(any Error)?>(nil)
    private let going: AsyncStream<Void>
    let go: AsyncStream<Void>.Continuation
    let isHeld = Mutex(false)

    struct Weak: Sendable {
        weak let file: StubFile?
    }

    init(_ results: [ImportResult] = []) {
        self.results = results
        (going, go) = AsyncStream.makeStream(of: Void.self)
    }

    func makeFile() throws -> any ReceivedFile {
        let file = StubFile()
        files.withLock { $0.append(Weak(file: file)) }
        return file
    }

    func importRows(
        of file: any ReceivedFile, _ order: ImportOrder, into library: any KioskLibrary,
        deliver: @Sendable (ImportNews) async -> Void
    ) async throws {
        orders.withLock { $0.append(order) }
        await deliver(.recognised(.goodreads))
        if isHeld.withLock({ $0 }) { for await _ in going { break } }
        if let error = failure.withLock({ $0 }) { throw error }
        await deliver(.imported(results, bytesRead: 10, change: nil))
    }
}

private final class StubFile: ReceivedFile {
    let bytes = Mutex<[UInt8]>([])

    func append(_ more: [UInt8]) throws { bytes.withLock { $0 += more } }
}

@Suite struct `An import in the browser` {
    private static let rows = [
        ImportResult(row: 2, title: "Dune", outcome: .new(ID(rawValue: "dune"))),
        ImportResult(row: 3, title: "Emma", outcome: .merged(ID(rawValue: "emma"), filled: ["rating"])),
        ImportResult(
            row: 4, title: "<b>Momo</b>", outcome: .new(ID(rawValue: "momo")), doubts: ["date read: \"x\" was left out"]
        ),
        ImportResult(row: 5, outcome: .refused(reason: "the row has neither a title nor an ISBN")),
    ]

    private func withImport(_ importer: StubImport, _ body: (WebKiosk) async throws -> Void) async throws {
        try await withWebKiosk {
            $1.importFile = importer
        } _: {
            try await body($0)
        }
    }

    private func send(
        _ kiosk: WebKiosk, _ text: String = "a,b\n1,2\n", type: String = "application/octet-stream",
        name: String = "books.csv"
    ) async throws -> WebAnswer {
        try await kiosk.ask("POST", "/api/imports?name=\(name)", [("Content-Type", type)], body: text)
    }

    /// Waits until the import has one of the phases, and returns its JSON.
    private func json(_ kiosk: WebKiosk, _ phase: String) async throws -> [String: Any] {
        var answer = WebAnswer()
        for _ in 0..<2000 {
            answer = try await kiosk.ask("GET", "/api/imports")
            if answer.text("import.phase") == phase { break }
            await Task.yield()
        }
        try #require(answer.text("import.phase") == phase, "\(answer.body)")
        let whole = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        return try #require(whole?["import"] as? [String: Any])
    }

    private func page(_ kiosk: WebKiosk, _ language: String = "en") async throws -> String {
        try await kiosk.ask("GET", "/import", [("Accept", "text/html"), ("Accept-Language", language)]).body
    }

    @Test func `first says what it would do, and changes nothing before the person has agreed`() async throws {
        let importer = StubImport(Self.rows)
        try await withImport(importer) { kiosk in
            #expect(try await page(kiosk).contains("id=\"import-file\""))
            let sent = try await send(kiosk)
            let id = try #require(sent.text("id"))
            #expect(sent.status == 202)
            let checked = try await json(kiosk, "checked")
            let counts = try #require(checked["counts"] as? [String: Any])
            #expect(counts["new"] as? Int == 2 && counts["merged"] as? Int == 1)
            #expect(counts["flagged"] as? Int == 1 && counts["refused"] as? Int == 1)
            #expect(importer.orders.withLock { $0.map(\.isDryRun) } == [true])
            #expect(checked["problemCount"] as? Int == 2)
            let html = try await page(kiosk)
            #expect(html.contains("books.csv") && html.contains("Goodreads") && html.contains("Import 3 books"))
            #expect(html.contains("Row 4") && html.contains("&lt;b&gt;Momo&lt;/b&gt;"))
            #expect(html.contains("neither a title nor an ISBN"))
            // The copy of a dry run has no page.
            #expect(!html.contains("/books/momo"))
            let german = try await page(kiosk, "de")
            #expect(german.contains("3 Bücher importieren"))
            #expect(german.contains("<span lang=\"de\">Die Zeile hat weder Titel noch ISBN</span>"))
            #expect(german.contains("<span lang=\"en\">date read: &quot;x&quot; was left out</span>"))

            #expect(try await kiosk.ask("POST", "/api/imports/\(id)/start", body: "{}").status == 200)
            _ = try await json(kiosk, "done")
            #expect(importer.orders.withLock { $0.map(\.isDryRun) } == [true, false])
            let done = try await page(kiosk)
            #expect(done.contains("/books/momo") && done.contains("/books/dune"))
            // The file is not needed any more. A second press imports nothing twice.
            #expect(importer.files.withLock { $0.allSatisfy { $0.file == nil } })
            #expect(try await kiosk.ask("POST", "/api/imports/\(id)/start", body: "{}").status == 200)
            #expect(importer.orders.withLock { $0.count } == 2)
            #expect(try await kiosk.ask("DELETE", "/api/imports/\(id)", body: "{}").status == 200)
            #expect(try await page(kiosk).contains("id=\"import-file\""))
        }
    }

    @Test(arguments: [
        ("date read: \"x\" is not a date and was left out", "„date read“: „x“ ist kein Datum und wurde ausgelassen"),
        (
            "the book was finished on 2019-03, before it was started on 2020",
            "Beendet (März 2019) vor dem Beginn (2020)"
        ),
        (
            "tags is longer than 2000 characters and was truncated",
            "„tags“ hat mehr als 2.000 Zeichen und wurde gekürzt"
        ),
        (
            "copies: rating is 9; it must be from 0.25 to 5 in steps of 0.25; this column was left out",
            "„copies“: Bewertung 9: erlaubt sind 0,25 bis 5 in Schritten von 0,25; die Spalte wurde ausgelassen"
        ),
        (
            "\"9780441172710\" is not an ISBN: anything",
            "„9780441172710“ ist keine ISBN. Die letzte Ziffer dieser ISBN-13 müsste 9 sein, nicht 0; eine der Ziffern ist falsch. Mit dem Buch vergleichen."
        ),
    ])
    func `says why a row was flagged in the language of the page`(_ reason: String, _ german: String) throws {
        let texts = try WebFolder.bundled.get().texts
        let english = try #require(texts[.english])
        let reasons = ImportReasons(try #require(texts[.german]), english: english)
        #expect(reasons.text(of: reason) == (german, .german))
        #expect(reasons.text(of: "something new") == ("something new", .english))
        #expect(ImportReasons(english, english: english).text(of: reason) == (reason, .english))
    }

    /// Every literal of the importers that becomes a reason is tried, with its interpolations replaced.
    @Test func `has a translation of every reason`() throws {
        let texts = try WebFolder.bundled.get().texts
        let reasons = ImportReasons(try #require(texts[.french]), english: try #require(texts[.english]))
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let calls =
            #/(?:addDoubt\(|resynchronise\(|doubts\.append\(|\.refused\((?:row: [\w.]+, )?reason: |LineError\(\s*description:)\s*"((?:[^"\\]|\\.)*)"/#
        var sentences: Set<String> = []
        for folder in ["Exchange", "Library/Import"] {
            let base = sources.appendingPathComponent(folder).path
            for path in try FileManager.default.subpathsOfDirectory(atPath: base) where path.hasSuffix(".swift") {
                let text = try String(contentsOfFile: base + "/" + path, encoding: .utf8)
                sentences.formUnion(text.matches(of: calls).map { String($0.1) })
            }
        }
        // One literal has another one in its interpolation, one is a whole refusal, and the flaws of ISBNs in
        // Bookplate's own JSON stay English.
        sentences = sentences.filter { !$0.contains("error as?") && !$0.hasPrefix("isbn13: ") }
        #expect(sentences.count > 30)
        for sentence in sentences {
            let plain = sentence.replacing("\\\"", with: "\"").replacing(
                "\\(Self.reason(error))", with: "not valid JSON"
            )
            .replacing(#/\\\([^()]*(?:\([^()]*\)[^()]*)*\)/#, with: "7")
            guard !["the record \"library\" is missing", "7"].contains(plain) else { continue }
            #expect(reasons.text(of: plain).language == .french, "\(plain)")
        }
    }

    @Test func `takes the choices into the dry run and the import`() async throws {
        let importer = StubImport(Self.rows)
        try await withImport(importer) { kiosk in
            let id = try #require(try await send(kiosk, name: "..%2F..%2Fmy%0Abooks.csv").text("id"))
            _ = try await json(kiosk, "checked")
            let choices = #"{"shelf": "Hall ", "tags": ["old"], "owned": true, "format": "storyGraph"}"#
            #expect(try await kiosk.ask("PUT", "/api/imports/\(id)/choices", body: choices).status == 200)
            _ = try await json(kiosk, "checked")
            _ = try await kiosk.ask("POST", "/api/imports/\(id)/start", body: "{}")
            _ = try await json(kiosk, "done")
            var order = ImportOrder(name: "my books.csv")
            (order.format, order.isDryRun) = (.storyGraph, false)
            order.preset = ImportPreset(shelf: "Hall", tags: ["old"], isOwned: true)
            #expect(importer.orders.withLock { $0.last } == order)
            for (bad, status) in [
                (#"{"shelf": 1}"#, 400), (#"{"tags": [" "]}"#, 422), (#"{"format": "excel"}"#, 400),
                (#"{"reader": "nobody"}"#, 404), (#"{"colour": "red"}"#, 400),
            ] {
                let refused = try await kiosk.ask("PUT", "/api/imports/\(id)/choices", body: bad)
                #expect(refused.status == status, "\(bad): \(refused.body)")
            }
        }
    }

    @Test func `is for one file at a time, which all pages show`() async throws {
        let importer = StubImport(Self.rows)
        try await withImport(importer) { kiosk in
            let first = try #require(try await send(kiosk).text("id"))
            _ = try await json(kiosk, "checked")
            // Another file replaces one that nobody has begun to import.
            let second = try #require(try await send(kiosk, name: "other.csv").text("id"))
            _ = try await json(kiosk, "checked")
            #expect(try await kiosk.ask("POST", "/api/imports/\(first)/start", body: "{}").status == 404)
            #expect(try await kiosk.ask("GET", "/import?file=\(first)").body.contains("no longer here"))
            importer.isHeld.withLock { $0 = true }
            _ = try await kiosk.ask("POST", "/api/imports/\(second)/start", body: "{}")
            let running = try await json(kiosk, "importing")
            #expect(running["name"] as? String == "other.csv")
            #expect(try await page(kiosk).contains("id=\"import-progress\""))
            for answer in [
                try await send(kiosk), try await kiosk.ask("DELETE", "/api/imports/\(second)", body: "{}"),
                try await kiosk.ask("PUT", "/api/imports/\(second)/choices", body: "{}"),
            ] { #expect(answer.status == 409 && answer.text("error.code") == "importBusy", "\(answer.body)") }
            importer.go.yield()
            _ = try await json(kiosk, "done")
        }
    }

    @Test func `says why a file cannot be read, and lets the person choose its format or try again`() async throws {
        let importer = StubImport(Self.rows)
        importer.failure.withLock { $0 = ExchangeError.unknownColumns(file: "books.csv", found: ["Name", "<i>"]) }
        try await withImport(importer) { kiosk in
            let id = try #require(try await send(kiosk).text("id"))
            _ = try await json(kiosk, "failed")
            let html = try await page(kiosk)
            #expect(html.contains("Name, &lt;i&gt;") && html.contains("id=\"import-choices\" open"))
            #expect(try await page(kiosk, "fr").contains("ne correspondent à aucune application"))
            #expect(try await kiosk.ask("POST", "/api/imports/\(id)/start", body: "{}").status == 409)
            importer.failure.withLock { $0 = nil }
            _ = try await kiosk.ask("PUT", "/api/imports/\(id)/choices", body: #"{"format": "goodreads"}"#)
            _ = try await json(kiosk, "checked")
            importer.failure.withLock { $0 = KioskError(.inputOutput, "/secret is full", namesFile: true) }
            _ = try await kiosk.ask("POST", "/api/imports/\(id)/start", body: "{}")
            _ = try await json(kiosk, "failed")
            let failed = try await page(kiosk)
            #expect(failed.contains("Try again") && !failed.contains("/secret"))
            importer.failure.withLock { $0 = nil }
            _ = try await kiosk.ask("POST", "/api/imports/\(id)/start", body: "{}")
            _ = try await json(kiosk, "done")
        }
    }

    @Test func `forgets a file that nobody has imported for a day`() async throws {
        let importer = StubImport(Self.rows)
        try await withImport(importer) { kiosk in
            let id = try #require(try await send(kiosk).text("id"))
            _ = try await json(kiosk, "checked")
            kiosk.clock.advance(by: 86_000)
            _ = try await json(kiosk, "checked")
            kiosk.clock.advance(by: 86_401)
            #expect(try await kiosk.ask("POST", "/api/imports/\(id)/start", body: "{}").status == 404)
            #expect(importer.files.withLock { $0.allSatisfy { $0.file == nil } })
        }
    }

    @Test func `writes a large file piece by piece, and refuses one above the limit before it has arrived`()
        async throws
    {
        let importer = StubImport(Self.rows)
        try await withImport(importer) { kiosk in
            let text = String(repeating: "0123456789abcde\n", count: 1 << 16)
            importer.isHeld.withLock { $0 = true }
            #expect(try await send(kiosk, text).status == 202)
            #expect(importer.files.withLock { $0[0].file?.bytes.withLock { $0 } } == Array(text.utf8))
            importer.go.yield()
            let answer = try await kiosk.send(
                "POST /api/imports HTTP/1.1\r\nHost: \(kiosk.host)\r\nOrigin: http://\(kiosk.host)\r\n"
                    + "Content-Type: application/octet-stream\r\nContent-Length: \(ImportAPI.maxBytes + 1)\r\n\r\n")
            #expect(answer.status == 413 && answer.text("error.code") == "tooLarge")
        }
    }

    @Test func `is not for guests, strangers and other sites`() async throws {
        try await withImport(StubImport(Self.rows)) { kiosk in
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            let file = [("Content-Type", "application/octet-stream")]
            for (method, path) in [
                ("GET", "/api/imports"), ("POST", "/api/imports"), ("PUT", "/api/imports/x/choices"),
                ("POST", "/api/imports/x/start"), ("DELETE", "/api/imports/x"),
            ] {
                let headers = path == "/api/imports" ? file : []
                let body = method == "GET" ? nil : "{}"
                let stranger = try await kiosk.askAsStranger(method, path, headers, body: body)
                #expect(stranger.status == 401, "\(method) \(path)")
                guard method != "GET" else { continue }
                let foreign = [("Origin", "http://evil.example"), ("Sec-Fetch-Site", "cross-site")]
                #expect(try await kiosk.ask(method, path, headers + foreign, body: body).status == 403, "\(path)")
            }
            // A form of another site can send these types without asking.
            for type in ["text/plain", "multipart/form-data", "text/csv"] {
                let answer = try await send(kiosk, type: type)
                #expect(answer.status == 415 && answer.text("error.code") == "notFile", "\(type)")
            }
            let page = try await kiosk.askAsStranger("GET", "/import", [("Accept", "text/html")])
            #expect(page.status == 303)
        }
    }
}

@Suite struct `A first visit` {
    @Test func `begins with the ways to add books, until there is one`() async throws {
        try await withWebKiosk { kiosk in
            func start() async throws -> String? { try await kiosk.ask("GET", "/")["location"] }
            #expect(try await start() == "/home")
            for path in ["/home", "/library"] {
                let html = try await kiosk.ask("GET", path).body
                let ways = ["scan", "import", "add", "settings#other-devices"].map { "href=\"/\($0)\"" }
                for way in ways + ["id=\"photos\""] {
                    #expect(html.contains("id=\"start\"") && html.contains(way), "\(path): \(way)")
                }
            }
            // A search without results, and a view without books, are no first visit.
            for path in ["/library?q=dune", "/library?wishlist=1", "/library?trash=1"] {
                #expect(try await !kiosk.ask("GET", path).body.contains("id=\"start\""), "\(path)")
            }
            _ = try await kiosk.ask("POST", "/api/books", body: #"{"title": "Dune"}"#)
            #expect(try await start() == "/scan")
            for path in ["/home", "/library"] {
                #expect(try await !kiosk.ask("GET", path).body.contains("id=\"start\""), "\(path)")
            }
        }
    }

    @Test func `of a guest shows a friendly page without ways to add books`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            for path in ["/home", "/library"] {
                let html = try await kiosk.askAsStranger("GET", path, [("Accept", "text/html")]).body
                #expect(html.contains("This library is still empty."), "\(path)")
                for way in ["href=\"/scan\"", "href=\"/import\"", "href=\"/add\"", "id=\"photos\""] {
                    #expect(!html.contains(way), "\(path): \(way)")
                }
            }
        }
    }

    @Test func `opens Scan if a captured book waits to be saved`() async throws {
        try await withWebKiosk { kiosk in
            _ = try await kiosk.ask(
                "POST", "/api/station/captures", body: #"{"text": "9780441478125", "origin": "typed"}"#)
            #expect(try await kiosk.ask("GET", "/")["location"] == "/scan")
        }
    }
}
