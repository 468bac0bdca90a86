import Foundation
import TestTools
import Testing

@Suite struct `Fields on the command line` {
    /// The options of add and edit that take a text.
    static let texts = [
        "title", "subtitle", "author", "translator", "author-nationality", "publisher", "published", "language",
        "original-language", "series", "series-number", "subject", "description", "recommended-by", "cultural-goal",
        "tag", "shelf", "isbn",
    ]

    // Starting processes takes most of the time, so fields whose errors do not hide each other are tested together.
    @Test(arguments: ["a\nb", "\u{1B}[2Jx", "\u{202E}x", "👩‍👩‍👧‍👦", "a" + String(repeating: "\u{301}", count: 1000)])
    func `keep any text, but no line break and no control character`(text: String) throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune")
            let id = try #require(scan.run("library", "list", "--json").objects().first?["id"] as? String)
            let ending = try scan.run(
                ["library", "edit", id] + Self.texts.flatMap { ["--\($0)", text] } + ["--json"])
            #expect(ending.status == 0, "\(ending.err)")
            #expect(!ending.out.contains("\u{1B}") && !ending.out.contains("\u{202E}"))
            // Only the description keeps its line breaks.
            #expect(ending.out.ranges(of: "\\n").count == (text.contains("\n") ? 1 : 0))
            #expect(!ending.out.contains(String(repeating: "\u{301}", count: 31)))
            let book = try #require(ending.objects().first)
            for name in [
                "title", "subtitle", "publisher", "series", "description", "recommendedBy", "shelf", "isbnText",
            ] {
                #expect((book[name] as? String)?.isEmpty == false, "\(name)")
            }
            for name in ["authors", "subjects", "tags"] { #expect((book[name] as? [Any])?.isEmpty == false, "\(name)") }
        }
    }

    @Test func `refuse a text that is empty, too long or not UTF-8`() throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune")
            let before = try scan.run("library", "show", "dune", "--json").out
            let damaged = ["Caf\\xe9", "\\xed\\xa0\\x80", "\\xff\\xfe"]
            for (number, option) in Self.texts.enumerated() {
                for text in [" \t ", "\u{200B}", String(repeating: "x", count: 100_000)] {
                    let ending = try scan.run("library", "edit", "dune", "--\(option)", text)
                    #expect(ending.status == 64 && ending.err.hasPrefix("scan: the "), "\(option): \(ending.err)")
                }
                let ending = try shell(
                    "scan library edit dune --\(option) $'\(damaged[number % damaged.count])'", scan)
                #expect(ending.status == 64 && ending.text.contains("not valid UTF-8"), "\(option): \(ending.text)")
            }
            #expect(try scan.run("library", "show", "dune", "--json").out == before)
        }
    }

    /// Invalid values for add and edit.
    static let wrong = [
        ["--rating", "0.3"], ["--rating=-1"], ["--rating", "nan"], ["--rating", "inf"], ["--rating", "5.25"],
        ["--rating", "1e400"], ["--rating", "many"], ["--pages=-1"], ["--pages", "1000001"],
        ["--pages", "99999999999999999999"], ["--pages", "12.5"], ["--daily-goal=-1"], ["--daily-goal", "100001"],
        ["--added", "2026-02-30"], ["--added", "2026-02"], ["--added", "soon"], ["--added", "0000-01-01"],
        ["--added", "10000-01-01"], ["--published", "2026-02-30"], ["--published", "0000"], ["--published", "2026-13"],
        ["--format", "paper"], ["--cover-url", "javascript:alert(1)"], ["--preview-link", "file:///etc/passwd"],
        ["--info-link", "example.org"], ["--info-link", "https://u:p@example.org"], ["--identifier", "44767458"],
        ["--identifier", ":1"], ["--status", "lost"], ["--cultural-goal", "x", "--no-cultural-goal"],
        ["--would-recommend", "--no-would-recommend"], ["--title", ""], [],
    ]

    @Test func `refuse impossible values as wrong usage, and change nothing`() throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune")
            let before = try scan.run("library", "list", "--json").out
            for arguments in Self.wrong {
                let ending = try scan.run(["library", "edit", "dune"] + arguments)
                #expect(ending.status == 64 && !ending.err.isEmpty, "\(arguments): \(ending.err)")
            }
            #expect(try scan.run("library", "list", "--json").out == before)
        }
    }

    @Test(arguments: ["0001-01-01", "9999-12-31", "2024-02-29"]) func `keep the first and the last possible day`(
        day: String
    )
        throws
    {
        try withScan { scan in
            let added = try scan.run("library", "add", "--title", "Dune", "--added", day, "--published", day, "--json")
            let book = try #require(added.objects().first, "\(added.err)")
            #expect(book["added"] as? String == "\(day)T12:00:00.000Z" && book["publishedDate"] as? String == day)
            #expect(try scan.run("library", "show", "dune").out.contains("Date Added  "))
        }
    }

    @Test func `accept a date as it is printed`() throws {
        try withScan { scan in
            let added = try scan.run("library", "add", "--title", "Dune", "--published", "Michaelmas 1819", "--json")
            #expect(try added.objects()[0]["publishedDateText"] as? String == "Michaelmas 1819")
        }
    }

    @Test func `say from where covers are fetched`() throws {
        try withScan { scan in
            let added = try scan.run("library", "add", "--title", "Dune", "--cover-url", "https://example.org/x.jpg")
            #expect(added.status == 0 && added.err.contains("no cover is fetched from it"))
        }
    }

    /// Runs a line of bash in which `scan` is the program, and returns its status and output.
    private func shell(_ line: String, _ scan: ScanProcess) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", "scan() { '\(ScanProcess.program.path)' \"$@\"; }; \(line) 2>&1 < /dev/null"]
        process.environment = scan.environment
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run(atMost: .seconds(900))
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
