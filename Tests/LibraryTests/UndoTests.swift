import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct UndoTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    /// Each kind of change, made to a library with one book on the shelf, one wish and one in the trash.
    enum Kind: CaseIterable {
        case save, batch, anotherCopy, wishFulfilled, fromTheTrash, fromTheQueue, edit, authors, tags, trash, restore
        case setting, dismissal
    }

    @Test(arguments: Kind.allCases)
    func `undo brings back exactly what was there`(kind: Kind) async throws {
        let owned = try await library.save(
            isbn(1), record("Owned") { $0.subjects = ["S"] }, preset: Preset(shelf: "One", tags: ["a", "b"]))
        try await library.save(isbn(2), record("Wish"), preset: Preset(isWishlist: true))
        let trashed = try await library.save(isbn(3), record("Trashed"))
        _ = try await library.trash([trashed.id], at: noon)
        let candidate = try await library.candidate(isbn(4), record("Candidate", by: ["New", "Frank Herbert"]))
        try await library.set("goal", to: "12", at: noon)
        let before = try await library.dump()

        try await make(kind, owned: owned, trashed: trashed, candidate: candidate)

        let after = try await library.dump()
        #expect(after != before)
        let change = try #require(try await library.lastChange())
        let undone = try await library.undo(change.id, at: noon)
        #expect(undone.undone == noon)
        #expect(try await library.dump() == before)
        await #expect(throws: UndoRefusal.alreadyUndone(undone)) { try await library.undo(change.id, at: noon) }
        #expect(try await library.item(candidate.item.id)?.state == .waiting)
    }

    private func make(_ kind: Kind, owned: Book, trashed: Book, candidate: Candidate) async throws {
        var owned = owned
        switch kind {
        case .save: try await library.save(isbn(5), record("New", by: ["Someone"]), preset: Preset(tags: ["c"]))
        case .batch:
            let batch = try (5..<69).map {
                try confirmed(isbn($0), record("New \($0)", by: ["Someone", "Frank Herbert"]))
            }
            _ = try await library.add(batch + [candidate.confirm(by: .person)], at: noon)
        case .anotherCopy:
            _ = try await library.add(
                [confirmed(isbn(1), record("Owned") { $0.pageCount = 9 }, anotherCopy: true)], at: noon)
        case .wishFulfilled: _ = try await library.add([confirmed(isbn(2), record("Wish"))], at: noon)
        case .fromTheTrash: _ = try await library.add([confirmed(isbn(3), record("Trashed"))], at: noon)
        case .fromTheQueue: _ = try await library.add([candidate.confirm(by: .advance)], at: noon)
        case .edit:
            owned.edition.metadata.title = "Edited"
            owned.edition.isbn = nil
            owned.edition.isbnText = "12-34"
            owned.copy.rating = 5
            _ = try await library.update(owned, at: noon)
        case .authors:
            owned.edition.metadata.authors = [Contributor(name: "X", role: .editor), Contributor(name: "Y")]
            owned.edition.metadata.subjects = []
            owned.edition.metadata.identifiers = ["goodreads": ["1"]]
            _ = try await library.update(owned, at: noon)
        case .tags:
            owned.copy.tags = ["b", "z"]
            owned.copy.shelf = "Two"
            _ = try await library.update(owned, at: noon)
        case .trash: _ = try await library.trash([owned.id], at: noon)
        case .restore: _ = try await library.restore([trashed.id], at: noon)
        case .setting: try await library.set("goal", to: nil, at: noon)
        case .dismissal: _ = try await library.dismiss([candidate.item.id], at: noon)
        }
    }

    @Test func `a save can be done again after it was undone`() async throws {
        let request = try await library.candidate(dune, record("Dune")).confirm(by: .person)
        guard case .saved(let first, let change) = try await library.add([request], at: noon)[0] else {
            throw UndoRefusal.noSuchChange
        }
        _ = try await library.undo(change, at: noon)
        guard case .saved(let second, _) = try await library.add([request], at: noon)[0] else {
            throw UndoRefusal.noSuchChange
        }
        #expect(first != second)
    }

    @Test func `refuses when the row was changed since, and names the later change`() async throws {
        var book = try await library.save(dune, record("Dune"))
        let save = try #require(try await library.lastChange())
        book.copy.rating = 3
        let edit = try await library.update(book, at: noon)
        try await library.save(odyssey, record("The Odyssey", by: ["Homer"]))
        let before = try await library.dump()

        let refusal = await #expect(throws: UndoRefusal.self) { try await library.undo(save.id, at: noon) }
        guard case .changedSince(let change, let later?) = refusal else { throw try #require(refusal) }
        #expect(change == save)
        #expect(later.id == edit)
        #expect(try await library.dump() == before)

        _ = try await library.undo(edit, at: noon)
        _ = try await library.undo(save.id, at: noon)
        #expect(try await library.books(with: [dune]).isEmpty)
    }

    @Test func `refuses to take away a copy that was given a tag since`() async throws {
        var book = try await library.save(dune, record("Dune"))
        let save = try #require(try await library.lastChange())
        book.copy.tags = ["mine"]
        let edit = try await library.update(book, at: noon)
        let refusal = await #expect(throws: UndoRefusal.self) { try await library.undo(save.id, at: noon) }
        guard case .changedSince(_, let later?) = refusal else { throw try #require(refusal) }
        #expect(later.id == edit)
        #expect(try await library.book(book.id) == book)
    }

    @Test func `leaves what later books share`() async throws {
        try await library.save(dune, record("Dune") { $0.identifiers = ["x": ["1"]] }, preset: Preset(tags: ["sf"]))
        let first = try #require(try await library.lastChange())
        _ = try await library.add(
            [
                confirmed(dune, record("Dune"), anotherCopy: true),
                confirmed(isbn(2), record("Dune Messiah"), preset: Preset(tags: ["SF"])),
            ], at: noon)
        let second = try #require(try await library.lastChange())

        _ = try await library.undo(first.id, at: noon)
        let books = try await library.books(with: [dune, isbn(2)])
        #expect(books[dune]?.count == 1)
        #expect(books[dune]?.first?.edition.metadata.identifiers == ["x": ["1"]])
        #expect(books[isbn(2)]?.first?.copy.tags == ["sf"])
        #expect(books[isbn(2)]?.first?.displayAuthors == "Frank Herbert")

        _ = try await library.undo(second.id, at: noon)
        let rest = Set(try await library.dump().map { $0.prefix { $0 != " " } })
        #expect(rest.isSubset(of: ["tag"]))
    }

    @Test func `there is nothing to undo in a new library`() async throws {
        #expect(try await library.lastChange() == nil)
        await #expect(throws: UndoRefusal.noSuchChange) { try await library.undo(ID(), at: noon) }
    }

    @Test(arguments: [1, 2, 3, 5, 8, 13, 21, 34])
    func `any sequence of changes, undone backwards, leaves the library as it was`(seed: UInt64) async throws {
        var random = Numbers(seed: seed)
        try await library.save(isbn(0), record("First"))
        let start = try await library.dump()
        let startCount = try await library.changes(limit: 1000).count
        for _ in 0..<40 { try await step(&random) }

        while try await library.changes(limit: 1000).filter({ $0.undone == nil }).count > startCount {
            let change = try #require(try await library.lastChange())
            _ = try await library.undo(change.id, at: noon)
        }
        #expect(try await library.dump().filter { !$0.hasPrefix("intakeItem") } == start)
        // A capture is no change: what was confirmed or dismissed waits again.
        #expect(try await library.items(in: [.confirmed, .dismissed]).isEmpty)
    }

    @Test(arguments: [4, 6, 9, 10])
    func `changes undone in any order leave a sound library, and what is refused changes nothing`(
        seed: UInt64
    ) async throws {
        var random = Numbers(seed: seed)
        try await library.save(isbn(0), record("First"))
        let start = try await library.dump()
        for _ in 0..<40 { try await step(&random) }
        var refused = 0
        for _ in 0..<60 {
            let before = try await library.dump()
            let changes = try await library.changes(limit: 1000).dropLast()
            guard let change = changes.filter({ $0.undone == nil }).randomElement(using: &random) else { break }
            do {
                _ = try await library.undo(change.id, at: noon)
            } catch is UndoRefusal {
                refused += 1
                #expect(try await library.dump() == before)
            }
            #expect(try await unsound() == 0)
        }
        #expect(refused > 0)

        while let change = try await library.lastChange(), change.summary != "saved \"First\"" {
            _ = try await library.undo(change.id, at: noon)
        }
        // Tags and shelves that a later book shared outlive their change.
        let rest = try await library.dump().filter { row in
            !["intakeItem", "tag", "shelf"].contains { row.hasPrefix($0 + " ") }
        }
        #expect(rest == start)
    }

    /// Rows that refer to nothing, and editions and authors that nothing refers to.
    private func unsound() async throws -> Int {
        try await library.read { db in
            try db.rows("PRAGMA foreign_key_check").count
                + db.rows("SELECT 1 FROM edition WHERE id NOT IN (SELECT edition FROM copy)").count
                + db.rows("SELECT 1 FROM author WHERE id NOT IN (SELECT author FROM editionAuthor)").count
        }
    }

    /// One random change; what is refused changes nothing.
    private func step(_ random: inout Numbers) async throws {
        var query = BookQuery()
        query.inTrash = random.next(3) == 0
        query.limit = 100
        let books = try await library.books(matching: query).books
        let words = ["Zoë", "b'", "東京", "d\"q", "e\\f", "🐛"]
        let preset = Preset(
            shelf: random.next(2) == 0 ? words[random.next(6)] : nil, tags: [words[random.next(6)]],
            isWishlist: random.next(4) == 0)
        switch random.next(6) {
        case 0, 1:
            let batch = try (0...random.next(4)).map { _ in
                try confirmed(
                    random.next(5) == 0 ? nil : isbn(random.next(12)),
                    record(words[random.next(6)], by: [words[random.next(6)], words[random.next(6)]]),
                    preset: preset, anotherCopy: random.next(3) == 0)
            }
            _ = try await library.add(batch, at: noon)
        case 2:
            let candidate = try await library.candidate(isbn(random.next(12)), record("C"), preset: preset)
            if random.next(2) == 0 {
                _ = try await library.dismiss([candidate.item.id], at: noon)
            } else {
                _ = try await library.add([candidate.confirm(by: .person)], at: noon)
            }
        case 3:
            guard var book = books.randomElement(using: &random) else { return }
            book.copy.tags = [words[random.next(6)], words[random.next(6)]]
            book.edition.metadata.authors = [Contributor(name: words[random.next(6)], role: .narrator)]
            book.edition.metadata.title = words[random.next(6)]
            _ = try await library.update(book, at: noon)
        case 4: _ = try await library.trash(books.prefix(random.next(3)).map(\.id), at: noon)
        default: _ = try await library.restore(books.prefix(random.next(3)).map(\.id), at: noon)
        }
    }
}

/// The same numbers for the same seed. Source: SplitMix64, Steele, Lea and Flood 2014.
struct Numbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// 0 to `limit` - 1.
    mutating func next(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
