import FoundationEssentials

/// A book as statistics list it, with enough data to show the book and to find it again.
public struct CountedBook: Sendable, Equatable {
    public var id: ID<Copy>
    public var title: String?
    /// The names of the authors, in the order of the title page.
    public var authors: [String]
    public var isbn: ISBN?
    public var edition: ID<Edition>

    public init(id: ID<Copy>, title: String?, authors: [String], isbn: ISBN?, edition: ID<Edition>) {
        self.id = id
        self.title = title
        self.authors = authors
        self.isbn = isbn
        self.edition = edition
    }

    /// The text to show as the title, as ``Edition/displayTitle(_:_:)`` returns it.
    public var displayTitle: String { Edition.displayTitle(title, isbn) }

    /// The text to show as the authors, as ``Edition/displayAuthors(_:)`` returns it.
    public var displayAuthors: String { Edition.displayAuthors(authors) }
}

/// The statistics of one copy.
public struct BookStats: Sendable, Equatable {
    public var book: CountedBook
    public var status: Copy.Status
    public var pageCount: Int?
    /// The minutes in all readings that are not cancelled. The other sums cover the same readings.
    public var minutes = 0
    public var pages = 0
    public var sessions = 0
    /// The number of days on which the book was read.
    public var daysRead = 0
    /// The mean pace of the sessions with a known pace, in pages read per hour.
    public var pace: Double?
    /// The end of the latest session or the time of the latest manual entry, whichever is later; `nil` if there is
    /// neither.
    public var lastRead: Date?
    /// The copy's own daily goal; `nil` if it has none.
    public var dailyGoal: DailyGoal?
    /// The readings, oldest first, without cancelled readings.
    public var readings: [ReadingStats] = []
    /// The pause; `nil` unless the book's status is Reading and the book is paused.
    public var pause: Pause?

    public init(book: CountedBook, status: Copy.Status, pageCount: Int?) {
        self.book = book
        self.status = status
        self.pageCount = pageCount
    }
}

/// The statistics of one reading.
public struct ReadingStats: Sendable, Equatable {
    public var reading: Reading
    /// The days of the reading, oldest first.
    public var days: [DayStats]
    /// The progress over time: the last entry of each day, oldest first.
    public var points: [ProgressPoint]
    public var forecast: Forecast
    /// The reading speed: the pages per day from start to finish, or else the recent pages per day.
    public var pagesPerDay: Double?

    public init(
        reading: Reading, days: [DayStats], points: [ProgressPoint], forecast: Forecast, pagesPerDay: Double?
    ) {
        self.reading = reading
        self.days = days
        self.points = points
        self.forecast = forecast
        self.pagesPerDay = pagesPerDay
    }

    public var totals: Totals { Totals(days, [], in: .all) }
}

/// One point in the graph of progress over time.
public struct ProgressPoint: Sendable, Equatable {
    public var day: CalendarDay
    public var amount: ProgressEntry.Amount
    /// The part of the book that was read, 0 to 1; `nil` for a page of a book without a page count.
    public var fraction: Double?

    public init(day: CalendarDay, amount: ProgressEntry.Amount, pageCount: Int?) {
        self.day = day
        self.amount = amount
        fraction = amount.fraction(of: pageCount)
    }

    /// Returns the last entry of each day, oldest first.
    public static func points(_ entries: [ProgressEntry], pageCount: Int?, in zone: TimeZone) -> [ProgressPoint] {
        let inOrder = entries.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        var points: [ProgressPoint] = []
        for (_, entry) in inOrder {
            let point = ProgressPoint(
                day: CalendarDay(entry.at, in: zone), amount: entry.amount, pageCount: pageCount)
            if points.last?.day == point.day { points.removeLast() }
            points.append(point)
        }
        return points
    }
}

/// A pause in reading a book: its status is Reading, but it has had no progress entry and no session for at least
/// ``days`` days.
public struct Pause: Sendable, Equatable {
    /// The number of days since the latest progress entry, session or start.
    public var daysSinceLast: Int
    /// The number of days since the start; `nil` unless the day of the start is known.
    public var daysSinceStart: Int?

    /// The number of days after which a book counts as paused.
    public static let days = 30

    /// - Parameters:
    ///   - last: the day of the latest entry or session; `nil` if there is none.
    ///   - started: the date of the start; a month or year counts as its last day.
    ///   - added: the day on which the copy was added, for a reading without any other date.
    /// - Returns: `nil` if the book is not paused.
    public init?(last: CalendarDay?, started: CalendarDay?, added: CalendarDay, today: CalendarDay) {
        guard let number = today.number else { return nil }
        let latest = [last?.number, started?.span.upperBound].compactMap(\.self).max() ?? added.number ?? number
        guard number - latest >= Self.days else { return nil }
        daysSinceLast = number - latest
        daysSinceStart = started?.number.map { number - $0 }
    }

    /// The pause as a sentence for people: "You started this 30 days ago. Do you want to update your progress?"
    public var sentence: String {
        if let daysSinceStart, daysSinceStart == daysSinceLast {
            return "You started this \(daysSinceStart) days ago. Do you want to update your progress?"
        }
        return "Nothing read for \(daysSinceLast) days"
            + (daysSinceStart.map { "; you started this \($0) days ago" } ?? "")
            + ". Do you want to update your progress?"
    }
}

/// A book that is paused.
public struct PausedBook: Sendable, Equatable {
    public var book: CountedBook
    public var pause: Pause

    public init(book: CountedBook, pause: Pause) {
        self.book = book
        self.pause = pause
    }
}
