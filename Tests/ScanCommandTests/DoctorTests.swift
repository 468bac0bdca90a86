import FaultServer
import Foundation
import Testing

/// Runs the command on a machine without the camera that it asks for.
@Suite struct `scan doctor` {
    private static let camera = ["--device", "/dev/no-such-camera"]
    private static let record = """
        {"ISBN:9780441478125": {"title": "The Left Hand of Darkness", "authors": [{"name": "Ursula K. Le Guin"}],
        "identifiers": {"isbn_13": ["9780441478125"], "openlibrary": ["OL1M"]}, "key": "/books/OL1M"}}
        """

    /// Runs the command and returns the checks by name.
    private func checks(_ scan: ScanProcess, _ arguments: String...) throws -> [String: [String: Any]] {
        let ending = try scan.run(["doctor", "--json"] + Self.camera + arguments)
        #expect(ending.status == 69, "\(ending.err)")
        let lines = try ending.objects()
        for line in lines {
            #expect(Set(line.keys) == ["check", "state", "fact", "next"])
            #expect(["ok", "attention", "broken", "unknown"].contains(line["state"] as? String))
        }
        return Dictionary(uniqueKeysWithValues: lines.map { ($0["check"] as? String ?? "?", $0) })
    }

    private func withSources<Result>(
        _ body: (ScanProcess, FaultServer, FaultServer) throws -> Result
    ) throws -> Result {
        let (openLibrary, googleBooks) = (try FaultServer(), try FaultServer())
        openLibrary.on("/api/books", .json(Self.record))
        googleBooks.on("/books/v1/volumes", .json(#"{"kind":"books#volumes","totalItems":0}"#))
        var scan = try ScanProcess()
        defer { try? scan.remove() }
        scan.environment["BOOKPLATE_OPENLIBRARY_URL"] = openLibrary.address
        scan.environment["BOOKPLATE_GOOGLEBOOKS_URL"] = googleBooks.address
        return try body(scan, openLibrary, googleBooks)
    }

    @Test func `reports a missing camera with advice, and ends with 69`() throws {
        try withScan { scan in
            let ending = try scan.run(["doctor"] + Self.camera)
            #expect(ending.status == 69)
            #expect(ending.out.contains("✕ camera"))
            #expect(ending.out.contains("No book can be scanned with the camera"))
            let camera = try #require(checks(scan)["camera"])
            #expect(camera["state"] as? String == "broken")
            #expect((camera["next"] as? String)?.isEmpty == false)
        }
    }

    @Test func `checks everything, with one line for each check`() throws {
        try withScan { scan in
            let names = try Set(checks(scan).keys)
            let expected: Set = [
                "cameras", "camera", "library", "disk", "openLibrary", "googleBooks", "offlineIndex", "scanners",
                "sound", "confinement", "clock", "terminal",
            ]
            #expect(names.subtracting(["permission"]) == expected)
        }
    }

    @Test func `creates no library, and counts the books of an existing one`() throws {
        try withScan { scan in
            #expect(try checks(scan)["library"]?["state"] as? String == "ok")
            #expect(!FileManager.default.fileExists(atPath: scan.library))
            try scan.run("--isbn", "9780441478125", "--yes")
            try scan.run("--isbn", "9780140449136", "--json")
            try scan.run("backup")
            let found = try checks(scan)
            #expect((found["library"]?["fact"] as? String)?.contains("1 book, 1 waiting") == true)
            #expect(found["backup"]?["state"] as? String == "ok")
        }
    }

    @Test(arguments: ["a text file", "a folder", "below a file"])
    func `says what is wrong with a library that is`(what: String) throws {
        try withScan { scan in
            var scan = scan
            switch what {
            case "a text file": try Data("Dear diary".utf8).write(to: URL(fileURLWithPath: scan.library))
            case "a folder":
                try FileManager.default.createDirectory(atPath: scan.library, withIntermediateDirectories: true)
            default:
                try Data("x".utf8).write(to: URL(fileURLWithPath: scan.library))
                scan.environment["BOOKPLATE_LIBRARY"] = scan.library + "/library.sqlite"
            }
            let library = try #require(checks(scan)["library"])
            #expect(library["state"] as? String == "broken")
            #expect((library["next"] as? String)?.isEmpty == false)
            #expect((library["fact"] as? String)?.contains("library.sqlite") == true)
        }
    }

    @Test func `reports invalid settings, and checks the camera all the same`() throws {
        try withScan { scan in
            var scan = scan
            scan.environment["BOOKPLATE_OFFLINE"] = "perhaps"
            let found = try checks(scan)
            #expect(found["settings"]?["state"] as? String == "broken")
            #expect(found["camera"] != nil)
        }
    }

    /// The behaviour of a source, and the check that results from it.
    static let faults: [(String, Reply, String, String)] = [
        ("finds the book", .json(record), "ok", "The Left Hand of Darkness"),
        ("does not know it", .json("{}"), "ok", "does not know"),
        ("is out of order", .status(503), "attention", "503"), ("is asked too often", .status(429), "attention", "429"),
        ("refuses", .status(403), "attention", "403"),
        ("shows a sign-in page", .page("<html>Sign in</html>"), "attention", "sign in"),
        ("sends elsewhere", .redirect(to: "https://login.example/"), "attention", "login.example"),
        ("resets", .reset, "attention", "reset"),
        ("answers nonsense", .json("{\"ISBN:"), "attention", "cannot be read"),
    ]

    @Test(arguments: faults)
    func `recognises a source that`(does what: String, reply: Reply, state: String, word: String) throws {
        try withSources { scan, openLibrary, googleBooks in
            openLibrary.on("/api/books", reply)
            let found = try checks(scan)
            let source = try #require(found["openLibrary"])
            #expect(source["state"] as? String == state, "\(what): \(source)")
            #expect((source["fact"] as? String)?.contains(word) == true, "\(what): \(source)")
            #expect(state == "ok" || source["next"] is String)
            #expect(found["googleBooks"]?["state"] as? String == "ok", "each source is asked separately")
            #expect(googleBooks.count("/books/v1/volumes") == 1)
        }
    }

    @Test func `says how to get the key for Google Books`() throws {
        try withSources { scan, _, googleBooks in
            googleBooks.on("/books/v1/volumes", .status(429))
            let source = try #require(checks(scan)["googleBooks"])
            #expect(source["state"] as? String == "attention")
            #expect(source["fact"] as? String == "not queried: needs a key")
            #expect((source["next"] as? String)?.contains("BOOKPLATE_GOOGLEBOOKS_KEY") == true)
        }
    }

    @Test func `ends even if a source never answers`() throws {
        try withSources { scan, openLibrary, _ in
            openLibrary.on("/api/books", .blackHole)
            let found = try checks(scan)
            #expect(found["openLibrary"]?["state"] as? String == "attention")
            #expect(found["googleBooks"]?["state"] as? String == "ok")
        }
    }

    @Test func `asks no source when it is offline`() throws {
        try withSources { scan, openLibrary, googleBooks in
            let found = try checks(scan, "--offline")
            #expect(found["openLibrary"]?["state"] as? String == "unknown")
            #expect((found["openLibrary"]?["fact"] as? String)?.contains("offline") == true)
            #expect(openLibrary.requests.isEmpty && googleBooks.requests.isEmpty)
        }
    }

    @Test func `notices a clock that is far off the sources' clocks`() throws {
        try withSources { scan, openLibrary, _ in
            openLibrary.on(
                "/api/books", .json(Self.record, headers: ["Date": "Fri, 01 Jan 2077 00:00:00 GMT"]))
            let clock = try #require(checks(scan)["clock"])
            #expect(clock["state"] as? String == "attention")
            #expect((clock["fact"] as? String)?.contains("behind") == true)
        }
    }

    @Test func `shows sections on a terminal, and prints no escapes without colour`() throws {
        try withScan { scan in
            let terminal = try PseudoTerminal(scan, "doctor --device /dev/no-such-camera")
            try terminal.wait(for: "No book can be scanned")
            #expect(try terminal.finish() == 69)
            for section in ["Camera", "Library", "Metadata", "Station"] { #expect(terminal.screen.contains(section)) }
            #expect(terminal.raw.contains("\u{1B}[31m✕\u{1B}[0m"))
            #expect(try !scan.run("doctor").out.contains("\u{1B}"))
        }
    }

    @Test(arguments: [["--seconds", "0"], ["--size", "12"], ["--size", "axb"]])
    func `refuses invalid options`(arguments: [String]) throws {
        try withScan { scan in
            let ending = try scan.run(["doctor"] + arguments)
            #expect(ending.status == 64)
        }
    }
}
