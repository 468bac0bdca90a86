import Bookplate

/// Builds the charts of the Stats page.
struct StatsCharts: Sendable {
    let overview: Overview
    let period: StatsPeriod
    let year: Int
    let yearDays: [DayStats]
    let texts: Texts

    /// The bar charts that are not empty.
    var barCharts: [Chart] {
        [pages, books, ratings].compactMap(\.self).filter { chart in chart.bars.contains { $0.value > 0 } }
            .map(\.chart)
    }

    /// The pages read by day, week, month or year, depending on the length of the period.
    var pages: BarChart? {
        let span = period.span(of: overview.days, today: overview.today)
        let bucket = Bucket(days: span.count)
        let rows = bucket.buckets(overview.days, in: span)
        let isOneYear = rows.first?.start.year == rows.last?.start.year
        return BarChart(
            title: texts("stats.pagesBy.\(bucket.rawValue)"),
            bars: rows.map { start, stats in
                let name = bucket == .week ? texts("stats.weekOf", ["day": texts.day(start)]) : texts.day(start)
                return BarChart.Bar(
                    label: label(start, bucket, isOneYear: isOneYear), value: stats.pages,
                    text: "\(name): \(texts("stats.nPages", n: stats.pages))",
                    cells: [
                        name, texts.grouped(stats.pages), texts.duration(minutes: stats.minutes),
                        texts.grouped(stats.sessions),
                    ])
            },
            heads: ["day", "pages", "time", "sessions"].map { texts("stats.head.\($0)") }, number: texts.grouped)
    }

    private func label(_ start: CalendarDay, _ bucket: Bucket, isOneYear: Bool) -> String {
        let month = start.month.flatMap { month in texts.list("stats.months").dropFirst(month - 1).first } ?? ""
        return switch bucket {
        case .day: start.day.map(String.init) ?? ""
        case .week: "\(start.day.map(String.init) ?? "") \(month)"
        case .month: isOneYear ? month : "\(month) \(String(start.year).suffix(2))"
        case .year: String(start.year)
        }
    }

    /// The number of finished books in each month of the year, or in each year if the period is longer than a year.
    var books: BarChart? {
        let isLong = period.kind == .all || period.period.from?.year != period.period.to?.year && period.kind == .own
        return isLong ? booksByYear : booksByMonth
    }

    private var booksByMonth: BarChart? {
        guard let stats = overview.years.first(where: { $0.year == year }) else { return nil }
        let short = texts.list("stats.months")
        var bars = stats.months.enumerated().map { index, month in
            bookBar(
                short.indices.contains(index) ? short[index] : "",
                CalendarDay(year: year, month: index + 1).map { texts.day($0) } ?? "", month.booksFinished,
                month.bookPages)
        }
        if stats.monthUnknown.books > 0 {
            let name = texts("stats.monthUnknown")
            bars.append(bookBar("?", name, stats.monthUnknown.books, stats.monthUnknown.pages))
        }
        return bookChart(texts("stats.booksByMonth", ["year": String(year)]), bars)
    }

    private var booksByYear: BarChart? {
        let years = overview.years.filter { stats in
            period.period.mayContain(CalendarDay(year: stats.year) ?? overview.today)
                && stats.totals.booksFinished > 0
        }
        guard let last = years.first?.year, let first = years.last?.year else { return nil }
        let found = Dictionary(uniqueKeysWithValues: years.map { ($0.year, $0.totals) })
        let bars = (max(first, last - Bucket.maxCount + 1)...last).map { year in
            let totals = found[year] ?? Totals()
            return bookBar(String(year), String(year), totals.booksFinished, totals.bookPages)
        }
        return bookChart(texts("stats.booksByYear"), bars)
    }

    private func bookBar(_ label: String, _ name: String, _ books: Int, _ pages: Int) -> BarChart.Bar {
        BarChart.Bar(
            label: label, value: books, text: "\(name): \(texts("stats.nBooks", n: books))",
            cells: [name, texts.grouped(books), texts.grouped(pages)])
    }

    private func bookChart(_ title: String, _ bars: [BarChart.Bar]) -> BarChart {
        BarChart(
            title: title, bars: bars, heads: ["when", "books", "bookPages"].map { texts("stats.head.\($0)") },
            number: texts.grouped)
    }

    /// The number of copies for each rating, in steps of a quarter star.
    var ratings: BarChart? {
        guard overview.ratings.count > 0 else { return nil }
        return BarChart(
            title: texts("stats.ratings"),
            bars: overview.ratings.byQuarter.enumerated().map { index, count in
                let stars = texts.decimal(Double(index + 1) / 4)
                let name = texts("stats.nStars", ["n": stars])
                return BarChart.Bar(
                    label: (index + 1).isMultiple(of: 4) ? "★ \(stars)" : nil, value: count,
                    text: "\(name): \(texts("stats.nBooks", n: count))", cells: [name, texts.grouped(count)])
            }, heads: ["rating", "books"].map { texts("stats.head.\($0)") }, number: texts.grouped)
    }

    /// The shares of the library by status, by format and by language.
    var shares: [View] {
        let counts = overview.counts
        let rest = texts("stats.others")
        let formats: [Metadata.Format?] = Metadata.Format.allCases + [nil]
        let groups: [(key: String, parts: [(label: String, count: Int)])] = [
            (
                "status",
                Copy.Status.allCases.map { (texts.label(for: $0), counts.byStatus[$0] ?? 0) }
            ),
            (
                "format",
                formats.map { (texts.label(for: $0), counts.byFormat[$0] ?? 0) }
            ),
            (
                "language",
                counts.byLanguage.map { ($0.language.map(texts.language(code:)) ?? texts("stats.unknown"), $0.copies) }
            ),
        ]
        return groups.map { group in
            Shares(group.parts, rest: rest).view(
                title: texts("stats.by.\(group.key)"), number: texts.grouped, percent: texts.withPercentSign)
        }
    }

    /// The calendar of the year; `nil` if nothing was read in the year.
    var calendar: DayCalendar? {
        guard !yearDays.isEmpty else { return nil }
        let months = (1...12).compactMap { month -> [String]? in
            let days = yearDays.filter { $0.day.month == month }
            guard !days.isEmpty, let name = CalendarDay(year: year, month: month) else { return nil }
            let totals = Totals(days, [], in: .all)
            return [
                texts.day(name), texts.grouped(totals.daysRead), texts.grouped(totals.pages),
                texts.duration(minutes: totals.minutes),
            ]
        }
        return DayCalendar(
            title: texts("stats.calendar", ["year": String(year)]), year: year, days: yearDays,
            months: texts.list("stats.months"), weekdays: texts.list("stats.weekdays"),
            text: { [texts] in "\(texts.day($0.day)): \(texts("stats.nPages", n: $0.pages))" },
            number: texts.grouped,
            table: Chart.Table(
                heads: ["month", "days", "pages", "time"].map { texts("stats.head.\($0)") }, rows: months))
    }

    /// Returns the legend, which explains the shades of the calendar.
    func legend(of calendar: DayCalendar) -> [View] {
        let bounds = calendar.bounds.map(texts.grouped)
        return (1...4).map { level in
            let text =
                switch level {
                case 1: texts("stats.upToPages", n: calendar.bounds[0])
                case 4: texts("stats.overPages", ["n": bounds[2]])
                default: "– " + bounds[level - 1]
                }
            return ["level": String(level), "text": text]
        }
    }
}
