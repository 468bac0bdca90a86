import Bookplate
import FoundationEssentials
import GRDB
import Testing

@testable import Library

/// Tests of opening a library with version 1 of the schema, which had statuses but no readings.
@Suite struct `A library from before the tracker` {
    let folder = Folder()
    let library: LibraryFile

    init() throws {
        let path = folder("library.sqlite")
        let old = try DatabaseQueue(path: path)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 books, intake queue, changes") { db in
            try Schema.createFirstSchema(db)
            try Schema.createUndoTriggers(db)
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 1")
            func change(_ number: Int, _ sql: String, isUndone: Bool = false) throws {
                try db.execute(
                    sql: """
                        INSERT INTO change (id, uuid, at, station, kind, summary, undone)
                        VALUES (\(number), 'change\(number)', \(noon.milliseconds), 's', 'edit', '\(number)',
                            \(isUndone ? "1" : "NULL"));
                        INSERT INTO openChange VALUES (\(number));
                        \(sql);
                        DELETE FROM openChange;
                        """)
            }
            func save(_ number: Int, _ status: String) -> String {
                """
                INSERT INTO edition (id, uuid, title, folded) VALUES (\(number), 'e\(number)', 'Book', 'book');
                INSERT INTO copy (id, uuid, edition, status, added) VALUES (\(number), 'c\(number)', \(number), '\(status)', 1)
                """
            }
            func set(_ number: Int, _ status: String) -> String {
                "UPDATE copy SET status = '\(status)' WHERE id = \(number)"
            }
            try change(1, save(1, "toRead"))
            try change(2, set(1, "reading"))
            try change(3, set(1, "onHold"))
            try change(4, set(1, "dnf"), isUndone: true)
            try db.execute(sql: set(1, "onHold"))
            try change(5, set(1, "read"))
            try change(6, save(2, "read"))
            try change(7, set(2, "toRead"))
            try change(8, save(3, "read"))
        }
        try migrator.migrate(old)
        try old.close()
        library = try LibraryFile.open(at: path)
    }

    /// Returns the status and the readings of a copy, such as `read finished`.
    private func status(_ number: Int) async throws -> String? {
        try await library.book(ID(rawValue: "c\(number)")).map { book in
            ([book.copy.status.rawValue] + book.copy.readings.map(\.state.rawValue)).joined(separator: " ")
        }
    }

    @Test func `undoes earlier changes together with the readings that belong to them`() async throws {
        #expect(try await status(1) == "read finished")
        #expect(try await status(2) == "toRead")
        let first = try await library.book(ID(rawValue: "c1"))?.copy.readings[0].id
        for (number, copy, expected) in [
            (8, 3, nil), (7, 2, "read finished"), (6, 2, nil), (5, 1, "onHold open"), (3, 1, "reading open"),
            (2, 1, "toRead"), (1, 1, nil),
        ] as [(Int, Int, String?)] {
            _ = try await library.undo(ID(rawValue: "change\(number)"), at: noon)
            #expect(try await status(copy) == expected, "after \(number)")
            if number == 5 { #expect(try await library.book(ID(rawValue: "c1"))?.copy.readings[0].id == first) }
            let foreign = try await library.read { db in try db.rows("PRAGMA foreign_key_check").count }
            #expect(foreign == 0)
        }
        #expect(try await library.dump().isEmpty)
    }

    @Test func `refuses to undo a change after later acts of the tracker, and names these`() async throws {
        let id = ID<Copy>(rawValue: "c3")
        let day = try #require(CalendarDay("2026-11-01"))
        let dated = try await library.setDates(DateEdit(finished: .set(day)), of: id, reading: nil, at: noon)
        let refusal = await #expect(throws: UndoRefusal.self) {
            try await library.undo(ID(rawValue: "change8"), at: noon)
        }
        guard case .changedSince(_, let later?) = refusal else { throw try #require(refusal) }
        #expect(later.id == dated.change)
        _ = try await library.undo(later.id, at: noon)
        _ = try await library.undo(ID(rawValue: "change8"), at: noon)
        #expect(try await status(3) == nil)
    }
}
