import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Reading sessions: start, stop, status, list, add, edit, delete.",
        discussion: """
            In a library, only one session can run at a time. It keeps running while the
            machine is off. Write times as '14:30', '2026-11-21 14:30' or
            '2026-11-21T14:30:00Z'.

              scan session start dune
              scan session status
              scan session stop 180
            """,
        subcommands: [
            Start.self, Stop.self, Status.self, SessionList.self, SessionAdd.self, SessionEditing.self,
            SessionDelete.self,
        ],
        defaultSubcommand: Status.self)

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start", abstract: "Start a reading session, and set the book's status to Reading.",
            discussion: """
                With --watch, a clock runs on the terminal. Enter or s ends the session and
                asks for the page; q leaves the session running.

                  scan session start dune
                  scan session start dune --page 145 --start 14:30
                  scan session start dune --watch
                """)
        @OptionGroup var book: TrackedBook
        @Option(help: ArgumentHelp("The page on which the session begins (default: the current page).", valueName: "n"))
        var page: Int?
        @Option(help: ArgumentHelp("The time at which the session began (default: now).", valueName: "time")) var start:
            String?
        @Flag(help: "Show a running clock, and end the session with a key.") var watch = false
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if watch, output.json { throw ValidationError("--watch shows a clock on a terminal, not JSON.") }
        }

        func run() async throws {
            let localTime = LocalTime.current
            let start = try start.map { try localTime.time($0, for: "--start") }
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let book = try await library.trackedBook(book.words, choosing: Asking.canChoose(json: output.json))
            let watcher = watch ? try SessionWatch(library: library, output: output) : nil
            let record: SessionRecord
            do {
                record = try await library.startSession(of: book.id, page: page, from: start, at: localTime.now)
            } catch {
                watcher?.close()
                throw error
            }
            SessionReport(output: output, localTime: localTime).printChanged(record)
            try await watcher?.run(record)
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop", abstract: "End the running session, and record the page you are on.",
            discussion: """
                For a book without pages, such as an audiobook, leave out the page. If the
                session has been running for more than 12 hours, you are asked how long you
                read; without a terminal, say so with --end or --minutes.

                  scan session stop 180
                  scan session stop 180 --end 15:10
                  scan session stop 180 --minutes 45
                """)
        @Argument(help: ArgumentHelp("The page you are on now.", valueName: "page")) var page: Int?
        @Option(help: ArgumentHelp("The time at which the session ended (default: now).", valueName: "time")) var end:
            String?
        @Option(help: ArgumentHelp("The length of the session in minutes, instead of --end.", valueName: "n"))
        var minutes: Int?
        @Flag(
            help: "Keep a session of less than a minute, and count it as one minute, or one of more than 12 hours.")
        var force = false
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if end != nil, minutes != nil { throw ValidationError("Give only one of --end and --minutes.") }
            try SessionTimes.check(minutes)
        }

        func run() async throws {
            let localTime = LocalTime.current
            var end = try end.map { try localTime.time($0, for: "--end") }
            let library = try Wiring(settings: paths.settings()).requireLibrary()
            let running = try await library.runningSession()
            if let minutes { end = running?.session.start.addingTimeInterval(Double(minutes) * 60) }
            let stop = SessionStop(library: library, localTime: localTime, output: output)
            try await stop.run(running, page: page, end: end, forced: force)
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show the running session.",
            discussion: "With --json, prints nothing if no session is running.\n\n  scan session status")
        @OptionGroup var paths: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: paths.settings()).openExistingLibrary()
            if let record = try await library?.runningSession() {
                SessionReport(output: output, localTime: .current).show(record)
            } else if !output.json {
                Output.shared.printNotice(
                    "\(SessionError.notActive.errorDescription ?? "") To start one, run 'scan session start BOOK'.")
            }
        }
    }
}

/// Shows a clock for the running session, and ends the session when a key says so.
private struct SessionWatch {
    private let library: LibraryFile
    private let output: OutputOptions
    private let keyboard: Keyboard

    private static let stillRunning = "The session is still running. To end it, run 'scan session stop PAGE'."

