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

@Suite struct `scan restore with backups that cannot be read` {
    @Test func `says so, and not that there is no backup`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            let backup = try #require(scan.run("backup", "--list", "--json").objects().first?["path"] as? String)
            let newer = (backup as NSString).deletingLastPathComponent + "/library-2099-01-01T000000Z.sqlite"
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: newer))
            let older = try scan.run("restore", "--yes")
            #expect(
                older.status == 0 && older.err.contains("Skipped a newer file: cannot open \(newer)"), "\(older.err)")
            try FileManager.default.removeItem(atPath: backup)
            let none = try scan.run("restore", "--yes")
            #expect(none.status == 65 && none.lines.first?.contains(newer) == true, "\(none.err)")
            #expect(none.err.contains("can be read. The library was not changed."), "\(none.err)")
            let folder = scan.home.path + "/file"
            try Data().write(to: URL(fileURLWithPath: folder))
            var withFile = scan
            withFile.environment["BOOKPLATE_BACKUP_FOLDER"] = folder
            for command in [["restore", "--yes"], ["backup", "--list"]] {
                let failed = try withFile.run(command)
                #expect([74, 77].contains(failed.status) && failed.err.contains(folder), "\(failed.err)")
            }
        }
    }
}

@Suite struct `scan restore after a library was lost` {
    private func library(_ scan: ScanProcess) -> URL { URL(fileURLWithPath: scan.library) }

    private func books(_ scan: ScanProcess) throws -> Int { try scan.run("library", "list", "--json").lines.count }

    private func check(_ name: String, _ scan: ScanProcess) throws -> [String: Any]? {
        try scan.run("doctor", "--seconds", "1", "--device", "/dev/no-such-camera", "--json").objects()
            .first { $0["check"] as? String == name }
    }

    /// Loses the library, which leaves its folder of backups behind.
    private func lose(_ scan: ScanProcess, leaving empty: Bool) throws {
        try FileManager.default.removeItem(at: library(scan))
        if empty { try Data().write(to: library(scan)) }
    }

    @Test(arguments: [false, true])
    func `puts its newest backup in place, whether the file is missing or empty`(isEmpty: Bool) throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            try lose(scan, leaving: isEmpty)
            let found = try #require(try check("library", scan))
            #expect(found["state"] as? String == "attention")
            #expect((found["next"] as? String)?.contains("scan restore") == true, "\(found)")
            let ending = try scan.run("restore", "--yes")
            #expect(ending.status == 0 && ending.err.contains("Restored 1 book "), "\(ending.err)")
            #expect(try books(scan) == 1)
        }
    }

    @Test func `is advised when another library is begun in its place, which keeps the backups`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            let folder = scan.home.path + "/backups"
            let lost = try #require(FileManager.default.contentsOfDirectory(atPath: folder).first)
            try lose(scan, leaving: true)
            let begun = try scan.run("--isbn", "9780140449136", "9780261102385", "--yes")
            #expect(begun.err.contains("a new library was begun"), "\(begun.err)")
            #expect(begun.err.components(separatedBy: "backups of another library").count == 2, "\(begun.err)")
            #expect(begun.err.contains("'scan restore \(lost)'"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).contains(lost))
            #expect(try !scan.run("library", "list").err.contains("another library"))
            // The next day's backup repeats the warning, and so does the doctor.
            try sqlite(scan.library, "DELETE FROM chore WHERE name = 'backup'")
            let later = try scan.run("library", "edit", "9780140449136", "--tag", "sf")
            #expect(later.err.contains("'scan restore \(lost)'"), "\(later.err)")
            let found = try #require(try check("backup", scan))
            #expect(found["state"] as? String == "attention")
            #expect((found["next"] as? String)?.contains("scan restore \(lost)") == true, "\(found)")

            // If the new library is lost too, a person has to choose.
            try lose(scan, leaving: false)
            let asked = try scan.run("restore", "--yes", "--json")
            #expect(asked.status == 64 && asked.err.contains("several libraries"), "\(asked.err)")
            let offered = try asked.objects().compactMap { $0["path"] as? String }
            #expect(offered.contains { $0.hasSuffix("/\(lost)") } && offered.contains { !$0.hasSuffix("/\(lost)") })
            #expect(!FileManager.default.fileExists(atPath: scan.library))
            #expect(try scan.run("restore", lost).status == 0)
            #expect(try scan.run("library", "list", "--json").out.contains("9780441478125"))
            // The backups of the restored library are its own again.
            #expect(try scan.run("restore").lines.count == 1)
        }
    }

    @Test func `prints JSON only with --json`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            try scan.run("backup")
            let asked = try scan.run("restore", "--json")
            #expect(asked.status == 64)
            #expect(try asked.objects().map { $0["books"] as? Int } == [1, 1])
            let report = try scan.run("restore", "--yes", "--json").objects()
            #expect(report.count == 1 && report[0]["path"] as? String == scan.library)
        }
    }

    @Test func `refuses a backup with a foreign trigger, and reports a foreign table`() throws {
        try withScan { scan in
            try scan.run("--isbn", "9780441478125", "--yes")
            let backup = scan.home.path + "/b.sqlite"
            try scan.run("backup", backup)
            try sqlite(backup, "CREATE TABLE bookmark (id INTEGER PRIMARY KEY)")
            let restored = try scan.run("restore", backup)
            #expect(restored.status == 0 && restored.err.contains("table bookmark"), "\(restored.err)")
            let found = try #require(try check("library", scan))
            #expect(found["state"] as? String == "attention")
            #expect((found["fact"] as? String)?.contains("table bookmark") == true, "\(found)")
            try sqlite(backup, "CREATE TRIGGER evil AFTER INSERT ON copy BEGIN DELETE FROM wrongCode; END")
            let refused = try scan.run("restore", backup)
            #expect(refused.status == 65 && refused.err.contains("trigger evil"), "\(refused.err)")
            #expect(try books(scan) == 1)
        }
    }
}

@Suite struct `A library of an earlier version of the program` {
    @Test func `is upgraded by the first command, which says where its backup is`() throws {
        try withScan { scan in
            let folder = ScanProcess.root.path + "/Tests/LibraryTests/OldLibraries"
            for part in 1...4 {
                try sqlite(scan.library, try String(contentsOfFile: "\(folder)/\(part).sql", encoding: .utf8))
            }
            let first = try scan.run("library", "list", "--json")
            #expect(first.status == 0 && first.lines.count == 4)
            #expect(first.err.contains("was upgraded") && first.err.contains("/backups/library-before-update-"))
            #expect(try scan.run("library", "list").err.isEmpty)
        }
    }

    @Test func `is not upgraded if it cannot be backed up`() throws {
        try withScan { scan in
            let folder = ScanProcess.root.path + "/Tests/LibraryTests/OldLibraries"
            try sqlite(scan.library, try String(contentsOfFile: "\(folder)/1.sql", encoding: .utf8))
            try Data("in the way".utf8).write(to: scan.home.appendingPathComponent("backups"))
            let before = try Data(contentsOf: URL(fileURLWithPath: scan.library))
            let refused = try scan.run("library", "list")
            #expect(refused.status == 74 || refused.status == 77)
            #expect(refused.err.contains("cannot upgrade") && refused.err.contains("/backups"), "\(refused.err)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: scan.library)) == before)
        }
    }
}
