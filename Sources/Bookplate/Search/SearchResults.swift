/// One page of a search.
public struct SearchResults: Sendable, Equatable {
    public var hits: [BookHit]
    /// How many books match in all: exactly, or more than this many.
    public var total: Int
    /// `false` when counting ended at ``BookQuery/countLimit``: then there are more than ``total``.
    public var isTotalExact: Bool
    /// Where the next page begins (``BookQuery/after``), printable; `nil` when this is the last.
    public var next: String?

    public init(hits: [BookHit], total: Int, isTotalExact: Bool = true, next: String? = nil) {
        self.hits = hits
        self.total = total
        self.isTotalExact = isTotalExact
        self.next = next
    }

    public var books: [Book] { hits.map(\.book) }
}

/// A book that was found, and why.
public struct BookHit: Sendable, Equatable {
    public var book: Book
    /// `nil` when no text was looked for.
    public var match: Match?

    public init(book: Book, match: Match? = nil) {
        self.book = book
        self.match = match
    }

    /// Where the words of the query were found: of several places the one that is told is the last to be thought of, so that
    /// "dune spice" tells of the note that holds the spice.
    public struct Match: Sendable, Equatable {
        public var field: Field
        public var snippet: Snippet
        /// The title is just what was asked for, and nothing more.
        public var isWholeTitle: Bool

        public init(field: Field, snippet: Snippet, isWholeTitle: Bool = false) {
            self.field = field
            self.snippet = snippet
            self.isWholeTitle = isWholeTitle
        }
    }

    /// Raw values are in the JSON.
    public enum Field: String, Sendable, Codable, CaseIterable {
        case title, isbn, author, subtitle, series, tag, note, quote

        /// "Matched in notes": as people read it.
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

/// An excerpt in its own spelling, on one line and without control characters; an ellipsis where something was left out.
public struct Snippet: Sendable, Equatable {
    public var parts: [Part]

    public struct Part: Sendable, Equatable {
        public var text: String
        /// Whether it is what the query asked for.
        public var isMatch: Bool

        public init(text: String, isMatch: Bool) {
            self.text = text
            self.isMatch = isMatch
        }
    }

    public init(parts: [Part]) { self.parts = parts }

    public var text: String { parts.map(\.text).joined() }

    /// The text with a sign before and after each match.
    public func marked(_ before: String = "⟦", _ after: String = "⟧") -> String {
        parts.map { $0.isMatch ? before + $0.text + after : $0.text }.joined()
    }

    /// Where the matches are, in Unicode scalars of ``text``.
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
    /// The book's JSON with `match`: null, or its field, the snippet and where in it the matches are, in Unicode scalars.
    public var json: JSONValue {
        guard case .object(let members) = book.json else { return book.json }
        let told: JSONValue =
            match.map { match in
                [
                    "field": .string(match.field.rawValue), "snippet": .string(match.snippet.text),
                    "ranges": .array(
                        match.snippet.ranges.map { .array([.integer($0.lowerBound), .integer($0.upperBound)]) }),
                ]
            } ?? .null
        return .object(members + [(key: "match", value: told)])
    }
}
