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
