import Foundation
import Testing

// The full screen and the terminal.
extension `The live station` {
    @Test(arguments: [(SIGINT, "\u{03}"), (SIGTERM, nil), (SIGHUP, nil)] as [(Int32, String?)])
    func `restores the terminal and loses nothing when it is interrupted`(signal: Int32, key: String?) throws {
        try withTerminal { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "1 ticked")
            #expect(!terminal.isScreenClosed)
            if let key { terminal.type(key) } else { try terminal.send(signal) }
            #expect(try terminal.finish() == 128 + signal)
            #expect(terminal.isRestored && terminal.isScreenClosed)
            #expect(terminal.raw.components(separatedBy: "\u{1B}[?1049l").last?.contains("Interrupted") == true)
            #expect(try waiting(scan) == 1)
        }
    }

    @Test func `restores the terminal on Control-Z, and draws everything again`() throws {
        try withTerminal { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "[s] save")
            terminal.clear()
            // No shell could continue it here, so the kernel does not stop it, and it continues at once.
            terminal.type("\u{1A}")
            try terminal.wait(for: "The Left Hand of Darkness")
            #expect(terminal.raw.contains("\u{1B}[?1049l") && terminal.raw.contains("\u{1B}[?1049h"))
            terminal.type("sq")
            #expect(try terminal.finish() == 0)
            #expect(terminal.isRestored)
        }
    }

    @Test func `is not frozen by Control-S`() throws {
        try withTerminal { _, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("\u{13}9780441478125\n")
            try terminal.wait(for: "[s] save")
            terminal.type("sq")
            #expect(try terminal.finish() == 0)
        }
    }

    @Test func `follows the size of the window`() throws {
        try withTerminal { scan, terminal in
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n")
            try terminal.wait(for: "[s] save")
            terminal.clear()
            terminal.resize(columns: 120, rows: 40)
            try terminal.wait(for: "[0-9] number")
            #expect(terminal.screen.contains(String(repeating: "─", count: 120)))
            #expect(terminal.raw.contains("\u{1B}[40;1H"))
            terminal.type("sq")
            #expect(try terminal.finish() == 0)
        }
    }

    @Test func `has no full screen and no escapes without a suitable terminal`() throws {
        try withScan { scan in
            let frames = try Data(contentsOf: ScanProcess.samples.appendingPathComponent("frames/desk-1280x720.mjpeg"))
            let ending = try scan.run("--frames", "-", "--yes", "--json", input: frames)
            #expect(ending.status == 0)
            #expect(try ending.events("saved").count == 1)
            #expect(!ending.out.contains("\u{1B}") && !ending.err.contains("\u{1B}"))
        }
        var dumb = try ScanProcess.offline()
        defer { try? dumb.remove() }
        dumb.environment["TERM"] = "dumb"
        let terminal = try PseudoTerminal(dumb, "--frames -", redirection: Self.desk)
        try terminal.wait(for: "[s] save")
        #expect(!terminal.raw.contains("\u{1B}[?1049h"))
        terminal.type("s")
        #expect(try terminal.finish() == 0)
    }

    @Test(arguments: ["--json", "--yes"])
    func `takes typed numbers as lines where it has no screen`(option: String) throws {
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        scan.environment["TERM"] = "dumb"
        let terminal = try PseudoTerminal(scan, "\(Self.noCamera) \(option)")
        try terminal.wait(for: "Type or scan ISBNs, one per line.")
        terminal.type("9780441478125\n")
        try terminal.wait(for: option == "--json" ? #""event":"queued""# : "✓ saved")
        terminal.type("4006381333931\n")
        try terminal.wait(for: "refused")
        terminal.type("\u{04}")
        #expect(try terminal.finish() == (option == "--json" ? 4 : 3))
        #expect(try titles(scan).count == (option == "--json" ? 0 : 1))
    }

    @Test func `takes typed and scanned numbers at the prompt of a plain terminal`() throws {
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        scan.environment["TERM"] = "dumb"
        let terminal = try PseudoTerminal(scan, Self.noCamera)
        terminal.type("9780441478125\n")
        try terminal.wait(for: "[s] save")
        terminal.type("s")
        try terminal.wait(for: "✓ saved")
        terminal.type("q")
        #expect(try terminal.finish() == 0)
        #expect(try titles(scan) == ["The Left Hand of Darkness"])
    }

    @Test func `shows ASCII shapes if the locale is not UTF-8, and no colour with NO_COLOR`() throws {
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        (scan.environment["LANG"], scan.environment["NO_COLOR"]) = ("C", "1")
        let terminal = try PseudoTerminal(scan, Self.noCamera)
        try terminal.wait(for: "! no camera")
        terminal.type("9780441478125\n")
        try terminal.wait(for: "+ NEW")
        try terminal.wait(for: "[k] skip")
        #expect(terminal.raw.utf8.allSatisfy { $0 < 0x80 } && !terminal.raw.contains(/\u{1B}\[3[0-9]m/))
        terminal.type("kq")
        _ = try terminal.finish()
    }
}

extension PseudoTerminal {
    /// True if a full screen was opened and closed.
    var isScreenClosed: Bool {
        let opened = raw.components(separatedBy: "\u{1B}[?1049h").count
        return opened == raw.components(separatedBy: "\u{1B}[?1049l").count && opened > 1
    }
}
