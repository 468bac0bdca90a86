/// A year as its reader looks back on it. It has no notes, tags or shelves, because a person may show it to others.
public struct YearReview: Sendable, Equatable {
    /// A book that was finished in the year.
    public struct YearBook: Sendable, Equatable {
        public var book: CountedBook
        /// The date of finishing, which may be only the year or a month. If the book was finished several times in the
        /// year, it is the first of these dates.
        public var finished: CalendarDay
        /// The reader's rating in stars.
        public var rating: Double?
        public var pageCount: Int?

        public init(book: CountedBook, finished: CalendarDay, rating: Double?, pageCount: Int?) {
            (self.book, self.finished, self.rating, self.pageCount) = (book, finished, rating, pageCount)
        }
    }

    public var year: Int
    /// The sums of the year's days. The books are counted in ``counts``, where a book that was read twice counts once.
    public var totals: Totals
    public var counts: ReadBooks
    /// The books in the order in which they were finished; those without a month come last. At most ``mostBooks``.
    public var books: [YearBook]
    /// The first and the last book of those whose month is known.
    public var first: YearBook?
    public var last: YearBook?
    /// The books with the most and the fewest pages. There is no shortest one unless several page counts are known.
    public var longest: YearBook?
    public var shortest: YearBook?
    /// The books with the highest ratings from ``leastFavourite`` on, highest first, at most ``mostFavourites``.
    public var favourites: [YearBook]
    /// The longest run of days with reading in the year.
    public var streak: Int
    /// The challenge of the year, as the yearly goal is now; `nil` without a goal.
    public var challenge: Challenge?

    public static let mostBooks = 150
    public static let mostFavourites = 5
    /// The lowest rating of a favourite, in stars.
    public static let leastFavourite = 4.0

    /// - Parameters:
    ///   - days: the days on which anything was read; days of other years are ignored.
    ///   - finishes: the finished readings by date; readings finished in other years are ignored.
    ///   - books: all books of the year in the order of their dates.
    ///   - yearlyGoal: the number of books to finish per year; `nil` for no goal.
    public init(
        year: Int, days: [DayStats], finishes: [Finishes], counts: ReadBooks, books: [YearBook], yearlyGoal: Int?,
        today: CalendarDay
    ) {
        let stats = YearStats(year: year, days, finishes)
        (self.year, totals, self.counts) = (year, stats.totals, counts)
        let dated = books.filter { $0.finished.month != nil }
        self.books = Array((dated + books.filter { $0.finished.month == nil }).prefix(Self.mostBooks))
        (first, last) = (dated.first, dated.count > 1 ? dated.last : nil)
        let measured = books.filter { $0.pageCount ?? 0 > 0 }
        longest = measured.max { $0.pageCount ?? 0 < $1.pageCount ?? 0 }
        shortest = measured.count > 1 ? measured.min { $0.pageCount ?? 0 < $1.pageCount ?? 0 } : nil
        favourites = Array(
            books.enumerated().filter { $0.element.rating ?? 0 >= Self.leastFavourite }
                .sorted { ($1.element.rating ?? 0, $0.offset) < ($0.element.rating ?? 0, $1.offset) }
                .prefix(Self.mostFavourites).map(\.element))
        streak = Streaks(days.lazy.filter { $0.day.year == year }.map(\.day), today: today).longest
        let done = stats.totals.booksFinished
        challenge = yearlyGoal.map { Challenge(year: year, goal: $0, done: done, today: today) }
    }

    /// True if nothing was read or finished in the year.
    public var isEmpty: Bool { counts.all.books == 0 && totals.daysRead == 0 }
}
