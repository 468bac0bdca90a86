import Bookplate
import Library

/// What a person names things by: an ISBN, an id, or words that fit one thing only.
extension LibraryFile {
    /// How many books are listed where several fit.
    private static let listed = 10

    /// An act follows, so that a name is taken more narrowly than a search: what was written on a book names no book.
    ///
    /// - Parameters:
    ///   - name: an ISBN, an id or the end of one, six characters at least, or words of title, subtitle, authors and series.
    ///   - inTrash: where to look.
    /// - Throws: ``CommandError`` when nothing fits, or several things do; then it lists them.
    func book(named name: String, inTrash: Bool = false) async throws -> Book {
        if let book = try await book(ID(rawValue: name.lowercased())), (book.copy.deleted != nil) == inTrash {
            return book
        }
        let matches: [Book]
        if let isbn = try? ISBN(name) {
            matches = (try await books(with: [isbn])[isbn] ?? []).filter { ($0.copy.deleted != nil) == inTrash }
        } else {
            matches = try await books(fitting: name, inTrash: inTrash)
        }
        let place = inTrash ? "in the trash" : "in the library"
        let next = inTrash ? "scan library trash shows what is" : "scan library search finds it by the words it has"
        guard let first = matches.first else {
            throw CommandError(.nothing, "there is no book \"\(name.prefix(80).printable)\" \(place). \(next).")
        }
        guard matches.count == 1 else {
            let list = matches.prefix(Self.listed).map { book in
                "  \(book.id.rawValue.suffix(8))  \(book.displayTitle.oneLine), \(book.displayAuthors.oneLine)"
            }
            let rest = matches.count > Self.listed ? "\n  and more" : ""
            throw CommandError(
                .nothing,
                "\"\(name.prefix(80).printable)\" fits several books; name one by its id, or the end of it:\n"
                    + list.joined(separator: "\n") + rest)
        }
        return first
    }

    /// Books whose title is just the name; without one, all whose words or whose id's end it is.
    private func books(fitting text: String, inTrash: Bool) async throws -> [Book] {
        let name = BookName(text)
        guard name.hasLetter else {
            throw CommandError(
                .usage,
                "\"\(text.prefix(80).printable)\" names no book: give its ISBN, its id, or words of its title or authors."
            )
        }
        var query = BookQuery()
        (query.text, query.inTrash, query.limit, query.countLimit) = (text, inTrash, 100, 1)
        var fits: [BookHit] = []
        var isPast = false
        repeat {
            let page = try await books(matching: query)
            for hit in page.hits {
                // The best come first, and what only tags, notes and quotes have comes last.
                isPast = !name.isBrief && (BookName.isBeside(hit) || fits.count > Self.listed)
                if isPast { break }
                if name.fits(hit) { fits.append(hit) }
            }
            query.after = page.next
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

/// Words as the name of a book.
private struct BookName {
    private let folded: String
    private let words: [Substring]

    init(_ text: String) {
        folded = text.searchFolded
        words = Self.words(of: folded)
    }

    /// Signs alone name nothing.
    var hasLetter: Bool { !words.isEmpty }
    /// Search has these from the newest to the oldest, whatever they fit best.
    var isBrief: Bool { words.count == 1 && words[0].count <= 2 }

    /// One letter begins half of all books, so that it names only what is called just that; and two letters are a word.
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

    /// Whether it was found by what was written beside the book, not by what is on it.
    static func isBeside(_ hit: BookHit) -> Bool {
        switch hit.match?.field {
        case .title, .isbn, .author, .subtitle, .series: false
        case .tag, .note, .quote, nil: true
        }
    }

    private static func words(of folded: String) -> [Substring] { folded.split { !$0.isLetter && !$0.isNumber } }

    /// In scripts without spaces, where a word ends cannot be seen: Thai to Khmer, Han, Kana.
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

extension Intake {
    /// Waiting items by id, the end of an id, or ISBN; all of them when there are no names.
    ///
    /// - Throws: ``CommandError`` when a name fits nothing.
    func waitingItems(named names: [String]) async throws -> [IntakeItem] {
        let waiting = try await items(in: [.waiting])
        guard !names.isEmpty else { return waiting }
        var chosen: [IntakeItem] = []
        for name in names {
            let isbn = try? ISBN(name)
            let ending = name.lowercased()
            let fits = waiting.filter { $0.isbn == isbn || (ending.count >= 4 && $0.id.rawValue.hasSuffix(ending)) }
            guard !fits.isEmpty else {
                throw CommandError(
                    .nothing, "\"\(name.prefix(80).printable)\" is not in the queue; scan intake list shows what is.")
            }
            chosen += fits.filter { item in !chosen.contains { $0.id == item.id } }
        }
        return chosen
    }
}

extension Substring {
    var printable: String { String(self).printable }
}

extension ISBN {
    /// Parses a number that a person typed.
    ///
    /// - Throws: ``CommandError`` that says which digit or rule is wrong.
    init(refusingWith status: ExitStatus, _ text: String) throws {
        do throws(ISBNRefusal) {
            try self.init(text)
        } catch {
            throw CommandError(status, "\"\(text.prefix(80).printable)\" is no ISBN: \(error).")
        }
    }
}
