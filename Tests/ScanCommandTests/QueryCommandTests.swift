import Foundation
import TestTools
import Testing

/// Runs commands with queries on a small shelf.
@Suite struct `Queries in the terminal` {
    private func withShelf<Result>(_ body: (ScanProcess) throws -> Result) throws -> Result {
        try withScan { scan in
            for book in [
                ["--title", "Dune", "--author", "Frank Herbert", "--pages", "612", "--tag", "sf", "--shelf", "Attic"],
                ["--title", "Emma", "--author", "Jane Austen", "--pages", "160", "--status", "read"],
                ["--title", "Earthsea", "--author", "Ursula K. Le Guin", "--tag", "sf", "--shelf", "Living room"],
            ] {
                let added = try scan.run(["library", "add"] + book)
                #expect(added.status == 0, "\(added.err)")
            }
            return try body(scan)
        }
    }

    private func titles(_ ending: ScanProcess.Ending) throws -> [String] {
        try ending.objects().compactMap { $0["title"] as? String }
    }

    @Test(arguments: [
        (["tag:sf", "-shelf:attic"], ["Earthsea"]), (["author:le guin"], ["Earthsea"]), (["-tag:sf"], ["Emma"]),
        (["--", "-tag:sf"], ["Emma"]), (["pages:..200", "OR", "dune", "+title"], ["Dune", "Emma"]),
        (["+title", "--limit", "2"], ["Dune", "Earthsea"]),
        (["title-", "--sort", "title"], ["Dune", "Earthsea", "Emma"]),
        (["tag:sf", "--shelf", "attic"], ["Dune"]), (["added:today", "-dune", "+title"], ["Earthsea", "Emma"]),
        (["(tag:sf OR status:read) -pages:none +title"], ["Dune", "Emma"]),
    ])
    func `narrow a list`(arguments: [String], expected: [String]) throws {
        try withShelf { scan in
            let listed = try scan.run(["library", "list", "--json"] + arguments)
            #expect(listed.status == 0, "\(listed.err)")
            #expect(try titles(listed) == expected)
        }
    }

