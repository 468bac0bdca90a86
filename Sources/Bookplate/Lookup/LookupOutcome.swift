/// What asking the sources for one ISBN came to. The five are never mixed: an outage is not "no such book".
public enum LookupOutcome: Sendable, Equatable {
    /// The record and the source that knew it first; each field names its own source.
    case found(Metadata, from: SourceName)
    /// Every source that was asked answered, at least one of them was online, none knows the ISBN.
    case notFound(asked: [SourceName])
    /// Might work later: no network, a time-out, 5xx, 429.
    case temporary(SourceError)
    /// Something stands between: 403, a network's sign-in page, a redirect to another host.
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

    /// The five words.
    public enum Name: String, Sendable, Codable, CaseIterable { case found, notFound, temporary, blocked, badData }
}

/// Which source failed, how, and for how long it asks to be left alone.
public struct SourceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// `nil` when no source could be asked at all.
    public var source: SourceName?
    /// For a person, without a full stop: what happened, and what to do where something can be done.
    public var reason: String
    /// As the source told, or as the limiter reckons.
    public var retryAfter: Duration?

    public init(source: SourceName?, reason: String, retryAfter: Duration? = nil) {
        self.source = source
        self.reason = reason
        self.retryAfter = retryAfter
    }

    public var description: String { (source.map { "\($0.displayName): " } ?? "") + reason }
}

/// A source that was left out, and what it lacks.
public struct NotAsked: Sendable, Equatable {
    public var source: SourceName
    /// For a person, without a full stop: "needs a key", "offline is switched on".
    public var reason: String

    public init(source: SourceName, reason: String) {
        self.source = source
        self.reason = reason
    }
}

/// The outcome for one ISBN with the story around it.
public struct LookupAnswer: Sendable, Equatable {
    public var isbn: ISBN
    public var outcome: LookupOutcome
    /// Whether it came from the answer cache.
    public var isCached: Bool
    public var notAsked: [NotAsked]

    public init(isbn: ISBN, outcome: LookupOutcome, isCached: Bool = false, notAsked: [NotAsked] = []) {
        self.isbn = isbn
        self.outcome = outcome
        self.isCached = isCached
        self.notAsked = notAsked
    }
}
