import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

/// The commands `scan note list` and `scan quote list`.
struct AnnotationListing<Content: PrintedAnnotation>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let noun = Content.noun
        return CommandConfiguration(
            commandName: "list",
            abstract:
                "List the \(noun)s \(Content.preposition) one book, or the latest \(noun)s \(Content.preposition) all books.",
            discussion: "  scan \(noun) list dune\n  scan \(noun) list --limit 10")
    }
    @Argument(
        help: ArgumentHelp(
            "An ISBN, an id, or words from the title or authors (default: all books).", valueName: "book"),
        completion: .values(.bookWords))
    var words: [String] = []
    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp(
            "If no book is given: the maximum number of \(Content.noun)s to list (default: 50, or all with --json, --format or --tsv)."
        ))
    var limit: Int?
    @OptionGroup var printed: PrintedListOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        if limit != nil, !words.isEmpty {
            throw ValidationError(
                "--limit cannot be used with a book, because all \(Content.noun)s \(Content.preposition) one book are always shown."
            )
        }
    }

    func run() async throws {
        let printer = try ListPrinter(printed, json: output.json, Content.fields)
        let wiring = try Wiring(settings: paths.settings())
        guard let library = try words.isEmpty ? wiring.openExistingLibrary() : wiring.requireLibrary() else {
            return AnnotationList.printEmpty(Content.noun, json: output.json)
        }
        let annotations: [Annotation<Content>]
        if words.isEmpty {
            annotations = try await Content.latest(printer.limit(limit), in: library)
        } else {
            let choosing = Asking.canChoose(json: output.json)
            let book = try await library.book(named: words.joined(separator: " "), choosing: choosing)
            annotations = try await Content.all(of: book.id, in: library).map { Annotation($0, on: book) }
        }
        if annotations.isEmpty { AnnotationList.printEmpty(Content.noun, json: output.json) }
        let ids =
            printer.needsShortIDs
            ? try await library.shortIDs(of: annotations.map(\.content.id.rawValue), in: Content.table) : [:]
        let list = AnnotationList(json: output.json)
        let width = Output.shared.isTerminal ? max(60, terminalSize().columns) : 200
        try await printer.paged {
            try printer.print(annotations, ids: ids, json: Content.json) { annotation in
                let id = ids[annotation.content.id.rawValue]
                return words.isEmpty
                    ? [list.line(for: annotation, id: id, width: width)]
                    : AnnotationList.lines(annotation.content, id: id, list.zone, Output.shared.style)
            }
        }
    }
}

/// The commands `scan note delete` and `scan quote delete`.
struct AnnotationDeletion<Content: PrintedAnnotation>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "delete", abstract: "Delete \(Content.noun)s (to undo this, run 'scan undo').",
            discussion: "  scan \(Content.noun) delete 3fa2c1")
    }
    @Argument(
        help: ArgumentHelp(
            "The id of each \(Content.noun), or the last four or more characters of the id.", valueName: Content.noun),
        completion: .values(Content.values))
    var names: [String]
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        var annotations: [Annotation<Content>] = []
        for name in names {
            let annotation: Annotation<Content> = try await AnnotationList.find(name, in: library)
            if !annotations.contains(annotation) { annotations.append(annotation) }
        }
        let list = AnnotationList(json: output.json)
        if !output.json { list.show(annotations) }
        let question = "Delete \(counted(annotations.count, Content.noun))?"
        guard try Asking.mayGoOn(question, yes: yes, json: output.json) else { return }
        let change = try await Content.delete(annotations.map(\.content.id), in: library, at: Date())
        list.printDeleted(annotations, change)
    }
}

/// The interface through which commands handle both notes and quotes.
protocol PrintedAnnotation: Sendable, Equatable {
    var id: ID<Self> { get }
    var text: String { get }
    var created: Date { get }
    /// The text after the date, such as "page 8" or "discussion".
    var mark: String? { get }
    var isPrivate: Bool { get }
    var reader: ReaderName? { get }
    static func json(_ annotation: Annotation<Self>) -> JSONValue
    /// The table in which the library has the annotations.
    static var table: TableWithIDs { get }
    /// The fields of the lists.
    static var fields: RowFields { get }
    static var noun: String { get }
    /// The ids that are completed.
    static var values: CompletedValue { get }
    /// The preposition before the book: "on" as in "a note on a book", or "from" as in "a quote from a book".
    static var preposition: String { get }
    static func refusal(_ name: String) -> AnnotationRefusal
    /// Returns the annotations of one book, in the order in which its page shows them.
    static func all(of copy: ID<Copy>, in library: LibraryFile) async throws -> [Self]
    /// Returns the annotations of all books, newest first.
    static func latest(_ limit: Int, in library: LibraryFile) async throws -> [Annotation<Self>]
    static func named(_ name: String, in library: LibraryFile) async throws -> [Annotation<Self>]
    static func delete(_ ids: [ID<Self>], in library: LibraryFile, at now: Date) async throws -> ID<Change>
}

