import FoundationEssentials

/// What the first page shows.
public struct Home: Sendable, Equatable {
    public var today: CalendarDay
    /// The newest activity first.
    public var readingNow: [ReadingNow]
    /// How many are being read, also those beyond the limit.
    public var readingCount: Int
    /// By finished date, the latest first; those without one last, the latest marked first.
    public var recentlyRead: [RecentlyRead]

    public init(today: CalendarDay, readingNow: [ReadingNow], readingCount: Int, recentlyRead: [RecentlyRead]) {
        self.today = today
        self.readingNow = readingNow
        self.readingCount = readingCount
        self.recentlyRead = recentlyRead
    }

    /// What stands in place of an empty list.
    public static let nothingReading = "No books currently reading"
    public static let nothingRead = "No books read yet"

    /// What stands in place of ``recentlyRead`` where it is empty.
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
    /// The session that runs in this reading now.
    public var running: Session?
    /// The latest entry or session, whoever made it; `nil` when there is none.
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
    /// 0 to 1; `nil` when it is not known.
    public var fraction: Double? { progress?.fraction(of: pageCount) }
}

/// A book that was read.
public struct RecentlyRead: Sendable, Equatable {
    public var book: Book
    /// Perhaps only month or year; `nil` when nobody said.
    public var finished: CalendarDay? { book.copy.reading?.finished }
    public var daysToRead: Int? { book.copy.reading?.daysToRead }

    public init(book: Book) { self.book = book }
}
