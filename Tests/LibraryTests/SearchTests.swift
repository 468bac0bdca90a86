import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct SearchTests {
    let library: LibraryFile

    init() async throws {
        library = try LibraryFile.inMemory()
        try await library.save(
            odyssey, record("The Odyssey", by: ["Homer"]) { $0.subtitle = "Großer Gesang" },
            preset: Preset(shelf: "Hall", tags: ["Epic", "Straße"], status: .read), at: noon)
        try await library.save(
            dune, record("Dune"), preset: Preset(shelf: "Attic", tags: ["sf"]), at: noon.addingTimeInterval(1))
        try await library.save(
            isbn(7), record("Les Misérables", by: ["Victor Hugo", "Ødegård 100%"]), preset: Preset(isWishlist: true),
            at: noon.addingTimeInterval(2))
        var bare = record("x", by: [])
        bare.title = nil
        _ = try await library.add(
            [Confirmed(enteredBy: .importPlan, isbn: nil, isbnText: "123-X", metadata: bare)],
            at: noon.addingTimeInterval(3))
    }

    @Test(arguments: [
        ("odyssey", ["The Odyssey"]), ("ODYSS", ["The Odyssey"]), ("homer the", ["The Odyssey"]),
        ("grosser", ["The Odyssey"]), ("strasse", ["The Odyssey"]), ("epic", ["The Odyssey"]),
        ("miserables", ["Les Misérables"]), ("Mise\u{301}rables", ["Les Misérables"]), ("odegard", ["Les Misérables"]),
        ("978-0-441-17271-9", ["Dune"]), ("0-441-17271-7", ["Dune"]), ("0441172717", ["Dune"]),
        ("97804411", ["Dune"]), ("978-0-441", ["Dune"]), ("123-x", ["Untitled"]),
        ("homer dune", []), ("100%", ["Les Misérables"]), ("978", []), ("9780441x", []),
        ("", ["Dune", "Les Misérables", "The Odyssey", "Untitled"]),
        ("%", []), ("*", []),
        (" \t ", []),
    ])
    func `finds words in title, subtitle, author, number and tag`(text: String, titles: [String]) async throws {
        #expect(try await library.find(text) == titles)
    }

    @Test func `finds a book without title by the one or two letters of its author's name`() async throws {
        var bare = record("x", by: ["Xi Ng"])
        bare.title = nil
        _ = try await library.add([Confirmed(enteredBy: .importPlan, isbn: nil, metadata: bare)], at: noon)
        for text in ["x", "xi", "ng", "xi ng"] {
            #expect(try await library.find(text) { $0.sort = nil } == ["Untitled"], "\(text)")
        }
    }

    @Test(arguments: [
        "\"", "'", "' OR 1=1 --", "a\" OR \"b", "NEAR(", "title:dune", "\u{0}", "\u{0}dune*", "(", "-", "^",
        "🐛\u{200D}",
        "AND OR NOT", "\\", "[a-z]", "a many times", "nine many times",
    ])
    func `takes any text as it is`(text: String) async throws {
        let text =
            text.hasSuffix(" many times") ? String(repeating: text.hasPrefix("a") ? "a " : "9", count: 100_000) : text
        let found = try await library.find(text)
        #expect(found.count <= 4)
    }

    @Test func `filters combine with AND between them, and OR within one`() async throws {
        #expect(try await library.find("") { $0.statuses = [.read, .reading] } == ["The Odyssey"])
        #expect(try await library.find("") { $0.tags = ["SF", "epic"] } == ["Dune", "The Odyssey"])
        #expect(
            try await library.find("") {
                $0.tags = ["SF", "epic"]; $0.statuses = [.toRead]
            } == ["Dune"])
        #expect(try await library.find("") { $0.shelves = ["ATTIC", "nowhere"] } == ["Dune"])
        #expect(try await library.find("") { $0.isOnWishlist = true } == ["Les Misérables"])
        #expect(try await library.find("") { $0.isOwned = false } == ["Les Misérables"])
        #expect(try await library.find("") { $0.isFavourite = true } == [])
        #expect(try await library.find("") { $0.inTrash = true } == [])
    }

    @Test(arguments: [
        (BookQuery.Sort.added, ["Untitled", "Les Misérables", "Dune", "The Odyssey"]),
        (.title, ["Dune", "Les Misérables", "The Odyssey", "Untitled"]),
        (.author, ["Dune", "The Odyssey", "Les Misérables", "Untitled"]),
        (.rating, ["The Odyssey", "Untitled", "Les Misérables", "Dune"]),
    ])
    func `sorts, with empty values last`(sort: BookQuery.Sort, titles: [String]) async throws {
        var book = try #require(try await library.books(with: [odyssey])[odyssey]?.first)
        book.copy.rating = 0.25
        _ = try await library.update(book, at: noon)
        #expect(try await library.find("") { $0.sort = sort } == titles)
    }

    @Test func `search follows edits, the trash and undo`() async throws {
        var book = try #require(try await library.books(with: [dune])[dune]?.first)
        book.edition.metadata.title = "Arrakis"
        let change = try await library.update(book, at: noon)
        #expect(try await library.find("dune") == [])
        #expect(try await library.find("arrakis") == ["Arrakis"])
        _ = try await library.undo(change, at: noon)
        #expect(try await library.find("dune") == ["Dune"])
        _ = try await library.trash([book.id], at: noon)
        #expect(try await library.find("dune") == [])
        #expect(try await library.find("dune") { $0.inTrash = true } == ["Dune"])
    }

    @Test(arguments: [
        ("ẞtraße", "sstrasse"), ("ΣΊΣΥΦΟΣ", "σισυφοσ"), ("İstanbul", "istanbul"), ("ﬁn", "fin"), ("Łódź", "lodz"),
        ("ＡＢ１", "ab1"), ("naïve café", "naive cafe"), ("Don’t", "don't"),
    ])
    func `folds case, diacritics and forms of letters`(text: String, folded: String) {
        #expect(text.searchFolded == folded)
    }
}
