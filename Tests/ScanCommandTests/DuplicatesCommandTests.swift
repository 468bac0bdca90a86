import Foundation
import Testing

@Suite struct `Duplicates on the command line` {
    /// Adds one book twice, once by hand, and returns the ids of both.
    private func addTwice(_ scan: ScanProcess) throws -> (kept: String, other: String) {
        let kept = try scan.run(
            "library", "add", "--title", "Dune", "--author", "Frank Herbert", "--isbn", "9780441172719", "--json")
        let other = try scan.run(
            "library", "add", "--title", "DUNE: a novel", "--author", "frank herbert", "--pages", "412", "--tag", "sf",
            "--shelf", "Attic", "--note", "Mine.", "--json")
        return (try id(kept), try id(other))
    }

    private func id(_ result: ScanProcess.Ending) throws -> String {
        try #require(result.objects().first?["id"] as? String)
    }

    @Test func `are listed in groups with the reason, and what to do`() throws {
        try withScan { scan in
            #expect(try scan.run("library", "duplicates").status == 3)
            let (kept, other) = try addTwice(scan)
            for number in ["9780140449266", "9780140268867"] {
                try scan.run("library", "add", "--title", "The Odyssey", "--author", "Homer", "--isbn", number)
            }
            try scan.run(
                "library", "add", "--title", "The Odyssey", "--isbn", "9780140449266", "--another-copy")
            let list = try scan.run("library", "duplicates")
            #expect(list.status == 0)
            #expect(
                list.lines.filter { !$0.hasPrefix(" ") } == [
                    "Probably entered twice", "Several copies of one edition",
                ])
            #expect(list.lines[1].contains("\(kept.suffix(8))  978-0-441-17271-9  Dune · Frank Herbert"))
            #expect(list.lines[2].contains("\(other.suffix(8))  no ISBN"))
            #expect(list.err.contains("1 work has several editions. To list them, use --editions."))
            #expect(list.err.contains("scan library merge KEEP OTHER"))
            #expect(
                try scan.run("library", "duplicates", "--limit", "1").err.contains(
                    "1 of 2. To show all, use --limit 2."))

