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
            #expect(refused.err.contains("\"x\" is not a rating or a range of ratings. Write rating:4, rating:4.5.., rating:none."))
            #expect(refused.err.contains("  author:dune rating:x 漢 pages:9..1\n              ^^^^^^^^\n"))
            let after = try scan.run("library", "list", "漢字 pages:x")
            #expect(after.err.contains("  漢字 pages:x\n       ^^^^^^^\n"))
            let option = try scan.run("library", "list", "--shelff", "Attic")
            #expect(option.status == 64)
            #expect(option.err.contains("Unknown option '--shelff'. Did you mean '--shelf'?"))
        }
    }

    @Test func `say why nothing was found`() throws {
        try withShelf { scan in
            let spaced = try scan.run("library", "search", "author: austen")
            #expect(spaced.status == 3)
            #expect(spaced.err.contains("A value follows its field without a space: author:…"))
            #expect(try scan.run("library", "search", "tag:sf AND pages:1").err.contains("leave out AND"))
            let other = try scan.run("library", "search", "dune tag:horror")
            #expect(other.err.contains("But without the conditions, 1 book matches."))
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
            #expect(try scan.run("filter", "rename", "TO LEND", "lend").out.contains("Renamed: filter:lend"))
            #expect(try scan.run("filter", "delete", "lend").status == 0)
            let gone = try scan.run("library", "list", "filter:lend")
            #expect(gone.status == 64)
            #expect(gone.err.contains("There is no saved filter \"lend\""))
            #expect(try scan.run("undo").status == 0)
            #expect(try titles(scan.run("library", "list", "--json", "filter:lend")) == ["Earthsea"])
            #expect(try scan.run("filter", "delete", "nothing").status == 3)
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
}
