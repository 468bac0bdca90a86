import FoundationEssentials

/// A local source that knows books by ISBN. Querying it needs no network and does not count against a rate limit.
public protocol MetadataSource: Sendable {
    var name: SourceName { get }
    /// The maximum number of ISBNs in one request.
    var batchSize: Int { get }

    /// Looks up at most ``batchSize`` ISBNs.
    ///
    /// - Returns: an answer for every ISBN.
    func lookUp(_ isbns: [ISBN]) async -> [ISBN: SourceAnswer]
}

/// The answer of one source for one ISBN.
public enum SourceAnswer: Sendable, Equatable {
    case found(Metadata)
    case notFound
    case notAsked(reason: String)
    case temporary(SourceError)
    case blocked(SourceError)
    case badData(SourceError)
}

/// Looks up ISBNs in all sources, in order, and merges the answers.
public protocol MetadataLookup: Sendable {
    /// Looks up ISBNs.
    ///
    /// - Parameter refresh: true to ignore cached answers. New answers are always cached.
    /// - Returns: an answer for every ISBN, in the order in which they arrive.
    func lookUp(_ isbns: [ISBN], refresh: Bool) -> AsyncStream<LookupAnswer>
}

/// A cache of the sources' answers. *Found* is kept until it is refreshed, *not found* for seven days.
public protocol AnswerCache: Sendable {
    /// Returns the cached answers for these ISBNs, without expired answers.
    func answers(for isbns: [ISBN], at now: Date) async throws -> [ISBN: LookupAnswer]
    /// Caches the outcomes *found* and *not found*; other outcomes are ignored.
    func keep(_ answers: [LookupAnswer], at now: Date) async throws
}

/// The rate limits of the sources, shared by all processes on this machine.
public protocol RateLimits: Sendable {
    /// Reads, changes and stores the state of one source in one transaction.
    func update<Result: Sendable>(
        _ source: SourceName, _ change: @escaping @Sendable (inout SourceState) -> Result
    ) async throws -> Result
}
