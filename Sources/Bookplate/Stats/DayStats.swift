import FoundationEssentials

/// The reading statistics of one day. All formulas are in docs/tracker.md, "Formulas".
public struct DayStats: Sendable, Equatable {
    public var day: CalendarDay
    /// The minutes of the sessions that began on this day.
    public var minutes = 0
    /// The pages of the sessions that began on this day, plus the pages by which manual progress entries on this day
    /// moved forward.
    public var pages = 0
    /// The number of ended sessions that began on this day.
    public var sessions = 0
    /// The number of manual progress entries on this day.
    public var entries = 0
    /// The mean pace of the sessions that began on this day, in pages read per hour.
    public var pace = Mean()

    public init(day: CalendarDay) { self.day = day }

    /// Returns the days of one reading, oldest first, without days on which nothing was read.
    ///
    /// A session belongs to the day on which it began, even if it ended after midnight. The entry that was made
    /// automatically when it ended is not counted as well. A manual entry adds the pages since the previous entry of
    /// either kind, or since page 0. An entry with an earlier page adds nothing. Percentages are converted into pages
    /// with the page count; if it is unknown, they add no pages.
    ///
    /// - Parameters:
    ///   - entries: the progress entries in any order; if two have the same time, the one that comes later in the list
    ///     counts as later.
    ///   - pageCount: the edition's page count; `nil` if unknown.
    public static func days(
        sessions: [Session], entries: [ProgressEntry], pageCount: Int?, in zone: TimeZone
    ) -> [DayStats] {
        var days: [CalendarDay: DayStats] = [:]
        func add(to instant: Date, _ change: (inout DayStats) -> Void) {
            let day = CalendarDay(instant, in: zone)
            change(&days[day, default: DayStats(day: day)])
        }
        for session in sessions {
            guard let minutes = session.minutes else { continue }
            add(to: session.start) { day in
                day.sessions += 1
                day.minutes += minutes
                day.pages += session.pagesRead
                if let pace = session.pace { day.pace.add(pace) }
            }
        }
        var reached = 0
        let inOrder = entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        for (_, entry) in inOrder {
            let position = entry.amount.position(pageCount: pageCount)
            if !entry.isAutomatic, entry.session == nil {
                add(to: entry.at) { day in
                    day.entries += 1
                    day.pages += max(0, (position ?? reached) - reached)
                }
            }
            reached = position ?? reached
        }
        return days.values.sorted { $0.day < $1.day }
    }

    /// Adds the figures of another reading for the same day.
    public mutating func add(_ other: DayStats) {
        minutes += other.minutes
        pages += other.pages
        sessions += other.sessions
        entries += other.entries
        pace.add(other.pace)
    }
}

/// The upper limits for numbers in statistics. They are lower than the limits for storage (``NumberLimit``): a page
/// count of 500,000 is stored as entered, but such a typing error must not distort the sums of a library.
public enum StatsLimit {
    /// The maximum number of pages of one book, and therefore of one step of progress through a book.
    public static let pages = 100_000
}

/// An arithmetic mean to which values can be added.
public struct Mean: Sendable, Equatable {
    public var sum = 0.0
    public var count = 0

    public init(sum: Double = 0, count: Int = 0) {
        self.sum = sum
        self.count = count
    }

    /// The mean; `nil` if there are no values.
    public var value: Double? { count > 0 ? sum / Double(count) : nil }

    public mutating func add(_ value: Double) { add(Mean(sum: value, count: 1)) }

    public mutating func add(_ other: Mean) {
        sum += other.sum
        count += other.count
    }
}

extension ProgressEntry.Amount {
    /// Returns the page that was reached, but at most the last page; `nil` for a percentage if the page count is
    /// unknown.
    public func position(pageCount: Int?) -> Int? {
        let count = pageCount.flatMap { $0 > 0 ? min($0, StatsLimit.pages) : nil }
        return page(of: count).map { min(max(0, $0), count ?? StatsLimit.pages) }
    }
}

/// Streaks, that is, unbroken runs of days on which anything was read. A day counts if a session began on it, or if it
/// has a manual progress entry.
public struct Streaks: Sendable, Equatable {
    /// The length in days of the streak that reaches up to today, or up to yesterday if nothing has been read today; 0
    /// if there is none.
    public var current = 0
    public var longest = 0
    /// The last day of the longest streak; if several streaks are equally long, the last day of the latest one.
    public var longestEnd: CalendarDay?
    public var readToday = false

    /// - Parameter days: the days on which anything was read, oldest first; days after `today` are ignored.
    public init(_ days: some Sequence<CalendarDay>, today: CalendarDay) {
        guard let todayNumber = today.number else { return }
        var run = 0
        var last: Int?
        for day in days {
            guard let number = day.number, number <= todayNumber, number != last else { continue }
            run = last == number - 1 ? run + 1 : 1
            last = number
            if run >= longest { (longest, longestEnd) = (run, day) }
        }
        guard let last else { return }
        readToday = last == todayNumber
        current = last >= todayNumber - 1 ? run : 0
    }
}

/// The offsets of a time zone from UTC as a list of spans. Database queries use this list, because they cannot query
/// the time zone for every row.
public struct LocalDays: Sendable, Equatable {
    /// A span of time in which one offset from UTC applies. It lasts from an instant (in milliseconds since 1970) to
    /// the start of the next span. The offset is in milliseconds too.
    public struct Span: Sendable, Equatable {
        public var from: Int64
        public var offset: Int64
    }

    /// The spans, oldest first; there is at least one. The first span also applies before its beginning, and the last
    /// has no end.
    public let spans: [Span]

    /// - Parameters:
    ///   - first: the earliest instant needed. Before 1900 and after 2100 the nearest offset is used.
    ///   - last: the latest instant needed.
    public init(in zone: TimeZone, from first: Date, through last: Date) {
        let bounds = -2_208_988_800...4_102_444_800
        func bounded(_ date: Date) -> Int {
            Int(min(max(date.timeIntervalSince1970, Double(bounds.lowerBound)), Double(bounds.upperBound)))
        }
        func offset(_ second: Int) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))) }
        func span(_ second: Int) -> Span { Span(from: Int64(second) * 1000, offset: Int64(offset(second)) * 1000) }

        // No time zone has ever changed its clock and changed it back within a week.
        let step = 7 * 86_400
        var known = bounded(first)
        let end = max(known, bounded(last))
        var spans = [span(known)]
        while known < end {
            let next = min(end, known + step)
            if offset(next) != offset(known) {
                var (before, after) = (known, next)
                while after - before > 1 {
                    let middle = before + (after - before) / 2
                    if offset(middle) == offset(known) { before = middle } else { after = middle }
                }
                spans.append(span(after))
            }
            known = next
        }
        self.spans = spans
    }

    /// - Parameter milliseconds: the instant in milliseconds since 1970.
    /// - Returns: the ``CalendarDay/number`` of the local day.
    public func day(_ milliseconds: Int64) -> Int {
        let span = spans.last { $0.from <= milliseconds } ?? spans[0]
        return Int(((Double(milliseconds) + Double(span.offset)) / 86_400_000).rounded(.down))
    }
}
