import Foundation
import Testing

@Suite struct `Which of several books is meant` {
    /// Two books titled Twin, one of them with an ISBN and on a shelf, and Dune.
    private func withTwins(_ body: (ScanProcess) throws -> Void) throws {
        try withScan { scan in
            for arguments in [
                ["--author", "One Author", "--isbn", "9780441478125", "--shelf", "Attic", "--published", "1969"],
                ["--author", "Two Author"],
            ] {
                try #require(try scan.run(["library", "add", "--title", "Twin"] + arguments).status == 0)
            }
            try #require(try scan.run("library", "add", "--title", "Dune", "--author", "Frank Herbert").status == 0)
            try body(scan)
        }
    }

    private func ratings(_ scan: ScanProcess) throws -> [String: Double?] {
        let books = try scan.run("library", "list", "--json").objects()
        return Dictionary(
            uniqueKeysWithValues: books.compactMap { book in
                let author = (book["authors"] as? [[String: Any]])?.first?["name"] as? String
                return author.map { ($0, book["rating"] as? Double) }
            })
    }

    @Test func `is asked on a terminal: typed words narrow the list, and Enter takes a book`() throws {
        try withTwins { scan in
            let terminal = try PseudoTerminal(scan, "library edit twin --rating 4")
            try terminal.wait(for: "Enter takes")
            #expect(terminal.screen.contains("Which book is \"twin\" (2/2): "))
            #expect(terminal.screen.contains("  Twin · One Author (1969) · To Read · Attic"))
            #expect(!terminal.raw.contains("\u{1B}[?1049h"))
            terminal.type("ONE")
            try terminal.wait(for: "(1/2): ONE")
            try terminal.wait(for: "▸ Twin · One Author (1969) · To Read · Attic")
            terminal.type("\r")
            try terminal.wait(for: "Chosen: Twin · One Author (1969)")
            #expect(try terminal.finish() == 0)
            #expect(terminal.isRestored)
            #expect(try ratings(scan) == ["One Author": 4, "Two Author": nil, "Frank Herbert": nil])
        }
    }

    @Test func `is asked for each name of a command, and keys move in the list`() throws {
        try withTwins { scan in
            let terminal = try PseudoTerminal(scan, "tag add both dune twin author")
            // The list begins with the book that was added last.
            try terminal.wait(for: "Which book is \"twin\" (2/2): ")
            terminal.type("\u{1B}[B\u{1B}[A\r")
            try terminal.wait(for: "Which book is \"author\" (2/2): ")
            // Ctrl-J, which is not Enter here.
            terminal.type("\n\r")
            #expect(try terminal.finish() == 0)
            let books = try scan.run("library", "list", "--tag", "both", "--json").objects()
            let authors = books.compactMap { ($0["authors"] as? [[String: Any]])?.first?["name"] as? String }
            #expect(Set(authors) == ["Frank Herbert", "One Author", "Two Author"])
        }
    }

    @Test(arguments: [
        "library delete twin", "library show twin", "reading start twin", "reading page twin 22", "note add twin Text",
        "tag add twins twin", "session start twin",
    ])
    func `stays open after Esc, and everything stays as it is`(command: String) throws {
        try withTwins { scan in
            let before = try scan.run("undo", "--list", "--json").out
            let terminal = try PseudoTerminal(scan, command)
            try terminal.wait(for: "Enter takes")
            terminal.type("\u{1B}")
            #expect(try terminal.finish() == 3)
            #expect(terminal.screen.contains("No book was chosen, so nothing changed."))
            #expect(terminal.isRestored)
            #expect(try scan.run("undo", "--list", "--json").out == before)
        }
    }

    @Test func `stays open after Control-C, which ends the program`() throws {
        try withTwins { scan in
            let terminal = try PseudoTerminal(scan, "library delete twin")
            try terminal.wait(for: "Enter takes")
            terminal.type("\u{03}")
            #expect(try terminal.finish() == 130)
            #expect(terminal.screen.contains("Nothing changed.") && terminal.isRestored)
            #expect(try scan.run("library", "trash", "--json").lines.isEmpty)
        }
    }

    @Test func `can be answered with a scanned number, whose Enter takes nothing`() throws {
        try withTwins { scan in
            let terminal = try PseudoTerminal(scan, "library edit twin --rating 3")
            try terminal.wait(for: "Enter takes")
            terminal.type("9780441478125\r")
            try terminal.wait(for: "(1/2): 9780441478125")
            terminal.type("\r")
            #expect(try terminal.finish() == 0)
            #expect(try ratings(scan)["One Author"] == 3)
        }
    }

    @Test func `is asked on standard error, so that standard output holds only the result`() throws {
        try withTwins { scan in
            let file = scan.home.appendingPathComponent("shown.txt")
            let terminal = try PseudoTerminal(scan, "library show twin", redirection: "> '\(file.path)'")
            try terminal.wait(for: "Enter takes")
            terminal.type("\r")
            try terminal.wait(for: "Chosen: Twin")
            #expect(try terminal.finish() == 0)
            let shown = try String(contentsOf: file, encoding: .utf8)
            #expect(shown.contains("Two Author") && !shown.contains("\u{1B}") && !shown.contains("Which book"))
        }
    }

    @Test func `is asked in ASCII if the locale is not UTF-8, and without colours with NO_COLOR`() throws {
        try withTwins { scan in
            var scan = scan
            (scan.environment["LANG"], scan.environment["NO_COLOR"]) = ("C", "1")
            let terminal = try PseudoTerminal(scan, "library delete twin", columns: 40, rows: 10)
            try terminal.wait(for: "> Twin - Two Author")
            terminal.type("\u{07}")
            #expect(try terminal.finish() == 3)
            #expect(terminal.raw.utf8.allSatisfy { $0 < 0x80 } && !terminal.raw.contains(/\u{1B}\[[0-9]*m/))
        }
    }

