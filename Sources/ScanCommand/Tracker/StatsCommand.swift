import ArgumentParser
import Bookplate
import Foundation
import Library

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Show statistics and charts of your reading.",
        discussion: """
            docs/tracker.md explains how each figure is computed.

              scan stats --year 2026
              scan stats --from 2026-01-01 --to 2026-06-30 --json
              scan stats calendar --month 2026-05
              scan stats book dune
            """,
        subcommands: [
            StatsOverview.self, StatsCalendar.self, StatsOnThisDay.self, StatsChallenge.self, StatsBook.self,
        ], defaultSubcommand: StatsOverview.self)
}

/// The period of the statistics.
struct PeriodOptions: ParsableArguments {
    @Option(help: ArgumentHelp("This year only.", valueName: "YYYY")) var year: Int?
    @Option(help: ArgumentHelp("This month only.", valueName: "YYYY-MM")) var month: String?
    @Option(help: ArgumentHelp("From this day, month or year; also today or yesterday.", valueName: "date"))
    var from: String?
    @Option(help: ArgumentHelp("To this day, month or year, inclusive.", valueName: "date")) var to: String?

    func validate() throws {
        let ways = [year != nil, month != nil, from != nil || to != nil].filter { $0 }.count
        guard ways <= 1 else { throw ValidationError("Give --year, or --month, or --from and --to.") }
    }

    /// - Throws: ``CommandError`` for an invalid date.
    func period() throws -> Period {
        let localTime = LocalTime.current
        if let year { return try Self.year(year) }
        if let month { return Period(try localTime.month(month, for: "--month")) }
        let period = Period(
            from: try from.map { try localTime.day($0, for: "--from") },
            to: try to.map { try localTime.day($0, for: "--to") })
        if let from = period.from, let to = period.to, to < from {
            throw CommandError(.usage, "--to \(to) is before --from \(from).")
        }
        return period
    }

    static func year(_ year: Int) throws -> Period {
        guard let day = CalendarDay(year: year) else {
            throw CommandError(.usage, "--year \(year) is not a year. Write one from 1 to 9999.")
        }
        return Period(day)
    }
}

struct StatsOverview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "overview", abstract: "Show everything at a glance (the default of scan stats).")
    @OptionGroup var period: PeriodOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let asked = try period.period()
        let overview = try await paths.stats().overview(asked, year: period.year, at: Date(), in: .current)
        if output.json { return Output.shared.line(overview.json) }
        Output.shared.line(Charts.forOutput.shown(StatsScreen(overview: overview, charts: .forOutput).lines))
    }
}

struct StatsChallenge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "challenge",
        abstract: "Show this year's books against the yearly goal, and today's pages against the daily one.")
    @Option(help: ArgumentHelp("The year (default: this year).", valueName: "YYYY")) var year: Int?
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let period = try year.map { try PeriodOptions.year($0) } ?? .all
        let overview = try await paths.stats().overview(period, year: year, at: Date(), in: .current)
        if output.json {
            return Output.shared.line([
                "challenge": overview.challenge?.json ?? .null, "dailyGoal": overview.dailyGoal?.json ?? .null,
                "culturalGoals": .array(overview.culturalGoals.map(\.json)),
            ])
        }
        Output.shared.line(Charts.forOutput.shown(StatsScreen(overview: overview, charts: .forOutput).goals))
    }
}

extension PathOptions {
    /// Opens the library for statistics; an empty one in memory if there is no library yet.
    func stats() throws -> LibraryFile {
        try Wiring(settings: settings()).openExistingLibrary() ?? LibraryFile.inMemory()
    }
}

