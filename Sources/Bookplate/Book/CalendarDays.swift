import FoundationEssentials

extension CalendarDay: Comparable {
    /// The day on which an instant falls.
    public init(_ instant: Date, in zone: TimeZone) {
        let offset = zone.secondsFromGMT(for: instant)
        let seconds = (instant.timeIntervalSince1970 + Double(offset)).rounded(.down)
        // The years 1 to 9999; beyond, a clock or an import is wrong.
        let bounded = min(max(seconds, -62_135_596_800), 253_402_300_799)
        self.init(number: Int((bounded / 86_400).rounded(.down)))
    }

    /// - Parameter number: days since 1970-01-01, bounded to the years 1 to 9999.
    ///
    /// Source: Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, civil_from_days.
    public init(number: Int) {
        let days = min(max(number, -719_162), 2_932_896) + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        self.init(
            knownYear: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    /// The instant at which the first day that it can mean begins.
    public func beginning(in zone: TimeZone) -> Date { instant(after: 0, in: zone) }

    /// The middle of the first day that it can mean, for what has a day and no time: the same day in UTC nearly everywhere.
    public func noon(in zone: TimeZone) -> Date { instant(after: 43_200, in: zone) }

    /// - Parameter seconds: on the clock on the wall, from midnight.
    private func instant(after seconds: Double, in zone: TimeZone) -> Date {
        let wall = Double(span.lowerBound) * 86_400 + seconds
        // The offset that holds at that time itself, which near a change of the clocks is not the one of the same time in UTC.
        var offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: wall))
        offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: wall - Double(offset)))
        return Date(timeIntervalSince1970: wall - Double(offset))
    }

    /// Days since 1970-01-01; `nil` for a day of which only month or year is known.
    public var number: Int? {
        guard let month, let day else { return nil }
        return Self.number(year: year, month: month, day: day)
    }

    /// The first and the last day that it can mean, as ``number``.
    public var span: ClosedRange<Int> {
        let first = Self.number(year: year, month: month ?? 1, day: day ?? 1)
        let lastMonth = month ?? 12
        return
            first...Self.number(
                year: year, month: lastMonth, day: day ?? Self.daysIn(month: lastMonth, of: year))
    }

    /// By the first day that it can mean; of two that begin alike the one that says less comes first.
    public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month ?? 0, left.day ?? 0) < (right.year, right.month ?? 0, right.day ?? 0)
    }

    /// Whether it is certain to lie before `other`: 2024 before 2025-01, but not 2025 before 2025-03.
    public func isCertainlyBefore(_ other: CalendarDay) -> Bool { span.upperBound < other.span.lowerBound }

    /// Source: Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, days_from_civil.
    private static func number(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
