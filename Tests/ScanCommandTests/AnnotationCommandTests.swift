import Foundation
import Testing

@Suite struct `Notes and quotes on the command line` {
    /// Runs the body with a library of one book.
    private func withDune(_ body: (ScanProcess) throws -> Void) throws {
        try withScan { scan in
            try #require(scan.run("library", "add", "--title", "Dune", "--author", "Frank Herbert").status == 0)
            try body(scan)
        }
    }

    private func id(_ ending: ScanProcess.Ending) throws -> String {
        try #require(ending.objects().first?["id"] as? String, "\(ending.err)")
    }

    @Test(arguments: ["note", "quote"]) func `are added, listed, changed and deleted`(what: String) throws {
        try withDune { scan in
            let added = try scan.run(what, "add", "dune", "Fear is the mind-killer.", "--json")
            let id = try id(added)
            let object = try #require(added.objects().first)
            #expect(object["title"] as? String == "Dune" && object["authors"] as? [String] == ["Frank Herbert"])
            try scan.run(what, "add", "dune", "Second\nline")
            #expect(
                try scan.run(what, "list", "dune", "--json").objects().map { $0["text"] as? String } == [
                    "Fear is the mind-killer.", "Second\nline",
                ])
            let latest = try scan.run(what, "list")
            #expect(latest.lines.count == 2 && latest.lines[0].hasSuffix("Dune: Second line"))
            #expect(try scan.run(what, "--limit", "1").lines.count == 1)

            let edited = try scan.run(what, "edit", String(id.suffix(6)), "Changed.", "--json").objects()[0]
            #expect(edited["text"] as? String == "Changed." && edited["id"] as? String == id)
            #expect(edited["created"] as? String == object["created"] as? String)

            let deleted = try scan.run(what, "delete", id)
            #expect(deleted.status == 0 && deleted.err.contains("To undo this, run 'scan undo'"))
            #expect(try scan.run(what, "list", "dune", "--json").lines.count == 1)
            try scan.run("undo")
            #expect(try scan.run(what, "list", "dune", "--json").lines.count == 2)
        }
    }

    @Test func `have a kind, or a page`() throws {
        try withDune { scan in
            let note = try id(scan.run("note", "add", "dune", "x", "--kind", "discussion", "--json"))
            #expect(try scan.run("note", "list", "dune").out.contains("discussion"))
            #expect(
                try scan.run("note", "edit", note, "--kind", "note", "--json").objects()[0]["kind"] as? String == "note"
            )
            let quote = try id(scan.run("quote", "add", "dune", "x", "--page", "8", "--json"))
            #expect(try scan.run("quote", "list", "dune").out.contains("page 8"))
            #expect(try scan.run("quote", "edit", quote, "--page", "0", "--json").objects()[0]["page"] is NSNull)
            for page in ["-1", "0", "1000001", "99999999999999999999", "x"] {
                #expect(try scan.run("quote", "add", "dune", "x", "--page=\(page)").status == 64, "\(page)")
            }
            #expect(try scan.run("quote", "edit", quote, "--page=-1").status == 64)
            #expect(try scan.run("note", "edit", note).status == 64)
        }
    }

    @Test func `read their text from standard input, with its lines`() throws {
        try withDune { scan in
            let text = "First\r\n\r\nthird \u{0}\u{1B}[2J👩‍👩‍👧‍👦\n"
            try scan.run("note", "add", "dune", "-", input: Data(text.utf8))
            #expect(
                try scan.run("note", "list", "--json").objects()[0]["text"] as? String == "First\n\nthird [2J👩‍👩‍👧‍👦")
            #expect(!(try scan.run("note", "list", "dune").out.contains("\u{1B}")))
        }
    }

    @Test(
        arguments: [
            (Data(), 64, "the note is empty"), (Data(" \n\t".utf8), 64, "the note is empty"),
            (Data("Caf\u{E9}".unicodeScalars.map { UInt8($0.value) }), 66, "not valid UTF-8"),
            (Data(repeating: 0x78, count: 5001), 64, "the note has 5001 characters; the limit is 5000"),
            (Data(repeating: 0x78, count: 10_000_000), 64, "larger than 1 MB"),
            (Data(repeating: 0, count: 1000), 64, "the note is empty"),
            (Data([0xED, 0xA0, 0x80]), 66, "not valid UTF-8"),
        ] as [(Data, Int32, String)])
    func `refuse an invalid text, and say why`(input: Data, status: Int32, reason: String) throws {
        try withDune { scan in
            let ending = try scan.run("note", "add", "dune", "-", input: input)
            #expect(ending.status == status && ending.err.contains(reason), "\(ending.err)")
            #expect(try scan.run("note", "list", "--json").lines.isEmpty)
        }
    }

    @Test func `are reported if they do not exist`() throws {
        try withDune { scan in
            for name in ["3fa2c1", "x", ""] {
                let missing = try scan.run("note", "delete", name)
                #expect(
                    missing.status == 3
                        && missing.err.contains("there is no note \"\(name)\". To list the notes, run 'scan note list'")
                )
            }
            #expect(try scan.run("quote", "edit", "3fa2c1", "x").status == 3)
            #expect(try scan.run("note", "add", "nobody", "x").err.contains("there is no book \"nobody\""))
            #expect(try scan.run("note", "list").err.contains("'scan note add BOOK TEXT'"))
        }
    }

    @Test func `ask before they are deleted, on a terminal`() throws {
        try withDune { scan in
            let id = try id(scan.run("note", "add", "dune", "Mine.", "--json"))
            let declined = try PseudoTerminal(scan, "note delete \(id)")
            try declined.wait(for: "Delete 1 note?")
            declined.type("n\n")
            #expect(try declined.finish() == 0)
            #expect(try scan.run("note", "list", "--json").lines.count == 1)
            let accepted = try PseudoTerminal(scan, "note delete \(id)")
            try accepted.wait(for: "[y/N]")
            accepted.type("y\n")
            #expect(try accepted.finish() == 0)
            #expect(try scan.run("note", "list", "--json").lines.isEmpty)
        }
    }

    @Test func `without a library there are none, and no library is created`() throws {
        try withScan { scan in
            for command in ["note", "quote", "tag", "author", "shelf"] {
                let ending = try scan.run(command, "list")
                #expect(ending.status == 0 && ending.out.isEmpty && !ending.err.isEmpty)
                #expect(try scan.run(command, "list", "--json").out.isEmpty)
            }
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }

    @Test(arguments: [
        ["library", "show", "dune"], ["library", "edit", "dune", "--rating", "4"], ["library", "delete", "dune"],
        ["library", "restore", "dune"], ["library", "purge", "dune", "--yes"], ["stats", "book", "dune"],
        ["reading", "history"], ["reading", "dates", "dune"], ["reading", "page", "145"], ["reading", "start", "dune"],
        ["session", "list", "dune"], ["session", "start", "dune"], ["session", "stop"],
        ["session", "delete", "1f2e3d4c"],
        ["note", "list", "dune"], ["note", "add", "dune", "x"], ["quote", "edit", "3fa2c1", "x"],
        ["tag", "add", "sf", "dune"], ["tag", "delete", "sf"], ["author", "rename", "a", "b"], ["undo"], ["export"],
        ["backup"],
    ])
    func `without a library, commands on a book or a record say so, and create none`(
        arguments: [String]
    ) throws {
        try withScan { scan in
            let ending = try scan.run(arguments)
            #expect(ending.status == 3 && ending.out.isEmpty)
            #expect(ending.err.contains("there is no library yet") && ending.err.contains("--isbn"), "\(ending.err)")
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }

    @Test(arguments: [
        ["session"], ["session", "list"], ["undo", "--list"], ["library", "purge", "--all"], ["library", "trash"],
    ])
    func `without a library, lists are empty, and none is created`(arguments: [String]) throws {
        try withScan { scan in
            let ending = try scan.run(arguments)
            #expect(ending.status == 0 && ending.out.isEmpty && !ending.err.isEmpty)
            let json = try scan.run(arguments + ["--json"])
            #expect(json.status == 0 && json.out.isEmpty && json.err.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }

    @Test(arguments: [
        ["library", "show"], ["stats", "book"], ["note", "list"], ["quote", "list"], ["session", "list"],
    ])
    func `a book name of several words needs no quotes if nothing follows it`(command: [String]) throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "The Left Hand of Darkness")
            try scan.run("library", "edit", "left", "hand", "--rating", "4")
            #expect(try scan.run(command + ["left", "hand", "of", "darkness"]).status == 0)
            #expect(try scan.run(command + ["left", "foot"]).status == 3)
        }
    }
}
