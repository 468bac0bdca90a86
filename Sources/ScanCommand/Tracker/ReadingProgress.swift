import ArgumentParser
import Bookplate
import Foundation

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
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let text = words.last, let page = Int(text) else {
            throw Complaint(
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
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let text = (words.last ?? "").prefix(40)
        let number = (text.hasSuffix("%") ? text.dropLast() : text).replacingOccurrences(of: ",", with: ".")
        guard let percent = Double(number) else {
            throw Complaint(.usage, "\"\(text.printable)\" is no percentage. Write a number: scan reading percent 38.")
        }
        try await record(.percent(percent), words.dropLast(), on: on, places, output)
    }
}

private func record(
    _ amount: ProgressEntry.Amount, _ words: some Collection<String>, on day: String?, _ places: PlaceOptions,
    _ output: OutputOptions
) async throws {
    let words = Array(words)
    try await ReadingAct(places: places, output: output).run { library, when in
        let book: Book
        do {
            book = try await library.trackedBook(words)
        } catch let complaint as Complaint where words.count > 1 && words.last.flatMap({ Double($0) }) != nil {
            // "dune 5 6" is Dune and a slip; "catch 22 145" was found.
            guard (try? await library.trackedBook(words.dropLast())) != nil else { throw complaint }
            throw Complaint(
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
    @OptionGroup var places: PlaceOptions
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
