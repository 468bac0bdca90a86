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
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.reading, book.words, day.day(), places, output) }
    }

    struct Finish: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "finish", abstract: "Say that a book is read.",
            discussion: "  scan reading finish\n  scan reading finish dune --on 2019")
        @OptionGroup var book: TrackedBook
        @OptionGroup var day: DayOption
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.read, book.words, day.day(), places, output) }
    }

    struct Hold: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "hold", abstract: "Put a book on hold; its reading goes on with scan reading start.",
            discussion: "  scan reading hold dune")
        @OptionGroup var book: NamedBook
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.onHold, book.words, nil, places, output) }
    }

    struct Drop: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Give a book up: Did Not Finish.", discussion: "  scan reading drop dune")
        @OptionGroup var book: NamedBook
        @OptionGroup var day: DayOption
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.dnf, book.words, day.day(), places, output) }
    }

    struct Reset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset", abstract: "Back to To Read: the book shows no dates and no progress.",
            discussion: "The reading is cancelled, not deleted: scan undo brings it back.\n\n  scan reading reset dune")
        @OptionGroup var book: NamedBook
        @OptionGroup var places: PlaceOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await set(.toRead, book.words, nil, places, output) }
    }
}

private func set(
    _ status: Copy.Status, _ words: [String], _ day: CalendarDay?, _ places: PlaceOptions, _ output: OutputOptions
) async throws {
    let unchanged = "It was \(status.displayName) already: nothing changed."
    try await ReadingAct(places: places, output: output).run(unchanged: unchanged) { library, when in
        let book = try await library.trackedBook(words)
        return try await library.setStatus(status, of: book.id, on: day, at: when.now)
    }
}
