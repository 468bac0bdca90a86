import ArgumentParser
import Bookplate
import Library
import Terminal

/// The book that a command of the reading tracker applies to: the book named on the command line or, without a name,
/// the only book being read.
struct TrackedBook: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "An ISBN, an id, or words from the title or authors (default: the only book you are reading).",
            valueName: "book"))
    var words: [String] = []
}

extension LibraryFile {
    /// Returns the book that the words identify.
    ///
    /// - Parameter words: the words that identify the book; empty for the only book being read.
    /// - Throws: ``CommandError`` if there is no such book, or if several books match.
    func trackedBook(_ words: some Collection<String>) async throws -> Book {
        // An empty name is not the same as no name.
        guard words.isEmpty else { return try await book(named: words.joined(separator: " ")) }
        var query = BookQuery()
        query.statuses = [.reading]
        query.limit = 10
        let results = try await books(matching: query)
        guard let first = results.books.first else {
            throw CommandError(
                .nothing,
                "you are not reading any book. Specify one by its ISBN, its id, or words from its title or authors.")
        }
        guard results.total == 1 else {
            let list = results.books.map { "  \($0.id)  \($0.displayTitle.oneLine), \($0.displayAuthors.oneLine)" }
            throw CommandError(
                .nothing,
                "you are reading \(results.total) books. Name the one that you mean:\n" + list.joined(separator: "\n"))
        }
        return first
    }

    /// Returns a reading of a book.
    ///
    /// - Parameter number: the number of the reading (1 is the oldest); `nil` for the reading that is shown for the
    ///   book.
    /// - Throws: ``CommandError`` if there is no such reading.
    func reading(_ number: Int?, of book: Book) throws -> Reading? {
        guard let number else { return book.copy.reading }
        let readings = book.copy.countedReadings
        guard readings.indices.contains(number - 1) else {
            throw CommandError(
                .nothing,
                "\(quoted([book.displayTitle])) has no reading \(number): it has \(counted(readings.count, "reading")). "
                    + "To list the readings, run 'scan reading history'.")
        }
        return readings[number - 1]
    }
}
