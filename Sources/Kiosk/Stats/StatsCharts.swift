import Bookplate

/// Builds the charts of the Stats page. Each bar leads to what it counts.
struct StatsCharts: Sendable {
    let overview: Overview
    let read: ReadBooks
    let period: StatsPeriod
    let year: Int
    let yearDays: [DayStats]
    /// True if the statistics are those of all readers together. Lists of books that were read are one reader's, so the
    /// bars lead to the timeline instead.
    let isOfEverybody: Bool
    let texts: Texts

    /// The charts about the books that were read, without empty ones.
    var readCharts: [Chart] { Self.filled([books, lengths, decades, ratings]) }

    /// The charts about the pages that were logged, without empty ones.
    var pageCharts: [Chart] { Self.filled([pages]) }

    private static func filled(_ charts: [BarChart?]) -> [Chart] {
        charts.compactMap(\.self).filter { chart in chart.bars.contains { $0.value > 0 } }.map(\.chart)
    }

    /// The books of the period; `nil` for everybody.
    var links: BookLinks? { isOfEverybody ? nil : .read(in: period.period) }

    /// The pages read by day, week, month or year, depending on the length of the period.
    private var pages: BarChart? {
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
                    ], address: timeline(start, bucket))
            },
            heads: ["day", "pages", "time", "sessions"].map { texts("stats.head.\($0)") }, number: texts.grouped)
    }

    /// Returns the address of the books that were read in a month or a year. For everybody, it is that of the timeline.
    ///
    /// - Parameter day: a month, or a year.
    private func booksRead(in day: CalendarDay) -> String {
        isOfEverybody ? timeline(day, day.month == nil ? .year : .month) : BookLinks.read(in: Period(day)).all
    }

    /// Returns the address of the sessions and books of a day, week, month or year.
    private func timeline(_ start: CalendarDay, _ bucket: Bucket) -> String {
        let period = bucket == .day ? "period=own&from=\(start)&to=\(start)" : "period=\(bucket.rawValue)&of=\(start)"
        return "/stats/timeline?\(period)\(isOfEverybody ? "&readers=all" : "")"
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

    // MARK: Books read

    /// The number of books read in each month of the year, or in each year if the period is longer than a year.
    private var books: BarChart? {
        let isLong = period.kind == .all || period.period.from?.year != period.period.to?.year && period.kind == .own
        return isLong ? booksByYear : booksByMonth
    }

    private var booksByMonth: BarChart? {
        var months = MonthBars(counts: read, year: year, texts: texts)
        if isOfEverybody { months.address = booksRead }
        return months.chart
    }

    private var booksByYear: BarChart? {
        let years = read.years.filter { year, _ in
            period.period.mayContain(CalendarDay(year: year) ?? overview.today)
        }
        guard let first = years.keys.min(), let last = years.keys.max() else { return nil }
        return texts.bookChart(
            texts("stats.booksByYear"),
            (max(first, last - Bucket.maxCount + 1)...last).map { year in
                texts.bookBar(
                    String(year), String(year), years[year] ?? ReadBooks.Count(),
                    CalendarDay(year: year).map(booksRead(in:)))
            })
    }

    private func bar(_ label: String, _ name: String, _ count: Int, _ condition: String) -> BarChart.Bar {
        BarChart.Bar(
            label: label, value: count, text: "\(name): \(texts("stats.nBooks", n: count))",
            cells: [name, texts.grouped(count)], address: links?.books(condition))
    }

    private func countChart(_ key: String, _ bars: [BarChart.Bar], margin: Int = 0) -> BarChart {
        BarChart(
            title: texts("stats.\(key)"), bars: bars, heads: [texts("stats.head.\(key)"), texts("stats.head.books")],
            margin: margin, number: texts.grouped)
    }

    private var lengths: BarChart? {
        let known = zip(ReadBooks.lengths, read.byLength).map { range, count in
            let (from, to) = (texts.grouped(range.lowerBound), texts.grouped(range.upperBound))
            let isLast = range.upperBound == .max
            return bar(
                isLast ? "\(from)+" : range.lowerBound == 1 ? "< \(range.upperBound + 1)" : from,
                isLast
                    ? texts("stats.pagesFrom", ["n": from]) : texts("stats.pagesFromTo", ["from": from, "to": to]),
                count, QueryField.pages.condition("\(range.lowerBound)..\(isLast ? "" : String(range.upperBound))"))
        }
        return countChart("byLength", known + unknown(read.lengthUnknown, .pages))
    }

    /// The maximum number of decades that have bars of their own.
    private static let mostDecades = 12

    private var decades: BarChart? {
        guard let last = read.byDecade.keys.max(), let first = read.byDecade.keys.min() else { return nil }
        let start = max(first, last - 10 * (Self.mostDecades - 1))
        let earlier = read.byDecade.filter { $0.key < start }.reduce(0) { $0 + $1.value }
        var bars: [BarChart.Bar] = []
        if earlier > 0 {
            bars.append(
                bar(
                    "< \(start)", texts("stats.yearsBefore", ["year": String(start)]), earlier,
                    QueryField.year.condition("..\(start - 1)")))
        }
        for decade in stride(from: start, through: last, by: 10) {
            let name = texts("stats.years", ["from": String(decade), "to": String(decade + 9)])
            let condition = QueryField.year.condition("\(decade)..\(decade + 9)")
            bars.append(bar(String(decade), name, read.byDecade[decade] ?? 0, condition))
        }
        return countChart("byDecade", bars + unknown(read.yearUnknown, .year))
    }

    private func unknown(_ count: Int, _ field: QueryField) -> [BarChart.Bar] {
        count > 0 ? [bar("?", texts("stats.unknown"), count, field.condition("none"))] : []
    }

    /// The number of books for each rating, in steps of a quarter star, or of a star if all ratings are whole stars.
    private var ratings: BarChart? {
        let counts = read.ratings.byQuarter
        guard read.ratings.count > 0 else { return nil }
        let step = counts.enumerated().allSatisfy { $0.element == 0 || ($0.offset + 1).isMultiple(of: 4) } ? 4 : 1
        let bars = stride(from: step, through: 20, by: step).map { quarters -> BarChart.Bar in
            let stars = texts.decimal(Double(quarters) / 4)
            let value = JSONValue(Double(quarters) / 4).text
            // Without a range, whole stars would include the quarters above them.
            var bar = bar(
                "★ \(stars)", texts("stats.nStars", ["n": stars]), counts[quarters - 1],
                QueryField.rating.condition("\(value)..\(value)"))
            if !quarters.isMultiple(of: 4) { bar.label = nil }
            return bar
        }
        // With quarter stars, there are as many slots after five stars as before one star.
        return countChart("ratings", bars, margin: step == 1 ? 3 : 0)
    }

    /// The shares of the books that were read, by author, tag, language, format and number of readings.
    var readShares: [View] {
        let all = read.all.books
        guard all > 0 else { return [] }
        func named(_ key: String, _ names: [NameCount], _ filter: LibraryAddress.Name, note: String? = nil) -> View? {
            guard !names.isEmpty else { return nil }
            return shares(
                key, Shares(names.map { part($0.name, $0.count, links?.books(with: filter, $0.name)) }, of: all),
                note: note)
        }
        let hiddenAuthors = read.authorCount - read.authors.count
        let times = read.byTimes.enumerated().map { index, count in
            let (number, isLast) = (index + 1, index + 1 == ReadBooks.mostTimes)
            return part(
                texts("stats.times.\(number)"), count,
                links?.books(QueryField.times.condition(isLast ? "\(number).." : String(number))))
        }
        return [
            named(
                "author", read.authors, .author,
                note: hiddenAuthors > 0 ? texts("stats.moreAuthors", n: hiddenAuthors) : nil),
            named("tag", read.tags, .tag),
            shares("language", languages(read.languages, links)),
            shares("format", formats(read.byFormat, links)),
            // If no book was read again, the table says nothing.
            read.byTimes.dropFirst().contains { $0 > 0 } ? shares("times", Shares(times)) : nil,
        ].compactMap(\.self)
    }

    /// The shares of the library by status, by format and by language.
    var libraryShares: [View] {
        // The format and the language of a book are the same for all readers.
        let (counts, links) = (overview.counts, BookLinks.library)
        let statuses = Copy.Status.allCases.map { status in
            part(
                texts.label(for: status), counts.byStatus[status] ?? 0,
                isOfEverybody ? nil : links.books(with: .status, status.rawValue))
        }
        return [
            shares("status", Shares(statuses)),
            shares("format", formats(counts.byFormat, links)),
            shares("language", languages(counts.byLanguage, links)),
        ]
    }

    private func part(_ label: String, _ count: Int, _ address: String?) -> Shares.Part {
        Shares.Part(label: label, count: count, address: address)
    }

    private func formats(_ counts: [Metadata.Format?: Int], _ links: BookLinks?) -> Shares {
        let formats: [Metadata.Format?] = Metadata.Format.allCases + [nil]
        return Shares(
            formats.map { format in
                part(
                    texts.label(for: format), counts[format] ?? 0,
                    links?.books(QueryField.format.condition(format?.rawValue ?? "none")))
            })
    }

    private func languages(_ counts: [LanguageCount], _ links: BookLinks?) -> Shares {
        func condition(_ language: String?) -> String { QueryField.language.condition(language ?? "none") }
        func parts(_ counts: some Sequence<LanguageCount>) -> [Shares.Part] {
            counts.map { count in
                part(
                    count.language.map(texts.language(code:)) ?? texts("stats.unknown"), count.copies,
                    links?.books(condition(count.language)))
            }
        }
        return Shares(parts(counts), most: Self.mostLanguages) { rest in
            part(
                texts("stats.others"), rest,
                links?.books(counts.prefix(Self.mostLanguages).map { "-" + condition($0.language) }))
        }
    }

    /// The maximum number of languages that have rows of their own.
    private static let mostLanguages = 8

    private func shares(_ key: String, _ shares: Shares, note: String? = nil) -> View {
        shares.view(
            title: texts("stats.by.\(key)"), note: note, number: texts.grouped, percent: texts.withPercentSign)
    }

    // MARK: Days

    /// The calendar of the year; `nil` if nothing was read in the year.
    var calendar: DayCalendar? {
        guard !yearDays.isEmpty else { return nil }
        var (months, addresses): ([[String]], [String]) = ([], [])
        for month in (1...12).compactMap({ CalendarDay(year: year, month: $0) }) {
            let days = yearDays.filter { $0.day.month == month.month }
            guard !days.isEmpty else { continue }
            let totals = Totals(days, [], in: .all)
            months.append([
                texts.day(month), texts.grouped(totals.daysRead), texts.grouped(totals.pages),
                texts.duration(minutes: totals.minutes),
            ])
            addresses.append(timeline(month, .month))
        }
        return DayCalendar(
            title: texts("stats.calendar", ["year": String(year)]), year: year, days: yearDays,
            months: texts.list("stats.months"), weekdays: texts.list("stats.weekdays"),
            text: { [texts] in "\(texts.day($0.day)): \(texts("stats.nPages", n: $0.pages))" },
            address: { [self] in timeline($0.day, .day) },
            number: texts.grouped,
            table: Chart.Table(
                heads: ["month", "days", "pages", "time"].map { texts("stats.head.\($0)") }, rows: months,
                addresses: addresses))
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

/// The chart of the books that were read in each month of a year.
struct MonthBars {
    let counts: ReadBooks
    let year: Int
    let texts: Texts
    /// Returns the address of the books of a month or, for those whose month is not known, of a year; `nil` for the
    /// reader's lists.
    var address: ((CalendarDay) -> String)?

    var chart: BarChart {
        let short = texts.list("stats.months")
        var bars = counts.months.enumerated().map { index, count in
            let month = CalendarDay(year: year, month: index + 1)
            return texts.bookBar(
                short.indices.contains(index) ? short[index] : "", month.map { texts.day($0) } ?? "", count,
                month.map(address ?? { BookLinks.read(in: Period($0)).all }))
        }
        if counts.monthUnknown.books > 0 {
            bars.append(
                texts.bookBar(
                    "?", texts("stats.monthUnknown"), counts.monthUnknown,
                    address.map { CalendarDay(year: year).map($0) } ?? BookLinks.read(inUnknownMonthOf: year).all))
        }
        return texts.bookChart(texts("stats.booksByMonth", ["year": String(year)]), bars)
    }
}

extension Texts {
    fileprivate func bookBar(
        _ label: String, _ name: String, _ count: ReadBooks.Count, _ address: String?
    ) -> BarChart.Bar {
        BarChart.Bar(
            label: label, value: count.books, text: "\(name): \(self("stats.nBooks", n: count.books))",
            cells: [name, grouped(count.books), grouped(count.pages)], address: address)
    }

    fileprivate func bookChart(_ title: String, _ bars: [BarChart.Bar]) -> BarChart {
        BarChart(
            title: title, bars: bars, heads: ["when", "books", "bookPages"].map { self("stats.head.\($0)") },
            number: grouped)
    }
}
