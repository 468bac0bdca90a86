import Foundation
import GRDB
import Testing

@Suite(.serialized) struct `The live station` {
    /// The options that make the tests run without a camera on a machine that has one.
    static let noCamera = "--device /dev/no-such-camera"

    static let desk = "< samples/frames/desk-1280x720.mjpeg"

    func withTerminal(
        _ arguments: String = "", redirection: String = "", columns: UInt16 = 80, rows: UInt16 = 24,
        _ body: (ScanProcess, PseudoTerminal) throws -> Void
    ) throws {
        try withScan { scan in
            let arguments = arguments.contains("--frames") ? arguments : "\(Self.noCamera) \(arguments)"
            try body(scan, PseudoTerminal(scan, arguments, redirection: redirection, columns: columns, rows: rows))
        }
    }

    func titles(_ scan: ScanProcess) throws -> [String] {
        try scan.run("library", "list", "--json", "--sort", "title").objects().compactMap { $0["title"] as? String }
    }

    func waiting(_ scan: ScanProcess) throws -> Int { try scan.run("intake", "list", "--json").lines.count }

    @Test func `captures a book from the frames, and the person saves it with one key`() throws {
        try withTerminal("--frames - --shelf Attic", redirection: Self.desk) { scan, terminal in
            try terminal.wait(for: "Pride and prejudice")
            try terminal.wait(for: "[s] save")
            try terminal.wait(for: "the stream ended")
            terminal.type("s")
            // The program ends when everything is answered.
            #expect(try terminal.finish() == 0)
            #expect(terminal.screen.contains("1 saved."))
            #expect(terminal.isRestored && terminal.isScreenClosed)
            let book = try #require(scan.run("library", "list", "--json").objects().first)
            #expect(book["title"] as? String == "Pride and prejudice")
            #expect(book["shelf"] as? String == "Attic")
        }
    }

