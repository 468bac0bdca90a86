import FoundationEssentials

/// A search for books. Different filters are combined with AND, the values of one filter with OR, except the readers of
/// ``readBy`` and ``notReadBy``.
///
/// Every word of ``text`` must match the beginning of a word in the title, subtitle, authors, series, tags, notes,
/// quotes or ISBN. In tags, notes and quotes, a word of one or two letters must be a whole word. If the text is a
/// single word of one or two letters, it matches whole words, the beginning of the title, and the beginning of a part
/// of an author's name; whole words come first. A number of four or more digits also matches the beginning of the ISBN
/// in its 13- and 10-digit forms, with or without hyphens.
public struct BookQuery: Sendable, Equatable {
    /// The words to search for. No character has a special meaning; the query language is parsed before, by
    /// ``QueryParser``. An empty text matches everything; a text without
    /// letters, digits or symbols matches nothing. Only the first 16 words count.
    public var text = ""
    /// True if notes and quotes are searched too.
    public var searchesAnnotations = true
    /// The condition of a query besides its words, as ``QueryParser`` reads it; `nil` for none.
    public var condition: BookCondition?
    public var statuses: Set<Copy.Status> = []
    /// The tags to search for, ignoring case.
    public var tags: [String] = []
    public var shelves: [String] = []
    /// The names of contributors in any role, ignoring case and diacritics.
    public var authors: [String] = []
    /// The names of series, ignoring the case of ASCII letters.
    public var series: [String] = []
    /// The language codes as they are stored with the edition: ISO 639-1 where there is one, else ISO 639-2.
    public var languages: Set<String> = []
    /// The publishers, exactly as they are stored.
    public var publishers: [String] = []
    public var formats: Set<Metadata.Format> = []
    /// Ranges of years of publication.
    public var years: [ClosedRange<Int>] = []
    /// Ranges of page counts.
    public var pages: [ClosedRange<Int>] = []
    public var ratings: Set<RatingBand> = []
    public var isOwned: Bool?
    public var isOnWishlist: Bool?
    public var isFavourite: Bool?
    /// The period in which the book was added, in the time zone ``zone``.
    public var added: Period?
    /// The period in which the book was started, according to its displayed reading (``Copy/reading``). A date matches
    /// if it may lie in the period (``Period/mayContain(_:)``).
    public var started: Period?
    /// The period in which the book was finished, according to its displayed reading (``Copy/reading``). A date matches
    /// if it may lie in the period.
    public var finished: Period?
    /// The readers who must all have read the book, which means that their status of the copy is Read. A reader in the
    /// trash has read nothing.
    public var readBy: [ID<Reader>] = []
    /// The readers of whom none may have read the book.
    public var notReadBy: [ID<Reader>] = []
    /// True for the books that no reader has read.
    public var readByNobody = false
    /// The fields of which a book must lack at least one.
    public var missing: Set<MissingField> = []
    public var zone = TimeZone.gmt
    /// True to search the trash instead of the library.
    public var inTrash = false
    /// The sort order; `nil` for the default order, which is by relevance, or by ``Sort/added`` if there is no text.
    public var sort: Sort?
    /// True to reverse the sort order; empty values still come last. The default order (a ``sort`` of `nil`) cannot be
    /// reversed.
    public var isReversed = false
    /// The ``SearchResults/next`` of the previous page; `nil` for the first page. Books that are added or removed in
    /// the meantime do not shift the pages.
    public var after: String?
    /// A position as in ``after``; the page then has the last of the books that come before the page of this
    /// position. It must not be used together with ``after``, and needs an order other than by relevance.
    public var before: String?
    public var limit = 50
    /// The number of matches at which counting stops (see ``SearchResults/isTotalExact``).
    public var countLimit = 1000

    /// The sort orders. Dates are sorted from the latest, ratings from the highest, and texts from A; empty values come
    /// last. Of the books added on one day (in UTC), those that came into the library last come first, because an
    /// import knows only the day. Titles are sorted without their articles and authors by their family names, unless a
    /// setting says otherwise (``LibrarySetting``).
    public enum Sort: String, Sendable, CaseIterable, Codable { case added, started, finished, title, author, rating }

