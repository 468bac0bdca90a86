/// What a person knows about a book without a number: words of its title, and perhaps of its author's name.
public struct TitleQuery: Sendable, Hashable {
    /// The words of the title, in any order.
    public let title: String
    /// The words of an author's name; `nil` if the author is not known.
    public let author: String?

    /// The maximum length of each text, in characters. Catalogues refuse longer requests.
    public static let limit = 200

    /// - Returns: `nil` if the title contains no letter and no digit.
    public init?(title: String, author: String? = nil) {
        func words(_ text: String) -> String? {
            let text = String(text.cleaned.prefix(Self.limit))
            return text.contains { $0.isLetter || $0.isNumber } ? text : nil
        }
        guard let title = words(title) else { return nil }
        self.title = title
        self.author = author.flatMap(words)
    }

    /// The words of the title as a request to a catalogue lists them: letters and digits only, at most twelve.
    public var titleWords: [String] { Self.words(of: title) }
    /// The words of the author's name, as in ``titleWords``.
    public var authorWords: [String] { author.map(Self.words) ?? [] }

    private static func words(of text: String) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber }.prefix(12).map(String.init)
    }

    /// Returns how well an edition fits, the best being 0: the title is the same, begins with the words that are looked
    /// for, contains all of them, or contains some of them. Case and diacritics are ignored.
    ///
    /// - Returns: `nil` if the author is another one, or if the title has none of the words. Catalogues also return
    ///   such books, because they look into contents and alternative titles.
    public func distance(to metadata: Metadata) -> Int? {
        let authors = Set(metadata.authors.flatMap { Self.folded($0.name) })
        let wanted = author.map(Self.folded) ?? []
        // A record without authors may be the book.
        guard authors.isEmpty || wanted.allSatisfy({ word in authors.contains { $0.hasPrefix(word) } }) else {
            return nil
        }
        let words = Self.folded(title)
        let title = Self.folded(metadata.title ?? "")
        if title == words { return 0 }
        let whole = title + Self.folded(metadata.subtitle ?? "")
        if whole.starts(with: words) { return 1 }
        let found = words.count { word in whole.contains { $0.hasPrefix(word) } }
        if found == words.count { return 2 }
        return found == 0 ? nil : 3 + words.count - found
    }

    private static func folded(_ text: String) -> [String] { words(of: text.searchFolded) }
}

/// An edition that a source offers for a ``TitleQuery``.
public struct EditionOffer: Sendable, Equatable {
    /// The ISBN; `nil` if the edition has none, as most books before 1970.
    public var isbn: ISBN?
    public var metadata: Metadata

    public init(isbn: ISBN?, metadata: Metadata) {
        self.isbn = isbn
        self.metadata = metadata
    }
}

/// The answer of all sources to a ``TitleQuery``.
public struct TitleAnswer: Sendable, Equatable {
    /// The editions, the best first. The same edition from several sources is listed once, with the fields of all.
    public var offers: [EditionOffer]
    /// The sources that have answered.
    public var asked: [SourceName]
    /// The sources that failed. They may know more editions.
    public var failures: [SourceFailure]
    /// The sources that were not asked.
    public var notAsked: [NotAsked]

    public init(
        offers: [EditionOffer] = [], asked: [SourceName] = [], failures: [SourceFailure] = [],
        notAsked: [NotAsked] = []
    ) {
        self.offers = offers
        self.asked = asked
        self.failures = failures
        self.notAsked = notAsked
    }

    /// The outcome as for a number. It is *not found* only if every source that was asked has answered, and at least
    /// one of them is an online source.
    public var outcome: LookupOutcome.Name {
        if !offers.isEmpty { return .found }
        if let failure = failures.first { return failure.outcome }
        return asked.contains { $0 != .offlineIndex } ? .notFound : .temporary
    }

    /// The reason, for people, that no edition is offered; `nil` if there is one.
    public var reason: String? {
        if !offers.isEmpty { return nil }
        if let failure = failures.first { return failure.error.description }
        if outcome == .notFound { return LookupOutcome.notFound(asked: asked).reason }
        return SourceError.noSourceAsked(notAsked).description
    }
}

/// The failure of a source, with the outcome that it has for what was asked.
public struct SourceFailure: Sendable, Equatable {
    /// ``LookupOutcome/Name/temporary``, ``LookupOutcome/Name/blocked`` or ``LookupOutcome/Name/badData``.
    public var outcome: LookupOutcome.Name
    public var error: SourceError

    public init(_ outcome: LookupOutcome.Name, _ error: SourceError) {
        self.outcome = outcome
        self.error = error
    }
}
