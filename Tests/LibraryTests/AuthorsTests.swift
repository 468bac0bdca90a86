import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct AuthorsTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func book(_ number: Int, _ people: [(String, Contributor.Role)]) async throws -> Book {
        try await library.save(
            isbn(number),
            record("Book \(number)") { $0.authors = people.map { Contributor(name: $0.0, role: $0.1) } })
    }

    private func people(_ book: Book) async throws -> [String] {
        try #require(try await library.book(book.id)).edition.metadata.authors.map { "\($0.name), \($0.role)" }
    }

    @Test func `are listed by name with books and roles, and are never merged automatically`() async throws {
        _ = try await book(1, [("J.K. Rowling", .author), ("Jim Kay", .illustrator)])
        _ = try await book(2, [("J. K. Rowling", .author), ("Jim Kay", .author), ("Jim Kay", .illustrator)])
        let gone = try await book(3, [("Gone", .author)])
        _ = try await library.trash([gone.id], at: noon)
        #expect(
            try await library.authors() == [
                Author(name: "Jim Kay", books: 2, roles: [.author: 1, .illustrator: 2]),
                Author(name: "J. K. Rowling", books: 1, roles: [.author: 1]),
                Author(name: "J.K. Rowling", books: 1, roles: [.author: 1]),
            ])
    }

    @Test func `a new name is on all books, with the same positions and roles`() async throws {
        let one = try await book(1, [("Ada", .author), ("JRR Tolkien", .editor)])
        let two = try await book(2, [("JRR Tolkien", .author)])
        let before = try await library.dump()
        let done = try await library.renameAuthor("jrr tolkien", to: " J. R. R.\nTolkien", at: noon)
        let change = try #require(try await library.lastChange())
        #expect(
            done
                == AuthorChange(
                    author: Author(name: "J. R. R. Tolkien", books: 2, roles: [.author: 1, .editor: 1]),
                    changedBooks: 2, change: change.id))
        #expect(try await people(one) == ["Ada, author", "J. R. R. Tolkien, editor"])
        #expect(try await library.find("j. r. r. tolkien") == ["Book 1", "Book 2"])
        for book in [one, two] {
            let edition = try #require(try await library.book(book.id)).edition
            #expect(edition.editedFields == [.authors] && edition.metadata.sources[.authors] == .person)
            #expect(edition.metadata.sources[.title] == .openLibrary)
        }
        #expect(change.summary == "renamed the author \"JRR Tolkien\" to \"J. R. R. Tolkien\" on 2 books")
        _ = try await library.undo(change.id, at: noon)
        #expect(try await library.dump() == before)
    }

    @Test func `no source overwrites a person's edit of an author`() async throws {
        _ = try await book(1, [("JRR Tolkien", .author)])
        _ = try await library.renameAuthor("JRR Tolkien", to: "J. R. R. Tolkien", at: noon)
        let again = try await library.candidate(isbn(1), record("Book 1", by: ["JRR Tolkien", "Someone"]))
        let saved = try await library.add([again.confirm(by: .person, anotherCopy: true)], at: noon)
        #expect(saved.count == 1)
        let books = try await library.books(with: [isbn(1)])[isbn(1)]
        #expect(books?.count == 2 && books?.allSatisfy { $0.displayAuthors == "J. R. R. Tolkien" } == true)
        // A source does not even fill the gap that a deleted author has left.
        _ = try await library.deleteAuthors(["J. R. R. Tolkien"], at: noon)
        let third = try await library.candidate(isbn(1), record("Book 1", by: ["JRR Tolkien"]))
        _ = try await library.add([third.confirm(by: .person, anotherCopy: true)], at: noon)
        let after = try await library.books(with: [isbn(1)])[isbn(1)]
        #expect(after?.count == 3 && after?.allSatisfy { $0.edition.metadata.authors.isEmpty } == true)
    }

    @Test func `a corrected sort name stays, and can be undone`() async throws {
        _ = try await book(1, [("Gabriel García Márquez", .author)])
        let derived = try #require(try await library.authors().first)
        #expect(derived.sortName == "Márquez, Gabriel García" && derived.correctedSortName == nil)
        let before = try await library.dump()
        let done = try await library.setSortName(
            of: "gabriel garcia marquez", to: " García Márquez,\nGabriel ", at: noon)
        #expect(done.author.sortName == "García Márquez, Gabriel" && done.changedBooks == 1)
        let again = try await library.setSortName(
            of: "Gabriel García Márquez", to: "García Márquez, Gabriel", at: noon)
        #expect(again.change == nil && again.changedBooks == 0)
        // Neither another book nor a new spelling of the name changes it.
        _ = try await book(2, [("Gabriel García Márquez", .author)])
        _ = try await library.renameAuthor("Gabriel García Márquez", to: "Gabriel Garcia Marquez", at: noon)
        #expect(try await library.authors().map(\.sortName) == ["García Márquez, Gabriel"])
        for _ in 0..<2 {
            _ = try await library.undo(try #require(try await library.lastChange()).id, at: noon)
        }
        let change = try #require(done.change)
        _ = try await library.undo(change, at: noon)
        #expect(try await library.dump() == before)
        await #expect(throws: TextRefusal.empty(what: "sort name")) {
            try await library.setSortName(of: "Gabriel García Márquez", to: " ", at: noon)
        }
        _ = try await library.redo(change, at: noon)
        _ = try await library.setSortName(of: "Gabriel García Márquez", to: nil, at: noon)
        #expect(try await library.authors().map(\.sortName) == ["Márquez, Gabriel García"])
    }

    @Test func `several are merged into one, with their positions and roles, once in each role`() async throws {
        let one = try await book(1, [("A", .author), ("B", .author), ("C", .translator), ("A", .editor)])
        let two = try await book(2, [("Z", .author), ("B", .author)])
        let three = try await book(3, [("C", .translator), ("A", .translator)])
        _ = try await library.trash([three.id], at: noon)
        let before = try await library.dump()
        let done = try await library.mergeAuthors(["B", "C", "b"], into: "A", at: noon)
        #expect(done.author == Author(name: "A", books: 2, roles: [.author: 2, .translator: 1, .editor: 1]))
        #expect(try await people(one) == ["A, author", "A, translator", "A, editor"])
        #expect(try await people(two) == ["Z, author", "A, author"])
        #expect(try await people(three) == ["A, translator"])
        #expect(try await library.authors().map(\.name) == ["A", "Z"])
        // After the merge, the book can be edited like any other book.
        _ = try await library.update(one.id, at: noon) { $0.edition.metadata.authors.append(Contributor(name: "New")) }
        #expect(try await people(one).last == "New, author")
        for _ in 0..<2 {
            let change = try #require(try await library.lastChange())
            _ = try await library.undo(change.id, at: noon)
        }
        #expect(try await library.dump() == before)
    }

    @Test func `the books of a deleted author stay, without an author`() async throws {
        let one = try await book(1, [("Penguin", .author)])
        let two = try await book(2, [("Penguin", .author), ("Ada", .author)])
        let before = try await library.dump()
        let gone = try await library.deleteAuthors(["penguin"], at: noon)
        #expect(gone.map(\.author) == [Author(name: "Penguin", books: 2, roles: [.author: 2])])
        let stored = try #require(try await library.book(one.id))
        #expect(stored.displayAuthors == "Unknown author" && stored.edition.metadata.authors.isEmpty)
        #expect(stored.edition.editedFields == [.authors])
        #expect(try await people(two) == ["Ada, author"])
        #expect(try await library.authors().map(\.name) == ["Ada"])
        #expect(try await !library.dump().contains { $0.contains("Unknown") })
        let change = try #require(try await library.lastChange())
        #expect(change.summary == "deleted the author \"Penguin\" (removed from 2 books)")
        _ = try await library.undo(change.id, at: noon)
        #expect(try await library.dump() == before)
    }

    @Test func `an impossible edit is refused with what to do, and changes nothing`() async throws {
        _ = try await book(1, [("J. Doe", .author), ("j. doe", .author), ("Jane Doe", .author)])
        let before = try await library.dump()
        await #expect(throws: LabelRefusal.taken(what: "author", name: "Jane Doe", by: "J. Doe")) {
            try await library.renameAuthor("jane doe", to: "J. Doe", at: noon)
        }
        await #expect(throws: LabelRefusal.ambiguous(what: "author", name: "J. DOE", fits: ["J. Doe", "j. doe"])) {
            try await library.deleteAuthors(["J. DOE"], at: noon)
        }
        await #expect(throws: LabelRefusal.none(what: "author", name: "Jane Do", near: ["Jane Doe"])) {
            try await library.mergeAuthors(["Jane Do"], into: "J. Doe", at: noon)
        }
        await #expect(throws: LabelRefusal.alreadyOne(what: "author", name: "J. Doe")) {
            try await library.mergeAuthors(["J. Doe"], into: "J. Doe", at: noon)
        }
        await #expect(throws: TextRefusal.empty(what: "author")) {
            try await library.renameAuthor("J. Doe", to: " ", at: noon)
        }
        _ = try await library.renameAuthor("J. Doe", to: "J. Doe", at: noon)
        #expect(try await library.dump() == before)
        // A change that affects only case is still a rename.
        #expect(try await library.renameAuthor("Jane Doe", to: "JANE DOE", at: noon).author.name == "JANE DOE")
    }

    @Test(arguments: HostileText.allCases)
    func `a name is stored clean and on one line, or refused`(hostile: HostileText) async throws {
        let book = try await book(1, [("Ada", .author)])
        do {
            let name = try await library.renameAuthor("Ada", to: hostile.text, at: noon).author.name
            #expect(name.isClean && !name.contains(where: \.isNewline) && name.count <= TextLimit.name)
            #expect(try await people(book) == ["\(name), author"])
            #expect(try await library.deleteAuthors([hostile.text], at: noon).count == 1)
        } catch is TextRefusal {
            #expect([.megabytes, .manyCharacters, .onlyNul, .whiteSpace, .invisible, .damaged].contains(hostile))
            #expect(try await people(book) == ["Ada, author"])
            await #expect(throws: LabelRefusal.self) { try await library.deleteAuthors([hostile.text], at: noon) }
        }
    }
}