struct StatsCalendar: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calendar", abstract: "Show the pages and minutes of each day of a month.")
    @Option(help: ArgumentHelp("The month (default: this month).", valueName: "YYYY-MM")) var month: String?
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let localTime = LocalTime.current
        let today = CalendarDay(localTime.now, in: localTime.zone)
        let asked = try localTime.month(month ?? String(today.description.prefix(7)), for: "--month")
        guard let month = asked.month else { return }
        let period = Period(asked)
        let days = try await paths.stats().days(in: period, zone: localTime.zone)
        let totals = Totals(days, [], in: period)
        if output.json {
            return Output.shared.line([
                "month": JSONValue(asked), "days": .array(days.map(\.json)), "pages": .integer(totals.pages),
                "minutes": .integer(totals.minutes), "daysRead": .integer(totals.daysRead),
            ])
        }
        let charts = Charts.forOutput
        let sum =
            "\(counted(totals.pages, "page")) · \(spoken(minutes: totals.minutes)) · \(counted(totals.daysRead, "day"))"
        Output.shared.line(
            charts.shown(
                [charts.style.strong(asked.description) + "  " + sum, ""]
                    + charts.month(asked.year, month, days, today: today)))
    }
}

struct StatsBook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "book", abstract: "Show the statistics of one book, with its progress over time.")
    @OptionGroup var named: NamedBook
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (now, zone) = (Date(), TimeZone.current)
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let book = try await library.book(named: named.name)
        guard let stats = try await library.stats(of: book.id, at: now, in: zone) else {
            throw CommandError(
                .nothing,
                "\(quoted([book.displayTitle])) is no longer in the library. scan undo --list shows what happened.")
        }
        if output.json { return Output.shared.line(stats.json) }
        let screen = BookScreen(
            stats: stats, charts: .forOutput, today: CalendarDay(now, in: zone), zone: zone)
        Output.shared.line(Charts.forOutput.shown(screen.lines))
    }
}

/// The statistics of one book as lines for a terminal.
struct BookScreen {
    let stats: BookStats
    let charts: Charts
    let today: CalendarDay
    let zone: TimeZone

    var lines: [String] {
        let style = charts.style
        var lines = [
            style.strong(stats.book.displayTitle.oneLine.fitted(charts.width)),
            stats.book.displayAuthors.oneLine.fitted(charts.width), "",
        ]
        let facts: [(String, String?)] = [
            ("Status", stats.status.displayName), ("Pages", stats.pageCount.map(String.init)),
            ("Read", "\(counted(stats.pages, "page")) on \(counted(stats.daysRead, "day"))"),
            (
                "Time",
                stats.sessions > 0
                    ? "\(spoken(minutes: stats.minutes)) in \(counted(stats.sessions, "session"))" : nil
            ),
            ("Pace", stats.pace.map { "\(rounded($0)) pages an hour" }),
            ("Last read", stats.lastRead.map { CalendarDay($0, in: zone).description }),
            ("Daily goal", stats.dailyGoal.map(text)), ("Rest", stats.pause?.sentence),
        ]
        for (label, value) in facts {
            guard let value else { continue }
            for (index, part) in value.oneLine.wrapped(charts.width - 13).enumerated() {
                lines.append("  \(style.faint((index == 0 ? label : "").padded(10))) \(part)")
            }
        }
        for (index, reading) in stats.readings.enumerated() {
            lines += [""] + heading(reading, index + 1).wrapped(charts.width).map(style.strong) + graph(reading)
            if reading.reading.state == .open {
                lines += reading.forecast.sentence.wrapped(charts.width - 2).map { "  " + $0 }
            }
        }
        return lines
    }

    private func text(_ goal: DailyGoal) -> String {
        "\(goal.pagesToday) of \(counted(goal.goal, "page")) today, met on \(counted(goal.daysMet, "day"))"
    }

    private func heading(_ reading: ReadingStats, _ number: Int) -> String {
        let dates = [
            reading.reading.started.map { "from \($0)" }, reading.reading.finished.map { "to \($0)" },
            reading.reading.stopped.map { "given up \($0)" },
            reading.reading.daysToRead.map { $0 == 0 ? "in a day" : "in \(counted($0, "day"))" },
            reading.pagesPerDay.map { "\(rounded($0)) pages a day" },
        ].compactMap(\.self)
        let name = stats.readings.count > 1 ? "Reading \(number)" : "Reading"
        return ([name] + dates).joined(separator: " · ")
    }

