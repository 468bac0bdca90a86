import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct `A preset with a reader` {
    let library: LibraryFile
    let anna: LibraryFile

    init() async throws {
        library = try LibraryFile.inMemory(zone: .gmt)
        _ = try await library.addReader("Anna", naming: "Ben", at: noon)
        anna = try library.reading(asNamed: "Anna", holder: nil)
    }

    private func statuses(_ isbn: ISBN) async throws -> [Copy.Status?] {
        [
            try await library.books(with: [isbn])[isbn]?.first?.copy.status,
            try await anna.books(with: [isbn])[isbn]?.first?.copy.status,
        ]
    }

    @Test func `is stored with the reader, and without one as it was before`() throws {
        let (plain, hers) = (
            Preset(shelf: "Attic", tags: ["a"], status: .read),
            Preset(shelf: "Attic", tags: ["a"], status: .read, reader: "Anna")
        )
        let text = #"{"isWishlist":false,"shelf":"Attic","status":"read","tags":["a"]}"#
        #expect(try encodeJSON(plain) == text)
        #expect(try decodeJSON(Preset.self, text) == plain)
        let named = #"{"isWishlist":false,"reader":"Anna","shelf":"Attic","status":"read","tags":["a"]}"#
        #expect(try encodeJSON(hers) == named)
        #expect(try decodeJSON(Preset.self, named) == hers)
    }

    @Test(
        arguments: [("ANNA", [.toRead, .reading]), ("Cleo", [.reading, .toRead]), (nil, [.reading, .toRead])]
            as [(String?, [Copy.Status?])])
    func `gives the status to that reader, or to the reader who saves`(
        name: String?, expected: [Copy.Status?]
    ) async throws {
        try await library.save(dune, record("Dune"), preset: Preset(status: .reading, reader: name))
        #expect(try await statuses(dune) == expected)
    }

    @Test func `makes no second copy of a book that another reader has or wishes for`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let again = try confirmed(dune, record("Dune"), preset: Preset(status: .reading, reader: "Anna"))
        guard case .owned(let owned) = try await library.add([again], at: noon)[0] else {
            throw LibraryError.noSuchBook(book.id)
        }
        #expect(owned.id == book.id)

        let wish = try await library.save(odyssey, record("The Odyssey"), preset: Preset(isWishlist: true))
        let bought = try confirmed(odyssey, record("The Odyssey"), preset: Preset(status: .reading, reader: "Anna"))
        #expect(try await library.add([bought], at: noon)[0].copy == wish.id)
        #expect(try await library.books(with: [odyssey])[odyssey]?.map(\.copy.isOwned) == [true])
        #expect(try await statuses(odyssey) == [.toRead, .reading])
    }

    @Test func `names the reader who captures a book, if there are several`() async throws {
        func preset(_ item: ID<QueueItem>) async throws -> Preset? { try await library.item(item)?.preset }
        let item = try await anna.capture(
            [Detection(isbn: dune, raw: dune.digits, origin: .typed)], preset: Preset(tags: ["a"]))[0]
        #expect(item.preset == Preset(tags: ["a"], reader: "Anna"))
        #expect(try await preset(item.id) == item.preset)
        // Another shelf leaves the book hers.
        try await library.setPreset(Preset(shelf: "Attic", status: .reading), of: [item.id])
        #expect(try await preset(item.id) == Preset(shelf: "Attic", status: .reading, reader: "Anna"))
        var candidate = Candidate(item: try #require(try await library.item(item.id)))
        candidate.metadata = record("Dune")
        _ = try await library.add([candidate.confirm(by: .person)], at: noon)
        #expect(try await statuses(dune) == [.toRead, .reading])

        let other = try await anna.capture(
            [Detection(isbn: odyssey, raw: odyssey.digits, origin: .typed)], preset: Preset(reader: "Ben"))[0]
        #expect(other.preset.reader == "Ben")
        try await library.setPreset(Preset(reader: "Anna"), of: [other.id])
        #expect(try await preset(other.id)?.reader == "Anna")
    }

    @Test func `of a batch leaves each book the rating and the note that a person gave it`() async throws {
        let alone = try LibraryFile.inMemory()
        let item = try await alone.capture([Detection(isbn: dune, raw: dune.digits, origin: .typed)])[0]
        try await alone.edit(item.id) { metadata, preset in
            metadata.title = "Dune"
            (preset.rating, preset.note) = (4.5, "Ask Ada.\nAgain.")
        }
        let attic = Preset(shelf: "Attic")
        try await alone.setPreset(attic, of: [item.id])
        let now = try #require(try await alone.item(item.id))
        #expect(now.preset == Preset(shelf: "Attic", rating: 4.5, note: "Ask Ada.\nAgain."))
        #expect(attic.isPreset(ofItemWith: now.preset))
    }

    @Test(arguments: [false, true]) func `gives the saved book its rating and its note`(wasInTrash: Bool) async throws {
        let alone = try LibraryFile.inMemory()
        if wasInTrash { _ = try await alone.trash([try await alone.save(dune, record("Dune")).id], at: noon) }
        let before = try await alone.dump()
        let saved = try await alone.add(
            [try confirmed(dune, record("Dune"), preset: Preset(rating: 4.5, note: "Ask Ada."))], at: noon)[0]
        let book = try #require(try await alone.books(with: [dune])[dune]?.first)
        #expect(book.copy.rating == 4.5 && book.copy.deleted == nil)
        #expect(try await alone.notes(of: book.id).map(\.text) == ["Ask Ada."])
        _ = try await alone.undo(try #require(saved.change), at: noon)
        #expect(try await alone.dump() == before)
    }

    @Test func `names nobody in a library with one reader`() async throws {
        let alone = try LibraryFile.inMemory()
        let item = try await alone.capture([Detection(isbn: dune, raw: dune.digits, origin: .typed)])[0]
        #expect(item.preset == Preset())
        let stored = try await alone.read { db in try db.value(String.self, "SELECT preset FROM intakeItem") }
        #expect(stored == #"{"isWishlist":false,"status":"toRead","tags":[]}"#)
    }

    @Test(
        arguments: [("anna", [.toRead, .reading]), ("Cleo", [.reading, .toRead]), (nil, [.reading, .toRead])]
            as [(String?, [Copy.Status?])])
    func `of a station's delivery goes to the reader whom it names, otherwise to the first`(
        name: String?, expected: [Copy.Status?]
    ) async throws {
        let station = try await library.pair(ID(), named: "kitchen", at: noon).station
        let delivery = HubDelivery(
            id: ID(), revision: 1, isbn13: dune.digits, raw: dune.digits, addon: nil, captured: noon.rfc3339,
            preset: Preset(status: .reading, reader: name), state: .confirmed, metadata: record("Dune"), isFound: true,
            confirmation: HubDelivery.Confirmation(act: "a", anotherCopy: false))
        // The hub's own reader does not matter.
        let receipts = try await anna.receive([delivery], from: station, at: noon)
        #expect(receipts.map(\.outcome) == [.saved])
        #expect(try await statuses(dune) == expected)
    }
}
