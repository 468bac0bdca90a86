import Foundation
import Library
import LibraryMaker
import Testing

/// Runs `scan library list`, `search` and `trash` on a generated library.
@Suite struct `Lists of books` {
    let scan: ScanProcess

    init() async throws {
        scan = try ScanProcess()
        try await copyMadeLibrary(to: scan.library, copies: 120, seed: 3)
    }

    private func ids(_ ending: ScanProcess.Ending) throws -> [String] {
        try ending.objects().compactMap { $0["id"] as? String }
    }

    @Test func `a search result says where it matched`() throws {
        defer { try? scan.remove() }
        let found = try scan.run("library", "search", "the", "--limit", "3")
        #expect(found.status == 0)
        #expect(found.lines.count == 6)
        #expect(found.lines[1].contains("Matched in title: “⟦The⟧"))
        let hit = try #require(scan.run("library", "search", "chapter", "--json", "--limit", "1").objects().first)
        let match = try #require(hit["match"] as? [String: Any])
        #expect(match["field"] as? String == "note" || match["field"] as? String == "quote")
        #expect((match["snippet"] as? String)?.lowercased().contains("chapter") == true)
        #expect(try scan.run("library", "list", "--json").objects().allSatisfy { $0["match"] is NSNull })
    }

    @Test func `random books are different ones of those that match`() throws {
        defer { try? scan.remove() }
        let matching = Set(try ids(scan.run("library", "list", "--status", "toRead", "--json")))
        try #require(matching.count > 3)
        let some = try ids(scan.run("library", "random", "--status", "toRead", "--limit", "3", "--json"))
        #expect(Set(some).count == 3 && matching.isSuperset(of: some))
        let all = try ids(scan.run("library", "random", "--status", "toRead", "--limit", "1000", "--json"))
        #expect(all.count == matching.count && Set(all) == matching)
        #expect(try scan.run("library", "random").lines.count == 1)
        let none = try scan.run("library", "random", "--shelf", "Nowhere")
        #expect(none.status == 3 && none.out.isEmpty && none.err.contains("No book in the library matches."))
        for refused in ["--sort=title", "--counts", "--limit=0"] {
            #expect(try scan.run("library", "random", refused).status == 64, "\(refused)")
        }
    }

    @Test func `a page continues after the token of the page before`() throws {
        defer { try? scan.remove() }
        let all = try ids(scan.run("library", "list", "--json", "--sort", "title"))
        #expect(all.count > 100)
        let first = try scan.run("library", "list", "--sort", "title", "--limit", "40")
        let notice = try #require(
            first.err.firstMatch(of: /40 of (\d+)\. To show more, add this option: --after (\S+)/))
        #expect(Int(notice.1) == all.count)
        let rest = try ids(scan.run("library", "list", "--json", "--sort", "title", "--after", String(notice.2)))
        #expect(rest == Array(all.dropFirst(40)))
        let refused = try scan.run("library", "list", "--sort", "author", "--after", String(notice.2))
        #expect(refused.status == 64)
        #expect(refused.err.contains("--after") && refused.err.contains("is not a position in this list"))
    }

    @Test(arguments: [
        (["--rating", "6"], 64), (["--finished", "2024-13"], 64), (["--finished", ".."], 64), (["--reverse"], 64),
        (["--finished", "2020..2022-03", "--rating", "4", "--rating", "unrated"], 0),
        (["--sort", "finished", "--reverse", "--language", "EN", "--owned"], 0),
    ])
    func `accepts every filter, and refuses invalid values`(arguments: [String], status: Int) throws {
        defer { try? scan.remove() }
        #expect(try Int(scan.run(["library", "list"] + arguments).status) == status)
    }

    @Test func `an empty list says which filter to drop, or what to do`() throws {
        defer { try? scan.remove() }
        let nothing = try scan.run("library", "search", "chapter", "--tag", "nowhere")
        #expect(nothing.status == 3)
        #expect(nothing.err.contains("without --tag, 5 books match"))
        for days in ["today", "yesterday..", "..today"] {
            #expect(try scan.run("library", "list", "--added", days).status == 0, "\(days)")
        }
        let day = try scan.run("library", "list", "--finished", "2026-02-30")
        #expect(day.status == 64 && day.err.contains("2026-02 has no day 30"))
        #expect(try scan.run("library", "list", "--added", "2025..2024").status == 64)
        #expect(try scan.run("library", "list", "--added", "..").status == 64)
        #expect(try scan.run("library", "search", "qqqq").err.contains("must be the beginning of a word"))
        let other = try ScanProcess()
        defer { try? other.remove() }
        #expect(try other.run("library", "list").err.contains("There is no library yet"))
        #expect(try other.run("library", "add", "--title", "One").status == 0)
        #expect(try other.run("library", "list", "--wishlist").err.contains("The wishlist is empty"))
        #expect(try other.run("library", "trash").err.contains("The trash is empty"))
    }

    @Test func `counts the books of each filter value`() throws {
        defer { try? scan.remove() }
        let counts = try #require(scan.run("library", "list", "--counts", "--json").objects().first)
        let statuses = try #require(counts["statuses"] as? [String: Int])
        #expect(statuses.values.reduce(0, +) == (try ids(scan.run("library", "list", "--json"))).count)
        #expect(try scan.run("library", "list", "--counts", "--tag", "history").out.contains("Status"))
    }

    @Test func `a name that is the whole title of one book means that book`() throws {
        defer { try? scan.remove() }
        for title in ["Quixotal", "Quixotal Returns"] { _ = try scan.run("library", "add", "--title", title) }
        #expect(
            try scan.run("library", "show", "quixotal", "--json").objects().first?["title"] as? String == "Quixotal")
        #expect(try scan.run("library", "show", "quixo").status == 3)
    }
}

@Suite struct `A list as JSON` {
    @Test func `comes with the token of the next page`() throws {
        try withScan { scan in
            for title in ["Alpha", "Beta", "Gamma"] { try scan.run("library", "add", "--title", title) }
            let first = try scan.run("library", "list", "--sort", "title", "--limit", "2", "--json")
            let token = try #require(
                first.err.split(whereSeparator: \.isWhitespace).drop { $0 != "--after" }.dropFirst().first)
            let rest = try scan.run(
                "library", "list", "--sort", "title", "--limit", "2", "--json", "--after", String(token))
            #expect(try rest.objects().map { $0["title"] as? String } == ["Gamma"] && rest.err.isEmpty)
        }
    }
}
