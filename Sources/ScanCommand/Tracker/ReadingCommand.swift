import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct ReadingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reading",
        abstract:
            "Readings: start, page, percent, finish, hold, drop, reset, dates, history, correct, forget, add, delete.",
        discussion: """
            Write days as 2026-11-21, 2026-11, 2026, 'today' or 'yesterday'. When the
            status changes, the dates of the reading are set automatically, unless the
            setting automaticDates is 0. Dates that you entered are never overwritten.

              scan reading start dune
              scan reading page 145
              scan reading finish dune --on yesterday
            """,
        subcommands: [
            Start.self, ReadingPage.self, ReadingPercent.self, Finish.self, Hold.self, Drop.self, Reset.self,
            ReadingDates.self, ReadingHistory.self, ReadingCorrect.self, ReadingForget.self, ReadingAdd.self,
            ReadingDelete.self,
        ])

    /// The option for the day on which the status changed.
    struct DayOption: ParsableArguments {
        @Option(
            // -3d is a day.
            parsing: .unconditional, help: ArgumentHelp("The day of the change (default: today).", valueName: "day"),
            completion: .values(.day))
        var on: String?

        func day() throws -> CalendarDay? { try on.map { try LocalTime.current.day($0, for: "--on") } }
    }

    /// The option for the page on which the running session of the book ends.
    struct SessionPageOption: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The page on which the running session of the book ends (default: you are asked).", valueName: "n"))
        var page: Int?

        func check(_ chosen: QueryActOptions) throws {
            if chosen.isGiven, page != nil { throw ValidationError("--page belongs to one book, so name the book.") }
        }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start",
            abstract: "Start a book, resume one on hold, or read one again.",
            discussion: """
                A book with the status Read or Did Not Finish gets another reading. Its
                earlier readings keep their dates.

                  scan reading start
                  scan reading start dune --on 2026-11-01
                """)
        @Argument(
            help: ArgumentHelp(
                "An ISBN, an id, or words from the title or authors (default: you choose from the books on hold, the next volumes and the books to read).",
                valueName: "book"), completion: .values(.bookWords))
        var words: [String] = []
        @OptionGroup var day: DayOption
        @OptionGroup var chosen: QueryActOptions
        @OptionGroup var action: ReadingAction

        func validate() throws { try chosen.check(words, isOptional: true) }

        func run() async throws { try await action.set(.reading, words, chosen, on: day.day()) }
    }

    struct Finish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "finish", abstract: "Mark a book as read.",
            discussion: """
                If a session of the book is running, it ends, too, with the page that you
                give. A rating and a note are part of the same change, which one 'scan undo'
                takes back.

                  scan reading finish
                  scan reading finish dune --on 2019
                  scan reading finish dune --rating 4.5 --note "Read it aloud."
                  scan reading finish --query "tag:school status:reading" --on 2019
                """)
        @OptionGroup var book: TrackedBook
        @OptionGroup var day: DayOption
        @OptionGroup var session: SessionPageOption
        @Option(
            help: ArgumentHelp(
                "The rating in stars, from 0.25 to 5 in steps of 0.25; 0 clears it.", valueName: "stars"))
        var rating: Double?
        @Option(help: ArgumentHelp("A note on the book; - reads it from standard input.", valueName: "text"))
        var note: String?
        @OptionGroup var chosen: QueryActOptions
        @OptionGroup var action: ReadingAction

        func validate() throws {
            try chosen.check(book.words, isOptional: true)
            if chosen.isGiven, note != nil { throw ValidationError("--note belongs to one book, so name the book.") }
            try session.check(chosen)
        }

        func run() async throws {
            try CopyFactOptions.check(rating)
            let note = try note.map { Note(text: try EnteredText.read($0, as: "note"), created: Date()) }
            try await action.set(
                .read, book.words, chosen, on: day.day(), page: session.page, rating: rating, note: note)
        }
    }

    struct Hold: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "hold", abstract: "Put a book on hold (to resume it, run 'scan reading start').",
            discussion: "  scan reading hold dune\n  scan reading hold dune --page 145")
        @OptionGroup var book: OptionalBook
        @OptionGroup var session: SessionPageOption
        @OptionGroup var chosen: QueryActOptions
        @OptionGroup var action: ReadingAction

        func validate() throws {
            try chosen.check(book.words)
            try session.check(chosen)
        }

        func run() async throws { try await action.set(.onHold, book.words, chosen, page: session.page) }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Stop reading a book, and set its status to Did Not Finish.",
            discussion: "  scan reading drop dune")
        @OptionGroup var book: OptionalBook
        @OptionGroup var day: DayOption
        @OptionGroup var session: SessionPageOption
        @OptionGroup var chosen: QueryActOptions
        @OptionGroup var action: ReadingAction

        func validate() throws {
            try chosen.check(book.words)
            try session.check(chosen)
        }

        func run() async throws { try await action.set(.dnf, book.words, chosen, on: day.day(), page: session.page) }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset", abstract: "Cancel the reading of a book, and set its status back to 'To Read'.",
            discussion:
                "The reading is not deleted. To bring it back, run 'scan undo'.\n\n  scan reading reset dune"
        )
        @OptionGroup var book: OptionalBook
        @OptionGroup var session: SessionPageOption
        @OptionGroup var chosen: QueryActOptions
        @OptionGroup var action: ReadingAction

        func validate() throws {
            try chosen.check(book.words)
            try session.check(chosen)
        }

        func run() async throws { try await action.set(.toRead, book.words, chosen, page: session.page) }
    }
}

