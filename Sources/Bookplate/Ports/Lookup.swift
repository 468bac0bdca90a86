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

    /// Finds editions by their title, the best first.
    ///
    /// - Returns: `nil` if the source has no titles to search.
    func find(_ query: TitleQuery, limit: Int) async throws(SourceError) -> [EditionOffer]?
}

/// The answer of one source for one ISBN.
public enum SourceAnswer: Sendable, Equatable {
    case found(Metadata)
    case notFound
    /// The source was left out.
    case notAsked(reason: String)
    case temporary(SourceError)
    case blocked(SourceError)
    case badData(SourceError)
}

/// The point at which a lookup ends.
public enum LookupGoal: Sendable {
    /// A record with a title, from the first source that has one. The sources that may fill its gaps are
    /// ``LookupAnswer/pending``, and are asked later by ``MetadataLookup/fillGaps(_:)``.
    case title
    /// A record without gaps, or the answers of all sources.
    case record
}

/// Looks up ISBNs in all sources, and merges the answers.
public protocol MetadataLookup: Sendable {
    /// Looks up ISBNs.
    ///
    /// - Parameter refresh: true to ignore cached answers. New answers are always cached.
    /// - Returns: an answer for every ISBN, in the order in which they arrive. With the goal ``LookupGoal/title``,
    ///   another answer may follow, with what a source that was asked at the same time has added.
    func lookUp(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool) -> AsyncStream<LookupAnswer>
    /// Asks the pending sources of all cached answers, including those of earlier runs and of other processes. A source
    /// that fails is asked again later.
    ///
    /// - Parameter apply: stores what the sources added. An answer stays pending until this returns without an error,
    ///   so it may be applied a second time.
    func fillGaps(_ apply: @Sendable ([LookupAnswer]) async throws -> Void) async throws
}

extension MetadataLookup {
    public func lookUp(_ isbns: [ISBN], refresh: Bool) -> AsyncStream<LookupAnswer> {
        lookUp(isbns, for: .record, refresh: refresh)
    }

    /// Asks nobody.
    public func fillGaps(_ apply: @Sendable ([LookupAnswer]) async throws -> Void) async throws {}
}

/// Finds editions by their title, for books without a number.
public protocol TitleSearch: Sendable {
    /// Asks the offline index and the online sources, all at once.
    ///
    /// - Parameter language: the language of the person, whose national catalogue is asked, too: an ISO 639-1 code;
    ///   `nil` for none.
    func find(_ query: TitleQuery, language: String?) async -> TitleAnswer
}

/// Asks sources separately, so that a person can compare what each of them has.
public protocol RecordSearch: Sendable {
    /// Returns the answer of every source that is switched on and may have the book, in the order in which the sources
    /// win a field. The cache is not used. An edition without an ISBN is looked for by its title and first author, so a
    /// record may be that of another edition; see ``Edition/closest(of:)``.
    ///
    /// - Parameter language: the language of the person, as an ISO 639-1 code, if that of the edition is not known;
    ///   `nil` if neither is.
    /// - Returns: only the sources that are switched off if the edition has neither an ISBN nor a title to look for.
    func records(of edition: Edition, language: String?) async -> [SourceRecord]
}

/// A cache of the sources' answers. *Found* is kept until it is refreshed, *not found* for seven days.
public protocol AnswerCache: Sendable {
    /// Returns the cached answers for these ISBNs, without expired answers.
    func answers(for isbns: [ISBN], at now: Date) async throws -> [ISBN: LookupAnswer]
    /// Caches the outcomes *found* and *not found*, with the pending sources; other outcomes are ignored.
    func keep(_ answers: [LookupAnswer], at now: Date) async throws
    /// Returns the cached answers whose pending sources are to be asked now, those that are due longest first.
    func answersWithGaps(limit: Int, at now: Date) async throws -> [LookupAnswer]
    /// Runs `body`, which asks pending sources, unless another process does that now.
    func fillGapsAlone(_ body: @Sendable () async throws -> Void) async throws
}

/// The rate limits of the sources, shared by all processes on this machine.
public protocol RateLimits: Sendable {
    /// Reads, changes and stores the state of one source in one transaction.
    func update<Result: Sendable>(
        _ source: SourceName, _ change: @escaping @Sendable (inout SourceState) -> Result
    ) async throws -> Result
}