    /// Opens the keyboard. Call ``run(_:)`` or ``close()`` afterwards.
    ///
    /// - Throws: ``CommandError`` if there is no terminal.
    init(library: LibraryFile, output: OutputOptions) throws {
        guard SessionClock.isPossible, isatty(STDIN_FILENO) == 1, let keyboard = Keyboard.open() else {
            throw CommandError(
                .usage,
                "--watch needs a terminal for the clock and the keys, and there is none. Start the session without it, "
                    + "and end it with 'scan session stop'.")
        }
        (self.library, self.output, self.keyboard) = (library, output, keyboard)
    }

    func close() { keyboard.close() }

    /// Shows the clock until the person closes it, and closes the keyboard.
    func run(_ record: SessionRecord) async throws {
        switch try await clock(record) {
        case .leave: Output.shared.printNotice(Self.stillRunning)
        case .ended: Output.shared.printNotice("The session was ended elsewhere. To see it, run 'scan session list'.")
        case .stop: try await stop(record.session.id)
        }
    }

    private func clock(_ record: SessionRecord) async throws -> SessionClock.End {
        defer { close() }
        Interrupts.handle { Self.stillRunning }
        Output.shared.printNotice("Enter or s ends the session, q leaves it running.")
        let pace = try await library.sessionTotals(of: record.copy).meanPace
        return try await SessionClock.run(keyboard) { [library] in
            guard let running = try await library.runningSession(), running.session.id == record.session.id else {
                return nil
            }
            return Self.text(for: running, pace: pace, at: Date())
        }
    }

    /// Asks for the page and ends the session.
    private func stop(_ id: ID<Session>) async throws {
        tcflush(STDIN_FILENO, TCIFLUSH)
        while let end = Asking.sessionEnd() {
            let stop = SessionStop(library: library, localTime: .current, output: output)
            guard let running = try await library.runningSession(), running.session.id == id else {
                throw SessionError.alreadyEnded
            }
            do {
                if try await stop.run(running, page: end.page, end: nil, forced: false) { return }
                break
            } catch SessionError.invalidPageNumber {
                Output.shared.printNotice("The session began on page \(running.session.startPage).")
            }
        }
        Output.shared.printNotice(Self.stillRunning)
    }

    /// Returns the text of the clock: `12:34 · Dune · from page 145 of 382 · 70 pages per hour on average`.
    private static func text(for record: SessionRecord, pace: Double?, at now: Date) -> String {
        let pageCount = record.pageCount.map { " of \($0)" } ?? ""
        let parts = [
            LocalTime.elapsed(record.session.seconds(until: now)), record.displayTitle.oneLine.fitted(40),
            "from page \(record.session.startPage)\(pageCount)",
            pace.map { "\(counted(Int($0.rounded()), "page")) per hour on average" },
        ]
        return parts.compactMap(\.self).joined(separator: " · ")
    }
}

/// Ends the running session and prints it.
struct SessionStop {
    let library: LibraryFile
    let localTime: LocalTime
    let output: OutputOptions

    /// - Parameters:
    ///   - running: the running session, whose end is asked for if it was probably forgotten; `nil` if there is none.
    ///   - end: the end, if the person has given it.
    ///   - forced: true to keep a session of any length.
    /// - Returns: false if the person gave no answer, so that the session goes on.
    @discardableResult
    func run(_ running: SessionRecord?, page: Int?, end: Date?, forced: Bool) async throws -> Bool {
        var end = end
        if let running, end == nil, !forced, running.session.wasProbablyForgotten(at: localTime.now) {
            guard !output.json, isatty(STDIN_FILENO) == 1 else { return try refuse(running) }
            Output.shared.printNotice(running.lengthDescription(at: localTime))
            end = Asking.end(of: running.session, localTime)
            if end == nil { return false }
        }
        let record: SessionRecord
        do {
            record = try await library.stopSession(
                running?.session.id, page: page, end: end, forced: forced, at: localTime.now)
        } catch SessionError.sessionTooShort {
            let reason = SessionError.sessionTooShort.errorDescription ?? ""
            throw CommandError(.nothing, "\(reason) To keep it as one minute, use --force.")
        }
        SessionReport(output: output, localTime: localTime).printChanged(record)
        return true
    }

