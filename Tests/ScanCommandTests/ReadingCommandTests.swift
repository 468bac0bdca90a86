import Foundation
import Testing

/// A library with Dune (382 pages) and The Odyssey, both To Read.
func withTwoBooks<Result>(_ body: (ScanProcess) throws -> Result) throws -> Result {
    try withScan { scan in
        try scan.run("library", "add", "--title", "Dune", "--author", "Frank Herbert", "--pages", "382")
        try scan.run("library", "add", "--title", "The Odyssey", "--author", "Homer")
        return try body(scan)
    }
}

@Suite struct `scan reading` {
    @Test func `follows a book from To Read to a re-read, and undo goes all the way back`() throws {
        try withTwoBooks { scan in
            func one(_ arguments: String...) throws -> [String: Any] {
                let ending = try scan.run(["reading"] + arguments + ["--json"])
                #expect(ending.status == 0, "\(arguments): \(ending.err)")
                return try #require(try ending.objects().first)
            }
            let started = try one("start", "dune", "--on", "2026-01-02")
            #expect(
                Set(started.keys) == [
                    "copyId", "title", "status", "pageCount", "number", "id", "state", "started", "finished", "stopped",
                    "page", "percent", "progress", "beyondLastPage",
                ])
            #expect(started["status"] as? String == "reading" && started["started"] as? String == "2026-01-02")
            #expect(started["page"] as? Int == 0 && started["number"] as? Int == 1)
            let page = try one("page", "145")
            #expect(page["page"] as? Int == 145 && page["beyondLastPage"] as? Bool == false)
            let progress = try #require(page["progress"] as? Double)
            #expect(abs(progress - 145.0 / 382) < 1e-9)
            #expect(try one("percent", "dune", "50")["progress"] as? Double == 0.5)
            #expect(try one("page", "dune", "400")["beyondLastPage"] as? Bool == true)
            #expect(try one("hold", "dune")["status"] as? String == "onHold")
            let read = try one("finish", "dune", "--on", "2026-02")
            #expect(read["state"] as? String == "finished" && read["finished"] as? String == "2026-02")
            #expect(try one("start", "dune")["number"] as? Int == 2)
            #expect(try one("drop", "dune", "--on", "today")["state"] as? String == "stopped")
            #expect(try one("dates", "dune", "--number", "1", "--started", "")["started"] is NSNull)
            #expect(try one("add", "dune", "--finished", "1999")["number"] as? Int == 1)
            #expect(try one("delete", "dune", "--number", "1")["id"] is NSNull)
            let reset = try one("reset", "dune")
            #expect(reset["state"] as? String == "cancelled" && reset["status"] as? String == "toRead")
            #expect(reset["number"] is NSNull)

            for _ in 0..<12 { #expect(try scan.run("undo").status == 0) }
            let book = try #require(try scan.run("library", "show", "dune", "--json").objects().first)
            #expect(book["status"] as? String == "toRead" && (book["readings"] as? [Any])?.isEmpty == true)
        }
    }

