import Bookplate
import FoundationEssentials
import GRDB
import Testing

@testable import Library

@Suite struct `The schema of a library` {
    let folder = Folder()
    var path: String { folder("library.sqlite") }

    /// Creates a library with a book, and lets another program change it.
    private func alter(_ sql: String) async throws {
        let library = try LibraryFile.open(at: path)
        try await library.save(dune, record("Dune"))
        try await library.close()
        let other = try DatabaseQueue(path: path)
        try await other.writeWithoutTransaction { try $0.execute(sql: sql) }
        try other.close()
    }

    private static let signIn = """
        INSERT INTO signIn (uuid, token, device, created, used)
        VALUES ('intruder', zeroblob(32), 'intruder', 1, 9000000000000);
        """

    /// Changes the definition of an object in the file.
    private static func redefine(_ name: String, _ old: String, _ new: String) -> String {
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, '\(old)', '\(new)') WHERE name = '\(name)';
        """
    }

    static let refused: [(what: String, sql: String, named: String)] = [
        (
            "a trigger that signs an intruder in",
            "CREATE TRIGGER evil AFTER INSERT ON edition BEGIN \(signIn) END", "trigger evil is not"
        ),
        ("a view", "CREATE VIEW evil AS SELECT * FROM signIn", "view evil is not"),
        (
            "a trigger with a known name and another text",
            "DROP TRIGGER undo_copy_INSERT; CREATE TRIGGER undo_copy_INSERT AFTER INSERT ON copy BEGIN \(signIn) END",
            "trigger undo_copy_INSERT was altered"
        ),
        (
            "a known trigger on another table",
            """
            DROP TRIGGER outboxKeeps;
            CREATE TRIGGER outboxKeeps BEFORE DELETE ON station BEGIN SELECT RAISE(IGNORE); END
            """,
            "trigger outboxKeeps was altered"
        ),
        (
            "a table as a view",
            "DROP TABLE signIn; CREATE VIEW signIn AS SELECT 1 AS id, '' AS uuid, zeroblob(32) AS token",
            "view signIn is not"
        ),
        (
            "a default value", redefine("setting", "TEXT NOT NULL", "TEXT NOT NULL DEFAULT 1"),
            "table setting was altered"
        ),
        ("a changed check", redefine("accessCode", "hash GLOB", "1 OR hash GLOB"), "table accessCode was altered"),
        ("a generated column", "ALTER TABLE station ADD COLUMN live INTEGER AS (1)", "table station was altered"),
        ("a missing trigger", "DROP TRIGGER undo_copy_UPDATE", "trigger undo_copy_UPDATE is missing"),
        ("a missing table", "DROP TABLE wrongCode", "table wrongCode is missing"),
        (
            "a comment that hides a trigger's end",
            "CREATE TRIGGER \"undo_copy_INSERT --\" AFTER INSERT ON copy BEGIN \(signIn) END", "is not one of"
        ),
    ]

    @Test(arguments: refused)
    func `is refused when it is opened or restored, and the file is left byte for byte`(
        what: String, sql: String, named: String
    ) async throws {
        try await alter(sql)
        let before = try snapshot(folder.path)
        let opening = #expect(throws: LibraryError.self) { try LibraryFile.open(at: path) }
        #expect(opening?.category == .corrupt)
        #expect(opening?.description.contains(named) == true, "\(what): \(opening?.description ?? "")")
        #expect(try snapshot(folder.path) == before)
        let restore = #expect(throws: LibraryError.self) {
            try LibraryFile.restore(from: path, to: folder("new.sqlite"), at: noon)
        }
        guard case .alteredSchema(path, _)? = restore else { throw try #require(restore) }
        #expect(try bytes(of: path) == before["library.sqlite"])
        #expect(!names(in: folder.path).contains { $0.hasPrefix("new.sqlite") })
    }

    @Test(arguments: [
        "type = 'index'", "type = 'table', name = 'searchText_evil', tbl_name = 'searchText_evil'", "type = 'INDEX'",
        "type = 'table', name = 'sqlite_evil'",
    ])
    func `is refused if a trigger pretends to be something else`(disguise: String) async throws {
        try await alter(
            """
            CREATE TRIGGER evil AFTER INSERT ON edition BEGIN \(Self.signIn) END;
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET \(disguise) WHERE name = 'evil';
            """)
        let before = try snapshot(folder.path)
        let error = #expect(throws: LibraryError.self) { try LibraryFile.open(at: path) }
        #expect(error?.category == .corrupt)
        #expect(try snapshot(folder.path) == before)
    }

    @Test func `may contain unknown tables and indexes, which are reported`() async throws {
        try await alter(
            """
            CREATE TABLE bookmark (id INTEGER PRIMARY KEY, page); CREATE INDEX byPage ON bookmark (page);
            CREATE INDEX bySeries ON edition (series); ANALYZE;
            """)
        let library = try LibraryFile.open(at: path)
        #expect(try await library.unknownObjects() == ["index byPage", "index bySeries", "table bookmark"])
        #expect(try await library.find("") == ["Dune"])
        _ = try await library.backup(to: folder("b.sqlite"))
        try await library.close()
        let report = try LibraryFile.restore(from: folder("b.sqlite"), to: path, at: noon)
        #expect(report.unknownObjects == ["index byPage", "index bySeries", "table bookmark"])
        let sound = try LibraryFile.inMemory()
        #expect(try await sound.unknownObjects().isEmpty)
    }

    @Test func `may have other comments and white space in its tables`() async throws {
        try await alter(Self.redefine("setting", "value TEXT", "-- It''s a value.\n\tvalue  /* a text */\nTEXT"))
        #expect(try await LibraryFile.open(at: path).find("") == ["Dune"])
    }

    /// Every process that opens a library would otherwise create another schema to compare it with.
    @Test func `has the hash that the program knows`() async throws {
        let digest = try await LibraryFile.inMemory().read { db in try SchemaCheck(db, path: "").digest }
        #expect(digest == SchemaCheck.newest, "set SchemaCheck.newest to \(digest)")
    }

    @Test(arguments: [
        ("CREATE  TABLE\n t (a -- first\n, b)", "CREATE TABLE t (a , b)"),
        ("'a -- b' \"c  /* d\" `e  f` [g  --h]", "'a -- b' \"c  /* d\" `e  f` [g  --h]"),
        ("'it''s  -- fine' --gone", "'it''s  -- fine'"), ("a/**/b", "a b"), ("a /* open", "a"),
        ("a - - b / * c", "a - - b / * c"),
        ("/* 'x */y'--'", "y'--'"), ("", ""), ("'open  ", "'open  "), ("a\u{0B}b", "a\u{0B}b"), ("a-", "a-"),
    ])
    func `is compared without comments and white space, but with the content of quotes`(sql: String, expected: String) {
        #expect(normalised(sql) == expected)
        #expect(normalised(expected) == expected)
    }
}
