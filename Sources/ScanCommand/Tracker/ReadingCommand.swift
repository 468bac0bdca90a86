import ArgumentParser
import Bookplate
import Foundation

struct ReadingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reading",
        abstract: "Readings: start, page, percent, finish, hold, drop, reset, dates, history, add, delete.",
        discussion: """
            Days are 2026-11-21, 2026-11, 2026, today or yesterday. Changes of status
            date the reading by themselves, unless the library's setting
            automaticDates is off; your own dates are never overwritten.

              scan reading start dune
              scan reading page 145
              scan reading finish dune --on yesterday
            """,
        subcommands: [
            Start.self, ReadingPage.self, ReadingPercent.self, Finish.self, Hold.self, Drop.self, Reset.self,
            ReadingDates.self, ReadingHistory.self, ReadingAdd.self, ReadingDelete.self,
        ])

    /// On which day it was.
    struct DayOption: ParsableArguments {
        @Option(help: ArgumentHelp("The day on which it was; today unless told.", valueName: "day")) var on: String?

        func day() throws -> CalendarDay? { try on.map { try When.here.day($0, for: "--on") } }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start",
            abstract: "Start a book, go on with one on hold, or read one again.",
            discussion: """
                A book that was Read or not finished gets a second reading; the first
                keeps its dates.

                  scan reading start dune --on 2026-11-01
                """)
        @OptionGroup var book: NamedBook
        @OptionGroup var day: DayOption
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.reading, book.words, day.day(), places, output) }
    }

    struct Finish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "finish", abstract: "Say that a book is read.",
            discussion: "  scan reading finish\n  scan reading finish dune --on 2019")
        @OptionGroup var book: TrackedBook
        @OptionGroup var day: DayOption
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.read, book.words, day.day(), places, output) }
    }

    struct Hold: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "hold", abstract: "Put a book on hold; its reading goes on with scan reading start.",
            discussion: "  scan reading hold dune")
        @OptionGroup var book: NamedBook
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.onHold, book.words, nil, places, output) }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Give a book up: Did Not Finish.", discussion: "  scan reading drop dune")
        @OptionGroup var book: NamedBook
        @OptionGroup var day: DayOption
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.dnf, book.words, day.day(), places, output) }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset", abstract: "Back to To Read: the book shows no dates and no progress.",
            discussion: "The reading is cancelled, not deleted: scan undo brings it back.\n\n  scan reading reset dune")
        @OptionGroup var book: NamedBook
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.toRead, book.words, nil, places, output) }
    }
}

private func set(
    _ status: Copy.Status, _ words: [String], _ day: CalendarDay?, _ places: PathOptions, _ output: OutputOptions
) async throws {
    let unchanged = "It was \(status.displayName) already: nothing changed."
    try await ReadingAct(places: places, output: output).run(unchanged: unchanged) { library, when in
        let book = try await library.trackedBook(words)
        return try await library.setStatus(status, of: book.id, on: day, at: when.now)
    }
}

struct ReadingDates: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dates", abstract: "Set or clear the days of a reading; without any, show them.",
        discussion: """
            A day may be known to its month or year only; "" clears it.

              scan reading dates dune
              scan reading dates dune --started 2026-11-01 --finished 2026-11
              scan reading dates dune --number 1 --finished ""
            """)
    @OptionGroup var book: TrackedBook
    @Option(
        help: ArgumentHelp("Of this reading, from 1, the oldest; the one that is shown unless told.", valueName: "n"))
    var number: Int?
    @Option(help: ArgumentHelp("When it was started.", valueName: "day")) var started: String?
    @Option(help: ArgumentHelp("When it was finished.", valueName: "day")) var finished: String?
    @Option(help: ArgumentHelp("When it was given up.", valueName: "day")) var stopped: String?
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let when = When.here
        let edit = DateEdit(
            started: try when.edit(started, for: "--started"), finished: try when.edit(finished, for: "--finished"),
            stopped: try when.edit(stopped, for: "--stopped"))
        guard edit != DateEdit() else { return try await show() }
        try await ReadingAct(places: places, output: output).run { library, when in
            let book = try await library.trackedBook(book.words)
            let reading = try library.reading(number, of: book)
            return try await library.setDates(edit, of: book.id, reading: reading?.id, at: when.now)
        }
    }

    private func show() async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let book = try await library.trackedBook(book.words)
        let chosen = try number.flatMap { try library.reading($0, of: book) }
        let readings = chosen.map { [$0] } ?? book.copy.countedReadings
        if readings.isEmpty, !output.json { ReadingHistory.tellUnread(book) }
        for reading in readings {
            Output.shared.line(
                output.json ? book.json(of: reading).text : ReadingHistory.title(of: reading, in: book))
        }
    }
}

