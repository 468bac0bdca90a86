import FoundationEssentials

/// The contents of the home page.
public struct Home: Sendable, Equatable {
    public var today: CalendarDay
    /// The books being read, most recent activity first. For everybody, a book that two readers read is listed for each
    /// of them.
    public var readingNow: [ReadingNow]
    /// The number of books being read, including those that ``readingNow`` leaves out because of its limit.
    public var readingCount: Int
    /// The books that were read, latest finish date first. Books without a finish date come last, those most recently
    /// marked as Read first.
    public var recentlyRead: [RecentlyRead]

    public init(today: CalendarDay, readingNow: [ReadingNow], readingCount: Int, recentlyRead: [RecentlyRead]) {
        self.today = today
        self.readingNow = readingNow
        self.readingCount = readingCount
        self.recentlyRead = recentlyRead
    }

    /// The text to show if ``readingNow`` is empty.
    public static let nothingReading = "No books currently reading"
    /// The text to show if no book has been read.
    public static let nothingRead = "No books read yet"

    /// The text to show if ``recentlyRead`` is empty.
    public var recentlyReadEmpty: String {
        let isReadAgain = readingNow.contains { $0.book.copy.readings.contains { $0.state == .finished } }
        return isReadAgain ? "You are reading all your finished books again" : Self.nothingRead
    }
}

/// A book whose status is Reading.
public struct ReadingNow: Sendable, Equatable {
    public var book: Book
    public var forecast: Forecast
    public var pause: Pause?
    /// The running session of this reading; `nil` if there is none.
    public var running: Session?
    /// The time of the latest session or progress entry, even if the entry is automatic; `nil` if there is neither.
    public var lastActivity: Date?
    public var pagesToday: Int
    /// The reader who reads the book; `nil` on the home page of one reader.
    public var reader: ID<Reader>?

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
    /// The part of the book that was read, 0 to 1; `nil` if unknown.
    public var fraction: Double? { progress?.fraction(of: pageCount) }
}

/// A book that was read.
public struct RecentlyRead: Sendable, Equatable {
    public var book: Book
    /// The reader who has read the book; `nil` on the home page of one reader.
    public var reader: ID<Reader>?
    /// The date of finishing, which may be only a month or year; `nil` if unknown.
    public var finished: CalendarDay? { book.copy.reading?.finished }
    public var daysToRead: Int? { book.copy.reading?.daysToRead }

    public init(book: Book) { self.book = book }
}
