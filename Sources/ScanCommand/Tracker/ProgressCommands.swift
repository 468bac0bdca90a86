import ArgumentParser
import Bookplate
import Library
import Terminal

/// The progress entry that a command applies to.
struct NamedEntry: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The entry's id, or the last four or more characters of the id, as shown by 'scan reading history --ids'.",
            valueName: "entry"))
    var name: String
}

struct ReadingCorrect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "correct", abstract: "Correct one entry of the progress, such as a mistyped page or a wrong day.",
        discussion: """
            To see the entries with their ids, run 'scan reading history --ids'. An entry
            that a session has made is corrected with 'scan session edit'.

              scan reading correct 1f2e3d4c --page 145
              scan reading correct 1f2e3d4c --percent 37.5 --on yesterday
            """)
    @OptionGroup var entry: NamedEntry
    @Option(help: ArgumentHelp("The page that you had reached.", valueName: "n")) var page: Int?
    @Option(help: ArgumentHelp("How much you had read, as a percentage from 0 to 100.", valueName: "percent"))
    var percent: Double?
    @Option(help: ArgumentHelp("The day on which you reached this point.", valueName: "day"), completion: .values(.day))
    var on: String?
    @OptionGroup var action: ReadingAction

    func validate() throws {
        if page != nil, percent != nil { throw ValidationError("Give either --page or --percent.") }
        if page == nil, percent == nil, on == nil {
            throw ValidationError("Say what to correct: --page, --percent or --on.")
        }
    }

    func run() async throws {
        let amount = page.map(ProgressEntry.Amount.page) ?? percent.map(ProgressEntry.Amount.percent)
        let edit = ProgressEdit(amount: amount, at: try on.map { try LocalTime.current.noon(of: $0, for: "--on") })
        try await action.run { library, localTime in
            let found = try await library.progressEntry(named: entry.name)
            return try await library.editProgress(found.entry.id, of: found.copy, edit, at: localTime.now)
        }
    }
}

struct ReadingForget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Delete one entry of the progress.",
        discussion: """
            The book then shows the latest of its other entries. To see the entries with
            their ids, run 'scan reading history --ids'. An entry that a session has made
            is deleted with 'scan session delete'.

              scan reading forget 1f2e3d4c
            """)
    @OptionGroup var entry: NamedEntry
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var action: ReadingAction

    func run() async throws {
        try await action.run { library, localTime in
            let found = try await library.progressEntry(named: entry.name)
            guard let book = try await library.book(found.copy) else { throw ReadingRefusal.noSuchEntry }
            let line = ReadingHistory.line(for: found.entry, in: book, withID: true)
            let question = "\(quoted([book.displayTitle])):\n\(line)\nDelete this entry?"
            guard try Asking.mayGoOn(question, yes: yes, json: action.output.json) else { return nil }
            return try await library.deleteProgress(found.entry.id, of: found.copy, at: localTime.now)
        }
    }
}

extension LibraryFile {
    /// Returns the progress entry with this name.
    ///
    /// - Parameter name: an id, or its last four or more characters.
    /// - Throws: ``CommandError`` if no entry matches, or if several entries match.
    fileprivate func progressEntry(named name: String) async throws -> (entry: ProgressEntry, copy: ID<Copy>) {
        let name = name.lowercased()
        let fits = (4...64).contains(name.utf8.count) ? try await progress(endingIn: name) : []
        guard let first = fits.first else {
            throw CommandError(
                .nothing,
                "there is no progress entry \"\(name.prefix(80).printable)\". To list the entries of a book, run 'scan reading history BOOK --ids'."
            )
        }
        guard fits.count == 1 else {
            throw CommandError(
                severalEndingIn: name,
                fits.map { ($0.entry.id.rawValue, LocalTime.current.dateTime($0.entry.at)) })
        }
        return first
    }
}
