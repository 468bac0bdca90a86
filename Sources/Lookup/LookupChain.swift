import Bookplate
import FoundationEssentials
import HTTP
import Synchronization

/// Queries the sources and merges their records. The answer cache comes first, then the offline index, then the
/// catalogue of the number's group and Open Library, both at once, then the other sources one after another. A source
/// that keeps the lookup waiting holds up none after it.
///
/// - A record from the offline index is enough if it has a title and authors; then no online source is queried.
/// - The other sources are queried if the book has not been found, or if one of the ``Metadata/essentials`` is missing
///   that they may have. With the goal ``LookupGoal/title``, gaps are left to ``fillGaps(_:)``.
/// - The ``SourceOrder``, not the order of the requests, decides which source wins a field.
/// - Answers are cached if they are *found* or *not found*. Answers from the index alone are cached only while other
///   sources are pending.
/// - Every answer lists the sources that the caller has left out. The remaining sources are queried as usual.
public struct LookupChain: MetadataLookup {
    private let configuration: LookupConfiguration
    let index: (any MetadataSource)?
    let notAsked: [NotAsked]
    private let order: @Sendable () async throws -> SourceOrder
    private let cache: (any AnswerCache)?
    let policy: RequestPolicy

    /// The number of cached answers whose gaps are filled together.
    private static let gapsAtOnce = 20

