/// A calendar day, perhaps only its month or year: `1969`, `1969-03`, `1969-03-17`. Years 1 to 9999, Gregorian calendar.
///
/// Its text is the form of RFC 3339's full-date, cut short where less is known.
public struct CalendarDay: Hashable, Sendable, Codable, CustomStringConvertible {
    public let year: Int
    public let month: Int?
    public let day: Int?

    /// - Returns: `nil` when there is no such day, or a day without a month.
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
        let bytes = Array(text.utf8.prefix(11))
        let parts = bytes.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let lengths = [4, 2, 2]
        guard (1...3).contains(parts.count), zip(parts, lengths).allSatisfy({ $0.count == $1 }) else { return nil }
        let numbers = parts.compactMap { part in digitValues(part).map { $0.reduce(0) { $0 * 10 + $1 } } }
        guard numbers.count == parts.count else { return nil }
        self.init(
            year: numbers[0], month: numbers.count > 1 ? numbers[1] : nil, day: numbers.count > 2 ? numbers[2] : nil)
    }

    public var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        return ([padded(year, 4)] + [month, day].compactMap { $0.map { padded($0, 2) } }).joined(separator: "-")
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let day = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "no calendar day: \(text.prefix(20))")
        }
        self = day
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// A day known to exist.
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
