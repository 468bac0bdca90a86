import Bookplate
import Foundation

/// Reads the days and times that people type, and writes times as their clock shows them.
struct When {
    let now: Date
    let zone: TimeZone

    /// At the moment of asking, where the machine is.
    static var here: When { When(now: Date(), zone: .current) }

    /// `2026-11-21`, `2026-11`, `2026`, `today` or `yesterday`.
    ///
    /// - Throws: ``CommandError`` that says what is wrong with it.
    func day(_ text: String, for option: String) throws -> CalendarDay {
        switch text.prefix(20).lowercased() {
        case "today": return CalendarDay(now, in: zone)
        case "yesterday": return CalendarDay(number: (CalendarDay(now, in: zone).number ?? 0) - 1)
        default: break
        }
        if text.utf8.count <= 10, let day = CalendarDay(text) { return day }
        throw CommandError(.usage, "\(option) \"\(text.prefix(40).printable)\" is no day\(Self.flaw(in: text)).")
    }

    /// A day of which all is known: `2026-11-21`, `today` or `yesterday`.
    ///
    /// - Throws: ``CommandError`` that says what is wrong with it.
    func wholeDay(_ text: String, for option: String) throws -> CalendarDay {
        let day = try day(text, for: option)
        guard day.day != nil else {
            throw CommandError(.usage, "\(option) \(day) is no single day. Write YYYY-MM-DD.")
        }
        return day
    }

    /// `2026-11`
    ///
    /// - Throws: ``CommandError`` that says what is wrong with it.
    func month(_ text: String, for option: String) throws -> CalendarDay {
        if text.utf8.count == 7 {
            let month = try day(text, for: option)
            if month.month != nil, month.day == nil { return month }
        }
        throw CommandError(.usage, "\(option) \"\(text.prefix(40).printable)\" is no month. Write YYYY-MM.")
    }

    /// `2024`, `2024-03..2024-05`, `..2023`, `2024-11-05..`, `today`, `yesterday..`
    ///
    /// - Throws: ``CommandError`` that says what is wrong with it.
    func range(_ text: String, for option: String) throws -> Period {
        guard let dots = text.range(of: "..") else {
            let day = try day(text, for: option)
            return Period(from: day, to: day)
        }
        let (first, last) = (text[..<dots.lowerBound], text[dots.upperBound...])
        guard !first.isEmpty || !last.isEmpty else {
            throw CommandError(.usage, "\(option) \"..\" names no day. Write 2024..2025, ..2025 or 2024...")
        }
        let from = first.isEmpty ? nil : try day(String(first), for: option)
        let to = last.isEmpty ? nil : try day(String(last), for: option)
        if let from, let to, to.isCertainlyBefore(from) {
            throw CommandError(.usage, "\(option) ends on \(to), before it begins on \(from). Turn the two round.")
        }
        return Period(from: from, to: to)
    }

    /// The middle of a day that is over or today's: what is told afterwards has no time. Never later than now.
    ///
    /// - Throws: ``CommandError`` that says what is wrong with it.
    func noon(of text: String, for option: String) throws -> Date {
        let day = try wholeDay(text, for: option)
        guard !CalendarDay(now, in: zone).isCertainlyBefore(day) else {
            throw CommandError(.usage, "\(option) \(day) is still to come. Give a day that was.")
        }
        return min(now, day.noon(in: zone))
    }

    /// A day, or nothing for "", which clears.
    func edit(_ text: String?, for option: String) throws -> Edit<CalendarDay> {
        guard let text else { return .keep }
        return text.isEmpty ? .clear : .set(try day(text, for: option))
    }

    /// What a text that nearly is a day lacks.
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
        return ". Write YYYY-MM-DD, or YYYY-MM or YYYY when that is all you know"
    }

    /// RFC 3339 (`2026-11-21T14:30:00Z`), or the time on the wall: `14:30`, `2026-11-21 14:30`. A time alone is today's; when that
    /// is more than twelve hours away, last night's.
    ///
    /// - Throws: ``CommandError`` that says what is wrong with it.
    func time(_ text: String, for option: String) throws -> Date {
        let error = CommandError(
            .usage,
            "\(option) \"\(text.prefix(40).printable)\" is no time. Write 14:30, 2026-11-21 14:30 or 2026-11-21T14:30:00Z."
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
            // Neither form is an error by itself: the error below is.
            if let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: fractional).parse(text.uppercased())
            {
                return date
            }
        }
        throw error
    }

    /// - Parameter clock: `14:30` or `14:30:15`.
    /// - Returns: `nil` when it is none, or when the clocks skip it on that day.
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
        return local(date).suffix(5) == Self.twoDigits(numbers[0]) + ":" + Self.twoDigits(numbers[1]) ? date : nil
    }

    /// - Throws: ``CommandError`` for a time on the wall that this day does not have.
    private func refuseSkipped(_ day: CalendarDay, _ clock: Substring, for option: String) throws {
        guard instant(day, clock) == nil, When(now: now, zone: .gmt).instant(day, clock) != nil else { return }
        throw CommandError(
            .usage,
            "\(option): there is no \(clock) on \(day), because the clocks skip it. Give a time before or after.")
    }

    /// `2026-11-21 14:30`
    func local(_ date: Date) -> String { "\(CalendarDay(date, in: zone)) \(clock(date))" }

    /// `14:30`
    func clock(_ date: Date) -> String {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down)) + zone.secondsFromGMT(for: date)
        let minutes = ((seconds % 86_400) + 86_400) % 86_400 / 60
        return Self.twoDigits(minutes / 60) + ":" + Self.twoDigits(minutes % 60)
    }

    /// `12:34`, minutes and seconds; from an hour on `1:02:34`.
    static func elapsed(_ seconds: Int) -> String {
        let tail = "\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
        return seconds < 3600 ? tail : "\(seconds / 3600):\(tail)"
    }

    private static func twoDigits(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
}