    /// - Parameters:
    ///   - index: the ``OfflineIndex``, if there is one.
    ///   - notAsked: the sources that cannot be used, such as a damaged index, each with the reason. They are listed in
    ///     every answer.
    ///   - order: returns the online sources that may be asked; called for every lookup. If it throws, none is asked.
    ///   - states: the rate limits for the sources, which all processes on this machine share.
    ///   - clock: the clock for waits and for the time limit of a lookup (8 s).
    ///   - now: returns the calendar time, which is stored with rate limits and cached answers.
    ///   - report: logs errors that do not change an answer, such as a cache that cannot be read or written.
    ///   - open: lists the requests in progress.
    public init(
        _ configuration: LookupConfiguration, index: (any MetadataSource)? = nil, notAsked: [NotAsked] = [],
        order: @escaping @Sendable () async throws -> SourceOrder, cache: (any AnswerCache)? = nil,
        states: any RateLimits, clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }, report: @escaping @Sendable (String) -> Void = { _ in },
        open: OpenRequests = OpenRequests()
    ) {
        let policy = RequestPolicy(
            http: HTTPClient(configuration), states: states, time: LookupClock(clock, date: now), report: report,
            open: open)
        self.init(configuration, index: index, notAsked: notAsked, order: order, cache: cache, policy: policy)
    }

    init(
        _ configuration: LookupConfiguration, index: (any MetadataSource)?, notAsked: [NotAsked],
        order: @escaping @Sendable () async throws -> SourceOrder, cache: (any AnswerCache)?, policy: RequestPolicy
    ) {
        self.configuration = configuration
        self.index = index
        self.notAsked = notAsked
        self.order = order
        self.cache = cache
        self.policy = policy
    }

    /// Looks up each ISBN once, even if the list contains it several times. Ending the stream cancels the requests.
    public func lookUp(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool) -> AsyncStream<LookupAnswer> {
        stream { output in
            var seen: Set<ISBN> = []
            await run(isbns.filter { seen.insert($0).inserted }, for: goal, refresh: refresh, output)
        }
    }

    /// Asks the pending sources of all cached answers. Each source has 8 s of its own, because nobody waits for it.
    public func fillGaps(_ apply: @Sendable ([LookupAnswer]) async throws -> Void) async throws {
        guard let cache, !configuration.isOffline else { return }
        try await cache.fillGapsAlone {
            let unreachable = UnreachableSources()
            var seen: Set<ISBN> = []
            while !Task.isCancelled {
                let answers = try await cache.answersWithGaps(limit: Self.gapsAtOnce, at: policy.time.date())
                // An answer that is still there could not be stored.
                let new = answers.filter { seen.insert($0.isbn).inserted }
                guard !new.isEmpty else { return }
                let sources = try await sources()
                for answer in new {
                    let answer = await askPending(of: answer, sources, unreachable)
                    guard !Task.isCancelled else { return }
                    try await apply([answer])
                    await keep([answer])
                }
            }
        }
    }

    /// The answers of one call, and the sources that it could not reach.
    private struct Output: Sendable {
        let answers: AsyncStream<LookupAnswer>.Continuation
        let unreachable = UnreachableSources()
    }

    private func stream(_ body: @escaping @Sendable (Output) async -> Void) -> AsyncStream<LookupAnswer> {
        AsyncStream { stream in
            let task = Task {
                await body(Output(answers: stream))
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    private func run(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool, _ output: Output) async {
        let cached = refresh ? [:] : await cachedAnswers(isbns)
        var begun: [LookupAnswer] = []
        for answer in isbns.compactMap({ cached[$0] }) {
            if goal == .record, answer.pending != nil { begun.append(answer) } else { output.answers.yield(answer) }
        }
        var drafts = isbns.filter { cached[$0] == nil }.map { LookupDraft($0, notAsked: notAsked) }
        guard !drafts.isEmpty || !begun.isEmpty, !Task.isCancelled else { return }
        await askIndex(&drafts)
        let (complete, incomplete) = drafts.partitioned(by: \.hasTitleAndAuthors)
        for draft in complete {
            output.answers.yield(draft.answer(LookupSources(order: .standard), at: policy.time.date()))
        }
        guard !incomplete.isEmpty || !begun.isEmpty else { return }
        let sources: LookupSources
        do { sources = try await self.sources() } catch {
            let none = LookupSources(unreadable: error)
            for draft in incomplete { output.answers.yield(draft.answer(none, at: policy.time.date())) }
            for answer in begun { output.answers.yield(answer) }
            return
        }
        let known = goal == .title ? incomplete.filter(\.hasTitle) : []
        await finish(known, sources, output)
        await ask(sources, incomplete.filter { goal == .record || !$0.hasTitle }, for: goal, output)
        for answer in begun where !Task.isCancelled {
            guard !configuration.isOffline else {
                output.answers.yield(answer)
                continue
            }
            let answer = await askPending(of: answer, sources, output.unreachable)
            guard !Task.isCancelled else { return }
            await keep([answer])
            output.answers.yield(answer)
        }
    }

    private func cachedAnswers(_ isbns: [ISBN]) async -> [ISBN: LookupAnswer] {
        guard let cache else { return [:] }
        do {
            return try await cache.answers(for: isbns, at: policy.time.date()).mapValues { answer in
                var answer = answer
                answer.isCached = true
                answer.notAsked = notAsked + answer.notAsked
                return answer
            }
        } catch {
            policy.report("lookup: the answer cache cannot be read: \(error)")
            return [:]
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

    /// Returns the sources that are switched on, and those of them that can be queried now.
    ///
    /// - Throws: the error of ``order``.
    func sources() async throws -> LookupSources {
        var sources = LookupSources(order: try await order())
        let now = policy.time.date()
        for source in configuration.sources(in: sources.order) {
            if configuration.isOffline {
                sources.notAsked.append(NotAsked(source: source.name, reason: "offline mode is on"))
                continue
            }
            // An error when reading the state is ignored here, because it occurs again when the source is asked, and is
            // reported then.
            let reason =
                source.hasKey ? nil : try? await policy.states.update(source.name) { $0.reasonNotToAsk(at: now) }
            if let reason {
                sources.notAsked.append(NotAsked(source: source.name, reason: reason))
            } else {
                sources.available.append(source)
            }
        }
        return sources
    }

    /// Returns the sources as ``sources()``, and none if the setting cannot be read.
    func sourcesOrNone() async -> LookupSources {
        do { return try await sources() } catch { return LookupSources(unreadable: error) }
    }

    /// The answers of a source that is asked at once; none for books that were left out, because another source had a
    /// title, and none while the source keeps the lookup waiting.
    private struct Arrival: Sendable {
        let source: SourceName
        let isbns: [ISBN]
        var answers: [ISBN: SourceAnswer]?
        var remainder: Deadline.Remainder?
        var isLate = false
    }

    /// Runs two stages at the same time. In the first stage, the sources that are asked at once answer for whole
    /// batches. The second stage takes the books that need more, and those whose batch is late, and queries the other
    /// sources for one book after another, with a separate deadline for each book.
    private func ask(
        _ sources: LookupSources, _ drafts: [LookupDraft], for goal: LookupGoal, _ output: Output
    ) async {
        let first = sources.available.filter(\.isAskedAtOnce)
        var open = Dictionary(uniqueKeysWithValues: drafts.map { ($0.isbn, $0) })
        var awaited: [ISBN: Set<SourceName>] = [:]
        var passedOn: [ISBN: BookLookup] = [:]
        let settled = SettledBooks()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Arrival.self)
        let (rest, left) = AsyncStream.makeStream(of: BookLookup.self)
        func passOn(_ draft: LookupDraft, _ remainder: Deadline.Remainder?) {
            let book = BookLookup(
                draft, awaited: awaited[draft.isbn] ?? [], remainder ?? Deadline(policy.time).remainder)
            passedOn[draft.isbn] = book
            left.yield(book)
        }
        async let others: Void = askOthers(rest, sources, for: goal, output)
        async let atOnce: Void = withTaskGroup(of: Void.self) { group in
            for source in first {
                let isbns = drafts.map(\.isbn).filter { source.isAsked(for: $0, found: nil) }
                group.addTask { await askAtOnce(source, isbns, settled, sources, output, arrived) }
            }
            await group.waitForAll()
            arrived.finish()
        }
        for draft in drafts {
            awaited[draft.isbn] = Set(first.filter { $0.isAsked(for: draft.isbn, found: nil) }.map(\.name))
            if awaited[draft.isbn]?.isEmpty == true { passOn(draft, nil) }
        }
        for await arrival in arrivals {
            var (done, unchanged, further): ([LookupDraft], [LookupDraft], [LookupDraft]) = ([], [], [])
            for isbn in arrival.isbns {
                guard var draft = open[isbn] else { continue }
                if !arrival.isLate { awaited[isbn]?.remove(arrival.source) }
                if let book = passedOn[isbn] {
                    if !arrival.isLate { book.add(arrival.answers.map { $0[isbn] ?? .notFound }, from: arrival.source) }
                    continue
                }
                if let answers = arrival.answers { draft.add(answers[isbn] ?? .notFound, from: arrival.source) }
                open[isbn] = draft
                let isLast = awaited[isbn]?.isEmpty ?? true
                switch goal {
                case .title where draft.hasTitle:
                    guard arrival.answers != nil else { break }
                    draft.isAwaited = !isLast
                    if settled.insert(isbn) {
                        done.append(draft)
                    } else if draft.hasRecord(of: arrival.source) {
                        further.append(draft)
                    } else {
                        unchanged.append(draft)
                    }
                case .record where isLast && !draft.needsMore: done.append(draft)
                case _ where isLast || arrival.isLate: passOn(draft, arrival.remainder)
                default: break
                }
            }
            await finish(done, sources, output)
            await keep(unchanged.map { $0.answer(sources, at: policy.time.date()) })
            await finish(further, isFurther: true, sources, output)
        }
        left.finish()
        await atOnce
        await others
    }

    /// Queries a source for batches of books. Books for which another source has already found a title are left out.
    private func askAtOnce(
        _ source: any OnlineSource, _ isbns: [ISBN], _ settled: SettledBooks, _ sources: LookupSources,
        _ output: Output, _ arrived: AsyncStream<Arrival>.Continuation
    ) async {
        let isLast = sources.available.allSatisfy(\.isAskedAtOnce)
        for start in stride(from: 0, to: isbns.count, by: source.batchSize) where !Task.isCancelled {
            let (known, unknown) = isbns[start..<min(isbns.count, start + source.batchSize)]
                .partitioned(by: settled.contains)
            if !known.isEmpty { arrived.yield(Arrival(source: source.name, isbns: known)) }
            guard !unknown.isEmpty else { continue }
            let deadline = Deadline(policy.time)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    guard await policy.losesPatience() else { return }
                    arrived.yield(
                        Arrival(source: source.name, isbns: unknown, remainder: deadline.remainder, isLate: true))
                }
                let answers = await source.lookUp(
                    unknown, through: client(for: source, deadline, isLast: isLast, output.unreachable))
                group.cancelAll()
                await group.waitForAll()
                arrived.yield(
                    Arrival(source: source.name, isbns: unknown, answers: answers, remainder: deadline.remainder))
            }
        }
    }

    private func askOthers(
        _ books: AsyncStream<BookLookup>, _ sources: LookupSources, for goal: LookupGoal, _ output: Output
    ) async {
        for await book in books where !Task.isCancelled {
            let draft = await book.run(sources, for: goal, policy) { source, deadline, isLast in
                client(for: source, deadline, isLast: isLast, output.unreachable)
            }
            await finish([draft], sources, output)
        }
    }

    /// Asks the sources that are pending in a cached answer.
    ///
    /// - Returns: the answer with what they added, and with the sources that are pending now.
    private func askPending(
        of answer: LookupAnswer, _ sources: LookupSources, _ unreachable: UnreachableSources
    ) async -> LookupAnswer {
        guard var draft = LookupDraft(answer) else { return answer }
        func client(_ source: any OnlineSource) -> SourceClient {
            self.client(for: source, Deadline(policy.time), isLast: true, unreachable)
        }
        for source in sources.available where draft.isPending(source) {
            let answers = await source.lookUp([draft.isbn], through: client(source))
            draft.add(answers[draft.isbn] ?? .notFound, from: source.name)
        }
        await complete(&draft, sources, client)
        return draft.answer(sources, at: policy.time.date())
    }

    /// Requests the fields that sources have at another address, such as the names of authors.
    private func complete(
        _ draft: inout LookupDraft, _ sources: LookupSources, _ client: (any OnlineSource) -> SourceClient
    ) async {
        for source in sources.available {
            guard let record = draft.incompleteRecord(of: source) else { continue }
            do throws(LookupError) {
                let completed = try await source.complete(record, of: draft.isbn, through: client(source))
                draft.complete(with: completed, from: source.name)
            } catch {
                // The record can be used as it is. The source stays pending.
                draft.add(error.answer, from: source.name)
            }
        }
    }

    /// Returns the client for a source.
    func client(
        for source: any OnlineSource, _ deadline: Deadline, isLast: Bool = false, _ unreachable: UnreachableSources
    ) -> SourceClient {
        SourceClient(
            source: source.name, policy: policy, deadline: deadline, unreachable: unreachable,
            isLast: isLast, honoursNotAsked: !source.hasKey, options: source.options)
    }

    /// Caches the answers, so that a program that ends now goes on with the pending sources later, and gives them out.
    ///
    /// - Parameter isFurther: true if the books may have been saved with an earlier answer.
    private func finish(
        _ drafts: [LookupDraft], isFurther: Bool = false, _ sources: LookupSources, _ output: Output
    ) async {
        guard !Task.isCancelled, !drafts.isEmpty else { return }
        let now = policy.time.date()
        let answers = drafts.map { draft in
            var answer = draft.answer(sources, at: now)
            if isFurther, answer.pending == nil { answer.pending = PendingSources([], due: now) }
            return answer
        }
        await keep(zip(drafts, answers).filter { $0.isCacheable || $1.pending != nil }.map(\.1))
        for answer in answers { output.answers.yield(answer) }
    }

    private func keep(_ answers: [LookupAnswer]) async {
        guard let cache, !answers.isEmpty else { return }
        do {
            try await cache.keep(
                answers.map { answer in
                    var answer = answer
                    answer.isCached = false
                    // The cached answer does not list the sources that are left out today, because they may be
                    // available later.
                    answer.notAsked.removeAll(where: notAsked.contains)
                    return answer
                }, at: policy.time.date())
        } catch {
            policy.report("lookup: the answer cache cannot be written: \(error)")
        }
    }
}

/// The online sources of one lookup.
struct LookupSources: Sendable {
    /// The sources that are switched on.
    var order: SourceOrder
    /// The sources that can be queried, in this order.
    var available: [any OnlineSource] = []
    /// The other sources that are switched on, with the reason why they cannot be queried.
    var notAsked: [NotAsked] = []
}

extension LookupSources {
    /// No sources, because it is not known which are switched on.
    init(unreadable error: any Error) {
        self.init(order: .standard, notAsked: SourceOrder.standard.sources.map { NotAsked($0, unreadable: error) })
    }
}

extension NotAsked {
    /// - Parameter error: the error for which it is not known whether the source is switched on.
    init(_ source: SourceName, unreadable error: any Error) {
        self.init(source: source, reason: "the setting that lists the sources cannot be read: \(error)")
    }
}

/// The books of one lookup for which a source has found a title.
private final class SettledBooks: Sendable {
    private let isbns = Mutex<Set<ISBN>>([])

    /// - Returns: true if the book is new.
    func insert(_ isbn: ISBN) -> Bool { isbns.withLock { $0.insert(isbn).inserted } }
    func contains(_ isbn: ISBN) -> Bool { isbns.withLock { $0.contains(isbn) } }
}

extension Sequence {
    /// Returns the elements that fulfil the condition, and the elements that do not. Both lists keep their order.
    fileprivate func partitioned(by condition: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(condition), filter { !condition($0) })
    }
}
