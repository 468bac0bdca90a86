import Bookplate
import Foundation
import Testing

@Suite struct `scan session` {
    /// Half an hour ago, so that the results do not depend on the speed of the program.
    private let start = Date(timeIntervalSinceNow: -1800)

    private func after(_ seconds: TimeInterval) -> String { start.addingTimeInterval(seconds).rfc3339 }

    @Test func `times a session over several runs of the program`() throws {
        try withTwoBooks { scan in
            #expect(try scan.run("session", "status", "--json").out.isEmpty)
            #expect(try scan.run("session").err.contains("No active reading session found."))
            let started = try scan.run("session", "start", "dune", "--page", "10", "--start", after(0), "--json")
            let record = try #require(try started.objects().first)
            let keys: Set = [
                "id", "copyId", "readingId", "title", "pageCount", "start", "end", "running", "seconds", "minutes",
                "startPage", "endPage", "pagesRead", "pace",
            ]
            #expect(Set(record.keys) == keys)
            #expect(record["running"] as? Bool == true && record["end"] is NSNull && record["startPage"] as? Int == 10)
            let status = try scan.run("session", "status")
            let line = try #require(
                status.out.firstMatch(of: #/^Session • (\d+):\d\d · Dune · from page 10 of 382 · since \d/#))
            #expect(try #require(Int(line.1)) >= 30)

            let second = try scan.run("session", "start", "odyssey")
            #expect(second.status == 3)
            #expect(
                second.err.contains(
                    "A reading session is already active. End the current session before starting a new one."))
            #expect(try scan.run("session", "stop", "9").err.contains("Ending page must be greater than or equal to"))
            #expect(try scan.run("session", "stop", "70", "--end", after(86_400)).status == 3)
            let stopped = try #require(
                try scan.run("session", "stop", "70", "--end", after(1799), "--json").objects().first)
            #expect(Set(stopped.keys) == keys)
            #expect(stopped["minutes"] as? Int == 29 && stopped["pagesRead"] as? Int == 60)
            let book = try #require(try scan.run("library", "show", "dune", "--json").objects().first)
            let reading = try #require((book["readings"] as? [[String: Any]])?.first)
            #expect(book["status"] as? String == "reading" && reading["page"] as? Int == 70)
            #expect(try scan.run("session", "stop").status == 3)
        }
    }

    @Test func `and readings ask before they are deleted, on a terminal`() throws {
        try withTwoBooks { scan in
            try scan.run("reading", "add", "dune", "--finished", "1999")
            let added = try scan.run("session", "add", "dune", "--minutes", "30", "--json")
            let id = try #require(try added.objects().first?["id"] as? String)
            let before = try scan.run("export").out
            for (arguments, question) in [
                ("session delete \(id)", "Delete this session and the progress that it recorded?"),
                ("reading delete dune --number 1", "Delete reading 1 of \"Dune\""),
                ("library delete dune odyssey", "Move \"Dune\", \"The Odyssey\" to the trash?"),
            ] {
                let terminal = try PseudoTerminal(scan, arguments, columns: 200)
                try terminal.wait(for: question)
                terminal.type("n\n")
                #expect(try terminal.finish() == 0)
            }
            #expect(try scan.run("export").out == before)
            #expect(try PseudoTerminal(scan, "session delete \(id) --yes").finish() == 0)
            #expect(try PseudoTerminal(scan, "reading delete dune --number 1 --yes").finish() == 0)
            #expect(try PseudoTerminal(scan, "library delete dune --yes").finish() == 0)
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
        }
    }

    @Test func `of less than a minute is kept only with --force`() throws {
        try withTwoBooks { scan in
            try scan.run("session", "start", "dune", "--start", after(0))
            let ending = try scan.run("session", "stop", "--end", after(59))
            #expect(
                ending.status == 3 && ending.err.contains("Minimum 1 minute required.")
                    && ending.err.contains("--force"))
            let forced = try scan.run("session", "stop", "--end", after(59), "--force", "--json").objects().first
            #expect(forced?["minutes"] as? Int == 1 && forced?["seconds"] as? Int == 60 && forced?["endPage"] is NSNull)
        }
    }

    @Test func `added afterwards is listed, edited and deleted, and each change is undone`() throws {
        try withTwoBooks { scan in
            let added = try scan.run("session", "add", "dune", "--minutes", "30", "--to-page", "60", "--json")
            let id = try #require(try added.objects().first?["id"] as? String)
            #expect(try added.objects().first?["pace"] as? Double == 120)
            let list = try scan.run("session", "list", "dune")
            #expect(list.out.contains("30 min · pages 0–60 · 120 pages per hour · Dune · \(id.suffix(8))"))
            #expect(list.err.contains("1 session, 30 minutes, 60 pages, 120 pages per hour on average."))
            let edited = try scan.run("session", "edit", String(id.suffix(8)), "--to-page", "45", "--json")
            #expect(try edited.objects().first?["pagesRead"] as? Int == 45)
            #expect(try scan.run("session", "delete", id).status == 0)
            #expect(try scan.run("session", "list", "--json").out.isEmpty)
            for _ in 0..<2 { #expect(try scan.run("undo").status == 0) }
            #expect(try scan.run("session", "list", "--json").out == added.out)
            #expect(try scan.run("undo").status == 0)
            #expect(try scan.run("library", "show", "dune", "--json").objects().first?["status"] as? String == "toRead")
        }
    }

    @Test func `that was probably forgotten ends only when somebody says how long it was`() throws {
        try withTwoBooks { scan in
            func start() throws {
                #expect(try scan.run("session", "start", "dune", "--start", after(-3 * 86_400)).status == 0)
            }
            try start()
            let refused = try scan.run("session", "stop", "70")
            #expect(refused.status == 64 && refused.err.contains("for 72 hours"), "\(refused.err)")
            #expect(refused.err.contains("--minutes") && refused.err.contains("--end"))
            #expect(try scan.run("reading", "finish", "dune", "--page", "70").status == 64)
            #expect(try scan.run("session", "stop", "70", "--minutes", "45", "--end", "14:30").status == 64)
            #expect(try scan.run("session", "stop", "70", "--minutes", "1441").status == 64)
            let stopped = try scan.run("session", "stop", "70", "--minutes", "45", "--json")
            #expect(try stopped.objects().first?["minutes"] as? Int == 45, "\(stopped.err)")
            try start()
            let forced = try scan.run("session", "stop", "--force", "--json").objects().first
            #expect(try #require(forced?["minutes"] as? Int) >= 3 * 1440 + 30)
            try start()
            let terminal = try PseudoTerminal(scan, "session stop 90", columns: 200)
            try terminal.wait(for: "Minutes that you read")
            terminal.type("many\n")
            try terminal.wait(for: "is not a time")
            terminal.type("99999\n")
            try terminal.wait(for: "This is not between")
            terminal.type("30\n")
            try terminal.wait(for: "30 min")
            #expect(try terminal.finish() == 0)
            try start()
            let left = try PseudoTerminal(scan, "session stop 90", columns: 200)
            try left.wait(for: "Minutes that you read")
            left.type("\u{04}")
            #expect(try left.finish() == 0)
            #expect(try scan.run("session", "status", "--json").objects().count == 1)
        }
    }

    @Test func `with a clock is ended by a key, with the page`() throws {
        try withTwoBooks { scan in
            let terminal = try PseudoTerminal(scan, "session start dune --watch --start \(after(0))", columns: 100)
            try terminal.wait(for: "· Dune · from page 0 of 382")
            terminal.type("s")
            try terminal.wait(for: "Page you are on (Enter for none): ")
            terminal.type("60\n")
            try terminal.wait(for: "pages 0–60")
            #expect(try terminal.finish() == 0)
            #expect(terminal.isRestored)
            #expect(try scan.run("session", "status", "--json").out.isEmpty)
            // The pace of the first session is known now.
            let second = try PseudoTerminal(scan, "session start dune --watch", columns: 100)
            try second.wait(for: "pages per hour on average")
            second.type("q")
            try second.wait(for: "The session is still running.")
            #expect(try second.finish() == 0)
            #expect(second.isRestored)
            #expect(try scan.run("session", "status", "--json").objects().count == 1)
        }
    }

    @Test func `with a clock goes on after Control-C, and is not shown when it ended elsewhere`() throws {
        try withTwoBooks { scan in
            let terminal = try PseudoTerminal(scan, "session start dune --watch", columns: 100)
            try terminal.wait(for: "q leaves it running.")
            terminal.type("\u{03}")
            try terminal.wait(for: "The session is still running.")
            #expect(try terminal.finish() == 128 + SIGINT)
            #expect(terminal.isRestored)
            #expect(try scan.run("session", "stop", "--force").status == 0)
            let second = try PseudoTerminal(scan, "session start dune --watch", columns: 100)
            try second.wait(for: "q leaves it running.")
            #expect(try scan.run("session", "stop", "--force").status == 0)
            try second.wait(for: "The session was ended elsewhere.")
            #expect(try second.finish() == 0)
        }
    }

    @Test func `with a clock is not started without a terminal`() throws {
        try withTwoBooks { scan in
            let refused = try scan.run("session", "start", "dune", "--watch")
            #expect(refused.status == 64 && refused.err.contains("needs a terminal"), "\(refused.err)")
            #expect(try scan.run("session", "start", "dune", "--watch", "--json").status == 64)
            #expect(try scan.run("session", "status", "--json").out.isEmpty)
        }
    }

    /// The arguments, the exit status and a part of the message.
    static let refused: [([String], Int, String)] = [
        (["add", "dune"], 64, "Give the time of the session"),
        (["add", "dune", "--minutes", "99999999999"], 64, "1440"),
        (["add", "dune", "--minutes", "0"], 64, "1 to 1440"),
        (["add", "dune", "--start", "noon", "--minutes", "5"], 64, "not a time"),
        (["add", "dune", "--start", "2026-02-30 14:30", "--minutes", "5"], 64, "2026-02 has no day 30"),
        (["add", "dune", "--start", "9999-12-31 14:30", "--minutes", "5"], 3, "in the future"),
        (["add", "dune", "--start", "0001-01-01 14:30", "--end", "2020-01-01 14:30"], 3, "too long"),
        (["add", "dune", "--minutes", "5", "--to-page", "x"], 64, "not a page"),
        (["add", "dune", "--minutes", "5", "--to-page", "383"], 3, "last page is 382. Give the right page"),
        (["start", "dune", "--page", "383"], 3, "scan library edit BOOK --pages N"),
        (["start", "dune", "--page", "99999999999"], 64, "1000000"), (["start", "emma"], 3, "no book"),
        (["start", "dune", "--start", "25:00"], 64, "not a time"),
        (["edit", "abcd1234", "--minutes", "5"], 3, "no session"),
        (["delete", "a"], 3, "no session"), (["stop", "x"], 64, "page"), (["list", "--limit", "0"], 64, "--limit"),
    ]

    @Test func `refuses with the reason, and changes nothing`() throws {
        try withTwoBooks { scan in
            for (arguments, status, reason) in Self.refused {
                let ending = try scan.run(["session"] + arguments)
                #expect(Int(ending.status) == status && ending.out.isEmpty, "\(arguments): \(ending.err)")
                #expect(ending.err.contains(reason), "\(arguments): \(ending.err)")
            }
            #expect(try scan.run("undo", "--list").lines.count == 2)
        }
    }

    @Test func `of no minute is refused without naming an option that the command lacks`() throws {
        try withTwoBooks { scan in
            let ending = try scan.run(
                "session", "add", "dune", "--start", "2026-01-02 14:30", "--end", "2026-01-02 14:30")
            #expect(ending.status != 0 && !ending.err.contains("--force"), "\(ending.err)")
            #expect(try scan.run("session", "start", "dune").status == 0)
            let second = try scan.run("session", "start", "odyssey")
            #expect(!second.err.contains("first."), "\(second.err)")
        }
    }
}

