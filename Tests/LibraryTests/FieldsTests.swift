import Bookplate
import FoundationEssentials
import Testing

@testable import Library

/// A text field of a book, with closures that write and read it.
struct TextField: Sendable, CustomTestStringConvertible {
    let name: String
    let limit: Int
    let write: @Sendable (inout Book, String) -> Void
    let read: @Sendable (Book) -> [String]

    var testDescription: String { name }

    init(
        _ name: String, _ limit: Int = TextLimit.name, write: @escaping @Sendable (inout Book, String) -> Void,
        read: @escaping @Sendable (Book) -> [String]
    ) {
        self.name = name
        self.limit = limit
        self.write = write
        self.read = read
    }

    private init(_ name: String, _ limit: Int, _ path: WritableKeyPath<Metadata, String?> & Sendable) {
        self.init(
            name, limit, write: { $0.edition.metadata[keyPath: path] = $1 },
            read: { [$0.edition.metadata[keyPath: path]].compactMap(\.self) })
    }

    static let all: [TextField] = [
        TextField("title", TextLimit.title, \.title), TextField("subtitle", TextLimit.title, \.subtitle),
        TextField("publisher", TextLimit.name, \.publisher),
        TextField("published", TextLimit.name, \.publishedDateText),
        TextField("language", TextLimit.name, \.language),
        TextField("original language", TextLimit.name, \.originalLanguage),
        TextField("nationality", TextLimit.name, \.authorNationality), TextField("series", TextLimit.name, \.series),
        TextField("series number", TextLimit.name, \.seriesNumber),
        TextField("description", TextLimit.description, \.description),
        TextField("cover", TextLimit.link, \.coverURL), TextField("preview", TextLimit.link, \.previewLink),
        TextField("info", TextLimit.link, \.infoLink),
        TextField(
            "author", write: { $0.edition.metadata.authors = [Contributor(name: $1, role: .translator)] },
            read: { $0.edition.metadata.authors.map(\.name) }),
        TextField("subject", write: { $0.edition.metadata.subjects = [$1] }, read: { $0.edition.metadata.subjects }),
        TextField(
            "identifier", write: { $0.edition.metadata.identifiers = ["goodreads": [$1]] },
            read: { $0.edition.metadata.identifiers["goodreads"] ?? [] }),
        TextField(
            "number", write: { ($0.edition.isbn, $0.edition.isbnText) = (nil, $1) },
            read: { [$0.edition.isbnText].compactMap(\.self) }),
        TextField("shelf", write: { $0.copy.shelf = $1 }, read: { [$0.copy.shelf].compactMap(\.self) }),
        TextField("tag", write: { $0.copy.tags = [$1] }, read: { $0.copy.tags }),
        TextField(
            "recommended by", write: { $0.copy.recommendedBy = $1 },
            read: { [$0.copy.recommendedBy].compactMap(\.self) }
        ),
        TextField(
            "cultural goal", write: { $0.copy.culturalGoalCategory = $1 },
            read: { [$0.copy.culturalGoalCategory].compactMap(\.self) }),
    ]
}

