import Bookplate
import FoundationEssentials
import Glibc
import GRDB
import Testing

@testable import Library

@Suite struct `Kept answers` {
    private let folder = Folder()
    private var path: String { folder("library.sqlite") }

    /// Returns the answers to questions about the whole library, in short.
    private func answers(_ library: LibraryFile) async throws -> [String] {
        let query = BookQuery()
        let facets = try await library.facets(matching: query)
        let publishers = try await library.counts(of: .publisher, matching: query, limit: 9)
        let duplicates = try await library.duplicates(for: Set(DuplicateGroup.Reason.allCases), limit: 9)
        let authors = try await library.authors()
        let read = try await library.readBooks(in: .all, monthsOf: 2026, zone: .gmt)
        return [
            "\(facets.total)", publishers.map { "\($0.name) \($0.count)" }.joined(separator: ", "),
            duplicates.groups.map { "\($0.books.count) of \($0.books[0].displayTitle)" }.joined(separator: ", "),
            authors.map { "\($0.name) \($0.books)" }.joined(separator: ", "), "\(read.all.books) read",
        ]
    }

    private func save(_ title: String, in library: LibraryFile) async throws {
        let record = record(title, by: ["Frank Herbert"]) { $0.publisher = "Ace" }
        _ = try await library.add([confirmed(nil, record, preset: Preset(status: .read))], at: noon)
    }

    @Test func `are computed again after a change of this process or of another one`() async throws {
        let (library, other) = (try LibraryFile.open(at: path), try LibraryFile.open(at: path))
        #expect(try await answers(library) == ["0", "", "", "", "0 read"])
        try await save("Dune", in: library)
        #expect(try await answers(library) == ["1", "Ace 1", "", "Frank Herbert 1", "1 read"])
        try await save("Dune", in: other)
        #expect(try await answers(library) == ["2", "Ace 2", "2 of Dune", "Frank Herbert 2", "2 read"])
        let change = try #require(try await library.lastChange())
        _ = try await library.undo(change.id, at: noon)
        #expect(try await answers(library) == ["1", "Ace 1", "", "Frank Herbert 1", "1 read"])
        #expect(try await answers(other) == ["1", "Ace 1", "", "Frank Herbert 1", "1 read"])
    }

    @Test func `are not computed again as long as nothing changes`() async throws {
        let library = try LibraryFile.open(at: path)
        try await save("Dune", in: library)
        let question = KeptAnswers.Question.names(.series, BookQuery(), limit: 3)
        let first = try await library.kept(question) { "computed" }
        let again = try await library.kept(question) { "computed again" }
        let other = try await library.kept(.names(.series, BookQuery(), limit: 4)) { "another question" }
        library.releaseMemory()
        let late = try await library.kept(question) { "computed again" }
        #expect([first, again, other, late] == ["computed", "computed", "another question", "computed"])
        try await save("Emma", in: library)
        #expect(try await library.kept(question) { "computed again" } == "computed again")
    }

    @Test func `are those of the reader who asks, and of what the reader may see`() async throws {
        let library = try LibraryFile.open(at: path)
        func answer(_ library: LibraryFile, _ text: String) async throws -> String {
            try await library.kept(.authors) { text }
        }
        let mother = try await library.addReader("Mother", naming: "Father", at: noon).reader
        let asMother = try await library.reading(as: mother.id, holder: nil, isGuest: false, at: noon)
        let asGuest = try await library.reading(as: nil, holder: nil, isGuest: true, at: noon)
        #expect(try await answer(library, "own") == "own")
        #expect(try await answer(asMother, "mother's") == "mother's")
        #expect(try await answer(asGuest, "guest's") == "guest's")
        #expect(try await answer(library.ofEverybody(), "everybody's") == "everybody's")
        #expect(try await answer(library, "new") == "own")
    }

    @Test func `are not kept for a library in memory`() async throws {
        let library = try LibraryFile.inMemory()
        _ = try await library.kept(.authors) { "old" }
        #expect(try await library.kept(.authors) { "new" } == "new")
    }

    @Test func `are forgotten with the file that they are about`() async throws {
        let library = try LibraryFile.open(at: path)
        try await save("Dune", in: library)
        _ = try await library.kept(.authors) { "old" }
        let report = try await library.backup(to: folder("copy.sqlite"))
        #expect(rename(report.path, path) == 0)
        #expect(try await library.kept(.authors) { "new" } == "new")
    }
}
