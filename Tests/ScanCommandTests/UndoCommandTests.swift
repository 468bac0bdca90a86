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
}
