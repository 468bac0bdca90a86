/// A span of days, including its first and last day. Without a first day, the span also includes all earlier days;
/// without a last day, all later ones.
public struct Period: Sendable, Equatable {
    public var from: CalendarDay?
    public var to: CalendarDay?

    /// - Parameters:
    ///   - from: the first day; `nil` to include all earlier days. A month or year stands for its first day: 2025 means
    ///     1 January 2025.
    ///   - to: the last day; `nil` to include all later days. A month or year stands for its last day: 2025 means 31
    ///     December 2025.
    public init(from: CalendarDay? = nil, to: CalendarDay? = nil) {
        self.from = from.map { CalendarDay(number: $0.span.lowerBound) }
        self.to = to.map { CalendarDay(number: $0.span.upperBound) }
    }

    /// Creates the period of all days that a year, month or day covers.
    public init(_ date: CalendarDay) { self.init(from: date, to: date) }

    /// The period that contains all days.
    public static let all = Period()

    /// Returns true if the date is certain to lie in the period. For a partial date, every day that it can mean must
    /// lie in the period.
    public func contains(_ date: CalendarDay) -> Bool {
        let span = date.span
        return (from?.number).map { $0 <= span.lowerBound } ?? true
            && (to?.number).map { $0 >= span.upperBound } ?? true
    }

    /// Returns true if the date may lie in the period. For a partial date, it is enough if one of the days that it can
    /// mean lies in the period: both 2024-03 and 2024 may lie in 2024-03-10 to 2024-03-20.
    public func mayContain(_ date: CalendarDay) -> Bool {
        let span = date.span
        return (from?.number).map { $0 <= span.upperBound } ?? true
            && (to?.number).map { $0 >= span.lowerBound } ?? true
    }
}

/// The readings that were finished on one date.
public struct Finishes: Sendable, Equatable {
    /// The date, which may be only a year or month; `nil` if unknown.
    public var date: CalendarDay?
    /// The number of readings. A book that was read again counts again.
    public var books: Int
    /// The sum of the page counts of the books; an unknown page count adds 0.
    public var pages: Int

    public init(date: CalendarDay?, books: Int = 1, pages: Int = 0) {
        self.date = date
        self.books = books
        self.pages = pages
    }
}

/// The totals of a set of days, such as a month or a year.
public struct Totals: Sendable, Equatable {
    public var minutes = 0
    public var pages = 0
    public var sessions = 0
    /// The number of days with a session or a manual progress entry.
    public var daysRead = 0
    /// The mean pace of the sessions with a known pace, in pages read per hour; `nil` if there are none.
    public var pace: Double?
    public var booksFinished = 0
    /// The sum of the page counts of the finished books.
    public var bookPages = 0

    public init() {}

    /// Creates the totals of all days and finished readings that are certain to lie in the period.
    public init(_ days: some Sequence<DayStats>, _ finishes: some Sequence<Finishes>, in period: Period) {
        var mean = Mean()
        for day in days where period.contains(day.day) {
            minutes += day.minutes
            pages += day.pages
            sessions += day.sessions
            daysRead += 1
            mean.add(day.pace)
        }
        pace = mean.value
        for finish in finishes where finish.date.map(period.contains) ?? (period == .all) {
            booksFinished += finish.books
            bookPages += finish.pages
        }
    }
}

/// The statistics of one year.
public struct YearStats: Sendable, Equatable {
    public var year: Int
    public var totals: Totals
    /// The totals of the months from January to December.
    public var months: [Totals]
    /// The books that were finished in an unknown month of this year, and their pages.
    public var monthUnknown: Finishes

    /// Returns the statistics of every year in which anything was read or finished, newest first.
    public static func years(_ days: [DayStats], _ finishes: [Finishes]) -> [YearStats] {
        let daysByYear = Dictionary(grouping: days, by: \.day.year)
        let finishesByYear = Dictionary(grouping: finishes.filter { $0.date != nil }, by: { $0.date?.year ?? 0 })
        return Set(daysByYear.keys).union(finishesByYear.keys).sorted(by: >).map { year in
            YearStats(year: year, daysByYear[year] ?? [], finishesByYear[year] ?? [])
        }
    }

    /// - Parameters:
    ///   - days: the days on which anything was read; days of other years are ignored.
    ///   - finishes: the finished readings by date; readings finished in other years are ignored.
    public init(year: Int, _ days: [DayStats], _ finishes: [Finishes]) {
        self.year = year
        let days = days.filter { $0.day.year == year }
        let finishes = finishes.filter { $0.date?.year == year }
        totals = Totals(days, finishes, in: .all)
        months = (1...12).map { month in
            Totals(days.filter { $0.day.month == month }, finishes.filter { $0.date?.month == month }, in: .all)
        }
        let unknown = finishes.filter { $0.date?.month == nil }
        monthUnknown = Finishes(
            date: CalendarDay(year: year), books: unknown.reduce(0) { $0 + $1.books },
            pages: unknown.reduce(0) { $0 + $1.pages })
    }
}

/// The summary of the current year on the home page. It is a part of ``Overview``.
public struct YearSoFar: Sendable, Equatable {
    public var today: CalendarDay
    /// The totals of this year.
    public var totals: Totals
    /// Today's statistics, for all books together.
    public var todayStats: DayStats
    /// The length of the current streak in days, as in ``Streaks/current``. The streak may have begun in an earlier
    /// year.
    public var streak: Int
    /// The annual challenge; `nil` without a yearly goal.
    public var challenge: Challenge?
    /// The daily goal in pages; `nil` without a goal.
    public var dailyGoal: Int?
    /// The readings that were started, finished or stopped on this day in earlier years, latest year first, at most
    /// ``mostMemories``.
    public var memories: [Memory]

    /// The maximum number of memories that are shown.
    public static let mostMemories = 3

    /// - Parameters:
    ///   - days: the days on which anything was read, at least those of this year, oldest first.
    ///   - finishes: the readings finished this year, by date.
    ///   - yearlyGoal: the number of books to finish per year; `nil` for no goal.
    ///   - dailyGoal: the number of pages to read per day; `nil` for no goal.
    public init(
        today: CalendarDay, days: [DayStats], finishes: [Finishes], yearlyGoal: Int?, dailyGoal: Int?,
        memories: [Memory]
    ) {
        self.today = today
        totals = CalendarDay(year: today.year).map { Totals(days, finishes, in: Period($0)) } ?? Totals()
        todayStats = days.last { $0.day == today } ?? DayStats(day: today)
        streak = Streaks(days.lazy.map(\.day), today: today).current
        let done = totals.booksFinished
        challenge = yearlyGoal.map { Challenge(year: today.year, goal: $0, done: done, today: today) }
        self.dailyGoal = dailyGoal
        self.memories = memories
    }
}
