import FoundationEssentials

extension Date {
    /// The instant in RFC 3339, in UTC and with milliseconds: `2026-11-21T09:30:00.000Z`. The years are 1 to 9999 in
    /// the Gregorian calendar, even before 1582, where Foundation's formats use the Julian calendar.
    public var rfc3339: String {
        let (day, millisecond) = dayAndMillisecond
        var date = day.description
        // Lists and exports write very many instants, so the digits are written in place.
        return date.withUTF8 { date in
            String(unsafeUninitializedCapacity: 24) { bytes in
                _ = bytes.update(fromContentsOf: date)
                var place = 10
                func append(_ sign: Character, _ number: Int, digits: Int) {
                    bytes[place] = sign.asciiValue ?? 0
                    var rest = number
                    for digit in (1...digits).reversed() {
                        bytes[place + digit] = UInt8(ascii: "0") + UInt8(rest % 10)
                        rest /= 10
                    }
                    place += digits + 1
                }
                let second = millisecond / 1000
                append("T", second / 3600, digits: 2)
                append(":", second / 60 % 60, digits: 2)
                append(":", second % 60, digits: 2)
                append(".", millisecond % 1000, digits: 3)
                bytes[place] = UInt8(ascii: "Z")
                return place + 1
            }
        }
    }

    /// Parses the text that ``rfc3339`` writes, with or without milliseconds.
    ///
    /// The instant is computed in whole milliseconds, because Foundation's format truncates a binary fraction: .123 can
    /// become .122, so a file that is imported and exported again would change.
    ///
    /// - Returns: `nil` for any other text.
    public init?(rfc3339 text: String) {
        let bytes = Array(text.utf8.prefix(25))
        guard bytes.count == 24 || bytes.count == 20, bytes.last == UInt8(ascii: "Z"), bytes[10] == UInt8(ascii: "T"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            bytes.count == 20 || bytes[19] == UInt8(ascii: "."),
            let day = CalendarDay(String(text.prefix(10)))?.number
        else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            digitValues(bytes[range]).map { $0.reduce(0) { $0 * 10 + $1 } }
        }
        guard let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let fraction = bytes.count == 24 ? number(20..<23) : 0, hour < 24, minute < 60, second < 60
        else { return nil }
        let milliseconds = ((hour * 60 + minute) * 60 + second) * 1000 + fraction
        self.init(timeIntervalSince1970: Double(day * 86_400_000 + milliseconds) / 1000)
    }

    /// The day in UTC: `2026-11-21`.
    public var utcDay: String { dayAndMillisecond.day.description }

    private var dayAndMillisecond: (day: CalendarDay, millisecond: Int) {
        // The bounds are 0001-01-01 and the last millisecond of 9999-12-31. Any other time comes from a wrong clock or
        // import.
        let bounded = min(
            max(timeIntervalSince1970.isNaN ? 0 : timeIntervalSince1970, -62_135_596_800), 253_402_300_799.999)
        let milliseconds = Int((bounded * 1000).rounded())
        let day = Int((Double(milliseconds) / 86_400_000).rounded(.down))
        return (CalendarDay(number: day), milliseconds - day * 86_400_000)
    }
}