    @Test func `shows the progress, and the history with bars`() throws {
        try withTwoBooks { scan in
            try scan.run("reading", "start", "dune", "--on", "2026-01-02")
            let page = try scan.run("reading", "page", "145")
            #expect(page.out == "Dune · Reading · started 2026-01-02 · Page 145 of 382 ███░░░░░░░ 38%\n")
            #expect(page.err.contains("scan undo"))
            #expect(try scan.run("reading", "page", "400").err.contains("beyond the last page of the book"))
            let same = try scan.run("reading", "start", "dune")
            #expect(same.status == 0 && same.err.contains("already Reading"))
            let history = try scan.run("reading", "history", "dune").lines
            #expect(history.first == "Reading 1 of 1 · Reading · started 2026-01-02")
            #expect(
                try scan.run("reading", "add", "dune", "--started", "1999-07", "--finished", "1999").status == 0)
            #expect(
                try scan.run("reading", "dates", "dune").lines == [
                    "Reading 1 of 2 · Read · started 1999-07 · finished 1999",
                    "Reading 2 of 2 · Reading · started 2026-01-02",
                ])
            #expect(history.count == 4)
            #expect(history[1].hasSuffix("Page 400 of 382 ██████████ 100% (beyond the last page)"))
            #expect(history[3].hasSuffix("Page 0 of 382 ░░░░░░░░░░ 0%  automatic"))
            let readings = try scan.run("reading", "history", "dune", "--json").objects()
            // Newest first, including the one without entries.
            #expect(readings.map { ($0["entries"] as? [Any])?.count } == [3, 0])
            #expect(readings.map { $0["number"] as? Int } == [2, 1])
            let entry = try #require((readings[0]["entries"] as? [[String: Any]])?.last)
            #expect(
                Set(entry.keys) == [
                    "id", "copyId", "readingId", "number", "at", "page", "percent", "progress", "beyondLastPage",
                    "automatic", "sessionId",
                ])
            #expect(entry["automatic"] as? Bool == true)
        }
    }

    /// The arguments, the exit status and a part of the message.
    static let refused: [([String], Int, String)] = [
        (["page", "145"], 3, "not reading any book"), (["page", "dune", "x"], 64, "not a page"),
        (["page", "dune", "--", "-1"], 64, "no page -1"), (["page", "dune", "99999999999"], 64, "1000000"),
        (["page", "dune", "99999999999999999999"], 64, "not a page"),
        (["percent", "dune", "101"], 64, "from 0 to 100"),
        (["percent", "dune", "nan"], 64, "from 0 to 100"), (["percent", "dune", "much"], 64, "not a percentage"),
        (["finish", "dune", "--on", "2026-02-30"], 64, "2026-02 has no day 30"),
        (["finish", "dune", "--on", "2026-13-01"], 64, "2026 has no month 13"),
        (["finish", "dune", "--on", "0000-01-01"], 64, "not a day"),
        (["start", "dune", "--on", "soon"], 64, "not a day"),
        (["start", "emma"], 3, "no book \"emma\""), (["dates", "dune", "--started", "2026"], 3, "To Read"),
        (["dates", "dune", "--number", "2"], 3, "no reading 2"),
        (["add", "dune", "--started", "2021", "--finished", "2020"], 3, "because it was only started on 2021"),
        (["add", "dune", "--stopped", "2021", "--finished", "2020"], 3, "either finished or stopped"),
        (["delete", "dune", "--number", "0"], 3, "no reading 0"), (["start"], 3, "such as one of these"),
    ]

    @Test func `refuses with the reason, and changes nothing`() throws {
        try withTwoBooks { scan in
            for (arguments, status, reason) in Self.refused {
                let ending = try scan.run(["reading"] + arguments)
                #expect(Int(ending.status) == status && ending.out.isEmpty, "\(arguments): \(ending.err)")
                #expect(ending.err.contains(reason), "\(arguments): \(ending.err)")
            }
            #expect(try scan.run("undo", "--list").lines.count == 2)
        }
    }

    @Test(arguments: ["0001-01-01", "9999-12-31"])
    func `accepts the first and the last possible day`(day: String) throws {
        try withTwoBooks { scan in
            let read = try scan.run("reading", "finish", "dune", "--on", day, "--json").objects().first
            #expect(read?["finished"] as? String == day)
        }
    }

    @Test func `asks which book, if several are being read`() throws {
        try withTwoBooks { scan in
            try scan.run("reading", "start", "dune")
            #expect(try scan.run("reading", "page", "10").status == 0)
            try scan.run("reading", "start", "the", "odyssey")
            let ending = try scan.run("reading", "page", "10")
            #expect(ending.status == 3)
            #expect(ending.err.contains("2 books") && ending.err.contains("Homer"))
            #expect(try scan.run("reading", "finish", "odyssey").status == 0)
            #expect(try scan.run("reading", "finish").out.hasPrefix("Dune · Read"))
        }
    }

    @Test func `finishes a book with a rating and a note, which one undo takes back`() throws {
        try withTwoBooks { scan in
            try scan.run("reading", "start", "dune")
            let done = try scan.run(
                "reading", "finish", "--rating", "4.5", "--note", "-", "--json", input: Data("Read it aloud.".utf8))
            #expect(try done.objects().first?["status"] as? String == "read", "\(done.err)")
            let book = try #require(try scan.run("library", "show", "dune", "--json").objects().first)
            #expect(book["rating"] as? Double == 4.5)
            let notes = try scan.run("note", "list", "dune", "--json").objects()
            #expect(notes.map { $0["text"] as? String } == ["Read it aloud."])
            #expect(try scan.run("undo").out.contains("\"Dune\": Read, rated, with a note"))
            let before = try #require(try scan.run("library", "show", "dune", "--json").objects().first)
            #expect(before["rating"] is NSNull && before["status"] as? String == "reading")
            #expect(try scan.run("note", "list", "--json").out.isEmpty)
            #expect(try scan.run("reading", "finish", "--rating", "4.6").status == 64)
            #expect(try scan.run("reading", "finish", "--note", " ").status == 64)
            // A book that is read already can be rated all the same, and 0 clears the rating.
            #expect(try scan.run("reading", "finish").status == 0)
            for (rating, stored) in [("3", 3.0), ("0", nil)] {
                #expect(try scan.run("reading", "finish", "dune", "--rating", rating).err.contains("scan undo"))
                let book = try #require(try scan.run("library", "show", "dune", "--json").objects().first)
                #expect(book["rating"] as? Double == stored)
            }
        }
    }

    @Test func `sets no dates if the library's setting is off`() throws {
        try withTwoBooks { scan in
            try sqlite(scan.library, "INSERT INTO setting (name, value) VALUES ('automaticDates', '0')")
            let read = try #require(try scan.run("reading", "finish", "dune", "--json").objects().first)
            #expect(read["finished"] is NSNull && read["progress"] as? Double == 1)
            let edited = try scan.run("library", "edit", "dune", "--status", "reading", "--json").objects().first
            #expect(edited?["status"] as? String == "reading" && (edited?["readings"] as? [Any])?.count == 2)
        }
    }

    @Test func `dates the whole book to the day of the finish`() throws {
        try withTwoBooks { scan in
            func entries() throws -> [[String: Any]] {
                let readings = try scan.run("reading", "history", "dune", "--json").objects()
                return try #require(readings.first?["entries"] as? [[String: Any]])
            }
            try scan.run("reading", "start", "dune", "--on", "2026-01-02")
            try scan.run("reading", "finish", "dune", "--on", "2026-01-05")
            #expect(try entries().map { $0["page"] as? Int } == [382, 0])
            #expect(try (entries().first?["at"] as? String)?.hasPrefix("2026-01-05T") == true)
        }
    }

    @Test func `gives a book that is added by hand the dates and the progress of its status`() throws {
        try withScan { scan in
            func reading(_ arguments: String...) throws -> [String: Any] {
                let added = try scan.run(
                    ["library", "add", "--title", "Emma", "--pages", "400", "--another-copy", "--json"] + arguments)
                let book = try #require(try added.objects().first, "\(added.err)")
                return try #require((book["readings"] as? [[String: Any]])?.first)
            }
            let begun = try reading("--status", "reading")
            #expect((begun["started"] as? String)?.count == 10 && begun["page"] as? Int == 0)
            let read = try reading("--status", "read")
            #expect((read["finished"] as? String)?.count == 10 && read["started"] is NSNull)
            #expect(read["progress"] as? Double == 1)
            let undated = try reading("--status", "read", "--finished", "")
            #expect(undated["finished"] is NSNull && undated["progress"] as? Double == 1)
        }
    }

    @Test func `corrects and deletes single entries, and each act can be undone`() throws {
        try withTwoBooks { scan in
            try scan.run("reading", "start", "dune", "--on", "2026-01-02")
            try scan.run("reading", "page", "dune", "41", "--on", "2026-01-03")
            try scan.run("reading", "page", "dune", "415", "--on", "2026-01-04")
            func lines() throws -> [String] {
                try scan.run("reading", "history", "dune", "--ids").lines.dropFirst().map(\.self)
            }
            let before = try lines()
            let ids = before.compactMap { $0.split(separator: " ").last.map(String.init) }
            #expect(ids.count == 3 && ids.allSatisfy { $0.count == 8 })
            #expect(!(try scan.run("reading", "history", "dune").out.contains(ids[0])))
            let corrected = try scan.run("reading", "correct", ids[0], "--page", "145", "--json").objects()
            #expect(corrected.first?["page"] as? Int == 145 && corrected.first?["title"] as? String == "Dune")
            #expect(try scan.run("reading", "correct", ids[0], "--on", "2026-01-05").status == 0)
            #expect(try lines().first?.contains("2026-01-05 12:00  Page 145") == true)
            #expect(try scan.run("reading", "correct", ids[0], "--page", "145").err.contains("Nothing changed."))
            let forgotten = try scan.run("reading", "forget", ids[0], "--json").objects()
            #expect(forgotten.first?["page"] as? Int == 41)
            #expect(try lines().count == 2)
            for _ in 0..<3 { #expect(try scan.run("undo").status == 0) }
            #expect(try lines() == before)
            let terminal = try PseudoTerminal(scan, "reading forget \(ids[0])", columns: 200)
            try terminal.wait(for: "Delete this entry?")
            terminal.type("n\n")
            #expect(try terminal.finish() == 0)
            #expect(try lines() == before)
        }
    }

    @Test func `corrects no entry that is not there, belongs to a session, or lies in the future`() throws {
        try withTwoBooks { scan in
            try scan.run("session", "add", "dune", "--minutes", "5", "--to-page", "9")
            try scan.run("reading", "page", "dune", "20")
            let readings = try scan.run("reading", "history", "dune", "--json").objects()
            let entries = try #require(readings.first?["entries"] as? [[String: Any]])
            let ids = try entries.map { try #require($0["id"] as? String) }
            let before = try scan.run("export").out
            for (arguments, status, reason) in [
                (["correct", "abcd1234", "--page", "5"], 3, "scan reading history BOOK --ids"),
                (["forget", "x"], 3, "no progress entry \"x\""),
                (["correct", ids[1], "--page", "5"], 3, "scan session edit"),
                (["forget", ids[1]], 3, "scan session delete"),
                (["correct", ids[0], "--on", "2999-01-01"], 64, "in the future"), (["correct", ids[0]], 64, "--page"),
                (["correct", ids[0], "--page", "5", "--percent", "5"], 64, "either"),
                (["correct", ids[0], "--percent", "101"], 64, "from 0 to 100"),
                (["correct", ids[0], "--page=-1"], 64, "no page -1"),
            ] as [([String], Int32, String)] {
                let ending = try scan.run(["reading"] + arguments)
                #expect(ending.status == status && ending.err.contains(reason), "\(arguments): \(ending.err)")
            }
            #expect(try scan.run("export").out == before)
        }
    }

    @Test func `records progress of an earlier day, and shows the latest`() throws {
        try withTwoBooks { scan in
            try scan.run("reading", "start", "dune", "--on", "2026-01-02")
            let past = try scan.run("reading", "page", "dune", "100", "--on", "2026-01-10", "--json").objects()
            #expect(past.first?["page"] as? Int == 100)
            try scan.run("reading", "percent", "dune", "50", "--on", "yesterday")
            let earlier = try scan.run("reading", "page", "dune", "20", "--on", "2026-01-03", "--json").objects()
            #expect(earlier.first?["percent"] as? Double == 50)
            let readings = try scan.run("reading", "history", "dune", "--json").objects()
            let entries = try #require(readings.first?["entries"] as? [[String: Any]])
            #expect(entries.map { $0["page"] as? Int } == [nil, 100, 20, 0])
            let begun = try scan.run("reading", "page", "odyssey", "5", "--on", "2026-01-05", "--json").objects()
            #expect(begun.first?["started"] as? String == "2026-01-05")
            for wrong in [["2999-01-01"], ["2026-01"], ["x"]] {
                #expect(try scan.run(["reading", "page", "dune", "9", "--on"] + wrong).status == 64)
            }
            let two = try scan.run("reading", "page", "dune", "5", "6")
            #expect(two.status == 64 && two.err.contains("one number"), "\(two.err)")
        }
    }
}
