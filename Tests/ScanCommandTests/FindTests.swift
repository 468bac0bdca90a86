import FaultServer
import Foundation
import TestTools
import Testing

@Suite(.serialized) struct `Finding a book by its title` {
    private static let search = """
        {"numFound": 1, "docs": [{"key": "/works/OL5W", "title": "Solaris", "author_name": ["Stanisław Lem"]}]}
        """
    private static let editions = """
        {"entries": [
          {"key": "/books/OL1M", "title": "Solaris", "works": [{"key": "/works/OL5W"}], "isbn_13": ["9780156027601"],
           "publishers": ["Harvest"], "publish_date": "2002", "languages": [{"key": "/languages/eng"}],
           "physical_format": "Paperback"},
          {"key": "/books/OL2M", "title": "Solaris", "works": [{"key": "/works/OL5W"}], "publish_date": "1961",
           "publishers": ["MON"], "languages": [{"key": "/languages/pol"}]}]}
        """

    /// Runs the body with a program whose sources know two editions of one work.
    private func withSources(_ body: (ScanProcess, FaultServer) throws -> Void) throws {
        let (openLibrary, googleBooks) = (try FaultServer(), try FaultServer())
        openLibrary.on("/search.json", .json(Self.search))
        openLibrary.on("/works/OL5W/editions.json", .json(Self.editions))
        var scan = try ScanProcess()
        defer { try? scan.remove() }
        scan.ask(openLibrary, googleBooks)
        try body(scan, openLibrary)
    }

    @Test func `lists the editions with what tells them apart, and saves nothing`() throws {
        try withSources { scan, _ in
            let ending = try scan.run("find", "solaris", "--author", "lem")
            #expect(ending.status == 0)
            #expect(ending.out.contains("1   Solaris · Stanisław Lem"))
            #expect(
                ending.out.contains("Harvest · 2002 · physical · en · 978-0-15-602760-1 · Open Library"))
            #expect(ending.out.contains("MON · 1961 · pl · no ISBN · Open Library"))
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }

