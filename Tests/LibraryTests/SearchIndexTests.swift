import Bookplate
import FoundationEssentials
import GRDB
import TestTools
import Testing

@testable import Library

/// Tests that the search index is up to date after every write.
@Suite struct SearchIndexTests {
    let folder = Folder()
    let library: LibraryFile

    init() throws { library = try LibraryFile.open(at: folder("library.sqlite")) }

    /// Returns the whole search index.
    private func index() async throws -> [String] {
        try await library.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM listing ORDER BY copy").map(\.description)
                + Row.fetchAll(db, sql: "SELECT rowid, words FROM searchText ORDER BY rowid").map(\.description)
        }
    }

    private func expectInLine(_ comment: Comment? = nil) async throws {
        let now = try await index()
        let stale = try await library.read { db in try db.value(Int.self, "SELECT count(*) FROM searchStale") }
        #expect(stale == 0, comment)
        // This runs FTS5's own check that its word lists agree with its content.
        try await library.write { db in
            try db.execute(sql: "INSERT INTO searchText (searchText) VALUES ('integrity-check')")
        }
        try await library.rebuildSearchIndex()
        let anew = try await index()
        #expect(now == anew, comment)
    }

    /// FTS5 of SQLite 3.44 and later takes part in the check.
    @Test func `another connection's changes are no damage`() async throws {
        _ = try await library.save(dune, record("Dune")).id
        #expect(try await library.find("dune") == ["Dune"])
        try await library.check()
        let other = try LibraryFile.open(at: folder("library.sqlite"))
        while let change = try await other.lastChange() { _ = try await other.undo(change.id, at: noon) }
        try await library.check()
        try await other.close()
    }

    /// Flash cards wear with every page that is written.
    @Test func `a change writes only the part of the index that it concerns`() async throws {
        let library = try LibraryFile.inMemory()
        let book = try await library.save(dune, record("Dune")).id
        try await library.database.write { db in
            try db.execute(
                sql: """
                    CREATE TEMP TABLE written (copy INTEGER);
                    CREATE TEMP TRIGGER writes AFTER INSERT ON main.listing BEGIN INSERT INTO written VALUES (NEW.copy); END
                    """)
        }
        func listed() async throws -> Int {
            try await library.database.write { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM written") ?? 0 }
        }
        func words() async throws -> [String] {
            try await library.read { db in
                try String.fetchAll(db, sql: "SELECT id || quote(block) FROM searchText_data ORDER BY id")
            }
        }
        let before = try await words()
        _ = try await library.add(Note(text: "melange", created: noon), to: book, at: noon)
        #expect(try await listed() == 0)
        #expect(try await library.find("melange") == ["Dune"])
        let noted = try await words()
        #expect(noted != before)
        _ = try await library.update(book, at: noon) { $0.copy.rating = 4 }
        #expect(try await listed() == 1)
        #expect(try await words() == noted)
        _ = try await library.update(book, at: noon) { $0.edition.metadata.title = "Arrakis" }
        #expect(try await library.find("dune").isEmpty)
        #expect(try await library.find("arrakis") == ["Arrakis"])
        _ = try await library.trash([book], at: noon)
        try await library.purge([book])
        #expect(try await library.find("arrakis").isEmpty)
        #expect(try await listed() == 3)
    }

    @Test func `after any acts the index is the same as a rebuilt one`() async throws {
        var random = SplitMix(seed: 11)
        let words = ["Zoë", "b'", "東京", "d\"q", "e\\f", "🐛", "Straße"]
        for round in 0..<12 {
            for _ in 0..<25 { try await act(&random, words) }
            try await expectInLine("round \(round)")
        }
        let kinds = Set(try await library.changes(limit: 1000).map(\.kind))
        #expect(kinds.isSuperset(of: [.save, .edit, .trash, .restore]))
    }

    /// Runs one random act, which is one of the commands or a direct write of a row.
    private func act(_ random: inout SplitMix, _ words: [String]) async throws {
        var query = BookQuery()
        query.inTrash = random.below(4) == 0
        query.limit = 100
        let books = try await library.books(matching: query).books
        let word = words[random.below(words.count)]
        let number = random.below(40)
        switch random.below(9) {
        case 0, 1:
            _ = try await library.add(
                [
                    try confirmed(
                        number < 8 ? nil : isbn(number),
                        record("\(word) \(number)", by: [words[random.below(words.count)]]),
                        preset: Preset(
                            shelf: number < 20 ? word : nil, tags: [words[random.below(words.count)]],
                            status: Copy.Status.allCases[random.below(5)], isWishlist: number.isMultiple(of: 5)),
                        anotherCopy: number.isMultiple(of: 3))
                ], at: noon.addingTimeInterval(Double(number)))
        case 2:
            guard var book = books.first else { return }
            book.copy.rating = Double(1 + number % 20) / 4
            book.copy.tags = [word]
            book.copy.isFavourite.toggle()
            book.edition.metadata.title = number < 5 ? nil : word
            book.edition.metadata.authors = [
                Contributor(name: words[number % words.count], role: number < 20 ? .author : .editor)
            ]
            book.edition.metadata.language = number < 20 ? "en" : nil
            _ = try await library.update(book, at: noon)
        case 3:
            let chosen = books.filter { _ in random.below(3) == 0 }.map(\.id)
            _ =
                query.inTrash
                ? try await library.restore(chosen, at: noon) : try await library.trash(chosen, at: noon)
        case 4:
            if let last = try await library.lastChange() {
                do { _ = try await library.undo(last.id, at: noon) } catch is UndoRefusal {}
            }
        default:
            let acts = [
                "UPDATE author SET name = name || hex(randomblob(4)), folded = 'x' WHERE id = (SELECT max(id) FROM author)",
                "UPDATE tag SET displayName = upper(displayName)",
                "UPDATE edition SET series = 'The Saga' WHERE id % 3 = 0",
                "INSERT INTO note (uuid, copy, kind, text, created) SELECT hex(randomblob(8)), id, 'note', 'Größe ' || id, 1 FROM copy WHERE id % 4 = 0",
                "UPDATE note SET text = 'other' WHERE id % 2 = 0", "DELETE FROM note WHERE id % 3 = 0",
                "INSERT INTO quote (uuid, copy, text, created) SELECT hex(randomblob(8)), id, 'Zitat', 1 FROM copy WHERE id % 5 = 0",
                "DELETE FROM quote WHERE id % 2 = 0", "UPDATE reading SET started = '2024-03', finished = '2024'",
                "UPDATE reading SET state = 'cancelled' WHERE id % 4 = 0", "DELETE FROM copyTag WHERE copy % 3 = 0",
                "UPDATE copy SET shelf = NULL WHERE id % 2 = 0",
                "UPDATE readerCopy SET status = 'toRead' WHERE copy % 7 = 0",
                "UPDATE note SET copy = (SELECT min(id) FROM copy) WHERE id % 5 = 0",
            ]
            let sql = acts[number % acts.count]
            _ = try await library.change(.edit, at: noon) { db, _ in
                try db.execute(sql: sql)
                return ((), "by hand")
            }
        }
    }

    @Test func `emptying the trash empties the index as well`() async throws {
        let book = try await library.save(dune, record("Dune"), preset: Preset(tags: ["sf"]))
        _ = try await library.trash([book.id], at: noon)
        for day in [1.0, 6, 11, 16, 21, 26, 31, 36] {
            try await library.save(isbn(Int(day)), record("Other"), at: noon.addingTimeInterval(day * 86_400))
        }
        #expect(try await library.book(book.id) == nil)
        #expect(try await library.find("dune") { $0.inTrash = true } == [])
        try await expectInLine()
    }

    @Test func `an older library has its index after opening`() async throws {
        try await library.save(dune, record("Dune"), preset: Preset(tags: ["sf"], status: .read))
        let before = try await index()
        try await library.close()
        // The same rows in the tables of version 2, which had no search index.
        let old = try DatabaseQueue(path: folder("old.sqlite"))
        try Schema.migrate(old, upTo: 2)
        try await old.writeWithoutTransaction { [folder] db in
            try db.execute(sql: "ATTACH ? AS new; PRAGMA foreign_keys = OFF", arguments: [folder("library.sqlite")])
            // The first tables had in one what is in two since version 8.
            try db.execute(
                sql: """
                    CREATE TEMP VIEW oneCopy AS SELECT copy.*, own.* FROM new.copy JOIN new.readerCopy own
                        ON own.copy = copy.id
                    """)
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM main.sqlite_schema JOIN new.sqlite_schema USING (type, name)
                    WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name <> 'grdb_migrations'
                    """)
            for table in tables {
                let columns = try db.columns(in: table).map { "\"\($0.name)\"" }.joined(separator: ", ")
                try db.execute(
                    sql: """
                        DELETE FROM main."\(table)";
                        INSERT INTO main."\(table)" (\(columns))
                        SELECT \(columns) FROM \(table == "copy" ? "oneCopy" : "new.\"\(table)\"");
                        """)
            }
        }
        try old.close()
        let opened = try LibraryFile.open(at: folder("old.sqlite"))
        #expect(try await opened.find("dune") == ["Dune"])
        let after = try await opened.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM listing ORDER BY copy").map(\.description)
                + Row.fetchAll(db, sql: "SELECT rowid, words FROM searchText ORDER BY rowid").map(\.description)
        }
        #expect(after == before)
    }

    @Test func `a write that fails leaves neither rows nor index`() async throws {
        struct PowerCut: Error {}
        try await library.save(dune, record("Dune"))
        let before = try await index()
        await #expect(throws: PowerCut.self) {
            try await library.write { db in
                try db.execute(sql: "UPDATE edition SET title = 'Arrakis'")
                throw PowerCut()
            }
        }
        #expect(try await index() == before)
        #expect(try await library.find("arrakis") == [])
    }

    @Test func `another connection's write is visible to this one`() async throws {
        let other = try LibraryFile.open(at: folder("library.sqlite"))
        try await other.save(dune, record("Dune"))
        #expect(try await library.find("dune") == ["Dune"])
    }
}
