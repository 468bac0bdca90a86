import Bookplate
import LibraryMaker
import Testing

@testable import Library

@Suite struct MakerTests {
    let folder = Folder()

    @Test func `the same seed makes the same library, another makes another`() async throws {
        var dumps: [[String]] = []
        for (name, seed) in [("a", 1), ("b", 1), ("c", 2)] as [(String, UInt64)] {
            try await makeLibrary(at: folder("\(name).sqlite"), copies: 60, seed: seed, sessions: 120)
            let library = try LibraryFile.open(at: folder("\(name).sqlite"))
            dumps.append(try await library.dump())
            try await library.close()
        }
        #expect(dumps[0] == dumps[1])
        #expect(dumps[0] != dumps[2])
    }

    @Test(arguments: [1, 3])
    func `a generated library is sound and has rows in every table`(readers: Int) async throws {
        try await makeLibrary(at: folder("library.sqlite"), copies: 500, sessions: 1000, readers: readers)
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        let books = try await library.books(matching: BookQuery())
        #expect(books.total > 480 && books.total < 500)
        let counts = try await library.read { db in
            try ["session", "progressEntry", "note", "quote", "reading", "copyTag"].map { table in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0
            } + [try Int.fetchOne(db, sql: "SELECT count(*) FROM pragma_foreign_key_check") ?? 1]
        }
        #expect(counts[0] > 1500 && counts[1] > 1500 && counts[2...5].allSatisfy { $0 > 50 } && counts[6] == 0)
        let most = try await library.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM session GROUP BY reading ORDER BY count(*) DESC") ?? 0
        }
        #expect(most == 1000)
        let statuses = try await library.read { db in
            try Int.fetchAll(
                db, sql: "SELECT count(*) FROM readerCopy WHERE status <> 'toRead' GROUP BY reader ORDER BY reader")
        }
        #expect(statuses.count == readers && statuses.allSatisfy { $0 > 250 })
        try await library.check()
    }
}
