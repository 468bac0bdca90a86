/// One page of search results.
public struct SearchResults: Sendable, Equatable {
    public var hits: [BookHit]
    /// The number of books that match, or a lower bound for this number (see ``isTotalExact``).
    public var total: Int
    /// False if counting stopped at ``BookQuery/countLimit``. Then more than ``total`` books match.
    public var isTotalExact: Bool
    /// The place where the next page begins, encoded as printable characters for ``BookQuery/after``; `nil` if this is
    /// the last page.
    public var next: String?
    /// The position after which this page begins, for ``BookQuery/before``; `nil` if no book comes before the page.
    public var start: String?

    public init(
        hits: [BookHit], total: Int, isTotalExact: Bool = true, next: String? = nil, start: String? = nil
    ) {
        self.hits = hits
        self.total = total
        self.isTotalExact = isTotalExact
        self.next = next
        self.start = start
    }

    public var books: [Book] { hits.map(\.book) }
}

/// A book that was found, and the place in which the query matched.
public struct BookHit: Sendable, Equatable {
    public var book: Book
    /// The place in which the query matched; `nil` if the query has no text.
    public var match: Match?

    public init(book: Book, match: Match? = nil) {
        self.book = book
        self.match = match
    }

    /// The place where the words of the query were found. If the words were found in several places, the place that a
    /// person would least expect is chosen: a search for "dune spice" shows the note about spice, not the title "Dune".
    public struct Match: Sendable, Equatable {
        public var field: Field
        public var snippet: Snippet
        /// True if the whole title equals the query.
        public var isWholeTitle: Bool

        public init(field: Field, snippet: Snippet, isWholeTitle: Bool = false) {
            self.field = field
            self.snippet = snippet
            self.isWholeTitle = isWholeTitle
        }
    }

    /// The field in which a match was found. Raw values appear in the JSON.
    public enum Field: String, Sendable, Codable, CaseIterable {
        case title, isbn, author, subtitle, series, tag, note, quote

        /// The name that is shown to people, after "Matched in".
        public var displayName: String {
            switch self {
            case .title: "title"
            case .isbn: "ISBN"
            case .author: "authors"
            case .subtitle: "subtitle"
            case .series: "series"
            case .tag: "tags"
            case .note: "notes"
            case .quote: "quotes"
            }
        }
    }
}

/// An excerpt in its original spelling, on one line and without control characters; an ellipsis stands for omitted
/// text.
public struct Snippet: Sendable, Equatable {
    public var parts: [Part]

    public struct Part: Sendable, Equatable {
        public var text: String
        /// True if the query matches this part.
        public var isMatch: Bool

        public init(text: String, isMatch: Bool) {
            self.text = text
            self.isMatch = isMatch
        }
    }

    public init(parts: [Part]) { self.parts = parts }

    public var text: String { parts.map(\.text).joined() }

    /// Returns the text with a mark before and after each match.
    public func marked(_ before: String = "⟦", _ after: String = "⟧") -> String {
        parts.map { $0.isMatch ? before + $0.text + after : $0.text }.joined()
    }

    /// The ranges of the matches in ``text``, counted in Unicode scalars.
    public var ranges: [Range<Int>] {
        var (ranges, offset): ([Range<Int>], Int) = ([], 0)
        for part in parts {
            let end = offset + part.text.unicodeScalars.count
            if part.isMatch { ranges.append(offset..<end) }
            offset = end
        }
        return ranges
    }
}

extension BookHit {
    /// The book's JSON with the key `match`. Its value is null or an object with the field, the snippet, and the ranges
    /// of the matches in the snippet, counted in Unicode scalars.
    public var json: JSONValue {
        let matchJSON: JSONValue =
            match.map { match in
                [
                    "field": .string(match.field.rawValue), "snippet": .string(match.snippet.text),
                    "ranges": .array(
                        match.snippet.ranges.map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) }),
                ]
            } ?? .null
        return book.json.appending([("match", matchJSON)])
    }
}
