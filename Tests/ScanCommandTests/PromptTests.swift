import FaultServer
import Foundation
import Testing

@Suite(.serialized) struct `The prompt` {
    private func withTerminal(
        _ arguments: String, redirection: String = "", _ body: (ScanProcess, PseudoTerminal) throws -> Void
    ) throws {
        try withScan { scan in try body(scan, PseudoTerminal(scan, arguments, redirection: redirection)) }
    }

    private func titles(_ scan: ScanProcess) throws -> [String] {
        try scan.run("library", "list", "--json", "--sort", "title").objects().compactMap { $0["title"] as? String }
    }

    @Test func `shows a card and saves on s`() throws {
        try withTerminal("--isbn 9780441478125") { scan, terminal in
            try terminal.wait(for: "[s] save")
            #expect(terminal.screen.contains("✓ NEW"))
            #expect(terminal.screen.contains("The Left Hand of Darkness"))
            #expect(terminal.screen.contains("978-0-441-47812-5 · offline index"))
            #expect(terminal.screen.split(separator: "\r\n").allSatisfy { $0.count <= 80 })
            terminal.type("s")
            #expect(try terminal.finish() == 0)
            #expect(terminal.screen.contains("✓ saved"))
            #expect(terminal.isRestored)
            #expect(try titles(scan) == ["The Left Hand of Darkness"])
        }
    }

    @Test func `skips on k, takes it back on u, and leaves the rest on q`() throws {
        try withTerminal("--isbn 9780441478125 9780441013593") { scan, terminal in
            try terminal.wait(for: "[s] save")
            terminal.clear()
            terminal.type("k")
            try terminal.wait(for: "Dune")
            try terminal.wait(for: "[s] save")
            terminal.clear()
            terminal.type("u")
            try terminal.wait(for: "The Left Hand of Darkness")
            try terminal.wait(for: "[s] save")
            terminal.type("s")
            try terminal.wait(for: "✓ saved")
            terminal.type("q")
            #expect(try terminal.finish() == 4)
            #expect(try titles(scan) == ["The Left Hand of Darkness"])
            #expect(try scan.run("intake", "list", "--json").lines.count == 1)
        }
    }

