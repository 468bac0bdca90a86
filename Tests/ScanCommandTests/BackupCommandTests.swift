import Foundation
import TestTools
import Testing

@Suite struct `Backups` {
    private func backups(_ scan: ScanProcess) -> [String] {
        // The folder does not exist before the first backup.
        ((try? FileManager.default.contentsOfDirectory(atPath: scan.home.path + "/backups")) ?? []).sorted()
    }

    private func fill(_ scan: ScanProcess) throws { try scan.run("--isbn", "9780441478125", "--yes") }

    @Test func `are made by the first change of a day, whichever command makes it, and not by reading`() throws {
        try withScan { scan in
            try scan.run("library", "list")
            try scan.run("--isbn", "9780441478125", "--json")
            #expect(backups(scan).isEmpty)
            let ending = try scan.run("intake", "confirm", "--yes")
            #expect(ending.status == 0)
            #expect(ending.err.contains("backup") == false)
            #expect(backups(scan).count == 1)
            try scan.run("library", "edit", "9780441478125", "--tag", "sf")
            #expect(backups(scan).count == 1)
            // The next day.
            try sqlite(scan.library, "UPDATE chore SET done = done - 1 WHERE name = 'backup'")
            try rename(backups(scan)[0], "library-2020-01-01T000000Z.sqlite", scan)
            try scan.run("library", "list")
            #expect(backups(scan).count == 1)
            try scan.run("undo", "--yes")
            #expect(backups(scan).count == 2)
        }
    }

    private func rename(_ old: String, _ new: String, _ scan: ScanProcess) throws {
        let folder = scan.home.path + "/backups/"
        try FileManager.default.moveItem(atPath: folder + old, toPath: folder + new)
    }

    @Test func `that fail are reported, and the command ends with its own status`() throws {
        try withScan { scan in
            try Data("in the way".utf8).write(to: scan.home.appendingPathComponent("backups"))
            let ending = try scan.run("--isbn", "9780441478125", "--yes")
            #expect(ending.status == 0)
            #expect(ending.err.contains("today's backup was not made"))
            #expect(ending.err.contains("/backups"))
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
        }
    }

    @Test func `go to a second folder if it exists, and its absence is reported`() throws {
        try withScan { scan in
            var scan = scan
            let stick = scan.home.appendingPathComponent("stick")
            scan.environment["BOOKPLATE_BACKUP_FOLDER"] = stick.path
            let without = try scan.run("--isbn", "9780441478125", "--yes")
            #expect(without.status == 0)
            #expect(without.err.contains(stick.path) && without.err.contains("the folder does not exist"))
            #expect(backups(scan).count == 1)
            #expect(try scan.run("backup").status == 74)
            try FileManager.default.createDirectory(at: stick, withIntermediateDirectories: false)
            let with = try scan.run("backup", "--json").objects()
            #expect(with.compactMap { $0["path"] as? String }.count == 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: stick.path).count == 1)
            #expect(try scan.run("backup", "--list", "--json").lines.count == backups(scan).count + 1)
        }
    }

    @Test func `go into the given folder or file`() throws {
        try withScan { scan in
            try fill(scan)
            let folder = scan.home.path + "/usb"
            // The stick that the folder belongs to may not be connected, so the folder is not created.
            for target in [folder + "/", folder + "/my.sqlite", folder + "/deep/my.sqlite"] {
                let refused = try scan.run("backup", target)
                #expect(refused.status == 74 && refused.err.contains("mkdir") && refused.err.contains(folder))
            }
            #expect(!FileManager.default.fileExists(atPath: folder))
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            #expect(try scan.run("backup", folder + "/").status == 0)
            #expect(try scan.run("backup", folder + "/my.sqlite").lines == [folder + "/my.sqlite"])
            #expect(try scan.run("backup", folder).status == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.contains("my.sqlite") && names.count >= 2)
            #expect(try scan.run("backup", folder, folder).status == 64)
            let listed = try scan.run("backup", "--list", folder).out
            #expect(listed.contains("1 book  \(folder)/my.sqlite"))
        }
    }

    @Test(arguments: [false, true])
    func `are not made without a library, and nothing is created`(isEmpty: Bool) throws {
        try withScan { scan in
            if isEmpty { try Data().write(to: URL(fileURLWithPath: scan.library)) }
            let before = try FileManager.default.contentsOfDirectory(atPath: scan.home.path)
            for arguments in [["backup"], ["backup", scan.home.path + "/b.sqlite"], ["backup", "--daily"]] {
                let ending = try scan.run(arguments)
                #expect(ending.status == 3 && ending.err.contains("there is no library yet"), "\(ending.err)")
            }
            let after = try FileManager.default.contentsOfDirectory(atPath: scan.home.path)
            // The test writes the output of each command beside the library.
            let isOutput = { (name: String) in ["in-", "out-", "err-"].contains { name.hasPrefix($0) } }
            #expect(after.filter { !isOutput($0) }.sorted() == before.filter { !isOutput($0) }.sorted())
        }
    }

    @Test func `replace a backup of another library only with --force`() throws {
        try withScan { scan in
            try fill(scan)
            var other = scan
            other.environment["BOOKPLATE_LIBRARY"] = scan.home.path + "/other.sqlite"
            try other.run("--isbn", "9780441478125", "9780140449136", "--yes")
            let target = scan.home.path + "/b.sqlite"
            try other.run("backup", target)
            let refused = try scan.run("backup", target)
            #expect(refused.status == 3 && refused.err.contains("--force"), "\(refused.err)")
            let before = try Data(contentsOf: URL(fileURLWithPath: other.library))
            #expect(try scan.run("backup", other.library).status == 3)
            #expect(try Data(contentsOf: URL(fileURLWithPath: other.library)) == before)
            #expect(try scan.run("backup", target, "--force").status == 0)
            #expect(try scan.run("backup", target).status == 0)
            #expect(try scan.run("backup", "--list", scan.home.path).out.contains("1 book  \(target)"))
        }
    }

