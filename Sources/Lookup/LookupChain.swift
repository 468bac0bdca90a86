import Bookplate
import FoundationEssentials
import HTTP

/// Queries the sources one after another and merges their records. The order is: the answer cache, the offline index,
/// Open Library, Google Books.
///
/// - A record from the offline index is enough if it has a title and authors; then no online source is queried.
/// - The next online source is queried if the book has not been found, or if one of the ``Metadata/essentials`` is
///   missing.
/// - Answers from online sources are cached if they are *found* or *not found*. Answers from the index alone are not
///   cached.
/// - Every answer lists the sources that the caller has left out. The remaining sources are queried as usual.
public struct LookupChain: MetadataLookup {
    private let index: (any MetadataSource)?
    private let notAsked: [NotAsked]
    private let online: [any OnlineSource]
    private let isOffline: Bool
    private let cache: (any AnswerCache)?
    private let policy: RequestPolicy

    /// - Parameters:
    ///   - index: the ``OfflineIndex``, if there is one.
    ///   - notAsked: the sources that cannot be used, such as a damaged index, each with the reason. They are listed in
    ///     every answer.
    ///   - states: the rate limits for the sources, which all processes on this machine share.
    ///   - clock: the clock for waits and for the time limit of a lookup (8 s).
    ///   - now: returns the calendar time, which is stored with rate limits and cached answers.
    ///   - report: logs errors that do not change an answer, such as a cache that cannot be read or written.
    public init(
        _ configuration: LookupConfiguration, index: (any MetadataSource)? = nil, notAsked: [NotAsked] = [],
        cache: (any AnswerCache)? = nil, states: any RateLimits, clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        let policy = RequestPolicy(
            http: HTTPClient(configuration), states: states, time: LookupClock(clock, date: now), report: report)
        self.init(configuration, index: index, notAsked: notAsked, cache: cache, policy: policy)
    }

    init(
        _ configuration: LookupConfiguration, index: (any MetadataSource)?, notAsked: [NotAsked],
        cache: (any AnswerCache)?, policy: RequestPolicy
    ) {
        self.index = index
        self.notAsked = notAsked
        online = configuration.sources
        isOffline = configuration.isOffline
        self.cache = cache
        self.policy = policy
    }

