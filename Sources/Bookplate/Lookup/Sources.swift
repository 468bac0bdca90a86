import FoundationEssentials

/// One place on this machine that knows books by ISBN: asking it takes neither network nor turns.
public protocol MetadataSource: Sendable {
    var name: SourceName { get }
    /// How many ISBNs go into one request.
    var batchSize: Int { get }

    /// Asks for up to ``batchSize`` ISBNs.
    ///
    /// - Returns: an answer for every ISBN asked.
    func lookUp(_ isbns: [ISBN]) async -> [ISBN: SourceAnswer]
}

/// What one source says of one ISBN.
public enum SourceAnswer: Sendable, Equatable {
    case found(Metadata)
    case notFound
    case notAsked(reason: String)
    case temporary(SourceError)
    case blocked(SourceError)
    case badData(SourceError)
}

/// Asks all sources in their order and merges what they say.
public protocol MetadataLookup: Sendable {
    /// - Parameter refresh: whether the answer cache is passed over (answers are written to it all the same).
    /// - Returns: an answer for every ISBN, in the order in which they become known.
    func lookUp(_ isbns: [ISBN], refresh: Bool) -> AsyncStream<LookupAnswer>
}

/// What the sources said before. Found answers are kept until refreshed, *not found* for seven days.
public protocol AnswerCache: Sendable {
    /// - Returns: the answers known for these ISBNs; those out of date are left out.
    func answers(for isbns: [ISBN], at now: Date) async throws -> [ISBN: LookupAnswer]
    /// Keeps found and not-found answers; other outcomes are not kept.
    func keep(_ answers: [LookupAnswer], at now: Date) async throws
}

/// The policy of this machine towards a source, shared by all its processes.
public protocol RateLimits: Sendable {
    /// Reads, changes and stores one source's state in one transaction.
    func update<Result: Sendable>(
        _ source: SourceName, _ change: @escaping @Sendable (inout SourceState) -> Result
    ) async throws -> Result
}

/// Fetches a cover picture.
public protocol CoverFetch: Sendable {
    /// - Returns: the picture's bytes (JPEG, PNG, GIF or WebP, at most 5 MiB), `nil` when the address has none.
    /// - Throws: ``SourceError`` when it could not be had, or when the address is not allowed.
    func cover(at url: String) async throws -> [UInt8]?
}
