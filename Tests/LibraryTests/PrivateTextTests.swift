import Bookplate
import FoundationEssentials
import Synchronization
import TestTools
import Testing

@testable import Library

/// Private notes and quotes, of two readers. Anna has written them, and has a PIN.
@Suite struct `Private notes and quotes` {
    let folder = Folder()
    let library: LibraryFile

    init() throws { library = try LibraryFile.open(at: folder("library.sqlite"), clock: { noon }, zone: .gmt) }

    /// Somebody who looks for the private texts.
    enum Viewer: String, CaseIterable {
        case otherReader, guest, guestOfReader, locked, unlockedElsewhere, unlockedBefore
    }

    private static let pin = "2718"

    /// Adds the readers Ben and Anna, and a book on which Anna has a private note, a private quote, and a note for all.
    private func prepared() async throws -> (anna: Reader, book: ID<Copy>, note: ID<Note>, quote: ID<Quote>) {
        let anna = try await library.addReader("Anna", naming: "Ben", at: noon).reader
        let book = try await library.save(dune, record("Dune")).id
        let hers = try await library.reading(as: anna.id, holder: "her window", isGuest: false, at: noon)
        let note = try await hers.add(
            Note(text: "The heliotrope secret", created: noon, isPrivate: true), to: book, at: noon)
        let quote = try await hers.add(
            Quote(text: "A heliotrope line", created: noon, isPrivate: true), to: book, at: noon)
        _ = try await hers.add(Note(text: "Sand for everybody", created: noon), to: book, at: noon)
        try await library.setPIN(Self.pin, of: anna.id, holder: nil, at: noon)
        return (anna, book, note.content.id, quote.content.id)
    }

    private func unlock(_ reader: Reader, _ holder: String, at now: Date = noon) async throws -> CodeCheck {
        try await library.unlock(reader.id, pin: Self.pin, holder: holder, from: "192.0.2.1", at: now)
    }

    private func view(_ viewer: Viewer, of anna: Reader) async throws -> LibraryFile {
        switch viewer {
        case .otherReader: return try await library.reading(as: nil, holder: "window", isGuest: false, at: noon)
        case .guest: return try await library.reading(as: nil, holder: nil, isGuest: true, at: noon)
        case .guestOfReader: return try await library.reading(as: anna.id, holder: nil, isGuest: true, at: noon)
        case .locked: return try await library.reading(as: anna.id, holder: "window", isGuest: false, at: noon)
        case .unlockedElsewhere:
            #expect(try await unlock(anna, "another window") == .right)
            return try await library.reading(as: anna.id, holder: "window", isGuest: false, at: noon)
        case .unlockedBefore:
            #expect(try await unlock(anna, "window", at: noon.addingTimeInterval(-Reader.unlockedFor)) == .right)
            return try await library.reading(as: anna.id, holder: "window", isGuest: false, at: noon)
        }
    }

    /// Everything that a library says of notes and quotes, as one text.
    private func everything(_ library: LibraryFile, _ book: ID<Copy>) async throws -> String {
        var query = BookQuery()
        query.text = "heliotrope"
        let found = try await library.books(matching: query)
        let facets = try await library.facets(matching: query)
        let whole = try #require(try await library.wholeBook(book))
        let lines = Mutex("")
        try await library.export { record in lines.withLock { $0 += "\(record)\n" } }
        return [
            "\(found.total) found", "\(found.hits.map { $0.match.map { "\($0)" } ?? "" })", "\(facets.statuses.values)",
            whole.json.text, "\(try await library.notes(of: book).map(\.text))",
            "\(try await library.quotes(of: book).map(\.text))",
            "\(try await library.latestNotes(limit: 9).map(\.content.text))",
            "\(try await library.latestQuotes(limit: 9).map(\.content.text))", lines.withLock(\.self),
        ].joined(separator: "\n")
    }