    private func refuse(_ running: SessionRecord) throws -> Bool {
        throw CommandError(
            .usage,
            "\(running.lengthDescription(at: localTime)) Say when it ended with --end TIME, or how long it was with "
                + "--minutes N. To keep the whole time, use --force.")
    }
}

extension Session {
    /// True if the session has been running for more than 12 hours, so that it was probably not ended in time.
    func wasProbablyForgotten(at now: Date) -> Bool { isRunning && seconds(until: now) > 12 * 3600 }
}

extension SessionRecord {
    /// Returns a sentence with the start of a running session and the time since then.
    func lengthDescription(at localTime: LocalTime) -> String {
        "The session for \(quoted([displayTitle])) has been running since \(localTime.dateTime(session.start)), for "
            + "\(counted(session.seconds(until: localTime.now) / 3600, "hour"))."
    }

    /// Refuses to end a session along with a change if it was probably forgotten.
    ///
    /// - Throws: ``CommandError``, which says how to end the session.
    func checkLength(at now: Date) throws {
        guard session.wasProbablyForgotten(at: now) else { return }
        throw CommandError(
            .usage,
            "\(lengthDescription(at: LocalTime(now: now, zone: .current))) End it with 'scan session stop', and then run "
                + "this command again.")
    }
}

/// Formats and prints sessions.
struct SessionReport {
    let output: OutputOptions
    let localTime: LocalTime

    /// Prints a session after a change, with advice on undoing the change.
    func printChanged(_ record: SessionRecord) {
        show(record)
        if !output.json { Output.shared.printChange([], record.change) }
    }

    /// Prints a session, with advice on ending it if it is running.
    func show(_ record: SessionRecord) {
        if output.json { return Output.shared.printLine(record.json(at: localTime.now)) }
        Output.shared.printLine(line(for: record))
        if record.session.isRunning {
            Output.shared.printNotice(
                (record.isInTrash ? "The book is in the trash. To restore it, run 'scan library restore'. " : "")
                    + "To end the session, run 'scan session stop PAGE'.")
        }
    }

    /// Returns the line for a session: `Session • 12:34 · Dune · from page 145 of 382 · since 14:30`, or for an ended
    /// session `2026-11-21 14:30–15:00 · 30 min · pages 145–180 · 70 pages per hour · Dune · 1f2e3d4c`.
    ///
    /// - Parameter id: the short form of the id; `nil` for its last eight characters.
    func line(for record: SessionRecord, id: String? = nil) -> String {
        let session = record.session
        let title = record.displayTitle.oneLine
        let pageCount = record.pageCount.map { " of \($0)" } ?? ""
        guard let end = session.end, let minutes = session.minutes else {
            let time = LocalTime.elapsed(session.seconds(until: localTime.now))
            return Output.shared.style.strong("Session • \(time)")
                + " · \(title) · from page \(session.startPage)\(pageCount) · since \(localTime.dateTime(session.start))"
        }
        let isSameDay = CalendarDay(session.start, in: localTime.zone) == CalendarDay(end, in: localTime.zone)
        let parts: [String?] = [
            "\(localTime.dateTime(session.start))–\(isSameDay ? end.clockTime(in: localTime.zone) : localTime.dateTime(end))",
            "\(minutes) min",
            session.endPage.map { "pages \(session.startPage)–\($0)" },
            session.pace.map { "\(counted(Int($0.rounded()), "page")) per hour" }, title,
            Output.shared.style.faint(id ?? String(session.id.rawValue.suffix(8))),
        ]
        return parts.compactMap(\.self).joined(separator: " · ")
    }
}

