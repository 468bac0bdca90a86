import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

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

/// The options that limit the statistics to a period.
struct PeriodOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Include only this year, such as 2026.", valueName: "YYYY")) var year: Int?
    @Option(help: ArgumentHelp("Include only this month, such as 2026-05.", valueName: "YYYY-MM")) var month: String?
    @Option(
        help: ArgumentHelp(
            "The first day, month or year to include; 'today' and 'yesterday' also work.", valueName: "date"),
        completion: .values(.day))
    var from: String?
    @Option(help: ArgumentHelp("The last day, month or year to include.", valueName: "date"), completion: .values(.day))
    var to: String?

    func validate() throws {
        let ways = [year != nil, month != nil, from != nil || to != nil].filter { $0 }.count
        guard ways <= 1 else { throw ValidationError("Give only --year, or only --month, or only --from and --to.") }
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
            throw CommandError(.usage, "--to \(to) is before --from \(from). Swap the two values.")
        }
        return period
    }

    static func year(_ year: Int) throws -> Period {
        guard let day = CalendarDay(year: year) else {
            throw CommandError(.usage, "--year \(year) is not a year. Write a number from 1 to 9999.")
        }
        return Period(day)
    }
}

struct StatsOverview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "overview", abstract: "Show all statistics at a glance (the default of 'scan stats').",
        discussion: "  scan stats overview --year 2026")
    @OptionGroup var period: PeriodOptions
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let asked = try period.period()
        let overview = try await paths.stats().overview(asked, year: period.year, at: Date(), in: .current)
        if output.json { return Output.shared.printLine(overview.json) }
        Output.shared.printLine(Charts.forOutput.text(of: StatsScreen(overview: overview, charts: .forOutput).lines))
    }
}

struct StatsChallenge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "challenge",
        abstract: "Compare this year's books with the yearly goal, and today's pages with the daily goal.",
        discussion: "  scan stats challenge\n  scan stats challenge --year 2025")
    @Option(help: ArgumentHelp("The year (default: this year).", valueName: "YYYY")) var year: Int?
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        if let year { _ = try PeriodOptions.year(year) }
        let goals = try await paths.stats().goals(year: year, at: Date(), in: .current)
        if output.json {
            return Output.shared.printLine([
                "challenge": goals.challenge?.json ?? .null, "dailyGoal": goals.daily?.json ?? .null,
                "culturalGoals": .array(goals.cultural.map(\.json)),
            ])
        }
        Output.shared.printLine(Charts.forOutput.text(of: GoalsScreen(goals: goals, charts: .forOutput).lines))
    }
}

extension PathOptions {
    /// Opens the library for statistics, or an empty library in memory if there is no library yet.
    func stats() throws -> LibraryFile {
        try Wiring(settings: settings()).openExistingLibrary() ?? LibraryFile.inMemory()
    }
}

struct StatsCalendar: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calendar", abstract: "Show how many pages and minutes you read on each day of a month.",
        discussion: "  scan stats calendar --month 2026-05")
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
            return Output.shared.printLine([
                "month": JSONValue(asked), "days": .array(days.map(\.json)), "pages": .integer(totals.pages),
                "minutes": .integer(totals.minutes), "daysRead": .integer(totals.daysRead),
            ])
        }
        let charts = Charts.forOutput
        let sum =
            "\(counted(totals.pages, "page")) · \(spoken(minutes: totals.minutes)) · \(counted(totals.daysRead, "day"))"
        Output.shared.printLine(
            charts.text(
                of: [charts.style.strong(asked.description) + "  " + sum, ""]
                    + charts.month(asked.year, month, days, today: today)))
    }
}

struct StatsBook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "book", abstract: "Show the statistics of one book, with its progress over time.",
        discussion: "  scan stats book dune")
    @OptionGroup var named: NamedBook
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (now, zone) = (Date(), TimeZone.current)
        let library = try Wiring(settings: paths.settings()).requireLibrary()
        let book = try await library.book(named: named.name, choosing: Asking.canChoose(json: output.json))
        guard let stats = try await library.stats(of: book.id, at: now, in: zone) else {
            throw CommandError(
                .nothing,
                "\(quoted([book.displayTitle])) is no longer in the library. To see what happened, run 'scan undo --list'."
            )
        }
        if output.json { return Output.shared.printLine(stats.json) }
        let screen = BookScreen(
            stats: stats, charts: .forOutput, today: CalendarDay(now, in: zone), zone: zone)
        Output.shared.printLine(Charts.forOutput.text(of: screen.lines))
    }
}

struct StatsOnThisDay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on-this-day",
        abstract: "Show what you started, finished or were reading on this day in earlier years.",
        discussion: "  scan stats on-this-day")
    @OptionGroup var paths: PathOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (now, zone) = (Date(), TimeZone.current)
        let memories = try await paths.stats().onThisDay(at: now, in: zone)
        let today = CalendarDay(now, in: zone)
        if output.json {
            return Output.shared.printLine(["today": JSONValue(today), "memories": .array(memories.map(\.json))])
        }
        Output.shared.printLine(Charts.forOutput.text(of: MemoryScreen(memories: memories, charts: .forOutput).lines))
    }
}