struct ReadingDates: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dates", abstract: "Set or clear the days of a reading; without options, show them.",
        discussion: """
            A day may be just a month or a year; "" clears it.

              scan reading dates dune
              scan reading dates dune --started 2026-11-01 --finished 2026-11
              scan reading dates dune --number 1 --finished ""
            """)
    @OptionGroup var book: TrackedBook
    @Option(
        help: ArgumentHelp(
            "The number of the reading (1 is the oldest; default: the one that gives the book its status).",
            valueName: "n"))
    var number: Int?
    @Option(help: ArgumentHelp("The day on which you started the book.", valueName: "day"), completion: .values(.day))
    var started: String?
    @Option(help: ArgumentHelp("The day on which you finished the book.", valueName: "day"), completion: .values(.day))
    var finished: String?
    @Option(
        help: ArgumentHelp("The day on which you stopped reading the book.", valueName: "day"),
        completion: .values(.day)) var stopped: String?
    @OptionGroup var action: ReadingAction

    func run() async throws {
        let localTime = LocalTime.current
        let edit = DateEdit(
            started: try localTime.edit(started, for: "--started"),
            finished: try localTime.edit(finished, for: "--finished"),
            stopped: try localTime.edit(stopped, for: "--stopped"))
        guard edit != DateEdit() else { return try await show() }
        try await action.run { library, localTime in
            let book = try await library.trackedBook(book.words, choosing: Asking.canChoose(json: action.output.json))
            let reading = try library.reading(number, of: book)
            return try await library.setDates(edit, of: book.id, reading: reading?.id, at: localTime.now)
        }
    }

    private func show() async throws {
        let library = try Wiring(settings: action.paths.settings()).requireLibrary()
        let book = try await library.trackedBook(book.words, choosing: Asking.canChoose(json: action.output.json))
        let chosen = try number.flatMap { try library.reading($0, of: book) }
        let readings = chosen.map { [$0] } ?? book.copy.countedReadings
        if readings.isEmpty, !action.output.json { ReadingHistory.printUnread(book) }
        for reading in readings {
            Output.shared.printLine(
                action.output.json ? book.json(of: reading).text : ReadingHistory.title(of: reading, in: book))
        }
    }
}

