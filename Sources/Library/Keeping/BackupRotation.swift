import Bookplate
import FoundationEssentials

/// Which backups of a folder stay: the newest of each of the last seven days that have one, and the newest of each of the last four
/// weeks that have one. A day is a day in UTC, as the names tell it; a week begins on Monday (ISO 8601).
///
/// Only names of one library's own backups take part; a person's copy under another name is nobody's to remove.
struct BackupRotation {
    static let keptDays = 7
    static let keptWeeks = 4

    /// What the names of a library's backups begin with, up to the stamp: `library-`.
    let prefix: String

    /// `library-2026-11-21T120000Z.sqlite`
    func name(at now: Date) -> String { prefix + stamp(now) + Self.ending }

    /// - Returns: when a backup of that name was begun; `nil` when the name is none of ours.
    func instant(of name: String) -> Date? {
        guard name.hasPrefix(prefix), name.hasSuffix(Self.ending),
            name.utf8.count == prefix.utf8.count + Self.stampLength + Self.ending.utf8.count
        else { return nil }
        return Self.instant(stamp: name.dropFirst(prefix.count).prefix(Self.stampLength))
    }

    /// The names that may go.
    ///
    /// A backup dated later than `now` neither goes nor counts: it was made by a clock that was ahead, or it is a good one and this
    /// clock is behind. So however wrong the clock, what is there is not cleared away, and the one just made is always among those
    /// that stay.
    ///
    /// - Parameters:
    ///   - names: of files in one folder, in any order.
    ///   - now: the instant of the backup that was just made.
    func surplus(_ names: [String], now: Date) -> [String] {
        let limit = now.milliseconds / 1000
        let own = names.compactMap { name -> (name: String, second: Int64)? in
            guard let second = instant(of: name).map({ $0.milliseconds / 1000 }), second <= limit else { return nil }
            return (name, second)
        }.sorted { ($0.second, $0.name) > ($1.second, $1.name) }
        var days: [Int64] = []
        var weeks: [Int64] = []
        return own.filter { backup in
            let day = Int64((Double(backup.second) / 86_400).rounded(.down))
            // 1970-01-01 was a Thursday: three days later a week ends.
            let week = Int64((Double(day + 3) / 7).rounded(.down))
            let isDaily = days.last != day && days.count < Self.keptDays
            if isDaily { days.append(day) }
            let isWeekly = weeks.last != week && weeks.count < Self.keptWeeks
            if isWeekly { weeks.append(week) }
            return !isDaily && !isWeekly
        }.map(\.name)
    }

    static let ending = ".sqlite"
    private static let stampLength = "2026-11-21T120000Z".utf8.count

    /// The instant that ``stamp(_:)`` wrote.
    static func instant(stamp text: some StringProtocol) -> Date? {
        let text = Array(text.utf8)
        guard text.count == stampLength, text[10] == UInt8(ascii: "T"), text[17] == UInt8(ascii: "Z"),
            let day = CalendarDay(String(decoding: text[..<10], as: UTF8.self))?.number
        else { return nil }
        let clock = text[11..<17]
        guard clock.allSatisfy({ (48...57).contains($0) }) else { return nil }
        let digits = clock.map { Int($0) - 48 }
        let (hours, minutes, seconds) = (
            digits[0] * 10 + digits[1], digits[2] * 10 + digits[3], digits[4] * 10 + digits[5]
        )
        guard hours < 24, minutes < 60, seconds < 60 else { return nil }
        return Date(timeIntervalSince1970: Double(day * 86_400 + hours * 3600 + minutes * 60 + seconds))
    }
}

/// `2026-11-21T021500Z`
func stamp(_ now: Date) -> String { now.ISO8601Format().replacing(":", with: "") }
