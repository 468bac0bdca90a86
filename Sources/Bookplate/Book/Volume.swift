/// The place of a book in its series.
public struct Volume: Sendable, Equatable {
    /// The name of the series as it is written.
    public let series: String
    public let number: SeriesNumber
    /// The name of the series, folded. Series with the same key are the same.
    public let key: String

    /// - Returns: `nil` if the book is in no series, or if its number in the series is no number.
    public init?(_ book: Book) {
        guard let series = book.edition.metadata.series,
            let number = SeriesNumber(book.edition.metadata.seriesNumber)
        else { return nil }
        (self.series, self.number, key) = (series, number, series.searchFolded)
    }

    /// Returns the next volume among some books, which may be of any series: the one with the smallest number after
    /// this one.
    public func next(among books: [Book]) -> Book? {
        books.compactMap { book in
            Volume(book).flatMap { other in
                other.key == key && other.number.first > number.last ? (number: other.number, book: book) : nil
            }
        }.min { $0.number < $1.number }?.book
    }
}

extension Search {
    /// Returns the books that may be of the same series as a volume, at most `limit`.
    ///
    /// - Parameter statuses: the statuses of the books; empty for any status.
    public func books(inSeriesOf volume: Volume, _ statuses: Set<Copy.Status>, limit: Int = 200) async throws -> [Book]
    {
        var query = BookQuery()
        query.condition = .text(.series, volume.series, isPhrase: true)
        (query.statuses, query.limit) = (statuses, limit)
        return try await books(matching: query).books
    }
}