    /// The progress over time: each column shows the progress reached by its day. Empty unless there are at least two days.
    func graph(_ reading: ReadingStats) -> [String] {
        let points = reading.points
        let last = reading.reading.state == .open ? today : points.last?.day
        guard let first = points.first?.day.number, let end = last?.number, end > first else { return [] }
        // Without a page count the highest page is the top.
        let mostPages = max(1, points.compactMap(\.amount.page).max() ?? 1)
        let isInParts = points.contains { $0.fraction != nil }
        let top = isInParts ? "100 %" : "p. \(mostPages)"
        let columns = min(charts.width - top.columns - 4, 120)
        var values: [Double?] = []
        var next = 0
        var reached: Double?
        for column in 0..<columns {
            let day = first + (end - first) * column / max(1, columns - 1)
            while next < points.count, let number = points[next].day.number, number <= day {
                let point = points[next]
                let part = isInParts ? point.fraction : point.amount.page.map { Double($0) / Double(mostPages) }
                reached = part ?? reached
                next += 1
            }
            values.append(reached)
        }
        let (from, to) = (CalendarDay(number: first).description, CalendarDay(number: end).description)
        let gap = String(repeating: " ", count: max(1, columns - from.columns - to.columns))
        return charts.curve(values, labels: (top, isInParts ? "0 %" : "0"))
            + [charts.style.faint(String(repeating: " ", count: top.columns + 3) + from + gap + to)]
    }
}

struct StatsOnThisDay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on-this-day",
        abstract: "Show what you started, finished or were reading on this day in earlier years.")
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (now, zone) = (Date(), TimeZone.current)
        let memories = try await paths.stats().onThisDay(at: now, in: zone)
        let today = CalendarDay(now, in: zone)
        if output.json {
            return Output.shared.line(["today": JSONValue(today), "memories": .array(memories.map(\.json))])
        }
        Output.shared.line(Charts.forOutput.shown(MemoryScreen(memories: memories, charts: .forOutput).lines))
    }
}

/// The memories of this day as lines for a terminal, a few books per year.
struct MemoryScreen {
    let memories: [Memory]
    let charts: Charts
    private static let limitPerYear = 10

    var lines: [String] {
        guard !memories.isEmpty else {
            return "Nothing was started, finished or being read on this day in earlier years.".wrapped(charts.width)
        }
        var lines: [String] = []
        for year in Set(memories.map(\.yearsAgo)).sorted() {
            let ofYear = memories.filter { $0.yearsAgo == year }
            guard let first = ofYear.first else { continue }
            lines += (lines.isEmpty ? [] : [""])
            lines.append(
                charts.style.strong(year == 1 ? "A year ago, \(first.day)" : "\(year) years ago, \(first.day)"))
            for memory in ofYear.prefix(Self.limitPerYear) {
                let text =
                    "You \(memory.event.verb) \(memory.book.displayTitle.oneLine), \(memory.book.displayAuthors.oneLine)"
                lines.append("  " + text.fitted(charts.width - 2))
            }
            if ofYear.count > Self.limitPerYear { lines.append("  and \(ofYear.count - Self.limitPerYear) more") }
        }
        return lines
    }
}

/// The overview as lines for a terminal.
struct StatsScreen {
    let overview: Overview
    let charts: Charts

    var lines: [String] {
        var lines = [charts.style.strong("Reading statistics, \(overview.today)"), ""] + today + [""] + goals
        lines += ["", heading(periodName)] + totals
        lines += section("Pages by day", daysChart) + yearCharts
        lines += section("Books by year", yearsChart) + section("Ratings", ratings) + section("Books", counts)
        return lines + section("Paused", pauses)
    }