struct ReadingAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an earlier reading of a book, without changing its status.",
        discussion: """
            Without --stopped, the reading counts as finished. You may leave out days
            that you do not know.

              scan reading add dune --started 1999-07 --finished 1999-08
            """)
    @OptionGroup var book: NamedBook
    @Option(help: ArgumentHelp("The day on which you started the book.", valueName: "day"), completion: .values(.day))
    var started: String?
    @Option(help: ArgumentHelp("The day on which you finished the book.", valueName: "day"), completion: .values(.day))
    var finished: String?
    @Option(
        help: ArgumentHelp("The day on which you stopped reading the book.", valueName: "day"),
        completion: .values(.day)) var stopped: String?
    @OptionGroup var action: ReadingAction

    func run() async throws {
        let localTime = LocalTime.current
        let days = (
            started: try started.map { try localTime.day($0, for: "--started") },
            finished: try finished.map { try localTime.day($0, for: "--finished") },
            stopped: try stopped.map { try localTime.day($0, for: "--stopped") }
        )
        try await action.run { library, localTime in
            let book = try await library.book(named: book.name, choosing: Asking.canChoose(json: action.output.json))
            return try await library.addReading(
                to: book.id, started: days.started, finished: days.finished, stopped: days.stopped, at: localTime.now)
        }
    }
}

struct ReadingDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a reading with its progress and sessions.",
        discussion: """
            The reading that gives the book its status cannot be deleted. To cancel it,
            run 'scan reading reset'.

              scan reading delete dune --number 1
            """)
    @OptionGroup var book: NamedBook
    @Option(help: ArgumentHelp("The number of the reading (1 is the oldest).", valueName: "n")) var number: Int
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var action: ReadingAction

    func run() async throws {
        try await action.run { library, localTime in
            let book = try await library.book(
                named: book.name, choosing: Asking.canChoose(json: action.output.json, yes: yes))
            guard let reading = try library.reading(number, of: book) else { throw ReadingRefusal.noSuchReading }
            let question = "Delete reading \(number) of \(quoted([book.displayTitle])) with its progress and sessions?"
            guard try Asking.mayGoOn(question, yes: yes, json: action.output.json) else { return nil }
            return try await library.deleteReading(reading.id, of: book.id, at: localTime.now)
        }
    }
}

/// The options for the days of a reading of a book that is added by hand.
struct ReadingDayOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The day on which you started the book (not allowed with --status toRead; default for reading: today).",
            valueName: "day"), completion: .values(.day))
    var started: String?
    @Option(
        help: ArgumentHelp(
            "The day on which you finished the book (allowed only with --status read; default: today; \"\": unknown).",
            valueName: "day"), completion: .values(.day))
    var finished: String?
    @Option(
        help: ArgumentHelp(
            "The day on which you stopped reading the book (allowed only with --status dnf; default: today).",
            valueName: "day"), completion: .values(.day))
    var stopped: String?

    /// Checks that the given days are allowed for the status of the book.
    ///
    /// - Throws: `ValidationError` if a book with this status cannot have one of the days.
    func check(with status: Copy.Status) throws {
        if started != nil, status == .toRead {
            throw ValidationError(
                "--started works only with --status reading, read, onHold or dnf.")
        }
        if finished != nil, status != .read { throw ValidationError("--finished works only with --status read.") }
        if stopped != nil, status != .dnf { throw ValidationError("--stopped works only with --status dnf.") }
    }

    /// Returns the days as an edit of the reading's dates. An empty text leaves a day unknown.
    ///
    /// - Throws: ``CommandError`` for an invalid day.
    func edit(_ localTime: LocalTime) throws -> DateEdit {
        DateEdit(
            started: try localTime.edit(started, for: "--started"),
            finished: try localTime.edit(finished, for: "--finished"),
            stopped: try localTime.edit(stopped, for: "--stopped"))
    }
}

