import ArgumentParser
import Bookplate
import Foundation

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
    @OptionGroup var places: PlaceOptions
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
    @OptionGroup var places: PlaceOptions
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
    @OptionGroup var places: PlaceOptions
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
