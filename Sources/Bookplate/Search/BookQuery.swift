import FoundationEssentials

/// A search for books. Different filters combine with AND, values of one filter with OR.
///
/// Every word of ``text`` must match the beginning of a word: in title, subtitle, authors, series, tags, notes and
/// quotes, or in the ISBN. A single word of one or two letters matches only the beginning of the title and of the parts
/// of authors' names, newest first; together with other words it matches titles, series and authors. A number of four
/// or more digits also matches the beginning of the ISBN in its 13- and 10-digit forms, with or without hyphens.
public struct BookQuery: Sendable, Equatable {
    /// The text as typed, without any special characters. An empty text matches everything; one without letters, digits
    /// or symbols matches nothing. Only the first 16 words count.
    public var text = ""
    /// True if notes and quotes are searched too.
    public var searchesAnnotations = true
    public var statuses: Set<Copy.Status> = []
    /// Upper and lower case are equal.
    public var tags: [String] = []
    public var shelves: [String] = []
    /// Names in any role; case and diacritics are ignored.
    public var authors: [String] = []
    /// ISO 639-1, else 639-2, as stored with the edition.
    public var languages: Set<String> = []
    public var ratings: Set<RatingBand> = []
    public var isOwned: Bool?
    public var isOnWishlist: Bool?
    public var isFavourite: Bool?
    /// Dates in ``zone``.
    public var added: Period?
    /// The start date of the reading that the book shows; a date that may lie in the period matches
    /// (``Period/mayContain(_:)``).
    public var started: Period?
    /// The finish date, in the same way.
    public var finished: Period?
    public var zone = TimeZone.gmt
    /// True to search the trash instead.
    public var inTrash = false
    /// `nil` for the best order: by relevance, and without a text by ``Sort/added``.
    public var sort: Sort?
    /// True to reverse the sort order; empty values are still last. The best order cannot be reversed.
    public var isReversed = false
    /// The ``SearchResults/next`` of the previous page; `nil` for the first page. Books added or removed in between do
    /// not shift pages.
    public var after: String?
    public var limit = 50
    /// The number at which counting matches ends (``SearchResults/isTotalExact``).
    public var countLimit = 1000

    /// Dates and ratings sort from the latest and highest, texts from A; empty values come last.
    public enum Sort: String, Sendable, CaseIterable, Codable { case added, started, finished, title, author, rating }

    public init() {}

    /// True if any filter but the trash is set.
    public var hasFilters: Bool {
        var bare = BookQuery()
        (bare.text, bare.inTrash, bare.sort, bare.isReversed) = (text, inTrash, sort, isReversed)
        bare.searchesAnnotations = searchesAnnotations
        (bare.zone, bare.after, bare.limit, bare.countLimit) = (zone, after, limit, countLimit)
        return self != bare
    }
}

/// A range of ratings that can be filtered.
public enum RatingBand: Hashable, Sendable, Codable, Comparable {
    case unrated
    /// From this many stars to below the next: 4 is 4 to below 5, 0 is below 1. 0 to 5.
    case stars(Int)

    /// The band that contains a rating.
    public init(_ rating: Double?) { self = rating.map { .stars(Int($0)) } ?? .unrated }

    /// All bands, unrated last.
    public static let all: [RatingBand] = (0...5).reversed().map(RatingBand.stars) + [.unrated]
}

/// The reason why a search is refused.
public enum SearchRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The position to continue from is invalid or belongs to another query.
    case badPosition(String)

    public var description: String {
        switch self {
        case .badPosition(let text):
            "\"\(text.prefix(40))\" is not a position in this list. Use the one from the previous page with the same search and order, or start again without it."
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
    /// Most used first, as are ``shelves``, ``languages`` and ``authors``.
    public var tags: [NameCount] = []
    public var shelves: [NameCount] = []
    public var languages: [NameCount] = []
    /// The first 20.
    public var authors: [NameCount] = []
    public var owned = 0
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
            "owned": .integer(owned), "wishlist": .integer(wishlist), "favourites": .integer(favourites),
        ]
    }
}

extension RatingBand {
    /// `4`, `unrated`: the form in which commands accept and print it.
    public var text: String {
        switch self {
        case .unrated: "unrated"
        case .stars(let stars): String(stars)
        }
    }

    /// - Returns: `nil` for anything but 0 to 5 and `unrated`.
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
