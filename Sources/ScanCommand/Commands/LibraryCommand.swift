import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct LibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "library",
        abstract:
            "The books: list, search, random, show, add, edit, refresh, missing, duplicates, merge, delete, trash, restore, purge.",
        discussion: """
            Name a book by its ISBN, its id, or words that match no other book.

              scan library list --shelf "Living room" --sort title
              scan library list --finished 2024..2025 --rating 4 --rating 5
              scan library list --wishlist
              scan library list --columns id,title,authors,pages
              scan library list --format '{title}\\t{pages}'
              scan library search le guin
              scan library search spice --tag sf --counts
              scan library show 9780441478125
              scan library missing cover
            """,
        subcommands: [
            List.self, Search.self, LibraryRandomCommand.self, Show.self, LibraryAddCommand.self,
            LibraryEditCommand.self, LibraryRefreshCommand.self, LibrarySourcesCommand.self,
            LibraryMissingCommand.self, LibraryDuplicatesCommand.self, LibraryMergeCommand.self, Delete.self,
            Trash.self, Restore.self, LibraryPurgeCommand.self,
        ],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List books, all or those that match a query.",
            discussion: """
                  scan library list --sort title
                  scan library list author:camus status:read rating:4..
                  scan library list tag:sf -shelf:attic "pages:..200" added-
                """)
        @OptionGroup var query: QueryArguments
        @OptionGroup var filters: BookFilters
        @OptionGroup var arrangement: ListOptions
        @OptionGroup var printed: PrintedListOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: QueryOutputOptions

        func validate() throws { try query.check(options: Self.helpMessage()) }

        func run() async throws {
            try await BookList(printed, paths: paths, json: output.json).show(filters, arrangement, query: query.text)
        }
    }

    struct Search: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Search titles, authors, series, ISBNs, tags, notes and quotes.",
            discussion: """
                Each search word must be the beginning of a word in one of these texts.
                Case and diacritics do not matter. The best matches come first: titles
                before authors, series, tags and notes. Each result shows where the words
                were found. A query may also have conditions, as in 'scan library list'. If
                no book matches, the exit status is 3.

                  scan library search le guin
                  scan library search plague author:camus -lang:fr
                """)
        @OptionGroup var query: QueryArguments
        @OptionGroup var filters: BookFilters
        @OptionGroup var arrangement: ListOptions
        @OptionGroup var printed: PrintedListOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: QueryOutputOptions

        func validate() throws {
            try query.check(options: Self.helpMessage())
            if query.words.isEmpty { throw ValidationError("Give the words to search for.") }
        }

        func run() async throws {
            let found = try await BookList(printed, paths: paths, json: output.json).show(
                filters, arrangement, query: query.text)
            if found == 0 { throw ExitCode(ExitStatus.nothing.rawValue) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show everything about one book.",
            discussion: "  scan library show 9780441478125\n  scan library show left hand --json")
        @OptionGroup var named: NamedBook
        @OptionGroup var pager: PagerOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let book = try await library.book(named: named.name, choosing: Asking.canChoose(json: output.json))
            try await Output.shared.paged(!output.json && !pager.isOff) {
                try await BookSheet.show(book, from: library, json: output.json)
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract:
                "Move books to the trash, where they stay for 30 days (to restore them, run 'scan undo' or 'scan library restore').",
            discussion: """
                  scan library delete 9780441478125 "left hand"
                  scan library delete --query "shelf:attic status:dnf" --dry-run
                """)
        @OptionGroup var named: OptionalBooks
        @OptionGroup var chosen: QueryActOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws { try chosen.check(named.names) }

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            guard !chosen.isGiven else { return try await deleteFound(in: library) }
            var books: [Book] = []
            let choosing = Asking.canChoose(json: output.json, yes: chosen.yes)
            for name in named.names { books.append(try await library.book(named: name, choosing: choosing)) }
            let what = books.count > 3 ? counted(books.count, "book") : quoted(books.map(\.displayTitle))
            guard try Asking.mayGoOn("Move \(what) to the trash?", yes: chosen.yes, json: output.json) else { return }
            let change = try await library.trash(books.map(\.id), at: Date())
            try await printChanged(books, library, output, "In the trash", change)
        }

        private func deleteFound(in library: LibraryFile) async throws {
            let act = ("Move", "to the trash")
            guard let ids = try await chosen.books(in: library, to: act, json: output.json) else { return }
            let now = Date()
            let (changed, change) = try await changeInPieces(ids) {
                try await library.trash($0, continuing: $1, at: now)
            }
            printCount(changed, of: ids.count, change, "moved to the trash", json: output.json)
        }
    }

    struct Trash: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trash", abstract: "List the trash.", discussion: "  scan library trash")
        @OptionGroup var filters: BookFilters
        @OptionGroup var arrangement: ListOptions
        @OptionGroup var printed: PrintedListOptions
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await BookList(printed, paths: paths, json: output.json).show(filters, arrangement, inTrash: true)
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Take books out of the trash.",
            discussion: "  scan library restore 9780441478125 \"left hand\"")
        @Argument(
            help: ArgumentHelp(
                "The books in the trash: an ISBN, an id or words from the title for each. Put several words in quotes.",
                valueName: "book"), completion: .values(.trashedBook))
        var names: [String]
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            var books: [Book] = []
            let choosing = Asking.canChoose(json: output.json)
            for name in names {
                books.append(try await library.book(named: name, inTrash: true, choosing: choosing))
            }
            let change = try await library.restore(books.map(\.id), at: Date())
            try await printChanged(books, library, output, "Back in the library", change)
        }
    }
}

