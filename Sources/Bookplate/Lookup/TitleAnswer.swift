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

extension EditionOffer {
    /// The schemes of identifiers that name editions, not works.
    private static let schemes: Set = ["openlibrary", "google", "dnb", "bn", "libris", "k10plus", "oclc"]

    /// Returns true if an edition of the same work is this one: if a source has given both the same number, or if both
    /// have no ISBN, and the same publisher and year.
    public func isEdition(_ edition: Edition) -> Bool {
        let (own, other) = (metadata.identifiers, edition.metadata.identifiers)
        let shared = Self.schemes.filter { own[$0]?.isEmpty == false && other[$0]?.isEmpty == false }
        if !shared.isEmpty { return shared.contains { !Set(own[$0] ?? []).isDisjoint(with: other[$0] ?? []) } }
        guard isbn == nil, edition.isbn == nil, let publisher = metadata.publisher else { return false }
        return publisher == edition.metadata.publisher
            && metadata.publishedDate?.year == edition.metadata.publishedDate?.year
    }
}

extension Edition {
    /// The words to look for it by; `nil` if it has no title with a letter or digit.
    public var titleQuery: TitleQuery? { TitleQuery(title: metadata.title ?? "", author: metadata.authorNames.first) }

    /// Returns the edition, among those that a source offers for ``titleQuery``, that is this one, or else the one that
    /// fits best: its title has all the words, and if both years are known, they are the same.
    public func closest(of offers: [EditionOffer]) -> EditionOffer? {
        guard let query = titleQuery else { return nil }
        let year = metadata.publishedDate?.year
        let rated = offers.compactMap { offer -> (isSame: Bool, distance: Int, offer: EditionOffer)? in
            if offer.isEdition(self) { return (true, 0, offer) }
            guard let distance = query.distance(to: offer.metadata), distance <= TitleQuery.allWords else { return nil }
            if let year, let other = offer.metadata.publishedDate?.year, year != other { return nil }
            return (false, distance, offer)
        }
        return (rated.first(where: \.isSame) ?? rated.min { $0.distance < $1.distance })?.offer
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
        if let failure = decisive { return failure.outcome }
        return asked.contains { $0 != .offlineIndex } ? .notFound : .temporary
    }

    /// The failure that decides the outcome, as for a number: that of an online source, if there is one.
    private var decisive: SourceFailure? {
        failures.first { $0.error.source != .offlineIndex } ?? failures.first
    }

    /// The reason, for people, that no edition is offered; `nil` if there is one.
    public var reason: String? {
        if !offers.isEmpty { return nil }
        if let failure = decisive { return failure.error.description }
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

/// An edition to choose from, together with the copies that the library has.
public struct EditionChoice: Sendable, Equatable {
    public var offer: EditionOffer
    /// The copies of this edition, including copies in the trash.
    public var copies: [Book]
    /// The copies of other editions of the same work, without those in the trash.
    public var others: [Book]

    public init(offer: EditionOffer, copies: [Book] = [], others: [Book] = []) {
        self.offer = offer
        self.copies = copies
        self.others = others
    }

    /// The source of the title.
    public var source: SourceName? { offer.metadata.sources[.title] }

    /// The copy that makes the edition count as *owned already*; `nil` if there is none.
    public var owned: Book? { copies.firstOwned }
}
