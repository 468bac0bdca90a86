import Bookplate
import FoundationEssentials
import HTTP

/// Asks in this order and merges: the answer cache, the offline index, Open Library, Google Books.
///
/// - A record of the offline index with title and authors is enough; nothing is asked online for it.
/// - The next online source is asked when the book is not found yet or a fact of ``Metadata/essentials`` is missing.
/// - Answers in which an online source took part go to the cache, if they are *found* or *not found*. The index needs no cache.
/// - Sources the caller had to leave out are told with every answer; the others are asked all the same.
public struct LookupChain: MetadataLookup {
    private let index: (any MetadataSource)?
    private let notAsked: [NotAsked]
    private let online: [any OnlineSource]
    private let isOffline: Bool
    private let cache: (any AnswerCache)?
    private let policy: RequestPolicy
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - index: the ``OfflineIndex``, where there is one.
    ///   - notAsked: sources left out before the chain was made, such as an index that is missing or damaged, and why; listed in
    ///     every answer.
    ///   - states: the machine's memory of the sources.
    ///   - clock: for waits and for the 8 s of a lookup.
    ///   - now: the calendar's time, for what processes share and what is kept.
    ///   - report: takes what does not change an answer but should be logged: a cache that cannot be read or written.
    public init(
        _ configuration: LookupConfiguration, index: (any MetadataSource)? = nil, notAsked: [NotAsked] = [],
        cache: (any AnswerCache)? = nil, states: any RateLimits, clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        let policy = RequestPolicy(http: HTTPClient(configuration), states: states, time: Timekeeper(clock, date: now))
        self.init(
            configuration, index: index, notAsked: notAsked, cache: cache, policy: policy, report: report)
    }

    init(
        _ configuration: LookupConfiguration, index: (any MetadataSource)?, notAsked: [NotAsked],
        cache: (any AnswerCache)?, policy: RequestPolicy, report: @escaping @Sendable (String) -> Void
    ) {
        let covers = CoverAddress(base: configuration.covers)
        self.index = index
        self.notAsked = notAsked
        online = [
            OpenLibrary(base: configuration.openLibrary, covers: covers),
            GoogleBooks(base: configuration.googleBooks, key: configuration.googleBooksKey, covers: covers),
        ]
        isOffline = configuration.isOffline
        self.cache = cache
        self.policy = policy
        self.report = report
    }

    /// Each ISBN is answered once, however often it is given. Ending the stream ends the requests.
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
        let (enough, lacking) = drafts.partitioned(by: \.hasTitleAndAuthors)
        for draft in enough { stream.yield(draft.answer) }
        guard !lacking.isEmpty else { return }
        let (sources, unavailable) = await askedToday()
        let left = lacking.map { draft in
            var draft = draft
            for one in unavailable { draft.add(.notAsked(reason: one.reason), from: one.source) }
            return draft
        }
        await ask(sources, left, into: stream)
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
            report("lookup: the answer cache cannot be read: \(error)")
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

    /// The online sources that can be asked, and those that cannot with the reason.
    private func askedToday() async -> ([any OnlineSource], [NotAsked]) {
        var asked: [any OnlineSource] = []
        var notAsked: [NotAsked] = []
        let now = policy.time.date()
        for source in online {
            if isOffline {
                notAsked.append(NotAsked(source: source.name, reason: "offline is switched on"))
                continue
            }
            // A state that cannot be read is met again, and told, when the source's turn is taken.
            let reason =
                source.hasKey ? nil : try? await policy.states.update(source.name) { $0.reasonNotToAsk(at: now) }
            if let reason {
                notAsked.append(NotAsked(source: source.name, reason: reason))
            } else {
                asked.append(source)
            }
        }
        return (asked, notAsked)
    }

    /// Two stages side by side: the first source is asked for whole batches; books that lack something after that go one by one
    /// through the others, each with its own time.
    private func ask(
        _ sources: [any OnlineSource], _ drafts: [LookupDraft], into stream: AsyncStream<LookupAnswer>.Continuation
    ) async {
        guard let first = sources.first else {
            for draft in drafts { stream.yield(draft.answer) }
            return
        }
        let itinerary = Itinerary(sources: sources, policy: policy)
        let (lacking, channel) = AsyncStream.makeStream(of: (LookupDraft, Budget.Rest).self)
        async let completed: Void = complete(lacking, itinerary, isAlone: drafts.count == 1, into: stream)
        for start in stride(from: 0, to: drafts.count, by: first.batchSize) where !Task.isCancelled {
            let batch = drafts[start..<min(drafts.count, start + first.batchSize)]
            let budget = Budget(policy.time)
            let answers = await first.lookUp(batch.map(\.isbn), on: itinerary.visit(first, budget))
            var complete: [LookupDraft] = []
            for var draft in batch {
                draft.add(answers[draft.isbn] ?? .notFound, from: first.name)
                if draft.wantsMore { channel.yield((draft, budget.rest)) } else { complete.append(draft) }
            }
            await finish(complete, into: stream)
        }
        channel.finish()
        await completed
    }