/// Prints the books after a change: with `--json` each book as it is now, otherwise one line per book.
private func printChanged(
    _ books: [Book], _ library: LibraryFile, _ output: OutputOptions, _ what: String, _ change: ID<Change>?
) async throws {
    if !output.json { return Output.shared.printChange(books.map { "\(what): \($0.displayTitle.oneLine)" }, change) }
    for book in books {
        if let now = try await library.book(book.id) { Output.shared.printLine(now.json) }
    }
}

struct LibraryAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a book by hand; a title is enough.",
        discussion: """
              scan library add --title "Faust" --author "J. W. von Goethe"
              scan library add --title "Beowulf" --translator "Seamus Heaney" \\
                --original-language ang --status read --finished 2026-02 \\
                --rating 4.5 --note "Read it aloud."
            """)

    @Option(help: ArgumentHelp("The ISBN. An invalid ISBN is kept as text, with a warning.", valueName: "number"))
    var isbn: String?
    @OptionGroup var fields: MetadataOptions
    @OptionGroup var preset: PresetOptions
    @OptionGroup var facts: CopyFactOptions
    @OptionGroup var days: ReadingDayOptions
    @Option(
        name: .customLong("note"),
        help: ArgumentHelp("A note on the book (can be repeated); - reads it from standard input.", valueName: "text"))
    var notes: [String] = []
    @Flag(help: "Save another copy if you already own the book.") var anotherCopy = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws { try days.check(with: preset.status) }

    func run() async throws {
        let now = Date()
        var metadata = Metadata()
        try fields.edit().apply(to: &metadata)
        let facts = try facts.change()
        let notes = try notes.map { Note(text: try EnteredText.read($0, as: "note"), created: now) }
        let dates = try days.edit(.current)
        let number = try isbn.map { try EnteredNumber($0) }
        let confirmed: Confirmed
        do {
            confirmed = try Confirmed(
                enteredBy: .form, isbn: number?.isbn, isbnText: number?.text, metadata: metadata,
                preset: preset.preset(), anotherCopy: anotherCopy)
        } catch let refusal as TextRefusal {
            throw CommandError(.usage, refusal.description + ". Give the book a title with --title.")
        }
        EnteredNumber.warn(number)
        let library = try Wiring(settings: paths.settings()).openLibrary()
        let result = try await library.enter(confirmed, notes: notes, dates: dates, at: now, facts)
        try await Self.show(result, in: library, output)
    }

    /// Prints the book that was saved.
    ///
    /// - Throws: ``CommandError`` if nothing was saved, because the book is owned already.
    static func show(_ result: SaveResult, in library: LibraryFile, _ output: OutputOptions) async throws {
        switch result {
        case .owned(let book):
            throw CommandError(
                .nothing,
                "you already have \(quoted([book.displayTitle])): \(book.status). To add another copy, use --another-copy."
            )
        case .saved(let copy, _), .wishFulfilled(let copy, _), .restored(let copy, _), .alreadySaved(let copy):
            guard let book = try await library.book(copy) else { return }
            if output.json {
                Output.shared.printLine(book.json)
            } else {
                Output.shared.printChange(["✓ saved   \(BookList.line(for: book, width: 80))"], result.change)
            }
        }
    }
}

