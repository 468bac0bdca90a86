import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

/// Lists books that are in the library more than once.
struct LibraryDuplicatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicates",
        abstract: "List books that are in the library more than once.",
        discussion: """
            Books were probably entered twice if their titles and first authors agree and
            one of them has no ISBN. Case, diacritics, punctuation and articles do not
            count, and a subtitle may be missing. Several copies of one edition are listed
            apart, because you may have them. With --editions, books with different ISBNs
            that are editions of the same work are listed too.

            Books that only look alike are set aside with --not-the-same, and are not
            listed again. To undo this, run 'scan undo'.

            Without duplicates, the exit status is 3, as for a search.

              scan library duplicates
              scan library duplicates --editions --json
              scan library duplicates --not-the-same 9780441013593 5f0c7a31
            """)

    @Flag(help: "Also list other editions of one work.") var editions = false
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Set these books aside: each is an ISBN, an id or words from the title or authors.", valueName: "book"),
        completion: .values(.book))
    var notTheSame: [String] = []
    @Option(name: [.customShort("n"), .long], help: "The maximum number of groups (default: 50, or all with --json).")
    var limit: Int?
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard notTheSame.isEmpty else { return try await setAside() }
        let limit = limit ?? (output.json ? .max : 50)
        guard limit > 0 else { throw CommandError(.usage, "--limit must be 1 or more.") }
        let library = try Wiring(settings: paths.settings()).openExistingLibrary()
        let reasons: Set<DuplicateGroup.Reason> =
            editions ? [.enteredTwice, .copies, .editions] : [.enteredTwice, .copies]
        let duplicates =
            try await library?.duplicates(for: reasons, limit: limit) ?? Duplicates(groups: [], counts: [:])
        if output.json {
            for group in duplicates.groups { Output.shared.printLine(group.json) }
        } else {
            show(duplicates, of: reasons)
        }
        if duplicates.groups.isEmpty { throw ExitCode(ExitStatus.nothing.rawValue) }
    }

    private func show(_ duplicates: Duplicates, of reasons: Set<DuplicateGroup.Reason>) {
        var heading: DuplicateGroup.Reason?
        for group in duplicates.groups {
            if group.reason != heading {
                if heading != nil { Output.shared.printLine("") }
                heading = group.reason
                Output.shared.printLine(Output.shared.style.strong(group.reason.displayName))
            } else {
                Output.shared.printLine("")
            }
            for book in group.books {
                Output.shared.printLine("  \(book.id.rawValue.suffix(8))  \(BookList.line(for: book, width: 80))")
            }
        }
        let total = reasons.reduce(0) { $0 + (duplicates.counts[$1] ?? 0) }
        if duplicates.groups.isEmpty { Output.shared.printNotice("No book is in the library twice.") }
        if total > duplicates.groups.count {
            Output.shared.printNotice("\(duplicates.groups.count) of \(total). To show all, use --limit \(total).")
        }
        if !editions, let count = duplicates.counts[.editions], count > 0 {
            let works = count == 1 ? "1 work has" : "\(count) works have"
            Output.shared.printNotice("\(works) several editions. To list them, use --editions.")
        }
        if !duplicates.groups.isEmpty {
            Output.shared.printNotice(
                "To make one book of two, run 'scan library merge KEEP OTHER' with the ids or other names. If they are not the same, run 'scan library duplicates --not-the-same BOOK OTHER'."
            )
        }
    }

    private func setAside() async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        var books: [Book] = []
        for name in notTheSame {
            let book = try await library.book(named: name, choosing: Asking.canChoose(json: output.json, yes: false))
            if !books.contains(where: { $0.id == book.id }) { books.append(book) }
        }
        guard books.count > 1 else { throw CommandError(.usage, "--not-the-same needs two books or more.") }
        let change = try await library.markDistinct(books.map(\.id), at: Date())
        if output.json {
            for book in books { Output.shared.printLine(book.json) }
        } else {
            Output.shared.printChange(
                books.map { "Not the same: \($0.displayTitle.oneLine)" }, change,
                unchanged: "Nothing changed: these books were set aside before.")
        }
    }
}