struct SessionList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the sessions of one book or of all books, newest first.",
        discussion: "  scan session list dune\n  scan session list --limit 10")
    @Argument(
        help: ArgumentHelp(
            "An ISBN, an id, or words from the title or authors (default: all books).", valueName: "book"),
        completion: .values(.bookWords))
    var words: [String] = []
    @Option(
        name: [.customShort("n"), .long],
        help: "The maximum number of sessions (default: 50, or all with --json, --format or --tsv).")
    var limit: Int?
    @Option(help: "The number of sessions to leave out, starting with the newest.") var offset = 0
    @OptionGroup var printed: PrintedListOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if limit ?? 1 < 1 || offset < 0 { throw ValidationError("--limit must be 1 or more, and --offset 0 or more.") }
    }

    func run() async throws {
        let localTime = LocalTime.current
        let printer = try ListPrinter(printed, json: output.json, .sessions)
        let wiring = try Wiring(settings: paths.settings())
        guard let library = try words.isEmpty ? wiring.openExistingLibrary() : wiring.requireLibrary() else {
            return printEmpty()
        }
        let choosing = Asking.canChoose(json: output.json)
        let book =
            words.isEmpty ? nil : try await library.book(named: words.joined(separator: " "), choosing: choosing)
        let records = try await library.sessions(
            of: book?.id, limit: printer.limit(limit), offset: offset)
        let report = SessionReport(output: output, localTime: localTime)
        let ids =
            printer.needsShortIDs
            ? try await library.shortIDs(of: records.map(\.session.id.rawValue), in: .session, atLeast: 8) : [:]
        try await printer.paged {
            try printer.print(records, ids: ids, json: { $0.json(at: localTime.now) }) {
                [report.line(for: $0, id: ids[$0.session.id.rawValue])]
            }
            if records.isEmpty { printEmpty() }
            if let book, printer.isForPeople { printTotals(try await library.sessionTotals(of: book.id)) }
        }
    }

    private func printEmpty() {
        if !output.json {
            Output.shared.printNotice("There is no session yet. To start one, run 'scan session start BOOK'.")
        }
    }

    private func printTotals(_ totals: SessionTotals) {
        guard totals.sessions > 0 else { return }
        let pace = totals.meanPace.map { ", \(counted(Int($0.rounded()), "page")) per hour on average" } ?? ""
        Output.shared.printNotice(
            "\(counted(totals.sessions, "session")), \(counted(totals.minutes, "minute")), \(counted(totals.pages, "page"))\(pace)."
        )
    }
}

/// The options for the times and pages of a session.
struct SessionTimes: ParsableArguments {
    @Option(help: ArgumentHelp("The time at which the session began.", valueName: "time")) var start: String?
    @Option(help: ArgumentHelp("The time at which the session ended.", valueName: "time")) var end: String?
    @Option(help: ArgumentHelp("The length of the session in minutes, instead of --start or --end.", valueName: "n"))
    var minutes: Int?
    @Option(help: ArgumentHelp("The page on which the session began.", valueName: "n")) var fromPage: Int?
    @Option(
        help: ArgumentHelp(
            "The page on which the session ended; \"\" clears it (0 means that nothing was read).", valueName: "n"))
    var toPage: String?

    func validate() throws {
        try Self.check(minutes)
        if minutes != nil, start != nil, end != nil {
            throw ValidationError("Give only two of --start, --end and --minutes.")
        }
    }

    /// - Throws: `ValidationError` for a length of less than a minute or more than a day, which would be refused later
    ///   anyway. So the computed times stay within the range of a date.
    static func check(_ minutes: Int?) throws {
        guard let minutes, !(1...1440).contains(minutes) else { return }
        throw ValidationError("--minutes must be a number from 1 to 1440 (one day).")
    }

    func times(_ localTime: LocalTime) throws -> (start: Date?, end: Date?) {
        (try start.map { try localTime.time($0, for: "--start") }, try end.map { try localTime.time($0, for: "--end") })
    }

    func endPage() throws -> Edit<Int> {
        guard let toPage else { return .keep }
        if toPage.isEmpty { return .clear }
        guard let page = Int(toPage) else {
            throw CommandError(.usage, "--to-page \"\(toPage.prefix(40).printable)\" is not a page. Write a number.")
        }
        return .set(page)
    }
}

