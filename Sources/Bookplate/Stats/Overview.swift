/// The library in figures. All formulas: docs/tracker.md, "Formulas".
public struct Overview: Sendable, Equatable {
    public var today: CalendarDay
    /// What ``totals`` and ``days`` cover.
    public var period: Period
    public var totals: Totals
    /// The days with reading in the period, oldest first.
    public var days: [DayStats]
    /// What was read today, in all books.
    public var todayFigures: DayStats
    /// Mean pages an hour over the last ``recentSessions`` sessions with a pace.
    public var recentPace: Double?
    public var streaks: Streaks
    /// `nil` without a yearly goal.
    public var challenge: Challenge?
    /// The library's; `nil` without one.
    public var dailyGoal: DailyGoal?
    /// In order of the categories, the nameless last.
    public var culturalGoals: [CulturalGoal]
    /// Newest first.
    public var years: [YearStats]
    /// Readings finished nobody said when.
    public var dateUnknown: Finishes
    public var ratings: Ratings
    public var counts: LibraryCounts
    /// The longest rests first, ``mostPauses`` at the most.
    public var pauses: [PausedBook]
    /// How many books rest in all.
    public var pauseCount: Int

    /// How many sessions make the recent pace.
    public static let recentSessions = 10
    /// How many rests are listed.
    public static let mostPauses = 20

    /// - Parameters:
    ///   - days: of the whole library, oldest first.
    ///   - finishes: by date, in any order.
    ///   - yearlyGoal: books a year; `nil` for none. `dailyGoal`: pages a day.
    ///   - challengeYear: whose challenge is shown.
    public init(
        period: Period, days: [DayStats], finishes: [Finishes], recentPace: Double?, yearlyGoal: Int?,
        dailyGoal: Int?, challengeYear: Int, culturalGoals: [CulturalGoal], ratings: Ratings, counts: LibraryCounts,
        pauses: [PausedBook], pauseCount: Int, today: CalendarDay
    ) {
        self.today = today
        self.period = period
        totals = Totals(days, finishes, in: period)
        self.days = days.filter { period.contains($0.day) }
        todayFigures = days.last { $0.day == today } ?? DayStats(day: today)
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

/// How copies are rated.
public struct Ratings: Sendable, Equatable {
    /// Copies by quarter stars: index 0 is 0.25, index 19 is 5.
    public private(set) var byQuarter = [Int](repeating: 0, count: 20)

    /// - Parameter counts: copies by quarters, 1 to 20; others are passed over.
    public init(_ counts: [Int: Int]) {
        for (quarters, count) in counts where (1...20).contains(quarters) { byQuarter[quarters - 1] = count }
    }

    public var count: Int { byQuarter.reduce(0, +) }

    /// Copies by whole stars, under 1 to 5: index 4 is 4 to under 5, index 5 is 5.
    public var byStar: [Int] {
        byQuarter.enumerated().reduce(into: [Int](repeating: 0, count: 6)) { stars, quarter in
            stars[(quarter.offset + 1) / 4] += quarter.element
        }
    }

    /// In stars; `nil` where nothing is rated.
    public var mean: Double? {
        let sum = byQuarter.enumerated().reduce(0) { $0 + ($1.offset + 1) * $1.element }
        return count > 0 ? Double(sum) / 4 / Double(count) : nil
    }
}

/// How many copies there are of each kind; the trash is not counted.
public struct LibraryCounts: Sendable, Equatable {
    public var copies = 0
    public var owned = 0
    public var wishlist = 0
    public var favourites = 0
    public var byStatus: [Copy.Status: Int] = [:]
    /// By format; `nil` where it is not known.
    public var byFormat: [Metadata.Format?: Int] = [:]
    /// The most copies first, then in order of the codes.
    public var byLanguage: [LanguageCount] = []

    public init() {}
}

/// Copies in one language.
public struct LanguageCount: Sendable, Equatable {
    /// ISO 639; `nil` where it is not known.
    public var language: String?
    public var copies: Int

    public init(language: String?, copies: Int) {
        self.language = language
        self.copies = copies
    }
}
