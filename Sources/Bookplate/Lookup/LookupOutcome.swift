/// The outcome of looking up one ISBN. The five cases are kept apart: an outage is not "no such book".
public enum LookupOutcome: Sendable, Equatable {
    /// The record, and the source that knew it first; each field records its own source.
    case found(Metadata, from: SourceName)
    /// Every source that was asked answered, at least one of them was online, and none knows the ISBN.
    case notFound(asked: [SourceName])
    /// May succeed later: no network, a timeout, 5xx or 429.
    case temporary(SourceError)
    /// Access is denied or intercepted: 403, a network's sign-in page, a redirect to another host.
    case blocked(SourceError)
    /// An answer that makes no sense, or is about another book.
    case badData(SourceError)

    /// The word used in JSON and in the database.
    public var name: Name {
        switch self {
        case .found: .found
        case .notFound: .notFound
        case .temporary: .temporary
        case .blocked: .blocked
        case .badData: .badData
        }
    }

    /// The words for the five outcomes.
    public enum Name: String, Sendable, Codable, CaseIterable { case found, notFound, temporary, blocked, badData }
}

/// The failure of a source, and when to ask it again.
public struct SourceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// `nil` if no source could be asked.
    public var source: SourceName?
    /// For people, without a full stop: what happened, and what to do if something can be done.
    public var reason: String
    /// The time to wait, as the source or the rate limiter requires.
    public var retryAfter: Duration?

    public init(source: SourceName?, reason: String, retryAfter: Duration? = nil) {
        self.source = source
        self.reason = reason
        self.retryAfter = retryAfter
    }

    public var description: String { (source.map { "\($0.displayName): " } ?? "") + reason }
}

/// A source that was not asked, and the reason.
public struct NotAsked: Sendable, Equatable {
    public var source: SourceName
    /// For people, without a full stop: "needs a key", "offline is switched on".
    public var reason: String

    public init(source: SourceName, reason: String) {
        self.source = source
        self.reason = reason
    }
}

/// The outcome for one ISBN, and how it came about.
public struct LookupAnswer: Sendable, Equatable {
    public var isbn: ISBN
    public var outcome: LookupOutcome
    /// True if the outcome came from the answer cache.
    public var isCached: Bool
    public var notAsked: [NotAsked]

    public init(isbn: ISBN, outcome: LookupOutcome, isCached: Bool = false, notAsked: [NotAsked] = []) {
        self.isbn = isbn
        self.outcome = outcome
        self.isCached = isCached
        self.notAsked = notAsked
    }
}
