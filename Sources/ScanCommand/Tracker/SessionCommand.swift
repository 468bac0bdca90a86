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
        @OptionGroup var places: PlaceOptions
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
        @OptionGroup var places: PlaceOptions
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
                throw Complaint(.nothing, "\(reason) --force keeps it as one of a minute.")
            }
            SessionReport(output: output, when: when).tell(record)
        }
    }

    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show the running session.",
            discussion: "Nothing is printed with --json while none runs.\n\n  scan session status")
        @OptionGroup var places: PlaceOptions
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
