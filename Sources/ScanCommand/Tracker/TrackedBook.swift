import ArgumentParser
import Bookplate
import Foundation
import Library
import Terminal

/// The book that a command of the reading tracker applies to: the book named on the command line or, without a name,
/// the only book being read.
struct TrackedBook: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "An ISBN, an id, or words from the title or authors (default: the only book you are reading).",
            valueName: "book"),
        completion: .values(.bookWords))
    var words: [String] = []
}

extension LibraryFile {
    /// Returns the book that the words identify.
    ///
    /// - Parameters:
    ///   - words: the words that identify the book; empty for the only book being read.
    ///   - choosing: true if the person can be asked which of several books is meant.
    /// - Throws: ``CommandError`` if there is no such book, or if several books match and nobody can be asked.
    ///   `ExitCode` if the person chooses none.
    func trackedBook(_ words: some Collection<String>, choosing: Bool) async throws -> Book {
        // An empty name is not the same as no name.
        guard words.isEmpty else { return try await book(named: words.joined(separator: " "), choosing: choosing) }
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
            if choosing {
                let readingNow = try await home(limit: Asking.mostBooks + 1, at: Date(), in: .current).readingNow
                if let book = try await Asking.book("Which book", among: readingNow.map(\.book)) { return book }
            }
            let list = results.books.map { "  \($0.id)  \($0.displayTitle.oneLine), \($0.displayAuthors.oneLine)" }
            throw CommandError(
                .nothing,
                "you are reading \(results.total) books. Name the one that you mean:\n" + list.joined(separator: "\n"))
        }
        return first
    }

    /// Returns the book that the person chooses to start.
    ///
    /// - Throws: ``CommandError`` if there is no book to start, or if nobody can be asked. `ExitCode` if the person
    ///   chooses none.
    func bookToStart(choosing: Bool) async throws -> Book {
        let books = try await booksToStart()
        guard !books.isEmpty else {
            throw CommandError(.nothing, "no book is To Read or On Hold. To read a book again, name it.")
        }
        if choosing, let book = try await Asking.book("Which book", among: books) { return book }
        throw CommandError(
            .nothing,
            "name the book that you want to start, such as one of these, or give the end of its id:\n"
                + CandidateList.text(books))
    }

    /// Returns the books that a person is likely to start, the likeliest first: those on hold, the next volumes of the
    /// series being read, and those to read, owned ones before wishes. Of each kind, those that were added last come
    /// first.
    private func booksToStart() async throws -> [Book] {
        var query = BookQuery()
        query.limit = Asking.mostBooks + 1
        query.statuses = [.onHold]
        var found = try await books(matching: query).books
        found += try await nextVolumes()
        query.statuses = [.toRead]
        for isOwned in [true, false] {
            query.isOwned = isOwned
            found += try await books(matching: query).books
        }
        var seen: Set<ID<Copy>> = []
        return found.filter { seen.insert($0.id).inserted }
    }

    /// Returns the next volume of each series that is being read, or of which a volume was read recently: of the
    /// volumes to read, the first one after the volumes that were begun.
    private func nextVolumes() async throws -> [Book] {
        let home = try await home(limit: 50, at: Date(), in: .current)
        var begun: [Volume] = []
        for volume in (home.readingNow.map(\.book) + home.recentlyRead.map(\.book)).compactMap(Volume.init) {
            if let place = begun.firstIndex(where: { $0.key == volume.key }) {
                if begun[place].number < volume.number { begun[place] = volume }
            } else {
                begun.append(volume)
            }
        }
        var next: [Book] = []
        for volume in begun {
            if let book = volume.next(among: try await books(inSeriesOf: volume, [.toRead])) { next.append(book) }
        }
        return next
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
