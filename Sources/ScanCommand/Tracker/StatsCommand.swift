import ArgumentParser
import Bookplate
import Foundation
import Library

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Figures and charts of what was read.",
        discussion: """
            How each figure is made: docs/tracker.md.

              scan stats --year 2026
              scan stats --from 2026-01-01 --to 2026-06-30 --json
              scan stats calendar --month 2026-05
              scan stats book dune
            """,
        subcommands: [
            StatsOverview.self, StatsCalendar.self, StatsOnThisDay.self, StatsChallenge.self, StatsBook.self,
        ], defaultSubcommand: StatsOverview.self)
}

/// Which days are meant.
struct PeriodOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only this year.", valueName: "YYYY")) var year: Int?
    @Option(help: ArgumentHelp("Only this month.", valueName: "YYYY-MM")) var month: String?
    @Option(help: ArgumentHelp("From this day, month or year on; today and yesterday are days.", valueName: "date"))
    var from: String?
    @Option(help: ArgumentHelp("To this day, month or year, included.", valueName: "date")) var to: String?

    func validate() throws {
        let ways = [year != nil, month != nil, from != nil || to != nil].filter { $0 }.count
        guard ways <= 1 else { throw ValidationError("Say --year, --month, or --from and --to; not several of them.") }
    }

    /// - Throws: ``Complaint`` when a date is none.
    func period() throws -> Period {
        let when = When.here
        if let year { return try Self.year(year) }
        if let month { return Period(try when.month(month, for: "--month")) }
        let period = Period(
            from: try from.map { try when.day($0, for: "--from") }, to: try to.map { try when.day($0, for: "--to") })
        if let from = period.from, let to = period.to, to < from {
            throw Complaint(.usage, "--to \(to) is before --from \(from).")
        }
        return period
    }

    static func year(_ year: Int) throws -> Period {
        guard let day = CalendarDay(year: year) else {
            throw Complaint(.usage, "--year \(year) is no year. Write one from 1 to 9999.")
        }
        return Period(day)
    }
}

struct StatsOverview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "overview", abstract: "Everything at a glance; what scan stats shows.")
    @OptionGroup var period: PeriodOptions
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let asked = try period.period()
        let overview = try await places.stats().overview(asked, year: period.year, at: Date(), in: .current)
        if output.json { return Output.shared.line(overview.json) }
        Output.shared.line(Charts.forOutput.shown(StatsScreen(overview: overview, charts: .forOutput).lines))
    }
}

struct StatsChallenge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "challenge", abstract: "Books this year beside the yearly goal, and pages beside the daily one.")
    @Option(help: ArgumentHelp("The year; this one unless told.", valueName: "YYYY")) var year: Int?
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let period = try year.map { try PeriodOptions.year($0) } ?? .all
        let overview = try await places.stats().overview(period, year: year, at: Date(), in: .current)
        if output.json {
            return Output.shared.line([
                "challenge": overview.challenge?.json ?? .null, "dailyGoal": overview.dailyGoal?.json ?? .null,
                "culturalGoals": .array(overview.culturalGoals.map(\.json)),
            ])
        }
        Output.shared.line(Charts.forOutput.shown(StatsScreen(overview: overview, charts: .forOutput).goals))
    }
}

extension PlaceOptions {
    /// The library's figures; all zero, and nothing made, where there is no library yet.
    func stats() throws -> LibraryFile {
        try Wiring(settings: settings()).openExistingLibrary() ?? LibraryFile.inMemory()
    }
}