    @Test func `undoes a save, and offers the book again`() throws {
        try withTerminal("--isbn 9780441478125 9780441013593") { scan, terminal in
            try terminal.wait(for: "[s] save")
            terminal.clear()
            terminal.type("s")
            try terminal.wait(for: "Dune")
            try terminal.wait(for: "[s] save")
            terminal.clear()
            terminal.type("u")
            try terminal.wait(for: "undone")
            try terminal.wait(for: "[s] save")
            #expect(try titles(scan).isEmpty)
            terminal.clear()
            terminal.type("s")
            try terminal.wait(for: "Dune")
            try terminal.wait(for: "[s] save")
            terminal.type("s")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan).count == 2)
        }
    }

    @Test func `edits field by field, and Esc cancels`() throws {
        try withTerminal("--isbn 9780441013593") { scan, terminal in
            try terminal.wait(for: "[s] save")
            terminal.type("e")
            try terminal.wait(for: "Title: Dune")
            terminal.clear()
            terminal.type("xyz\u{1B}")
            try terminal.wait(for: "Drop what you typed?")
            terminal.type("y")
            try terminal.wait(for: "[s] save")
            terminal.clear()
            terminal.type("e")
            try terminal.wait(for: "Title: Dune")
            terminal.type("\u{15}Der Wüstenplanet\n")
            try terminal.wait(for: "Subtitle:")
            terminal.type("\n\n\n\nmany\n")
            try terminal.wait(for: "page count must be a number")
            terminal.clear()
            terminal.type("\u{15}540\u{13}")
            try terminal.wait(for: "[s] save")
            terminal.type("s")
            #expect(try terminal.finish() == 0)
            let book = try #require(scan.run("library", "show", "9780441013593", "--json").objects().first)
            #expect(book["title"] as? String == "Der Wüstenplanet")
            #expect(book["pageCount"] as? Int == 540)
        }
    }

    @Test func `asks before it adds another copy of an owned book`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441013593", "--yes", "--shelf", "Attic")
            let terminal = try PseudoTerminal(scan, "--isbn 9780441013593")
            try terminal.wait(for: "[c] another copy")
            #expect(terminal.screen.contains("● OWNED ALREADY"))
            #expect(terminal.screen.contains("You have this book: on Attic"))
            terminal.type("s")
            try terminal.wait(for: "You already have this book")
            terminal.type("c")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan).count == 2)
        }
    }

    @Test func `asks before it adds another copy of a book that is shown twice`() throws {
        try withTerminal("--isbn 9780441013593 9780441013593") { scan, terminal in
            try terminal.wait(for: "[s] save")
            terminal.type("s")
            try terminal.wait(for: "[c] another copy")
            #expect(terminal.screen.contains("● CAPTURED AGAIN"))
            terminal.type("k")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan) == ["Dune"])
        }
    }

    @Test func `lets a person enter a book that no source knows; a title is enough`() throws {
        try withTerminal("--isbn 9783161484100") { scan, terminal in
            try terminal.wait(for: "[e] enter it by hand")
            #expect(terminal.screen.contains("▲ SOURCE UNAVAILABLE"))
            terminal.type("e")
            try terminal.wait(for: "Title:")
            terminal.type("By hand\n")
            try terminal.wait(for: "Subtitle:")
            terminal.type("\u{13}")
            try terminal.wait(for: "[s] save")
            terminal.type("s")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan) == ["By hand"])
        }
    }

    @Test func `leaves a book whose source is unavailable for later on l`() throws {
        try withTerminal("--isbn 9783161484100") { scan, terminal in
            try terminal.wait(for: "[l] later")
            terminal.type("l")
            #expect(try terminal.finish() == 69)
            #expect(try scan.run("intake", "list", "--json").lines.count == 1)
        }
    }

    @Test func `saves all on a, as one change that undo takes back`() throws {
        try withTerminal("--isbn 9780441478125 9780441013593 9780141439518") { scan, terminal in
            try terminal.wait(for: "[a] save all")
            terminal.type("a")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan).count == 3)
            try scan.run("undo")
            #expect(try titles(scan).isEmpty)
        }
    }

    @Test func `confirms nothing on Enter, which a handheld scanner types after its digits`() throws {
        try withTerminal("--isbn 9780441478125") { scan, terminal in
            try terminal.wait(for: "[s] save")
            terminal.type("9780441013593\n\n")
            try terminal.wait(for: "978-0-441-01359-3 is in the queue")
            terminal.type("q")
            #expect(try terminal.finish() == 4)
            #expect(try titles(scan).isEmpty)
        }
    }

    @Test func `takes numbers that are scanned and typed at a card, and shows their cards later`() throws {
        try withTerminal("--isbn 9780441478125") { scan, terminal in
            try terminal.wait(for: "[s] save")
            terminal.type("9780441013593\n")
            try terminal.wait(for: "978-0-441-01359-3 is in the queue")
            // Digits that a person types come one by one.
            for digit in "9780141439518" {
                terminal.clear()
                terminal.type(String(digit))
                try terminal.wait(for: "ISBN: ")
            }
            terminal.type("\n")
            try terminal.wait(for: "978-0-14-143951-8 is in the queue")
            for title in ["The Left Hand", "Dune", "Pride"] {
                terminal.clear()
                terminal.type("s")
                if title == "Pride" { break }
                try terminal.wait(for: "[s] save")
            }
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan).count == 3)
        }
    }

    @Test func `refuses what a scanner reads from other codes, and obeys none of its letters`() throws {
        try withTerminal("--isbn 9780441478125") { scan, terminal in
            try terminal.wait(for: "[s] save")
            terminal.type("asks/B00-9\r\n")
            try terminal.wait(for: "✕ refused asks/B00-9: \"a\" at position 1")
            terminal.type("e")
            try terminal.wait(for: "Title: The Left Hand of Darkness")
            terminal.type("https://example.org/title\n\n")
            try terminal.wait(for: "✕ refused https://example.org/title")
            terminal.clear()
            terminal.type("\u{1B}")
            try terminal.wait(for: "[s] save")
            #expect(try titles(scan).isEmpty)
            terminal.type("s")
            #expect(try terminal.finish() == 3, "a number was refused")
            #expect(try titles(scan) == ["The Left Hand of Darkness"])
        }
    }

    @Test func `saves only the card that the person could read if s is pressed again at once`() throws {
        try withTerminal("--isbn 9780441478125 9780441013593 9780141439518") { scan, terminal in
            try terminal.wait(for: "[s] save")
            terminal.type("sss")
            try terminal.wait(for: "The card appeared just before this key.")
            #expect(try titles(scan) == ["The Left Hand of Darkness"])
            terminal.type("q")
            #expect(try terminal.finish() == 4)
        }
    }

    @Test func `puts no scanned address into a form, and takes no answer to an unread card, line by line`() throws {
        try withTerminal("--stdin") { scan, terminal in
            try terminal.wait(for: "Control-D ends")
            terminal.type("9780441478125\n9780441013593\n")
            try terminal.wait(for: "[s] save")
            terminal.type("e\nhttps://example.org/title\n")
            try terminal.wait(for: "✕ refused https://example.org/title")
            terminal.clear()
            terminal.type(".\n")
            try terminal.wait(for: "[s] save")
            terminal.type("s\ns\n")
            try terminal.wait(for: "The card appeared just before this key.")
            #expect(try titles(scan) == ["The Left Hand of Darkness"])
            terminal.type("\u{04}")
            #expect(try terminal.finish() == 4)
        }
    }

    @Test func `leaves an open card in the queue when no more answers can arrive`() throws {
        try withTerminal("--stdin") { scan, terminal in
            try terminal.wait(for: "Control-D ends")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "[s] save")
            terminal.type("\u{04}")
            #expect(try terminal.finish() == 4)
            #expect(try scan.run("intake", "list", "--json").lines.count == 1)
        }
    }

    @Test func `counts books that were still being looked up when the person quits`() throws {
        let source = try FaultServer()
        source.on("/api/books", .blackHole)
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        scan.ask(source)
        let terminal = try PseudoTerminal(scan, "--isbn 9780441478125 9783161484100")
        try terminal.wait(for: "[s] save")
        terminal.type("s")
        try terminal.wait(for: "✓ saved")
        terminal.type("q")
        #expect(try terminal.finish() == 4)
        #expect(try scan.run("intake", "list", "--json").lines.count == 1)
    }

    @Test(arguments: ["--isbn 9783161484100", "--isbn 9783161484100 --yes", "lookup 9783161484100"])
    func `says which source it waits for if an answer takes long`(arguments: String) throws {
        let source = try FaultServer()
        source.on("/api/books", .blackHole)
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        scan.ask(source)
        let terminal = try PseudoTerminal(scan, arguments)
        try terminal.wait(for: "asking Open Library")
        terminal.type("\u{03}")
        #expect(try terminal.finish() == 130)
        #expect(terminal.isRestored)
    }

    @Test func `edits line by line if standard input is the terminal`() throws {
        try withTerminal("--stdin") { scan, terminal in
            try terminal.wait(for: "Control-D ends")
            terminal.type("9780441013593\n")
            try terminal.wait(for: "[s] save")
            terminal.type("e\n")
            try terminal.wait(for: "An empty line keeps the value")
            terminal.type("Der Wüstenplanet\n\n\nAce\n<\n-\n>\n")
            try terminal.wait(for: "[s] save")
            terminal.type("s\n")
            try terminal.wait(for: "✓ saved")
            terminal.type("\u{04}")
            #expect(try terminal.finish() == 0)
            let book = try #require(scan.run("library", "show", "9780441013593", "--json").objects().first)
            #expect(book["title"] as? String == "Der Wüstenplanet")
            #expect(book["publisher"] is NSNull)
            #expect(book["pageCount"] as? Int == 528)
        }
    }

    @Test func `reads keys from the terminal while standard input carries a photo`() throws {
        try withTerminal("--image -", redirection: "< samples/photos/frontal.jpg") { scan, terminal in
            try terminal.wait(for: "[s] save")
            terminal.type("s")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan) == ["The Left Hand of Darkness"])
        }
    }

    @Test func `with --stdin on a terminal treats letters as answers and everything else as numbers`() throws {
        try withTerminal("--stdin") { scan, terminal in
            try terminal.wait(for: "Control-D ends")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "[s] save")
            terminal.type("9780441013593\n")
            terminal.clear()
            terminal.type("s\n")
            try terminal.wait(for: "Dune")
            try terminal.wait(for: "[k] skip")
            terminal.type("k\n")
            try terminal.wait(for: "skipped")
            terminal.type("\u{04}")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan) == ["The Left Hand of Darkness"])
        }
    }

    @Test(arguments: [(SIGINT, "\u{03}"), (SIGTERM, nil), (SIGHUP, nil)] as [(Int32, String?)])
    func `restores the terminal and loses nothing when it is interrupted`(signal: Int32, key: String?) throws {
        try withTerminal("--isbn 9780441478125") { scan, terminal in
            try terminal.wait(for: "[s] save")
            #expect(!terminal.isRestored)
            if let key { terminal.type(key) } else { try terminal.send(signal) }
            #expect(try terminal.finish() == 128 + signal)
            #expect(terminal.screen.contains("Interrupted"))
            #expect(terminal.isRestored)
            #expect(try scan.run("intake", "list", "--json").lines.count == 1)
        }
    }

    @Test func `has no colour with NO_COLOR`() throws {
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        scan.environment["NO_COLOR"] = "1"
        let terminal = try PseudoTerminal(scan, "--isbn 9780441478125")
        try terminal.wait(for: "[s] save")
        #expect(!terminal.raw.contains("\u{1B}[3"))
        terminal.type("k")
        _ = try terminal.finish()
    }
}