    @Test func `prints the documented JSON, one line for the search`() throws {
        try withSources { scan, _ in
            let lines = try scan.run("find", "solaris", "--json").objects()
            #expect(lines.count == 1)
            #expect(
                Set(lines[0].keys) == [
                    "title", "author", "outcome", "reason", "asked", "failures", "notAsked", "editions",
                ])
            #expect(lines[0]["asked"] as? [String] == ["openLibrary", "googleBooks"])
            let editions = try #require(lines[0]["editions"] as? [[String: Any]])
            #expect(editions.map { $0["number"] as? Int } == [1, 2])
            #expect(editions.map { $0["isbn13"] as? String } == ["9780156027601", nil])
            #expect(
                Set(editions[0].keys) == [
                    "number", "isbn13", "source", "title", "subtitle", "authors", "publisher", "publishedDate",
                    "publishedDateText", "pageCount", "language", "coverURL", "identifiers", "subjects",
                    "contributors", "originalLanguage", "format", "series", "seriesNumber", "description", "copies",
                    "otherEditions",
                ])
        }
    }

    @Test func `saves the edition with the given number, with or without an ISBN, and undo takes it back`() throws {
        try withSources { scan, _ in
            let ending = try scan.run("find", "solaris", "--take", "2", "--shelf", "Attic")
            #expect(ending.status == 0 && ending.out.contains("✓ saved"))
            let book = try #require(try scan.run("library", "list", "--json").objects().first)
            #expect(book["isbn13"] is NSNull && book["publisher"] as? String == "MON")
            #expect(book["shelf"] as? String == "Attic")
            try scan.run("undo")
            #expect(try scan.run("library", "list", "--json").out.isEmpty)
            try scan.run("find", "solaris", "--take", "1")
            let numbered = try #require(try scan.run("library", "list", "--json").objects().first)
            #expect(numbered["isbn13"] as? String == "9780156027601")
            let again = try scan.run("find", "solaris", "--take", "1")
            #expect(again.status == 3 && again.err.contains("you already have \"Solaris\""))
            #expect(try scan.run("find", "solaris").out.contains("You have this book"))
        }
    }

    @Test func `an edition without an ISBN is recognised as owned, too`() throws {
        try withSources { scan, _ in
            try scan.run("find", "solaris", "--take", "2")
            #expect(try scan.run("find", "solaris").out.contains("You have this book"))
            let again = try scan.run("find", "solaris", "--take", "2")
            #expect(again.status == 3 && again.err.contains("you already have \"Solaris\""))
            #expect(try scan.run("find", "solaris", "--take", "2", "--another-copy").status == 0)
            #expect(try scan.run("library", "list", "--json").objects().count == 2)
        }
    }

    @Test func `saves what was chosen, and fills its gaps by its number`() throws {
        try withSources { scan, openLibrary in
            openLibrary.on(
                "/api/books",
                .json(
                    """
                    {"ISBN:9780156027601": {"title": "SOLARIS", "publishers": [{"name": "Houghton"}],
                    "number_of_pages": 212, "identifiers": {"isbn_13": ["9780156027601"]}}}
                    """))
            try scan.run("find", "solaris", "--take", "1")
            let book = try #require(try scan.run("library", "list", "--json").objects().first)
            #expect(book["title"] as? String == "Solaris" && book["publisher"] as? String == "Harvest")
            #expect(book["pageCount"] as? Int == 212)
        }
    }

    @Test func `says which other edition is owned, in the list and on the card of a captured book`() throws {
        try withSources { scan, openLibrary in
            try scan.run(
                "library", "add", "--title", "Solaris", "--author", "Stanisław Lem", "--publisher", "Walker",
                "--isbn", "9780425038512", "--shelf", "Attic")
            let ending = try scan.run("find", "solaris")
            #expect(ending.out.contains("You own another edition: Walker, 978-0-425-03851-2, on Attic"))
            openLibrary.on(
                "/api/books",
                .json(
                    """
                    {"ISBN:9780156027601": {"title": "Solaris", "authors": [{"name": "Stanislaw Lem"}],
                    "identifiers": {"isbn_13": ["9780156027601"]}}}
                    """))
            let terminal = try PseudoTerminal(scan, "--isbn 9780156027601")
            try terminal.wait(for: "You own another edition: Walker")
            try terminal.wait(for: "[s] save")
            terminal.type("q")
            _ = try terminal.finish()
        }
    }

    @Test func `one key takes one`() throws {
        try withSources { scan, _ in
            let terminal = try PseudoTerminal(scan, "find solaris")
            try terminal.wait(for: "[1-2] take one")
            terminal.type("x")
            terminal.type("2")
            try terminal.wait(for: "✓ saved")
            #expect(try terminal.finish() == 0)
            #expect(terminal.isRestored)
            #expect(try scan.run("library", "list", "--json").objects().map { $0["publisher"] as? String } == ["MON"])
        }
    }

    @Test func `q takes none`() throws {
        try withSources { scan, _ in
            let terminal = try PseudoTerminal(scan, "find solaris")
            try terminal.wait(for: "[Esc] cancel")
            terminal.type("q")
            #expect(try terminal.finish() == 0)
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }

    @Test func `tells not found, an outage and a wrong number apart`() throws {
        try withSources { scan, openLibrary in
            let wrong = try scan.run("find", "solaris", "--take", "3")
            #expect(wrong.status == 64 && wrong.err.contains("there is no edition 3; 2 editions found."))
            openLibrary.on("/search.json", .json(#"{"numFound": 0, "docs": []}"#))
            let none = try scan.run("find", "xyzzy")
            #expect(none.status == 3)
            #expect(none.err.contains("no record at Open Library, Google Books. Try fewer words"))
            openLibrary.on("/search.json", .status(503))
            let outage = try scan.run("find", "xyzzy", "--json")
            #expect(outage.status == 69)
            #expect(try outage.objects().first?["outcome"] as? String == "temporary")
            #expect(try scan.run("find", "?!").status == 64)
            let number = try scan.run("find", "9780156027601")
            #expect(number.status == 64 && number.err.contains("scan --isbn 9780156027601"))
            #expect(try scan.run("find", "x", "--language", "german").status == 64)
        }
    }

    @Test(.enabled(if: isThere("tesseract"), "tesseract-ocr is not installed"))
    func `needs a photo that is a file`() throws {
        try withSources { scan, _ in
            for (path, status) in [("/nowhere.jpg", 66), ("/tmp", 64)] {
                let ending = try scan.run("find", "--image", path)
                #expect(ending.status == status, "\(path): \(ending.err)")
            }
        }
    }

    @Test func `without a network it says what was not asked`() throws {
        try withSources { scan, openLibrary in
            let ending = try scan.run("find", "solaris", "--offline")
            #expect(ending.status == 69)
            #expect(ending.err.contains("no online source was queried (offline mode is on)"))
            #expect(openLibrary.requests.isEmpty)
        }
    }

    @Test func `a book is compared with each source, and a field taken from one`() throws {
        try withSources { scan, openLibrary in
            openLibrary.on(
                "/api/books",
                .json(
                    """
                    {"ISBN:9780156027601": {"title": "Solaris", "publishers": [{"name": "Harvest"}],
                    "identifiers": {"isbn_13": ["9780156027601"]}}}
                    """))
            try scan.run("library", "add", "--isbn", "9780156027601", "--title", "Solaris", "--publisher", "Mine")
            let shown = try scan.run("library", "sources", "solaris")
            #expect(shown.status == 0)
            #expect(shown.out.contains("publisher         ✓ Mine") && shown.out.contains("Harvest"))
            #expect(shown.err.contains("Google Books: no record"))
            let line = try #require(try scan.run("library", "sources", "solaris", "--json").objects().first)
            #expect(Set(line.keys) == ["id", "isbn13", "fields", "sources"])

            let taken = try scan.run("library", "sources", "solaris", "--take", "publisher=openLibrary", "--json")
            #expect(try taken.objects().first?["publisher"] as? String == "Harvest")
            try scan.run("undo")
            #expect(try scan.run("library", "show", "solaris", "--json").objects()[0]["publisher"] as? String == "Mine")
            for (choice, status, reason) in [
                ("publisher", 64, "does not name a field"), ("isbn=dnb", 64, "does not name a field"),
                ("publisher=nobody", 64, "is not a source"),
                ("pageCount=openLibrary", 3, "it has no pages for this book"),
                ("publisher=googleBooks", 3, "Google Books: no record"), ("publisher=dnb", 3, "was not asked"),
            ] {
                let refused = try scan.run("library", "sources", "solaris", "--take", choice)
                #expect(refused.status == Int32(status) && refused.err.contains(reason), "\(choice): \(refused.err)")
            }
        }
    }

    @Test func `a book without an ISBN is compared with the edition of its year, found by its title`() throws {
        try withSources { scan, _ in
            try scan.run("library", "add", "--title", "Solaris", "--author", "Lem", "--published", "1961")
            let shown = try scan.run("library", "sources", "solaris")
            #expect(shown.status == 0 && shown.out.contains("MON") && !shown.out.contains("Harvest"))
            #expect(shown.err.contains("The book has no ISBN."))
            try scan.run("library", "sources", "solaris", "--take", "publisher=openLibrary")
            let book = try scan.run("library", "show", "solaris", "--json").objects()[0]
            #expect(book["publisher"] as? String == "MON" && book["isbn13"] is NSNull)
        }
    }

    @Test func `a book that no source knows by its number is found by its title at the prompt`() throws {
        try withSources { scan, _ in
            let terminal = try PseudoTerminal(scan, "--isbn 9783161484100")
            try terminal.wait(for: "[e] enter it by hand")
            terminal.type("e")
            try terminal.wait(for: "Ctrl-R: find by title")
            terminal.type("\u{12}")
            try terminal.wait(for: "Type a title first")
            terminal.type("solaris\u{12}")
            try terminal.wait(for: "[1-2] take one")
            terminal.type("1")
            try terminal.wait(for: "[s] save")
            terminal.type("s")
            try terminal.wait(for: "✓ saved")
            #expect(try terminal.finish() == 0)
            let book = try #require(try scan.run("library", "list", "--json").objects().first)
            #expect(book["isbn13"] as? String == "9783161484100" && book["title"] as? String == "Solaris")
            #expect(book["publisher"] is NSNull, "the edition with this number may have another publisher")
        }
    }

    @Test func `Esc goes back from the editions to the form`() throws {
        try withSources { scan, _ in
            let terminal = try PseudoTerminal(scan, "--isbn 9783161484100")
            try terminal.wait(for: "[e] enter it by hand")
            terminal.type("e")
            try terminal.wait(for: "Ctrl-R")
            terminal.type("solaris\u{12}")
            try terminal.wait(for: "[1-2] take one")
            terminal.clear()
            terminal.type("q")
            try terminal.wait(for: "Title: solaris")
            terminal.type("\u{1B}")
            try terminal.wait(for: "Drop what you typed?")
            terminal.type("y")
            try terminal.wait(for: "[e] enter it by hand")
            terminal.type("q")
            _ = try terminal.finish()
            #expect(try scan.run("library", "list", "--json").out.isEmpty)
        }
    }
}
