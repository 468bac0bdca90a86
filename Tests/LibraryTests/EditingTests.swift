import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct EditingTests {
    let folder = Folder()
    let one: LibraryFile
    let two: LibraryFile

    init() throws {
        one = try LibraryFile.open(at: folder("library.sqlite"))
        two = try LibraryFile.open(at: folder("library.sqlite"))
    }

    @Test func `two processes that edit different fields of a book lose nothing`() async throws {
        let book = try await one.save(dune, record("Dune"))
        _ = try await two.update(book.id, at: noon) { $0.edition.metadata.title = "Theirs" }
        let (after, change) = try await one.update(book.id, at: noon) { book in
            book.edition.metadata.pageCount = 9
            book.copy.rating = 4
        }
        #expect(after.displayTitle == "Theirs" && after.edition.metadata.pageCount == 9 && after.copy.rating == 4)
        #expect(after.edition.editedFields == [.title, .pageCount])
        #expect(try await two.book(book.id) == after)
        #expect(try await two.lastChange()?.id == change)
        #expect(try await two.lastChange()?.summary == "edited \"Theirs\"")
    }

    @Test func `a value that a person takes from a source keeps its source, and no refresh changes it`() async throws {
        let book = try await one.save(dune, record("Dune") { $0.publisher = "Ace" })
        let other = record("DUNE", from: .dnb) { ($0.publisher, $0.pageCount) = ("Heyne", 600) }
        let (after, change) = try await one.take([.publisher: other, .pageCount: other], for: book.id, at: noon)
        #expect(after.displayTitle == "Dune" && after.edition.metadata.publisher == "Heyne")
        #expect(
            after.edition.metadata.sources[.publisher] == .dnb && after.edition.metadata.sources[.title] == .openLibrary
        )
        #expect(after.edition.editedFields == [.publisher, .pageCount])
        _ = try await one.fillGaps(
            from: [dune: record("Dune", from: .googleBooks) { $0.pageCount = 1 }], continuing: nil, at: noon)
        #expect(try await one.book(book.id)?.edition.metadata.pageCount == 600)
        _ = try await one.undo(try #require(change), at: noon)
        #expect(try await one.book(book.id)?.edition == book.edition)
        let again = try await one.take([.publisher: record("Dune") { $0.publisher = "Ace" }], for: book.id, at: noon)
        #expect(again.change == nil, "it has this value")
    }

    @Test func `tags added by two processes at the same moment are all kept`() async throws {
        let book = try await one.save(dune, record("Dune"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                let library = number.isMultiple(of: 2) ? one : two
                group.addTask { _ = try await library.update(book.id, at: noon) { $0.copy.tags.append("\(number)") } }
            }
            try await group.waitForAll()
        }
        #expect(try await one.book(book.id)?.copy.tags.count == 40)
    }

    @Test func `adding a tag that some books have in another spelling changes only the others`() async throws {
        let first = try await one.save(dune, record("Dune"), preset: Preset(tags: ["Straße", "a"]))
        let second = try await one.save(odyssey, record("Odyssey"))
        func tag() async throws -> (changed: Int, change: ID<Change>?) {
            try await one.update([first.id, second.id], continuing: nil, at: noon) { $0.tags.append(" STRASSE") }
        }
        #expect(try await tag().changed == 1)
        #expect(try await one.book(first.id)?.copy.tags == ["a", "Straße"])
        #expect(try await one.book(second.id)?.copy.tags == ["Straße"])
        let again = try await tag()
        #expect(again.changed == 0 && again.change == nil)
        #expect(try await one.lastChange()?.summary == "edited \"Odyssey\"")
    }

    @Test(arguments: ["nothing", "the same", "white space"])
    func `an edit that changes nothing is no change`(what: String) async throws {
        let book = try await one.save(dune, record("Dune"), preset: Preset(shelf: "Hall", tags: ["Sand"]))
        let before = try await one.dump()
        let (after, change) = try await one.update(book.id, at: noon) { book in
            switch what {
            case "the same": book = Book(edition: book.edition, copy: book.copy)
            case "white space":
                book.edition.metadata.title = " Dune\n"
                book.copy.shelf = "hall "
                book.copy.tags = ["SAND"]
            default: break
            }
        }
        #expect(after == book)
        #expect(try await one.dump() == before)
        #expect(try await one.changes(limit: 9).map(\.summary) == ["saved \"Dune\""])
        #expect(change == nil)
    }

    @Test func `an edit that throws changes nothing`() async throws {
        struct NotNow: Error {}
        let book = try await one.save(dune, record("Dune"))
        await #expect(throws: NotNow.self) {
            try await one.update(book.id, at: noon) { book in
                book.copy.rating = 1
                throw NotNow()
            }
        }
        #expect(try await one.book(book.id) == book)
        #expect(try await one.changes(limit: 9).count == 1)
    }

    @Test func `the summary of a change says that it was confirmed in advance`() async throws {
        func confirm(_ numbers: Range<Int>, by confirmer: Confirmer) async throws -> [Confirmed] {
            var confirmed: [Confirmed] = []
            for number in numbers {
                confirmed.append(try await one.candidate(isbn(number), record("Book \(number)")).confirm(by: confirmer))
            }
            return confirmed
        }
        let batch = try await confirm(0..<4, by: .advance)
        let change = try #require(try await one.add(batch, at: noon)[0].change)
        #expect(try await one.lastChange()?.summary == "saved \"Book 0\" and 3 more with --yes")
        // A book that was already owned or saved does not count as saved by this confirmation.
        _ = try await one.add([batch[0]] + (try await confirm(0..<1, by: .person)), continuing: change, at: noon)
        _ = try await one.add(try await confirm(4..<5, by: .advance), continuing: change, at: noon)
        #expect(try await one.lastChange()?.summary == "saved \"Book 0\" and 4 more with --yes")
        // As soon as a person confirms one card, the batch as a whole no longer counts as confirmed in advance.
        _ = try await one.add(try await confirm(5..<6, by: .person), continuing: change, at: noon)
        #expect(try await one.lastChange()?.summary == "saved \"Book 0\" and 5 more")
        _ = try await one.add(try await confirm(6..<7, by: .advance), continuing: change, at: noon)
        #expect(try await one.lastChange()?.summary == "saved \"Book 0\" and 6 more")
        #expect(try await one.lastChange()?.id == change)
    }
}