@Suite struct FieldsTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    @Test(arguments: TextField.all)
    func `every text field stores a clean text within its limit, or refuses it`(field: TextField) async throws {
        let book = try await library.save(dune, record("Dune"))
        for hostile in HostileText.allCases { try await expectCleanText(in: field, of: book, from: hostile) }
    }

    private func expectCleanText(in field: TextField, of book: Book, from hostile: HostileText) async throws {
        let before = try await library.dump()
        do {
            let (after, change) = try await library.update(book.id, at: noon) { field.write(&$0, hostile.text) }
            for text in field.read(after) {
                #expect(text.isClean && text.count <= field.limit && !text.isEmpty, "\(hostile)")
                #expect(TextLimit.hasLines(field.limit) || !text.contains(where: \.isNewline), "\(hostile)")
            }
            // The emoji of a family has 41 bytes, but is one character.
            if hostile == .family { #expect(field.read(after).map(\.count) == [32]) }
            if let change { _ = try await library.undo(change, at: noon) }
        } catch is TextRefusal {
            #expect(field.name == "title" || field.name == "description", "\(hostile)")
        }
        #expect(try await library.dump() == before, "\(hostile)")
    }

    @Test func `undo restores every field that a person has changed`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let before = try await library.dump()
        let (after, change) = try await library.update(book.id, at: noon) { book in
            for field in TextField.all where field.name != "number" { field.write(&book, "A \(field.name)") }
            book.edition.metadata.format = .audiobook
            book.edition.metadata.pageCount = 412
            book.copy.rating = 0.25
            book.copy.wouldRecommend = false
            book.copy.isPublic = true
            book.copy.dailyGoal = 20
            book.copy.countsForCulturalGoal = true
            book.copy.added = Date(timeIntervalSince1970: 0)
        }
        for field in TextField.all where field.name != "number" { #expect(field.read(after) == ["A \(field.name)"]) }
        #expect(after.copy.dailyGoal == 20 && after.copy.rating == 0.25 && after.copy.wouldRecommend == false)
        _ = try await library.undo(#require(change), at: noon)
        #expect(try await library.dump() == before)
    }

    @Test(arguments: [0.3, -1, .nan, .infinity, 5.25]) func `an impossible rating is refused`(rating: Double)
        async throws
    {
        let book = try await library.save(dune, record("Dune"))
        await #expect(throws: InputRefusal.self) {
            try await library.update(book.id, at: noon) { $0.copy.rating = rating }
        }
    }

    @Test(arguments: [0, -5, Int.max, Int.min]) func `an impossible daily goal is refused`(goal: Int) async throws {
        let book = try await library.save(dune, record("Dune"))
        await #expect(throws: InputRefusal.self) {
            try await library.update(book.id, at: noon) { $0.copy.dailyGoal = goal }
        }
    }

    @Test(arguments: [0, -5, Int.min]) func `an impossible page count counts as unknown`(pages: Int) async throws {
        let book = try await library.save(dune, record("Dune"))
        let after = try await library.update(book.id, at: noon) { $0.edition.metadata.pageCount = pages }.book
        #expect(after.edition.metadata.pageCount == nil)
    }

    @Test(arguments: ["0001-01-01", "9999-12-31", "2024-02-29", "1969"])
    func `the first and the last possible days can be stored`(text: String) async throws {
        let day = try #require(CalendarDay(text))
        let number = day.number ?? day.span.lowerBound
        let added = Date(timeIntervalSince1970: Double(number) * 86_400)
        let book = try await library.save(dune, record("Dune"))
        let after = try await library.update(book.id, at: noon) { book in
            book.copy.added = added
            (book.edition.metadata.publishedDate, book.edition.metadata.publishedDateText) = (day, text)
        }.book
        #expect(after.copy.added == added && after.edition.metadata.publishedDate == day)
        #expect(after.json.text.contains(text))
    }

    @Test func `a book entered with all fields and first notes is one change`() async throws {
        let before = try await library.dump()
        let entered = try confirmed(dune, record("Dune"), preset: Preset(shelf: "Hall", tags: ["sf"], status: .read))
        let notes = [Note(text: "first\nlines", created: noon), Note(kind: .discussion, text: "ask", created: noon)]
        let result = try await library.enter(entered, notes: notes, dates: DateEdit(), at: noon) { copy in
            copy.rating = 4.5
            copy.isFavourite = true
            copy.recommendedBy = "Ada"
            copy.added = Date(timeIntervalSince1970: 1000)
        }
        guard case .saved(let id, let change) = result else { throw LibraryError.noSuchBook(ID(rawValue: "\(result)")) }
        let book = try #require(try await library.book(id))
        #expect(book.copy.rating == 4.5 && book.copy.isFavourite && book.copy.recommendedBy == "Ada")
        #expect(book.copy.status == .read && book.copy.shelf == "Hall" && book.copy.reading?.state == .finished)
        #expect(book.copy.added == Date(timeIntervalSince1970: 1000))
        #expect(try await library.notes(of: id) == notes)
        #expect(try await library.changes(limit: 9).map(\.summary) == ["saved \"Dune\""])
        _ = try await library.undo(change, at: noon)
        #expect(try await library.dump() == before)
    }

    @Test func `a book entered with the dates of its reading is one change, and none if the dates are impossible`()
        async throws
    {
        let before = try await library.dump()
        let entered = try confirmed(dune, record("Dune"), preset: Preset(status: .read))
        let (from, to) = (CalendarDay(year: 2026, month: 2), CalendarDay(year: 2025))
        let dates = DateEdit(started: from.map { .set($0) } ?? .keep)
        let result = try await library.enter(entered, notes: [], dates: dates, at: noon) { _ in }
        guard case .saved(let id, let change) = result else { throw LibraryError.noSuchBook(ID(rawValue: "\(result)")) }
        #expect(try await library.book(id)?.copy.reading?.started == from)
        _ = try await library.undo(change, at: noon)
        #expect(try await library.dump() == before)
        let again = try confirmed(dune, record("Dune"), preset: Preset(status: .read))
        let turnedRound = DateEdit(started: dates.started, finished: to.map { .set($0) } ?? .keep)
        await #expect(throws: ReadingRefusal.self) {
            try await library.enter(again, notes: [], dates: turnedRound, at: noon) { _ in }
        }
        #expect(try await library.dump() == before)
    }

    @Test(
        arguments: [
            (.toRead, nil), (.reading, "open 2026-11-21/-/- page(0)"), (.read, "finished -/2026-11-21/- page(382)"),
            (.onHold, "open -/-/- none"), (.dnf, "stopped -/-/2026-11-21 none"),
        ] as [(Copy.Status, String?)])
    func `a book entered by hand has the dates and the progress of its status, and a batch has none`(
        status: Copy.Status, reading: String?
    ) async throws {
        let library = try LibraryFile.inMemory(zone: .gmt)
        let before = try await library.dump()
        func text(_ copy: ID<Copy>) async throws -> String? {
            try #require(try await library.book(copy)).copy.reading.map { reading in
                let days = [reading.started, reading.finished, reading.stopped].map { $0?.description ?? "-" }
                return "\(reading.state.rawValue) \(days.joined(separator: "/")) "
                    + (reading.progress.map { "\($0.amount)" } ?? "none")
            }
        }
        let known = record("Dune") { $0.pageCount = 382 }
        let entered = try confirmed(dune, known, preset: Preset(status: status))
        let result = try await library.enter(entered, notes: [], dates: DateEdit(), at: noon) { _ in }
        #expect(try await text(result.copy) == reading)
        #expect(try await library.book(result.copy)?.copy.status == status)
        // A copy in the trash gets them, too.
        _ = try await library.trash([result.copy], at: noon)
        let again = try confirmed(dune, known, preset: Preset(status: status))
        let restored = try await library.enter(again, notes: [], dates: DateEdit(), at: noon) { _ in }
        #expect(try await text(restored.copy) == reading)
        for change in try await library.changes(limit: 9) { _ = try await library.undo(change.id, at: noon) }
        #expect(try await library.dump() == before)
        let batch = try confirmed(dune, known, preset: Preset(status: status))
        let saved = try #require(try await library.add([batch], at: noon).first)
        let state = Reading.State(after: status).map { "\($0.rawValue) -/-/- none" }
        #expect(try await text(saved.copy) == state)
    }

    @Test func `a book that is owned already gets neither fields nor notes`() async throws {
        try await library.save(dune, record("Dune"))
        let before = try await library.dump()
        let result = try await library.enter(
            try confirmed(dune, record("Dune")), notes: [Note(text: "x", created: noon)], dates: DateEdit(), at: noon
        ) { $0.rating = 1 }
        guard case .owned = result else { throw LibraryError.noSuchBook(ID(rawValue: "\(result)")) }
        #expect(try await library.dump() == before)
    }

    @Test func `a book whose first note is refused is not saved`() async throws {
        let before = try await library.dump()
        await #expect(throws: TextRefusal.self) {
            try await library.enter(
                try confirmed(dune, record("Dune")), notes: [Note(text: " ", created: noon)], dates: DateEdit(),
                at: noon
            ) { _ in }
        }
        await #expect(throws: InputRefusal.self) {
            try await library.enter(try confirmed(dune, record("Dune")), notes: [], dates: DateEdit(), at: noon) {
                $0.rating = 9
            }
        }
        #expect(try await library.dump() == before)
    }
}