    public init() {}

    /// Takes over the words, the conditions and the order of a query that a person typed.
    public mutating func add(_ parsed: ParsedQuery) {
        text = parsed.text
        condition = parsed.condition
        if let named = parsed.sort { (sort, isReversed) = (named, parsed.isReversed) }
    }

    /// True if any filter other than ``inTrash`` is set.
    public var hasFilters: Bool {
        var bare = BookQuery()
        (bare.text, bare.inTrash, bare.sort, bare.isReversed) = (text, inTrash, sort, isReversed)
        bare.searchesAnnotations = searchesAnnotations
        (bare.zone, bare.after, bare.before) = (zone, after, before)
        (bare.limit, bare.countLimit) = (limit, countLimit)
        return self != bare
    }
}

/// A field that a book can lack. Raw values are the names that commands accept.
public enum MissingField: String, Sendable, CaseIterable, Codable {
    /// No contributor has the role author.
    case author
    /// No picture of the cover is stored.
    case cover
    case description
    /// The day on which the displayed reading was finished; ``started`` is the day on which it was started.
    case finished
    case format
    /// A genre or subject.
    case genre
    case isbn, language
    /// A note that the present reader may see; ``quote`` is a quote.
    case note
    case pages, publisher, quote
    /// The present reader's rating.
    case rating
    case series, shelf, started, subtitle, tag, title
    /// The year of publication.
    case year
}

extension MissingField {
    /// The fields whose absence ``BookFacets/missing`` counts, in the order in which they are shown.
    public static let counted: [MissingField] = [
        .shelf, .tag, .language, .cover, .isbn, .publisher, .year, .pages, .format, .series,
    ]
}

/// A range of page counts for a filter.
public enum PageBand: Int, Sendable, CaseIterable {
    case short, medium, long, veryLong

    /// The numbers of pages that belong to the band.
    public var range: ClosedRange<Int> {
        switch self {
        case .short: 0...149
        case .medium: 150...299
        case .long: 300...499
        case .veryLong: 500...Int.max
        }
    }

    /// Creates the band that contains a number of pages.
    public init(_ pages: Int) { self = Self.allCases.last { $0.range.lowerBound <= pages } ?? .short }

    /// The range in the form in which commands and addresses accept it, such as `150..299`.
    public var text: String { NumberRange.text(range) }
}

/// Ranges of whole numbers in the form `150..299`, `..149`, `500..` or `300`. Both ends belong to a range.
public enum NumberRange {
    /// - Parameter digits: the largest number of digits.
    /// - Returns: `nil` unless the text is a range.
    public static func parse(_ text: String, digits: Int) -> ClosedRange<Int>? {
        func number(_ text: Substring, _ missing: Int) -> Int? {
            if text.isEmpty { return missing }
            guard text.utf8.count <= digits, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
            return Int(text)
        }
        guard let dots = text.firstRange(of: "..") else {
            return text.isEmpty ? nil : number(text[...], 0).map { $0...$0 }
        }
        guard text != "..", let low = number(text[..<dots.lowerBound], 0),
            let high = number(text[dots.upperBound...], .max), low <= high
        else { return nil }
        return low...high
    }

    /// Returns the form that ``parse(_:digits:)`` accepts.
    public static func text(_ range: ClosedRange<Int>) -> String {
        if range.lowerBound == range.upperBound { return String(range.lowerBound) }
        return (range.lowerBound == 0 ? "" : String(range.lowerBound)) + ".."
            + (range.upperBound == .max ? "" : String(range.upperBound))
    }
}

/// A range of ratings for a filter.
public enum RatingBand: Hashable, Sendable, Codable, Comparable {
    case unrated
    /// The ratings with this many whole stars, 0 to 5: 4 means at least 4 but less than 5 stars, and 0 means less than
    /// one star.
    case stars(Int)