struct ReadingPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Record the page you are on.",
        discussion: """
            Also starts a book with the status To Read, and resumes a book on hold.

              scan reading page 145
              scan reading page dune 145
              scan reading page dune 100 --on yesterday
            """)
    @Argument(
        help: ArgumentHelp("The book (default: the only book you are reading), then the page.", valueName: "book page"),
        completion: .values(.bookWords))
    var words: [String]
    @Option(
        help: ArgumentHelp("When you reached this point (default: now).", valueName: "day"), completion: .values(.day))
    var on: String?
    @OptionGroup var action: ReadingAction

    func run() async throws {
        guard let text = words.last, let page = Int(text) else {
            throw CommandError(
                .usage,
                "\"\((words.last ?? "").prefix(40).printable)\" is not a page. Write a number, as in 'scan reading page 145'."
            )
        }
        try await action.record(.page(page), words.dropLast(), on: on)
    }
}

struct ReadingPercent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "percent", abstract: "Record how much of a book you have read, as a percentage from 0 to 100.",
        discussion: "  scan reading percent 38\n  scan reading percent dune 37.5")
    @Argument(
        help: ArgumentHelp(
            "The book (default: the only book you are reading), then the percentage.", valueName: "book percent"),
        completion: .values(.bookWords))
    var words: [String]
    @Option(
        help: ArgumentHelp("When you reached this point (default: now).", valueName: "day"), completion: .values(.day))
    var on: String?
    @OptionGroup var action: ReadingAction

    func run() async throws {
        let text = (words.last ?? "").prefix(40)
        let number = (text.hasSuffix("%") ? text.dropLast() : text).replacingOccurrences(of: ",", with: ".")
        guard let percent = Double(number) else {
            throw CommandError(
                .usage, "\"\(text.printable)\" is not a percentage. Write a number, as in 'scan reading percent 38'.")
        }
        try await action.record(.percent(percent), words.dropLast(), on: on)
    }
}

struct ReadingHistory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show each reading of a book with its progress, newest first.",
        discussion: """
              scan reading history dune
              scan reading history dune --ids
              scan reading history dune --number 1 --json
            """)
    @OptionGroup var book: TrackedBook
    @Option(help: ArgumentHelp("Show only the reading with this number (1 is the oldest).", valueName: "n")) var number:
        Int?
    @Option(
        name: [.customShort("n"), .long],
        help: "The maximum number of progress entries per reading (default: 50, or all with --json).")
    var limit: Int?
    @Flag(help: "Show the ids of the entries, for 'scan reading correct' and 'scan reading forget'.") var ids = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let book = try await library.trackedBook(book.words, choosing: Asking.canChoose(json: output.json))
        let chosen = try number.flatMap { try library.reading($0, of: book) }
        let readings = chosen.map { [$0] } ?? book.copy.countedReadings.reversed()
        if readings.isEmpty, !output.json { Self.printUnread(book) }
        for reading in readings {
            let entries = try await library.progress(
                of: reading.id, limit: limit ?? (output.json ? .max : 50), offset: 0)
            if !output.json { Output.shared.printLine(Self.title(of: reading, in: book)) }
            if output.json {
                Output.shared.printLine(book.json(of: reading, with: entries))
            } else {
                for entry in entries { Output.shared.printLine(Self.line(for: entry, in: book, withID: ids)) }
            }
        }
    }

    static func printUnread(_ book: Book) {
        Output.shared.printNotice(
            "\(quoted([book.displayTitle])) has no reading yet. To start one, run 'scan reading start'.")
    }

    /// Returns the heading of a reading: `Reading 1 of 2 · Read · started 2026-01-02 · finished 2026-02`.
    static func title(of reading: Reading, in book: Book) -> String {
        let number = book.copy.number(of: reading.id).map { "Reading \($0) of \(book.copy.countedReadings.count)" }
        let words = [number, book.stateName(of: reading)].compactMap(\.self) + ReadingAction.days(of: reading)
        return Output.shared.style.strong(words.joined(separator: " · "))
    }

    /// Returns the line for an entry: `2026-11-21 14:30  Page 145 of 382 ████░░░░░░ 38%  automatic  1f2e3d4c`.
    static func line(for entry: ProgressEntry, in book: Book, withID: Bool) -> String {
        let bar = ReadingBar(amount: entry.amount, pageCount: book.edition.metadata.pageCount).textForOutput
        let mark = entry.isAutomatic ? "  automatic" : entry.session == nil ? "" : "  session"
        let id = withID ? "  " + entry.id.rawValue.suffix(8) : ""
        return "  \(LocalTime.current.dateTime(entry.at))  \(bar)\(Output.shared.style.faint(mark + id))"
    }
}

