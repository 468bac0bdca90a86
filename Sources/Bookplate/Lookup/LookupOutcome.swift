import FoundationEssentials

/// The outcome of looking up one ISBN. The five cases are kept apart, because an outage does not mean that there is no
/// such book.
public enum LookupOutcome: Sendable, Equatable {
    /// The record, and the source of its title. Each field of the record has its own source.
    case found(Metadata, from: SourceName)
    /// No source knows the ISBN. All sources that were queried have answered, and at least one of them is an online
    /// source.
    case notFound(asked: [SourceName])
    /// The lookup failed, but may succeed later: no network, a timeout, 5xx or 429.
    case temporary(SourceError)
    /// Access is denied or intercepted: 403, a network's sign-in page, a redirect to another host.
    case blocked(SourceError)
    /// A source's answer could not be understood, or was about another book.
    case badData(SourceError)

    /// The outcome as the word that is used in JSON and in the database.
    public var name: Name {
        switch self {
        case .found: .found
        case .notFound: .notFound
        case .temporary: .temporary
        case .blocked: .blocked
        case .badData: .badData
        }
    }

    /// The reason, for people, that there is no record, or that the record may be another book's; `nil` for a certain
    /// record.
    public var reason: String? {
        switch self {
        case .found(let metadata, _): metadata.isWeakMatch ? Metadata.weakMatchReason : nil
        case .notFound(let asked) where asked.isEmpty: "no record at any source"
        case .notFound(let asked): "no record at \(asked.map(\.displayName).joined(separator: ", "))"
        case .temporary(let failure), .blocked(let failure), .badData(let failure): failure.description
        }
    }

    /// The names of the five outcomes.
    public enum Name: String, Sendable, Codable, CaseIterable { case found, notFound, temporary, blocked, badData }
}

/// The failure of a source, and the time to wait before querying the source again.
public struct SourceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The source that failed; `nil` if no source could be queried.
    public var source: SourceName?
    /// The reason for people, without a full stop: what happened, and what to do if anything can be done.
    public var reason: String
    /// The time to wait before querying the source again, as required by the source or the rate limiter.
    public var retryAfter: Duration?

    public init(source: SourceName?, reason: String, retryAfter: Duration? = nil) {
        self.source = source
        self.reason = reason
        self.retryAfter = retryAfter
    }

    public var description: String { (source.map { "\($0.displayName): " } ?? "") + reason }

    /// Returns the error for a lookup in which no online source was asked.
    public static func noSourceAsked(_ notAsked: [NotAsked]) -> SourceError {
        let online = notAsked.filter { $0.source != .offlineIndex }
        let common = Set(online.map(\.reason))
        let reason =
            online.isEmpty
            ? "all are switched off in the settings"
            : common.count == 1
                ? online[0].reason : online.map { "\($0.source.displayName): \($0.reason)" }.joined(separator: "; ")
        return SourceError(source: nil, reason: "no online source was queried (\(reason))")
    }
}

/// A source that was not queried, and the reason.
public struct NotAsked: Sendable, Equatable {
    public var source: SourceName
    /// The reason for people, without a full stop, such as "needs a key" or "offline is switched on".
    public var reason: String

    public init(source: SourceName, reason: String) {
        self.source = source
        self.reason = reason
    }
}

/// The outcome for one ISBN, with the sources that were not queried.
public struct LookupAnswer: Sendable, Equatable {
    public var isbn: ISBN
    public var outcome: LookupOutcome
    /// True if the outcome came from the answer cache.
    public var isCached: Bool
    public var notAsked: [NotAsked]
    /// The sources that are still to be asked for empty fields of the record; `nil` if the answer is complete.
    public var pending: PendingSources?

    public init(
        isbn: ISBN, outcome: LookupOutcome, isCached: Bool = false, notAsked: [NotAsked] = [],
        pending: PendingSources? = nil
    ) {
        self.isbn = isbn
        self.outcome = outcome
        self.isCached = isCached
        self.notAsked = notAsked
        self.pending = pending
    }
}

/// The sources that are still to be asked for the empty fields of a record that was found.
public struct PendingSources: Sendable, Equatable, Codable {
    /// The sources. The list is empty if all have answered, but a book may not have got what they added.
    public var sources: [SourceName]
    /// The time from which they are to be asked.
    public var due: Date
    /// The number of attempts so far.
    public var attempts = 0

    private static let firstPause: TimeInterval = 600
    /// A day and an hour, because a quota for a day ends at midnight.
    private static let longestPause: TimeInterval = 90_000

    public init(_ sources: [SourceName], due: Date) { (self.sources, self.due) = (sources, due) }

    /// Returns what is pending after another attempt that failed. The pauses double from ten minutes up to a day, and
    /// are longer if a source asks for that.
    public func postponed(_ sources: [SourceName], by wait: Duration?, at now: Date) -> PendingSources {
        let pause = max(Self.firstPause * Double(1 << min(10, attempts)), (wait ?? .zero) / .seconds(1))
        var next = PendingSources(sources, due: now.addingTimeInterval(min(Self.longestPause, pause)))
        next.attempts = attempts + 1
        return next
    }
}
