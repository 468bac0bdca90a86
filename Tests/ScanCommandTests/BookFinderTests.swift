import Foundation
import Testing

@Suite struct `Names of books` {
    /// Dune, Cee (with a note and a tag), It, Italy, and two books of one title.
    private func withBooks(_ body: (ScanProcess) throws -> Void) throws {
        try withScan { scan in
            for (title, author) in [
                ("Dune", "Frank Herbert"), ("Cee", "Ann Orr"), ("It", "Stephen King"), ("Italy", "Ada Guide"),
                ("Twin", "One Twin"), ("Twin", "Two Twin"), ("Dune Messiah", "Frank Herbert"), ("C++", "B Stroustrup"),
            ] {
                try #require(scan.run("library", "add", "--title", title, "--author", author).status == 0)
            }
            try scan.run("note", "add", "cee", "What a journey.")
            try scan.run("tag", "add", "sand", "cee")
            try body(scan)
        }
    }

    @Test func `of punctuation alone name nothing`() throws {
        try withBooks { scan in
            for name in ["*", "", " ", "...", "-\u{2014}"] {
                let ending = try scan.run("library", "delete", "--", name)
                #expect(ending.status == 64 && ending.err.contains("cannot identify a book"), "\(name): \(ending.err)")
                #expect(try scan.run("reading", "start", "--", name).status == 64, "\(name)")
            }
            #expect(try scan.run("library", "trash", "--json").lines.isEmpty)
        }
    }

    @Test func `do not match notes and tags, nor the first letters of a word`() throws {
        try withBooks { scan in
            for name in ["c", "journey", "sand", "s", "k", "it k", "ste k"] {
                let ending = try scan.run("library", "delete", name)
                #expect(ending.status != 0 && ending.err.contains("there is no book"), "\(name): \(ending.err)")
            }
            #expect(try scan.run("library", "trash", "--json").lines.isEmpty)
        }
    }

    @Test func `match words of title and authors, and a whole title wins`() throws {
        try withBooks { scan in
            for (name, title) in [
                ("c++", "C++"), ("it", "It"), ("dune", "Dune"), ("mess", "Dune Messiah"), ("king", "It"),
                ("b stroustrup", "C++"), ("ital", "Italy"), ("two twin", "Twin"),
            ] {
                let ending = try scan.run("library", "show", name, "--json")
                #expect(try ending.objects().first?["title"] as? String == title, "\(name): \(ending.err)")
            }
        }
    }

    @Test func `that fit several books list the ends of ids, which are names too`() throws {
        try withBooks { scan in
            let ending = try scan.run("library", "delete", "twin")
            #expect(ending.status == 3 && ending.err.contains("matches several books"), "\(ending.err)")
            let ids = ending.err.split(separator: "\n").dropFirst().compactMap { $0.split(separator: " ").first }
            #expect(ids.count == 2)
            let shown = try scan.run("library", "show", String(try #require(ids.first)), "--json").objects()
            #expect(shown.first?["title"] as? String == "Twin")
            let id = try #require(shown.first?["id"] as? String)
            #expect(try scan.run("library", "show", String(id.suffix(6)).uppercased(), "--json").lines.count == 1)
            #expect(try scan.run("library", "show", String(id.suffix(5)), "--json").status != 0)
        }
    }

    @Test func `in a search, punctuation alone finds nothing and says so`() throws {
        try withBooks { scan in
            let ending = try scan.run("library", "search", "*")
            #expect(ending.status == 3 && ending.out.isEmpty && ending.err.contains("no word"), "\(ending.err)")
            #expect(try scan.run("library", "search", " ", "--json").lines.isEmpty)
            #expect(try scan.run("library", "list", "--json").lines.count == 8)
        }
    }
}
