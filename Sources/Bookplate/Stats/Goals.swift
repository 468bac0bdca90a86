/// The goals of the library, and how far they are reached: a small part of the ``Overview``.
public struct Goals: Sendable, Equatable {
    /// The annual challenge; `nil` without a yearly goal.
    public var challenge: Challenge?
    /// The daily goal of the library; `nil` if none is set.
    public var daily: DailyGoal?
    /// The cultural goals in the order of their categories; books without a category come last.
    public var cultural: [CulturalGoal]

    public init(challenge: Challenge?, daily: DailyGoal?, cultural: [CulturalGoal]) {
        (self.challenge, self.daily, self.cultural) = (challenge, daily, cultural)
    }
}

/// The annual challenge: a number of books to finish in a year.
public struct Challenge: Sendable, Equatable {
    public var year: Int
    /// The number of books to finish, from 1.
    public var goal: Int
    /// The number of readings that were finished in the year, including readings for which only the year of finishing
    /// is known.
    public var done: Int
    /// The number of readings that would be finished by the end of today at an even pace: the goal times the elapsed
    /// part of the year, rounded down.
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

    /// The number of books ahead of schedule; negative if behind.
    public var ahead: Int { done - due }
    public var isMet: Bool { done >= goal }
    public var remaining: Int { max(0, goal - done) }

    /// The state of the challenge as a text for people, such as "3 books ahead of schedule, 9 to go".
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

/// A goal of pages per day, for the library or for one book.
public struct DailyGoal: Sendable, Equatable {
    /// The number of pages per day, from 1.
    public var goal: Int
    public var pagesToday = 0
    /// The number of days on which the current goal was met.
    public var daysMet = 0
    /// The number of days in a row on which the goal was met, up to today, or up to yesterday if today's goal is not
    /// met yet.
    public var run = 0

    /// - Parameter days: the days on which anything was read, oldest first; days after `today` are ignored.
    public init(goal: Int, days: [DayStats], today: CalendarDay) {
        self.goal = goal
        let met = days.filter { $0.day <= today && $0.pages >= goal }.map(\.day)
        pagesToday = days.last { $0.day == today }?.pages ?? 0
        daysMet = met.count
        run = Streaks(met, today: today).current
    }

    public var isMetToday: Bool { pagesToday >= goal }
}

/// The cultural goal in one category: the number of books that count towards it, and how many of these were finished.
public struct CulturalGoal: Sendable, Equatable {
    /// The category, such as "African Literature"; `nil` for books without a category.
    public var category: String?
    /// The number of copies that are marked as counting towards the goal.
    public var books: Int
    /// The number of copies, among those counted in ``books``, with a finished reading.
    public var finished: Int
    /// The number of copies, among those counted in ``books``, with a reading that was finished in the year of the
    /// challenge.
    public var finishedThisYear: Int

    public init(category: String?, books: Int, finished: Int, finishedThisYear: Int) {
        self.category = category
        self.books = books
        self.finished = finished
        self.finishedThisYear = finishedThisYear
    }
}