    @Test func `saves found books with --yes, and undo on the screen takes it back`() throws {
        try withTerminal("--yes") { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "✓ saved")
            try terminal.wait(for: "[u] undo")
            terminal.type("u")
            try terminal.wait(for: "undone")
            terminal.type("9780441013593\n")
            try terminal.wait(for: "saved: Dune")
            terminal.type("q")
            #expect(try terminal.finish() == 4)
            #expect(try titles(scan) == ["Dune"])
            #expect(try waiting(scan) == 1)
        }
    }

    @Test func `works without a camera: a scanner's burst is captured, and its Enter confirms nothing`() throws {
        try withTerminal { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("]E09780441478125\r\n\n9780441013593\r")
            try terminal.wait(for: "2 ticked")
            terminal.type("\n\r")
            terminal.type("054792822X\n")
            try terminal.wait(for: "3 ticked")
            terminal.type("q")
            #expect(try terminal.finish() == 4)
            #expect(terminal.screen.contains("3 books not confirmed. To confirm them, run 'scan intake confirm'."))
            #expect(try titles(scan).isEmpty)
            #expect(try waiting(scan) == 3)
        }
    }

    @Test func `saves all ticked books in one act, and takes back the whole batch`() throws {
        try withTerminal { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n9780441013593\n9783161484100\n")
            try terminal.wait(for: "1 waiting for a source")
            try terminal.wait(for: "[a] save all 2")
            terminal.type("a")
            try terminal.wait(for: "2 books saved")
            #expect(try titles(scan).count == 2)
            terminal.type("U")
            try terminal.wait(for: "undone: 2 books")
            #expect(try titles(scan).isEmpty)
            // A key pressed during an act waits for it.
            terminal.type("aku")
            try terminal.wait(for: "undone: 1 book")
            terminal.type("q")
            #expect(try terminal.finish() == 69, "one waits for a source")
            #expect(try titles(scan).count == 2)
        }
    }

    @Test func `neither drops nor doubles a book that is shown again`() throws {
        try withTerminal { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n9780441478125\n")
            try terminal.wait(for: "again: another copy?")
            try terminal.wait(for: "[a] save all 1")
            terminal.type("a")
            try terminal.wait(for: "✓ saved")
            // Both are looked up, and only books with a title can be saved.
            try terminal.wait(for: "● The Left Hand of Darkness")
            try terminal.wait(for: "[c] another copy")
            terminal.type("c")
            try terminal.wait(for: "2 saved")
            terminal.type("q")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan).count == 2)
        }
    }

    @Test func `says that a book is owned, and removes it from the queue at the end`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441013593", "--yes", "--shelf", "Bedroom 1")
            let terminal = try PseudoTerminal(scan, Self.noCamera)
            try terminal.wait(for: "no camera")
            terminal.type("9780441013593\n")
            try terminal.wait(for: "● OWNED ALREADY")
            try terminal.wait(for: "You have this book: on Bedroom 1")
            try terminal.wait(for: "[c] another copy")
            terminal.type("s")
            try terminal.wait(for: "Press c to add another copy")
            terminal.type("q")
            #expect(try terminal.finish() == 0)
            #expect(terminal.screen.contains("1 already owned"))
            #expect(try titles(scan).count == 1)
            #expect(try waiting(scan) == 0)
        }
    }

    @Test func `refuses what a scanner reads from other codes, and obeys none of its letters`() throws {
        try withTerminal { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "[a] save all 1")
            terminal.type("asin/B00K0IAZ6Y\r")
            try terminal.wait(for: "✕ asin/B00K0IAZ6Y: \"a\" at position 1")
            #expect(try titles(scan).isEmpty)
            terminal.type("a")
            try terminal.wait(for: "✓ saved")
            terminal.type("URN:UUID:6ba7b810\t")
            try terminal.wait(for: "✕ URN:UUID:6ba7b810")
            #expect(try titles(scan) == ["The Left Hand of Darkness"])
            terminal.type("p")
            try terminal.wait(for: "Preset of this batch")
            terminal.type("https://example.org/q?shelf=Attic&tag=quiet\n")
            try terminal.wait(for: "✕ https://example.org/q?shelf=Attic&tag=q…")
            terminal.type("\u{1B}")
            terminal.clear()
            terminal.type("https://example.org/isbn/9780441013593\n")
            try terminal.wait(for: "Dune")
            terminal.type("q")
            #expect(try terminal.finish() == 4)
            let item = try #require(scan.run("intake", "list", "--json").objects().first)
            #expect(item["isbn13"] as? String == "9780441013593")
            #expect(item["origin"] as? String == "scanner")
        }
    }

    @Test func `edits on the screen while a scanner continues`() throws {
        try withTerminal { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("9783161484100\n")
            try terminal.wait(for: "[e] by hand")
            terminal.type("e")
            try terminal.wait(for: "Edit 978-3-16-148410-0")
            terminal.type("By hand\n")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "captured: 978-0-441-47812-5")
            terminal.type("\u{13}")
            try terminal.wait(for: "By hand")
            try terminal.wait(for: "[a] save all 2")
            terminal.type("a")
            try terminal.wait(for: "2 books saved")
            terminal.type("q")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan) == ["By hand", "The Left Hand of Darkness"])
        }
    }

    @Test func `applies a changed preset to waiting and later books`() throws {
        try withTerminal("--tag sf") { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "1 ticked")
            terminal.type("p")
            try terminal.wait(for: "Preset of this batch")
            terminal.type("Attic\n\u{15}novel, space\n \n\n")
            try terminal.wait(for: "Shelf: Attic · Tags: novel, space · Reading · owned")
            terminal.type("9780441013593\n")
            try terminal.wait(for: "[a] save all 2")
            terminal.type("a")
            try terminal.wait(for: "2 books saved")
            terminal.type("q")
            #expect(try terminal.finish() == 0)
            let books = try scan.run("library", "list", "--json").objects()
            #expect(books.map { $0["shelf"] as? String } == ["Attic", "Attic"])
            #expect(books.map { $0["tags"] as? [String] } == [["novel", "space"], ["novel", "space"]])
            #expect(books.map { $0["status"] as? String } == ["reading", "reading"])
        }
    }

    @Test func `reports that the library is locked, keeps the books on the screen, and continues when it can`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441013593", "--yes")
            let terminal = try PseudoTerminal(scan, Self.noCamera)
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "[s] save")
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: scan.library, configuration: configuration)
            try other.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN IMMEDIATE")
                terminal.type("s")
                try terminal.wait(for: "locked")
                terminal.type("9780547928227\n")
                try terminal.wait(for: "1 not on disk yet")
                #expect(!terminal.screen.contains("✓ saved"))
                try db.execute(sql: "ROLLBACK")
            }
            try terminal.wait(for: "[a] save all 2")
            terminal.type("a")
            try terminal.wait(for: "2 books saved")
            terminal.type("q")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan).count == 3)
        }
    }
}