    @Test func `point at a mistake`() throws {
        try withShelf { scan in
            let refused = try scan.run("library", "search", "author:dune", "rating:x", "漢", "pages:9..1")
            #expect(refused.status == 64)
            #expect(refused.out.isEmpty)
            #expect(
                refused.err.contains(
                    "\"x\" is not a rating or a range of ratings. Write rating:4, rating:4.5.., rating:none."))
            #expect(refused.err.contains("  author:dune rating:x 漢 pages:9..1\n              ^^^^^^^^\n"))
            let after = try scan.run("library", "list", "漢字 pages:x")
            #expect(after.err.contains("  漢字 pages:x\n       ^^^^^^^\n"))
            let option = try scan.run("library", "list", "--shelff", "Attic")
            #expect(option.status == 64)
            #expect(option.err.contains("Unknown option '--shelff'. Did you mean '--shelf'?"))
            let short = try scan.run("library", "list", "dune", "-n", "5")
            #expect(short.status == 64 && short.err.contains("Write --limit"), "\(short.err)")
            for word in ["-n", "--shelff"] {
                #expect(try scan.run("library", "list", "--", word).status == 0, "\(word)")
            }
        }
    }

    @Test func `say why nothing was found`() throws {
        try withShelf { scan in
            let spaced = try scan.run("library", "search", "author: austen")
            #expect(spaced.status == 3)
            #expect(spaced.err.contains("A value follows its field without a space: author:…"))
            #expect(try scan.run("library", "list", "auhor:austen").err.contains("Did you mean author:?"))
            #expect(try titles(scan.run("library", "list", "--added", "-3d..", "--json", "dune")) == ["Dune"])
            #expect(try scan.run("library", "search", "tag:sf AND pages:1").err.contains("leave out AND"))
            let other = try scan.run("library", "search", "dune tag:horror")
            #expect(other.err.contains("But without the conditions, 1 book matches."))
            #expect(try scan.run("library", "lst").err.contains("Did you mean 'scan library list'?"))
            #expect(try scan.run("library", "search", "!!").err.contains("contains no word to search for"))
        }
    }

    @Test func `can be saved, and stand for a part of another`() throws {
        try withShelf { scan in
            let saved = try scan.run("filter", "add", "to lend", "tag:sf", "-shelf:attic")
            #expect(saved.status == 0, "\(saved.err)")
            #expect(saved.out.contains("Saved: filter:\"to lend\""))
            #expect(try titles(scan.run("library", "list", "--json", "filter:to lend")) == ["Earthsea"])
            let listed = try scan.run("filter", "list", "--json").objects()
            #expect(listed.map { $0["query"] as? String } == ["tag:sf -shelf:attic"])
            #expect(try scan.run("filter", "add", "bad", "rating:x").status == 64)
            #expect(try scan.run("filter", "add", "loop", "filter:loop").status == 64)
            #expect(try scan.run("filter", "add", "round", "filter:to lend", "+title").status == 0)
            #expect(try scan.run("filter", "add", "to lend", "filter:round").err.contains("contains itself"))
            #expect(try scan.run("undo").status == 0)
            #expect(try scan.run("filter", "rename", "TO LEND", "lend").out.contains("Renamed: filter:lend"))
            #expect(try scan.run("filter", "delete", "lend").status == 0)
            let gone = try scan.run("library", "list", "filter:lend")
            #expect(gone.status == 64)
            #expect(gone.err.contains("There is no saved filter \"lend\""))
            #expect(try scan.run("undo").status == 0)
            #expect(try titles(scan.run("library", "list", "--json", "filter:lend")) == ["Earthsea"])
            #expect(try scan.run("filter", "delete", "nothing").status == 3)

            #expect(try scan.run("reader", "add", "Anna", "--first", "Ben").status == 0)
            #expect(try scan.run("filter", "add", "shared", "readby:ben").status == 0)
            #expect(try titles(scan.run("library", "list", "--json", "filter:shared")) == ["Emma"])
        }
    }

    @Test func `have an example for every field`() throws {
        try withShelf { scan in
            let fields = try scan.run("filter", "fields", "--json").objects()
            #expect(fields.count > 20)
            for field in fields {
                let example = try #require(field["example"] as? String)
                let name = try #require(field["field"] as? String)
                if name == "filter" { continue }
                let listed = try scan.run("library", "list", example)
                #expect(listed.status == 0, "\(example): \(listed.err)")
            }
        }
    }

    private func listed(_ scan: ScanProcess, _ query: String...) throws -> [String] {
        try titles(scan.run(["library", "list", "--json", "+title"] + query))
    }

    @Test func `choose the books that are edited, as one undo`() throws {
        try withShelf { scan in
            let refused = try scan.run("library", "edit", "--query", "tag:sf", "--tag", "x")
            #expect(refused.status == 64)
            #expect(refused.err.contains("--yes"))
            let shown = try scan.run("library", "edit", "--query", "tag:sf", "--tag", "x", "--dry-run")
            #expect(shown.status == 0)
            #expect(shown.out.contains("Dune") && shown.out.contains("Earthsea") && !shown.out.contains("Emma"))
            #expect(shown.err.contains("2 books. Nothing changed."))
            #expect(try listed(scan, "tag:x").isEmpty)

            let edited = try scan.run(
                "library", "edit", "--query", "tag:sf -shelf:none", "--set", "rating=4.5", "--set",
                "publisher=Ace Books",
                "--tag", "x", "--yes")
            #expect(edited.status == 0, "\(edited.err)")
            #expect(edited.out.contains("2 books changed."))
            #expect(try listed(scan, "tag:x", "rating:4.5", "publisher:\"ace books\"") == ["Dune", "Earthsea"])
            let again = try scan.run("library", "edit", "--query", "tag:sf", "--tag", "X", "--yes", "--json").objects()
            #expect(again.first?["changed"] as? Int == 0 && again.first?["books"] as? Int == 2)
            #expect(try scan.run("undo").status == 0)
            #expect(try listed(scan, "tag:x OR rating:4.5 OR publisher:ace").isEmpty)
        }
    }

    @Test(arguments: [
        ["library", "edit", "--query", "", "--tag", "x"], ["library", "edit", "--query", "tag:sf"],
        ["library", "edit", "--query", "+title", "--tag", "x", "--yes"],
        ["library", "edit", "dune", "--query", "tag:sf", "--tag", "x"], ["library", "edit", "--tag", "x"],
        ["library", "edit", "--query", "tag:sf", "--isbn", "9780441172719"],
        ["library", "edit", "--query", "tag:sf", "--set", "rating"],
        ["library", "edit", "--query", "tag:sf", "--set", "hat=1"],
        ["library", "edit", "--query", "rating:x", "--tag", "x", "--yes"], ["library", "delete"],
        ["library", "delete", "--all", "--query", "tag:sf"], ["library", "delete", "dune", "--dry-run"],
        ["tag", "add", "x", "dune", "--query", "tag:sf"], ["reading", "finish", "--query", "tag:sf", "--page", "3"],
        ["export", "csv", "--query", " "],
        ["library", "delete", "--query", "tag:sf -tga:sf", "--yes"],
        ["library", "edit", "--query", "tag:sf", "--set", "help=1"], ["export", "timeline", "--query", "tag:sf"],
    ])
    func `are refused where they make no sense`(arguments: [String]) throws {
        try withShelf { scan in
            let before = try scan.run("library", "list", "--json").out
            let refused = try scan.run(arguments)
            #expect(refused.status == 64, "\(refused.err)")
            #expect(try scan.run("library", "list", "--json").out == before)
        }
    }

    @Test func `choose the books of every other act`() throws {
        try withShelf { scan in
            #expect(try scan.run("library", "delete", "--query", "tag:nothing", "--yes").status == 3)
            #expect(try scan.run("library", "delete", "--query", "!!", "--yes").status == 3)
            #expect(try scan.run("tag", "add", "lend", "--query", "pages:..700", "--yes").status == 0)
            #expect(try listed(scan, "tag:lend") == ["Dune", "Emma"])
            #expect(try scan.run("tag", "remove", "lend", "--query", "status:read", "-y").status == 0)
            #expect(try listed(scan, "tag:lend") == ["Dune"])
            #expect(try scan.run("tag", "add", "calm", "--query", "shelf:living room", "--yes").status == 0)
            #expect(try listed(scan, "tag:calm") == ["Earthsea"])
            let set = try scan.run(
                "library", "edit", "--query", "tag:calm", "--set", "favourite=yes", "--set", "series=", "--yes")
            #expect(set.status == 0, "\(set.err)")
            #expect(try listed(scan, "is:favourite") == ["Earthsea"])
            #expect(try scan.run("shelf", "add", "Hall", "--all", "--yes").status == 0)
            #expect(try listed(scan, "shelf:hall") == ["Dune", "Earthsea", "Emma"])

            let read = try scan.run("reading", "finish", "--query", "tag:sf", "--on", "2019", "--rating", "4", "--yes")
            #expect(read.status == 0, "\(read.err)")
            #expect(try listed(scan, "finished:2019", "status:read", "rating:4") == ["Dune", "Earthsea"])
            // As for a single book, the day replaces that of a book that has the status already.
            let again = try scan.run("reading", "finish", "--query", "dune", "--on", "2020-05", "--yes", "--json")
            #expect(try again.objects().first?["changed"] as? Int == 1, "\(again.err)")
            #expect(try listed(scan, "finished:2020") == ["Dune"])
            let same = try scan.run("reading", "finish", "--query", "dune", "--on", "2020-05", "--yes", "--json")
            #expect(try same.objects().first?["changed"] as? Int == 0, "\(same.err)")
            #expect(try scan.run("reading", "reset", "--query", "finished:2019..2020", "--yes").status == 0)
            #expect(try listed(scan, "status:toread") == ["Dune", "Earthsea"])

            let csv = try scan.run("export", "csv", "--query", "tag:sf")
            #expect(csv.out.contains("Dune") && csv.out.contains("Earthsea") && !csv.out.contains("Emma"))
            let json = try scan.run("export", "--query", "title:emma")
            #expect(json.out.contains("Emma") && !json.out.contains("Dune") && !json.out.contains("Attic"))

            let deleted = try scan.run("library", "delete", "--query", "tag:sf", "--yes", "--json").objects()
            #expect(deleted.first?["changed"] as? Int == 2)
            #expect(try listed(scan) == ["Emma"])
            #expect(try scan.run("undo").status == 0)
            #expect(try listed(scan) == ["Dune", "Earthsea", "Emma"])
        }
    }

    @Test func `ask on a terminal before they change anything`() throws {
        try withShelf { scan in
            let terminal = try PseudoTerminal(scan, "library delete --query tag:sf")
            try terminal.wait(for: "Move these 2 books to the trash?")
            terminal.type("n\r")
            #expect(try terminal.finish() == 0)
            #expect(try listed(scan, "tag:sf") == ["Dune", "Earthsea"])
        }
    }
}