    @Test func `that a person makes all stay, and a timer makes one a day`() throws {
        try withScan { scan in
            try fill(scan)
            #expect(try scan.run("backup", "--daily").err.contains("already been made"))
            for _ in 0..<3 { #expect(try scan.run("backup").status == 0) }
            #expect(backups(scan).filter { $0.contains("-manual-") }.count == 3)
            #expect(backups(scan).count == 4)
            try sqlite(scan.library, "DELETE FROM chore WHERE name = 'backup'")
            let daily = try scan.run("backup", "--daily", "--json").objects()
            #expect(daily.count == 1 && daily[0]["books"] as? Int == 1)
            #expect(backups(scan).filter { $0.contains("-manual-") }.count == 3)
            for arguments in [["--daily", "x.sqlite"], ["--daily", "--list"], ["--force"]] {
                #expect(try scan.run(["backup"] + arguments).status == 64)
            }
        }
    }

    @Test func `are listed newest first with date, size and books`() throws {
        try withScan { scan in
            #expect(try scan.run("backup", "--list").err.contains("no backup in \(scan.home.path)/backups"))
            #expect(!FileManager.default.fileExists(atPath: scan.library), "a list creates no library")
            try fill(scan)
            try scan.run("backup", scan.home.path + "/backups/old.sqlite")
            let objects = try scan.run("backup", "--list", "--json").objects()
            #expect(objects.count == 2)
            for object in objects {
                #expect(Set(object.keys) == ["path", "at", "bytes", "books", "problem"])
                #expect(object["books"] as? Int == 1)
                #expect(object["bytes"] as? Int ?? 0 > 4096)
            }
        }
    }

    @Test func `are restored by name, or the newest with --yes`() throws {
        try withScan { scan in
            #expect(try scan.run("restore", "--yes").status == 3)
            try fill(scan)
            let first = try #require(backups(scan).first)
            try rename(first, "library-2020-01-01T000000Z.sqlite", scan)
            try scan.run("--isbn", "9780140449136", "--yes")
            try scan.run("backup")
            try Data("broken".utf8).write(
                to: scan.home.appendingPathComponent("backups/library-2030-01-01T000000Z.sqlite"))

            let asked = try scan.run("restore")
            #expect(asked.status == 64)
            #expect(asked.lines.count == 2 && asked.lines[0].contains("2 books") && asked.lines[1].contains("1 book "))
            #expect(try scan.run("restore", "library-2020-01-01T000000Z").status == 0)
            #expect(try scan.run("library", "list", "--json").lines.count == 1)
            #expect(try scan.run("restore", "--yes").err.contains("Restored 2 books"))
            #expect(try scan.run("library", "list", "--json").lines.count == 2)
            #expect(try scan.run("restore", "no-such-backup").status == 66)
            #expect(try scan.run("restore", "library-2030-01-01T000000Z").status == 65)
            #expect(try scan.run("library", "list", "--json").lines.count == 2)
        }
    }

    @Test func `are offered on a terminal, and nothing is restored without a yes`() throws {
        try withScan { scan in
            try fill(scan)
            try scan.run("library", "delete", "9780441478125")
            for (answer, count) in [("n\n", 0), ("y\n", 1)] {
                let terminal = try PseudoTerminal(scan, "restore", columns: 200)
                try terminal.wait(for: "[y/N]")
                #expect(terminal.screen.contains("1 book"))
                terminal.type(answer)
                #expect(try terminal.finish() == 0)
                #expect(try scan.run("library", "list", "--json").lines.count == count)
            }
        }
    }

    @Test func `that are interrupted leave nothing behind`() throws {
        try withScan { scan in
            try fill(scan)
            // 64 MB, which takes long enough to interrupt.
            try sqlite(
                scan.library,
                """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 64)
                INSERT INTO answer (isbn, outcome, at, content)
                SELECT 9780000000000 + i, 'found', 0, '"' || hex(zeroblob(500000)) || '"' FROM n
                """)
            let stick = scan.home.path + "/stick"
            try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: false)
            func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: stick) }
            for signal in [SIGINT, SIGTERM] {
                let running = try scan.start(["backup", stick])
                try waitBlocking(for: "the file") { try !names().isEmpty || !running.process.isRunning }
                killProgram(below: running.process.processIdentifier, by: signal)
                let ending = try running.wait()
                #expect(ending.status != 0 && ending.err.contains("The unfinished backup was removed"), "\(ending.err)")
                #expect(try names().isEmpty)
            }
            #expect(try scan.run("backup", stick).status == 0)
        }
    }

    @Test func `of commands that run at once are one`() throws {
        try withScan { scan in
            try fill(scan)
            for name in backups(scan) {
                try FileManager.default.removeItem(atPath: scan.home.path + "/backups/" + name)
            }
            try sqlite(scan.library, "DELETE FROM chore WHERE name = 'backup'")
            let running = try ["a", "b", "c", "d"].map {
                try scan.start(["library", "edit", "9780441478125", "--tag", $0])
            }
            for one in running { #expect(try one.wait().status == 0) }
            #expect(backups(scan).count == 1)
        }
    }
}
