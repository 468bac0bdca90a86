import Bookplate

/// The period of the Stats page, parsed from a query such as ?period=week&of=2026-11-16 or
/// ?period=own&from=2026-01&to=2026-03.
struct StatsPeriod: Sendable, Equatable {
    enum Kind: String, Sendable, CaseIterable { case week, month, year, all, own }

    let kind: Kind
    let period: Period

    /// - Parameter today: the current day, which is used if the query has no `of`.
    /// - Throws: ``RequestRefusal`` (400) with the allowed values if a parameter is not allowed.
    init(_ query: some Sequence<(name: String, value: String)>, today: CalendarDay) throws {
        let query = Dictionary(query.filter { !$0.value.isEmpty }.map { ($0.name, $0.value) }) { $1 }
        guard let kind = Kind(rawValue: query["period"] ?? Kind.year.rawValue) else {
            let kinds = Kind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw Self.refusal("\"period\" must be one of these: \(kinds)")
        }
        func day(_ name: String) throws -> CalendarDay? {
            guard let text = query[name] else { return nil }
            guard let day = CalendarDay(text) else {
                throw Self.refusal("\"\(name)\" must have the form YYYY-MM-DD, YYYY-MM or YYYY", "periodDay")
            }
            return day
        }
        let date = try day("of") ?? today
        let (first, year, month) = (date.span.lowerBound, date.year, date.month ?? 1)
        self.kind = kind
        switch kind {
        case .week:
            let monday = first - DayCalendar.weekday(first)
            period = Period(from: CalendarDay(number: monday), to: CalendarDay(number: monday + 6))
        case .month: period = CalendarDay(year: year, month: month).map { Period($0) } ?? .all
        case .year: period = CalendarDay(year: year).map { Period($0) } ?? .all
        case .all: period = .all
        case .own:
            period = Period(from: try day("from"), to: try day("to"))
            if let from = period.from, let to = period.to, to < from {
                throw Self.refusal("\"to\" must not be before \"from\"", "periodOrder")
            }
        }
    }

    private static func refusal(_ what: String, _ key: String? = nil) -> RequestRefusal {
        RequestRefusal(.badQuery, "\(what).", key: key)
    }

    /// Returns the URL of the previous or the next period; `nil` if there is no such period or if it lies in the
    /// future.
    func neighbour(_ step: Int, today: CalendarDay) -> String? {
        guard let from = period.from?.number, let to = period.to?.number, kind != .all, kind != .own else { return nil }
        let beyond = CalendarDay(number: step < 0 ? from - 1 : to + 1)
        guard beyond.number != (step < 0 ? from : to), beyond <= today || step < 0 else { return nil }
        let of =
            switch kind {
            case .month: CalendarDay(year: beyond.year, month: beyond.month) ?? beyond
            case .year: CalendarDay(year: beyond.year) ?? beyond
            case .week, .all, .own: beyond
            }
        return "/stats?period=\(kind.rawValue)&of=\(of)"
    }

    /// Returns the year whose months, calendar and challenge are shown. If the period covers several years, it is the
    /// latest of them that has already begun.
    func year(today: CalendarDay) -> Int {
        max(min(period.to?.year ?? today.year, today.year), period.from?.year ?? 1)
    }

    /// Returns the first and the last day that charts show, as values of ``CalendarDay/number``. If the period has no
    /// first day, charts begin with the first day on which anything was read. If it has no last day, they end with
    /// today. A period whose dates a person entered is shortened to the part in which anything was read, but not to
    /// less than a month.
    func span(of days: [DayStats], today: CalendarDay) -> ClosedRange<Int> {
        let (first, last) = (days.first?.day.number, days.last?.day.number)
        let now = today.number ?? 0
        let from = period.from?.number ?? min(first ?? now, now)
        let to = period.to?.number ?? max(last ?? now, now)
        // A period may be a thousand years long, and most of it is then empty. So only the part with reading is shown,
        // but at least a month.
        guard kind == .own, let first, let last else { return min(from, to)...to }
        let upper = min(to, max(last, from))
        return max(from, min(first, upper - 30))...upper
    }
}

extension Texts {
    /// Returns the name of a period, such as "2026", "November 2026", "16 November 2026 to 22 November 2026" or "All
    /// time".
    func name(of period: StatsPeriod) -> String {
        switch (period.period.from, period.period.to) {
        case (nil, nil): self("stats.allTime")
        case (let from?, nil): self("stats.since", ["day": day(from)])
        case (nil, let to?): self("stats.upTo", ["day": day(to)])
        case (let from?, let to?):
            switch period.kind {
            case .year: String(from.year)
            case .month: day(CalendarDay(year: from.year, month: from.month) ?? from)
            default: from == to ? day(from) : self("stats.fromTo", ["from": day(from), "to": day(to)])
            }
        }
    }
}
