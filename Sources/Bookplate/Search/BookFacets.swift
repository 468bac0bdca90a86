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