struct LibraryEditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Edit a book and its copy.",
        discussion: """
            Without options, all fields of the book are opened as a text in your
            editor: the one in $VISUAL or $EDITOR, else 'editor', 'vi' or 'nano'. Save
            the text and close the editor to store what you have changed.

              scan library edit dune
              scan library edit 9780441478125 --shelf Attic --tag sf --rating 4.5
              scan library edit beowulf --translator "Seamus Heaney" --would-recommend
              scan library edit --query "author:camus rating:none" --set rating=4 --tag sf
            """)

    @OptionGroup var named: OptionalBook
    @OptionGroup var chosen: QueryActOptions
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Another way to write an option: --set rating=4 is --rating 4 (can be repeated).", valueName: "field=value")
    )
    var sets: [String] = []
    @Option(
        help: ArgumentHelp(
            "The correct ISBN; \"\" clears it. An invalid ISBN is kept as text, with a warning.", valueName: "number"))
    var isbn: String?
    @OptionGroup var fields: MetadataOptions
    @OptionGroup var copy: CopyOptions
    @OptionGroup var facts: CopyFactOptions
    @Flag(help: "Edit the book in a form at the terminal instead of in your editor.") var form = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    /// True if no option says what to change.
    private var isOpen: Bool {
        fields.isEmpty && copy.isEmpty && facts.isEmpty && isbn == nil && sets.isEmpty
    }

    func validate() throws {
        try chosen.check(named.words)
        if chosen.isGiven {
            if isOpen, !chosen.dryRun { throw ValidationError("Say what to change, such as --tag or --set rating=4.") }
            if isbn != nil {
                throw ValidationError("--isbn cannot be used with --query, because no two books share one.")
            }
        } else if chosen.yes {
            throw ValidationError("--yes works only with --query or --all.")
        }
        _ = try assigned()
        if form, !isOpen { throw ValidationError("--form cannot be used together with options that change the book.") }
    }

    func run() async throws {
        guard !isOpen || form || chosen.isGiven || EditedFile.isPossible else {
            throw ValidationError("Say what to change, such as --title or --shelf.")
        }
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        guard !chosen.isGiven else { return try await changeFound(in: library) }
        guard isOpen else { return show(try await change(in: library)) }
        let before = try await library.book(named: named.name, choosing: Asking.canChoose(json: output.json))
        try before.checkOutsideTrash()
        let edited = try await form ? fillForm(before, library) : BookText.edit(before, in: library)
        if let edited { show(edited) } else { Output.shared.printNotice("Nothing changed.") }
    }

    /// The values that `--set` gives.
    private struct Values: ParsableArguments {
        @OptionGroup var fields: MetadataOptions
        @OptionGroup var copy: CopyOptions
        @OptionGroup var facts: CopyFactOptions
    }

    /// - Throws: `ValidationError` for a field that `--set` cannot set.
    private func assigned() throws -> Values {
        let arguments = try sets.flatMap { text in
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex, !text.hasPrefix("help=") else {
                throw ValidationError("--set \"\(text.prefix(40).printable)\" sets no field. Write --set rating=4.")
            }
            let (name, value) = (text[..<sign], text[text.index(after: sign)...])
            // The parser takes an empty value only as a word of its own, and none for a flag.
            if value.isEmpty { return ["--\(name)", ""] }
            // A name that is no flag is refused below, with the parser's reason.
            let flag = ["yes": "--\(name)", "no": "--no-\(name)"][value.lowercased()]
            if let flag, (try? Values.parse([flag])) != nil { return [flag] }
            return ["--\(name)=\(value)"]
        }
        do {
            return try Values.parse(arguments)
        } catch {
            throw ValidationError("--set: \(Values.message(for: error))")
        }
    }

    /// The edit of a book that the options describe.
    private func edit() throws -> @Sendable (inout Book) throws -> Void {
        let assigned = try assigned()
        let parts = [
            (try assigned.fields.edit(), try assigned.copy.change(), try assigned.facts.change()),
            (try fields.edit(), try copy.change(), try facts.change()),
        ]
        return { book in
            // Somebody may have deleted the book since it was shown.
            guard book.copy.deleted == nil else { return }
            for (edit, changeCopy, changeFacts) in parts {
                try edit.apply(to: &book.edition.metadata)
                changeCopy(&book.copy)
                changeFacts(&book.copy)
            }
        }
    }

    private func changeFound(in library: LibraryFile) async throws {
        let edit = try edit()
        guard let ids = try await chosen.books(in: library, to: ("Change", ""), json: output.json) else { return }
        let now = Date()
        let (changed, change) = try await changeInPieces(ids) {
            try await library.updateBooks($0, continuing: $1, at: now, edit)
        }
        printCount(changed, of: ids.count, change, "changed", json: output.json)
    }

    /// Changes what the options say.
    private func change(in library: LibraryFile) async throws -> (book: Book, change: ID<Change>?) {
        let edit = try edit()
        let number = try isbn.map { $0.isEmpty ? nil : try EnteredNumber($0) }
        let before = try await library.book(named: named.name, choosing: Asking.canChoose(json: output.json))
        if let number { EnteredNumber.warn(number) }
        return try await library.update(before.id, at: Date()) { book in
            try book.checkOutsideTrash()
            try edit(&book)
            if let number { (book.edition.isbn, book.edition.isbnText) = (number?.isbn, number?.text) }
        }
    }

    /// Lets a person change the book in a form at the terminal.
    ///
    /// - Returns: nil if the person cancels.
    private func fillForm(_ before: Book, _ library: LibraryFile) async throws -> (book: Book, change: ID<Change>?)? {
        guard let keyboard = Keyboard.open() else {
            throw CommandError(.usage, "there is no terminal for the form. Say what to change, such as --title.")
        }
        defer { keyboard.close() }
        Interrupts.handle { nil }
        var form = EditForm(metadata: before.edition.metadata, preset: Preset(of: before.copy), hasNote: false)
        guard await form.fill(with: keyboard, names: library) else { return nil }
        let edit = try form.edit
        return try await library.update(before.id, at: Date()) { book in
            try book.checkOutsideTrash()
            try edit.metadata.apply(to: &book.edition.metadata)
            var preset = Preset(of: book.copy)
            try edit.preset.apply(to: &preset)
            (book.copy.shelf, book.copy.tags) = (preset.shelf, preset.tags)
            (book.copy.status, book.copy.rating) = (preset.status, preset.rating)
        }
    }

    private func show(_ edited: (book: Book, change: ID<Change>?)) {
        let (book, change) = edited
        if output.json {
            Output.shared.printLine(book.json)
        } else {
            Output.shared.printChange(
                ["Changed: \(book.displayTitle.oneLine)"], change,
                unchanged: "Nothing changed: \(quoted([book.displayTitle])) already has these values.")
        }
    }
}

