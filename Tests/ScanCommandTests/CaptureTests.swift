import Foundation
import Testing

/// Photos, typed numbers and lines, against the offline index of samples/.
@Suite struct `Capturing books` {
    static let eventKeys: Set = [
        "event", "isbn13", "raw", "kind", "addon", "origin", "image", "title", "source", "reason", "itemId", "copyId",
        "change",
    ]

    @Test func `saves a photographed book with --yes, and reports it only after the commit`()
        throws
    {
        try withScan { scan in
            let photo = ScanProcess.samples.appendingPathComponent("photos/frontal.jpg").path
            let ending = try scan.run("--image", photo, "--yes", "--json", "--shelf", "Attic", "--tag", "sf")
            #expect(try ending.objects().map { $0["event"] as? String } == ["captured", "found", "saved"])
            #expect(try ending.objects().allSatisfy { Set($0.keys) == Self.eventKeys })
            let saved = try #require(ending.events("saved").first)
            #expect(saved["title"] as? String == "The Left Hand of Darkness")
            #expect(saved["isbn13"] as? String == "9780441478125")
            #expect(saved["source"] as? String == "offlineIndex")
            #expect(saved["origin"] as? String == "photo")
            #expect(saved["image"] as? String == photo)
            #expect(ending.status == 0)

            let book = try #require(scan.run("library", "show", "9780441478125", "--json").objects().first)
            #expect(book["id"] as? String == saved["copyId"] as? String)
            #expect(book["shelf"] as? String == "Attic")
            #expect(book["tags"] as? [String] == ["sf"])
            #expect(book["owned"] as? Bool == true)
        }
    }

    @Test func `finds every book of a photo, in reading order`() throws {
        try withScan { scan in
            let photo = ScanProcess.samples.appendingPathComponent("photos/three-books.jpg")
            let answer = try String(
                contentsOf: photo.deletingPathExtension().appendingPathExtension("txt"), encoding: .utf8)
            let expected = answer.split(separator: "\n").map { String($0.split(separator: " ")[1]) }
            let ending = try scan.run("--image", photo.path, "--yes", "--json")
            #expect(try ending.events("captured").map { $0["isbn13"] as? String } == expected)
            #expect(try ending.events("saved").count == 3)
        }
    }

    @Test func `reads a photo from standard input`() throws {
        try withScan { scan in
            let bytes = try Data(contentsOf: ScanProcess.samples.appendingPathComponent("photos/frontal.jpg"))
            let ending = try scan.run("--image", "-", "--yes", "--json", input: bytes)
            #expect(try ending.events("saved").first?["image"] as? String == "-")
            #expect(ending.status == 0)
        }
    }

    @Test func `without a terminal and --yes leaves the candidate in the queue, says so, and ends with 4`() throws {
        try withScan { scan in
            let ending = try scan.run("--isbn", "9780441478125")
            #expect(ending.status == 4)
            #expect(ending.err.contains("stay in the queue"))
            #expect(try scan.run("library", "list", "--json").out.isEmpty)
            let waiting = try scan.run("intake", "list", "--json").objects()
            #expect(waiting.map { $0["title"] as? String } == ["The Left Hand of Darkness"])
            let confirmed = try scan.run("intake", "confirm", "--yes", "--json")
            #expect(try confirmed.events("saved").count == 1)
            #expect(confirmed.status == 0)
            #expect(try scan.run("intake", "list", "--json").out.isEmpty)
        }
    }

    @Test func `never asks with --json`() throws {
        try withScan { scan in
            let ending = try scan.run("--isbn", "9780441478125", "--json")
            #expect(try ending.objects().map { $0["event"] as? String } == ["captured", "found", "queued"])
            #expect(ending.status == 4)
        }
    }

