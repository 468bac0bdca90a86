/// The books that were read to the end in a period, counted by what they are. A book counts once, however often it was
/// read in the period, so that each number is the length of a list of books.
public struct ReadBooks: Sendable, Equatable {
    /// A number of books, and the sum of their page counts.
    public struct Count: Sendable, Equatable {
        public var books = 0
        public var pages = 0

        public init() {}

        public mutating func add(pages: Int) {
            books += 1
            self.pages += pages
        }
    }

    /// All books that were read in the period.
    public var all = Count()
    /// The authors of the most books, most books first, at most ``mostNames``. An author's books are those to which the
    /// author contributed in any role.
    public var authors: [NameCount] = []
    /// The number of authors, including those that ``authors`` leaves out.
    public var authorCount = 0
    /// The tags of the most books, most books first, at most ``mostNames``.
    public var tags: [NameCount] = []
    /// The number of books with each length, in the order of ``lengths``.
    public var byLength = [Int](repeating: 0, count: lengths.count)
    /// The number of books without a page count.
    public var lengthUnknown = 0
    /// The number of books by the first year of the decade in which they were published.
    public var byDecade: [Int: Int] = [:]
    /// The number of books without a year of publication.
    public var yearUnknown = 0
    /// Most books first.
    public var languages: [LanguageCount] = []
    /// The key `nil` is for books of unknown format.
    public var byFormat: [Metadata.Format?: Int] = [:]
    /// The number of books that were read once, twice, and so on, in any period. The last number is for
    /// ``mostTimes`` times and more.
    public var byTimes = [Int](repeating: 0, count: mostTimes)
    /// The reader's ratings of the books.
    public var ratings = Ratings([:])

    /// The books of each month of a year, from January to December, and of an unknown month of that year. They do not
    /// depend on the period.
    public var months = [Count](repeating: Count(), count: 12)
    public var monthUnknown = Count()
    /// The books of each year in which any was finished. They do not depend on the period.
    public var years: [Int: Count] = [:]

    public init() {}

    /// The maximum number of names in ``authors`` and in ``tags``.
    public static let mostNames = 10
    /// The number of readings from which on ``byTimes`` does not distinguish.
    public static let mostTimes = 3
    /// The ranges of page counts by which books are counted.
    public static let lengths: [ClosedRange<Int>] = [
        1...99, 100...199, 200...299, 300...399, 400...499, 500...749, 750...999, 1000...Int.max,
    ]
}