    @Test(arguments: Viewer.allCases)
    func `are seen by nobody but their reader, unlocked`(_ viewer: Viewer) async throws {
        let (anna, book, note, quote) = try await prepared()
        let view = try await view(viewer, of: anna)
        let seen = try await everything(view, book)
        #expect(seen.hasPrefix("0 found\n") && !seen.contains("heliotrope"), "\(viewer)")
        #expect(try await view.notes(named: note.rawValue).isEmpty)
        #expect(try await view.quotes(named: quote.rawValue).isEmpty)
        await #expect(throws: AnnotationRefusal.noSuchNote(note.rawValue)) {
            try await view.editNote(note, at: noon) { $0.text = "seen" }
        }
        await #expect(throws: AnnotationRefusal.noSuchQuote(quote.rawValue)) {
            try await view.deleteQuotes([quote], at: noon)
        }
        // Every note for all is there.
        #expect(seen.contains("Sand for everybody"))
        var query = BookQuery()
        query.text = "everybody"
        #expect(try await view.books(matching: query).total == 1)
        // Neither are the changes shown, or undone.
        let own = try await library.reading(as: anna.id, holder: "her window", isGuest: false, at: noon)
        #expect(try await unlock(anna, "her window") == .right)
        let all = try await own.changes(limit: 99)
        let shown = try await view.changes(limit: 99)
        let hidden = all.filter { !shown.contains($0) }
        #expect(hidden.map(\.summary) == ["added a quote to \"Dune\"", "added a note to \"Dune\""])
        for change in hidden {
            await #expect(throws: UndoRefusal.noSuchChange) { try await view.undo(change.id, at: noon) }
            #expect(try await view.changes(endingIn: String(change.id.rawValue.suffix(8))).isEmpty)
        }
    }

    @Test func `are seen by their reader for 15 minutes after the PIN`() async throws {
        let (anna, book, note, _) = try await prepared()
        #expect(try await unlock(anna, "window") == .right)
        let view = try await library.reading(as: anna.id, holder: "window", isGuest: false, at: noon)
        let seen = try await everything(view, book)
        #expect(
            seen.hasPrefix("1 found\n") && seen.contains("The heliotrope secret") && seen.contains("heliotrope line"))
        _ = try await view.editNote(note, at: noon) { $0.text = "The mauve secret" }
        let last = try #require(try await view.lastChange())
        #expect(try await library.lastChange()?.id != last.id)
        _ = try await view.undo(last.id, at: noon)
        #expect(try await view.redoableChanges(limit: 9).map(\.id) == [last.id])
        #expect(try await library.redoableChanges(limit: 9).isEmpty)
        // A note that was made visible is everybody's, and so is the search for it. How it was before is not.
        _ = try await view.editNote(note, at: noon) { $0.isPrivate = false }
        #expect(try await library.notes(of: book).contains { $0.id == note && $0.reader?.name == "Anna" })
        #expect(try await library.lastChange()?.summary != "edited a note on \"Dune\"")
        await #expect(throws: AnnotationRefusal.ofOtherReader("Anna")) {
            try await library.editNote(note, at: noon) { $0.text = "mine" }
        }
        try await library.lock(anna.id, holder: "window")
        #expect(try await !everything(view, book).contains("heliotrope line"))
    }

    @Test func `are not written while their reader is locked`() async throws {
        let (anna, book, _, _) = try await prepared()
        let locked = try await library.reading(as: anna.id, holder: "window", isGuest: false, at: noon)
        await #expect(throws: ReaderRefusal.locked) {
            try await locked.add(Note(text: "Late", created: noon, isPrivate: true), to: book, at: noon)
        }
        #expect(try await locked.add(Note(text: "For all", created: noon), to: book, at: noon).content.reader == nil)
    }

    @Test func `of a reader in the trash are gone from the search, and back with the reader`() async throws {
        let (anna, _, _, _) = try await prepared()
        var query = BookQuery()
        query.text = "everybody"
        _ = try await library.deleteReader(anna.id, at: noon)
        #expect(try await library.books(matching: query).total == 0)
        _ = try await library.restoreReader(anna.id, at: noon)
        #expect(try await library.books(matching: query).total == 1)
        // The PIN is still needed.
        #expect(try await unlock(anna, "window") == .right)
    }

    @Test func `stay locked after too many wrong PINs, for this reader only`() async throws {
        let (anna, _, _, _) = try await prepared()
        try await library.setAccessCode("kumquat 7", at: noon)
        func guess(_ pin: String, from address: String = "192.0.2.1", at now: Date = noon) async throws -> CodeCheck {
            try await library.unlock(anna.id, pin: pin, holder: "window", from: address, at: now)
        }
        for number in 0..<5 { #expect(try await guess("000\(number)") == .wrong) }
        #expect(try await guess(Self.pin) == .throttled(seconds: 30))
        #expect(try await guess(Self.pin, from: "192.0.2.2") == .right)
        #expect(try await library.check(code: "kumquat 7", from: "192.0.2.1", device: "", at: noon) == .right)
        // Another access code does not reset the count.
        try await library.setAccessCode("kumquat 8", at: noon)
        #expect(try await guess(Self.pin) == .throttled(seconds: 30))
        #expect(try await guess(Self.pin, at: noon.addingTimeInterval(31)) == .right)
    }

    @Test func `keep their PIN against anybody who does not know it`() async throws {
        let (anna, _, _, _) = try await prepared()
        for holder in [nil, "window"] {
            await #expect(throws: ReaderRefusal.locked) {
                try await library.setPIN(nil, of: anna.id, holder: holder, at: noon)
            }
        }
        #expect(try await unlock(anna, "window") == .right)
        for pin in ["123", "", String(repeating: "1", count: 300), "12\n34"] {
            await #expect(throws: ReaderRefusal.badPIN) {
                try await library.setPIN(pin, of: anna.id, holder: "window", at: noon)
            }
        }
        try await library.setPIN("31415", of: anna.id, holder: "window", at: noon)
        #expect(try await unlock(anna, "window") == .wrong)
        #expect(try await library.readers().map(\.hasPIN) == [false, true])
    }
}
