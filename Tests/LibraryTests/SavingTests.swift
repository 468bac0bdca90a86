import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct SavingTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    @Test func `keeps every field of a book`() async throws {
        let metadata = record("Dune", by: ["Frank Herbert"]) {
            $0.subtitle = "Book one"
            $0.authors.append(Contributor(name: "Ana Traducida", role: .translator))
            $0.publisher = "Ace"
            $0.publishedDate = CalendarDay("1990-09")
            $0.publishedDateText = "September 1990"
            $0.pageCount = 535
            $0.language = "en"
            $0.originalLanguage = "en"
            $0.authorNationality = "US"
            $0.format = .physical
            $0.series = "Dune"
            $0.seriesNumber = "1"
            $0.description = "A desert planet.\nSpice."
            $0.subjects = ["Science fiction", "Deserts"]
            $0.coverURL = "https://covers.openlibrary.org/b/id/1-L.jpg"
            $0.previewLink = "https://example.org/p"
            $0.infoLink = "https://example.org/i"
            $0.identifiers = ["openlibrary": ["OL1M", "OL2M"], "lccn": ["65-22547"]]
        }
        let preset = Preset(shelf: "Living room", tags: ["Sand", "classic"], status: .reading)
        let book = try await library.save(dune, metadata, preset: preset)

        #expect(book.edition.metadata == metadata)
        #expect(book.edition.isbn == dune)
        #expect(book.edition.isbnText == "978-0-441-17271-9")
        #expect(book.edition.editedFields.isEmpty)
        #expect(book.copy.shelf == "Living room")
        #expect(book.copy.tags == ["classic", "Sand"])
        #expect(book.copy.status == .reading)
        #expect(book.copy.isOwned && !book.copy.isOnWishlist)
        #expect(book.copy.added == noon)
        #expect(try await library.books(with: [dune, odyssey]) == [dune: [book]])
    }

    @Test func `reports that a book is owned already, saves nothing, and leaves the item waiting`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let candidate = try await library.candidate(dune, record("Dune again"))
        let before = try await library.dump()

        let results = try await library.add([candidate.confirm(by: .advance)], at: noon)

        #expect(results == [.owned(book)])
        #expect(try await library.dump() == before)
        #expect(try await library.item(candidate.item.id)?.state == .waiting)
        #expect(try await library.lastChange()?.summary == "saved \"Dune\"")
    }

    @Test func `saves another copy when asked to`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let results = try await library.add([confirmed(dune, record("Dune"), anotherCopy: true)], at: noon)

        guard case .saved(let id, _) = results[0] else { throw UndoRefusal.noSuchChange }
        #expect(id != book.id)
        let books = try await library.books(with: [dune])
        #expect(books[dune]?.count == 2)
        #expect(Set(books[dune]!.map(\.edition.id)).count == 1)
    }

    @Test func `a book on the wishlist becomes owned when it is scanned`() async throws {
        let wish = try await library.save(dune, record("Dune"), preset: Preset(isWishlist: true))
        #expect(wish.copy.isOnWishlist && !wish.copy.isOwned)
        let results = try await library.add(
            [confirmed(dune, record("Dune"), preset: Preset(shelf: "Hall", tags: ["new"]))], at: noon)

        guard case .wishFulfilled(let id, _) = results[0] else { throw UndoRefusal.noSuchChange }
        let book = try #require(try await library.book(id))
        #expect(id == wish.id)
        #expect(book.copy.isOwned && !book.copy.isOnWishlist)
        #expect(book.copy.shelf == "Hall")
        #expect(book.copy.tags == ["new"])
    }

    @Test(arguments: [false, true])
    func `a borrowed copy becomes owned when it is scanned, or goes on the wishlist if the preset says so`(
        isWish: Bool
    ) async throws {
        var read = try await library.save(dune, record("Dune"), preset: Preset(status: .read))
        read.copy.isOwned = false
        _ = try await library.update(read, at: noon)
        let preset = Preset(shelf: "Hall", isWishlist: isWish)
        var candidate = try await library.candidate(dune, record("Dune"), preset: preset)
        candidate.existing = try #require(try await library.books(with: [dune])[dune])
        // Before it is saved, the candidate does not count as owned, and saving treats it in the same way.
        #expect(candidate.owned == nil)
        let results = try await library.add([candidate.confirm(by: .person)], at: noon)
        guard case .saved(read.id, let change) = results[0] else { throw UndoRefusal.noSuchChange }
        let books = try #require(try await library.books(with: [dune])[dune])
        #expect(books.count == 1 && books[0].copy.isOwned == !isWish && books[0].copy.isOnWishlist == isWish)
        // A book that was read keeps the status Read.
        #expect(books[0].copy.status == .read && books[0].copy.readings == read.copy.readings)
        candidate.existing = books
        #expect((candidate.owned != nil) == !isWish)
        _ = try await library.undo(change, at: noon)
        #expect(try await library.book(read.id)?.copy.isOwned == false)
        #expect(try await library.book(read.id)?.copy.isOnWishlist == false)
    }

    @Test(arguments: [Preset(), Preset(isWishlist: true)])
    func `adding a book that is in the library to the wishlist saves nothing`(first: Preset) async throws {
        let book = try await library.save(dune, record("Dune"), preset: first)
        let results = try await library.add(
            [confirmed(dune, record("Dune"), preset: Preset(isWishlist: true))], at: noon)
        #expect(results == [.owned(book)])
    }

    @Test func `a copy in the trash is restored`() async throws {
        let book = try await library.save(dune, record("Dune"))
        _ = try await library.trash([book.id], at: noon)
        let results = try await library.add([confirmed(dune, record("Dune"))], at: noon)

        guard case .restored(let id, _) = results[0] else { throw UndoRefusal.noSuchChange }
        #expect(id == book.id)
        #expect(try await library.book(id)?.copy.deleted == nil)
    }

    @Test func `a save retried a hundred times makes one copy`() async throws {
        let candidate = try await library.candidate(dune, record("Dune"))
        let request = try candidate.confirm(by: .person)
        let first = try await library.add([request], at: noon)[0]
        guard case .saved(let id, _) = first else { throw UndoRefusal.noSuchChange }
        for _ in 0..<100 {
            #expect(try await library.add([request], at: noon) == [.alreadySaved(id)])
        }
        #expect(try await library.books(matching: BookQuery()).total == 1)
        #expect(try await library.changes(limit: 10).count == 1)
    }

    @Test func `the same book twice in one batch is saved once`() async throws {
        let results = try await library.add(
            [
                confirmed(dune, record("Dune")), confirmed(odyssey, record("The Odyssey")),
                confirmed(dune, record("Dune")),
            ],
            at: noon)
        guard case .saved(let id, let change) = results[0], case .owned(let owned) = results[2] else {
            throw UndoRefusal.noSuchChange
        }
        #expect(owned.id == id)
        #expect(try await library.lastChange()?.id == change)
        #expect(try await library.lastChange()?.summary == "saved \"Dune\" and 1 more")
    }

    @Test func `books without an ISBN are never taken for one another`() async throws {
        try await library.save(nil, record("Diary"))
        try await library.save(nil, record("Diary"))
        #expect(try await library.books(matching: BookQuery()).total == 2)
    }

    @Test func `a later save fills gaps and keeps a person's edits, even emptied fields`() async throws {
        var book = try await library.save(
            dune,
            record("Dune") {
                $0.subtitle = "Wrong"
                $0.publisher = "Ace"
            })
        book.edition.metadata.title = "Dune!"
        book.edition.metadata.subtitle = nil
        _ = try await library.update(book, at: noon)

        let richer = record("Dune (paperback)", from: .googleBooks) {
            $0.subtitle = "Wrong"
            $0.publisher = "Penguin"
            $0.pageCount = 535
        }
        _ = try await library.add([confirmed(dune, richer, anotherCopy: true)], at: noon)

        let stored = try #require(try await library.book(book.id)).edition
        #expect(stored.metadata.title == "Dune!")
        #expect(stored.metadata.subtitle == nil)
        #expect(stored.metadata.publisher == "Ace")
        #expect(stored.metadata.pageCount == 535)
        #expect(stored.metadata.sources[.pageCount] == .googleBooks)
        #expect(stored.metadata.sources[.title] == .person)
        #expect(stored.editedFields == [.title, .subtitle])
    }

    @Test func `hostile texts are stored as clean text within their limits`() async throws {
        let book = try await library.save(
            dune,
            record("Du\u{0}ne\u{202E}", by: ["'; DROP TABLE copy; --", "  ", String(repeating: "é", count: 2000)]) {
                $0.description = HostileText.tenMegabytes
                $0.pageCount = -3
                $0.identifiers = ["": ["1"], "x": ["", "\u{7}"]]
            })
        #expect(book.displayTitle == "Dune")
        #expect(book.edition.metadata.authorNames.map(\.count) == [22, 512])
        #expect(book.edition.metadata.description?.count == 10_000)
        #expect(book.edition.metadata.pageCount == nil)
        #expect(book.edition.metadata.identifiers.isEmpty)
    }

    @Test func `tags and shelves are compared without regard to case`() async throws {
        try await library.save(isbn(1), record("A"), preset: Preset(shelf: "STRASSE", tags: ["Ästhetik", "ästhetik"]))
        let book = try await library.save(
            isbn(2), record("B"), preset: Preset(shelf: "straße", tags: ["A\u{308}STHETIK", "asthetik"]))
        #expect(book.copy.shelf == "STRASSE")
        #expect(book.copy.tags == ["asthetik", "Ästhetik"])
    }

    @Test func `an update stores the copy's fields and refuses impossible values`() async throws {
        var book = try await library.save(dune, record("Dune"), preset: Preset(tags: ["old", "kept"]))
        try await library.save(odyssey, record("The Odyssey"))
        book.copy.rating = 4.25
        book.copy.isFavourite = true
        book.copy.status = .onHold
        book.copy.tags = ["kept", "new"]
        book.copy.shelf = "Attic"
        _ = try await library.update(book, at: noon)
        let readings = try #require(try await library.book(book.id)).copy.readings
        // A book that is On Hold has a reading.
        #expect(readings.map(\.state) == [.open])
        book.copy.readings = readings
        #expect(try await library.book(book.id) == book)

        var wrong = book
        wrong.copy.rating = 4.3
        await #expect(throws: InputRefusal.badRating(4.3)) { try await library.update(wrong, at: noon) }
        wrong = book
        wrong.edition.isbn = odyssey
        await #expect(throws: LibraryError.isbnInUse(odyssey)) { try await library.update(wrong, at: noon) }
        wrong = book
        wrong.edition.metadata.title = String(repeating: "a", count: 513)
        await #expect(throws: TextRefusal.self) { try await library.update(wrong, at: noon) }
        wrong.copy.id = ID(rawValue: "none")
        await #expect(throws: LibraryError.noSuchBook(ID(rawValue: "none"))) {
            try await library.update(wrong, at: noon)
        }
        #expect(try await library.book(book.id) == book)
    }
}