    /// Looks up each ISBN once, even if the list contains it several times. Ending the stream cancels the requests.
    public func lookUp(_ isbns: [ISBN], refresh: Bool) -> AsyncStream<LookupAnswer> {
        AsyncStream { stream in
            let task = Task {
                await run(isbns, refresh: refresh, into: stream)
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    private func run(_ isbns: [ISBN], refresh: Bool, into stream: AsyncStream<LookupAnswer>.Continuation) async {
        var seen: Set<ISBN> = []
        let unique = isbns.filter { seen.insert($0).inserted }
        let open = await answerFromCache(unique, refresh: refresh, into: stream)
        guard !open.isEmpty, !Task.isCancelled else { return }
        var drafts = open.map { LookupDraft($0, notAsked: notAsked) }
        await askIndex(&drafts)
        let (complete, incomplete) = drafts.partitioned(by: \.hasTitleAndAuthors)
        for draft in complete { stream.yield(draft.answer) }
        guard !incomplete.isEmpty else { return }
        let (sources, unavailable) = await availableSources()
        let remaining = incomplete.map { draft in
            var draft = draft
            for one in unavailable { draft.add(.notAsked(reason: one.reason), from: one.source) }
            return draft
        }
        await ask(sources, remaining, into: stream)
    }

    private func answerFromCache(
        _ isbns: [ISBN], refresh: Bool, into stream: AsyncStream<LookupAnswer>.Continuation
    ) async -> [ISBN] {
        guard !refresh, let cache else { return isbns }
        do {
            let known = try await cache.answers(for: isbns, at: policy.time.date())
            for isbn in isbns {
                guard var answer = known[isbn] else { continue }
                answer.isCached = true
                answer.notAsked = notAsked + answer.notAsked
                stream.yield(answer)
            }
            return isbns.filter { known[$0] == nil }
        } catch {
            policy.report("lookup: the answer cache cannot be read: \(error)")
            return isbns
        }
    }

    private func askIndex(_ drafts: inout [LookupDraft]) async {
        guard let index else { return }
        for start in stride(from: 0, to: drafts.count, by: index.batchSize) {
            let batch = start..<min(drafts.count, start + index.batchSize)
            let answers = await index.lookUp(drafts[batch].map(\.isbn))
            for position in batch {
                drafts[position].add(answers[drafts[position].isbn] ?? .notFound, from: index.name)
            }
        }
    }

    /// Returns the online sources that can be queried, and the remaining sources with the reason why they cannot be
    /// queried.
    private func availableSources() async -> ([any OnlineSource], [NotAsked]) {
        var available: [any OnlineSource] = []
        var notAsked: [NotAsked] = []
        let now = policy.time.date()
        for source in online {
            if isOffline {
                notAsked.append(NotAsked(source: source.name, reason: "offline mode is on"))
                continue
            }
            // An error when reading the state is ignored here, because it occurs again when the source is asked, and is
            // reported then.
            let reason =
                source.hasKey ? nil : try? await policy.states.update(source.name) { $0.reasonNotToAsk(at: now) }
            if let reason {
                notAsked.append(NotAsked(source: source.name, reason: reason))
            } else {
                available.append(source)
            }
        }
        return (available, notAsked)
    }

    /// Runs two stages at the same time. The first stage queries the first source for whole batches. The second stage
    /// takes the books whose records are incomplete, and queries the other sources for one book after another, with a
    /// separate deadline for each book.
    private func ask(
        _ sources: [any OnlineSource], _ drafts: [LookupDraft], into stream: AsyncStream<LookupAnswer>.Continuation
    ) async {
        guard let first = sources.first else {
            for draft in drafts { stream.yield(draft.answer) }
            return
        }
        let plan = LookupPlan(sources: sources, policy: policy)
        let (incomplete, channel) = AsyncStream.makeStream(of: (LookupDraft, Deadline.Remainder).self)
        async let completed: Void = complete(incomplete, plan, into: stream)
        for start in stride(from: 0, to: drafts.count, by: first.batchSize) where !Task.isCancelled {
            let batch = drafts[start..<min(drafts.count, start + first.batchSize)]
            let deadline = Deadline(policy.time)
            let answers = await first.lookUp(batch.map(\.isbn), through: plan.client(for: first, deadline))
            var complete: [LookupDraft] = []
            for var draft in batch {
                draft.add(answers[draft.isbn] ?? .notFound, from: first.name)
                if sources.dropFirst().contains(where: draft.isAsked) || draft.needsMore {
                    channel.yield((draft, deadline.remainder))
                } else {
                    complete.append(draft)
                }
            }
            await finish(complete, into: stream)
        }
        channel.finish()
        await completed
    }

    private func complete(
        _ drafts: AsyncStream<(LookupDraft, Deadline.Remainder)>, _ plan: LookupPlan,
        into stream: AsyncStream<LookupAnswer>.Continuation
    ) async {
        guard let first = plan.sources.first else { return }
        for await (draft, remainder) in drafts where !Task.isCancelled {
            var draft = draft
            let deadline = Deadline(remainder, policy.time)
            if let record = draft.record(of: first.name), record.authorNames.isEmpty {
                let completed = await first.complete(
                    record, of: draft.isbn, through: plan.client(for: first, deadline))
                draft.replace(completed, from: first.name)
            }
            for (number, source) in plan.sources.enumerated().dropFirst() where draft.isAsked(of: source) {
                let isLast = !plan.sources[(number + 1)...].contains(where: draft.isAsked)
                let client = plan.client(for: source, deadline, isLast: isLast)
                let answers = await source.lookUp([draft.isbn], through: client)
                draft.add(answers[draft.isbn] ?? .notFound, from: source.name)
            }
            await finish([draft], into: stream)
        }
    }

    private func finish(_ drafts: [LookupDraft], into stream: AsyncStream<LookupAnswer>.Continuation) async {
        guard !Task.isCancelled, !drafts.isEmpty else { return }
        for draft in drafts { stream.yield(draft.answer) }
        let kept = drafts.filter(\.isCacheable).map { draft in
            var answer = draft.answer
            // The cached answer does not list the sources that are left out today, because they may be available later.
            answer.notAsked.removeAll(where: notAsked.contains)
            return answer
        }
        guard let cache, !kept.isEmpty else { return }
        do {
            try await cache.keep(kept, at: policy.time.date())
        } catch {
            policy.report("lookup: the answer cache cannot be written: \(error)")
        }
    }
}

/// The sources that one call of the lookup queries, in order, and the sources that it could not reach.
private struct LookupPlan: Sendable {
    let sources: [any OnlineSource]
    let policy: RequestPolicy
    let unreachable = UnreachableSources()

    /// Returns the client for a source. The requests to every source except the last one must leave 3 s for the sources
    /// after it.
    func client(for source: any OnlineSource, _ deadline: Deadline, isLast: Bool? = nil) -> SourceClient {
        SourceClient(
            source: source.name, policy: policy, deadline: deadline, unreachable: unreachable,
            reserve: isLast ?? (source.name == sources.last?.name) ? .zero : .seconds(3),
            honoursNotAsked: !source.hasKey,
            options: source.options)
    }
}

extension LookupDraft {
    fileprivate var hasTitleAndAuthors: Bool {
        guard let record = merged?.metadata, !record.isWeakMatch else { return false }
        return record.title != nil && !record.authorNames.isEmpty
    }
}

extension Array {
    /// Returns the elements that fulfil the condition, and the elements that do not. Both lists keep their order.
    fileprivate func partitioned(by condition: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(condition), filter { !condition($0) })
    }
}

/// The unfinished answer for one ISBN.
struct LookupDraft: Sendable {
    let isbn: ISBN
    private var records: [(source: SourceName, metadata: Metadata)] = []
    private var misses: [SourceName] = []
    private var failures: [(source: SourceName, answer: SourceAnswer)] = []
    private(set) var notAsked: [NotAsked]

    /// - Parameter notAsked: the sources that cannot be used, which the answer lists.
    init(_ isbn: ISBN, notAsked: [NotAsked]) {
        self.isbn = isbn
        self.notAsked = notAsked
    }

    mutating func add(_ answer: SourceAnswer, from source: SourceName) {
        switch answer {
        case .found(let metadata):
            let place = records.firstIndex { $0.source.precedence > source.precedence } ?? records.endIndex
            records.insert((source, metadata), at: place)
        case .notFound: misses.append(source)
        case .notAsked(let reason): notAsked.append(NotAsked(source: source, reason: reason))
        case .temporary, .blocked, .badData: failures.append((source, answer))
        }
    }

    /// Replaces the record from `source` with a more complete record.
    mutating func replace(_ metadata: Metadata, from source: SourceName) {
        guard let index = records.firstIndex(where: { $0.source == source }) else { return }
        records[index].metadata = metadata
    }

    /// Returns the record from `source`; `nil` if there is none.
    func record(of source: SourceName) -> Metadata? { records.first { $0.source == source }?.metadata }

    /// The merged record: the fields of the first source win, and later sources fill the gaps. A weak match may be a
    /// different book, so it is never merged with other records, and is used only if there is no certain match.
    var merged: (metadata: Metadata, from: SourceName)? {
        let certain = records.filter { !$0.metadata.isWeakMatch }
        guard let first = certain.first ?? records.first else { return nil }
        var metadata = first.metadata
        for other in certain.dropFirst() { metadata.fillGaps(from: other.metadata) }
        if metadata.series == nil { metadata.seriesNumber = nil }
        return (metadata, first.source)
    }

    /// Returns true if the source may add something to the records so far.
    func isAsked(of source: any OnlineSource) -> Bool { source.isAsked(for: isbn, found: merged?.metadata) }

    /// True if another source should be queried, because there is no certain match or an essential field is missing.
    var needsMore: Bool { merged.map { $0.metadata.isWeakMatch || !$0.metadata.missingEssentials.isEmpty } ?? true }

    /// True if an online source has answered.
    private var wasAnsweredOnline: Bool { (records.map(\.source) + misses).contains { $0 != .offlineIndex } }

    /// True if the answer may be cached: an online source has answered, and the outcome is *found* or *not found*. A
    /// weak match is not cached if any source failed, because that source may have a better match.
    var isCacheable: Bool {
        guard wasAnsweredOnline else { return false }
        return switch outcome {
        case .found(let metadata, _): !metadata.isWeakMatch || failures.isEmpty
        case .notFound: true
        default: false
        }
    }

    /// The answer. A record wins over any failure. Without a record, the first failure of an online source is the
    /// outcome, because that source may know the book. The outcome is *not found* only if no source failed and at least
    /// one online source answered.
    var answer: LookupAnswer {
        LookupAnswer(isbn: isbn, outcome: outcome, notAsked: notAsked)
    }

    private var outcome: LookupOutcome {
        if let merged { return .found(merged.metadata, from: merged.from) }
        switch (failures.first { $0.source != .offlineIndex } ?? failures.first)?.answer {
        case .temporary(let failure): return .temporary(failure)
        case .blocked(let failure): return .blocked(failure)
        case .badData(let failure): return .badData(failure)
        default: break
        }
        if wasAnsweredOnline { return .notFound(asked: misses) }
        let reasons = notAsked.filter { $0.source != .offlineIndex }.map { "\($0.source.displayName): \($0.reason)" }
            .joined(separator: "; ")
        return .temporary(SourceError(source: nil, reason: "no online source was queried (\(reasons))"))
    }
}

extension [ISBN] {
    /// Returns an answer for each ISBN.
    func answered(by answer: (ISBN) -> SourceAnswer) -> [ISBN: SourceAnswer] {
        Dictionary(map { ($0, answer($0)) }, uniquingKeysWith: { first, _ in first })
    }
}
