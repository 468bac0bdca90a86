import Foundation
import Testing

@Suite struct `Tags, shelves and authors on the command line` {
    private func withBooks(_ body: (ScanProcess) throws -> Void) throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune", "--author", "Frank Herbert")
            try scan.run(
                "library", "add", "--title", "Emma", "--author", "Jane Austen", "--author", "F. Herbert:editor")
            try body(scan)
        }
    }

    private func names(_ scan: ScanProcess, _ kind: String) throws -> [String] {
        try scan.run(kind, "list", "--json").objects().map {
            "\($0["name"] as? String ?? "?") \($0["books"] as? Int ?? -1)"
        }
    }

    @Test(arguments: ["tag", "shelf"]) func `are created, added to books, renamed, merged and deleted`(kind: String)
        throws
    {
        try withBooks { scan in
            #expect(try scan.run(kind, "add", "Empty").status == 0)
            #expect(
                try scan.run(kind, "add", "Old", "dune", "emma").out.contains("Added to 2 more books: Old, 2 books"))
            #expect(try names(scan, kind) == ["Empty 0", "Old 2"])
            #expect(try scan.run(kind, "rename", "OLD", "Older", "--json").objects()[0]["name"] as? String == "Older")
            try scan.run(kind, "remove", "older", "emma")
            #expect(try names(scan, kind) == ["Empty 0", "Older 1"])
            #expect(try scan.run(kind, "merge", "older", "--into", "empty").status == 0)
            #expect(try names(scan, kind) == ["Empty 1"])
            #expect(try scan.run(kind, "delete", "empty").out == "Deleted: Empty, removed from 1 book\n")
            #expect(try names(scan, kind).isEmpty)
            #expect(try scan.run("library", "list", "--json").lines.count == 2)
            for _ in 0..<4 { try scan.run("undo") }
            #expect(try names(scan, kind) == ["Empty 0", "Old 2"])
        }
    }

    @Test(arguments: ["tag", "shelf"]) func `a missing one is reported with similar names`(kind: String) throws {
        try withBooks { scan in
            try scan.run(kind, "add", "scifi")
            try scan.run(kind, "add", "sf")
            let missing = try scan.run(kind, "delete", "scfi")
            #expect(missing.status == 3)
            #expect(missing.err == "scan: there is no \(kind) \"scfi\"; similar names: scifi, sf.\n")
            let taken = try scan.run(kind, "rename", "sf", "SciFi")
            #expect(taken.status == 3 && taken.err.contains("scan \(kind) merge \"sf\" --into \"scifi\""))
            #expect(try scan.run(kind, "merge", "sf", "--into", "SF").status == 3)
            #expect(try scan.run(kind, "rename", "sf", "SF").status == 0)
            #expect(try scan.run(kind, "add", " ").err.contains("the \(kind) is empty"))
            #expect(try scan.run(kind, "add", "x", "nobody").status == 3)
            #expect(try names(scan, kind) == ["scifi 0", "SF 0"])
        }
    }

    @Test func `authors are listed with their roles, renamed, merged and deleted`() throws {
        try withBooks { scan in
            let authors = try scan.run("author", "list", "--json").objects()
            #expect(authors.map { $0["name"] as? String } == ["Jane Austen", "F. Herbert", "Frank Herbert"])
            #expect((authors[1]["roles"] as? [String: Int])?["editor"] == 1)
            #expect(try scan.run("author").out.contains("F. Herbert     1 book  (editor of 1)"))
            #expect(try scan.run("author", "rename", "frank herbert", "F. Herbert").err.contains("an author"))
            #expect(try scan.run("author", "merge", "F. Herbert", "--into", "frank herbert").status == 0)
            #expect(try names(scan, "author") == ["Jane Austen 1", "Frank Herbert 2"])
            let sorted = try scan.run("author", "sort", "jane austen", "Zz, Jane")
            #expect(sorted.out.contains("Sorted as \"Zz, Jane\": Jane Austen"))
            #expect(try names(scan, "author") == ["Frank Herbert 2", "Jane Austen 1"])
            let again = try scan.run("author", "sort", "jane austen", "Zz, Jane")
            #expect(again.status == 0 && (again.out + again.err).contains("already the sort name"))
            #expect(try scan.run("author", "rename", "jane austen", "A Lady", "--json").status == 0)
            #expect(try scan.run("author", "delete", "A Lady").status == 0)
            let emma = try scan.run("library", "show", "emma", "--json").objects()[0]
            #expect((emma["authors"] as? [[String: String]])?.map { $0["role"] } == ["editor"])
            #expect(try scan.run("library", "show", "emma").out.contains("Unknown author"))
            #expect(try scan.run("author", "delete", "Hrebert").err.contains("scan author list"))
            for _ in 0..<4 { try scan.run("undo") }
            #expect(try names(scan, "author") == ["Jane Austen 1", "F. Herbert 1", "Frank Herbert 1"])
        }
    }

    @Test func `ask before they are deleted or merged, on a terminal`() throws {
        try withBooks { scan in
            try scan.run("tag", "add", "a", "dune")
            try scan.run("tag", "add", "b")
            for (arguments, question) in [
                ("tag delete a", "Delete the tag \"a\"? The books stay in the library."),
                ("tag merge a --into b", "Merge \"a\" into \"b\"?"),
                ("author delete 'Jane Austen'", "Delete \"Jane Austen\"? The books stay in the library."),
                ("author merge 'F. Herbert' --into 'Frank Herbert'", "Merge \"F. Herbert\" into"),
            ] {
                let terminal = try PseudoTerminal(scan, arguments)
                try terminal.wait(for: question)
                terminal.type("\n")
                #expect(try terminal.finish() == 0)
            }
            #expect(try names(scan, "tag") == ["a 1", "b 0"] && names(scan, "author").count == 3)
            let yes = try PseudoTerminal(scan, "tag delete a --yes")
            #expect(try yes.finish() == 0)
            #expect(try names(scan, "tag") == ["b 0"])
        }
    }
}
