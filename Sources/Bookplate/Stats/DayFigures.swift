import FoundationEssentials

/// What was read on one day. All formulas: docs/tracker.md, "Formulas".
public struct DayFigures: Sendable, Equatable {
    public var day: CalendarDay
    /// Of the sessions begun on it.
    public var minutes = 0
    /// Pages of a day: those of the sessions begun on it, and the steps forward of the progress entries made by hand on it.
    public var pages = 0
    /// Sessions begun on it that have ended.
    public var sessions = 0
    /// Progress entries made by hand on it.
    public var entries = 0
    /// Pages per hour of its sessions.
    public var pace = Mean()

    public init(day: CalendarDay) { self.day = day }

    /// The days of one reading, oldest first; days without reading are left out.
    ///
    /// A session counts on the day on which it began, also over midnight, and its own progress entry counts nothing. An entry
    /// by hand counts the pages from the entry before it, whoever made that, or from page 0; a step back counts none, an
    /// automatic entry none. Percents count by the page count, and say nothing while that is unknown.
    ///
    /// - Parameters:
    ///   - entries: in any order; of two at the same instant the later in the list is the later.
    ///   - pageCount: of the edition; `nil` when unknown.
    public static func days(
        sessions: [Session], entries: [ProgressEntry], pageCount: Int?, in zone: TimeZone
    ) -> [DayFigures] {
        var days: [CalendarDay: DayFigures] = [:]
        func add(to instant: Date, _ change: (inout DayFigures) -> Void) {
            let day = CalendarDay(instant, in: zone)
            change(&days[day, default: DayFigures(day: day)])
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

    /// Adds what was read on the same day elsewhere.
    public mutating func add(_ other: DayFigures) {
        minutes += other.minutes
        pages += other.pages
        sessions += other.sessions
        entries += other.entries
        pace.add(other.pace)
    }
}

/// The most that figures take seriously. Below ``NumberLimit``, which says what is kept: a page count of 500,000 is kept as it was
/// entered, but a slip of the keyboard must not drown the sums of a library.
public enum FigureLimit {
    /// Pages of one book, and so of one step through it.
    public static let pages = 100_000
}

/// An arithmetic mean in the making.
public struct Mean: Sendable, Equatable {
    public var sum = 0.0
    public var count = 0

    public init(sum: Double = 0, count: Int = 0) {
        self.sum = sum
        self.count = count
    }

    /// `nil` of nothing.
    public var value: Double? { count > 0 ? sum / Double(count) : nil }

    public mutating func add(_ value: Double) { add(Mean(sum: value, count: 1)) }

    public mutating func add(_ other: Mean) {
        sum += other.sum
        count += other.count
    }
}

extension ProgressEntry.Amount {
    /// The page reached, never beyond the last; `nil` for percents of an unknown page count.
    public func position(pageCount: Int?) -> Int? {
        let count = pageCount.flatMap { $0 > 0 ? min($0, FigureLimit.pages) : nil }
        return page(of: count).map { min(max(0, $0), count ?? FigureLimit.pages) }
    }
}