extension Note: PrintedAnnotation {
    var mark: String? { kind == .note ? nil : kind.rawValue }
    static func json(_ annotation: Annotation<Note>) -> JSONValue { annotation.json }
    static let table = TableWithIDs.note
    static var fields: RowFields { .notes }
    static let noun = "note"
    static let values = CompletedValue.note
    static let preposition = "on"
    static func refusal(_ name: String) -> AnnotationRefusal { .noSuchNote(name) }
    static func all(of copy: ID<Copy>, in library: LibraryFile) async throws -> [Note] {
        try await library.notes(of: copy)
    }
    static func latest(_ limit: Int, in library: LibraryFile) async throws -> [Annotation<Note>] {
        try await library.latestNotes(limit: limit)
    }
    static func named(_ name: String, in library: LibraryFile) async throws -> [Annotation<Note>] {
        try await library.notes(named: name)
    }
    static func delete(_ ids: [ID<Note>], in library: LibraryFile, at now: Date) async throws -> ID<Change> {
        try await library.deleteNotes(ids, at: now)
    }
}

extension Quote: PrintedAnnotation {
    var mark: String? { page.map { "page \($0)" } }
    static func json(_ annotation: Annotation<Quote>) -> JSONValue { annotation.json }
    static let table = TableWithIDs.quote
    static var fields: RowFields { .quotes }
    static let noun = "quote"
    static let values = CompletedValue.quote
    static let preposition = "from"
    static func refusal(_ name: String) -> AnnotationRefusal { .noSuchQuote(name) }
    static func all(of copy: ID<Copy>, in library: LibraryFile) async throws -> [Quote] {
        try await library.quotes(of: copy)
    }
    static func latest(_ limit: Int, in library: LibraryFile) async throws -> [Annotation<Quote>] {
        try await library.latestQuotes(limit: limit)
    }
    static func named(_ name: String, in library: LibraryFile) async throws -> [Annotation<Quote>] {
        try await library.quotes(named: name)
    }
    static func delete(_ ids: [ID<Quote>], in library: LibraryFile, at now: Date) async throws -> ID<Change> {
        try await library.deleteQuotes(ids, at: now)
    }
}

/// Prints notes and quotes.
struct AnnotationList {
    let json: Bool
    var zone = TimeZone.current

    /// Returns the annotation with this name.
    ///
    /// - Parameter name: the id of the annotation, or the last four or more characters of the id.
    /// - Throws: ``CommandError`` if several annotations match, ``AnnotationRefusal`` if none matches.
    static func find<Content: PrintedAnnotation>(
        _ name: String, in library: LibraryFile
    ) async throws -> Annotation<Content> {
        let fits = try await Content.named(name, in: library)
        guard let first = fits.first else { throw Content.refusal(name) }
        guard fits.count == 1 else {
            throw CommandError(severalEndingIn: name, fits.map { ($0.content.id.rawValue, $0.book.displayTitle) })
        }
        return first
    }

    /// Prints each annotation in full, as on a book's page.
    func show<Content: PrintedAnnotation>(_ annotations: [Annotation<Content>]) {
        if annotations.isEmpty { return Self.printEmpty(Content.noun, json: json) }
        for annotation in annotations {
            if json {
                Output.shared.printLine(Content.json(annotation))
            } else {
                for line in Self.lines(annotation.content, zone, Output.shared.style) { Output.shared.printLine(line) }
            }
        }
    }

    /// Returns the line for an annotation with its book.
    ///
    /// - Parameter id: the short form of the id; `nil` for its last six characters.
    func line(for annotation: Annotation<some PrintedAnnotation>, id: String?, width: Int) -> String {
        let content = annotation.content
        let marks = [content.isPrivate ? "private" : nil, content.reader?.name.oneLine].compactMap(\.self)
        let head =
            "\(id ?? String(content.id.rawValue.suffix(6)))  \(CalendarDay(content.created, in: zone))  "
            + marks.map { "[\($0)] " }.joined()
        let text = "\(annotation.book.displayTitle.oneLine): \(content.text.oneLine)"
        return head + text.fitted(width - head.columns)
    }