struct ReadingAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a time that a book was read before; the status stays as it is.",
        discussion: """
            Without --stopped it counts as read to the end. All days may be left out.

              scan reading add dune --started 1999-07 --finished 1999-08
            """)
    @OptionGroup var book: NamedBook
    @Option(help: ArgumentHelp("When it was started.", valueName: "day")) var started: String?
    @Option(help: ArgumentHelp("When it was finished.", valueName: "day")) var finished: String?
    @Option(help: ArgumentHelp("When it was given up.", valueName: "day")) var stopped: String?
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let when = When.here
        let days = (
            started: try started.map { try when.day($0, for: "--started") },
            finished: try finished.map { try when.day($0, for: "--finished") },
            stopped: try stopped.map { try when.day($0, for: "--stopped") }
        )
        try await ReadingAct(places: places, output: output).run { library, when in
            let book = try await library.book(named: book.name)
            return try await library.addReading(
                to: book.id, started: days.started, finished: days.finished, stopped: days.stopped, at: when.now)
        }
    }
}

struct ReadingDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a reading with its progress and sessions.",
        discussion: """
            The one that makes the book what it is cannot go; scan reading reset takes
            that back.

              scan reading delete dune --number 1
            """)
    @OptionGroup var book: NamedBook
    @Option(help: ArgumentHelp("Which reading, from 1, the oldest.", valueName: "n")) var number: Int
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ReadingAct(places: places, output: output).run { library, when in
            let book = try await library.book(named: book.name)
            guard let reading = try library.reading(number, of: book) else { throw ReadingRefusal.noSuchReading }
            let question = "Delete reading \(number) of \(quoted([book.displayTitle])) with its progress and sessions?"
            guard try Asking.mayGoOn(question, yes: yes, json: output.json) else { return nil }
            return try await library.deleteReading(reading.id, of: book.id, at: when.now)
        }
    }
}

/// The days of the reading that a book entered by hand has.
struct ReadingDayOptions: ParsableArguments {
    @Option(help: ArgumentHelp("When it was started; not with toRead.", valueName: "day")) var started: String?
    @Option(help: ArgumentHelp("When it was finished; with --status read.", valueName: "day")) var finished: String?
    @Option(help: ArgumentHelp("When it was given up; with --status dnf.", valueName: "day")) var stopped: String?

    /// - Throws: `ValidationError` for a day that a book of this status has not.
    func check(with status: Copy.Status) throws {
        if started != nil, status == .toRead {
            throw ValidationError(
                "--started is of a book that was begun; say --status too: reading, read, onHold or dnf.")
        }
        if finished != nil, status != .read { throw ValidationError("--finished goes with --status read.") }
        if stopped != nil, status != .dnf { throw ValidationError("--stopped goes with --status dnf.") }
    }

    /// - Throws: ``CommandError`` for what is no day.
    func edit(_ when: When) throws -> DateEdit {
        func day(_ text: String?, _ option: String) throws -> Edit<CalendarDay> {
            try text.map { .set(try when.day($0, for: option)) } ?? .keep
        }
        return DateEdit(
            started: try day(started, "--started"), finished: try day(finished, "--finished"),
            stopped: try day(stopped, "--stopped"))
    }
}

struct ReadingPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Record the page that you are on.",
        discussion: """
            A book that is To Read is started by it, one on hold goes on.

              scan reading page 145
              scan reading page dune 145
              scan reading page dune 100 --on yesterday
            """)
    @Argument(
        help: ArgumentHelp("The book (left out: the only one in Reading), then the page.", valueName: "book page"))
    var words: [String]
    @Option(help: ArgumentHelp("The day on which it was so; now unless told.", valueName: "day")) var on: String?
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let text = words.last, let page = Int(text) else {
            throw CommandError(
                .usage,
                "\"\((words.last ?? "").prefix(40).printable)\" is no page. Write a number: scan reading page 145.")
        }
        try await record(.page(page), words.dropLast(), on: on, places, output)
    }
}

