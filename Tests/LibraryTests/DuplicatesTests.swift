import Bookplate
import FoundationEssentials
import GRDB
import LibraryMaker
import Testing

@testable import Library

@Suite struct `Duplicates in the library` {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func groups(
        _ reasons: [DuplicateGroup.Reason] = DuplicateGroup.Reason.allCases, limit: Int = 99
    ) async throws -> [String] {
        try await library.duplicates(for: Set(reasons), limit: limit).groups.map { group in
            "\(group.reason): "
                + group.books.map { "\($0.displayTitle) \($0.edition.isbn == nil ? "-" : "+")" }
                .joined(separator: ", ")
        }
    }

    /// Opens a generated library, and returns it with all its books.
    private func library(in folder: Folder, copies: Int, seed: UInt64) async throws -> (LibraryFile, [Book]) {
        try await copyMadeLibrary(to: folder("library.sqlite"), copies: copies, seed: seed)
        let made = try LibraryFile.open(at: folder("library.sqlite"))
        var query = BookQuery()
        query.limit = .max
        return (made, try await made.books(matching: query).books)
    }

    private func saveCopies() async throws {
        try await library.save(dune, record("Dune"))
        _ = try await library.add([confirmed(dune, record("Dune"), anotherCopy: true)], at: noon)
    }

