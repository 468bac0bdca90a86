import ArgumentParser
import Bookplate
import Foundation

struct LibraryAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Enter a book by hand; a title is enough.",
        discussion: """
              scan library add --title "Faust" --author "J. W. von Goethe"
              scan library add --title "Beowulf" --translator "Seamus Heaney" \\
                --original-language ang --status read --finished 2026-02 \\
                --rating 4.5 --note "Read it aloud."
            """)

    @Option(help: ArgumentHelp("Its ISBN; a wrong one is kept as text, with a warning.", valueName: "number")) var isbn:
        String?
    @OptionGroup var fields: MetadataOptions
    @OptionGroup var preset: PresetOptions
    @OptionGroup var facts: CopyFactOptions
    @OptionGroup var days: ReadingDayOptions
    @Option(
        name: .customLong("note"),
        help: ArgumentHelp("A note on it (can be repeated); - takes one from standard input.", valueName: "text"))
    var notes: [String] = []
    @Flag(help: "Save another copy of what is owned already.") var anotherCopy = false
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try days.check(with: preset.status) }

    func run() async throws {
        let now = Date()
        var metadata = Metadata()
        try fields.change()(&metadata)
        let facts = try facts.change()
        let notes = try notes.map { Note(text: try EnteredText.read($0, as: "note"), created: now) }
        let dates = try days.edit(.here)
        let number = try isbn.map { try EnteredNumber($0) }
        let confirmed: Confirmed
        do {
            confirmed = try Confirmed(
                enteredBy: .form, isbn: number?.isbn, isbnText: number?.text, metadata: metadata,
                preset: preset.preset(), anotherCopy: anotherCopy)
        } catch let refusal as TextRefusal {
            throw Complaint(.usage, refusal.description + ". Give it one with --title.")
        }
        EnteredNumber.warn(number)
        let library = try Wiring(settings: places.settings()).openLibrary()
        switch try await library.enter(confirmed, notes: notes, dates: dates, at: now, facts) {
        case .owned(let book):
            throw Complaint(
                .nothing,
                "you have \(quoted([book.displayTitle])) already, \(book.standing). --another-copy adds a second one."
            )
        case .saved(let copy, _), .wishFulfilled(let copy, _), .restored(let copy, _), .alreadySaved(let copy):
            guard let book = try await library.book(copy) else { return }
            if output.json {
                Output.shared.line(book.json)
            } else {
                Output.shared.changed(["✓ saved   \(BookList.line(for: book, width: 80))"])
            }
        }
    }
}

struct LibraryEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Change what the library says of a book.",
        discussion: """
              scan library edit 9780441478125 --shelf Attic --tag sf --rating 4.5
              scan library edit beowulf --translator "Seamus Heaney" --would-recommend
            """)

    @OptionGroup var named: NamedBook
    @Option(
        help: ArgumentHelp(
            "Its right ISBN; a wrong one is kept as text, with a warning; \"\" for none.", valueName: "number"))
    var isbn: String?
    @OptionGroup var fields: MetadataOptions
    @OptionGroup var copy: CopyOptions
    @OptionGroup var facts: CopyFactOptions
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if fields.isEmpty, copy.isEmpty, facts.isEmpty, isbn == nil {
            throw ValidationError("Say what to change, such as --title or --shelf.")
        }
    }

    func run() async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let (changeEdition, changeCopy, changeFacts) = (try fields.change(), try copy.change(), try facts.change())
        let number = try isbn.map { $0.isEmpty ? nil : try EnteredNumber($0) }
        let before = try await library.book(named: named.name)
        if let number { EnteredNumber.warn(number) }
        let (book, _) = try await library.update(before.id, at: Date()) { book in
            changeEdition(&book.edition.metadata)
            changeCopy(&book.copy)
            changeFacts(&book.copy)
            if let number { (book.edition.isbn, book.edition.isbnText) = (number?.isbn, number?.text) }
        }
        if output.json {
            Output.shared.line(book.json)
        } else {
            Output.shared.changed(["Changed: \(book.displayTitle.oneLine)"])
        }
    }
}
