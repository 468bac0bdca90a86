import Foundation
import Testing

@Suite struct `Undo` {
    private func fill(_ scan: ScanProcess) throws {
        try scan.run("--isbn", "9780441478125", "--yes")
        try scan.run("--isbn", "9780140449136", "--yes")
        try scan.run("library", "edit", "9780140449136", "--tag", "classic")
    }

    @Test func `takes back an earlier change by its id, unless a later one touched the same data`() throws {
        try withScan { scan in
            try fill(scan)
            let list = try scan.run("undo", "--list")
            let ids = list.lines.map { String($0.prefix(8)) }
            #expect(ids.count == 3)
            let first = try scan.run("undo", ids[2])
            #expect(first.status == 0 && first.out.contains("Left Hand"))
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
            let clash = try scan.run("undo", ids[1])
            #expect(clash.status == 3 && clash.err.contains("a later change affected the same data"))
            let again = try scan.run("undo", ids[2])
            #expect(again.status == 3 && again.err.contains("already been undone"))
            #expect(try scan.run("undo", "--list").lines[2].contains("(undone "))
            #expect(try scan.run("undo", "--list", "--limit", "1").lines.count == 1)
            for name in ["ffffffff", "1", "%", ""] { #expect(try scan.run("undo", name).status == 3, "\(name)") }
            #expect(try scan.run("undo", "--list", ids[1]).status == 64)
        }
    }

    @Test func `shows the change with its station on a terminal, and asks first`() throws {
        try withScan { scan in
            try fill(scan)
            for (answer, tags) in [("n\n", 1), ("y\n", 0)] {
                let terminal = try PseudoTerminal(scan, "undo", columns: 200)
                try terminal.wait(for: "Undo this change? [y/N]")
                #expect(terminal.screen.contains(ProcessInfo.processInfo.hostName))
                terminal.type(answer)
                #expect(try terminal.finish() == 0)
                let book = try #require(scan.run("library", "show", "9780140449136", "--json").objects().first)
                #expect((book["tags"] as? [String])?.count == tags)
            }
        }
    }

    @Test func `takes no scanned code for a yes, and asks again`() throws {
        try withScan { scan in
            try fill(scan)
            let terminal = try PseudoTerminal(scan, "undo", columns: 200)
            try terminal.wait(for: "Undo this change? [y/N]")
            terminal.clear()
            terminal.type("youtu.be/dQw4w9WgXcQ\n")
            try terminal.wait(for: "\"youtu.be/dQw4w9WgXcQ\" is neither yes nor no.")
            try terminal.wait(for: "[y/N]")
            terminal.type("no\n")
            #expect(try terminal.finish() == 0)
            let book = try #require(scan.run("library", "show", "9780140449136", "--json").objects().first)
            #expect((book["tags"] as? [String])?.count == 1)
        }
    }

    @Test func `a refused undo names the change that can be undone`() throws {
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

    @Test func `is taken back by redo, the last undo first`() throws {
        try withScan { scan in
            #expect(try scan.run("redo").status == 3)
            try fill(scan)
            let books = try scan.run("library", "list", "--json").out
            for _ in 0..<3 { try scan.run("undo") }
            #expect(try scan.run("library", "list", "--json").lines.isEmpty)
            let list = try scan.run("redo", "--list")
            #expect(list.lines.count == 3 && list.lines[0].contains("Left Hand"))
            #expect(try scan.run("redo", "--list", "--limit", "1", "--json").objects().count == 1)
            let early = try scan.run("redo", String(list.lines[2].prefix(8)))
            #expect(
                early.status == 3 && early.err.contains("run 'scan redo \(list.lines[1].prefix(8))'"), "\(early.err)")
            for number in 0..<3 {
                let redone = try scan.run("redo", "--json")
                let change = try redone.objects()[0]
                #expect(redone.status == 0 && change["undone"] is NSNull, "\(number)")
            }
            #expect(try scan.run("library", "list", "--json").out == books)
            let again = try scan.run("redo")
            #expect(again.status == 3 && again.err.contains("nothing to redo"))
            #expect(try scan.run("redo", String(list.lines[0].prefix(8))).err.contains("has not been undone"))
        }
    }

    /// Commands that would leave everything as it is, each with words of its message.
    static let repeated: [(arguments: [String], message: String)] = [
        (["library", "edit", "dune", "--rating", "4", "--shelf", "Attic"], "\"Dune\" already has these values"),
        (["library", "edit", "dune", "--title", " Dune "], "already has these values"),
        (["tag", "add", "sf", "dune"], "the book already has the tag: sf, 1 book"),
        (["tag", "add", "SF"], "the tag already exists: sf, 1 book"),
        (["tag", "rename", "sf", "sf"], "this is already the name of the tag: sf, 1 book"),
        (["tag", "remove", "sf", "emma"], "none of these books has the tag: sf, 1 book"),
        (["shelf", "add", "attic", "dune"], "the book already stands on the shelf: Attic, 1 book"),
        (["shelf", "rename", "Attic", "Attic"], "this is already the name of the shelf"),
        (["author", "rename", "Jane Austen", "Jane Austen"], "this is already the name of the author"),
        (["note", "edit", "NOTE", "Read it."], "this is what the note already says"),
        (["reading", "start", "dune"], "already Reading"),
        (["session", "edit", "SESSION", "--to-page", "9"], "Nothing changed"),
        (["settings", "set", "yearlyGoal", "12"], "already set"),
        (["settings", "unset", "dailyGoal"], "is not set"),
    ]

    @Test func `is offered only for an act that changed something`() throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune", "--author", "Frank Herbert", "--tag", "sf")
            try scan.run("library", "add", "--title", "Emma", "--author", "Jane Austen")
            try scan.run("library", "edit", "dune", "--rating", "4", "--shelf", "Attic")
            try scan.run("settings", "set", "yearlyGoal", "12")
            try scan.run("reading", "start", "dune")
            try scan.run("note", "add", "dune", "Read it.")
            try scan.run("session", "add", "dune", "--minutes", "9", "--to-page", "9")
            let note = try #require(scan.run("note", "list", "--json").objects()[0]["id"] as? String)
            let session = try #require(scan.run("session", "list", "--json").objects()[0]["id"] as? String)
            let changes = try scan.run("undo", "--list", "--json").out
            for (arguments, message) in Self.repeated {
                let filled = arguments.map { ["NOTE": note, "SESSION": session][$0] ?? $0 }
                let result = try scan.run(filled)
                #expect(result.status == 0 && result.err.contains(message), "\(arguments): \(result)")
                #expect(!result.err.contains("scan undo"), "\(arguments): \(result.err)")
            }
            #expect(try scan.run("undo", "--list", "--json").out == changes)
        }
    }
}
