/// The line of the year on the first page: what ``Overview`` says of it, from this year's rows alone.
public struct YearSoFar: Sendable, Equatable {
    public var today: CalendarDay
    /// Of this year.
    public var totals: Totals
    /// What was read today, in all books.
    public var todayFigures: DayFigures
    /// Days in a row with reading, as ``Streaks/current``; they may have begun in an earlier year.
    public var streak: Int
    /// `nil` without a yearly goal.
    public var challenge: Challenge?
    /// Pages a day; `nil` without one.
    public var dailyGoal: Int?
    /// What was started, finished or given up on this day of earlier years, the latest year first, ``mostMemories`` at the most.
    public var memories: [Memory]

    /// How many memories are shown.
    public static let mostMemories = 3

    /// - Parameters:
    ///   - days: of this year at least, oldest first.
    ///   - finishes: of this year, by date.
    ///   - yearlyGoal: books a year; `dailyGoal`: pages a day.
    public init(
        today: CalendarDay, days: [DayFigures], finishes: [Finishes], yearlyGoal: Int?, dailyGoal: Int?,
        memories: [Memory]
    ) {
        self.today = today
        totals = CalendarDay(year: today.year).map { Totals(days, finishes, in: Period($0)) } ?? Totals()
        todayFigures = days.last { $0.day == today } ?? DayFigures(day: today)
        streak = Streaks(days.lazy.map(\.day), today: today).current
        let done = totals.booksFinished
        challenge = yearlyGoal.map { Challenge(year: today.year, goal: $0, done: done, today: today) }
        self.dailyGoal = dailyGoal
        self.memories = memories
    }
}