extension Preset {
    /// The values of a copy in the library that a form edits.
    fileprivate init(of copy: Copy) {
        self.init(shelf: copy.shelf, tags: copy.tags, status: copy.status, rating: copy.rating)
    }
}

/// Fills in what the records of saved and imported books lack.
struct LibraryRefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Fill in what the records of books lack: authors, pages, covers and so on.",
        discussion: """
            Looks up the books that have an ISBN and lack an author, publisher, date,
            page count, language or cover, and fills in empty fields. What a person has
            entered, changed or cleared stays as it is, and `scan undo` takes back what
            was filled in.

            Everything that is filled in is saved at once. After an interruption, run the
            command again: it goes on with the books that are left.

              scan library refresh
              scan library refresh 9780441478125
              scan library refresh --query "missing:cover added:-30d.." --yes
            """)

    @Argument(
        help: ArgumentHelp(
            "The books: an ISBN, an id or words from the title for each (default: all books).", valueName: "book"),
        completion: .values(.book))
    var names: [String] = []
    @Flag(help: "Query the sources even if their answers are already known.") var again = false
    @OptionGroup var chosen: QueryActOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    /// The number of books that are saved at once.
    private static let batch = 20

    func validate() throws { try chosen.check(names, isOptional: true) }

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings())
        let library = try wiring.requireLibrary()
        var found: [ID<Copy>]?
        if chosen.isGiven {
            let act = ("Look up", "and fill in what their records lack")
            found = try await chosen.books(in: library, to: act, json: output.json)
            if found == nil { return }
        }
        let books = try await booksWithGaps(among: found, in: library)
        guard !books.isEmpty else {
            if !output.json { Output.shared.printNotice("No record lacks a field that a source could fill.") }
            return
        }
        let report = ExitReport()
        var records: [ISBN: Metadata] = [:]
        var (completed, missing, covers) = (0, 0, 0)
        var failures: [SourceError] = []
        var change: ID<Change>?
        func save() async throws {
            let (filled, made) = try await library.fillGaps(from: records, continuing: change, at: Date())
            change = made ?? change
            for (isbn, fields) in filled.sorted(by: { $0.key < $1.key }) {
                completed += 1
                if fields.contains(.coverURL) { covers += 1 }
                try await show(isbn, fields, in: library)
            }
            records = [:]
        }
        let bar = ProgressBar("books looked up", total: books.count, waitingFor: wiring.open)
        for await answer in wiring.lookup(library).lookUp(books, refresh: again) {
            switch answer.outcome {
            case .found(let metadata, _): records[answer.isbn] = metadata
            case .notFound: missing += 1
            case .temporary(let failure), .blocked(let failure), .badData(let failure):
                failures.append(failure)
                report.record(.unavailable)
            }
            bar.advance()
            if records.count >= Self.batch { try await save() }
        }
        try await save()
        bar.finish()
        if covers > 0 { try await wiring.fetchCovers(library, limit: covers, patience: .seconds(8)) }
        if !output.json {
            let summary = "\(counted(completed, "book")) of \(books.count) completed."
            Output.shared.printChange([summary], change, unchanged: summary)
            if missing > 0 { Output.shared.printNotice("\(counted(missing, "book")): no source has a record.") }
        }
        if let first = failures.first {
            Output.shared.printError(
                "\(counted(failures.count, "book")) could not be looked up: \(first). Run the command again later.")
        }
        try report.end()
    }

    /// Returns the ISBNs of the books whose records lack something that no person has cleared.
    ///
    /// - Parameter found: the books that a query has found; `nil` for those that are named, or for all.
    private func booksWithGaps(among found: [ID<Copy>]?, in library: LibraryFile) async throws -> [ISBN] {
        var books: [Book] = []
        for id in found ?? [] { if let book = try await library.book(id) { books.append(book) } }
        for name in names {
            let book = try await library.book(named: name, choosing: Asking.canChoose(json: output.json))
            guard book.edition.isbn != nil else {
                throw CommandError(.nothing, "\(quoted([book.displayTitle])) has no ISBN to look it up by.")
            }
            books.append(book)
        }
        if names.isEmpty, found == nil {
            var query = BookQuery()
            query.limit = .max
            books = try await library.books(matching: query).books
        }
        var seen: Set<ISBN> = []
        return books.compactMap { book in
            let gaps = book.edition.metadata.missingEssentials.subtracting(book.edition.editedFields)
            guard let isbn = book.edition.isbn, !gaps.isEmpty, seen.insert(isbn).inserted else { return nil }
            return isbn
        }
    }

    private func show(_ isbn: ISBN, _ fields: [Metadata.Field], in library: LibraryFile) async throws {
        for book in try await library.books(with: [isbn])[isbn] ?? [] {
            guard !output.json else {
                Output.shared.printLine(book.json)
                continue
            }
            let names = fields.map(\.label).joined(separator: ", ")
            Output.shared.printLine("\(book.displayTitle.oneLine): \(names)")
            return
        }
    }
}