    /// The yearly challenge, the daily goal and the cultural goals.
    var goals: [String] {
        var lines: [String] = []
        if let challenge = overview.challenge {
            lines += goal(
                "Challenge \(challenge.year)", challenge.done, challenge.goal, "book", challenge.sentence)
        } else {
            lines.append(fact("Challenge", "no yearly goal; scan settings set yearlyGoal N sets one"))
        }
        if let daily = overview.dailyGoal {
            lines += goal(
                "Daily goal", daily.pagesToday, daily.goal, "page",
                "Met on \(counted(daily.daysMet, "day")), \(counted(daily.run, "day")) in a row")
        } else {
            lines.append(fact("Daily goal", "none; scan settings set dailyGoal N sets one"))
        }
        guard !overview.culturalGoals.isEmpty else { return lines }
        return lines + ["", heading("Cultural goals")]
            + charts.bars(
                overview.culturalGoals.map {
                    Charts.Row(
                        label: $0.category ?? "no category", value: $0.finished,
                        note: "\($0.finished) of \($0.books), \($0.finishedThisYear) this year")
                })
    }

    private var today: [String] {
        let streaks = overview.streaks
        let read = overview.todayStats
        var streak = counted(streaks.current, "day")
        if streaks.current > 0, !streaks.readToday { streak += ", not yet read today" }
        if let end = streaks.longestEnd { streak += "; longest \(counted(streaks.longest, "day")), to \(end)" }
        return [
            fact(
                "Today",
                counted(read.pages, "page") + (read.minutes > 0 ? " · \(spoken(minutes: read.minutes))" : "")),
            fact("Streak", streak),
            fact(
                "Pace lately", overview.recentPace.map { "\(rounded($0)) pages an hour" } ?? "no session with pages yet"
            ),
        ]
    }

    private var periodName: String {
        switch (overview.period.from, overview.period.to) {
        case (nil, nil): "All time"
        case (let from?, let to?) where from == to: "\(from)"
        case (let from?, let to?) where overview.period == CalendarDay(year: from.year).map({ Period($0) }):
            "\(to.year)"
        case (let from?, let to?): "\(from) to \(to)"
        case (let from?, nil): "Since \(from)"
        case (nil, let to?): "Up to \(to)"
        }
    }

    private var totals: [String] {
        let totals = overview.totals
        var books = "\(counted(totals.booksFinished, "book")) finished"
        if totals.bookPages > 0 { books += " with \(counted(totals.bookPages, "page"))" }
        var lines = [fact("Finished", books)]
        if overview.period == .all, overview.dateUnknown.books > 0 {
            lines.append(fact("", "\(overview.dateUnknown.books) of them without a date"))
        }
        lines += [
            fact("Pages", "\(totals.pages) read on \(counted(totals.daysRead, "day"))"),
            fact("Time", "\(spoken(minutes: totals.minutes)) in \(counted(totals.sessions, "session"))"),
        ]
        if let pace = totals.pace { lines.append(fact("Pace", "\(rounded(pace)) pages an hour")) }
        return lines
    }

    /// The chart of days, for a period of at most two months.
    private var daysChart: [String] {
        guard let from = overview.period.from?.number, let to = overview.period.to?.number, to - from < 62 else {
            return []
        }
        return charts.bars(
            overview.days.map { day in
                let minutes = day.minutes > 0 ? ", \(spoken(minutes: day.minutes))" : ""
                return Charts.Row(label: day.day.description, value: day.pages, note: "\(day.pages)\(minutes)")
            })
    }

