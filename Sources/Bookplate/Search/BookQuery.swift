import FoundationEssentials

/// What to look for. Filters combine with AND between them, OR within one.
///
/// Every word of ``text`` must be found, as the beginning of a word: in title, subtitle, authors, series, tags, notes and
/// quotes, or in the ISBN. A single word of one or two letters is looked for at the beginning of the title and of the parts
/// of authors' names only, newest first; in company, in titles, series and authors. A number of four digits and more is also
/// looked for at the beginning of the ISBN in its 13- and 10-digit forms, hyphens or not.
public struct BookQuery: Sendable, Equatable {
    /// As it was typed; no character in it means anything. Empty it matches everything, and without any letter, digit or
    /// symbol nothing. Of a text the first 16 words count.
    public var text = ""
    /// Whether the text is looked for in notes and quotes as well.
    public var searchesAnnotations = true
    public var statuses: Set<Copy.Status> = []
    /// In any form of case.
    public var tags: [String] = []
    public var shelves: [String] = []
    /// Their names, case and diacritics aside; in any role.
    public var authors: [String] = []
    /// As the edition says it: ISO 639-1, else 639-2.
    public var languages: Set<String> = []
    public var ratings: Set<RatingBand> = []
    public var isOwned: Bool?
    public var isOnWishlist: Bool?
    public var isFavourite: Bool?
    /// In ``zone``.
    public var added: Period?
    /// Of the reading that the book shows; so is ``finished``. What may lie in it does: ``Period/mayContain(_:)``.
    public var started: Period?
    public var finished: Period?
    public var zone = TimeZone.gmt
    /// Whether it is the trash that is looked through.
    public var inTrash = false
    /// `nil` is the best order: how well the text fits, and without a text ``Sort/added``.
    public var sort: Sort?
    /// The sort's order turned round; what is empty is last all the same. The best order has no other way round.
    public var isReversed = false
    /// The ``SearchResults/next`` of the page before; `nil` for the first page. Books that come and go in between move nothing.
    public var after: String?
    public var limit = 50
    /// How far a page counts what matches (``SearchResults/isTotalExact``).
    public var countLimit = 1000

    /// Dates and ratings run from the latest and highest, texts from A; what is empty comes last.
    public enum Sort: String, Sendable, CaseIterable, Codable { case added, started, finished, title, author, rating }

    public init() {}

    /// Whether any filter but the trash is set.
    public var hasFilters: Bool {
        var bare = BookQuery()
        (bare.text, bare.inTrash, bare.sort, bare.isReversed) = (text, inTrash, sort, isReversed)
        bare.searchesAnnotations = searchesAnnotations
        (bare.zone, bare.after, bare.limit, bare.countLimit) = (zone, after, limit, countLimit)
        return self != bare
    }
}

/// Ratings as filters have them.
public enum RatingBand: Hashable, Sendable, Codable, Comparable {
    case unrated
    /// From so many stars to under the next: 4 is 4 to under 5, 0 is under 1. 0 to 5.
    case stars(Int)

    /// The band that a rating falls into.
    public init(_ rating: Double?) { self = rating.map { .stars(Int($0)) } ?? .unrated }

    /// Every band, the unrated last.
    public static let all: [RatingBand] = (0...5).reversed().map(RatingBand.stars) + [.unrated]
}

/// Why a search is refused.
public enum SearchRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place to go on from is no such place, or another query's.
    case badPlace(String)

    public var description: String {
        switch self {
        case .badPlace(let text):
            "\"\(text.prefix(40))\" is no place in this list. Take it from the page before, with the same search and order, or begin again without it."
        }
    }
}

/// A name and how many books have it.
public struct NameCount: Sendable, Hashable {
    public var name: String
    public var count: Int

    public init(name: String, count: Int) {
        self.name = name
        self.count = count
    }
}

/// How many books each value of each filter would give. Values that would give none are left out, except those that the query
/// names itself.
public struct BookFacets: Sendable, Equatable {
    public var statuses: [Copy.Status: Int] = [:]
    public var ratings: [RatingBand: Int] = [:]
    /// The most used first; so are ``shelves``, ``languages`` and ``authors``.
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
    /// `4`, `unrated`: as commands take and print it.
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
