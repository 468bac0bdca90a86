import Foundation
import Testing

@Suite struct `scan library delete` {
    @Test func `moves books to the trash; restore and undo bring them back`() throws {
        try withTwoBooks { (scan: ScanProcess) throws in
            func titles(_ list: String) throws -> [String] {
                try scan.run("library", list, "--json").objects().compactMap { $0["title"] as? String }.sorted()
            }
            #expect(try scan.run("library", "delete", "dune").status == 0)
            #expect(try titles("list") == ["The Odyssey"])
            #expect(try titles("trash") == ["Dune"])
            #expect(try scan.run("library", "restore", "dune").status == 0)
            #expect(try titles("list") == ["Dune", "The Odyssey"])
            #expect(try titles("trash") == [])
            #expect(try scan.run("library", "delete", "dune", "odyssey").status == 0)
            #expect(try titles("list") == [])
            #expect(try titles("trash") == ["Dune", "The Odyssey"])
            #expect(try scan.run("undo").status == 0)
            #expect(try titles("list") == ["Dune", "The Odyssey"])
            #expect(try titles("trash") == [])
        }
    }
}

@Suite struct `The trash` {
    @Test func `is emptied by hand only with a yes, and its books are then gone`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "9780140449136", "--yes")
            #expect(try scan.run("library", "purge", "9780441478125", "--yes").status == 3, "it is not in the trash")
            try scan.run("library", "delete", "9780441478125", "9780140449136")
            #expect(try scan.run("library", "purge", "9780441478125").status == 64, "there is no terminal to ask on")
            let gone = try scan.run("library", "purge", "9780441478125", "--yes")
            #expect(gone.status == 0 && gone.out.hasSuffix("1 book deleted for good.\n"))
            #expect(try scan.run("library", "trash", "--json").lines.count == 1)
            #expect(try scan.run("library", "restore", "9780441478125").status == 3)
            #expect(try scan.run("undo").status == 0)
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
            #expect(try scan.run("library", "purge", "--all", "--yes").err.contains("trash is empty"))
            #expect(try scan.run("library", "purge").status == 64)
        }
    }
}
