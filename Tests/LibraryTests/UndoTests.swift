import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct UndoTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    /// The kinds of changes. They are made to a library with one book on a shelf, one book on the wishlist and one book
    /// in the trash.
    enum Kind: CaseIterable {
        case save, batch, anotherCopy, wishFulfilled, fromTheTrash, fromTheQueue, edit, authors, tags, trash, restore
        case setting, skip
    }

    @Test(arguments: Kind.allCases)
    func `undo restores exactly the earlier state`(kind: Kind) async throws {
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

        for _ in 0..<2 {
            #expect(try await library.redoableChanges(limit: 9) == [undone])
            #expect(try await library.redo(change.id, at: noon) == change)
            #expect(try await library.dump() == after)
            await #expect(throws: RedoRefusal.notUndone(change)) { try await library.redo(change.id, at: noon) }
            #expect(try await library.lastChange() == change)
            _ = try await library.undo(change.id, at: noon)
            #expect(try await library.dump() == before)
        }
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
        case .skip: _ = try await library.skip([candidate.item.id], at: noon)
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

    @Test func `refuses if the row was changed since, and names the later change`() async throws {
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

    @Test func `refuses to remove a copy that was tagged since`() async throws {
        var book = try await library.save(dune, record("Dune"))
        let save = try #require(try await library.lastChange())
        book.copy.tags = ["mine"]
        let edit = try await library.update(book, at: noon)
        let refusal = await #expect(throws: UndoRefusal.self) { try await library.undo(save.id, at: noon) }
        guard case .changedSince(_, let later?) = refusal else { throw try #require(refusal) }
        #expect(later.id == edit)
        #expect(try await library.book(book.id) == book)
    }

    @Test func `leaves rows that later books share`() async throws {
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

    @Test func `an act that changes nothing is no change`() async throws {
        let book = try await library.save(
            dune, record("Dune"), preset: Preset(shelf: "Attic", tags: ["sf"]))
        let note = try await library.add(Note(text: "n", created: noon), to: book.id, at: noon).content
        _ = try await library.setStatus(.reading, of: book.id, on: nil, at: noon)
        try await library.set("goal", to: "12", at: noon)
        let item = try await library.candidate(odyssey, record("The Odyssey")).item.id
        _ = try await library.skip([item], at: noon)
        let before = try await library.changes(limit: 100)
        let acts: [@Sendable (LibraryFile) async throws -> ID<Change>?] = [
            { try await $0.update(book.id, at: noon) { $0.edition.metadata.title = " Dune " }.change },
            { try await $0.update([book.id], at: noon) { $0.tags = ["SF"] }.change },
            { try await $0.update([book.id], at: noon) { $0.shelf = " Attic" }.change },
            { try await $0.restore([book.id], at: noon) },
            { try await $0.addLabel(.tag, "sf", to: [book.id], at: noon).change },
            { try await $0.renameLabel(.shelf, "Attic", to: "Attic", at: noon).change },
            { try await $0.renameAuthor("Frank Herbert", to: "Frank Herbert", at: noon).change },
            { try await $0.editNote(note.id, at: noon) { $0.text = " n" }.change },
            { try await $0.setStatus(.reading, of: book.id, on: nil, at: noon).change },
            { try await $0.setDates(DateEdit(started: .clear), of: book.id, reading: nil, at: noon).change },
            { try await $0.set("goal", to: "12", at: noon) },
            { try await $0.skip([item], at: noon) },
        ]
        _ = try await library.setDates(DateEdit(started: .clear), of: book.id, reading: nil, at: noon)
        let start = try await library.changes(limit: 100)
        #expect(start.count == before.count + 1)
        for (number, act) in acts.enumerated() {
            #expect(try await act(library) == nil, "act \(number)")
            #expect(try await library.changes(limit: 100) == start, "act \(number)")
        }
    }

    @Test func `a part of a continued change that changes nothing has no change to undo`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let first = try await library.update([book.id], at: noon) { $0.shelf = "Attic" }.change
        let summaries = try await library.changes(limit: 100)
        #expect(try await library.update([book.id], continuing: first, at: noon) { $0.shelf = "Attic" }.change == nil)
        #expect(try await library.changes(limit: 100) == summaries)
    }
}