    /// Returns the lines for an annotation: first a line with the end of its id, its date and its mark, and then its
    /// text, indented.
    ///
    /// - Parameter id: the short form of the id; `nil` for its last six characters.
    static func lines(
        _ content: some PrintedAnnotation, id: String? = nil, _ zone: TimeZone, _ style: Style
    ) -> [String] {
        let head = [
            CalendarDay(content.created, in: zone).description, content.mark, content.isPrivate ? "private" : nil,
            content.reader?.name.oneLine,
        ].compactMap(\.self)
        let id = id ?? String(content.id.rawValue.suffix(6))
        return ["  " + style.faint("\(id)  \(head.joined(separator: " · "))")]
            + content.text.printable.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
    }

    /// Prints an annotation after a change.
    func printChanged<Content: PrintedAnnotation>(_ what: String, _ annotation: Annotation<Content>) {
        if json { return Output.shared.printLine(Content.json(annotation)) }
        Output.shared.printChange(
            [
                "\(what) \(Content.preposition) \(annotation.book.displayTitle.oneLine): \(annotation.content.id.rawValue.suffix(6))"
            ], annotation.change, unchanged: "Nothing changed: this is what the \(Content.noun) already says.")
    }

    func printDeleted<Content: PrintedAnnotation>(_ annotations: [Annotation<Content>], _ change: ID<Change>) {
        if !json { return Output.shared.printChange(["\(counted(annotations.count, Content.noun)) deleted."], change) }
        for annotation in annotations { Output.shared.printLine(Content.json(annotation)) }
    }

    static func printEmpty(_ noun: String, json: Bool) {
        if !json { Output.shared.printNotice("There is no \(noun) yet. To add one, run 'scan \(noun) add BOOK TEXT'.") }
    }
}

struct NoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "note", abstract: "Notes on books: list, add, edit, delete.",
        discussion: """
            Name a note by its id, or by the end of the id as the list shows it.

              scan note add dune "The footnotes are half the fun."
              scan note add dune - < thoughts.txt
              scan note list dune
              scan note edit 3fa2c1 "The footnotes are all the fun."
            """,
        subcommands: [AnnotationListing<Note>.self, Add.self, Edit.self, AnnotationDeletion<Note>.self],
        defaultSubcommand: AnnotationListing<Note>.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a note on a book.",
            discussion: "  scan note add dune \"Ask Ada about the ending.\" --kind discussion")
        @Argument(
            help: ArgumentHelp(
                "An ISBN, an id or words from the title or authors. Put several words in quotes.", valueName: "book"),
            completion: .values(.book))
        var name: String
        @Argument(
            help:
                "The note, at most 5,000 characters; - reads it from standard input (default: opens your editor, $VISUAL or $EDITOR)."
        )
        var text: String?
        @Option(help: "The kind: 'note', or 'discussion' for a book club.") var kind: Note.Kind = .note
        @OptionGroup var privacy: PrivacyOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if text == nil, !EditedFile.isPossible { throw ValidationError("Missing expected argument '<text>'") }
        }

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let book = try await library.book(named: name, choosing: Asking.canChoose(json: output.json))
            guard
                let text = try EnteredText.read(text, as: "note", "on \(quoted([book.displayTitle]))")
            else { return Output.shared.printNotice("The text is empty, so no note was added.") }
            let now = Date()
            let note = Note(
                kind: kind, text: text, created: now, isPrivate: privacy.isPrivate ?? false)
            AnnotationList(json: output.json).printChanged(
                "Added a note", try await library.add(note, to: book.id, at: now))
        }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Change a note, and keep its date.",
            discussion: "  scan note edit 3fa2c1 \"It was the butler.\"")
        @Argument(
            help: ArgumentHelp("The note's id, or the last four or more characters of the id.", valueName: "note"),
            completion: .values(.note))
        var name: String
        @Argument(
            help:
                "The new text; - reads it from standard input (default: if no option is given, opens your editor, $VISUAL or $EDITOR)."
        )
        var text: String?
        @Option(help: "The new kind: 'note' or 'discussion'.") var kind: Note.Kind?
        @OptionGroup var privacy: PrivacyOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        /// True if nothing is given to change, so that the person changes the text in an editor.
        private var opensEditor: Bool { text == nil && kind == nil && privacy.isPrivate == nil }

        func validate() throws {
            if opensEditor, !EditedFile.isPossible {
                throw ValidationError("Say what to change: give a text, --kind or --private.")
            }
        }

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let note: Annotation<Note> = try await AnnotationList.find(name, in: library)
            let text =
                opensEditor || text != nil
                ? try EnteredText.read(
                    text, as: "note", changing: note.content.text, "on \(quoted([note.book.displayTitle]))") : nil
            let (kind, isPrivate) = (kind, privacy.isPrivate)
            let edited = try await library.editNote(note.content.id, at: Date()) { note in
                note.text = text ?? note.text
                note.kind = kind ?? note.kind
                note.isPrivate = isPrivate ?? note.isPrivate
            }
            AnnotationList(json: output.json).printChanged("Changed the note", edited)
        }
    }
}

