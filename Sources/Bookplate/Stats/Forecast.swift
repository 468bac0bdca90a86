/// A forecast of the day on which a reading will be finished, by its recent pace and by the daily goal.
public struct Forecast: Sendable, Equatable {
    /// The number of pages left to read; `nil` if the current page or the page count is unknown.
    public var remaining: Int?
    /// The recent pages per day; `nil` if nothing was read recently.
    public var pagesPerDay: Double?
    /// The day on which the reader will finish at the recent pace; `nil` if there is no forecast by pace.
    public var byPace: CalendarDay?
    /// The day on which the reader will finish by reading as many pages per day as the daily goal: the copy's own goal
    /// or, if it has none, the library's. `nil` without a goal.
    public var byGoal: CalendarDay?
    /// The daily goal in pages.
    public var goal: Int?
    /// The reason why there is no forecast by pace; `nil` if there is one.
    public var reason: Reason?
    /// The number of days from today to ``byPace``.
    public var daysByPace: Int?
    /// The number of days from today to ``byGoal``.
    public var daysByGoal: Int?

    /// A reason why there is no forecast by pace. Raw values are printed.
    public enum Reason: String, Sendable, CaseIterable {
        case notReading, noPageCount, noProgress, noPace, tooSlow

        /// The reason as a part of a sentence for people.
        public var explanation: String {
            switch self {
            case .notReading: "the book is not being read"
            case .noPageCount: "the page count is not known"
            case .noProgress: "no page has been recorded yet"
            case .noPace: "nothing was read in the last \(Forecast.patience) days"
            case .tooSlow: "at this pace it would take more than ten years"
            }
        }
    }

    /// The maximum number of days from which the recent pace is computed. Days on which no page was read are not among
    /// them.
    public static let recentDays = 7
    /// The number of days during which a day of reading counts towards the recent pace.
    public static let patience = 30
    private static let mostDays = 3_653

    /// - Parameters:
    ///   - isReading: true if the copy's status is Reading and this is its current reading.
    ///   - progress: the amount of the latest entry; `nil` if there is no entry.
    ///   - days: the days of this reading, oldest first.
    ///   - goal: the daily goal in pages: the copy's own goal, or else the library's.
    public init(
        isReading: Bool, progress: ProgressEntry.Amount?, pageCount: Int?, days: [DayStats], goal: Int?,
        today: CalendarDay
    ) {
        self.goal = goal
        guard isReading else {
            reason = .notReading
            return
        }
        pagesPerDay = Self.recentPagesPerDay(days, today: today)
        guard let pageCount, pageCount > 0 else {
            reason = .noPageCount
            return
        }
        guard let position = progress?.position(pageCount: pageCount), let number = today.number else {
            reason = .noProgress
            return
        }
        let remaining = max(0, min(pageCount, StatsLimit.pages) - position)
        self.remaining = remaining
        func length(at speed: Double) -> Int? {
            let length = (Double(remaining) / speed).rounded(.up)
            return length <= Double(Self.mostDays) ? Int(length) : nil
        }
        if let goal, goal > 0 { daysByGoal = length(at: Double(goal)) }
        byGoal = daysByGoal.map { CalendarDay(number: number + $0) }
        guard let pagesPerDay else {
            reason = .noPace
            return
        }
        daysByPace = length(at: pagesPerDay)
        byPace = daysByPace.map { CalendarDay(number: number + $0) }
        if byPace == nil { reason = .tooSlow }
    }

    /// The day on which the reader will finish: ``byPace`` or, without one, ``byGoal``.
    public var finish: CalendarDay? { byPace ?? byGoal }

    /// Returns the mean number of pages read per day in recent days. Among the last ``patience`` days, it uses the last
    /// ``recentDays`` days on which pages were read. The sum of their pages is divided by the number of calendar days
    /// from the first of them to today, or to yesterday if nothing was read today.
    public static func recentPagesPerDay(_ days: [DayStats], today: CalendarDay) -> Double? {
        guard let number = today.number else { return nil }
        let recent = days.compactMap { day in day.day.number.map { (number: $0, pages: day.pages) } }
            .filter { $0.pages > 0 && $0.number <= number && $0.number > number - patience }.suffix(recentDays)
        guard let first = recent.first, let last = recent.last else { return nil }
        let end = last.number == number ? number : number - 1
        return Double(recent.reduce(0) { $0 + $1.pages }) / Double(max(1, end - first.number + 1))
    }

    /// The forecast as a sentence for people: "At your pace, you'll finish in 3 days", or else a sentence about the
    /// goal, or else the reason why there is no forecast.
    public var sentence: String {
        func when(_ days: Int) -> String {
            switch days {
            case 0: "today"
            case 1: "tomorrow"
            default: "in \(days) days"
            }
        }
        if let daysByPace { return "At your pace, you'll finish \(when(daysByPace))" }
        if let daysByGoal, let goal {
            return "At \(goal) page\(goal == 1 ? "" : "s") per day, you'll finish \(when(daysByGoal))"
        }
        return "No forecast: " + (reason ?? .noPace).explanation
    }
}

extension Reading {
    /// The number of days from start to finish, 0 for the same day; `nil` unless both are full dates and the finish is
    /// not before the start.
    public var daysToRead: Int? {
        guard let first = started?.number, let last = finished?.number, last >= first else { return nil }
        return last - first
    }

    /// Returns the pages per day from start to finish, counting both of these days; `nil` if ``daysToRead`` or the page
    /// count is unknown.
    public func pagesPerDay(pageCount: Int?) -> Double? {
        guard state == .finished, let daysToRead, let pageCount, pageCount > 0 else { return nil }
        return Double(min(pageCount, StatsLimit.pages)) / Double(daysToRead + 1)
    }
}