struct ReadingPercent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "percent", abstract: "Record how much of a book is read, 0 to 100.",
        discussion: "  scan reading percent 38\n  scan reading percent dune 37.5")
    @Argument(
        help: ArgumentHelp(
            "The book (left out: the only one in Reading), then the percentage.", valueName: "book percent"))
    var words: [String]
    @Option(help: ArgumentHelp("The day on which it was so; now unless told.", valueName: "day")) var on: String?
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let text = (words.last ?? "").prefix(40)
        let number = (text.hasSuffix("%") ? text.dropLast() : text).replacingOccurrences(of: ",", with: ".")
        guard let percent = Double(number) else {
            throw CommandError(
                .usage, "\"\(text.printable)\" is no percentage. Write a number: scan reading percent 38.")
        }
        try await record(.percent(percent), words.dropLast(), on: on, places, output)
    }
}

private func record(
    _ amount: ProgressEntry.Amount, _ words: some Collection<String>, on day: String?, _ places: PathOptions,
    _ output: OutputOptions
) async throws {
    let words = Array(words)
    try await ReadingAct(places: places, output: output).run { library, when in
        let book: Book
        do {
            book = try await library.trackedBook(words)
        } catch let error as CommandError where words.count > 1 && words.last.flatMap({ Double($0) }) != nil {
            // "dune 5 6" is Dune and a slip; "catch 22 145" was found.
            guard (try? await library.trackedBook(words.dropLast())) != nil else { throw error }
            throw CommandError(
                .usage, "say one number, the last of all: \"\(words.last?.printable ?? "")\" is one too many.")
        }
        return try await library.recordProgress(
            amount, of: book.id, on: try day.map { try when.noon(of: $0, for: "--on") }, at: when.now)
    }
}

struct ReadingHistory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show each time through a book, and its progress, the newest first.",
        discussion: "  scan reading history dune\n  scan reading history dune --number 1 --json")
    @OptionGroup var book: TrackedBook
    @Option(help: ArgumentHelp("Of this reading only, from 1, the oldest.", valueName: "n")) var number: Int?
    @Option(help: "How many entries of a reading at the most; 50, and with --json all.") var limit: Int?
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is 1 or more.") }
    }

    func run() async throws {
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let book = try await library.trackedBook(book.words)
        let chosen = try number.flatMap { try library.reading($0, of: book) }
        let readings = chosen.map { [$0] } ?? book.copy.countedReadings.reversed()
        if readings.isEmpty, !output.json { Self.tellUnread(book) }
        for reading in readings {
            let entries = try await library.progress(
                of: reading.id, limit: limit ?? (output.json ? .max : 50), offset: 0)
            if !output.json { Output.shared.line(Self.title(of: reading, in: book)) }
            if output.json {
                Output.shared.line(book.json(of: reading, with: entries))
            } else {
                for entry in entries { Output.shared.line(Self.line(for: entry, in: book)) }
            }
        }
    }

    static func tellUnread(_ book: Book) {
        Output.shared.note("\(quoted([book.displayTitle])) was not read yet. scan reading start begins it.")
    }

    /// `Reading 1 of 2 · Read · started 2026-01-02 · finished 2026-02`
    static func title(of reading: Reading, in book: Book) -> String {
        let number = book.copy.number(of: reading.id).map { "Reading \($0) of \(book.copy.countedReadings.count)" }
        let words = [number, book.stateName(of: reading)].compactMap(\.self) + ReadingAct.days(of: reading)
        return Output.shared.style.strong(words.joined(separator: " · "))
    }

    private static func line(for entry: ProgressEntry, in book: Book) -> String {
        let bar = ReadingBar(amount: entry.amount, pageCount: book.edition.metadata.pageCount).textForOutput
        let mark = entry.isAutomatic ? "  automatic" : entry.session == nil ? "" : "  session"
        return "  \(When.here.local(entry.at))  \(bar)\(Output.shared.style.faint(mark))"
    }
}
