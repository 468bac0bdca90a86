/// The annual challenge: books a year.
public struct Challenge: Sendable, Equatable {
    public var year: Int
    /// From 1.
    public var goal: Int
    /// Readings finished in the year, also those of which only the year is known.
    public var done: Int
    /// What an even pace would have finished by the end of today: the goal times the part of the year gone by, rounded down.
    public var due: Int

    public init(year: Int, goal: Int, done: Int, today: CalendarDay) {
        self.year = year
        self.goal = goal
        self.done = done
        guard let span = CalendarDay(year: year)?.span, let number = today.number else {
            due = 0
            return
        }
        let gone = min(max(0, number - span.lowerBound + 1), span.count)
        due = goal * gone / span.count
    }

    /// Books ahead of schedule; below zero: behind.
    public var ahead: Int { done - due }
    public var isMet: Bool { done >= goal }
    public var remaining: Int { max(0, goal - done) }

    /// "3 books ahead of schedule".
    public var sentence: String {
        func books(_ count: Int) -> String { "\(count) book\(count == 1 ? "" : "s")" }
        if isMet { return "Challenge met" + (done > goal ? ", \(books(done - goal)) more than the goal" : "") }
        switch ahead {
        case 0: return "On schedule, \(remaining) to go"
        case 1...: return "\(books(ahead)) ahead of schedule, \(remaining) to go"
        default: return "\(books(-ahead)) behind schedule, \(remaining) to go"
        }
    }
}

/// Pages a day, for the library or for one book.
public struct DailyGoal: Sendable, Equatable {
    /// Pages, from 1.
    public var goal: Int
    public var pagesToday = 0
    /// Days on which it was met, as it is set now.
    public var daysMet = 0
    /// Days in a row on which it was met, up to today, or to yesterday while it is not met today.
    public var run = 0

    /// - Parameter days: oldest first; those after `today` do not count.
    public init(goal: Int, days: [DayStats], today: CalendarDay) {
        self.goal = goal
        let met = days.filter { $0.day <= today && $0.pages >= goal }.map(\.day)
        pagesToday = days.last { $0.day == today }?.pages ?? 0
        daysMet = met.count
        run = Streaks(met, today: today).current
    }

    public var isMetToday: Bool { pagesToday >= goal }
}

/// Books that count for a cultural goal, by category.
public struct CulturalGoal: Sendable, Equatable {
    /// "African Literature"; `nil` where none was said.
    public var category: String?
    /// Copies marked as counting.
    public var books: Int
    /// Of these, those with a finished reading.
    public var finished: Int
    /// Of these, those with a reading finished in the year shown.
    public var finishedThisYear: Int

    public init(category: String?, books: Int, finished: Int, finishedThisYear: Int) {
        self.category = category
        self.books = books
        self.finished = finished
        self.finishedThisYear = finishedThisYear
    }
}