struct SessionAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a session that was not timed.",
        discussion: """
            If you give only --minutes, the session counts as having ended just now.
            Adding a session never moves the book's current page back.

              scan session add dune --start 14:30 --minutes 45 --to-page 180
              scan session add dune --start "2026-11-20 21:00" --end "2026-11-20 22:15"
            """)
    @OptionGroup var book: TrackedBook
    @OptionGroup var times: SessionTimes
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if times.minutes == nil, times.start == nil || times.end == nil {
            throw ValidationError("Give the time of the session: --minutes, or --start with --end or --minutes.")
        }
    }

    func run() async throws {
        let localTime = LocalTime.current
        let (start, end) = try span(localTime)
        let page: Int? = if case .set(let page) = try times.endPage() { page } else { nil }
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let book = try await library.trackedBook(book.words, choosing: Asking.canChoose(json: output.json))
        let record = try await library.addSession(
            of: book.id, start: start, end: end, startPage: times.fromPage, endPage: page, at: localTime.now)
        SessionReport(output: output, localTime: localTime).printChanged(record)
    }

    private func span(_ localTime: LocalTime) throws -> (start: Date, end: Date) {
        let (start, end) = try times.times(localTime)
        let length = TimeInterval((times.minutes ?? 0) * 60)
        if let start { return (start, end ?? start.addingTimeInterval(length)) }
        let last = end ?? localTime.now
        return (last.addingTimeInterval(-length), last)
    }
}

struct SessionEditing: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Edit a session, and with it the progress that it recorded.",
        discussion: "  scan session edit 1f2e3d4c --minutes 40 --to-page 175")
    @Argument(
        help: ArgumentHelp("The session's id, or the last four or more characters of the id.", valueName: "session"),
        completion: .values(.session))
    var name: String
    @OptionGroup var times: SessionTimes
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let localTime = LocalTime.current
        let (start, end) = try times.times(localTime)
        var edit = SessionEdit(
            start: start, end: end, minutes: times.minutes, startPage: times.fromPage, endPage: try times.endPage())
        // The end and the length determine the start.
        if let end, let minutes = times.minutes {
            (edit.start, edit.minutes) = (end.addingTimeInterval(TimeInterval(-minutes * 60)), nil)
        }
        guard edit != SessionEdit() else {
            throw CommandError(.usage, "say what to change, such as --minutes or --to-page.")
        }
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let session = try await library.session(named: name)
        let record = try await library.editSession(session.session.id, edit, at: localTime.now)
        SessionReport(output: output, localTime: localTime).printChanged(record)
    }
}

struct SessionDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a session (even the running one) and the progress that it recorded.",
        discussion: "  scan session delete 1f2e3d4c")
    @Argument(
        help: ArgumentHelp("The session's id, or the last four or more characters of the id.", valueName: "session"),
        completion: .values(.session))
    var name: String
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let localTime = LocalTime.current
        let report = SessionReport(output: output, localTime: localTime)
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let session = try await library.session(named: name)
        let question = "\(report.line(for: session))\nDelete this session and the progress that it recorded?"
        guard try Asking.mayGoOn(question, yes: yes, json: output.json) else { return }
        let record = try await library.deleteSession(session.session.id, at: localTime.now)
        if output.json { return Output.shared.printLine(record.json(at: localTime.now)) }
        Output.shared.printChange(["Deleted: \(report.line(for: record))"], record.change)
    }
}

extension LibraryFile {
    /// Returns the session with this name.
    ///
    /// - Parameter name: an id, or its last four or more characters.
    /// - Throws: ``CommandError`` if no session matches, or if several sessions match.
    func session(named name: String) async throws -> SessionRecord {
        let name = name.lowercased()
        let fits = (4...64).contains(name.utf8.count) ? try await sessions(endingIn: name) : []
        guard let first = fits.first else {
            throw CommandError(
                .nothing,
                "there is no session \"\(name.prefix(80).printable)\". To list the sessions, run 'scan session list'.")
        }
        guard fits.count == 1 else {
            throw CommandError(
                severalEndingIn: name,
                fits.map {
                    ($0.session.id.rawValue, "\(LocalTime.current.dateTime($0.session.start)) \($0.displayTitle)")
                })
        }
        return first
    }
}
