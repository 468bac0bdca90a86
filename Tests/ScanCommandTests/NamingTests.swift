import Bookplate
import Foundation
import Library
import Synchronization
import Testing

@testable import ScanCommand

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

    @Test(arguments: ["*", "", " ", "...", "-\u{2014}"]) func `of signs alone name nothing`(name: String) throws {
        try withBooks { scan in
            let ending = try scan.run("library", "delete", "--", name)
            #expect(ending.status == 64 && ending.err.contains("names no book"), "\(ending.err)")
            #expect(try scan.run("reading", "start", "--", name).status == 64)
            #expect(try scan.run("library", "trash", "--json").lines.isEmpty)
        }
    }

    @Test(arguments: ["c", "journey", "sand", "s", "k", "it k", "ste k"])
    func `are not what was written on a book, nor the beginning of half a word`(name: String) throws {
        try withBooks { scan in
            let ending = try scan.run("library", "delete", name)
            #expect(ending.status != 0 && ending.err.contains("there is no book"), "\(ending.err)")
            #expect(try scan.run("library", "trash", "--json").lines.isEmpty)
        }
    }

    @Test(arguments: [
        ("c++", "C++"), ("it", "It"), ("dune", "Dune"), ("mess", "Dune Messiah"), ("king", "It"),
        ("b stroustrup", "C++"),
        ("ital", "Italy"), ("two twin", "Twin"),
    ]) func `are words of title and authors, and a whole title wins`(name: String, title: String) throws {
        try withBooks { scan in
            let ending = try scan.run("library", "show", name, "--json")
            #expect(try ending.objects().first?["title"] as? String == title, "\(ending.err)")
        }
    }

    @Test func `that fit several list the ends of ids, which are names`() throws {
        try withBooks { scan in
            let ending = try scan.run("library", "delete", "twin")
            #expect(ending.status == 3 && ending.err.contains("fits several books"), "\(ending.err)")
            let ids = ending.err.split(separator: "\n").dropFirst().compactMap { $0.split(separator: " ").first }
            #expect(ids.count == 2)
            let shown = try scan.run("library", "show", String(try #require(ids.first)), "--json").objects()
            #expect(shown.first?["title"] as? String == "Twin")
            let id = try #require(shown.first?["id"] as? String)
            #expect(try scan.run("library", "show", String(id.suffix(6)).uppercased(), "--json").lines.count == 1)
            #expect(try scan.run("library", "show", String(id.suffix(5)), "--json").status != 0)
        }
    }

    @Test func `a search for signs alone finds nothing and says so, a list shows all`() throws {
        try withBooks { scan in
            let ending = try scan.run("library", "search", "*")
            #expect(ending.status == 3 && ending.out.isEmpty && ending.err.contains("no word"), "\(ending.err)")
            #expect(try scan.run("library", "search", " ", "--json").lines.isEmpty)
            #expect(try scan.run("library", "list", "--json").lines.count == 8)
        }
    }
}

@Suite struct `Acts that are refused or held up` {
    @Test func `an undo that is refused says what can be undone`() throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune", "--author", "Frank Herbert")
            try scan.run("library", "edit", "dune", "--rating", "4")
            let changes = try scan.run("undo", "--list", "--json").objects()
            let ids = changes.compactMap { $0["id"] as? String }
            #expect(ids.count == 2)
            let ending = try scan.run("undo", String(ids[1].suffix(8)))
            #expect(ending.status == 3 && ending.err.contains("scan undo \(ids[0].suffix(8))"), "\(ending.err)")
            #expect(ending.err.contains("scan undo --list"))
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

    @Test func `an import that another process keeps out says how many books are in`() async throws {
        let saved = SavedCount()
        let lock = Lock()
        let stub = StubImport {
            if lock.isHeld.withLock({ $0 }) { throw LibraryError.locked(path: "x") }
            return [ImportResult(row: 2, outcome: .new(ID())), ImportResult(row: 3, outcome: .refused(reason: "r"))]
        }
        let patient = PatientImport(library: stub, saved: saved, limit: .zero)
        _ = try await patient.importRows([], at: Date())
        lock.isHeld.withLock { $0 = true }
        let error = await #expect(throws: CommandError.self) { try await patient.importRows([], at: Date()) }
        #expect(error?.status == .locked && error?.description.contains("1 book of the file") == true)
    }

    @Test func `a page of a list as JSON says where the next begins`() throws {
        try withScan { scan in
            for title in ["A One", "B Two", "C Three"] { try scan.run("library", "add", "--title", title) }
            let first = try scan.run("library", "list", "--sort", "title", "--limit", "2", "--json")
            let token = try #require(first.err.split(separator: " ").drop { $0 != "--after" }.dropFirst().first)
            let rest = try scan.run(
                "library", "list", "--sort", "title", "--limit", "2", "--json", "--after", String(token))
            #expect(try rest.objects().map { $0["title"] as? String } == ["C Three"] && rest.err.isEmpty)
        }
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
