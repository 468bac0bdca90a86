extension CalendarDay {
    /// Creates the day, month or year that a person means: `2026-11-21`, `2026-11`, `2026`, `today`, `yesterday`,
    /// `-3d`, `-2w`, `-6m`, `-1y`, `3 days ago`, `a week ago`, `monday`, `last monday`, `this month`, `last year`. A
    /// weekday without "last" is today or one of the six days before; with "last", it is before today. Case is ignored.
    ///
    /// - Returns: `nil` for any other text.
    public init?(phrase: String, today: CalendarDay) {
        guard phrase.utf8.count <= 40, let number = today.number else { return nil }
        let words = phrase.lowercased().split(whereSeparator: \.isWhitespace)
        let found: CalendarDay?
        switch words.count {
        case 1:
            let word = words[0]
            switch word {
            case "today": found = today
            case "yesterday": found = CalendarDay(number: number - 1)
            default:
                found =
                    CalendarDay(String(word)) ?? Self.weekday(word).map { Self.last($0, before: number + 1) }
                    ?? Self.offset(word, from: today)
            }
        case 2 where words[0] == "last" || words[0] == "this":
            let back = words[0] == "last" ? 1 : 0
            switch words[1] {
            case "month": found = today.month.flatMap { Self.month($0 - back, of: today.year) }
            case "year": found = CalendarDay(year: today.year - back)
            default:
                found = back == 0 ? nil : Self.weekday(words[1]).map { Self.last($0, before: number) }
            }
        case 3 where words[2] == "ago":
            let count = words[0] == "a" || words[0] == "an" || words[0] == "one" ? 1 : Self.count(words[0])
            let unit = words[1].hasSuffix("s") ? words[1].dropLast() : words[1]
            let letters: [Substring: Character] = ["day": "d", "week": "w", "month": "m", "year": "y"]
            found = count.flatMap { count in letters[unit].flatMap { today.back(count, $0) } }
        default: found = nil
        }
        guard let found else { return nil }
        self = found
    }

    /// Parses `-3d`, `-2w`, `-6m` or `-1y`.
    private static func offset(_ word: Substring, from today: CalendarDay) -> CalendarDay? {
        guard word.first == "-", let unit = word.last, let count = count(word.dropFirst().dropLast()) else {
            return nil
        }
        return today.back(count, unit)
    }

    private static func count(_ digits: Substring) -> Int? {
        guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(digits)
    }

    /// Returns the day some days, weeks, months or years before this day. If the month is shorter, its last day is
    /// returned.
    ///
    /// - Parameter unit: `d`, `w`, `m` or `y`.
    private func back(_ count: Int, _ unit: Character) -> CalendarDay? {
        guard let number, let month, let day else { return nil }
        let months: Int
        switch unit {
        case "d": return CalendarDay(number: number - count)
        case "w": return CalendarDay(number: number - 7 * count)
        case "m": months = count
        case "y": months = 12 * count
        default: return nil
        }
        guard let earlier = Self.month(month - months, of: year), let found = earlier.month else { return nil }
        return CalendarDay(year: earlier.year, month: found, day: min(day, Self.daysIn(month: found, of: earlier.year)))
    }

    /// - Parameter month: the number of the month; 0 is December of the year before, and so on.
    private static func month(_ month: Int, of year: Int) -> CalendarDay? {
        let months = year * 12 + month - 1
        return months < 12 ? nil : CalendarDay(year: months / 12, month: months % 12 + 1)
    }

    /// - Returns: 0 for Monday to 6 for Sunday; `nil` unless the text is an English name, or its first three letters.
    private static func weekday(_ text: Substring) -> Int? {
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].firstIndex { day in
            day == text || (text.count == 3 && day.hasPrefix(text))
        }
    }

    private static func last(_ weekday: Int, before number: Int) -> CalendarDay {
        // 1970-01-01 was a Thursday.
        let day = number - 1
        let distance = ((day + 3 - weekday) % 7 + 7) % 7
        return CalendarDay(number: day - distance)
    }
}

extension Period {
    /// The reason why a text is not a period.
    public enum PhraseFlaw: Error, Equatable {
        /// A part of the text is not a day, month or year.
        case notADay(String)
        /// Neither end is given.
        case empty
        /// The period ends before it begins.
        case reversed(from: CalendarDay, to: CalendarDay)
    }

    /// Creates the period that a person means: a single day, month or year as in ``CalendarDay/init(phrase:today:)``,
    /// `this week`, `last week`, or two days with `..` between them, of which one may be missing.
    public init(phrase: String, today: CalendarDay) throws(PhraseFlaw) {
        func day(_ text: some StringProtocol) throws(PhraseFlaw) -> CalendarDay? {
            if text.allSatisfy(\.isWhitespace) { return nil }
            guard let day = CalendarDay(phrase: String(text), today: today) else { throw .notADay(String(text)) }
            return day
        }
        guard let dots = phrase.firstRange(of: "..") else {
            if let week = Self.week(phrase, today: today) {
                self = week
            } else if let day = try day(phrase) {
                self.init(day)
            } else {
                throw .empty
            }
            return
        }
        let (from, to) = (try day(phrase[..<dots.lowerBound]), try day(phrase[dots.upperBound...]))
        guard from != nil || to != nil else { throw .empty }
        if let from, let to, to.isCertainlyBefore(from) { throw .reversed(from: from, to: to) }
        self.init(from: from, to: to)
    }

    /// Weeks begin on Monday (ISO 8601).
    private static func week(_ phrase: String, today: CalendarDay) -> Period? {
        guard let number = today.number else { return nil }
        let monday = number - ((number + 3) % 7 + 7) % 7
        switch phrase.lowercased() {
        case "this week": return Period(from: CalendarDay(number: monday), to: CalendarDay(number: monday + 6))
        case "last week": return Period(from: CalendarDay(number: monday - 7), to: CalendarDay(number: monday - 1))
        default: return nil
        }
    }
}