            let groups = try scan.run("library", "duplicates", "--editions", "--json").objects()
            #expect(groups.map { $0["reason"] as? String } == ["enteredTwice", "copies", "editions"])
            let books = try #require(groups[0]["books"] as? [[String: Any]])
            #expect(books.map { $0["id"] as? String } == [kept, other])
            #expect(try scan.run("library", "duplicates", "--limit", "0").status == 64)
        }
    }

    @Test func `are merged into the first, which undo takes back`() throws {
        try withScan { scan in
            let (kept, other) = try addTwice(scan)
            let before = try scan.run("library", "list", "--json").out
            let trial = try scan.run("library", "merge", kept, other, "--dry-run")
            #expect(trial.status == 0 && trial.out.contains("Would be kept: 978-0-441-17271-9  Dune"))
            #expect(trial.out.contains("filled in: ") && trial.out.contains("pages"))
            let planned = try scan.run("library", "merge", kept, other, "--dry-run", "--json").objects()[0]
            #expect(planned["id"] as? String == kept && planned["shelf"] as? String == "Attic")
            #expect(try scan.run("library", "list", "--json").out == before)

            let merged = try scan.run("library", "merge", "9780441172719", "a novel", "--json").objects()
            #expect(merged.count == 1 && merged[0]["id"] as? String == kept)
            #expect(merged[0]["pageCount"] as? Int == 412 && merged[0]["tags"] as? [String] == ["sf"])
            let note = try scan.run("library", "show", kept).out
            #expect(note.contains("Mine.") && note.contains("Title: DUNE: a novel"))
            #expect(try scan.run("undo", "--list").out.contains("merged \"DUNE: a novel\" into \"Dune\""))
            #expect(try scan.run("undo").status == 0)
            #expect(try scan.run("library", "list", "--json").out == before)
            #expect(try scan.run("redo").status == 0)
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
        }
    }

    @Test func `that are not the same are not listed again until undo`() throws {
        try withScan { scan in
            let (kept, other) = try addTwice(scan)
            #expect(try scan.run("library", "duplicates", "--not-the-same", kept).status == 64)
            let done = try scan.run("library", "duplicates", "--not-the-same", kept, other)
            #expect(done.status == 0 && done.out.contains("Not the same: Dune"))
            #expect(try scan.run("library", "duplicates").status == 3)
            let again = try scan.run("library", "duplicates", "--not-the-same", kept, other)
            #expect(again.status == 0 && (again.out + again.err).contains("set aside before"))
            #expect(try scan.run("undo").status == 0)
            #expect(try scan.run("library", "duplicates").status == 0)
            let json = try scan.run("library", "duplicates", "--not-the-same", kept, other, "--json")
            #expect(try json.objects().map { $0["id"] as? String } == [kept, other])
        }
    }

    @Test func `with different titles are merged only on request`() throws {
        try withScan { scan in
            for title in ["Dune", "Emma"] { try scan.run("library", "add", "--title", title) }
            let before = try scan.run("library", "list", "--json").out
            let refused = try scan.run("library", "merge", "Dune", "Emma")
            #expect(refused.status != 0 && refused.err.contains("the books have different titles"))
            #expect(try scan.run("library", "list", "--json").out == before)
            #expect(try scan.run("library", "merge", "Dune", "Emma", "--yes").status == 0)
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
        }
    }

    @Test func `with different ISBNs are merged only on request`() throws {
        try withScan { scan in
            for number in ["9780140449266", "9780140268867"] {
                try scan.run("library", "add", "--title", "The Odyssey", "--author", "Homer", "--isbn", number)
            }
            let refused = try scan.run("library", "merge", "9780140449266", "9780140268867", "--yes")
            #expect(refused.status == 3)
            #expect(
                refused.err
                    == "scan: 978-0-14-044926-6 and 978-0-14-026886-7 are different ISBNs, so the books are probably different editions. To merge them anyway, use --editions.\n"
            )
            #expect(try scan.run("library", "merge", "odyssey", "9780140268867").err.contains("matches several books"))
            #expect(try scan.run("library", "merge", "9780140449266", "9780140449266").err.contains("nothing to merge"))
            let merged = try scan.run(
                "library", "merge", "9780140449266", "9780140268867", "--editions", "--keep-copies")
            #expect(merged.status == 0 && merged.out.contains("its copy"))
            let books = try scan.run("library", "list", "--json").objects()
            #expect(books.map { $0["isbn13"] as? String } == ["9780140449266", "9780140449266"])
            #expect((books[0]["identifiers"] as? [String: [String]])?["isbn_13"] == ["9780140268867"])
        }
    }

    @Test func `are merged on a terminal only after a yes`() throws {
        try withScan { scan in
            let (kept, other) = try addTwice(scan)
            let no = try PseudoTerminal(scan, "library merge \(kept) \(other)")
            try no.wait(for: "Merge \"DUNE: a novel\" into \"Dune\"?")
            no.type("\n")
            #expect(try no.finish() == 0)
            #expect(try scan.run("library", "list", "--json").lines.count == 2)
            let yes = try PseudoTerminal(scan, "library merge \(kept) \(other) --yes")
            #expect(try yes.finish() == 0)
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
        }
    }

    @Test func `books that lack something are listed like any books, with what to do`() throws {
        try withScan { scan in
            #expect(try scan.run("library", "missing", "pages").status == 3)
            _ = try addTwice(scan)
            let pages = try scan.run("library", "missing", "pages")
            #expect(pages.status == 0 && pages.out.contains("Dune · Frank Herbert") && pages.lines.count == 1)
            #expect(pages.err.contains("1 book lacks a page count. ") && pages.err.contains("scan library refresh"))
            let both = try scan.run("library", "missing", "pages", "isbn", "--sort", "title", "--json").objects()
            #expect(both.map { $0["title"] as? String } == ["Dune", "DUNE: a novel"])
            #expect(
                try scan.run("library", "missing", "cover", "isbn").err.contains("2 books lack a cover or an ISBN."))
            let none = try scan.run("library", "missing", "author")
            #expect(none.status == 3 && none.err.contains("No book in the library lacks an author."))
            #expect(
                try scan.run("library", "missing", "isbn", "--tag", "no").err.contains("without --tag, 1 book matches"))
            let unknown = try scan.run("library", "missing", "taste")
            #expect(unknown.status == 64 && unknown.err.contains("cover"))
            #expect(try scan.run("library", "missing").status == 64)
        }
    }
}