    /// The charts of the months of one year: that of the period, or the latest.
    private var yearCharts: [String] {
        let wanted = overview.period.from.map(\.year) ?? overview.years.first?.year
        if let from = overview.period.from, overview.period.to?.year != from.year { return [] }
        guard let year = overview.years.first(where: { $0.year == wanted }) else { return [] }
        var books = zip(Self.months, year.months).map { Charts.Row(label: $0, value: $1.booksFinished) }
        if year.monthUnknown.books > 0 {
            books.append(Charts.Row(label: "month unknown", value: year.monthUnknown.books))
        }
        let pages = zip(Self.months, year.months).map { name, month in
            let details = [
                month.minutes > 0 ? spoken(minutes: month.minutes) : nil, month.pace.map { "\(rounded($0)) p/h" },
            ].compactMap(\.self).joined(separator: ", ")
            return Charts.Row(
                label: name, value: month.pages, note: "\(month.pages)" + (details.isEmpty ? "" : "  \(details)"))
        }
        return section("Books finished in \(year.year)", charts.bars(books))
            + section("Pages read in \(year.year), time and pace", charts.bars(pages))
    }

    private var yearsChart: [String] {
        guard overview.period == .all, overview.years.count > 1 else { return [] }
        return charts.bars(
            overview.years.prefix(20).map {
                Charts.Row(
                    label: String($0.year), value: $0.totals.booksFinished,
                    note: "\($0.totals.booksFinished), \(counted($0.totals.pages, "page")) read")
            })
    }

    private var ratings: [String] {
        guard let mean = overview.ratings.mean else { return [] }
        let star = charts.isASCII ? "*" : "★"
        let rows = overview.ratings.byStar.enumerated().reversed().filter { $0.offset > 0 || $0.element > 0 }
        return charts.bars(
            rows.map { Charts.Row(label: $0.offset == 0 ? "< 1 \(star)" : "\($0.offset) \(star)", value: $0.element) })
            + [fact("Mean", "\(rounded(mean)) over \(counted(overview.ratings.count, "book"))")]
    }

    private var counts: [String] {
        let counts = overview.counts
        let formats =
            (Metadata.Format.allCases.map { ($0.rawValue, counts.byFormat[$0]) } + [("unknown", counts.byFormat[nil])])
            .compactMap { name, count in count.map { "\(name) \($0)" } }
        let languages = counts.byLanguage.prefix(8).map { "\($0.language ?? "unknown") \($0.copies)" }
        return charts.bars(
            Copy.Status.allCases.map { Charts.Row(label: $0.displayName, value: counts.byStatus[$0] ?? 0) })
            + [
                fact(
                    "In all",
                    "\(counts.copies): owned \(counts.owned), wishlist \(counts.wishlist), favourites \(counts.favourites)"
                )
            ]
            + (counts.copies == 0
                ? []
                : [
                    fact("Formats", formats.joined(separator: ", ")),
                    fact("Languages", languages.joined(separator: ", ")),
                ])
    }

    private var pauses: [String] {
        let shown = overview.pauses.prefix(5).flatMap { paused in
            ["  " + paused.book.displayTitle.oneLine.fitted(charts.width - 2)]
                + paused.pause.sentence.wrapped(charts.width - 4).map { "    " + charts.style.faint($0) }
        }
        let more = overview.pauseCount - min(5, overview.pauses.count)
        return shown + (more > 0 ? ["  and \(more) more"] : [])
    }

    private func goal(_ name: String, _ done: Int, _ goal: Int, _ noun: String, _ sentence: String) -> [String] {
        let words = "\(done) of \(counted(goal, noun))"
        let room = max(8, min(charts.longestTrack, charts.width - 18 - words.columns))
        let bar = charts.progress(Double(done) / Double(max(1, goal)), width: room)
        return ["  " + charts.style.faint(name.padded(15)) + bar + " " + words, fact("", sentence)]
    }

    private func heading(_ text: String) -> String { charts.style.strong(text) }

    private func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["", heading(title)] + lines
    }

    /// Returns a label and its text, broken into lines.
    private func fact(_ label: String, _ text: String) -> String {
        text.wrapped(charts.width - 17).enumerated().map { index, part in
            "  " + charts.style.faint((index == 0 ? label : "").padded(15)) + part
        }.joined(separator: "\n")
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