/// Opens the library, changes a reading and prints the result.
struct ReadingAction: ParsableArguments {
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    /// Sets the status of a book. If the book's session is running, asks at which page it ends.
    ///
    /// - Parameters:
    ///   - words: the words that identify the book; empty for the book being read or, with the status Reading, for the
    ///     one that the person chooses to start.
    ///   - chosen: the query that finds the books, if no book is named.
    ///   - page: the page, if the person has given it.
    ///   - rating: the rating in stars, 0 for none; `nil` to keep the rating.
    ///   - note: a note to add in the same change.
    func set(
        _ status: Copy.Status, _ words: [String], _ chosen: QueryActOptions, on day: CalendarDay? = nil,
        page: Int? = nil, rating: Double? = nil, note: Note? = nil
    ) async throws {
        guard !chosen.isGiven else { return try await setFound(status, chosen, on: day, rating: rating) }
        let unchanged = "The status was already \(status.displayName), so nothing changed."
        try await run(unchanged: unchanged) { library, localTime in
            let choosing = Asking.canChoose(json: output.json, yes: chosen.yes)
            let book =
                status == .reading && words.isEmpty
                ? try await library.bookToStart(choosing: choosing)
                : try await library.trackedBook(words, choosing: choosing)
            if status != .reading, let running = try await library.runningSession(), running.copy == book.id {
                try running.checkLength(at: localTime.now)
            }
            func set(_ end: SessionEnd?) async throws -> TrackingResult {
                do {
                    return try await library.setStatus(
                        status, of: book.id, on: day, ending: end, opinion: Opinion(rating: rating, note: note),
                        then: nil, at: localTime.now)
                } catch let error as SessionError {
                    // These have a way out that this command does not have.
                    let option: String
                    switch error {
                    case .sessionTooShort: option = "--force"
                    case .clockWentBackwards: option = "--end TIME"
                    default: throw error
                    }
                    throw CommandError(
                        .nothing,
                        "\(error.errorDescription ?? "") End the session with 'scan session stop \(option)', and then run this command again."
                    )
                }
            }
            do {
                return try await set(page.map { SessionEnd(page: $0) })
            } catch ReadingRefusal.sessionRunning(let title) where page == nil {
                guard !output.json, isatty(STDIN_FILENO) == 1 else {
                    throw CommandError(
                        .nothing,
                        "a session for \(quoted([title])) is running. Give the page on which it ends with --page.")
                }
                tcflush(STDIN_FILENO, TCIFLUSH)
                Output.shared.printNotice(
                    "A session for \(quoted([title])) is running. It ends together with this change.")
                while let end = Asking.sessionEnd() {
                    do {
                        return try await set(end)
                    } catch SessionError.invalidPageNumber {
                        Output.shared.printNotice("The session began on a later page.")
                    } catch SessionError.pageBeyondBook(_, let pageCount) {
                        Output.shared.printNotice("The last page of the book is \(pageCount).")
                    } catch ReadingRefusal.noSessionToEnd {
                        // It was ended elsewhere in the meantime.
                        return try await set(nil)
                    }
                }
                return nil
            }
        }
    }