@Suite struct `A book that is done while its session runs` {
    private func withSession(_ body: (ScanProcess) throws -> Void) throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune", "--author", "Frank Herbert", "--pages", "382")
            let start = Date().addingTimeInterval(-3600).rfc3339
            try scan.run("session", "start", "dune", "--start", start)
            try body(scan)
        }
    }

    @Test(arguments: ["finish", "drop", "reset", "hold"])
    func `ends the session with the given page, in one change`(act: String) throws {
        try withSession { scan in
            let refused = try scan.run("reading", act, "dune", "--json")
            #expect(refused.status == 3 && refused.err.contains("session for \"Dune\" is running"), "\(refused.err)")
            #expect(refused.err.contains("--page"))
            let done = try scan.run("reading", act, "dune", "--page", "145", "--json")
            #expect(done.status == 0 && done.lines.count == 1)
            // The sessions of a cancelled reading are not listed.
            let pages = try scan.run("session", "list", "--json").objects().map { $0["endPage"] as? Int }
            #expect(pages == (act == "reset" ? [] : [145]))
            try scan.run("undo")
            #expect(try scan.run("session", "status", "--json").objects().count == 1)
        }
    }

    @Test func `asks for the page at a terminal`() throws {
        try withSession { scan in
            let terminal = try PseudoTerminal(scan, "reading finish dune")
            try terminal.wait(for: "Page you are on (Enter for none): ")
            terminal.type("many\n")
            try terminal.wait(for: "is not a page")
            terminal.type("400\n")
            try terminal.wait(for: "The last page of the book is 382.")
            terminal.type("382\n")
            try terminal.wait(for: "Dune · Read")
            #expect(try terminal.finish() == 0)
            #expect(try scan.run("session", "list", "--json").objects().first?["endPage"] as? Int == 382)
            #expect(try scan.run("reading", "drop", "dune", "--page", "9").status != 0)
        }
    }
}
