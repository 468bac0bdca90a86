import Bookplate
import FoundationEssentials
import Testing

@testable import Library

/// Tests of changes that are undone out of their order: afterwards, the others can all be undone as well.
@Suite struct UndoOrderTests {
    enum Step: Sendable {
        case act(@Sendable (LibraryFile) async throws -> Void)
        /// Undoes the change with this number; 1 is the first.
        case undo(Int)
        /// Checks that the undo of this change is refused.
        case refuse(Int)
    }

    static let walks: [(name: String, steps: [Step])] = [
        (
            "a continued change, and one in between",
            [
                save("W"), save("A", isbn(2)), .act { _ = try await $0.trash([$0.id("A")], at: noon) }, publish("W"),
                .act {
                    let open = try await $0.changes(limit: 2)[1].id
                    _ = try await $0.trash([$0.id("W")], continuing: open, at: noon)
                }, .refuse(1), .refuse(4), .undo(3),
            ]
        ),
        (
            "an author that was renamed",
            [
                save("M", by: "A"), edit("M", by: "Herbet"),
                .act { _ = try await $0.renameAuthor("Herbet", to: "Herbert", at: noon) },
                save("P", isbn(2), by: "Herbert"), .undo(2), .undo(4),
            ]
        ),
        (
            "an author of an edition that was added twice",
            [
                save("M"), saveAgain("M"), edit("M", by: "Q"), .undo(1), .refuse(2),
            ]
        ),
        (
            "an author whom two changes need",
            [
                save("M", by: "A"), save("P", isbn(2), by: "X"), edit("M", by: "X"), edit("M", by: "Z"), .undo(2),
                save("Q", isbn(3), by: "X"), .undo(5),
            ]
        ),
        (
            "an ISBN that was given to another book",
            [
                save("M"), edit("M", number: isbn(7)), save("P"), edit("P", number: isbn(8)), .refuse(2),
            ]
        ),
        (
            "a session that ran before another",
            [
                save("M"), save("P", isbn(2)), start("M"), stop, start("P"), stop, .refuse(4), .refuse(3),
            ]
        ),
        (
            "the title of an edition that was added twice",
            [
                save("M"), saveAgain("M"), edit("M", "N"), .undo(1), .refuse(2),
            ]
        ),
        (
            "an author who was merged",
            [
                save("M", by: "A"), save("N", isbn(2), by: "B"),
                .act { _ = try await $0.mergeAuthors(["A"], into: "B", at: noon) }, saveAgain("M"), .undo(1), .undo(3),
                .undo(4),
            ]
        ),
    ]

    @Test(arguments: walks.indices) func `leave nothing that cannot be undone`(number: Int) async throws {
        let walk = Self.walks[number]
        let library = try LibraryFile.inMemory(zone: .gmt)
        let start = try await library.dump()
        for step in walk.steps {
            switch step {
            case .act(let act): try await act(library)
            case .undo(let number): _ = try await library.undo(Self.change(number, of: library).id, at: noon)
            case .refuse(let number):
                let change = try await Self.change(number, of: library)
                await #expect(throws: UndoRefusal.self, "\(change.summary)") {
                    try await library.undo(change.id, at: noon)
                }
            }
        }
        for _ in walk.steps {
            for change in try await library.changes(limit: 100) where change.undone == nil {
                do { _ = try await library.undo(change.id, at: noon) } catch is UndoRefusal {}
            }
        }
        let left = try await library.changes(limit: 100).filter { $0.undone == nil }.map(\.summary)
        #expect(left.isEmpty, "\(walk.name)")
        #expect(try await library.dump() == start, "\(walk.name)")
    }

    @Test func `keep an edit of an edition whose copies are undone`() async throws {
        let library = try LibraryFile.inMemory(zone: .gmt)
        for step in [Self.save("M"), Self.saveAgain("M"), Self.edit("M", "N")] {
            if case .act(let act) = step { try await act(library) }
        }
        let changes = try await library.changes(limit: 3)
        _ = try await library.undo(changes[2].id, at: noon)
        await #expect(throws: UndoRefusal.self) { try await library.undo(changes[1].id, at: noon) }
        // The book with the edited title is still there.
        _ = try await library.id("N")
    }

    private static func change(_ number: Int, of library: LibraryFile) async throws -> Change {
        try await library.changes(limit: 100).reversed()[number - 1]
    }

    private static func save(_ title: String, _ number: ISBN = isbn(1), by author: String = "A") -> Step {
        .act { _ = try await $0.save(number, record(title, by: [author])) }
    }

    private static func saveAgain(_ title: String) -> Step {
        .act { _ = try await $0.add([confirmed(isbn(1), record(title, by: ["A"]), anotherCopy: true)], at: noon) }
    }

    private static func edit(
        _ title: String, _ newTitle: String? = nil, by author: String? = nil, number: ISBN? = nil
    ) -> Step {
        .act { library in
            var book = try #require(try await library.book(library.id(title)))
            if let newTitle { book.edition.metadata.title = newTitle }
            if let author { book.edition.metadata.authors = [Contributor(name: author)] }
            if let number { book.edition.isbn = number }
            _ = try await library.update(book, at: noon)
        }
    }

    private static func publish(_ title: String) -> Step {
        .act { library in
            var book = try #require(try await library.book(library.id(title)))
            book.copy.isPublic = true
            _ = try await library.update(book, at: noon)
        }
    }

    private static func start(_ title: String) -> Step {
        .act { _ = try await $0.startSession(of: $0.id(title), page: 1, from: nil, at: noon) }
    }

    private static let stop = Step.act {
        _ = try await $0.stopSession(nil, page: 9, end: nil, forced: true, at: noon.addingTimeInterval(600))
    }
}

extension LibraryFile {
    /// Returns the id of the first book with this title.
    fileprivate func id(_ title: String) async throws -> ID<Copy> {
        let books = try await books(matching: BookQuery()).books
        return try #require(books.first { $0.edition.metadata.title == title }).id
    }
}
