/// The statistics of the library. All formulas are in docs/tracker.md, "Formulas".
public struct Overview: Sendable, Equatable {
    public var today: CalendarDay
    /// The period that ``totals`` and ``days`` cover.
    public var period: Period
    public var totals: Totals
    /// The days in the period on which anything was read, oldest first.
    public var days: [DayStats]
    /// Today's statistics, for all books together.
    public var todayStats: DayStats
    /// The mean pace of the last ``recentSessions`` sessions with a known pace, in pages read per hour.
    public var recentPace: Double?
    public var streaks: Streaks
    /// The annual challenge; `nil` without a yearly goal.
    public var challenge: Challenge?
    /// The daily goal of the library; `nil` if none is set.
    public var dailyGoal: DailyGoal?
    /// The cultural goals in the order of their categories; books without a category come last.
    public var culturalGoals: [CulturalGoal]
    /// The statistics of each year, newest first.
    public var years: [YearStats]
    /// The readings that were finished on an unknown date.
    public var dateUnknown: Finishes
    public var ratings: Ratings
    public var counts: LibraryCounts
    /// The paused books, longest pauses first, at most ``mostPauses``.
    public var pauses: [PausedBook]
    /// The number of paused books.
    public var pauseCount: Int

    public var goals: Goals { Goals(challenge: challenge, daily: dailyGoal, cultural: culturalGoals) }

    /// The number of sessions from which the recent pace is computed.
    public static let recentSessions = 10
    /// The maximum number of paused books that are listed.
    public static let mostPauses = 20

    /// - Parameters:
    ///   - days: the days on which anything was read in the whole library, oldest first.
    ///   - finishes: the finished readings by date, in any order.
    ///   - yearlyGoal: the number of books to finish per year; `nil` for no goal.
    ///   - dailyGoal: the number of pages to read per day; `nil` for no goal.
    ///   - challengeYear: the year of the challenge that is shown.
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

/// The number of copies with each rating.
public struct Ratings: Sendable, Equatable {
    /// The number of copies by quarter stars: index 0 is for 0.25 stars, index 19 for 5 stars.
    public private(set) var byQuarter = [Int](repeating: 0, count: 20)

    /// - Parameter counts: the number of copies by quarter stars, 1 to 20; other keys are ignored.
    public init(_ counts: [Int: Int]) {
        for (quarters, count) in counts where (1...20).contains(quarters) { byQuarter[quarters - 1] = count }
    }

    public var count: Int { byQuarter.reduce(0, +) }

    /// The number of copies by whole stars: index 0 is for less than one star, index 4 for at least 4 but less than 5
    /// stars, index 5 for 5 stars.
    public var byStar: [Int] {
        byQuarter.enumerated().reduce(into: [Int](repeating: 0, count: 6)) { stars, quarter in
            stars[(quarter.offset + 1) / 4] += quarter.element
        }
    }

    /// The mean rating in stars; `nil` if nothing is rated.
    public var mean: Double? {
        let sum = byQuarter.enumerated().reduce(0) { $0 + ($1.offset + 1) * $1.element }
        return count > 0 ? Double(sum) / 4 / Double(count) : nil
    }
}

/// The number of copies of each kind, without copies in the trash.
public struct LibraryCounts: Sendable, Equatable {
    public var copies = 0
    public var owned = 0
    public var wishlist = 0
    public var favourites = 0
    public var byStatus: [Copy.Status: Int] = [:]
    /// The number of copies by format; the key `nil` is for copies of unknown format.
    public var byFormat: [Metadata.Format?: Int] = [:]
    /// The number of copies by language, most copies first. Languages with equal numbers are sorted by code.
    public var byLanguage: [LanguageCount] = []

    public init() {}
}

/// The number of copies in one language.
public struct LanguageCount: Sendable, Equatable {
    /// The ISO 639 code of the language; `nil` if unknown.
    public var language: String?
    public var copies: Int

    public init(language: String?, copies: Int) {
        self.language = language
        self.copies = copies
    }
}

extension Copy.Status {
    /// All statuses. For all readers together, a copy has the last of these that any reader gives it: it counts as
    /// being read if anybody reads it, and as read if somebody has read it and nobody reads it or has it on hold.
    public static let forEverybody: [Copy.Status] = [.toRead, .dnf, .read, .onHold, .reading]
}