    @Test func `adds a second copy with --yes only if asked to`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            let again = try scan.run("--isbn", "0441478123", "--yes", "--json")
            #expect(try again.events("owned").count == 1)
            #expect(try again.events("saved").isEmpty)
            #expect(try again.events("found").first?["source"] as? String == "library")
            #expect(again.status == 0)
            #expect(try scan.run("intake", "list", "--json").out.isEmpty, "what is owned leaves the queue")
            try scan.run("--isbn", "9780441478125", "--yes", "--another-copy")
            #expect(try scan.run("library", "list", "--json").lines.count == 2)
        }
    }

    @Test func `fulfils a wish, and restores a book from the trash`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes", "--wishlist")
            #expect(try scan.run("library", "list", "--json", "--wishlist").lines.count == 1)
            let bought = try scan.run("--isbn", "9780441478125", "--yes", "--json")
            #expect(
                try bought.events("saved").first?["reason"] as? String
                    == "the book was on the wishlist and is now owned")
            #expect(try scan.run("library", "list", "--json", "--wishlist").lines.isEmpty)

            try scan.run("library", "delete", "9780441478125")
            #expect(try scan.run("library", "list", "--json").lines.isEmpty)
            let back = try scan.run("--isbn", "9780441478125", "--yes", "--json")
            #expect(
                try back.events("saved").first?["reason"] as? String
                    == "the book was in the trash and has been restored")
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
        }
    }

    @Test func `refuses a wrong number with the reason, and continues with the others`() throws {
        try withScan { scan in
            let ending = try scan.run(
                "--stdin", "--yes", "--json", input: Data("9780441478126\r\n]E09780441478125\r\n\r\n".utf8))
            let refused = try #require(ending.events("refused").first)
            #expect((refused["reason"] as? String)?.contains("should be 5, not 6") == true)
            #expect(refused["origin"] as? String == "stdin")
            #expect(try ending.events("saved").count == 1)
            #expect(ending.status == 3)
        }
    }

    @Test(arguments: ["978044147812551299", "]E0978044147812551299", "9780441478125 51299"])
    func `stores the add-on that a handheld scanner sends`(line: String) throws {
        try withScan { scan in
            let ending = try scan.run("--stdin", "--yes", "--json", input: Data("\(line)\n".utf8))
            let saved = try #require(try ending.events("saved").first)
            #expect(saved["isbn13"] as? String == "9780441478125")
            #expect(saved["addon"] as? String == "51299")
        }
    }

    @Test(arguments: [("periodical", "issn"), ("sheet-music", "ismn"), ("upc-product", "upc")])
    func `refuses a code that is no book by its kind`(photo: String, kind: String) throws {
        try withScan { scan in
            let path = ScanProcess.samples.appendingPathComponent("photos/\(photo).jpg").path
            let ending = try scan.run("--image", path, "--yes", "--json")
            let refused = try #require(ending.events("refused").first)
            #expect(refused["kind"] as? String == kind)
            #expect(ending.status == 3)
            #expect(try scan.run("intake", "list", "--json").out.isEmpty)
        }
    }

    @Test func `keeps a book that no source knows in the queue, where it can be entered by hand`() throws {
        try withScan { scan in
            // Offline, and not in the index: no source was asked that could say that there is no such book.
            let ending = try scan.run("--isbn", "9783161484100", "--yes", "--json")
            #expect(try ending.objects().map { $0["event"] as? String } == ["captured", "temporary", "queued"])
            #expect(ending.status == 69)
            #expect(try scan.run("intake", "edit", "9783161484100", "--title", "By hand").status == 0)
            let confirmed = try scan.run("intake", "confirm", "--yes", "--json")
            #expect(try confirmed.events("saved").first?["title"] as? String == "By hand")
            #expect(confirmed.status == 0)
        }
    }

    @Test func `continues after a photo that cannot be read, and ends with 66`() throws {
        try withScan { scan in
            let broken = scan.home.appendingPathComponent("broken.jpg")
            try Data("not a photo".utf8).write(to: broken)
            let photo = ScanProcess.samples.appendingPathComponent("photos/frontal.jpg").path
            let ending = try scan.run("--image", broken.path, "/nowhere/missing.jpg", photo, "--yes", "--json")
            #expect(try ending.events("unreadable").count == 2)
            #expect(try ending.events("saved").count == 1)
            #expect(ending.status == 66)
        }
    }

    /// Writes a program into the home folder, and returns its path.
    private func program(_ lines: String, in scan: ScanProcess) throws -> String {
        let file = scan.home.appendingPathComponent("hook")
        try Data(("#!/bin/sh\n" + lines + "\n").utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        return file.path
    }

    @Test func `runs a program after each save, one after the other, with the book`() throws {
        try withScan { scan in
            let hook = try program("echo printed; echo begin >> log; cat >> log; echo end >> log", in: scan)
            let ending = try scan.run(
                "--isbn", "9780441478125", "9780140449136", "--yes", "--json", "--exec", hook)
            #expect(ending.status == 0, "\(ending.err)")
            #expect(ending.err.components(separatedBy: "printed").count == 3 && !ending.out.contains("printed"))
            let log = try String(contentsOf: scan.home.appendingPathComponent("log"), encoding: .utf8)
            let lines = log.split(separator: "\n").map(String.init)
            #expect(lines.count == 6 && [lines[0], lines[3]] == ["begin", "begin"])
            #expect([lines[2], lines[5]] == ["end", "end"])
            let books = try [lines[1], lines[4]].map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(Set(books.map { $0["isbn13"] as? String }) == ["9780441478125", "9780140449136"])
            let saved = try ending.events("saved").map { $0["copyId"] as? String }
            #expect(Set(books.map { $0["id"] as? String }) == Set(saved))
            // A book that is owned already is not saved.
            #expect(try scan.run("--isbn", "9780441478125", "--yes", "--exec", hook).status == 0)
            #expect(try String(contentsOf: scan.home.appendingPathComponent("log"), encoding: .utf8) == log)
        }
    }

    @Test(arguments: [
        ("exit 3", "ended with exit status 3"), ("kill -9 $$", "was ended by signal 9"),
        ("head -c 2000000 /dev/zero", "printed more than 1 MB"),
    ])
    func `reports a program that fails, and keeps the book`(lines: String, reason: String) throws {
        try withScan { scan in
            let hook = try program(lines, in: scan)
            let ending = try scan.run("--isbn", "9780441478125", "--yes", "--exec", hook)
            #expect(ending.status == 0 && ending.err.components(separatedBy: reason).count == 2, "\(ending.err)")
            #expect(ending.err.contains("is saved."))
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
        }
    }

    @Test(arguments: ["/nowhere/hook", "no-such-program", "/tmp"])
    func `refuses a program that cannot be run, before anything is captured`(program: String) throws {
        try withScan { scan in
            let ending = try scan.run("--isbn", "9780441478125", "--yes", "--exec", program)
            #expect(ending.status == 64 && ending.err.contains("--exec"), "\(ending.err)")
            #expect(try scan.run("intake", "list").out.isEmpty)
            #expect(try scan.run("--hub", "192.0.2.1", "--exec", "true").status == 64)
        }
    }

    @Test func `takes short options`() throws {
        try withScan { scan in
            let ending = try scan.run("-yj", "-s", "Attic", "-t", "sf", "-t", "classic", "--isbn", "9780441478125")
            #expect(try ending.status == 0 && ending.events("saved").count == 1, "\(ending.err)")
            let book = try #require(try scan.run("library", "show", "9780441478125", "-j").objects().first)
            #expect(book["shelf"] as? String == "Attic" && (book["tags"] as? [String])?.sorted() == ["classic", "sf"])
            #expect(try scan.run("undo", "--list", "-n", "1").lines.count == 1)
            #expect(try scan.run("library", "delete", "-y", "9780441478125").status == 0)
        }
    }

    @Test(arguments: [
        ("9780441478125", "To capture it, run 'scan --isbn 9780441478125'."), ("140449264", "'scan --isbn 140449264'."),
        ("9780441478125 0-14-044926-4", "To capture them, run 'scan --isbn 9780441478125 0-14-044926-4'."),
        ("cover.JPG", "run 'scan --image cover.JPG'."), ("/tmp", "run 'scan --image /tmp'."),
        ("libary", "Did you mean 'scan library'?"), ("libary lst", "Did you mean 'scan library list'?"),
        ("libary list --sort title", "Did you mean 'scan library list'?"),
        ("tag lst", "There is no command \"tag lst\". Did you mean 'scan tag list'?"),
        ("session strt dune --page 10", "Did you mean 'scan session start'?"),
        ("kiosk atempts", "Did you mean 'scan kiosk attempts'?"),
        ("hub xyzzyplugh", "Unexpected argument 'xyzzyplugh'"),
        ("/etc/passwd", "run 'scan import /etc/passwd'."),
        ("--json library", "The command must come first: scan library"),
        ("xyzzyplugh", "There is no command \"xyzzyplugh\". To list"),
        ("--taag sf", "Did you mean '--tag'?"), ("library list --shlef Attic", "Did you mean '--shelf'?"),
        ("library list --limit no", "The value 'no' is invalid for '--limit"),
    ])
    func `says what was probably meant by words that are no command`(words: String, advice: String) throws {
        try withScan { scan in
            let ending = try scan.run(words.split(separator: " ").map(String.init))
            #expect(ending.status == 64 && ending.err.contains(advice), "\(ending.err)")
            #expect(!FileManager.default.fileExists(atPath: scan.library))
        }
    }

    @Test(arguments: [
        "140449264", "978014044926651299", "urn:isbn:0140449264", "https://example.org/isbn/9780140449266",
    ])
    func `captures a number in every form in which it is scanned or printed`(text: String) throws {
        try withScan { scan in
            let ending = try scan.run("--stdin", "--json", input: Data("\(text)\n".utf8))
            let event = try #require(ending.events("captured").first)
            #expect(event["isbn13"] as? String == "9780140449266" && event["raw"] as? String == text)
            #expect(event["addon"] as? String == (text.hasSuffix("51299") ? "51299" : nil))
        }
    }

    @Test(arguments: ["skip", "dismiss"]) func `skips a waiting book, also with the older name`(command: String) throws
    {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125")
            let ending = try scan.run("intake", command, "9780441478125")
            #expect(ending.status == 0 && ending.err.contains("1 skipped."))
            #expect(try scan.run("intake", "list").out.isEmpty)
            #expect(try scan.run("intake", "list", "--all").out.contains("[skipped]"))
            let item = try #require(scan.run("intake", "list", "--all", "--json").objects().first)
            #expect(item["state"] as? String == "dismissed")
        }
    }

    @Test func `reports lines that cannot be read, and ends with 66`() throws {
        try withScan { scan in
            // A folder can be opened, but not read.
            let terminal = try PseudoTerminal(scan, "--stdin --yes --json", redirection: "< /")
            #expect(try terminal.finish() == 66)
            #expect(terminal.screen.contains(#""event":"unreadable""#))
            #expect(terminal.screen.contains("cannot read standard input: Is a directory"))
        }
    }

    @Test func `undoes the last save, and the book waits in the queue again`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            let undone = try scan.run("undo")
            #expect(undone.out.contains("The Left Hand of Darkness"))
            #expect(undone.status == 0)
            #expect(try scan.run("library", "list", "--json").lines.isEmpty)
            #expect(try scan.run("intake", "list", "--json").lines.count == 1)
            #expect(try scan.run("undo").status == 3, "nothing is left to undo")
        }
    }

    @Test func `undoes a whole batch at once, however many commits it took`() throws {
        try withScan { scan in
            let numbers = try Data(contentsOf: ScanProcess.samples.appendingPathComponent("isbns.txt"))
            let batch = try scan.run("--stdin", "--yes", "--json", input: numbers)
            #expect(Set(try batch.events("saved").compactMap { $0["change"] as? String }).count == 1)
            #expect(try scan.run("undo").out.contains("and 39 more"))
            #expect(try scan.run("library", "list", "--json").lines.isEmpty)
            #expect(try scan.run("intake", "list", "--json").lines.count == 40)
        }
    }

    @Test func `leaves no write-ahead log when it ends`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            #expect(!FileManager.default.fileExists(atPath: scan.library + "-wal"))
        }
    }

    @Test func `shares one library between processes that capture at the same moment`() throws {
        try withScan { scan in
            let numbers = try Data(contentsOf: ScanProcess.samples.appendingPathComponent("isbns.txt"))
            let running = try (0..<4).map { _ in try scan.start(["--stdin", "--yes", "--json"], input: numbers) }
            let endings = try running.map { try $0.wait() }
            #expect(endings.allSatisfy { $0.status == 0 }, "\(endings.map(\.err))")
            let saved = try endings.flatMap { try $0.events("saved") }.compactMap { $0["isbn13"] as? String }
            let inLibrary = try scan.run("library", "list", "--json", "--limit", "1000").objects()
            #expect(saved.count == inLibrary.count)
            #expect(Set(inLibrary.compactMap { $0["isbn13"] as? String }).count == inLibrary.count, "one copy each")
        }
    }
}
