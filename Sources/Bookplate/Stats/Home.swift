import FoundationEssentials

/// The contents of the home page.
public struct Home: Sendable, Equatable {
    public var today: CalendarDay
    /// Most recent activity first.
    public var readingNow: [ReadingNow]
    /// The number of books being read, including those beyond the limit.
    public var readingCount: Int
    /// By finish date, latest first; those without one last, most recently marked first.
    public var recentlyRead: [RecentlyRead]

    public init(today: CalendarDay, readingNow: [ReadingNow], readingCount: Int, recentlyRead: [RecentlyRead]) {
        self.today = today
        self.readingNow = readingNow
        self.readingCount = readingCount
        self.recentlyRead = recentlyRead
    }

    /// Shown instead of an empty list.
    public static let nothingReading = "No books currently reading"
    public static let nothingRead = "No books read yet"

    /// The text to show if ``recentlyRead`` is empty.
    public var recentlyReadEmpty: String {
        let isReadAgain = readingNow.contains { $0.book.copy.readings.contains { $0.state == .finished } }
        return isReadAgain ? "What was read is being read again" : Self.nothingRead
    }
}

/// A book in Reading.
public struct ReadingNow: Sendable, Equatable {
    public var book: Book
    public var forecast: Forecast
    public var pause: Pause?
    /// The session that is running in this reading.
    public var running: Session?
    /// The time of the latest entry or session, automatic or not; `nil` if there is none.
    public var lastActivity: Date?
    public var pagesToday: Int

    public init(
        book: Book, forecast: Forecast, pause: Pause?, running: Session?, lastActivity: Date?, pagesToday: Int
    ) {
        self.book = book
        self.forecast = forecast
        self.pause = pause
        self.running = running
        self.lastActivity = lastActivity
        self.pagesToday = pagesToday
    }

    public var pageCount: Int? { book.edition.metadata.pageCount }
    public var progress: ProgressEntry.Amount? { book.copy.reading?.progress?.amount }
    /// 0 to 1; `nil` if unknown.
    public var fraction: Double? { progress?.fraction(of: pageCount) }
}

/// A book that was read.
public struct RecentlyRead: Sendable, Equatable {
    public var book: Book
    /// May be only a month or year; `nil` if unknown.
    public var finished: CalendarDay? { book.copy.reading?.finished }
    public var daysToRead: Int? { book.copy.reading?.daysToRead }

    public init(book: Book) { self.book = book }
}
