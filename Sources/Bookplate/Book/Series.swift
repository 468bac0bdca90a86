/// The number of a book in its series, such as "2", "2.5", "Bd. 3" or "3-4" for a volume with two parts.
public struct SeriesNumber: Sendable, Hashable, Comparable {
    /// The number, or that of the first part.
    public let first: Double
    /// The same as ``first``, unless the book has several parts of the series.
    public let last: Double

    /// - Returns: `nil` if the text has no number, such as "A", or one that is not below a million.
    public init?(_ text: String?) {
        guard let text else { return nil }
        var numbers: [Double] = []
        // A comma is a decimal sign only between two digits: "2,5".
        for found in text.prefix(64).matches(of: /[0-9]+(?:[.,][0-9]+)?/).prefix(2) {
            guard let number = Double(found.output.replacing(",", with: ".")), number < 1e6 else { return nil }
            numbers.append(number)
        }
        guard let first = numbers.first else { return nil }
        self.first = first
        let isRange = text.prefix(64).contains(/[0-9]\s*(?:-|–|—|&|\+|\/|\.\.)\s*[0-9]/)
        last = isRange ? max(first, numbers.last ?? first) : first
    }

    public static func < (left: SeriesNumber, right: SeriesNumber) -> Bool {
        (left.first, left.last) < (right.first, right.last)
    }
}

/// The books of a series in order: by number, then by year, then by title. Books without a number come last.
public struct Series: Sendable, Equatable {
    /// The name of the series, spelled as in the first book that has one.
    public let name: String
    public let books: [Book]

    public init(name: String, books: [Book]) {
        self.books = books.map { (key: OrderKey($0), book: $0) }.sorted { $0.key < $1.key }.map(\.book)
        self.name = self.books.first?.edition.metadata.series ?? name
    }

    private struct OrderKey: Comparable {
        let number: SeriesNumber?
        let year: Int
        let title: String
        let id: String

        init(_ book: Book) {
            let metadata = book.edition.metadata
            number = SeriesNumber(metadata.seriesNumber)
            year = metadata.publishedDate?.year ?? .max
            let title = SortTitle(metadata.title ?? "", language: metadata.language)
            self.title = String(title.rest).searchFolded
            id = book.id.rawValue
        }

        static func < (left: OrderKey, right: OrderKey) -> Bool {
            switch (left.number, right.number) {
            case (let one?, let other?) where one != other: one < other
            case (_?, nil): true
            case (nil, _?): false
            default: (left.year, left.title, left.id) < (right.year, right.title, right.id)
            }
        }
    }

    /// The whole numbers from 1 to the highest one that no book has, as ranges in order.
    public var gaps: [ClosedRange<Int>] {
        var gaps: [ClosedRange<Int>] = []
        var next = 1
        for number in books.compactMap({ SeriesNumber($0.edition.metadata.seriesNumber) }) {
            let start = Int(number.first.rounded(.up))
            if start > next { gaps.append(next...(start - 1)) }
            next = max(next, Int(number.last.rounded(.down)) + 1)
        }
        return gaps
    }
}
