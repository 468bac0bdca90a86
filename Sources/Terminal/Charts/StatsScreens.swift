import Bookplate
import Foundation

/// The overview of the reading statistics, as lines for a terminal.
package struct StatsScreen {
    let overview: Overview
    let charts: Charts

    package init(overview: Overview, charts: Charts) { (self.overview, self.charts) = (overview, charts) }

    package var lines: [String] {
        var lines = [charts.style.strong("Reading statistics, \(overview.today)"), ""] + today + [""] + goals
        lines += ["", charts.style.strong(periodName)] + totals
        lines += section("Pages logged by day", daysChart) + yearCharts
        lines += section("Books by year", yearsChart) + section("Ratings", ratings) + section("Books", counts)
        return lines + section("Paused", pauses)
    }

    /// The lines about the yearly challenge, the daily goal and the cultural goals.
    private var goals: [String] { GoalsScreen(goals: overview.goals, charts: charts).lines }

    private var today: [String] {
        let streaks = overview.streaks
        let read = overview.todayStats
        var streak = counted(streaks.current, "day")
        if streaks.current > 0, !streaks.readToday { streak += ", nothing read yet today" }
        if let end = streaks.longestEnd { streak += "; longest \(counted(streaks.longest, "day")), until \(end)" }
        return [
            charts.fact(
                "Today",
                counted(read.pages, "page") + (read.minutes > 0 ? " · \(spoken(minutes: read.minutes))" : "")),
            charts.fact("Streak", streak),
            charts.fact(
                "Recent pace",
                overview.recentPace.map { "\(rounded($0)) pages per hour" } ?? "no session has pages yet"
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
        var lines = [charts.fact("Finished", books)]
        if overview.period == .all, overview.dateUnknown.books > 0 {
            lines.append(charts.fact("", "\(overview.dateUnknown.books) of them without a date"))
        }
        lines += [
            charts.fact("Pages", "\(totals.pages) logged on \(counted(totals.daysRead, "day"))"),
            charts.fact("Time", "\(spoken(minutes: totals.minutes)) in \(counted(totals.sessions, "session"))"),
        ]
        if let pace = totals.pace { lines.append(charts.fact("Pace", "\(rounded(pace)) pages per hour")) }
        return lines
    }

    /// The chart with a bar for each day. It is empty for a period of more than two months.
    private var daysChart: [String] {
        guard let from = overview.period.from?.number, let to = overview.period.to?.number, to - from < 62 else {
            return []
        }
        return charts.bars(
            overview.days.map { day in
                let minutes = day.minutes > 0 ? ", \(spoken(minutes: day.minutes))" : ""
                return Charts.Row(label: day.day.description, value: day.pages, detail: "\(day.pages)\(minutes)")
            })
    }

    /// The charts with a bar for each month of one year: the year of the period, or else the latest year.
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
                label: name, value: month.pages, detail: "\(month.pages)" + (details.isEmpty ? "" : "  \(details)"))
        }
        return section("Books finished in \(year.year)", charts.bars(books))
            + section("Pages logged, time, pace (p/h) in \(year.year)", charts.bars(pages))
    }

    private var yearsChart: [String] {
        guard overview.period == .all, overview.years.count > 1 else { return [] }
        return charts.bars(
            overview.years.prefix(20).map {
                Charts.Row(
                    label: String($0.year), value: $0.totals.booksFinished,
                    detail: "\($0.totals.booksFinished) with \(counted($0.totals.bookPages, "page"))")
            })
    }

    private var ratings: [String] {
        guard let mean = overview.ratings.mean else { return [] }
        let star = charts.isASCII ? "*" : "★"
        let rows = overview.ratings.byStar.enumerated().reversed().filter { $0.offset > 0 || $0.element > 0 }
        return charts.bars(
            rows.map { Charts.Row(label: $0.offset == 0 ? "< 1 \(star)" : "\($0.offset) \(star)", value: $0.element) })
            + [charts.fact("Mean", "\(rounded(mean)) over \(counted(overview.ratings.count, "book"))")]
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
                charts.fact(
                    "In all",
                    "\(counts.copies): owned \(counts.owned), wishlist \(counts.wishlist), favourites \(counts.favourites)"
                )
            ]
            + (counts.copies == 0
                ? []
                : [
                    charts.fact("Formats", formats.joined(separator: ", ")),
                    charts.fact("Languages", languages.joined(separator: ", ")),
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

    private func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["", charts.style.strong(title)] + lines
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

/// The goals of the library, as lines for a terminal.
package struct GoalsScreen {
    let goals: Goals
    let charts: Charts

    package init(goals: Goals, charts: Charts) { (self.goals, self.charts) = (goals, charts) }

    package var lines: [String] {
        var lines: [String] = []
        if let challenge = goals.challenge {
            lines += goal(
                "Challenge \(challenge.year)", challenge.done, challenge.goal, "book", challenge.sentence)
        } else {
            lines.append(charts.fact("Challenge", "no yearly goal; to set one, run 'scan settings set yearlyGoal N'"))
        }
        if let daily = goals.daily {
            lines += goal(
                "Daily goal", daily.pagesToday, daily.goal, "page",
                "Met on \(counted(daily.daysMet, "day")), \(counted(daily.run, "day")) in a row")
        } else {
            lines.append(charts.fact("Daily goal", "none; to set one, run 'scan settings set dailyGoal N'"))
        }
        guard !goals.cultural.isEmpty else { return lines }
        return lines + ["", charts.style.strong("Cultural goals")]
            + charts.bars(
                goals.cultural.map {
                    Charts.Row(
                        label: $0.category ?? "no category", value: $0.finished,
                        detail: "\($0.finished) of \($0.books), \($0.finishedThisYear) this year")
                })
    }

    private func goal(_ name: String, _ done: Int, _ goal: Int, _ noun: String, _ sentence: String) -> [String] {
        let words = "\(done) of \(counted(goal, noun))"
        let room = max(8, min(charts.longestTrack, charts.width - 18 - words.columns))
        let bar = charts.progress(Double(done) / Double(max(1, goal)), width: room)
        return ["  " + charts.style.faint(name.padded(15)) + bar + " " + words, charts.fact("", sentence)]
    }
}

extension Charts {
    /// Returns a label and its text, which is broken into lines as wide as the charts.
    fileprivate func fact(_ label: String, _ text: String) -> String {
        text.wrapped(width - 17).enumerated().map { index, part in
            "  " + style.faint((index == 0 ? label : "").padded(15)) + part
        }.joined(separator: "\n")
    }
}

/// The statistics of one book, as lines for a terminal.
package struct BookScreen {
    let stats: BookStats
    let charts: Charts
    let today: CalendarDay
    let zone: TimeZone

    package init(stats: BookStats, charts: Charts, today: CalendarDay, zone: TimeZone) {
        (self.stats, self.charts, self.today, self.zone) = (stats, charts, today, zone)
    }

    package var lines: [String] {
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
            ("Pace", stats.pace.map { "\(rounded($0)) pages per hour" }),
            ("Last read", stats.lastRead.map { CalendarDay($0, in: zone).description }),
            ("Daily goal", stats.dailyGoal.map(text)), ("Paused", stats.pause?.sentence),
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
            reading.reading.stopped.map { "stopped \($0)" },
            reading.reading.daysToRead.map { $0 == 0 ? "in a day" : "in \(counted($0, "day"))" },
            reading.pagesPerDay.map { "\(rounded($0)) pages per day" },
        ].compactMap(\.self)
        let name = stats.readings.count > 1 ? "Reading \(number)" : "Reading"
        return ([name] + dates).joined(separator: " · ")
    }

    /// Returns the graph of the progress over time. Each column stands for a day and shows the progress reached by
    /// then. The graph is empty if the reading covers less than two days.
    func graph(_ reading: ReadingStats) -> [String] {
        let points = reading.points
        let last = reading.reading.state == .open ? today : points.last?.day
        guard let first = points.first?.day.number, let end = last?.number, end > first else { return [] }
        // Without a page count, the highest page reached is at the top of the graph.
        let mostPages = max(1, points.compactMap(\.amount.page).max() ?? 1)
        let isInParts = points.contains { $0.fraction != nil }
        let top = isInParts ? "100%" : "p. \(mostPages)"
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
        return charts.curve(values, labels: (top, isInParts ? "0%" : "0"))
            + [charts.style.faint(String(repeating: " ", count: top.columns + 3) + from + gap + to)]
    }
}

/// The memories of this day in earlier years, as lines for a terminal. Only a few books of each year are shown.
package struct MemoryScreen {
    let memories: [Memory]
    let charts: Charts
    private static let limitPerYear = 10

    package init(memories: [Memory], charts: Charts) { (self.memories, self.charts) = (memories, charts) }

    package var lines: [String] {
        guard !memories.isEmpty else {
            return "No book was started, finished or being read on this day in earlier years.".wrapped(charts.width)
        }
        var lines: [String] = []
        for (year, ofYear) in Dictionary(grouping: memories, by: \.yearsAgo).sorted(by: { $0.key < $1.key }) {
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
