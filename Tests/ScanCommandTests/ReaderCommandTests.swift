import Foundation
import TestTools
import Testing

@Suite struct `scan reader` {
    @Test func `keeps apart what each reader has read, and shows nothing of it with one reader`() throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune", "--author", "Frank Herbert", "--pages", "382")
            #expect(try scan.run("reader").lines == ["(without a name)"])
            let unnamed = try scan.run("reader", "add", "Anna")
            #expect(unnamed.status == 3 && unnamed.err.contains("the first reader has no name yet"))
            #expect(try scan.run("reader", "add", "Anna", "--first", "Ben").status == 0)
            #expect(try scan.run("reader").lines == ["Ben", "Anna"])

            try scan.run("reading", "start", "dune", "--reader", "anna")
            try scan.run("session", "start", "dune", "--reader", "anna")
            func status(_ options: String...) throws -> String? {
                try scan.run(["library", "show", "dune", "--json"] + options).objects().first?["status"] as? String
            }
            #expect(try status() == "toRead")
            #expect(try status("--reader", "ANNA") == "reading")
            #expect(try scan.run("session", "status", "--json").out.isEmpty)
            var hers = scan
            hers.environment["BOOKPLATE_READER"] = "Anna"
            #expect(try hers.run("session", "status", "--json").objects().count == 1)
            #expect(try hers.run("home").out.contains("Dune"))
            #expect(try !scan.run("home").out.contains("Dune"))

            let unknown = try scan.run("home", "--reader", "Cleo")
            #expect(
                unknown.status == 3 && unknown.err.contains("there is no reader \"Cleo\". The readers are Ben, Anna"))
            #expect(try scan.run("reader", "delete", "Anna").status == 0)
            #expect(try scan.run("reader").lines == ["Ben"])
            #expect(try scan.run("reader", "delete", "Ben").status == 3)
            try scan.run("undo")
            #expect(try hers.run("session", "status", "--json").objects().count == 1)
        }
    }

    @Test(arguments: [true, false])
    func `a deleted reader whom a setting names is no obstacle to bringing the reader back`(isVariable: Bool) throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune")
            try scan.run("reader", "add", "Anna", "--first", "Ben")
            var hers = scan
            if isVariable {
                hers.environment["BOOKPLATE_READER"] = "Anna"
            } else {
                #expect(try scan.run("settings", "set", "reader", "Anna").status == 0)
            }
            #expect(try hers.run("reader", "delete", "Anna").status == 0)
            for arguments in [["home"], ["library", "list"], ["tag", "add", "sf", "dune"]] {
                let refused = try hers.run(arguments)
                #expect(refused.status == 3, "\(arguments): \(refused.err)")
                #expect(
                    refused.err.contains(isVariable ? "change BOOKPLATE_READER" : "run 'scan settings set reader NAME'")
                )
                #expect(refused.err.contains("there is no reader \"Anna\". The readers are Ben. "))
                #expect(refused.err.contains("run 'scan reader restore NAME'"))
            }
            #expect(try hers.run("home", "--reader", "Ben").status == 0)
            let list = try hers.run("undo", "--list")
            #expect(list.status == 0 && list.out.contains("deleted the reader"))
            #expect(list.err.contains("\"Anna\"") && list.err.contains("runs for the first reader"), "\(list.err)")
            #expect(try hers.run("undo").status == 0)
            #expect(try hers.run("home").status == 0)
            #expect(try scan.run("reader").lines == ["Ben", "Anna"])
        }
    }

    @Test func `drops what cannot be seen from a name`() throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune")
            try scan.run("reader", "add", "A\u{200B}n\u{AD}na", "--first", "Ben\u{202E}")
            #expect(try scan.run("reader").lines == ["Ben", "Anna"])
            #expect(try scan.run("reader", "add", "Ben\u{2060}").status == 3, "another reader is called so")
            #expect(try scan.run("home", "--reader", "Be\u{200B}n").status == 0)
        }
    }

    @Test func `imports a file for one reader, and exports what each has`() throws {
        let json = try withScan { scan in
            let path = scan.home.appendingPathComponent("goodreads.csv").path
            let header =
                "Book Id,Title,Author,ISBN,ISBN13,My Rating,Number of Pages,Date Read,Date Added,Bookshelves,Exclusive Shelf,My Review,Read Count,Owned Copies"
            let rows = ["1,Salt,Bo Sample,,,5,,,,,read,Good.,1,1", "2,Kite,Cy Muster,,,0,,,,,to-read,,0,0"]
            try Data(([header] + rows).joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
            try scan.run("library", "add", "--title", "Salt", "--author", "Bo Sample")
            try scan.run("reader", "add", "Anna", "--first", "Ben")
            let before = try scan.run("export").out

            let unknown = try scan.run("import", path, "--reader", "Cleo")
            #expect(unknown.status == 3 && unknown.err.contains("there is no reader \"Cleo\""))
            let dry = try scan.run("import", path, "--reader", "anna", "--dry-run", "--verbose")
            #expect(dry.err.contains("Would be: 1 new, 1 merged, 0 unchanged"))
            #expect(dry.out.contains("\"Salt\" merged: identifiers, rating, status, readings, notes"), "\(dry.out)")
            #expect(try scan.run("export").out == before)
            #expect(try scan.run("import", path, "--reader", "anna").status == 0)
            func rating(_ options: String...) throws -> Double? {
                let books = try scan.run(["library", "list", "--json"] + options).objects()
                return books.first { $0["title"] as? String == "Salt" }?["rating"] as? Double
            }
            #expect(try rating() == nil)
            #expect(try rating("--reader", "anna") == 5)
            #expect(try scan.run("import", path, "--reader", "anna").err.contains("2 unchanged"))
            #expect(try !scan.run("export", "csv").out.contains("Good."))
            #expect(try scan.run("export", "csv", "--reader", "anna").out.contains("Good."))
            let json = try scan.run("export").out
            #expect(json.contains("\"version\":2") && json.contains("\"name\":\"Anna\""))
            #expect(try scan.run("export", "--public").out.contains("\"version\":1"))
            #expect(try scan.run("undo", "--yes").status == 0)
            #expect(try scan.run("export").out == before)
            return json
        }
        try withScan { scan in
            let imported = try scan.run(["import", "-"], input: Data(json.utf8))
            #expect(imported.status == 0, "\(imported.err)")
            #expect(try scan.run("export").out == json)
            #expect(try scan.run("reader").lines == ["Ben", "Anna"])
        }
    }

    @Test func `names and colours readers, each in one change`() throws {
        try withScan { scan in
            try scan.run("library", "add", "--title", "Dune")
            try scan.run("reader", "add", "Anna", "--first", "Ben")
            #expect(try scan.run("reader", "add", "ben").err.contains("another reader is called"))
            try scan.run("reader", "rename", "anna", "Anne")
            try scan.run("reader", "colour", "Anne", "8")
            let readers = try scan.run("reader", "list", "--json").objects()
            #expect(readers.map { $0["name"] as? String } == ["Ben", "Anne"] && readers[1]["colour"] as? Int == 8)
            #expect(try scan.run("reader", "colour", "Anne", "9").status == 64)
            for _ in 0..<3 { try scan.run("undo") }
            #expect(try scan.run("reader").lines == ["(without a name)"])
        }
    }
}
