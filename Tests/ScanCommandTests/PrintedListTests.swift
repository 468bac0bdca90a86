import Bookplate
import Foundation
import LibraryMaker
import Testing

@testable import ScanCommand
@testable import Terminal

@Suite struct `The template of a list` {
    private let row: JSONValue = [
        "title": "A\u{1B}[31m B\tC\nD", "pageCount": .integer(304), "rating": .number(4.5), "shelf": .null,
        "authors": [["name": "Ann", "role": "author"], ["name": "Ben", "role": "editor"]], "tags": ["sf", "long"],
        "identifiers": ["isfdb": ["1", "2"]], "owned": .bool(true), "shortId": "3fa2c1",
    ]

    @Test(arguments: [
        ("{title}", "A [31m B C D"), (#"{pages}\t{rating}\n"#, "304\t4.5\n"), ("{shelf}", ""),
        ("{authors}", "Ann, Ben"),
        ("{authors.role}", "author, editor"), ("{tags}", "sf, long"), ("{identifiers}", "isfdb: 1, 2"),
        ("{identifiers.isfdb}", "1, 2"), ("{identifiers.lccn}", ""), ("{owned}", "true"), ("{{{pages}}}", "{304}"),
        (#"a\\b"#, #"a\b"#), ("\u{1B}[1m{pages}", "\u{1B}[1m304"), ("", ""), ("}", "}"), ("{shortId}", "3fa2c1"),
    ])
    func `gives the fields as text, without the control characters of the data`(template: String, text: String) throws {
        #expect(try RowTemplate(template, .books).text(for: row) == text)
    }

    @Test(arguments: [
        ("a {titel}", "no field \"titel\". Did you mean title?", 5), ("{}", "no field", 3),
        ("{authors.age}", "no field", 3),
        ("{title", "not closed", 2), (#"é\q"#, "no escape", 3), (#"\"#, "no escape", 2), ("{tags.x}", "no field", 3),
    ])
    func `is refused at its first mistake`(template: String, reason: String, column: Int) throws {
        let error = try #require(throws: CommandError.self) { try RowTemplate(template, .books) }
        #expect(error.status == .usage)
        let lines = error.description.split(separator: "\n")
        try #require(lines.count >= 3)
        #expect(lines[0].contains(reason), "\(lines[0])")
        #expect(lines[1] == "  \(template)" && lines[2] == String(repeating: " ", count: column) + "^")
    }

    @Test func `is offered every field of the JSON`() throws {
        let error = try #require(throws: CommandError.self) { try RowTemplate("{x}", .books) }
        for name in ["title", "authors.name", "identifiers", "readings.progress", "match.snippet", "pages", "shortId"] {
            #expect(error.description.contains(" \(name)"), "\(name)")
        }
        for fields in [
            RowFields.books, .authors, .labels, .filters, .readers, .notes, .quotes, .sessions, .changes, .backups,
            .intake,
        ] {
            #expect(try fields.fields(fields.defaults.joined(separator: ","), for: "--columns").count > 1)
        }
    }
}

@Suite struct `A table` {
    private let table = TextTable(
        header: ["id", "title"], rows: [["3fa2c1", "The Left Hand of Darkness"], ["77aa01", "本の虫"]])

    @Test func `is aligned, and cut only to fit a terminal`() {
        let plain = Style(isOn: false)
        #expect(
            table.lines(width: nil, plain) == [
                "id      title", "3fa2c1  The Left Hand of Darkness", "77aa01  本の虫",
            ])
        #expect(table.lines(width: 20, plain) == ["id      title", "3fa2c1  The Left Ha…", "77aa01  本の虫"])
        for width in 0..<40 { #expect(table.lines(width: width, plain).count == 3) }
    }
}

/// Runs the commands that print lists, on a generated library.
@Suite struct `Printed lists` {
    var scan: ScanProcess

    init() async throws {
        scan = try ScanProcess()
        try await copyMadeLibrary(to: scan.library, copies: 120, seed: 3)
    }

    @Test func `begin with ids that name the books`() throws {
        defer { try? scan.remove() }
        _ = try scan.run("library", "delete", "--yes", String(try #require(titles().first?.id)))
        for list in [
            ["list", "--sort", "title", "--limit", "5"], ["search", "the", "--limit", "3"], ["trash"],
            ["missing", "cover", "--limit", "3"],
        ] {
            let lines = try scan.run(["library"] + list).lines.filter { !$0.hasPrefix(" ") }
            #expect(!lines.isEmpty, "\(list)")
            for line in lines where list != ["trash"] {
                let id = try #require(line.firstMatch(of: /^[0-9a-f]{6,}(?=  )/)).output
                let shown = try scan.run("library", "show", String(id), "--json").objects()
                let title = try #require(shown.first?["title"] as? String)
                #expect((shown.first?["id"] as? String)?.hasSuffix(id) == true)
                #expect(line.contains(title.prefix(15)), "\(line)")
            }
        }
    }

    /// The ids and titles of all books.
    private func titles() throws -> [(id: String, title: String)] {
        try scan.run("library", "list", "--json", "--sort", "title").objects().map {
            ($0["id"] as? String ?? "", $0["title"] as? String ?? "")
        }
    }

    @Test func `have the columns and the form that the options name`() throws {
        defer { try? scan.remove() }
        let books = try titles()
        let format = try scan.run("library", "list", "--sort", "title", "--format", #"{id}\t{title}"#)
        #expect(format.lines == books.map { "\($0.id)\t\($0.title)" }, "all books, not only 50")
        let tsv = try scan.run("library", "list", "--sort", "title", "--tsv", "--columns", "title, id", "--limit", "2")
        #expect(tsv.lines == ["title\tid"] + books.prefix(2).map { "\($0.title)\t\($0.id)" })
        let header = try #require(scan.run("library", "list", "--tsv").lines.first)
        #expect(header.hasPrefix("id\tisbn13\ttitle\tauthors\t"))
        let table = try scan.run("library", "list", "--sort", "title", "--columns", "id,title")
        #expect(table.lines.count == 51 && table.lines[0].hasPrefix("id"))
        #expect(table.err.contains("50 of \(books.count). To show more"))
        #expect(table.lines[1].contains(books[0].title))
        #expect(try scan.run("library", "list", "--tag", "no such tag", "--tsv").lines.count == 1)
    }

    @Test(arguments: [
        ["--json", "--tsv"], ["--format", "{title}", "--tsv"], ["--json", "--format", "{title}"],
        ["--columns", "titel"],
        ["--columns", "id,"], ["--format", "{title"], ["--counts", "--tsv"], ["--color", "sometimes"],
    ])
    func `refuse options that contradict each other, and unknown fields`(options: [String]) throws {
        defer { try? scan.remove() }
        #expect(try scan.run(["library", "list"] + options).status == 64)
    }

    @Test(arguments: [
        (["author", "list"], "{name}"), (["tag", "list"], "{name}"), (["shelf", "list"], "{books}"),
        (["note", "list"], "{shortId} {title}"), (["quote", "list"], "{page}"), (["session", "list"], "{minutes}"),
        (["undo", "--list"], "{summary}"), (["redo", "--list"], "{summary}"), (["backup", "--list"], "{path}"),
        (["reader", "list"], "{name}"), (["filter", "list"], "{query}"), (["intake", "list"], "{isbn13}"),
        (["library", "trash"], "{title}"),
    ])
    func `all take the same options`(command: [String], template: String) throws {
        defer { try? scan.remove() }
        let rows = try scan.run(command + ["--json"]).lines.count
        let ending = try scan.run(command + ["--format", template + "."])
        #expect(ending.status == 0 && ending.lines.count == rows, "\(ending)")
        #expect(try scan.run(command + ["--tsv"]).lines.count == rows + 1)
        #expect(try scan.run(command + ["--tsv", "--columns", "nonsense"]).status == 64)
    }

    @Test func `of names can be sorted by number of books, and cut`() throws {
        defer { try? scan.remove() }
        for list in ["author", "tag", "shelf"] {
            let all = try scan.run(list, "list", "--format", "{books}").lines.compactMap { Int($0) }
            let most = try scan.run(list, "list", "--sort", "books", "--limit", "3", "--format", "{books}").lines
            #expect(most.compactMap { Int($0) } == Array(all.sorted(by: >).prefix(3)), "\(list)")
            #expect(try scan.run(list, "list", "--limit", "0").status == 64)
        }
    }

    @Test func `show times in the zone of the machine, and JSON in UTC`() throws {
        defer { try? scan.remove() }
        var scan = scan
        scan.environment["TZ"] = "Asia/Tokyo"
        let book = try #require(titles().first)
        try scan.run("library", "edit", book.id, "--rating", "4")
        try scan.run("backup")
        let local = LocalTime(now: Date(), zone: try #require(TimeZone(identifier: "Asia/Tokyo")))
        for list in [["undo", "--list"], ["backup", "--list"]] {
            let text = try #require(scan.run(list + ["--json"]).objects().first?["at"] as? String)
            let at = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
            let line = try #require(scan.run(list).lines.first)
            #expect(line.contains(local.dateTime(at)) && !line.contains("Z "), "\(line)")
        }
    }
}

@Suite struct `Colours` {
    @Test(
        arguments: [
            ([], [:], false), (["--color", "always"], [:], true), (["--color", "always"], ["NO_COLOR": "1"], true),
            ([], ["CLICOLOR_FORCE": "1"], true), ([], ["CLICOLOR_FORCE": "0"], false),
            ([], ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], false),
            (["--color", "never"], ["CLICOLOR_FORCE": "1"], false),
            (["--color", "auto"], ["CLICOLOR_FORCE": "1"], true),
        ] as [([String], [String: String], Bool)])
    func `in a pipe follow the option, and then the environment`(
        options: [String], variables: [String: String], isColoured: Bool
    ) throws {
        try withScan { scan in
            var scan = scan
            scan.environment.merge(variables) { $1 }
            try scan.run("library", "add", "--title", "Dune")
            #expect(try scan.run(["library", "show", "dune"] + options).out.contains("\u{1B}[1m") == isColoured)
        }
    }
}

@Suite struct `Long output on a terminal` {
    var scan: ScanProcess
    /// The text that the pager was given.
    let read: URL

    init() async throws {
        scan = try ScanProcess()
        try await copyMadeLibrary(to: scan.library, copies: 120, seed: 3)
        read = scan.home.appendingPathComponent("read")
        let pager = scan.home.appendingPathComponent("pager")
        try Data("#!/bin/sh\ncat > '\(read.path)'\necho \"PAGED $1 $LESS\"\n".utf8).write(to: pager)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: pager.path)
        scan.environment["BOOKPLATE_PAGER"] = pager.path + " -x"
    }

    /// Runs the command on a terminal with 24 lines, and returns what it shows.
    private func shown(_ command: String, in scan: ScanProcess) throws -> String {
        let terminal = try PseudoTerminal(scan, command)
        #expect(try terminal.finish() == 0, "\(terminal.screen)")
        return terminal.screen
    }

    private func pagedText() throws -> String { try String(contentsOf: read, encoding: .utf8) }

    @Test(arguments: [
        "library list", "author list", "library list --columns id,title", "library list --format {title}",
    ])
    func `goes through the pager`(command: String) throws {
        defer { try? scan.remove() }
        #expect(try shown(command, in: scan).contains("PAGED -x FRX"))
        #expect(try pagedText().split(separator: "\n").count > 24)
    }

    @Test func `is followed by its notices, which the pager would hide`() throws {
        defer { try? scan.remove() }
        let screen = try shown("library list --limit 40", in: scan)
        let (pager, notice) = (screen.firstRange(of: "PAGED"), screen.firstRange(of: "40 of"))
        #expect(try #require(pager).lowerBound < #require(notice).lowerBound)
        #expect(try !pagedText().contains("40 of"))
    }

    @Test(arguments: ["library list --limit 5", "library list --no-pager", "library list --json"])
    func `is not paged if it is short or not wanted`(command: String) throws {
        defer { try? scan.remove() }
        #expect(try !shown(command, in: scan).contains("PAGED"))
        #expect(!FileManager.default.fileExists(atPath: read.path))
    }

    @Test func `is not paged in a pipe`() throws {
        defer { try? scan.remove() }
        #expect(try scan.run("library", "list").lines.count == 50)
        #expect(!FileManager.default.fileExists(atPath: read.path))
    }

    /// Pagers, each with the variables that name it, and whether it is the one that the tests made.
    @Test(
        arguments: [
            (["PAGER": "false"], true), (["BOOKPLATE_PAGER": "", "PAGER": "false"], false),
            (["BOOKPLATE_PAGER": "cat"], false), (["LESS": "own", "PAGER": "false"], true),
            (["BOOKPLATE_PAGER": "no-such-pager"], false), (["TERM": "dumb"], false),
        ] as [([String: String], Bool)])
    func `goes through the pager that the environment names, or is printed`(variables: [String: String], isPaged: Bool)
        throws
    {
        defer { try? scan.remove() }
        var scan = scan
        scan.environment.merge(variables) { $1 }
        let screen = try shown("library list --columns title", in: scan)
        let less = variables["LESS"] ?? "FRX"
        #expect(screen.contains("PAGED -x \(less)") == isPaged, "\(screen)")
        if !isPaged { #expect(screen.split(separator: "\r\n").count > 50) }
    }

    @Test func `ends well if the pager is quit early`() throws {
        defer { try? scan.remove() }
        var scan = scan
        scan.environment["BOOKPLATE_PAGER"] = "head -n 1"
        // More than a pipe takes (pipe(7): 64 KiB).
        let long = String(repeating: "x", count: 2000)
        #expect(try shown("library list --format '{title} \(long)'", in: scan).split(separator: "\r\n").count == 1)
    }
}

@Suite struct `A terminal whose locale is not UTF-8` {
    @Test(arguments: [
        ["LANG": "C"], ["LANG": "C.UTF-8", "LC_ALL": "C"], ["LANG": "C.UTF-8", "LC_CTYPE": "POSIX", "LC_ALL": ""],
        ["LANG": ""],
    ])
    func `shows everything in ASCII, but data for programs as they are`(variables: [String: String]) throws {
        try withScan { scan in
            var scan = scan
            scan.environment.merge(variables) { $1 }
            scan.environment["BOOKPLATE_PAGER"] = "cat"
            try scan.run(
                "library", "add", "--title", "Café “Größe”", "--author", "Stanisław Lem", "--rating", "3.5", "--pages",
                "9")
            try scan.run("reading", "start", "café")
            try scan.run("reading", "page", "café", "4")
            for (command, text) in [
                ("library list", "Cafe \"Grose\" - Stanislaw Lem"), ("library search cafe", "Matched in title"),
                ("library show cafe", "***+. 3.5"), ("author list", "Stanislaw Lem"), ("home", "Cafe"), ("stats", "1"),
                ("library list --columns title", "Cafe"), ("library add --title Ölig", "+ saved"),
                ("undo --list", "Cafe"), ("reading history cafe", "Page 4"),
            ] {
                let terminal = try PseudoTerminal(scan, command)
                _ = try terminal.finish()
                #expect(terminal.raw.utf8.allSatisfy { $0 < 0x80 }, "\(command): \(terminal.raw)")
                #expect(terminal.screen.contains(text), "\(command): \(terminal.screen)")
            }
            let json = try PseudoTerminal(scan, "library list --json")
            _ = try json.finish()
            #expect(json.screen.contains("Café “Größe”"))
            #expect(try scan.run("library", "list").out.contains("Café “Größe” · Stanisław Lem"))
        }
    }
}
