import Foundation
import Testing

@Suite struct `A book's page` {
    private static let everything = [
        "--title", "Beowulf", "--subtitle", "A New Verse Translation", "--author", "Anonymous", "--translator",
        "Seamus Heaney", "--author-nationality", "English", "--publisher", "Norton", "--published", "2001-02-17",
        "--pages", "256", "--language", "en", "--original-language", "ang", "--format", "Audiobook", "--series",
        "Classics", "--series-number", "2.5", "--subject", "Poetry", "--genre", "Epic", "--description",
        "Line one.\nLine two.", "--cover-url", "https://covers.openlibrary.org/b/id/1-L.jpg", "--preview-link",
        "https://example.org/p", "--info-link", "http://example.org/i", "--identifier", "goodreads:52357",
        "--identifier", "goodreads:1", "--identifier", "LCCN: n78-890351", "--isbn", "0-393-32097-9", "--shelf", "Hall",
        "--tag", "Epics", "--tag", "read aloud", "--status", "read", "--rating", "4.75", "--favourite",
        "--recommended-by", "Ada", "--would-recommend", "--public", "--daily-goal", "20", "--cultural-goal",
        "Translated Works", "--added", "2024-02-29", "--note", "First.\nMore.", "--note", "Second.",
    ]

    @Test func `holds every field that was entered`() throws {
        try withScan { scan in
            let added = try scan.run(["library", "add"] + Self.everything + ["--json"])
            #expect(added.status == 0 && added.err.isEmpty, "\(added.err)")
            let book = try #require(scan.run("library", "show", "beowulf", "--json").objects().first)
            let texts = [
                "title": "Beowulf", "subtitle": "A New Verse Translation", "publisher": "Norton",
                "publishedDate": "2001-02-17", "language": "en", "originalLanguage": "ang",
                "authorNationality": "English", "format": "audiobook", "series": "Classics", "seriesNumber": "2.5",
                "description": "Line one.\nLine two.", "coverURL": "https://covers.openlibrary.org/b/id/1-L.jpg",
                "previewLink": "https://example.org/p", "infoLink": "http://example.org/i", "isbn13": "9780393320978",
                "isbnText": "0-393-32097-9", "shelf": "Hall", "status": "read", "recommendedBy": "Ada",
                "culturalGoalCategory": "Translated Works", "added": "2024-02-29T12:00:00.000Z",
            ]
            for (key, text) in texts { #expect(book[key] as? String == text, "\(key)") }
            for key in ["favourite", "public", "wouldRecommend", "culturalGoal", "owned"] {
                #expect(book[key] as? Bool == true, "\(key)")
            }
            #expect(book["rating"] as? Double == 4.75 && book["pageCount"] as? Int == 256)
            #expect(book["dailyGoal"] as? Int == 20 && book["tags"] as? [String] == ["Epics", "read aloud"])
            #expect(book["subjects"] as? [String] == ["Poetry", "Epic"])
            #expect(
                book["identifiers"] as? [String: [String]] == ["goodreads": ["52357", "1"], "lccn": ["n78-890351"]])
            let people = book["authors"] as? [[String: String]]
            #expect(people?.map { $0["role"] } == ["author", "translator"])
            let notes = book["notes"] as? [[String: Any]]
            #expect(notes?.map { $0["text"] as? String } == ["First.\nMore.", "Second."])
            #expect((book["quotes"] as? [Any])?.isEmpty == true && (book["flags"] as? [Any])?.isEmpty == true)
            // The object has the keys of a list and three more.
            let listed = try #require(scan.run("library", "list", "--json").objects().first)
            #expect(Set(book.keys).subtracting(listed.keys) == ["notes", "quotes", "flags"])
            #expect(try scan.run("undo").status == 0)
            #expect(try scan.run("library", "list", "--json").lines.isEmpty)
        }
    }

