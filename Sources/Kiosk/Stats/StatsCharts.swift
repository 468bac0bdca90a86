import Bookplate

/// The charts of the Stats page: figures in, charts out.
struct StatsCharts: Sendable {
    let overview: Overview
    let asked: StatsPeriod
    let year: Int
    let yearDays: [DayStats]
    let texts: Texts

    /// Those with upright bars; what has nothing to show is left out.
    var columns: [Chart] {
        [pages, books, ratings].compactMap(\.self).filter { columns in columns.columns.contains { $0.value > 0 } }
            .map(\.chart)
    }

    /// Pages over the period, by day, week, month or year, as its length says.
    var pages: Columns? {
        let span = asked.span(of: overview.days, today: overview.today)
        let bucket = Bucket(days: span.count)
        let rows = bucket.buckets(overview.days, in: span)
        let isOneYear = rows.first?.start.year == rows.last?.start.year
        return Columns(
            title: texts("stats.pagesBy.\(bucket.rawValue)"),
            columns: rows.map { start, figures in
                let name = bucket == .week ? texts("stats.weekOf", ["day": texts.day(start)]) : texts.day(start)
                return Columns.Column(
                    label: label(start, bucket, isOneYear: isOneYear), value: figures.pages,
                    words: "\(name): \(texts.several("stats.nPages", figures.pages))",
                    cells: [
                        name, texts.grouped(figures.pages), texts.duration(minutes: figures.minutes),
                        texts.grouped(figures.sessions),
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

    /// Books finished by month of the year, or by year where the period is longer.
    var books: Columns? {
        let isLong = asked.kind == .all || asked.period.from?.year != asked.period.to?.year && asked.kind == .own
        return isLong ? booksByYear : booksByMonth
    }

    private var booksByMonth: Columns? {
        guard let figures = overview.years.first(where: { $0.year == year }) else { return nil }
        let short = texts.list("stats.months")
        var columns = figures.months.enumerated().map { index, month in
            book(
                short.indices.contains(index) ? short[index] : "",
                CalendarDay(year: year, month: index + 1).map { texts.day($0) } ?? "", month.booksFinished,
                month.bookPages)
        }
        if figures.monthUnknown.books > 0 {
            let name = texts("stats.monthUnknown")
            columns.append(book("?", name, figures.monthUnknown.books, figures.monthUnknown.pages))
        }
        return books(texts("stats.booksByMonth", ["year": String(year)]), columns)
    }

    private var booksByYear: Columns? {
        let years = overview.years.filter { figures in
            asked.period.mayContain(CalendarDay(year: figures.year) ?? overview.today)
                && figures.totals.booksFinished > 0
        }
        guard let last = years.first?.year, let first = years.last?.year else { return nil }
        let found = Dictionary(uniqueKeysWithValues: years.map { ($0.year, $0.totals) })
        let columns = (max(first, last - Bucket.most + 1)...last).map { year in
            let totals = found[year] ?? Totals()
            return book(String(year), String(year), totals.booksFinished, totals.bookPages)
        }
        return books(texts("stats.booksByYear"), columns)
    }

    private func book(_ label: String, _ name: String, _ books: Int, _ pages: Int) -> Columns.Column {
        Columns.Column(
            label: label, value: books, words: "\(name): \(texts.several("stats.nBooks", books))",
            cells: [name, texts.grouped(books), texts.grouped(pages)])
    }

    private func books(_ title: String, _ columns: [Columns.Column]) -> Columns {
        Columns(
            title: title, columns: columns, heads: ["when", "books", "bookPages"].map { texts("stats.head.\($0)") },
            number: texts.grouped)
    }

    /// Copies by quarter stars.
    var ratings: Columns? {
        guard overview.ratings.count > 0 else { return nil }
        return Columns(
            title: texts("stats.ratings"),
            columns: overview.ratings.byQuarter.enumerated().map { index, count in
                let stars = texts.tenthsOfQuarter(index + 1)
                let name = texts("stats.nStars", ["n": stars])
                return Columns.Column(
                    label: (index + 1).isMultiple(of: 4) ? "★ \(stars)" : nil, value: count,
                    words: "\(name): \(texts.several("stats.nBooks", count))", cells: [name, texts.grouped(count)])
            }, heads: ["rating", "books"].map { texts("stats.head.\($0)") }, number: texts.grouped)
    }

    /// What the library consists of.
    var shares: [View] {
        let counts = overview.counts
        let rest = texts("stats.others")
        let formats: [Metadata.Format?] = Metadata.Format.allCases + [nil]
        let groups: [(key: String, parts: [(label: String, count: Int)])] = [
            (
                "status",
                Copy.Status.allCases.map { (texts.word(for: $0), counts.byStatus[$0] ?? 0) }
            ),
            (
                "format",
                formats.map { (texts.word(for: $0), counts.byFormat[$0] ?? 0) }
            ),
            (
                "language",
                counts.byLanguage.map { ($0.language.map(texts.language(code:)) ?? texts("stats.unknown"), $0.copies) }
            ),
        ]
        return groups.map { group in
            Shares(group.parts, rest: rest).view(title: texts("stats.by.\(group.key)"), number: texts.grouped)
        }
    }

    /// `nil` of a year without reading.
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
            words: { [texts] in "\(texts.day($0.day)): \(texts.several("stats.nPages", $0.pages))" },
            number: texts.grouped,
            table: Chart.Table(
                heads: ["month", "days", "pages", "time"].map { texts("stats.head.\($0)") }, rows: months))
    }

    /// What the shades of the calendar mean.
    func legend(of calendar: DayCalendar) -> [View] {
        let bounds = calendar.bounds.map(texts.grouped)
        return (1...4).map { level in
            let words =
                switch level {
                case 1: texts.several("stats.upToPages", calendar.bounds[0])
                case 4: texts("stats.overPages", ["n": bounds[2]])
                default: "– " + bounds[level - 1]
                }
            return ["level": String(level), "words": words]
        }
    }
}

extension Texts {
    /// Of quarter stars: "3.25", "4".
    fileprivate func tenthsOfQuarter(_ quarters: Int) -> String {
        let part = ["", "25", "5", "75"][quarters % 4]
        return String(quarters / 4) + (part.isEmpty ? "" : (language == .english ? "." : ",") + part)
    }
}
