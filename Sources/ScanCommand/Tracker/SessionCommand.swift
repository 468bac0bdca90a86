import ArgumentParser
import Bookplate
import Foundation
import Library

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Time spent reading: start, stop, status, list, add, edit, delete.",
        discussion: """
            One session runs at a time, for the whole library; it goes on while the
            machine is off. Times are 14:30, 2026-11-21 14:30 or 2026-11-21T14:30:00Z.

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
            commandName: "start", abstract: "Start a reading session; the book becomes Reading.",
            discussion: "  scan session start dune\n  scan session start dune --page 145 --start 14:30")
        @OptionGroup var book: TrackedBook
        @Option(help: ArgumentHelp("Where it begins; the current page unless told.", valueName: "n")) var page: Int?
        @Option(help: ArgumentHelp("When it began; now unless told.", valueName: "time")) var start: String?
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let when = When.here
            let start = try start.map { try when.time($0, for: "--start") }
            let library = try Wiring(settings: places.settings()).requireLibrary()
            let book = try await library.trackedBook(book.words)
            let record = try await library.startSession(of: book.id, page: page, from: start, at: when.now)
            SessionReport(output: output, when: when).tell(record)
        }
    }

    struct Stop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop", abstract: "End the running session, and record the page that you are on.",
            discussion: """
                The page may be left out: an audiobook has none.

                  scan session stop 180
                  scan session stop 180 --end 15:10
                """)
        @Argument(help: ArgumentHelp("The page that you are on now.", valueName: "page")) var page: Int?
        @Option(help: ArgumentHelp("When it ended; now unless told.", valueName: "time")) var end: String?
        @Flag(help: "Keep also a session of less than a minute, as one of a minute.") var force = false
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let when = When.here
            let end = try end.map { try when.time($0, for: "--end") }
            let library = try Wiring(settings: places.settings()).requireLibrary()
            let record: SessionRecord
            do {
                record = try await library.stopSession(page: page, end: end, forced: force, at: when.now)
            } catch SessionError.sessionTooShort {
                let reason = SessionError.sessionTooShort.errorDescription ?? ""
                throw CommandError(.nothing, "\(reason) --force keeps it as one of a minute.")
            }
            SessionReport(output: output, when: when).tell(record)
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show the running session.",
            discussion: "Nothing is printed with --json while none runs.\n\n  scan session status")
        @OptionGroup var places: PathOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let library = try Wiring(settings: places.settings()).openExistingLibrary()
            if let record = try await library?.runningSession() {
                SessionReport(output: output, when: .here).show(record)
            } else if !output.json {
                Output.shared.note(
                    "\(SessionError.notActive.errorDescription ?? "") scan session start BOOK starts one.")
            }
        }
    }
}

/// Prints sessions.
struct SessionReport {
    let output: OutputOptions
    let when: When

    /// What a change made of a session, with the way on and the way back.
    func tell(_ record: SessionRecord) {
        show(record)
        if !output.json { Output.shared.note("scan undo takes it back.") }
    }

    /// What a session is now, with the way on.
    func show(_ record: SessionRecord) {
        if output.json { return Output.shared.line(record.json(at: when.now)) }
        Output.shared.line(line(for: record))
        if record.session.isRunning {
            Output.shared.note(
                (record.isInTrash ? "The book is in the trash; scan library restore takes it back. " : "")
                    + "scan session stop PAGE ends it.")
        }
    }

    /// `Session • 12:34 · Dune · from page 145 of 382 · since 14:30`, or of an ended one
    /// `2026-11-21 14:30–15:00 · 30 min · pages 145–180 · 70 pages an hour · Dune · 1f2e3d4c`.
    func line(for record: SessionRecord) -> String {
        let session = record.session
        let title = record.displayTitle.oneLine
        let pageCount = record.pageCount.map { " of \($0)" } ?? ""
        guard let end = session.end, let minutes = session.minutes else {
            let time = When.elapsed(session.seconds(until: when.now))
            return Output.shared.style.strong("Session • \(time)")
                + " · \(title) · from page \(session.startPage)\(pageCount) · since \(when.local(session.start))"
        }
        let isSameDay = CalendarDay(session.start, in: when.zone) == CalendarDay(end, in: when.zone)
        let parts: [String?] = [
            "\(when.local(session.start))–\(isSameDay ? when.clock(end) : when.local(end))", "\(minutes) min",
            session.endPage.map { "pages \(session.startPage)–\($0)" },
            session.pace.map { "\(counted(Int($0.rounded()), "page")) an hour" }, title,
            Output.shared.style.faint(String(session.id.rawValue.suffix(8))),
        ]
        return parts.compactMap(\.self).joined(separator: " · ")
    }
}

struct SessionList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List sessions, the newest first, of one book or of all.",
        discussion: "  scan session list dune\n  scan session list --limit 10")
    @Argument(help: ArgumentHelp("ISBN, id or words; left out, all books.", valueName: "book")) var words: [String] = []
    @Option(help: "How many at the most; 50, and with --json all.") var limit: Int?
    @Option(help: "How many to pass over.") var offset = 0
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if limit ?? 1 < 1 || offset < 0 { throw ValidationError("--limit is 1 or more, --offset 0 or more.") }
    }

    func run() async throws {
        let when = When.here
        let wiring = try Wiring(settings: places.settings())
        guard let library = try words.isEmpty ? wiring.openExistingLibrary() : wiring.requireLibrary() else {
            return tellEmpty()
        }
        let book = words.isEmpty ? nil : try await library.book(named: words.joined(separator: " "))
        let records = try await library.sessions(
            of: book?.id, limit: limit ?? (output.json ? .max : 50), offset: offset)
        let report = SessionReport(output: output, when: when)
        for record in records {
            Output.shared.line(output.json ? record.json(at: when.now).text : report.line(for: record))
        }
        if records.isEmpty { tellEmpty() }
        if let book, !output.json { tell(try await library.sessionTotals(of: book.id)) }
    }

    private func tellEmpty() {
        if !output.json { Output.shared.note("There is no session yet. scan session start BOOK starts one.") }
    }

    private func tell(_ totals: SessionTotals) {
        guard totals.sessions > 0 else { return }
        let pace = totals.meanPace.map { ", \(counted(Int($0.rounded()), "page")) an hour on average" } ?? ""
        Output.shared.note(
            "\(counted(totals.sessions, "session")), \(counted(totals.minutes, "minute")), \(counted(totals.pages, "page"))\(pace)."
        )
    }
}

/// When a session was, and from which page to which.
struct SessionTimes: ParsableArguments {
    @Option(help: ArgumentHelp("When it began.", valueName: "time")) var start: String?
    @Option(help: ArgumentHelp("When it ended.", valueName: "time")) var end: String?
    @Option(help: ArgumentHelp("How long it was, in place of its end.", valueName: "n")) var minutes: Int?
    @Option(help: ArgumentHelp("The page on which it began.", valueName: "n")) var fromPage: Int?
    @Option(
        help: ArgumentHelp("The page on which it ended; \"\" clears, since 0 is nothing read.", valueName: "n"))
    var toPage: String?

    func validate() throws {
        // A session of more than a day is refused anyway; this keeps the sum within what a date can hold.
        if let minutes, !(1...1440).contains(minutes) { throw ValidationError("--minutes is 1 to 1440, a day.") }
        if minutes != nil, start != nil, end != nil {
            throw ValidationError("Give two of --start, --end and --minutes.")
        }
    }

    func times(_ when: When) throws -> (start: Date?, end: Date?) {
        (try start.map { try when.time($0, for: "--start") }, try end.map { try when.time($0, for: "--end") })
    }

    func endPage() throws -> Edit<Int> {
        guard let toPage else { return .keep }
        if toPage.isEmpty { return .clear }
        guard let page = Int(toPage) else {
            throw CommandError(.usage, "--to-page \"\(toPage.prefix(40).printable)\" is no page. Write a number.")
        }
        return .set(page)
    }
}

struct SessionAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a session that was not timed.",
        discussion: """
            --minutes alone means that it ended just now. The current page never moves
            back by it.

              scan session add dune --start 14:30 --minutes 45 --to-page 180
              scan session add dune --start "2026-11-20 21:00" --end "2026-11-20 22:15"
            """)
    @OptionGroup var book: TrackedBook
    @OptionGroup var times: SessionTimes
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if times.minutes == nil, times.start == nil || times.end == nil {
            throw ValidationError("Say when it was: --minutes, or --start with --end or --minutes.")
        }
    }

    func run() async throws {
        let when = When.here
        let (start, end) = try span(when)
        let page: Int? = if case .set(let page) = try times.endPage() { page } else { nil }
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let book = try await library.trackedBook(book.words)
        let record = try await library.addSession(
            of: book.id, start: start, end: end, startPage: times.fromPage, endPage: page, at: when.now)
        SessionReport(output: output, when: when).tell(record)
    }

    private func span(_ when: When) throws -> (start: Date, end: Date) {
        let (start, end) = try times.times(when)
        let length = TimeInterval((times.minutes ?? 0) * 60)
        if let start { return (start, end ?? start.addingTimeInterval(length)) }
        let last = end ?? when.now
        return (last.addingTimeInterval(-length), last)
    }
}

struct SessionEditing: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Correct a session; the progress that it told follows.",
        discussion: "  scan session edit 1f2e3d4c --minutes 40 --to-page 175")
    @Argument(help: ArgumentHelp("Its id, or the end of it.", valueName: "session")) var name: String
    @OptionGroup var times: SessionTimes
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let when = When.here
        let (start, end) = try times.times(when)
        var edit = SessionEdit(
            start: start, end: end, minutes: times.minutes, startPage: times.fromPage, endPage: try times.endPage())
        // Its end and its length fix where it began.
        if let end, let minutes = times.minutes {
            (edit.start, edit.minutes) = (end.addingTimeInterval(TimeInterval(-minutes * 60)), nil)
        }
        guard edit != SessionEdit() else {
            throw CommandError(.usage, "say what to change, such as --minutes or --to-page.")
        }
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let session = try await library.session(named: name)
        let record = try await library.editSession(session.session.id, edit, at: when.now)
        SessionReport(output: output, when: when).tell(record)
    }
}

struct SessionDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a session, also the running one, with the progress that it told.",
        discussion: "  scan session delete 1f2e3d4c")
    @Argument(help: ArgumentHelp("Its id, or the end of it.", valueName: "session")) var name: String
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup var places: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let when = When.here
        let report = SessionReport(output: output, when: when)
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let session = try await library.session(named: name)
        let question = "\(report.line(for: session))\nDelete the session, and the progress that it told?"
        guard try Asking.mayGoOn(question, yes: yes, json: output.json) else { return }
        let record = try await library.deleteSession(session.session.id, at: when.now)
        if output.json { return Output.shared.line(record.json(at: when.now)) }
        Output.shared.changed(["Deleted: \(report.line(for: record))"])
    }
}