    /// Sets the status of all books that a query finds. None of them may have a running session.
    private func setFound(
        _ status: Copy.Status, _ chosen: QueryActOptions, on day: CalendarDay?, rating: Double?
    ) async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let act = ("Set", "to \(status.displayName)")
        guard let ids = try await chosen.books(in: library, to: act, json: output.json) else { return }
        let now = Date()
        let (changed, change) = try await changeInPieces(ids) {
            try await library.updateBooks($0, continuing: $1, on: day, at: now) { book in
                guard book.copy.deleted == nil else { return }
                book.copy.status = status
                if let rating { book.copy.rating = rating == 0 ? nil : rating }
            }
        }
        printCount(changed, of: ids.count, change, "set to \(status.displayName)", json: output.json)
    }

    /// Records the progress in a book.
    func record(_ amount: ProgressEntry.Amount, _ words: some Collection<String>, on day: String?) async throws {
        let words = Array(words)
        try await run { library, localTime in
            let book: Book
            do {
                book = try await library.trackedBook(words, choosing: Asking.canChoose(json: output.json))
            } catch let error as CommandError where words.count > 1 && words.last.flatMap({ Double($0) }) != nil {
                // "dune 5 6" means the book Dune and one number too many. "catch 22 145" was found above, because 22
                // belongs to the title.
                do { _ = try await library.trackedBook(words.dropLast(), choosing: false) } catch is CommandError {
                    throw error
                }
                throw CommandError(
                    .usage, "\"\(words.last?.printable ?? "")\" is one number too many. Give the book, then one number."
                )
            }
            return try await library.recordProgress(
                amount, of: book.id, on: try day.map { try localTime.noon(of: $0, for: "--on") }, at: localTime.now)
        }
    }

    /// - Parameters:
    ///   - unchanged: the message if nothing changed.
    ///   - change: the function that makes the change; it returns `nil` if the user declines.
    func run(
        unchanged: String = "Nothing changed.", _ change: (LibraryFile, LocalTime) async throws -> TrackingResult?
    ) async throws {
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        guard let result = try await change(library, .current) else { return }
        // This goes to standard error, so it is printed with JSON too.
        if result.sessionStillRuns {
            Output.shared.printNotice("The book's session is still running. To end it, run 'scan session stop'.")
        }
        if output.json { return Output.shared.printLine(result.json) }
        Output.shared.printLine(Self.line(for: result.book, result.reading))
        if result.isBeyondLastPage {
            Output.shared.printNotice(
                "This page is beyond the last page of the book, but it was recorded. To correct a wrong page count, use 'scan library edit --pages'."
            )
        }
        Output.shared.printChange([], result.change, unchanged: unchanged)
    }

    /// Returns the line for a book and its reading: `Dune · Reading · started 2026-11-21 · Page 145 of 382 ████░░░░░░
    /// 38%`.
    static func line(for book: Book, _ reading: Reading?) -> String {
        let parts = [book.displayTitle.oneLine, book.copy.status.displayName] + (reading.map { days(of: $0) } ?? [])
        let bar = reading.flatMap { $0.state == .cancelled ? nil : $0.progress }
            .map { ReadingBar(amount: $0.amount, pageCount: book.edition.metadata.pageCount).textForOutput }
        return (parts + [bar].compactMap(\.self)).joined(separator: " · ")
    }

    /// Returns the known days of a reading; none for a cancelled reading.
    static func days(of reading: Reading) -> [String] {
        guard reading.state != .cancelled else { return [] }
        let days = [("started", reading.started), ("finished", reading.finished), ("stopped", reading.stopped)]
        return days.compactMap { name, day in day.map { "\(name) \($0)" } }
    }
}

extension Book {
    /// Returns the state of a reading as text: "cancelled", or the name of the status that the reading gives, or once
    /// gave, to the book.
    func stateName(of reading: Reading) -> String {
        switch reading.state {
        case .open: reading.id == copy.reading?.id ? copy.status.displayName : Copy.Status.reading.displayName
        case .finished: Copy.Status.read.displayName
        case .stopped: Copy.Status.dnf.displayName
        case .cancelled: "cancelled"
        }
    }
}
