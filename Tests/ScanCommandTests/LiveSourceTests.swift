import FaultServer
import Foundation
import Testing

// Recordings, and sources of metadata.
extension `The live station` {
    @Test func `names a code that is no book, and captures the books that follow`() throws {
        let (product, book) = ("samples/photos/ean13-product.jpg", "samples/photos/frontal.jpg")
        let repeated = [product, book].map { "\($0) \($0) \($0) \($0) \($0)" }.joined(separator: " ")
        try withTerminal("--frames -", redirection: "< <(cat \(repeated))") { scan, terminal in
            try terminal.wait(for: "✕ not a book: 4006381333931")
            try terminal.wait(for: "The Left Hand of Darkness")
            try terminal.wait(for: "[s] save")
            terminal.type("s")
            #expect(try terminal.finish() == 0)
            #expect(try titles(scan) == ["The Left Hand of Darkness"])
        }
    }

    @Test func `ends automatically after a recording without a book, and says so`() throws {
        let product = "samples/photos/ean13-product.jpg"
        try withTerminal("--frames -", redirection: "< <(cat \(product) \(product) \(product))") { _, terminal in
            let status = try terminal.finish()
            #expect(status == 3)
            #expect(terminal.screen.contains("no ISBN was read from standard input"))
        }
    }

    @Test(arguments: ["--device /dev/video0", "--size 640x480", "--format MJPG"])
    func `refuses options that make no sense with frames on standard input`(option: String) throws {
        let scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        let ending = try scan.run(["--frames", "-"] + option.split(separator: " ").map(String.init), input: Data())
        #expect(ending.status == 64)
        #expect(ending.err.contains("--frames -"))
    }

    @Test func `refuses to read frames from a terminal, and says what to do`() throws {
        let scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        let terminal = try PseudoTerminal(scan, "--frames -")
        #expect(try terminal.finish() == 64)
        #expect(terminal.raw.contains("rpicam-vid"))
    }

    /// The second stream is endless.
    @Test(arguments: ["/etc/passwd", "/dev/zero"])
    func `reports that standard input is no picture, and ends`(input: String) throws {
        try withTerminal("--frames -", redirection: "< \(input)") { _, terminal in
            let status = try terminal.finish()
            #expect(status == 66)
            #expect(terminal.isScreenClosed)
            #expect(terminal.raw.components(separatedBy: "\u{1B}[?1049l").last?.contains("scan: ") == true)
        }
    }

    @Test func `asks the sources again on r, and ignores earlier answers`() throws {
        let source = try FaultServer.withoutBooks()
        var scan = try ScanProcess()
        defer { try? scan.remove() }
        scan.ask(source)
        let terminal = try PseudoTerminal(scan, "\(Self.noCamera) --quiet")
        try terminal.wait(for: "no camera")
        terminal.type("9780441013593\n")
        try terminal.wait(for: "no source knows it")
        try terminal.wait(for: "[e] by hand")
        source.on(
            "/api/books",
            .json(
                """
                {"ISBN:9780441013593": {"title": "Dune", "key": "/books/OL1M", "authors": [{"name": "Frank Herbert"}],
                "identifiers": {"isbn_13": ["9780441013593"]}}}
                """))
        terminal.type("r")
        try terminal.wait(for: "1 ticked")
        terminal.type("s")
        try terminal.wait(for: "saved: Dune")
        terminal.type("q")
        #expect(try terminal.finish() == 0)
    }
}
