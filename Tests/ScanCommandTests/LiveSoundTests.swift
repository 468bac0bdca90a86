import FaultServer
import Foundation
import Testing

extension `The live station` {
    @Test func `plays three different sounds through the first player there is`() throws {
        let source = try FaultServer.withoutBooks()
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        try scan.run("--isbn", "9780441013593", "--yes")
        scan.ask(source)
        let log = try scan.addPlayer()
        let terminal = try PseudoTerminal(scan, Self.noCamera)
        try terminal.wait(for: "no camera")
        terminal.type("9780441478125\n")
        let new = try log.line()
        terminal.type("9780441013593\n")
        let owned = try log.line()
        terminal.type("m")
        try terminal.wait(for: "muted")
        terminal.type("9780547928227\n")
        try terminal.wait(for: "2 ticked")
        terminal.clear()
        terminal.type("m")
        try terminal.wait(for: "Bookplate")
        terminal.type("9783161484100\n")
        #expect(try log.line() == new, "the muted one was not played; this one is taken …")
        let attention = try log.line()
        try terminal.wait(for: "no source knows it")
        #expect(Set([new, owned, attention]).count == 3, "… and then not found")
        #expect(!terminal.raw.contains("\u{07}"))
        terminal.type("q")
        _ = try terminal.finish()
    }

    @Test func `rings the bell over SSH, and is silent with --quiet`() throws {
        var scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        _ = try scan.addPlayer()
        scan.environment["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22"
        for (arguments, rings) in [("", true), ("--quiet", false)] {
            let terminal = try PseudoTerminal(scan, "\(Self.noCamera) \(arguments)")
            try terminal.wait(for: "no camera")
            terminal.type("9780441478125\n")
            try terminal.wait(for: rings ? "\u{07}" : "The Left Hand of Darkness")
            terminal.type("q")
            _ = try terminal.finish()
            #expect(terminal.raw.contains("\u{07}") == rings)
        }
    }
}

/// A pipe into which a stand-in for `pw-play` writes the sum of each sound that it is given.
final class SoundLog {
    private let descriptor: Int32

    init(path: String) throws {
        try #require(mkfifo(path, 0o600) == 0)
        // Open the pipe for reading and writing, so that it never ends and opening it does not wait for a writer.
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    /// The next sound's sum; fails after a minute.
    func line() throws -> String {
        var text: [UInt8] = []
        while text.last != 0x0A {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            try #require(poll(&waiting, 1, 60_000) == 1, "no sound came")
            var byte: UInt8 = 0
            try #require(read(descriptor, &byte, 1) == 1)
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension ScanProcess {
    mutating func addPlayer() throws -> SoundLog {
        let folder = home.appendingPathComponent("bin")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (player, log) = (folder.appendingPathComponent("pw-play"), home.appendingPathComponent("sounds"))
        try Data("#!/bin/sh\ncksum \"$1\" >'\(log.path)'\n".utf8).write(to: player)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: player.path)
        environment["PATH"] = "\(folder.path):/usr/bin:/bin"
        return try SoundLog(path: log.path)
    }
}