    @Test func `are copies of one edition, books that were entered twice, and other editions`() async throws {
        try await saveCopies()
        try await library.save(nil, record("Emma", by: ["Austen, Jane"]))
        try await library.save(isbn(1), record("EMMA: a novel", by: ["Jane Austen"]))
        try await library.save(isbn(2), record("The Odyssey", by: ["Homer"]) { $0.subtitle = "Fagles" })
        try await library.save(isbn(3), record("Odyssey", by: ["Homer"]))
        #expect(
            try await groups() == [
                "enteredTwice: EMMA: a novel +, Emma -", "copies: Dune +, Dune +", "editions: The Odyssey +, Odyssey +",
            ])
        #expect(try await groups([.copies]) == ["copies: Dune +, Dune +"])
        #expect(try await groups(limit: 1) == ["enteredTwice: EMMA: a novel +, Emma -"])
        let counts = try await library.duplicates(for: [], limit: 99)
        #expect(counts == Duplicates(groups: [], counts: [.enteredTwice: 1, .copies: 1, .editions: 1]))
    }

    @Test func `are not books of different authors, volumes of a series, or books in the trash`() async throws {
        try await library.save(nil, record("Poems", by: ["Anne"]))
        try await library.save(nil, record("Poems", by: ["Emily"]))
        try await library.save(nil, record("Poems", by: []))
        for number in ["1", "2"] {
            try await library.save(nil, record("Saga") { ($0.series, $0.seriesNumber) = ("Saga", number) })
        }
        try await saveCopies()
        try await library.save(nil, record("Dune"))
        for book in try await library.books(with: [dune])[dune] ?? [] {
            _ = try await library.trash([book.id], at: noon)
        }
        #expect(try await groups() == [])
        // Of three copies, one in the trash does not count.
        try await library.save(isbn(4), record("Ulysses"))
        for _ in 0..<2 {
            _ = try await library.add([confirmed(isbn(4), record("Ulysses"), anotherCopy: true)], at: noon)
        }
        let copies = try #require(try await library.books(with: [isbn(4)])[isbn(4)])
        _ = try await library.trash([copies[1].id], at: noon)
        #expect(
            try await library.duplicates(for: [.copies], limit: 9).groups.map { $0.books.map(\.id) }
                == [[copies[0].id, copies[2].id]])
    }

    @Test func `are other editions if their work has the same identifier, whatever their titles are`() async throws {
        for (number, title) in ["War and Peace", "Krieg und Frieden"].enumerated() {
            try await library.save(
                isbn(number), record(title, by: [title]) { $0.identifiers = [Metadata.workScheme: ["OL267171W"]] })
        }
        #expect(try await groups() == ["editions: War and Peace +, Krieg und Frieden +"])
    }

    @Test func `begin with the book that has been in the library for longer`() async throws {
        let new = try await library.save(nil, record("Dune"))
        let old = try await library.save(nil, record("dune"), at: noon.addingTimeInterval(-86_400))
        let group = try #require(try await library.duplicates(for: [.enteredTwice], limit: 9).groups.first)
        #expect(group.books.map(\.id) == [old.id, new.id])
    }

    @Test func `that are not the same are never offered again, until undo`() async throws {
        try await saveCopies()
        try await library.save(nil, record("Emma"))
        try await library.save(isbn(1), record("Emma"))
        try await library.save(isbn(2), record("Ulysses"))
        try await library.save(isbn(3), record("Ulysses"))
        let before = try await groups()
        #expect(before.count == 3)
        for group in try await library.duplicates(for: Set(DuplicateGroup.Reason.allCases), limit: 9).groups {
            let ids = group.books.map(\.id)
            #expect(try await library.markDistinct(ids, at: noon) != nil)
            #expect(try await library.markDistinct(ids.reversed(), at: noon) == nil)
        }
        #expect(try await library.duplicates(for: [], limit: 9).counts == [:])
        for _ in before { _ = try await library.undo(try #require(try await library.lastChange()).id, at: noon) }
        #expect(try await groups() == before)
    }

    @Test func `are offered again with a new copy, but not because of a new copy of another edition`() async throws {
        try await saveCopies()
        try await library.save(nil, record("Dune"))
        func mark() async throws {
            for group in try await library.duplicates(for: Set(DuplicateGroup.Reason.allCases), limit: 9).groups {
                _ = try await library.markDistinct(group.books.map(\.id), at: noon)
            }
        }
        try await mark()
        #expect(try await groups() == [])
        _ = try await library.add([confirmed(dune, record("Dune"), anotherCopy: true)], at: noon)
        #expect(try await groups() == ["copies: Dune +, Dune +, Dune +"])
        try await mark()
        #expect(try await groups() == [])
    }

    @Test func `stay not the same after a merge, and are forgotten with a book that is deleted for good`() async throws
    {
        let one = try await library.save(isbn(1), record("Dune"))
        let other = try await library.save(nil, record("Dune"))
        _ = try await library.markDistinct([one.id, other.id], at: noon)
        let namesake = try await library.save(nil, record("Dune") { $0.publisher = "Ace" })
        _ = try await library.merge([other.id], into: namesake.id, MergeOptions(), at: noon)
        #expect(try await groups() == [])
        let merge = try #require(try await library.lastChange())
        _ = try await library.undo(merge.id, at: noon)
        #expect(try await groups() == ["enteredTwice: Dune +, Dune -, Dune -"])
        _ = try await library.redo(merge.id, at: noon)
        #expect(try await groups() == [])
        _ = try await library.trash([one.id], at: noon)
        try await library.purge([one.id])
        let left = try await library.read { db in
            try db.value(
                Int.self,
                """
                SELECT (SELECT count(*) FROM distinctCopy)
                    + (SELECT count(*) FROM changeRow WHERE tableName = 'distinctCopy')
                """)
        }
        #expect(left == 0)
        #expect(try await library.read { db in try db.rows("PRAGMA foreign_key_check").count } == 0)
        try await library.save(nil, record("Dune"))
        #expect(try await groups() == ["enteredTwice: Dune -, Dune -"])
    }

    @Test func `cannot be marked as not the same in the trash`() async throws {
        let one = try await library.save(isbn(1), record("Dune"))
        let other = try await library.save(nil, record("Dune"))
        _ = try await library.trash([other.id], at: noon)
        await #expect(throws: InTrashRefusal.self) { try await library.markDistinct([one.id, other.id], at: noon) }
        await #expect(throws: LibraryError.self) { try await library.markDistinct([one.id, ID()], at: noon) }
        #expect(try await library.markDistinct([one.id, one.id], at: noon) == nil)
    }

    @Test func `of a captured book are found by its work, or by its title and author`() async throws {
        let work = try await library.save(
            isbn(1), record("Krieg und Frieden", by: ["Tolstoi"]) { $0.identifiers = [Metadata.workScheme: ["OL1W"]] })
        let article = try await library.save(isbn(2), record("The War and Peace", by: ["Leo Tolstoy"]))
        let subtitle = try await library.save(nil, record("War and peace: a novel", by: ["Tolstoy, Leo"]))
        let trashed = try await library.save(isbn(3), record("War and Peace", by: ["Leo Tolstoy"]))
        _ = try await library.trash([trashed.id], at: noon)
        try await library.save(isbn(4), record("War and Peace", by: ["Somebody"]))
        try await library.save(isbn(5), record("War and Peaceful", by: ["Leo Tolstoy"]))
        try await library.save(isbn(6), record("War", by: ["Leo Tolstoy"]))

        func found(_ isbn: ISBN? = nil, _ metadata: Metadata) async throws -> [ID<Copy>] {
            try await library.editions(like: metadata, excluding: isbn).map(\.id)
        }
        let record = record("War and Peace", by: ["Leo Tolstoy"]) { $0.identifiers = [Metadata.workScheme: ["OL1W"]] }
        #expect(try await found(nil, record) == [work.id, article.id, subtitle.id])
        #expect(try await found(isbn(2), record) == [work.id, subtitle.id])
        var bare = record
        (bare.identifiers, bare.subtitle) = ([:], "an epic")
        #expect(try await found(nil, bare) == [article.id])
        #expect(try await found(nil, Metadata()) == [])
    }

    @Test func `of a large library are those among all of its editions`() async throws {
        let folder = Folder()
        let (made, books) = try await library(in: folder, copies: 1500, seed: 8)
        let copies = Dictionary(grouping: books, by: \.edition.id)
        let rows = try await made.read { db in
            try db.rows("SELECT uuid FROM edition ORDER BY id").map { $0[0] as String }
        }
        var finder = DuplicateFinder<ID<Edition>>()
        for edition in rows.compactMap({ copies[ID(rawValue: $0)]?.first?.edition }) {
            finder.add(
                edition.id, hasISBN: edition.isbn != nil, copies: copies[edition.id]?.count ?? 0,
                WorkIdentity(edition.metadata), works: edition.metadata.identifiers[Metadata.workScheme] ?? [],
                language: edition.metadata.language, year: edition.metadata.publishedDate.map { "\($0.year)" })
        }
        let found = try await made.duplicates(for: Set(DuplicateGroup.Reason.allCases), limit: .max).groups
        func text(_ reason: DuplicateGroup.Reason, _ editions: [ID<Edition>]) -> String {
            "\(reason) \(Set(editions).map(\.rawValue).sorted())"
        }
        #expect(found.count > 20)
        #expect(
            found.map { text($0.reason, $0.books.map(\.edition.id)) }
                == finder.groups.map { text($0.reason, $0.editions) })
    }

    @Test func `of each book of a large library are those whose works match`() async throws {
        let folder = Folder()
        let (made, books) = try await library(in: folder, copies: 400, seed: 7)
        for book in books.prefix(40) {
            let identity = try #require(WorkIdentity(book.edition.metadata))
            let wanted = books.filter { WorkIdentity($0.edition.metadata)?.matches(identity) == true }
            let found = try await made.editions(like: book.edition.metadata, excluding: nil)
            #expect(Set(found.map(\.id)) == Set(wanted.map(\.id)), "\(book.edition.metadata.title ?? "")")
        }
    }
}
