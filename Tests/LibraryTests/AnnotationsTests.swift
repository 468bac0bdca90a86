import Bookplate
import FoundationEssentials
import Testing

@testable import Library

@Suite struct AnnotationsTests {
    let library: LibraryFile

    init() throws { library = try LibraryFile.inMemory() }

    private func later(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }

    @Test func `a book has many notes, with kind and time, oldest first`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let second = try await library.add(
            Note(kind: .discussion, text: " Ask Ada.\r\nAnd Ben. ", created: later(9)), to: book.id, at: later(9))
        let first = try await library.add(Note(text: "Sand.", created: noon), to: book.id, at: noon)
        #expect(try await library.notes(of: book.id) == [first.content, second.content])
        #expect(second.content.text == "Ask Ada.\nAnd Ben." && second.content.kind == .discussion)
        #expect(second.book == book)
        #expect(try await library.lastChange()?.summary == "added a note to \"Dune\"")
    }

    @Test func `quotes are sorted by page, those without one last`() async throws {
        let book = try await library.save(dune, record("Dune"))
        for (text, page) in [("none", nil), ("nine", 9), ("two", 2), ("nine again", 9)] as [(String, Int?)] {
            _ = try await library.add(Quote(text: text, page: page, created: noon), to: book.id, at: noon)
        }
        #expect(try await library.quotes(of: book.id).map(\.text) == ["two", "nine", "nine again", "none"])
    }

    @Test func `the latest of all books are listed newest first, without those in the trash`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let other = try await library.save(odyssey, record("The Odyssey", by: ["Homer"]))
        for number in 0..<5 {
            let copy = number.isMultiple(of: 2) ? book.id : other.id
            _ = try await library.add(
                Note(text: "\(number)", created: later(Double(number))), to: copy, at: noon)
            _ = try await library.add(
                Quote(text: "\(number)", created: later(Double(number))), to: copy, at: noon)
        }
        #expect(try await library.latestNotes(limit: 3).map(\.content.text) == ["4", "3", "2"])
        #expect(try await library.latestQuotes(limit: 2).map(\.book.displayTitle) == ["Dune", "The Odyssey"])
        _ = try await library.trash([book.id], at: noon)
        #expect(try await library.latestNotes(limit: 9).map(\.content.text) == ["3", "1"])
        #expect(try await library.notes(of: book.id).count == 3)
        #expect(try await library.latestQuotes(limit: -1).isEmpty)
    }

    @Test func `are found by their id or its end`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let note = try await library.add(Note(text: "x", created: noon), to: book.id, at: noon)
        let id = note.content.id.rawValue
        for name in [id, id.uppercased(), String(id.suffix(6)), String(id.suffix(4))] {
            #expect(try await library.notes(named: name).map(\.content) == [note.content])
        }
        for name in [String(id.suffix(3)), "", "%%%%", "____", id + "0", String(repeating: "a", count: 1_000_000)] {
            #expect(try await library.notes(named: name).isEmpty)
        }
        #expect(try await library.quotes(named: id).isEmpty)
    }

    /// The acts on the annotations of a book with one note and one quote.
    enum Act: CaseIterable { case addNote, addQuote, editNote, editKind, editQuote, clearPage, deleteNote, deleteBoth }

    @Test(arguments: Act.allCases) func `every act is one change that can be undone`(act: Act) async throws {
        let book = try await library.save(dune, record("Dune"))
        let note = try await library.add(Note(text: "old", created: noon), to: book.id, at: noon).content
        let quote = try await library.add(Quote(text: "old", page: 3, created: noon), to: book.id, at: noon).content
        let before = try await library.dump()
        let summary: String
        switch act {
        case .addNote:
            _ = try await library.add(Note(text: "new", created: noon), to: book.id, at: noon)
            summary = "added a note to \"Dune\""
        case .addQuote:
            _ = try await library.add(Quote(text: "new", created: noon), to: book.id, at: noon)
            summary = "added a quote to \"Dune\""
        case .editNote:
            let edited = try await library.editNote(note.id, at: later(60)) { $0.text = "new" }
            #expect(edited.content.text == "new" && edited.content.created == noon)
            summary = "edited a note on \"Dune\""
        case .editKind:
            #expect(try await library.editNote(note.id, at: noon) { $0.kind = .discussion }.content.kind == .discussion)
            summary = "edited a note on \"Dune\""
        case .editQuote:
            #expect(try await library.editQuote(quote.id, at: noon) { $0.text = "new" }.content.page == 3)
            summary = "edited a quote on \"Dune\""
        case .clearPage:
            #expect(try await library.editQuote(quote.id, at: noon) { $0.page = nil }.content.page == nil)
            summary = "edited a quote on \"Dune\""
        case .deleteNote:
            _ = try await library.deleteNotes([note.id], at: noon)
            summary = "deleted a note on \"Dune\""
        case .deleteBoth:
            let second = try await library.add(Quote(text: "two", created: noon), to: book.id, at: noon).content
            _ = try await library.deleteQuotes([quote.id, second.id], at: noon)
            #expect(try await library.quotes(of: book.id).isEmpty)
            let change = try #require(try await library.lastChange())
            #expect(change.summary == "deleted 2 quotes on \"Dune\"")
            _ = try await library.undo(change.id, at: noon)
            summary = "added a quote to \"Dune\""
        }
        #expect(try await library.dump() != before)
        let change = try #require(try await library.lastChange())
        #expect(change.summary == summary && change.kind == .edit)
        _ = try await library.undo(change.id, at: noon)
        #expect(try await library.dump() == before)
    }

    @Test func `an edit that changes nothing is no change, and the creation time cannot be edited`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let note = try await library.add(Note(text: "x", created: noon), to: book.id, at: noon).content
        let changes = try await library.changes(limit: 9)
        let after = try await library.editNote(note.id, at: noon) { note in
            note.text = " x\n"
            note.created = Date(timeIntervalSince1970: 0)
        }
        #expect(after.content == note)
        #expect(try await library.changes(limit: 9) == changes)
    }

    @Test func `unknown ids are refused`() async throws {
        await #expect(throws: AnnotationRefusal.noSuchNote("none")) {
            try await library.editNote(ID(rawValue: "none"), at: noon) { _ in }
        }
        await #expect(throws: AnnotationRefusal.noSuchQuote("none")) {
            try await library.deleteQuotes([ID(rawValue: "none")], at: noon)
        }
        await #expect(throws: LibraryError.noSuchBook(ID(rawValue: "none"))) {
            try await library.add(Note(text: "x", created: noon), to: ID(rawValue: "none"), at: noon)
        }
    }

    @Test(arguments: HostileText.allCases)
    func `a text is stored clean and within its limit, or refused`(hostile: HostileText) async throws {
        let book = try await library.save(dune, record("Dune"))
        let before = try await library.dump()
        do {
            let note = try await library.add(Note(text: hostile.text, created: noon), to: book.id, at: noon).content
            let quote = try await library.add(Quote(text: hostile.text, created: noon), to: book.id, at: noon).content
            #expect(note.text.isClean && note.text.count <= TextLimit.note && !note.text.isEmpty)
            #expect(quote.text == note.text)
            if hostile == .lineBreaks { #expect(note.text == "one\ntwo\nthree") }
            if hostile == .quotes { #expect(note.text == hostile.text.cleaned) }
        } catch is TextRefusal {
            #expect(try await library.dump() == before)
            #expect([.megabytes, .manyCharacters, .onlyNul, .whiteSpace, .invisible, .damaged].contains(hostile))
        }
    }

    @Test(arguments: [0, -1, 1_000_001, Int.max, Int.min]) func `an impossible page is refused`(page: Int) async throws
    {
        let book = try await library.save(dune, record("Dune"))
        await #expect(throws: InputRefusal.outOfRange(what: "page", range: 1...1_000_000)) {
            try await library.add(Quote(text: "x", page: page, created: noon), to: book.id, at: noon)
        }
    }

    @Test func `a long note of an import can change its kind, but not get another text above the limit`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let note = Note(text: String(repeating: "x", count: 6000), created: noon)
        try await library.write { db in
            guard let stored = try StoredBook.one(db, book.id) else { throw LibraryError.noSuchBook(book.id) }
            try note.insert(db, to: stored.copyRow)
        }
        await #expect(throws: TextRefusal.tooLong(what: "note", limit: 5000, count: 6001)) {
            try await library.editNote(note.id, at: noon) { $0.text += "x" }
        }
        #expect(try await library.editNote(note.id, at: noon) { $0.kind = .discussion }.content.kind == .discussion)
    }

    @Test func `the trash keeps notes and quotes, and restoring brings them back`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let note = try await library.add(Note(text: "n", created: noon), to: book.id, at: noon).content
        let quote = try await library.add(Quote(text: "q", created: noon), to: book.id, at: noon).content
        let before = try await library.dump()
        _ = try await library.trash([book.id], at: noon)
        #expect(try await library.notes(named: note.id.rawValue).isEmpty)
        _ = try await library.restore([book.id], at: noon)
        #expect(try await library.notes(of: book.id) == [note])
        #expect(try await library.quotes(of: book.id) == [quote])
        #expect(try await library.dump() == before)
        _ = try await library.trash([book.id], at: noon)
        let change = try #require(try await library.lastChange())
        _ = try await library.undo(change.id, at: noon)
        #expect(try await library.dump() == before)
    }

    @Test func `after thirty days in the trash they are deleted with their book and its readings`() async throws {
        let gone = try await library.save(dune, record("Dune"), preset: Preset(tags: ["t"], status: .reading))
        let kept = try await library.save(odyssey, record("The Odyssey", by: ["Homer"]), preset: Preset(status: .read))
        for copy in [gone.id, kept.id] {
            _ = try await library.add(Note(text: "n", created: noon), to: copy, at: noon)
            _ = try await library.add(Quote(text: "q", created: noon), to: copy, at: noon)
            try await library.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO session (uuid, reading, start, "end") SELECT 's' || id, id, 1, 2 FROM reading
                            WHERE copy = (SELECT id FROM copy WHERE uuid = ?1);
                        """, arguments: [copy.rawValue])
                try db.execute(
                    sql: """
                        INSERT INTO progressEntry (uuid, reading, at, page, session)
                            SELECT 'p' || reading, reading, 1, 2, id FROM session
                            WHERE uuid = (SELECT 's' || id FROM reading
                                WHERE copy = (SELECT id FROM copy WHERE uuid = ?1));
                        """, arguments: [copy.rawValue])
                try db.execute(
                    sql: """
                        INSERT INTO importFlag (copy, source, what, raw, at)
                            SELECT id, 'goodreads', 'cut', 'row', 1 FROM copy WHERE uuid = ?1
                        """, arguments: [copy.rawValue])
            }
        }
        #expect(try await library.wholeBook(gone.id)?.flags.map(\.what) == ["cut"])
        _ = try await library.trash([gone.id], at: noon)
        try await library.set("goal", to: "12", at: later(29 * 86_400))
        #expect(try await library.notes(of: gone.id).count == 1)
        try await library.set("goal", to: "13", at: later(31 * 86_400))
        let rest = try await library.dump().map { $0.prefix { $0 != " " } }
        for table in ["copy", "note", "quote", "reading", "session", "progressEntry", "importFlag"] {
            #expect(rest.filter { $0 == table }.count == 1, "\(table)")
        }
        #expect(try await library.notes(of: kept.id).count == 1)
    }

    @Test func `a save is not undone before a note that was added since`() async throws {
        let book = try await library.save(dune, record("Dune"))
        let save = try #require(try await library.lastChange())
        _ = try await library.add(Note(text: "mine", created: noon), to: book.id, at: noon)
        let note = try #require(try await library.lastChange())
        let before = try await library.dump()
        let refusal = await #expect(throws: UndoRefusal.self) { try await library.undo(save.id, at: noon) }
        guard case .changedSince(save, let later?) = refusal else { throw try #require(refusal) }
        #expect(later.id == note.id)
        #expect(try await library.dump() == before)
        _ = try await library.undo(note.id, at: noon)
        _ = try await library.undo(save.id, at: noon)
        #expect(try await library.book(book.id) == nil)
    }
}
