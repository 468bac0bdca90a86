import ArgumentParser
import Bookplate
import Foundation
import Library

struct HomeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "home", abstract: "Show the books that you are reading, and those that you read last.",
        discussion: """
            Shows each book that you are reading with its progress and the expected
            day of finishing it, latest activity first; then the five read last.

              scan home
              scan home --json
            """)

    @Option(help: "The maximum number of books being read.") var limit = 20
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit takes 1 or more.") }
    }

    func run() async throws {
        let (now, zone) = (Date(), TimeZone.current)
        let library = try Wiring(settings: paths.settings()).openExistingLibrary()
        let home = try await library?.home(limit: limit, at: now, in: zone) ?? Home(at: now, in: zone)
        if output.json { return Output.shared.line(home.json) }
        Output.shared.line(Charts.forOutput.shown(HomeScreen(home: home, charts: .forOutput, zone: zone).lines))
    }
}

extension Home {
    /// The home page of a library that does not exist yet.
    init(at now: Date, in zone: TimeZone) {
        self.init(today: CalendarDay(now, in: zone), readingNow: [], readingCount: 0, recentlyRead: [])
    }
}

/// The home page as lines for a terminal.
struct HomeScreen {
    let home: Home
    let charts: Charts
    let zone: TimeZone

    var lines: [String] {
        var lines = [charts.style.strong("Reading now")]
        if home.readingNow.isEmpty {
            lines += ["", "  \(Home.nothingReading)."] + advice("scan reading start BOOK starts one.")
        }
        for book in home.readingNow { lines += [""] + card(book) }
        let hidden = home.readingCount - home.readingNow.count
        if hidden > 0 { lines += [""] + advice("and \(hidden) more; --limit \(home.readingCount) shows them all.") }
        lines += ["", charts.style.strong("Recently read"), ""]
        if home.recentlyRead.isEmpty {
            lines += ["  \(home.recentlyReadEmpty)."] + advice("scan reading finish BOOK marks one as read.")
        }
        return lines + home.recentlyRead.flatMap(row)
    }

    private var inner: Int { charts.width - 2 }

    private func advice(_ text: String) -> [String] { text.wrapped(inner).map { "  " + charts.style.faint($0) } }

    private func card(_ reading: ReadingNow) -> [String] {
        let style = charts.style
        var lines = [
            "  " + style.strong(reading.book.displayTitle.oneLine.fitted(inner)),
            "  " + reading.book.displayAuthors.oneLine.fitted(inner), "  " + bar(reading),
        ]
        if let running = reading.running {
            let text =
                "Session running since \(LocalTime(now: running.start, zone: zone).clockTime(running.start)), from page \(running.startPage)"
            lines += text.wrapped(inner).map { "  " + style.attention($0) }
        }
        lines += reading.forecast.sentence.wrapped(inner).map { "  " + $0 }
        if let pause = reading.pause { lines += pause.sentence.wrapped(inner).map { "  " + style.attention($0) } }
        let facts = [
            reading.book.copy.reading?.started.map { "started \($0)" },
            reading.pagesToday > 0 ? "\(counted(reading.pagesToday, "page")) today" : nil,
        ].compactMap(\.self)
        if !facts.isEmpty { lines.append("  " + style.faint(facts.joined(separator: " · ").fitted(inner))) }
        return lines
    }

    /// The progress bar with its text; the text alone if the progress has no percentage.
    private func bar(_ reading: ReadingNow) -> String {
        let place: String
        switch (reading.progress, reading.pageCount) {
        case (.page(let page)?, let count?): place = "page \(page) of \(count)"
        case (.page(let page)?, nil): place = "page \(page)"
        case (.percent?, let count?): place = "of \(counted(count, "page"))"
        case (.percent?, nil): place = ""
        case (nil, let count): place = count.map { "0 of \(counted($0, "page"))" } ?? "no progress yet"
        }
        guard let fraction = reading.fraction ?? (reading.progress == nil ? 0 : nil),
            reading.pageCount != nil || reading.progress != nil
        else { return place.fitted(inner) }
        let percent = ProgressEntry.Amount.wholePercent(fraction)
        let words = "\(String(repeating: " ", count: percent < 10 ? 2 : percent < 100 ? 1 : 0))\(percent) %  \(place)"
        return charts.progress(fraction, width: max(8, min(charts.longestTrack, inner - words.columns - 1))) + " "
            + words
    }

    private func row(_ read: RecentlyRead) -> [String] {
        let star = charts.isASCII ? "*" : "★"
        let facts = [
            read.finished.map(\.description) ?? "no date",
            read.daysToRead.map { $0 == 0 ? "in a day" : "in \(counted($0, "day"))" },
            read.book.copy.rating.map { "\(star) \($0.formatted())" },
        ].compactMap(\.self).joined(separator: " · ")
        let title = "\(read.book.displayTitle.oneLine) · \(read.book.displayAuthors.oneLine)"
        guard title.columns + facts.columns + 2 > inner else {
            let gap = String(repeating: " ", count: inner - title.columns - facts.columns)
            return ["  " + title + gap + charts.style.faint(facts)]
        }
        if charts.width >= 80 {
            let room = inner - facts.columns - 2
            return ["  " + title.fitted(room).padded(room) + "  " + charts.style.faint(facts)]
        }
        return ["  " + title.fitted(inner), "    " + charts.style.faint(facts.fitted(inner - 2))]
    }
}