    @Test func `shows every field to people`() throws {
        try withScan { scan in
            try scan.run(["library", "add"] + Self.everything)
            try scan.run("quote", "add", "beowulf", "So. The Spear-Danes", "--page", "3")
            let sheet = try scan.run("library", "show", "beowulf").lines
            #expect(
                sheet.prefix(5) == [
                    "Beowulf", "A New Verse Translation", "Anonymous", "● Read   ★★★★¾ 4.75   ♥ favourite",
                    "[Epics] [read aloud]",
                ])
            let text = sheet.map { $0.split(separator: " ").joined(separator: " ") }
            for line in [
                "Contributors Seamus Heaney (translator)", "Nationality English", "ISBN 978-0-393-32097-8",
                "Publisher Norton", "Published 2001-02-17", "Pages 256", "Language en", "Original language ang",
                "Format audiobook", "Series Classics 2.5", "Shelf Hall", "Owned yes", "Date Added 2024-02-29",
                "Subjects Poetry, Epic", "Preview https://example.org/p", "Web page http://example.org/i",
                "Identifiers goodreads:52357, goodreads:1, lccn:n78-890351", "Daily goal 20 pages per day",
                "Cultural goal Translated Works", "Public yes", "Recommended by Ada", "Would recommend yes",
                "Line one.", "Line two.", "First.", "More.", "Second.", "So. The Spear-Danes",
            ] {
                #expect(text.contains(line), "\(line)")
            }
            #expect(text.contains { $0.hasSuffix("· page 3") })
        }
    }

    @Test(arguments: [
        ("toRead", false, false), ("reading", true, false), ("read", true, true), ("onHold", true, false),
        ("dnf", true, false),
    ])
    func `shows only the days that fit its status`(status: String, started: Bool, finished: Bool) throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune", "--status", status)
            try sqlite(scan.library, "UPDATE reading SET started = '2026-02-01', finished = '2026-02-18'")
            let text = try scan.run("library", "show", "dune").out.split(separator: "\n")
                .map { $0.split(separator: " ").joined(separator: " ") }
            #expect(text.contains("Started 2026-02-01") == started)
            #expect(text.contains("Finished 2026-02-18") == finished)
            #expect(text.contains("Days to Read 17 days") == finished)
            #expect(text.contains { $0.hasPrefix("Date Added ") })
        }
    }

    @Test(
        arguments: [
            ("2026-02-01", "2026-02-01", "0 days"), ("2026-02-01", "2026-02-02", "1 day"),
            ("2026-02", "2026-02-18", nil),
            ("2026-02-01", "2026", nil), ("2026-02-18", "2026-02-01", nil),
            ("0001-01-01", "9999-12-31", "3652058 days"),
        ] as [(String, String, String?)])
    func `counts the days to read from whole days only`(started: String, finished: String, days: String?) throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune", "--status", "read")
            try sqlite(scan.library, "UPDATE reading SET started = '\(started)', finished = '\(finished)'")
            let line = try scan.run("library", "show", "dune").lines.first { $0.contains("Days to Read") }
            #expect(line?.split(separator: " ").joined(separator: " ") == days.map { "Days to Read \($0)" })
        }
    }

    @Test func `shows what an import flagged`() throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune")
            try sqlite(
                scan.library,
                "INSERT INTO importFlag (copy, source, what, raw, at) SELECT id, 'goodreads', 'the title was cut', 'x', 0 FROM copy"
            )
            #expect(try scan.run("library", "show", "dune").out.contains("goodreads: the title was cut"))
            let flags = try scan.run("library", "show", "dune", "--json").objects()[0]["flags"]
            #expect((flags as? [[String: Any]])?.first?["raw"] as? String == "x")
        }
    }

    @Test func `no longer shows a field that was cleared`() throws {
        try withScan { scan in
            try scan.run(["library", "add"] + Self.everything)
            let cleared = try scan.run(
                "library", "edit", "beowulf", "--subtitle", "", "--author", "", "--author-nationality", "",
                "--publisher", "", "--published", "", "--pages", "0", "--language", "", "--original-language", "",
                "--format", "", "--series", "", "--series-number", "", "--subject", "", "--description", "",
                "--cover-url", "", "--preview-link", "", "--info-link", "", "--identifier", "goodreads:",
                "--identifier", "lccn:", "--isbn", "", "--shelf", "", "--untag", "EPICS", "--untag", "Read Aloud",
                "--rating", "0", "--no-favourite", "--recommended-by", "", "--clear-would-recommend", "--no-public",
                "--daily-goal", "0", "--no-cultural-goal", "--json")
            let book = try #require(cleared.objects().first, "\(cleared.err)")
            for key in [
                "subtitle", "authorNationality", "publisher", "publishedDate", "publishedDateText", "pageCount",
                "language", "originalLanguage", "format", "series", "seriesNumber", "description", "coverURL",
                "previewLink", "infoLink", "isbn13", "isbnText", "shelf", "rating", "recommendedBy", "wouldRecommend",
                "dailyGoal", "culturalGoalCategory",
            ] {
                #expect(book[key] is NSNull, "\(key)")
            }
            for key in ["authors", "subjects", "tags"] { #expect((book[key] as? [Any])?.isEmpty == true, "\(key)") }
            #expect((book["identifiers"] as? [String: Any])?.isEmpty == true)
            for key in ["favourite", "public", "culturalGoal"] { #expect(book[key] as? Bool == false, "\(key)") }
        }
    }

    @Test func `keeps the fields that are not edited`() throws {
        try withScan { scan in
            try scan.run(["library", "add"] + Self.everything)
            func edit(_ arguments: String...) throws -> [String: Any] {
                try scan.run(["library", "edit", "beowulf", "--json"] + arguments).objects()[0]
            }
            #expect(try edit("--series-number", "3")["series"] as? String == "Classics")
            #expect(try edit("--series", "Epics")["seriesNumber"] as? String == "3")
            let people = try edit("--translator", "J. R. R. Tolkien")["authors"] as? [[String: String]]
            #expect(people?.map { $0["name"] } == ["Anonymous", "J. R. R. Tolkien"])
            let numbers = try edit("--identifier", "oclc:7")["identifiers"] as? [String: [String]]
            #expect(numbers == ["goodreads": ["52357", "1"], "lccn": ["n78-890351"], "oclc": ["7"]])
            #expect(try edit("--no-would-recommend")["wouldRecommend"] as? Bool == false)
            #expect(try edit("--added", "2024-02-29")["added"] as? String == "2024-02-29T12:00:00.000Z")
            #expect(try edit("--no-owned", "--wishlist")["owned"] as? Bool == false)
        }
    }

    @Test func `can be added with the days of its reading, and one undo takes all of it back`() throws {
        try withScan { scan in
            let added = try scan.run(
                "library", "add", "--title", "Dune", "--status", "dnf", "--started", "2026-02", "--stopped",
                "yesterday",
                "--json")
            let book = try #require(try added.objects().first, "\(added.err)")
            let reading = try #require((book["readings"] as? [[String: Any]])?.first)
            #expect(reading["started"] as? String == "2026-02" && reading["state"] as? String == "stopped")
            #expect(reading["finished"] is NSNull && (reading["stopped"] as? String)?.count == 10)
            #expect(try scan.run("undo").status == 0)
            #expect(try scan.run("library", "list", "--json").lines.isEmpty)
        }
    }

    @Test(
        arguments: [
            (["--started", "2026"], 64, "--status"),
            (["--finished", "2026", "--status", "reading"], 64, "--status read"),
            (["--stopped", "2026", "--status", "read"], 64, "--status dnf"),
            (["--finished", "2026-02-30", "--status", "read"], 64, "2026-02 has no day 30"),
            (["--status", "read", "--started", "2026", "--finished", "2025"], 3, "only started on 2026"),
        ] as [([String], Int32, String)])
    func `is not saved with impossible days`(arguments: [String], status: Int32, reason: String) throws {
        try withScan { scan in
            let ending = try scan.run(["library", "add", "--title", "Dune"] + arguments)
            #expect(ending.status == status && ending.err.contains(reason), "\(ending.err)")
            #expect(try scan.run("library", "list", "--json").lines.isEmpty)
        }
    }

    @Test func `keeps an invalid ISBN as text, with a warning, when added and when edited`() throws {
        try withScan { scan in
            let added = try scan.run("library", "add", "--title", "Dune", "--isbn", "978-0-441-17271-8", "--json")
            #expect(added.status == 0 && added.err.contains("should be 9, not 8"))
            #expect(try added.objects()[0]["isbn13"] is NSNull)
            let right = try scan.run("library", "edit", "dune", "--isbn", "0-441-17271-7", "--json")
            #expect(try right.err.isEmpty && right.objects()[0]["isbn13"] as? String == "9780441172719")
            let wrong = try scan.run("library", "edit", "dune", "--isbn", "0-441-17271-8", "--json")
            #expect(
                wrong.status == 0 && wrong.err.contains("is not a valid ISBN") && wrong.err.contains("kept as text"))
            let book = try wrong.objects()[0]
            #expect(book["isbn13"] is NSNull && book["isbnText"] as? String == "0-441-17271-8")
            // A capture refuses it.
            #expect(try scan.run("--isbn", "0-441-17271-8", "--yes").status == 3)
        }
    }
}