    @Test(arguments: [
        ("library delete twin --yes", "", "xterm"), ("library show twin --json", "", "xterm"),
        ("library show twin", "", "dumb"), ("library show twin", "< /dev/null", "xterm"),
        ("library show twin", "2> FILE", "xterm"),
    ])
    func `is not asked where nobody answers`(command: String, redirection: String, term: String) throws {
        try withTwins { scan in
            var scan = scan
            scan.environment["TERM"] = term
            let file = scan.home.appendingPathComponent("errors.txt").path
            let terminal = try PseudoTerminal(
                scan, command, redirection: redirection.replacingOccurrences(of: "FILE", with: "'\(file)'"))
            #expect(try terminal.finish() == 3)
            let message =
                redirection.contains("FILE") ? try String(contentsOfFile: file, encoding: .utf8) : terminal.screen
            #expect(message.contains("\"twin\" matches several books. Give the id of one of them"), "\(message)")
            #expect(!message.contains("Which book"))
        }
    }

    @Test func `is asked for all books that match, of which a message lists ten`() throws {
        try withScan { scan in
            for number in 1...12 {
                try scan.run("library", "add", "--title", "Volume \(number)", "--author", "Ann Orr")
            }
            let ending = try scan.run("library", "show", "volume")
            #expect(ending.status == 3 && ending.err.hasSuffix("\n  and more\n"), "\(ending.err)")
            #expect(ending.err.split(separator: "\n").count == 12)
            let terminal = try PseudoTerminal(scan, "library show volume", rows: 12)
            try terminal.wait(for: "Which book is \"volume\" (12/12): ")
            try terminal.wait(for: "Enter takes")
            #expect(!terminal.screen.contains("Volume 3 ·"))
            terminal.type("\u{1B}[4~")
            try terminal.wait(for: "▸ Volume 1 ·")
            terminal.type("\r")
            #expect(try terminal.finish() == 0)
        }
    }

    @Test(arguments: [
        ("reading page 10", "The Odyssey · Reading"), ("reading finish", "The Odyssey · Read"),
        ("session start", "The Odyssey · from page 0"),
    ])
    func `is asked among the books being read, the latest first`(command: String, result: String) throws {
        try withTwoBooks { scan in
            try scan.run("reading", "start", "dune")
            try scan.run("reading", "start", "odyssey")
            let terminal = try PseudoTerminal(scan, command, columns: 120)
            try terminal.wait(for: "Which book (2/2): ")
            try terminal.wait(for: "▸ The Odyssey · Homer · Reading")
            try terminal.wait(for: "Enter takes")
            terminal.type("\r")
            try terminal.wait(for: result)
            #expect(try terminal.finish() == 0)
        }
    }

    @Test func `stays open after Esc, even if a part of the title looks like a number too many`() throws {
        try withScan { scan in
            for author in ["Joseph Heller", "Ann Orr"] {
                try scan.run("library", "add", "--title", "Catch 22", "--author", author)
            }
            try scan.run("library", "add", "--title", "Catch", "--author", "Ann Orr")
            let terminal = try PseudoTerminal(scan, "reading page catch 22 145")
            try terminal.wait(for: "Which book is \"catch 22\" (2/2): ")
            try terminal.wait(for: "Enter takes")
            terminal.type("\u{1B}")
            #expect(try terminal.finish() == 3)
        }
    }
}

@Suite struct `A book to start` {
    /// A book on hold, the first volume of a series, which is being read, later volumes, another book, and a wish.
    private func withBooks(_ body: (ScanProcess) throws -> Void) throws {
        try withScan { scan in
            for arguments in [
                ["Second", "--series", "Saga", "--series-number", "2"], ["Wish", "--wishlist"],
                ["Third", "--series", "saga", "--series-number", "3"], ["Dune"],
                ["First", "--series", "Saga", "--series-number", "1", "--status", "reading"],
                ["Paused", "--status", "onHold"], ["Done", "--status", "read"],
            ] {
                let added = try scan.run(["library", "add", "--author", "Ann Orr", "--title"] + arguments)
                try #require(added.status == 0, "\(added.err)")
            }
            try body(scan)
        }
    }

    @Test func `is chosen from those on hold, next volumes, and those to read`() throws {
        try withBooks { scan in
            let ending = try scan.run("reading", "start")
            #expect(ending.status == 3 && ending.out.isEmpty)
            let titles = ending.err.split(separator: "\n").dropFirst().map { $0.dropFirst(12).prefix { $0 != "," } }
            #expect(titles == ["Paused", "Second", "Dune", "Third", "Wish"], "\(ending.err)")
            let terminal = try PseudoTerminal(scan, "reading start --on 2026-01-02")
            try terminal.wait(for: "Which book (5/5): ")
            try terminal.wait(for: "▸ Paused · Ann Orr · On Hold")
            terminal.type("\u{0E}")
            try terminal.wait(for: "▸ Second · Ann Orr · To Read")
            terminal.type("\r")
            try terminal.wait(for: "Second · Reading · started 2026-01-02")
            #expect(try terminal.finish() == 0)
            let again = try scan.run("reading", "start").err.split(separator: "\n").dropFirst()
            #expect(again.map { $0.dropFirst(12).prefix { $0 != "," } } == ["Paused", "Third", "Dune", "Wish"])
        }
    }

    @Test func `may not exist`() throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Done", "--status", "read")
            let ending = try scan.run("reading", "start")
            #expect(ending.status == 3 && ending.err.contains("no book is To Read or On Hold"), "\(ending.err)")
        }
    }
}
