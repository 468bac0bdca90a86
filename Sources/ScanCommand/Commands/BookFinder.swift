import Bookplate
import Library
import Terminal

/// Finds the book that a user names by its ISBN, by its id, or by words that match no other book.
extension LibraryFile {
    /// Returns the only book that matches a name, or the one of several that the person chooses. The rule is stricter
    /// than for a search, because a command may change the book: words in tags, notes and quotes do not count.
    ///
    /// - Parameters:
    ///   - name: an ISBN, an id, six or more characters at the end of an id, or words from the title, subtitle, authors
    ///     and series.
    ///   - inTrash: true to look in the trash only, false to look in the library only.
    ///   - choosing: true if the person can be asked (``Asking/canChoose(json:yes:)``).
    /// - Throws: ``CommandError`` if no book matches, or if several books match and nobody can be asked. In the second
    ///   case, the message lists these books. `ExitCode` if the person chooses none.
    func book(named name: String, inTrash: Bool = false, choosing: Bool) async throws -> Book {
        if let book = try await book(ID(rawValue: name.lowercased())), (book.copy.deleted != nil) == inTrash {
            return book
        }
        let matches: [Book]
        if let isbn = try? ISBN(name) {
            matches = (try await books(with: [isbn])[isbn] ?? []).filter { ($0.copy.deleted != nil) == inTrash }
        } else {
            matches = try await books(
                fitting: name, inTrash: inTrash, limit: choosing ? Asking.mostBooks : CandidateList.length)
        }
        let place = inTrash ? "in the trash" : "in the library"
        let advice =
            inTrash
            ? "To list the trash, run 'scan library trash'" : "To find books by other words, run 'scan library search'"
        guard let first = matches.first else {
            throw CommandError(.nothing, "there is no book \"\(name.prefix(80).printable)\" \(place). \(advice).")
        }
        guard matches.count == 1 else {
            let question = "Which book is \"\(name.oneLine.fitted(30))\""
            if choosing, let book = try await Asking.book(question, among: matches) { return book }
            throw CommandError(
                .nothing,
                "\"\(name.prefix(80).printable)\" matches several books. Give the id of one of them, or the end of the id:\n"
                    + CandidateList.text(matches))
        }
        return first
    }

    /// Returns the books whose full title is `text`. If there are none, returns the books that contain all words of
    /// `text`, and the books whose id ends with `text`.
    ///
    /// - Parameter limit: the number of books after which the search ends; a few more may be returned.
    private func books(fitting text: String, inTrash: Bool, limit: Int) async throws -> [Book] {
        let name = BookName(text)
        guard name.hasLetter else {
            throw CommandError(
                .usage,
                "\"\(text.prefix(80).printable)\" cannot identify a book. Give its ISBN, its id, or words from its title or authors."
            )
        }
        var query = BookQuery()
        (query.text, query.inTrash, query.limit, query.countLimit) = (text, inTrash, 100, 1)
        var fits: [BookHit] = []
        var isPast = false
        repeat {
            let results = try await books(matching: query)
            for hit in results.hits {
                // The best matches come first. Books that match only in tags, notes and quotes come last.
                isPast = !name.isBrief && (BookName.isBeside(hit) || fits.count > limit)
                if isPast { break }
                if name.fits(hit) { fits.append(hit) }
            }
            query.after = results.next
        } while query.after != nil && !isPast
        let whole = fits.filter { $0.match?.isWholeTitle == true }
        guard whole.isEmpty else { return whole.map(\.book) }
        let named = fits.map(\.book)
        return named
            + (try await books(endingIn: text, inTrash: inTrash)).filter { book in
                !named.contains { $0.id == book.id }
            }
    }
}

/// The list of the books that may be meant, for an error message.
enum CandidateList {
    /// The maximum number of books in the list.
    static let length = 10

    /// Returns a line for each book, with the end of its id.
    static func text(_ books: [Book]) -> String {
        let lines = books.prefix(length).map { book in
            "  \(book.id.rawValue.suffix(8))  \(book.displayTitle.oneLine), \(book.displayAuthors.oneLine)"
        }
        return (lines + (books.count > length ? ["  and more"] : [])).joined(separator: "\n")
    }
}

/// The words with which a user identifies a book, and the rule that decides if they match a search result.
private struct BookName {
    private let folded: String
    private let words: [Substring]

    init(_ text: String) {
        folded = text.searchFolded
        words = Self.words(of: folded)
    }

    /// False if there is only punctuation, which cannot identify a book.
    var hasLetter: Bool { !words.isEmpty }
    /// True for a single word of one or two letters. The search results for such a word are ordered by date, not by the
    /// quality of the match.
    var isBrief: Bool { words.count == 1 && words[0].count <= 2 }

    /// Returns true if the name matches a search result. Words of one or two letters must be whole words, because half
    /// of all books have a word that begins with them. A name of a single letter must be the whole title.
    func fits(_ hit: BookHit) -> Bool {
        guard !Self.isBeside(hit) else { return false }
        let metadata = hit.book.edition.metadata
        guard words.reduce(0, { $0 + $1.count }) > 1 else { return metadata.title?.searchFolded == folded }
        let short = words.filter { $0.count <= 2 && !Self.isWithoutSpaces($0) }
        guard !short.isEmpty else { return true }
        let edition = hit.book.edition
        let own = [
            metadata.title, metadata.subtitle, metadata.series, edition.isbn?.hyphenated, edition.isbnText,
        ].compactMap(\.self)
        let found = Set((own + metadata.authors.map(\.name)).flatMap { Self.words(of: $0.searchFolded) })
        return short.allSatisfy(found.contains)
    }

    /// Returns true if the search found its words in something that was added to the book, such as a note, and not in
    /// the book's title, authors or series.
    static func isBeside(_ hit: BookHit) -> Bool {
        switch hit.match?.field {
        case .title, .isbn, .author, .subtitle, .series: false
        case .tag, .note, .quote, nil: true
        }
    }

    private static func words(of folded: String) -> [Substring] { folded.split { !$0.isLetter && !$0.isNumber } }

    /// Returns true if the word is in a script that is written without spaces between words, such as Thai, Khmer, Han
    /// or Kana.
    private static func isWithoutSpaces(_ word: Substring) -> Bool {
        word.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x2E80...0x9FFF, 0xF900...0xFAFF, 0x20000...0x3FFFD:
                true
            default: false
            }
        }
    }
}

extension CaptureQueue {
    /// Returns the waiting items with the given names. A name is an id, the end of an id, or an ISBN. Without names,
    /// all waiting items are returned.
    ///
    /// - Throws: ``CommandError`` if a name matches no item.
    func waitingItems(named names: [String]) async throws -> [QueueItem] {
        let waiting = try await items(in: [.waiting])
        guard !names.isEmpty else { return waiting }
        var chosen: [QueueItem] = []
        for name in names {
            let isbn = try? ISBN(name)
            let ending = name.lowercased()
            let fits = waiting.filter { $0.isbn == isbn || (ending.count >= 4 && $0.id.rawValue.hasSuffix(ending)) }
            guard !fits.isEmpty else {
                throw CommandError(
                    .nothing,
                    "\"\(name.prefix(80).printable)\" is not in the queue. To see the queue, run 'scan intake list'.")
            }
            chosen += fits.filter { item in !chosen.contains { $0.id == item.id } }
        }
        return chosen
    }
}