extension Metadata.Field {
    /// The field as a person calls it.
    var label: String {
        switch self {
        case .publishedDate: "date"
        case .pageCount: "pages"
        case .originalLanguage: "original language"
        case .authorNationality: "author's nationality"
        case .coverURL: "cover"
        case .previewLink, .infoLink: "link"
        case .isbn: "ISBN"
        case .title, .subtitle, .authors, .publisher, .language, .format, .series, .description, .subjects,
            .identifiers:
            rawValue
        }
    }
}

/// Deletes books for good. Only books in the trash can be deleted, so that a single mistake never deletes a book. The
/// act must be confirmed, because it cannot be undone.
struct LibraryPurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Delete books in the trash for good, before their 30 days are over.",
        discussion: """
            Deletes the books with their readings, notes and quotes, also from the
            change history. This cannot be undone. Afterwards, only backups contain the
            books.

              scan library purge 9780441478125
              scan library purge --all
            """)

    @Argument(
        help: ArgumentHelp(
            "The books in the trash: an ISBN, an id or words from the title for each. Put several words in quotes.",
            valueName: "book"), completion: .values(.trashedBook))
    var names: [String] = []
    @Flag(help: "Delete everything in the trash.") var all = false
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if all != names.isEmpty { throw ValidationError("Name the books or use --all, but not both.") }
    }

    func run() async throws {
        let wiring = try Wiring(settings: paths.settings())
        // Without a library, the trash is empty, and a book that was named does not exist.
        guard let library = try all ? wiring.openExistingLibrary() : wiring.requireLibrary() else {
            return printEmpty()
        }
        var books: [Book] = []
        let choosing = Asking.canChoose(json: output.json, yes: yes)
        for name in names { books.append(try await library.book(named: name, inTrash: true, choosing: choosing)) }
        if all {
            var query = BookQuery()
            query.inTrash = true
            query.limit = .max
            books = try await library.books(matching: query).books
        }
        guard !books.isEmpty else { return printEmpty() }
        if !output.json { for book in books { Output.shared.printLine(BookList.line(for: book, width: 80)) } }
        guard
            try Asking.mayGoOn(
                "Delete \(counted(books.count, "book")) for good?", yes: yes, json: output.json, .forGood)
        else { return }
        try await library.purge(books.map(\.id))
        if output.json {
            for book in books { Output.shared.printLine(book.json) }
        } else {
            Output.shared.printLine("\(counted(books.count, "book")) deleted for good.")
        }
    }

    private func printEmpty() {
        if !output.json { Output.shared.printNotice("The trash is empty.") }
    }
}