    /// Creates the band that contains a rating.
    public init(_ rating: Double?) { self = rating.map { .stars(Int($0)) } ?? .unrated }

    /// All bands, highest first, with unrated last.
    public static let all: [RatingBand] = (0...5).reversed().map(RatingBand.stars) + [.unrated]
}

/// The reason why a search is refused.
public enum SearchRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position to continue from is invalid or belongs to another query.
    case badPosition(String)

    public var description: String {
        switch self {
        case .badPosition(let text):
            "\"\(text.prefix(40))\" is not a position in this list. Use the position that came with the previous page of the same search and order, or start again without a position."
        }
    }
}

/// A name and the number of books that have it.
public struct NameCount: Sendable, Hashable {
    public var name: String
    public var count: Int

    public init(name: String, count: Int) {
        self.name = name
        self.count = count
    }
}

/// The number of books for each value of each filter. Values that match no book are left out, unless the query contains
/// them.
public struct BookFacets: Sendable, Equatable {
    public var statuses: [Copy.Status: Int] = [:]
    public var ratings: [RatingBand: Int] = [:]
    /// The tags, most used first. ``shelves``, ``languages`` and ``authors`` have the same order.
    public var tags: [NameCount] = []
    public var shelves: [NameCount] = []
    public var languages: [NameCount] = []
    /// The authors with the most books, at most 20; none if they are not counted.
    public var authors: [NameCount] = []
    /// The number of books by their format. Those without a format are not counted.
    public var formats: [Metadata.Format: Int] = [:]
    /// The number of books by the decade of their publication, such as 1960.
    public var decades: [Int: Int] = [:]
    /// The number of books by their page counts.
    public var pages: [PageBand: Int] = [:]
    /// The number of books that lack each of the fields in ``MissingField/counted``.
    public var missing: [MissingField: Int] = [:]
    /// The number of books that match the whole query.
    public var total = 0
    public var owned = 0
    public var notOwned = 0
    public var wishlist = 0
    public var favourites = 0

    public init() {}
}

extension BookFacets {
    /// One line of `scan library list --counts --json`.
    public var json: JSONValue {
        func names(_ counts: [NameCount]) -> JSONValue {
            .array(counts.map { ["name": .string($0.name), "count": .integer($0.count)] })
        }
        return [
            "statuses": .object(
                Copy.Status.allCases.map { (key: $0.rawValue, value: .integer(statuses[$0] ?? 0)) }),
            "ratings": .object(RatingBand.all.map { (key: $0.text, value: .integer(ratings[$0] ?? 0)) }),
            "tags": names(tags), "shelves": names(shelves), "languages": names(languages), "authors": names(authors),
            "formats": .object(
                Metadata.Format.allCases.map { (key: $0.rawValue, value: .integer(formats[$0] ?? 0)) }),
            "decades": .object(
                decades.sorted { $0.key < $1.key }.map { (key: String($0.key), value: .integer($0.value)) }),
            "pages": .object(PageBand.allCases.map { (key: $0.text, value: .integer(pages[$0] ?? 0)) }),
            "missing": .object(MissingField.counted.map { (key: $0.rawValue, value: .integer(missing[$0] ?? 0)) }),
            "total": .integer(total), "owned": .integer(owned), "notOwned": .integer(notOwned),
            "wishlist": .integer(wishlist), "favourites": .integer(favourites),
        ]
    }
}

extension RatingBand {
    /// The form in which commands accept and print the band, such as `4` or `unrated`.
    public var text: String {
        switch self {
        case .unrated: "unrated"
        case .stars(let stars): String(stars)
        }
    }

    /// - Returns: `nil` unless the text is a number from 0 to 5 or `unrated`.
    public init?(parsing text: String) {
        if text.lowercased() == "unrated" {
            self = .unrated
        } else if let stars = Int(text), (0...5).contains(stars) {
            self = .stars(stars)
        } else {
            return nil
        }
    }
}