    private func complete(
        _ drafts: AsyncStream<(LookupDraft, Budget.Rest)>, _ itinerary: Itinerary, isAlone: Bool,
        into stream: AsyncStream<LookupAnswer>.Continuation
    ) async {
        guard let first = itinerary.sources.first else { return }
        for await (draft, rest) in drafts where !Task.isCancelled {
            var draft = draft
            let budget = Budget(rest, policy.time)
            if let record = draft.record(of: first.name),
                record.authorNames.isEmpty || (record.language == nil && isAlone)
            {
                let completed = await first.completed(record, of: draft.isbn, on: itinerary.visit(first, budget))
                draft.replace(completed, from: first.name)
            }
            for source in itinerary.sources.dropFirst() where draft.wantsMore {
                let answers = await source.lookUp([draft.isbn], on: itinerary.visit(source, budget))
                draft.add(answers[draft.isbn] ?? .notFound, from: source.name)
            }
            await finish([draft], into: stream)
        }
    }

    private func finish(_ drafts: [LookupDraft], into stream: AsyncStream<LookupAnswer>.Continuation) async {
        guard !Task.isCancelled, !drafts.isEmpty else { return }
        for draft in drafts { stream.yield(draft.answer) }
        let kept = drafts.filter(\.isWorthKeeping).map { draft in
            var answer = draft.answer
            // What is missing today is no part of what the sources said.
            answer.notAsked.removeAll(where: notAsked.contains)
            return answer
        }
        guard let cache, !kept.isEmpty else { return }
        do {
            try await cache.keep(kept, at: policy.time.date())
        } catch {
            report("lookup: answers cannot be kept in the cache: \(error)")
        }
    }
}

/// The sources that one call asks, in their order, and what it learned of them on the way.
private struct Itinerary: Sendable {
    let sources: [any OnlineSource]
    let policy: RequestPolicy
    let reach = Reach()

    /// A source that others follow leaves 3 s for them.
    func visit(_ source: any OnlineSource, _ budget: Budget) -> Visit {
        Visit(
            source: source.name, policy: policy, budget: budget, reach: reach,
            reserve: source.name == sources.last?.name ? .zero : .seconds(3), honoursNotAsked: !source.hasKey)
    }
}

extension LookupDraft {
    fileprivate var hasTitleAndAuthors: Bool {
        guard let record = merged?.metadata, !record.isWeakMatch else { return false }
        return record.title != nil && !record.authorNames.isEmpty
    }
}

extension Array {
    /// Those for which `condition` holds, and the others, each in their order.
    fileprivate func partitioned(by condition: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(condition), filter { !condition($0) })
    }
}

/// One ISBN's answer while it is put together.
struct LookupDraft: Sendable {
    let isbn: ISBN
    private var records: [(source: SourceName, metadata: Metadata)] = []
    private var misses: [SourceName] = []
    private var failures: [(source: SourceName, answer: SourceAnswer)] = []
    private(set) var notAsked: [NotAsked]

    /// - Parameter notAsked: the sources that are left out from the beginning.
    init(_ isbn: ISBN, notAsked: [NotAsked]) {
        self.isbn = isbn
        self.notAsked = notAsked
    }

    mutating func add(_ answer: SourceAnswer, from source: SourceName) {
        switch answer {
        case .found(let metadata): records.append((source, metadata))
        case .notFound: misses.append(source)
        case .notAsked(let reason): notAsked.append(NotAsked(source: source, reason: reason))
        case .temporary, .blocked, .badData: failures.append((source, answer))
        }
    }

    /// Puts a completed record in the place of the one that `source` gave.
    mutating func replace(_ metadata: Metadata, from source: SourceName) {
        guard let index = records.firstIndex(where: { $0.source == source }) else { return }
        records[index].metadata = metadata
    }

    /// The record that `source` gave.
    func record(of source: SourceName) -> Metadata? { records.first { $0.source == source }?.metadata }

    /// The records as one: the first source wins, the next fill the gaps. A weak match may be another book: it stands alone, and
    /// only where nothing better was found.
    var merged: (metadata: Metadata, from: SourceName)? {
        let sure = records.filter { !$0.metadata.isWeakMatch }
        guard let first = sure.first ?? records.first else { return nil }
        var metadata = first.metadata
        for other in sure.dropFirst() { metadata.fillGaps(from: other.metadata) }
        return (metadata, first.source)
    }

    /// Whether another source is worth a request: nothing sure is found yet, or it lacks an essential fact.
    var wantsMore: Bool { merged.map { $0.metadata.isWeakMatch || !$0.metadata.missingEssentials.isEmpty } ?? true }

    /// Whether an online source has answered.
    private var wasAnsweredOnline: Bool { (records.map(\.source) + misses).contains { $0 != .offlineIndex } }

    /// Whether the answer may stand in for asking again: *found* or *not found* by an online source. A weak match may not as long
    /// as a source that failed could know better.
    var isWorthKeeping: Bool {
        guard wasAnsweredOnline else { return false }
        return switch outcome {
        case .found(let metadata, _): !metadata.isWeakMatch || failures.isEmpty
        case .notFound: true
        default: false
        }
    }

    /// A record wins over every failure. Else the first online source that failed names the outcome, since it might have known the
    /// book; *not found* needs all that were asked to have answered, one of them online.
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
        return .temporary(SourceError(source: nil, reason: "no online source was asked (\(reasons))"))
    }
}

extension [ISBN] {
    /// An answer for every one of them.
    func answered(by answer: (ISBN) -> SourceAnswer) -> [ISBN: SourceAnswer] {
        Dictionary(map { ($0, answer($0)) }, uniquingKeysWith: { first, _ in first })
    }
}
