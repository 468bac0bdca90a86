import Foundation
import GRDB
import Testing

@Suite struct `scan home and scan stats` {
    /// Runs the body with a library of one book being read and one that was read, in a time zone far ahead of UTC.
    private func withLibrary(_ body: (ScanProcess) throws -> Void) throws {
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        scan.environment["TZ"] = "Pacific/Auckland"
        for title in ["Dune", "Emma"] {
            #expect(try scan.run("library", "add", "--title", title, "--author", "Somebody").status == 0)
        }
        let queue = try DatabaseQueue(path: scan.library)
        try queue.write { db in
            try db.execute(
                sql: """
                    UPDATE edition SET pageCount = 300;
                    UPDATE readerCopy SET status = 'reading' WHERE copy = 1;
                    UPDATE readerCopy SET status = 'read', rating = 18 WHERE copy = 2;
                    INSERT INTO reading (id, uuid, copy, position, state, started, finished) VALUES
                        (101, 'r1', 1, 0, 'open', '2026-05-01', NULL), (102, 'r2', 2, 0, 'finished', '2026-04-01', '2026-05-02');
                    -- 23:30 in Auckland on 1 May, and its end on the 2nd.
                    INSERT INTO session (id, uuid, reading, start, "end", startPage, endPage)
                        VALUES (101, 's1', 101, 1777635000000, 1777638600000, 0, 40);
                    INSERT INTO progressEntry (uuid, reading, at, page, session) VALUES ('p1', 101, 1777638600000, 40, 101);
                    INSERT INTO setting VALUES ('yearlyGoal', '12');
                    """)
        }
        try queue.close()
        try body(scan)
    }

    private func object(_ scan: ScanProcess, _ arguments: String...) throws -> [String: Any] {
        let ending = try scan.run(arguments)
        #expect(ending.status == 0 && ending.err.isEmpty && ending.lines.count == 1, "\(ending)")
        return try #require(ending.objects().first)
    }

    private func keys(_ value: Any?) throws -> [String] { try #require(value as? [String: Any]).keys.sorted() }

    @Test func `print one object with all of its keys`() throws {
        try withLibrary { scan in
            let home = try object(scan, "home", "--json")
            #expect(try keys(home) == ["readingCount", "readingNow", "recentlyRead", "today"])
            let now = try #require((home["readingNow"] as? [Any])?.first as? [String: Any])
            #expect(
                try keys(now) == [
                    "book", "forecast", "lastActivity", "page", "pageCount", "pagesToday", "pause", "percent",
                    "progress",
                    "running", "started",
                ])
            #expect(now["page"] as? Int == 40 && now["lastActivity"] as? String == "2026-05-01T12:30:00.000Z")
            #expect(
                try keys(now["forecast"]) == [
                    "byGoal", "byPace", "daysByGoal", "daysByPace", "finish", "goal", "pagesPerDay", "reason",
                    "remaining",
                    "sentence",
                ])
            let read = try #require((home["recentlyRead"] as? [Any])?.first as? [String: Any])
            #expect(try keys(read) == ["book", "daysToRead", "finished", "rating"])
            #expect(read["daysToRead"] as? Int == 31)

            let stats = try object(scan, "stats", "--year", "2026", "--json")
            #expect(
                try keys(stats) == [
                    "challenge", "counts", "culturalGoals", "dailyGoal", "dateUnknown", "days", "from", "minutesToday",
                    "pagesToday", "pauseCount", "pauses", "ratings", "recentPace", "streak", "to", "today", "totals",
                    "years",
                ])
            #expect(
                try keys(stats["totals"]) == [
                    "bookPages", "booksFinished", "daysRead", "minutes", "pace", "pages", "sessions",
                ])
            #expect(try keys(stats["challenge"]) == ["ahead", "done", "due", "goal", "met", "remaining", "year"])
            #expect(
                try keys(stats["counts"]) == [
                    "copies", "favourite", "format", "language", "owned", "status", "wishlist",
                ])
            let days = try #require(stats["days"] as? [[String: Any]])
            #expect(days.map { $0["day"] as? String } == ["2026-05-01"])
            #expect(try keys(days[0]) == ["day", "entries", "minutes", "pace", "pages", "sessions"])

            let book = try object(scan, "stats", "book", "dune", "--json")
            #expect(
                try keys(book) == [
                    "book", "dailyGoal", "daysRead", "lastRead", "minutes", "pace", "pageCount", "pages", "pause",
                    "readings", "sessions", "status",
                ])
            #expect(book["pages"] as? Int == 40 && book["minutes"] as? Int == 60 && book["pace"] as? Double == 40)
            let month = try object(scan, "stats", "calendar", "--month", "2026-05", "--json")
            #expect(try keys(month) == ["days", "daysRead", "minutes", "month", "pages"])
            #expect(try keys(object(scan, "stats", "on-this-day", "--json")) == ["memories", "today"])
            #expect(
                try keys(object(scan, "stats", "challenge", "--json")) == ["challenge", "culturalGoals", "dailyGoal"])
        }
    }

    @Test func `show the same to people, without colour if there is no terminal`() throws {
        try withLibrary { scan in
            let home = try scan.run("home")
            #expect(home.status == 0 && !home.out.contains("\u{1B}"))
            #expect(home.out.contains("page 40 of 300") && home.out.contains("Emma · Somebody"))
            let stats = try scan.run("stats", "--month", "2026-05")
            #expect(stats.out.contains("2026-05-01") && stats.out.contains("1 h"))
            let calendar = try scan.run("stats", "calendar", "--month", "2026-05")
            #expect(calendar.out.contains("40p") && calendar.out.contains("60m"))
            #expect(try scan.run("stats", "book", "emma").out.contains("in 31 days"))
            #expect(try scan.run("stats", "on-this-day").status == 0)
            #expect(try scan.run("stats", "challenge").out.contains(" of 12 books"))
            var plain = scan
            plain.environment["LANG"] = "C"
            for arguments in [["home"], ["stats"], ["stats", "book", "dune"], ["stats", "calendar"]] {
                #expect(try plain.run(arguments).out.utf8.allSatisfy { $0 < 0x80 })
            }
        }
    }

    @Test func `advise what to do without a library, and create none`() throws {
        try withScan { scan in
            let home = try scan.run("home")
            #expect(home.status == 0)
            #expect(home.out.contains("No books currently reading.") && home.out.contains("No books read yet."))
            #expect(try scan.run("home", "--json").objects().count == 1)
            #expect(try scan.run("stats", "--json").objects().count == 1)
            #expect(try scan.run("stats").status == 0)
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }

    @Test(arguments: [
        ["stats", "--month", "2026"], ["stats", "--month", "2026-13"], ["stats", "--from", "soon"],
        ["stats", "--to", "2026-02-30"],
        ["stats", "--year", "2026", "--month", "2026-05"], ["stats", "--from", "2026-05-02", "--to", "2026-05-01"],
        ["stats", "--year", "0"], ["stats", "calendar", "--month", "2026-02-30"], ["home", "--limit", "0"],
    ])
    func `refuse invalid dates`(arguments: [String]) throws {
        try withScan { scan in
            let ending = try scan.run(arguments)
            #expect(ending.status == 64)
            #expect(!ending.err.isEmpty)
        }
    }

    @Test func `report a book that does not exist`() throws {
        try withLibrary { scan in
            let ending = try scan.run("stats", "book", "nothing like it")
            #expect(ending.status == 3)
        }
    }
}
