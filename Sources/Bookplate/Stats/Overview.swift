/// The statistics of the library. All formulas: docs/tracker.md, "Formulas".
public struct Overview: Sendable, Equatable {
    public var today: CalendarDay
    /// The period of ``totals`` and ``days``.
    public var period: Period
    public var totals: Totals
    /// The days with reading in the period, oldest first.
    public var days: [DayStats]
    /// The reading of today, in all books.
    public var todayStats: DayStats
    /// The mean pages an hour over the last ``recentSessions`` sessions with a pace.
    public var recentPace: Double?
    public var streaks: Streaks
    /// `nil` without a yearly goal.
    public var challenge: Challenge?
    /// The library's goal; `nil` without one.
    public var dailyGoal: DailyGoal?
    /// In order of the categories, without category last.
    public var culturalGoals: [CulturalGoal]
    /// Newest first.
    public var years: [YearStats]
    /// Readings finished at an unknown date.
    public var dateUnknown: Finishes
    public var ratings: Ratings
    public var counts: LibraryCounts
    /// The longest pauses first, at most ``mostPauses``.
    public var pauses: [PausedBook]
    /// The number of paused books.
    public var pauseCount: Int

    /// The number of sessions that make the recent pace.
    public static let recentSessions = 10
    /// The number of pauses listed.
    public static let mostPauses = 20

    /// - Parameters:
    ///   - days: the days of the whole library, oldest first.
    ///   - finishes: by date, in any order.
    ///   - yearlyGoal: books a year; `nil` for none.
    ///   - dailyGoal: pages a day; `nil` for none.
    ///   - challengeYear: the year of the challenge shown.
    public init(
        period: Period, days: [DayStats], finishes: [Finishes], recentPace: Double?, yearlyGoal: Int?,
        dailyGoal: Int?, challengeYear: Int, culturalGoals: [CulturalGoal], ratings: Ratings, counts: LibraryCounts,
        pauses: [PausedBook], pauseCount: Int, today: CalendarDay
    ) {
        self.today = today
        self.period = period
        totals = Totals(days, finishes, in: period)
        self.days = days.filter { period.contains($0.day) }
        todayStats = days.last { $0.day == today } ?? DayStats(day: today)
        self.recentPace = recentPace
        streaks = Streaks(days.lazy.map(\.day), today: today)
        years = YearStats.years(days, finishes)
        let done = years.first { $0.year == challengeYear }?.totals.booksFinished ?? 0
        challenge = yearlyGoal.map { Challenge(year: challengeYear, goal: $0, done: done, today: today) }
        self.dailyGoal = dailyGoal.map { DailyGoal(goal: $0, days: days, today: today) }
        self.culturalGoals = culturalGoals
        dateUnknown = finishes.reduce(into: Finishes(date: nil, books: 0)) { sum, finish in
            guard finish.date == nil else { return }
            sum.books += finish.books
            sum.pages += finish.pages
        }
        self.ratings = ratings
        self.counts = counts
        self.pauses = pauses
        self.pauseCount = pauseCount
    }
}

/// The distribution of ratings over copies.
public struct Ratings: Sendable, Equatable {
    /// Copies by quarter stars: index 0 is 0.25, index 19 is 5.
    public private(set) var byQuarter = [Int](repeating: 0, count: 20)

    /// - Parameter counts: copies by quarters, 1 to 20; other keys are ignored.
    public init(_ counts: [Int: Int]) {
        for (quarters, count) in counts where (1...20).contains(quarters) { byQuarter[quarters - 1] = count }
    }

    public var count: Int { byQuarter.reduce(0, +) }

    /// Copies by whole stars, under 1 to 5: index 4 is 4 to below 5, index 5 is 5.
    public var byStar: [Int] {
        byQuarter.enumerated().reduce(into: [Int](repeating: 0, count: 6)) { stars, quarter in
            stars[(quarter.offset + 1) / 4] += quarter.element
        }
    }

    /// In stars; `nil` if nothing is rated.
    public var mean: Double? {
        let sum = byQuarter.enumerated().reduce(0) { $0 + ($1.offset + 1) * $1.element }
        return count > 0 ? Double(sum) / 4 / Double(count) : nil
    }
}

/// The number of copies of each kind, without the trash.
public struct LibraryCounts: Sendable, Equatable {
    public var copies = 0
    public var owned = 0
    public var wishlist = 0
    public var favourites = 0
    public var byStatus: [Copy.Status: Int] = [:]
    /// By format; the key `nil` counts unknown formats.
    public var byFormat: [Metadata.Format?: Int] = [:]
    /// Most copies first, then in order of the codes.
    public var byLanguage: [LanguageCount] = []

    public init() {}
}

/// Copies in one language.
public struct LanguageCount: Sendable, Equatable {
    /// ISO 639; `nil` if unknown.
    public var language: String?
    public var copies: Int

    public init(language: String?, copies: Int) {
        self.language = language
        self.copies = copies
    }
}
