import Foundation
import TestTools
import Testing

@Suite struct `scan events` {
    /// Starts the command, and waits until it sees changes.
    private func start(_ scan: ScanProcess, _ arguments: String...) throws -> ScanProcess.Running {
        let running = try scan.start(["events"] + arguments)
        try waitBlocking(for: "events to begin") { try running.error().contains("Waiting for changes.") }
        return running
    }

    /// Waits for lines of output, ends the command and returns the lines.
    private func lines(_ count: Int, of running: ScanProcess.Running, _ scan: ScanProcess) throws -> [String] {
        try waitBlocking(for: "\(count) lines") { try running.lines().count >= count }
        killProgram(below: running.process.processIdentifier, by: SIGINT)
        return try running.wait().lines
    }

    @Test func `prints what other programs change, undo and redo`() throws {
        try withTwoBooks { scan in
            let dune = try #require(try scan.run("library", "show", "dune", "--json").objects().first?["id"] as? String)
            let running = try start(scan, "--json")
            try scan.run("reading", "start", "dune")
            try waitBlocking(for: "the start") { try running.lines().count == 1 }
            try scan.run("undo")
            try waitBlocking(for: "the undo") { try running.lines().count == 2 }
            try scan.run("redo")
            try waitBlocking(for: "the redo") { try running.lines().count == 3 }
            try scan.run("library", "edit", "odyssey", "--tag", "classic")
            let printed = try lines(4, of: running, scan)
            let events = try printed.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            for event in events {
                #expect(
                    Set(event.keys) == ["change", "at", "station", "kind", "summary", "undone", "books"], "\(event)")
            }
            #expect(events.map { $0["kind"] as? String } == ["edit", "undo", "redo", "edit"])
            #expect(events.prefix(3).allSatisfy { $0["summary"] as? String == "\"Dune\": Reading" })
            #expect(events.prefix(3).allSatisfy { $0["books"] as? [String] == [dune] })
            #expect(Set(events.prefix(3).map { $0["change"] as? String }).count == 1)
            #expect(events[1]["undone"] is String && events[0]["undone"] is NSNull && events[2]["undone"] is NSNull)
        }
    }

    @Test func `goes on after a change, in text too`() throws {
        try withTwoBooks { scan in
            let first = try #require(try scan.run("undo", "--list", "--json").objects().last?["id"] as? String)
            try scan.run("reading", "start", "dune")
            let running = try start(scan, "--since", String(first.suffix(8)))
            let printed = try lines(2, of: running, scan)
            #expect(printed.count == 2 && printed[0].hasSuffix("saved \"The Odyssey\""), "\(printed)")
            #expect(printed[1].hasSuffix("\"Dune\": Reading"))
            let wrong = try scan.run("events", "--since", "abcd1234")
            #expect(wrong.status == 3 && wrong.err.contains("there is no change"))
        }
    }

    @Test func `does not show one reader the private note of another`() throws {
        try withTwoBooks { scan in
            #expect(try scan.run("reader", "add", "Anna", "--first", "Ben").status == 0)
            let ben = try start(scan, "--json", "--reader", "ben")
            let anna = try start(scan, "--json", "--reader", "anna")
            #expect(try scan.run("note", "add", "dune", "Hush.", "--private", "--reader", "anna").status == 0)
            try scan.run("library", "edit", "dune", "--tag", "sf")
            #expect(try lines(1, of: ben, scan).count == 1)
            #expect(try lines(2, of: anna, scan).count == 2)
        }
    }

    @Test func `needs a library`() throws {
        try withScan { (scan: ScanProcess) throws in
            let ending = try scan.run("events")
            #expect(ending.status == 3 && ending.err.contains("no library yet"), "\(ending.err)")
        }
    }
}
