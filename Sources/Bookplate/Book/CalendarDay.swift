import FoundationEssentials

/// A calendar day, or only a month or a year: `1969`, `1969-03`, `1969-03-17`. The years are 1 to 9999 in the Gregorian
/// calendar.
///
/// The text form is RFC 3339's full-date, shortened if only the month or year is known.
public struct CalendarDay: Hashable, Sendable, Codable, CustomStringConvertible {
    public let year: Int
    public let month: Int?
    public let day: Int?

    /// - Returns: `nil` if there is no such day, or if a day is given without a month.
    public init?(year: Int, month: Int? = nil, day: Int? = nil) {
        guard (1...9999).contains(year), month != nil || day == nil else { return nil }
        if let month {
            guard (1...12).contains(month) else { return nil }
            if let day {
                guard (1...Self.daysIn(month: month, of: year)).contains(day) else { return nil }
            }
        }
        self.year = year
        self.month = month
        self.day = day
    }

    /// - Parameter text: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, nothing else.
    public init?(_ text: String) {
        var text = text
        // Lists and stats parse very many dates, so the digits are read in place.
        let day = text.withUTF8 { bytes -> CalendarDay? in
            func number(_ place: Range<Int>) -> Int? {
                if place.lowerBound > 0, bytes[place.lowerBound - 1] != UInt8(ascii: "-") { return nil }
                return place.reduce(0 as Int?) { number, index in
                    let digit = bytes[index] &- UInt8(ascii: "0")
                    return digit < 10 ? number.map { $0 * 10 + Int(digit) } : nil
                }
            }
            guard [4, 7, 10].contains(bytes.count), let year = number(0..<4) else { return nil }
            let month = bytes.count > 4 ? number(5..<7) : nil
            let day = bytes.count > 7 ? number(8..<10) : nil
            guard (month != nil) == (bytes.count > 4), (day != nil) == (bytes.count > 7) else { return nil }
            return CalendarDay(year: year, month: month, day: day)
        }
        guard let day else { return nil }
        self = day
    }

    public var description: String {
        String(unsafeUninitializedCapacity: 10) { bytes in
            var count = 0
            func append(_ number: Int, digits: Int) {
                var divisor = digits == 4 ? 1000 : 10
                while divisor > 0 {
                    bytes[count] = UInt8(ascii: "0") + UInt8(number / divisor % 10)
                    count += 1
                    divisor /= 10
                }
            }
            append(year, digits: 4)
            for part in [month, day] {
                guard let part else { break }
                bytes[count] = UInt8(ascii: "-")
                count += 1
                append(part, digits: 2)
            }
            return count
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let day = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a calendar day: \(text.prefix(20))")
        }
        self = day
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Creates a day that is known to exist.
    init(knownYear year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    static func daysIn(month: Int, of year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CalendarDay: Comparable {
    /// Creates the day on which an instant falls in a time zone.
    public init(_ instant: Date, in zone: TimeZone) {
        let offset = zone.secondsFromGMT(for: instant)
        let seconds = (instant.timeIntervalSince1970 + Double(offset)).rounded(.down)
        // The bounds are the years 1 and 9999. Any other year comes from a wrong clock or import.
        let bounded = min(max(seconds, -62_135_596_800), 253_402_300_799)
        self.init(number: Int((bounded / 86_400).rounded(.down)))
    }

    /// - Parameter number: the number of days since 1970-01-01, clamped to the years 1 to 9999.
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

    /// Returns the start of the first day that the date can mean, such as 1 January for a year.
    public func beginning(in zone: TimeZone) -> Date { Self.instant(of: span.lowerBound, after: 0, in: zone) }

    /// Returns the last second of the last day that the date can mean, such as 31 December for a year.
    public func end(in zone: TimeZone) -> Date { Self.instant(of: span.upperBound, after: 86_399, in: zone) }

    /// Returns noon on the first day that the date can mean. It is used as the time of an event for which only the day
    /// is known, because in nearly every time zone noon falls on the same day in UTC.
    public func noon(in zone: TimeZone) -> Date { Self.instant(of: span.lowerBound, after: 43_200, in: zone) }

    /// - Parameters:
    ///   - day: the ``number`` of a day.
    ///   - seconds: seconds after midnight on the local clock.
    private static func instant(of day: Int, after seconds: Double, in zone: TimeZone) -> Date {
        let wall = Double(day) * 86_400 + seconds
        // The first offset is looked up as if the local time were in UTC, which can give the wrong offset near a clock
        // change. The second offset is looked up at the corrected time.
        var offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: wall))
        offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: wall - Double(offset)))
        return Date(timeIntervalSince1970: wall - Double(offset))
    }

    /// The number of days since 1970-01-01; `nil` if only the month or year is known.
    public var number: Int? {
        guard let month, let day else { return nil }
        return Self.number(year: year, month: month, day: day)
    }

    /// The first and last day that the date can mean, as values of ``number``.
    public var span: ClosedRange<Int> {
        let first = Self.number(year: year, month: month ?? 1, day: day ?? 1)
        let lastMonth = month ?? 12
        return
            first...Self.number(
                year: year, month: lastMonth, day: day ?? Self.daysIn(month: lastMonth, of: year))
    }

    /// Orders dates by the first day that each can mean. If these days are equal, the less precise date comes first.
    public static func < (left: CalendarDay, right: CalendarDay) -> Bool {
        (left.year, left.month ?? 0, left.day ?? 0) < (right.year, right.month ?? 0, right.day ?? 0)
    }

    /// Returns true if the date is certain to lie before `other`: 2024 is before 2025-01, but 2025 is not before
    /// 2025-03.
    public func isCertainlyBefore(_ other: CalendarDay) -> Bool { span.upperBound < other.span.lowerBound }

    /// Returns the number of days since 1970-01-01.
    ///
    /// Source: Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, days_from_civil.
    private static func number(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
