import ArgumentParser
import Bookplate
import Foundation
import Library

struct StatsCalendar: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calendar", abstract: "A month day by day: pages and minutes.")
    @Option(help: ArgumentHelp("The month; this one unless told.", valueName: "YYYY-MM")) var month: String?
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let when = When.here
        let today = CalendarDay(when.now, in: when.zone)
        let asked = try when.month(month ?? String(today.description.prefix(7)), for: "--month")
        guard let month = asked.month else { return }
        let period = Period(asked)
        let days = try await places.stats().days(in: period, zone: when.zone)
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
        commandName: "book", abstract: "One book in figures, with its progress over time.")
    @OptionGroup var named: NamedBook
    @OptionGroup var places: PlaceOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (now, zone) = (Date(), TimeZone.current)
        let library = try Wiring(settings: places.settings()).requireLibrary()
        let book = try await library.book(named: named.name)
        guard let figures = try await library.figures(of: book.id, at: now, in: zone) else {
            throw Complaint(
                .nothing,
                "\(quoted([book.displayTitle])) is gone from the library by now. scan undo --list shows what happened.")
        }
        if output.json { return Output.shared.line(figures.json) }
        let screen = BookScreen(
            figures: figures, charts: .forOutput, today: CalendarDay(now, in: zone), zone: zone)
        Output.shared.line(Charts.forOutput.shown(screen.lines))
    }
}

/// One book in figures as lines.
struct BookScreen {
    let figures: BookFigures
    let charts: Charts
    let today: CalendarDay
    let zone: TimeZone

    var lines: [String] {
        let style = charts.style
        var lines = [
            style.strong(figures.book.displayTitle.oneLine.fitted(charts.width)),
            figures.book.displayAuthors.oneLine.fitted(charts.width), "",
        ]
        let facts: [(String, String?)] = [
            ("Status", figures.status.displayName), ("Pages", figures.pageCount.map(String.init)),
            ("Read", "\(counted(figures.pages, "page")) on \(counted(figures.daysRead, "day"))"),
            (
                "Time",
                figures.sessions > 0
                    ? "\(spoken(minutes: figures.minutes)) in \(counted(figures.sessions, "session"))" : nil
            ),
            ("Pace", figures.pace.map { "\(rounded($0)) pages an hour" }),
            ("Last read", figures.lastRead.map { CalendarDay($0, in: zone).description }),
            ("Daily goal", figures.dailyGoal.map(text)), ("Rest", figures.pause?.sentence),
        ]
        for (label, value) in facts {
            guard let value else { continue }
            for (index, part) in value.oneLine.wrapped(charts.width - 13).enumerated() {
                lines.append("  \(style.faint((index == 0 ? label : "").padded(10))) \(part)")
            }
        }
        for (index, reading) in figures.readings.enumerated() {
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

    private func heading(_ reading: ReadingFigures, _ number: Int) -> String {
        let dates = [
            reading.reading.started.map { "from \($0)" }, reading.reading.finished.map { "to \($0)" },
            reading.reading.stopped.map { "given up \($0)" },
            reading.reading.daysToRead.map { $0 == 0 ? "in a day" : "in \(counted($0, "day"))" },
            reading.pagesPerDay.map { "\(rounded($0)) pages a day" },
        ].compactMap(\.self)
        let name = figures.readings.count > 1 ? "Reading \(number)" : "Reading"
        return ([name] + dates).joined(separator: " · ")
    }

    /// Progress over time: what was reached by each column's day. Nothing where there are no two days to draw between.
    func graph(_ reading: ReadingFigures) -> [String] {
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
