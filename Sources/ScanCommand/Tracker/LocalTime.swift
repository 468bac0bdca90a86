import Bookplate
import Foundation
import Terminal

/// Parses days and times that a user typed, and formats times in the user's time zone.
struct LocalTime {
    let now: Date
    let zone: TimeZone

    /// The current time in the machine's time zone.
    static var current: LocalTime { LocalTime(now: Date(), zone: .current) }

    /// Parses a day, month or year in the forms of ``CalendarDay/init(phrase:today:)``.
    ///
    /// - Throws: ``CommandError``, which says what is wrong with the text.
    func day(_ text: String, for option: String) throws -> CalendarDay {
        if let day = CalendarDay(phrase: text, today: CalendarDay(now, in: zone)) { return day }
        throw CommandError(.usage, "\(option) \"\(text.prefix(40).printable)\" is not a day\(Self.flaw(in: text)).")
    }

    /// Parses a single day: `2026-11-21`, `yesterday`, `3 days ago`, `last monday`.
    func wholeDay(_ text: String, for option: String) throws -> CalendarDay {
        let day = try day(text, for: option)
        guard day.day != nil else {
            throw CommandError(.usage, "\(option) \(day) is not a single day. Write YYYY-MM-DD.")
        }
        return day
    }

    /// Parses a month: `2026-11`.
    func month(_ text: String, for option: String) throws -> CalendarDay {
        if text.utf8.count == 7 {
            let month = try day(text, for: option)
            if month.month != nil, month.day == nil { return month }
        }
        throw CommandError(.usage, "\(option) \"\(text.prefix(40).printable)\" is not a month. Write YYYY-MM.")
    }

    /// Parses a range of days in the forms of ``Period/init(phrase:today:)``.
    func range(_ text: String, for option: String) throws -> Period {
        do throws(Period.PhraseFlaw) {
            return try Period(phrase: text, today: CalendarDay(now, in: zone))
        } catch {
            switch error {
            case .notADay(let part):
                throw CommandError(
                    .usage, "\(option) \"\(part.prefix(40).printable)\" is not a day\(Self.flaw(in: part)).")
            case .empty:
                throw CommandError(
                    .usage,
                    "\(option) \"\(text.prefix(40).printable)\" contains no day. Write a range such as '2024..2025', '..2025' or '2024..'."
                )
            case .reversed(let from, let to):
                throw CommandError(.usage, "\(option) ends on \(to), before it begins on \(from). Swap the two days.")
            }
        }
    }

    /// Parses a day that is not in the future, and returns noon on that day or, if it is not noon yet, the current
    /// time. Noon stands for the unknown time of an event that is entered on a later day.
    func noon(of text: String, for option: String) throws -> Date {
        let day = try wholeDay(text, for: option)
        guard !CalendarDay(now, in: zone).isCertainlyBefore(day) else {
            throw CommandError(.usage, "\(option) \(day) is in the future. Give today or an earlier day.")
        }
        return min(now, day.noon(in: zone))
    }

    /// Parses an edit of a day: "" clears the day, and `nil` keeps it.
    func edit(_ text: String?, for option: String) throws -> Edit<CalendarDay> {
        guard let text else { return .keep }
        return text.isEmpty ? .clear : .set(try day(text, for: option))
    }

    /// Explains what is wrong with a text that is not a valid day.
    private static func flaw(in text: String) -> String {
        let parts = text.prefix(40).split(separator: "-", omittingEmptySubsequences: false)
        if parts.count == 3, text.utf8.count == 10, CalendarDay(String(text.prefix(7))) != nil, Int(parts[2]) != nil {
            return ": \(text.prefix(7)) has no day \(parts[2])"
        }
        if parts.count >= 2, CalendarDay(String(parts[0])) != nil, parts[1].count == 2, Int(parts[1]) != nil,
            CalendarDay("\(parts[0])-\(parts[1])") == nil
        {
            return ": \(parts[0]) has no month \(parts[1])"
        }
        return ". Write YYYY-MM-DD, or YYYY-MM or YYYY if that is all you know"
    }

    /// Parses a time in the format of RFC 3339 (`2026-11-21T14:30:00Z`), or a local time (`14:30`, `2026-11-21 14:30`).
    /// A time without a day is a time today, or a time yesterday if the time today is more than twelve hours in the
    /// future.
    func time(_ text: String, for option: String) throws -> Date {
        let error = CommandError(
            .usage,
            "\(option) \"\(text.prefix(40).printable)\" is not a time. Write '14:30', '2026-11-21 14:30' or '2026-11-21T14:30:00Z'."
        )
        guard text.utf8.count <= 40 else { throw error }
        let separators: Set<Character> = text.contains(" ") ? [" "] : ["T", "t"]
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { separators.contains($0) }
        guard let clock = parts.last else { throw error }
        if parts.count == 1 {
            let date = CalendarDay(now, in: zone)
            try refuseSkipped(date, clock, for: option)
            let today = try instant(date, clock) ?? { throw error }()
            guard today.timeIntervalSince(now) > 12 * 3600 else { return today }
            return try instant(try day("yesterday", for: option), clock) ?? { throw error }()
        }
        let day = try day(String(parts[0]), for: option)
        if let local = instant(day, clock) { return local }
        try refuseSkipped(day, clock, for: option)
        guard day.number != nil else { throw error }
        for fractional in [false, true] {
            // If neither form can be parsed, the error below is thrown.
            if let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: fractional).parse(text.uppercased())
            {
                return date
            }
        }
        throw error
    }

    /// Returns the instant of a local time.
    ///
    /// - Parameter clock: `14:30` or `14:30:15`.
    /// - Returns: `nil` if the text is not a time, or if daylight saving time skips it on that day.
    private func instant(_ day: CalendarDay, _ clock: Substring) -> Date? {
        let fields = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(fields.count), let month = day.month, let dayOfMonth = day.day,
            fields.allSatisfy({ (1...2).contains($0.utf8.count) && $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { return nil }
        let numbers = fields.compactMap { Int($0) }
        guard numbers[0] < 24, numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let second = numbers.count > 2 ? numbers[2] : 0
        let wanted = DateComponents(
            year: day.year, month: month, day: dayOfMonth, hour: numbers[0], minute: numbers[1], second: second)
        guard let date = calendar.date(from: wanted) else { return nil }
        return dateTime(date).suffix(5) == twoDigits(numbers[0]) + ":" + twoDigits(numbers[1]) ? date : nil
    }

    /// Throws ``CommandError`` for a local time that daylight saving time skips on this day.
    private func refuseSkipped(_ day: CalendarDay, _ clock: Substring, for option: String) throws {
        guard instant(day, clock) == nil, LocalTime(now: now, zone: .gmt).instant(day, clock) != nil else { return }
        throw CommandError(
            .usage,
            "\(option): \(clock) does not exist on \(day), because the clocks go forward. Give an earlier or later time."
        )
    }

    /// Formats a date as `2026-11-21 14:30`.
    func dateTime(_ date: Date) -> String { "\(CalendarDay(date, in: zone)) \(date.clockTime(in: zone))" }

    /// Formats a number of seconds as `12:34` (minutes and seconds), or as `1:02:34` from one hour on.
    static func elapsed(_ seconds: Int) -> String {
        let tail = "\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
        return seconds < 3600 ? tail : "\(seconds / 3600):\(tail)"
    }
}