/// Merges books into one.
struct LibraryMergeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Make one book of several (to undo this, run 'scan undo').",
        discussion: """
            The first book is kept. It gets what it lacks from the others, and everything
            that belongs to them: readings, sessions, notes, quotes and tags. Where both
            have a value, that of the first book stays. If you have entered the other one
            yourself, it is written into a note. Other copies of an edition that is merged
            become copies of the first book's edition.

            Books with different ISBNs are usually different editions, so they are merged
            only with --editions. The other ISBN is then kept among the identifiers. The
            same holds for a book without an ISBN and one of another year or language.

              scan library merge 9780441478125 "left hand"
              scan library merge 9780441478125 5f0c7a31 --dry-run
            """)

    @Argument(
        help: ArgumentHelp("The book to keep: an ISBN, an id or words from the title or authors.", valueName: "keep"),
        completion: .values(.book))
    var kept: String
    @OptionGroup var others: NamedBooks
    @Flag(help: "Also merge editions with different ISBNs, years or languages.") var editions = false
    @Flag(help: "Merge only the records, and keep every book as a copy of the one edition.") var keepCopies = false
    @Flag(help: "Show what would happen, and change nothing.") var dryRun = false
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let choosing = Asking.canChoose(json: output.json, yes: yes)
        let kept = try await library.book(named: kept, choosing: choosing)
        var names: [ID<Copy>] = []
        for name in others.names { names.append(try await library.book(named: name, choosing: choosing).id) }
        let options = MergeOptions(joinsEditions: editions, keepsCopies: keepCopies)
        let preview = try await library.previewMerge(names, into: kept.id, options, at: Date())
        if dryRun {
            if output.json { Output.shared.printLine(preview.book.json) } else { show(preview, "Would be kept") }
            return
        }
        let question = "Merge \(quoted(preview.merged.map(\.displayTitle))) into \(quoted([kept.displayTitle]))?"
        let isAsked = !yes && !output.json
        if isAsked { show(preview, "Would be kept") }
        // A mistyped name may stand for quite another book.
        func work(_ book: Book) -> String? { WorkIdentity(book.edition.metadata)?.key.title }
        let isAlike = preview.merged.allSatisfy { work($0) == work(kept) }
        let refusal = "the books have different titles. To merge them anyway, use --yes."
        guard try Asking.mayGoOn(question, yes: yes, json: output.json, isAlike ? .undo : .choice(refusal)) else {
            return
        }
        let result = try await library.merge(names, into: kept.id, options, at: Date())
        if output.json { return Output.shared.printLine(result.book.json) }
        show(result, "Kept")
        Output.shared.printChange(["Merged: \(result.book.displayTitle.oneLine)"], result.change)
    }

    private func show(_ result: MergeResult, _ verb: String) {
        Output.shared.printLine("\(verb): \(BookList.line(for: result.book, width: 80))")
        for book in result.merged {
            Output.shared.printLine("  \(keepCopies ? "its copy" : "merged")  \(BookList.line(for: book, width: 80))")
        }
        if result.followers > 0 {
            let others = result.followers == 1 ? "1 other copy follows" : "\(result.followers) other copies follow"
            Output.shared.printLine("  \(others), because the edition is merged")
        }
        if !result.filled.isEmpty {
            Output.shared.printLine("  filled in: \(result.filled.map(\.label).joined(separator: ", "))")
        }
        for value in result.lost {
            Output.shared.printLine("  not taken: \(value.field.lowercased()) \(value.value.oneLine)")
        }
    }
}

/// Lists books whose records lack something.
struct LibraryMissingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "missing",
        abstract: "List books whose records lack a cover, pages, an author, an ISBN and so on.",
        discussion: """
            With several fields, books that lack any of them are listed. `scan library
            refresh` fills in what online sources know, and `scan library edit` what you
            know. If no book lacks the fields, the exit status is 3, as for a search.

              scan library missing cover
              scan library missing pages author --owned --sort title
            """)

    @Argument(
        help: ArgumentHelp("The fields of which a book lacks at least one.", valueName: "field"))
    var fields: [MissingField]
    @OptionGroup var filters: BookFilters
    @OptionGroup var arrangement: ListOptions
    @OptionGroup var printed: PrintedListOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let found = try await BookList(printed, paths: paths, json: output.json).show(
            filters, arrangement, missing: Set(fields))
        if found == 0 { throw ExitCode(ExitStatus.nothing.rawValue) }
        guard !output.json, !arrangement.counts, printed.given.isEmpty else { return }
        let lack = found == 1 ? "lacks" : "lack"
        // A refresh asks the sources by ISBN, so it cannot find one.
        let advice =
            Set(fields) == [.isbn]
            ? "To find the edition by its title, run 'scan find'; to enter its ISBN, run 'scan library edit BOOK --isbn'."
            : "To fill in what online sources know about books with an ISBN, run 'scan library refresh'."
        Output.shared.printNotice("\(counted(found, "book")) \(lack) \(MissingField.listed(Set(fields))). \(advice)")
    }
}

extension MissingField: ExpressibleByArgument {
    /// Returns the fields as they are read after "lacks": `an author or pages`.
    static func listed(_ fields: Set<MissingField>) -> String {
        let names = allCases.filter(fields.contains).map(\.noun)
        return names.count < 2
            ? names.joined() : names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
    }

    private var noun: String {
        switch self {
        case .author: "an author"
        case .cover: "a cover"
        case .description: "a description"
        case .finished: "the day on which it was finished"
        case .format: "a format"
        case .genre: "a genre"
        case .isbn: "an ISBN"
        case .language: "a language"
        case .note: "a note"
        case .pages: "a page count"
        case .publisher: "a publisher"
        case .quote: "a quote"
        case .rating: "a rating"
        case .series: "a series"
        case .shelf: "a shelf"
        case .started: "the day on which it was started"
        case .subtitle: "a subtitle"
        case .tag: "a tag"
        case .title: "a title"
        case .year: "a year of publication"
        }
    }
}
