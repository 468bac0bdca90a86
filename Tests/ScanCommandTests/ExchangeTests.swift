import Bookplate
import Foundation
import Library
import Synchronization
import TestTools
import Testing

@testable import ScanCommand

private let header =
    "Book Id,Title,Author,ISBN,ISBN13,My Rating,Number of Pages,Date Read,Date Added,Bookshelves,Exclusive Shelf,My Review,Read Count,Owned Copies"

@Suite struct `Import and export` {
    private func file(_ scan: ScanProcess, _ name: String, _ text: String) throws -> String {
        let url = scan.home.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    private let goodreads = #"""
        \#(header)
        1,"Glass Tide (Tide, #1)",Ada Example,"=""0441172717""","=""9780441172719""",4,604,2023/05/17,2022/01/30,sea,read,Good.,1,1
        2,Salt,Bo Sample,"=""""","=""""",0,,2023/02/30,2022/01/31,,read,,1,0
        3,,Nobody,"=""""","=""""",0,,,,,to-read,,0,0
        4,"Broken,Cy Muster,1
        5,Kite,Cy Muster,"=""""","=""""",5,100,,2022/02/01,,currently-reading,,0,1

        """#

    @Test func `an import reports what it did row by row, and undo takes it back`() throws {
        try withScan { scan in
            let path = try file(scan, "export.csv", goodreads)
            let first = try scan.run("import", path)
            #expect(first.status == 3)
            #expect(first.err.contains("Goodreads"))
            #expect(first.err.contains("3 new, 0 merged, 0 unchanged, 1 flagged, 2 refused."))
            #expect(
                first.out.contains(
                    "row 3  \"Salt\" new (flagged: date read: \"2023/02/30\" is not a date and was left out)"))
            #expect(first.out.contains("row 4  refused: the row has neither a title nor an ISBN"))
            #expect(first.out.contains("row 5  refused: a quotation mark is not closed"))
            #expect(!first.out.contains("Kite"))

            let list = try scan.run("library", "list", "--json").objects()
            #expect(list.count == 3)
            let tide = try #require(list.first { $0["title"] as? String == "Glass Tide" })
            #expect(
                tide["series"] as? String == "Tide" && tide["rating"] as? Double == 4
                    && tide["status"] as? String == "read")

            let again = try scan.run("import", path, "--json")
            let events = try again.objects().compactMap { $0["event"] as? String }
            #expect(events == ["unchanged", "unchanged", "refused", "refused", "unchanged", "imported"])
            #expect(try scan.run("undo", "--list").lines.count == 1)
            #expect(try scan.run("undo", "--yes").status == 0)
            #expect(try scan.run("library", "list", "--json").objects().isEmpty)
        }
    }

    @Test func `a dry run reports what would happen, and changes nothing`() throws {
        try withScan { scan in
            let path = try file(scan, "export.csv", goodreads)
            let dry = try scan.run("import", path, "--dry-run")
            #expect(dry.status == 3)
            #expect(
                dry.err.contains("Would be: 3 new, 0 merged, 0 unchanged, 1 flagged, 2 refused. Nothing was changed."))
            #expect(!FileManager.default.fileExists(atPath: scan.library))
            try scan.run("import", path)
            let before = try scan.run("export").out
            let second = try scan.run("import", path, "--dry-run")
            #expect(second.err.contains("Would be: 0 new, 0 merged, 3 unchanged"))
            #expect(try scan.run("export").out == before)
        }
    }

    @Test func `JSON and CSV are read back as they were written`() throws {
        let (json, csv) = try withScan { scan in
            let path = try file(scan, "export.csv", goodreads)
            try scan.run("import", path, "--shelf", "=Hall", "--tag", "@new", "--owned")
            let json = scan.home.appendingPathComponent("library.json").path
            #expect(try scan.run("export", "json", "--to", json).status == 0)
            let csv = try scan.run("export", "csv").out
            #expect(try String(contentsOfFile: json, encoding: .utf8) == scan.run("export").out)
            #expect(csv.contains("'=Hall") && csv.contains("\"=\"\"9780441172719\"\"\""))
            return (try scan.run("export").out, csv)
        }
        for (text, format) in [(json, "json"), (csv, "csv")] {
            try withScan { scan in
                let imported = try scan.run(["import", "-"], input: Data(text.utf8))
                #expect(imported.status == 0, "\(imported.err)")
                #expect(try scan.run("export", format).out == text)
            }
        }
    }

    @Test func `BibTeX and Markdown are written for any list of books, and an import refuses them by name`() throws {
        try withScan { scan in
            try scan.run(
                "library", "add", "--title", "Salt & {Sea}", "--author", "Bo Sample", "--published", "1999", "--public",
                "--tag", "sea", "--note", "Secret.")
            try scan.run("library", "add", "--title", "Kite", "--status", "read", "--rating", "4")
            try scan.run("library", "add", "--title", "Gone")
            try scan.run("library", "delete", "gone")
            let bibliography = try scan.run("export", "bibtex").out
            #expect(bibliography.contains("@book{Sample1999Salt,\n  author = {Bo Sample},\n"))
            #expect(bibliography.contains("title = {Salt \\& \\textbraceleft{}Sea\\textbraceright{}},"))
            #expect(bibliography.contains("@book{AnonymousKite,") && !bibliography.contains("Gone"))
            let list = try scan.run("export", "markdown").out
            #expect(list.contains("- **Salt \\& {Sea}** by Bo Sample (1999); To Read; sea\n  - Note: Secret.\n"))
            #expect(list.contains("- **Kite**; Read, ★★★★☆\n") && !list.contains("Gone"))
            let forOthers = try scan.run("export", "markdown", "--public").out
            #expect(forOthers == "- **Salt \\& {Sea}** by Bo Sample (1999); To Read; sea\n")
            for (format, what) in [("bibtex", "a BibTeX file"), ("markdown", "a list in Markdown")] {
                let path = scan.home.appendingPathComponent(format).path
                let written = try scan.run("export", format, "--to", path)
                #expect(written.status == 0 && written.err.contains("Wrote 2 books to \(path)"), "\(written.err)")
                #expect(try scan.run("export", format).out == String(contentsOfFile: path, encoding: .utf8))
                let refused = try scan.run("import", path)
                #expect(refused.status == 66 && refused.err.contains("it is \(what)"), "\(refused.err)")
                #expect(try scan.run("export", format, "--json").status == 64)
            }
        }
    }

    @Test func `the timeline is exported in order, as CSV that is safe to open and as JSON, but not for others`() throws
    {
        try withScan { scan in
            try scan.run(
                "library", "add", "--title", "=Dune", "--author", "@Ada", "--pages", "300", "--status", "read",
                "--started", "2026-02-01", "--finished", "2026-02-18")
            let csv = try scan.run("export", "timeline").out
            #expect(csv.contains("'=Dune") && csv.contains("'@Ada") && !csv.contains(",=Dune"))
            let rows = csv.split(whereSeparator: \.isNewline)
            #expect(rows.count == 3 && rows[1].contains("2026-02-01") && rows[2].contains("2026-02-18"), "\(csv)")

            let events = try scan.run("export", "timeline", "--json").objects()
            #expect(events.map { $0["title"] as? String } == ["=Dune", "=Dune"])
            #expect(Set(events[0].keys) == Set(events[1].keys))

            let target = scan.home.appendingPathComponent("timeline.csv").path
            let written = try scan.run("export", "timeline", "--to", target)
            #expect(written.status == 0 && written.out.isEmpty && written.err.contains(target))
            #expect(try String(contentsOfFile: target, encoding: .utf8) == csv)
            #expect(try scan.run("export", "timeline", "--to", target).status == 64)
            #expect(try scan.run("export", "timeline", "--public").status == 64)
            #expect(try scan.run("export", "csv", "--json").status == 64)
        }
    }

    @Test func `an export counts copies, as backup does`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            try scan.run("--isbn", "9780441478125", "--yes", "--another-copy")
            let target = scan.home.appendingPathComponent("library.json").path
            #expect(try scan.run("export", "--to", target).err.contains("Wrote 2 books to \(target)"))
            #expect(try scan.run("backup").err.contains("2 books"))
        }
    }

    @Test func `a file is replaced only with --force, a database never`() throws {
        try withScan { scan in
            try scan.run("import", try file(scan, "export.csv", goodreads))
            let target = try file(scan, "there.json", "old")
            let refused = try scan.run("export", "--to", target)
            #expect(refused.status == 64 && refused.err.contains("--force"))
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "old")
            #expect(try scan.run("export", "--to", target, "--force").status == 0)
            #expect(try String(contentsOfFile: target, encoding: .utf8).hasPrefix("[\n"))
            let onItself = try scan.run("export", "--to", scan.library, "--force")
            #expect(onItself.status == 64 && onItself.err.contains("database"))
            #expect(try scan.run("library", "list", "--json").objects().count == 3)
            let nowhere = try scan.run("export", "--to", scan.home.path + "/no/such/folder")
            #expect(nowhere.status == 74)
            let left = try FileManager.default.contentsOfDirectory(atPath: scan.home.path).filter {
                $0.contains("partial")
            }
            #expect(left.isEmpty)
        }
    }

    @Test func `files of the wrong kind are named, and the others are imported`() throws {
        try withScan { scan in
            let photo = scan.home.appendingPathComponent("photo.csv")
            try Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 0]).write(to: photo)
            let table = try file(scan, "prices.csv", "Name,Price\na,1\n")
            let good = try file(scan, "good.csv", "Title,Author,Exclusive Shelf\nA,B,read\n")
            let ending = try scan.run("import", photo.path, table, scan.home.path, "/no/such/file", good)
            #expect(ending.status == 66)
            #expect(ending.err.contains("a JPEG photo") && ending.err.contains("name, price"))
            #expect(ending.err.contains("it is a folder") && ending.err.contains("No such file"))
            #expect(try scan.run("library", "list", "--json").objects().count == 1)
            #expect(try scan.run("import", scan.library).err.contains("SQLite"))
        }
    }

    @Test func `a truncated file is reported, and its rows are counted`() throws {
        try withScan { scan in
            try scan.run("import", try file(scan, "good.csv", "Title,Author,Exclusive Shelf\nA,B,read\nC,D,read\n"))
            let whole = try scan.run("export").out
            try scan.run("undo", "--yes")
            let ending = try scan.run("import", try file(scan, "cut.json", String(whole.dropLast(2))))
            #expect(ending.status == 66)
            #expect(ending.err.contains("is cut off"))
            #expect(ending.err.contains("2 new") && !ending.err.contains("Nothing was changed"), "\(ending.err)")
        }
    }

    @Test func `another encoding is read`() throws {
        try withScan { scan in
            let path = scan.home.appendingPathComponent("latin.csv")
            let text = "Title,Author,Exclusive Shelf\nL'\u{E9}t\u{E9},Zo\u{EB},read\n"
            try Data(text.unicodeScalars.map { UInt8($0.value) }).write(to: path)
            #expect(try scan.run("import", path.path).status == 0)
            #expect(try scan.run("library", "list", "--json").objects()[0]["title"] as? String == "L'été")
            try #require(text.data(using: .utf16)).write(to: path)
            #expect(try scan.run("import", path.path).err.contains("1 unchanged"))
        }
    }

    @Test func `an import that is killed leaves whole books, and the next run imports the rest`() throws {
        try withScan { scan in
            let rows = (1...3_000).map {
                "\($0),Book \($0),Author \($0 % 50),\"=\"\"\"\"\",\"=\"\"\"\"\",3,100,2023/05/17,2022/01/30,a,read,r,1,1"
            }
            let path = try file(scan, "big.csv", header + "\n" + rows.joined(separator: "\n") + "\n")
            let running = try scan.start(["import", path, "--json"])
            // When the first rows are printed, they are imported, but most are not.
            try waitBlocking(for: "the first rows") { try running.bytesSoFar() > 0 }
            killProgram(below: running.process.processIdentifier)
            _ = try running.wait()
            let whole = try scan.run("export", "csv").out.split(separator: "\r\n").count - 1
            #expect(whole > 0 && whole < 3_000 && whole.isMultiple(of: 500))
            let again = try scan.run("import", path)
            #expect(again.status == 0)
            let books = try scan.run("export", "csv").out.split(separator: "\r\n").count - 1
            #expect(books == 3_000)
        }
    }

    @Test func `an import of one book in two rows is undone`() throws {
        try withScan { scan in
            let path = scan.home.appendingPathComponent("d.csv")
            let header = "Book Id,Title,Author,ISBN,ISBN13,My Rating,Exclusive Shelf\n"
            try Data((header + "11,Dup,Someone,0441172717,,0,to-read\n12,Dup,Someone,0441172717,,0,to-read\n").utf8)
                .write(to: path)
            #expect(try scan.run("import", path.path).err.contains("1 new, 1 merged"))
            let undo = try scan.run("undo", "--yes")
            #expect(undo.status == 0, "\(undo.err)")
            #expect(try scan.run("library", "list", "--json").lines.isEmpty)
            try Data(header.utf8).write(to: path)
            #expect(try scan.run("import", path.path).err.contains("There are no rows"))
        }
    }

    @Test func `an import that is locked out says how many books were imported`() async throws {
        let saved = SavedCount()
        let lock = Lock()
        let stub = StubImport {
            if lock.isHeld.withLock({ $0 }) { throw LibraryError.locked(path: "x") }
            return [ImportResult(row: 2, outcome: .new(ID())), ImportResult(row: 3, outcome: .refused(reason: "r"))]
        }
        let patient = CountedImport(library: PatientImport(library: stub, limit: .zero), saved: saved)
        _ = try await patient.importRows([], at: Date())
        lock.isHeld.withLock { $0 = true }
        let error = await #expect(throws: CommandError.self) { try await patient.importRows([], at: Date()) }
        #expect(error?.status == .locked && error?.description.contains("1 book imported so far") == true)
    }
}

private final class Lock: Sendable {
    let isHeld = Mutex(false)
}

private struct StubImport: BookImport {
    let results: @Sendable () throws -> [ImportResult]

    init(_ results: @escaping @Sendable () throws -> [ImportResult]) { self.results = results }

    func importRows(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] { try results() }
}