extension Note.Kind: ExpressibleByArgument {}

/// The flag for a note or quote that only its reader sees. Only `scan reader --help` explains it, because most
/// libraries have one reader.
struct PrivacyOptions: ParsableArguments {
    @Flag(inversion: .prefixedNo, help: ArgumentHelp("Show it only to its reader.", visibility: .hidden))
    var `private`: Bool?

    var isPrivate: Bool? { `private` }
}

struct QuoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quote", abstract: "Quotes from books: list, add, edit, delete.",
        discussion: """
            Name a quote by its id, or by the end of the id as the list shows it.

              scan quote add dune "Fear is the mind-killer." --page 8
              scan quote list dune
              scan quote edit 3fa2c1 --page 9
            """,
        subcommands: [AnnotationListing<Quote>.self, Add.self, Edit.self, AnnotationDeletion<Quote>.self],
        defaultSubcommand: AnnotationListing<Quote>.self)

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a quote from a book.",
            discussion: "  scan quote add dune \"Fear is the mind-killer.\" --page 8")
        @Argument(
            help: ArgumentHelp(
                "An ISBN, an id or words from the title or authors. Put several words in quotes.", valueName: "book"),
            completion: .values(.book))
        var name: String
        @Argument(
            help:
                "The passage, at most 5,000 characters; - reads it from standard input (default: opens your editor, $VISUAL or $EDITOR)."
        )
        var text: String?
        @Option(help: "The number of the page with the passage.") var page: Int?
        @OptionGroup var privacy: PrivacyOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if text == nil, !EditedFile.isPossible { throw ValidationError("Missing expected argument '<text>'") }
        }

        func run() async throws {
            try NumberLimit.check(page, as: "page", in: NumberLimit.pages)
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let book = try await library.book(named: name, choosing: Asking.canChoose(json: output.json))
            guard
                let text = try EnteredText.read(text, as: "quote", "from \(quoted([book.displayTitle]))")
            else { return Output.shared.printNotice("The text is empty, so no quote was added.") }
            let now = Date()
            let quote = Quote(
                text: text, page: page, created: now, isPrivate: privacy.isPrivate ?? false)
            AnnotationList(json: output.json).printChanged(
                "Added a quote", try await library.add(quote, to: book.id, at: now))
        }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Change a quote, and keep its date.",
            discussion: "  scan quote edit 3fa2c1 --page 9")
        @Argument(
            help: ArgumentHelp("The quote's id, or the last four or more characters of the id.", valueName: "quote"),
            completion: .values(.quote))
        var name: String
        @Argument(
            help:
                "The new text; - reads it from standard input (default: if no option is given, opens your editor, $VISUAL or $EDITOR)."
        )
        var text: String?
        @Option(help: "The number of the page with the passage; 0 clears it.") var page: Int?
        @OptionGroup var privacy: PrivacyOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        /// True if nothing is given to change, so that the person changes the text in an editor.
        private var opensEditor: Bool { text == nil && page == nil && privacy.isPrivate == nil }

        func validate() throws {
            if opensEditor, !EditedFile.isPossible {
                throw ValidationError("Say what to change: give a text, --page or --private.")
            }
        }

        func run() async throws {
            let (page, isPrivate) = (page, privacy.isPrivate)
            if page != 0 { try NumberLimit.check(page, as: "page", in: NumberLimit.pages) }
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let quote: Annotation<Quote> = try await AnnotationList.find(name, in: library)
            let text =
                opensEditor || text != nil
                ? try EnteredText.read(
                    text, as: "quote", changing: quote.content.text, "from \(quoted([quote.book.displayTitle]))") : nil
            let edited = try await library.editQuote(quote.content.id, at: Date()) { quote in
                quote.text = text ?? quote.text
                if let page { quote.page = page == 0 ? nil : page }
                quote.isPrivate = isPrivate ?? quote.isPrivate
            }
            AnnotationList(json: output.json).printChanged("Changed the quote", edited)
        }
    }
}
