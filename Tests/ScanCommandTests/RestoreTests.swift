import Foundation
import Testing

@Suite struct `scan restore beside another library's backups` {
    /// Runs the body with a library of one book, another of two, and a folder with backups of both.
    private func withTwoLibraries(_ body: (ScanProcess, ScanProcess, String) throws -> Void) throws {
        try withScan { scan in
            var (mine, other) = (scan, scan)
            let stick = scan.home.path + "/stick"
            for name in ["stick", "other"] {
                try FileManager.default.createDirectory(
                    atPath: scan.home.path + "/" + name, withIntermediateDirectories: false)
            }
            mine.environment["BOOKPLATE_BACKUP_FOLDER"] = stick
            other.environment["BOOKPLATE_BACKUP_FOLDER"] = stick
            other.environment["BOOKPLATE_LIBRARY"] = scan.home.path + "/other/library.sqlite"
            try mine.run("--isbn", "9780441478125", "--yes")
            try other.run("--isbn", "9780441478125", "9780140449136", "--yes")
            try body(mine, other, stick)
        }
    }

    private func books(_ scan: ScanProcess) throws -> Int { try scan.run("library", "list", "--json").lines.count }

    @Test func `restores its own only, or another's if that is named`() throws {
        try withTwoLibraries { mine, other, stick in
            let all = try FileManager.default.contentsOfDirectory(atPath: stick)
            #expect(all.count == 2)
            try FileManager.default.removeItem(atPath: mine.home.path + "/backups")
            #expect(try mine.run("restore").lines.count == 1)
            let restored = try mine.run("restore", "--yes")
            #expect(restored.status == 0 && restored.err.contains("Restored 1 book "), "\(restored.err)")
            let others = try #require(
                other.run("backup", "--list", "--json").objects()
                    .first { $0["books"] as? Int == 2 && ($0["path"] as? String)?.hasPrefix(stick) == true })
            #expect(try mine.run("restore", try #require(others["path"] as? String)).status == 0)
            #expect(try books(mine) == 2)
            // The library has another's content now, but its backups are still its own.
            #expect(try mine.run("restore", "--yes").status == 0)
            #expect(try books(mine) == 1)
            for name in all { try FileManager.default.removeItem(atPath: stick + "/" + name) }
            try other.run("backup", stick)
            let none = try mine.run("restore", "--yes")
            #expect(none.status == 3 && none.err.contains("only backups of other libraries"), "\(none.err)")
        }
    }

    @Test func `requires a name if the library is damaged and several backups could be its own`() throws {
        try withTwoLibraries { mine, _, stick in
            try FileManager.default.removeItem(atPath: mine.home.path + "/backups")
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: mine.library))
            let asked = try mine.run("restore", "--yes")
            #expect(asked.status == 64 && asked.lines.count == 2, "\(asked.err)")
            #expect(asked.err.contains("several libraries"))
            #expect(asked.err.contains("cannot be read, so its backups are recognised by their names"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: mine.library)) == Data("damaged".utf8))
            let own = try #require(asked.lines.first { $0.contains(" 1 book ") }?.split(separator: " ").last)
            #expect(try mine.run("restore", String(own)).status == 0)
            #expect(try books(mine) == 1)
        }
    }
}
