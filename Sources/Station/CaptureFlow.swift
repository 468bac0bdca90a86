import Async
import Bookplate
import FoundationEssentials

/// The steps from a detection to a saved book: detection → queue item → candidate → confirmed → book. ``Station`` runs
/// them.
///
/// It depends only on the domain's ports. The time comes from `now`, so that tests can control it.
public struct CaptureFlow: Sendable {
    let queue: any CaptureQueue
    let shelf: any Shelf
    let lookup: any MetadataLookup
    let now: @Sendable () -> Date

    /// The time for which an item is leased to this process, which queries the sources about it. The lease is extended
    /// while the lookup runs.
    static let lease: Duration = .seconds(60)

    /// The maximum number of items in one lookup. It is enough to fill several requests to a source.
    static let mostAtOnce = 100

    public init(
        queue: any CaptureQueue, shelf: any Shelf, lookup: any MetadataLookup,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.queue = queue
        self.shelf = shelf
        self.lookup = lookup
        self.now = now
    }

    // MARK: Into the queue

    /// Puts detections into the queue. When this returns, the items are on disk and leased to this process for a
    /// minute; no source has been queried yet.
    public func enqueue(_ detections: [Detection], preset: Preset = Preset()) async throws -> [QueueItem] {
        try await queue.enqueue(detections, preset: preset, lease: Self.lease, at: now())
    }

    /// Puts detections into the queue, and tries again every second after a transient error.
    ///
    /// - Parameters:
    ///   - preset: returns the preset; called before every attempt.
    ///   - mayRetry: returns true if a failed attempt may be repeated.
    ///   - onRetry: called with the error of each failed attempt that will be repeated.
    public func enqueueRetrying(
        _ detections: [Detection], clock: any Clock<Duration> = ContinuousClock(),
        preset: @Sendable () async -> Preset, mayRetry: @Sendable () -> Bool,
        onRetry: @Sendable (any Error) async -> Void
    ) async throws -> [QueueItem] {
        try await retry(clock: clock) {
            // The attempt runs in a task of its own, so that cancellation never stops it half way. Otherwise a captured
            // book could be reported as lost, or captured twice.
            let preset = await preset()
            return try await Task {
                try await queue.enqueue(detections, preset: preset, lease: Self.lease, at: now())
            }.value
        } if: { error in
            guard isTransient(error), mayRetry() else { return false }
            await onRetry(error)
            return true
        }
    }

    // MARK: Lookup

    /// A function that receives candidates after the answers to their lookups were stored, in the order in which the
    /// answers arrive.
    public typealias Delivery = @Sendable ([Candidate]) async throws -> Void

    /// Looks up items of the queue: first the items that the library holds or that were found before, then all other
    /// items in the answer cache and at the sources. Several items are looked up together, and every answer is stored
    /// before it is delivered. An item that another process is looking up is delivered in its present state.
    ///
    /// - Parameter areCaptured: true if this flow has just captured the items, so that they are leased to this process
    ///   already.
    public func lookUp(_ items: [QueueItem], areCaptured: Bool, deliver: @escaping Delivery) async throws {
        let found = items.filter { $0.outcome == .found }
        if !found.isEmpty { try await deliver(recognise(found)) }
        var rest = items.filter { $0.outcome != .found }[...]
        while !rest.isEmpty {
            let round = Array(rest.prefix(Self.mostAtOnce))
            rest = rest.dropFirst(round.count)
            let isLeased =
                areCaptured && round.allSatisfy { now().timeIntervalSince($0.captured) < Self.lease.inSeconds / 2 }
            if isLeased {
                try await ask(round, refresh: false, deliver: deliver)
                continue
            }
            let leased = try await queue.lease(round.map(\.id), limit: round.count, for: Self.lease, at: now())
            try await ask(leased, refresh: false, deliver: deliver)
            let mine = Set(leased.map(\.id))
            for item in round where !mine.contains(item.id) {
                if let candidate = try await candidate(item.id) { try await deliver([candidate]) }
            }
        }
    }

    /// Looks up waiting items whose lookup is due, including items from other devices, until none is due.
    public func lookUpDue(deliver: @escaping Delivery) async throws {
        var seen: Set<ID<QueueItem>> = []
        while !Task.isCancelled {
            let due = try await queue.lease(nil, limit: Self.mostAtOnce, for: Self.lease, at: now())
            // If an item is leased a second time, its answer could not be stored, because another process had leased
            // it.
            guard due.contains(where: { seen.insert($0.id).inserted }) else { return }
            try await ask(due, refresh: false, deliver: deliver)
        }
    }

    /// Looks up the waiting items without an answer, such as those whose sources failed, even if the next lookup is not
    /// due yet. Then looks up the other items that are due.
    public func lookUpUnanswered(deliver: @escaping Delivery) async throws {
        let items = try await queue.items(in: [.waiting])
        try await lookUp(
            items.filter { $0.outcome != .found && $0.outcome != .notFound }, areCaptured: false, deliver: deliver)
        try await lookUpDue(deliver: deliver)
    }

    /// Looks up items again, even if they are not due. Only the sources are queried, not the library or the answer
    /// cache.
    ///
    /// - Parameter ids: the items; nil for all waiting items.
    public func lookUpAgain(_ ids: [ID<QueueItem>]?, deliver: @escaping Delivery) async throws {
        var rest: [ID<QueueItem>]
        if let ids { rest = ids } else { rest = try await queue.items(in: [.waiting]).map(\.id) }
        while !rest.isEmpty {
            let round = Array(rest.prefix(Self.mostAtOnce))
            rest.removeFirst(round.count)
            let leased = try await queue.lease(round, limit: round.count, for: Self.lease, at: now())
            try await ask(leased, refresh: true, deliver: deliver)
        }
    }

    /// Queries the library, the answer cache and the sources about items that this process has leased.
    private func ask(_ items: [QueueItem], refresh: Bool, deliver: @escaping Delivery) async throws {
        guard !items.isEmpty else { return }
        let known = try await shelf.books(with: items.map(\.isbn).uniqued())
        var leaseBegan = now()
        var open = items
        /// Stores answers, and delivers the items that they are about, in the order of the items.
        func store(_ answers: [ISBN: LookupAnswer]) async throws {
            let answered = open.filter { answers[$0.isbn] != nil }
            guard !answered.isEmpty else { return }
            open.removeAll { answers[$0.isbn] != nil }
            let recorded = try await queue.record(
                Dictionary(uniqueKeysWithValues: answered.map { ($0.id, answers[$0.isbn]!) }), at: now())
            let byID = Dictionary(uniqueKeysWithValues: recorded.map { ($0.id, $0) })
            try await deliver(try await candidates(answered.compactMap { byID[$0.id] }, known))
            if !open.isEmpty, now().timeIntervalSince(leaseBegan) > Self.lease.inSeconds / 3 {
                leaseBegan = now()
                _ = try await queue.lease(open.map(\.id), limit: open.count, for: Self.lease, at: leaseBegan)
            }
        }
        if !refresh {
            try await store(
                known.compactMapValues { books in
                    books.first.flatMap { book in
                        book.edition.isbn.map {
                            LookupAnswer(isbn: $0, outcome: .found(book.edition.metadata, from: .library))
                        }
                    }
                })
        }
        let unknown = open.map(\.isbn).uniqued()
        guard !unknown.isEmpty else { return }
        // The cache and the offline index answer many ISBNs at once, so one commit stores a burst of answers.
        try await forEachBurst(of: lookup.lookUp(unknown, for: .title, refresh: refresh)) { burst in
            try Task.checkCancellation()
            // A book may already be saved when another source answers about it.
            let further = burst.filter { answer in !open.contains { $0.isbn == answer.isbn } }
            try await store(Dictionary(burst.map { ($0.isbn, $0) }, uniquingKeysWith: { $1 }))
            if !further.isEmpty { _ = try await fillGaps(with: further, deliver: deliver) }
        }
    }

    /// Asks the sources that have not been asked yet about captured and saved books, and stores what they add: in the
    /// queue for a book that waits there, and in the record of a saved book, where undoing the save takes it back. What
    /// a person has entered, changed or cleared stays as it is.
    ///
    /// - Parameter onAnswer: called after each book that was asked about.
    /// - Returns: the number of saved books that got something.
    @discardableResult
    public func fillGaps(
        deliver: @escaping Delivery, onAnswer: @escaping @Sendable () -> Void = {}
    ) async throws -> Int {
        let books = SharedValue(0)
        try await lookup.fillGaps { answers in
            let filled = try await fillGaps(with: answers, deliver: deliver)
            books.withLock { $0 += filled }
            onAnswer()
        }
        return books.value
    }

    private func fillGaps(with answers: [LookupAnswer], deliver: Delivery) async throws -> Int {
        let answers = Dictionary(answers.map { ($0.isbn, $0) }, uniquingKeysWith: { $1 })
        let waiting = try await queue.waitingItems(with: Array(answers.keys))
        if !waiting.isEmpty {
            let recorded = try await queue.record(
                Dictionary(uniqueKeysWithValues: waiting.map { ($0.id, answers[$0.isbn]!) }), at: now())
            try await deliver(recognise(recorded.filter { $0.state == .waiting }))
        }
        let records = answers.compactMapValues { answer in
            if case .found(let metadata, _) = answer.outcome { metadata } else { nil as Metadata? }
        }
        return try await shelf.complete(records, at: now())
    }

    // MARK: Reading the queue

    /// Returns the items as candidates without querying any source. Each candidate includes the library's books with
    /// the same ISBN.
    public func recognise(_ items: [QueueItem]) async throws -> [Candidate] {
        let known = try await shelf.books(with: items.map(\.isbn).uniqued())
        return try await candidates(items, known)
    }

    /// Adds to each item what the library has. Other editions are searched for only among the newest items of a long
    /// queue, because each needs a search of its own.
    private func candidates(_ items: [QueueItem], _ known: [ISBN: [Book]]) async throws -> [Candidate] {
        var candidates = items.map { Candidate(item: $0, existing: known[$0.isbn] ?? []) }
        for place in candidates.indices.suffix(Self.mostAtOnce) {
            let candidate = candidates[place]
            guard candidate.existing.isEmpty, candidate.isComplete, !candidate.metadata.isWeakMatch else { continue }
            candidates[place].otherEditions = try await shelf.ownedEditions(
                like: candidate.metadata, excluding: candidate.item.isbn)
        }
        return candidates
    }

    /// Returns the item's current candidate; nil if the item is no longer in the queue.
    public func candidate(_ id: ID<QueueItem>) async throws -> Candidate? {
        guard let item = try await queue.item(id), item.state == .waiting else { return nil }
        return try await recognise([item])[0]
    }

    // MARK: Answers

    /// Saves confirmed books in one durable commit.
    ///
    /// - Parameter change: an earlier change to which this save is added, so that both are undone together.
    public func save(_ confirmed: [Confirmed], continuing change: ID<Change>? = nil) async throws -> [SaveResult] {
        try await shelf.add(confirmed, continuing: change, at: now())
    }

    /// Removes candidates from the queue without saving them.
    ///
    /// - Returns: the change, which can be undone; nil if all the items were answered in the meantime.
    public func skip(_ candidates: [Candidate]) async throws -> ID<Change>? {
        try await queue.skip(candidates.map(\.item.id), at: now())
    }

    /// Removes items from the queue because the library already holds their books.
    public func close(_ ids: [ID<QueueItem>]) async throws {
        if !ids.isEmpty { try await queue.close(ids) }
    }

    /// Stores what a person has edited in an unsaved candidate: the fields of its metadata, and the preset with which
    /// it is saved. Everything else stays unchanged.
    ///
    /// - Returns: the current candidate.
    public func keepEdits(
        of candidate: Candidate, fields: Set<Metadata.Field>, preset edit: PresetEdit = PresetEdit()
    ) async throws -> Candidate {
        let edited = candidate.metadata
        try await queue.edit(candidate.item.id) { metadata, preset in
            for field in fields { metadata.copy(field, from: edited) }
            try edit.apply(to: &preset)
        }
        return try await self.candidate(candidate.item.id) ?? candidate
    }

    /// Stores the record of an edition that a person chose for an unsaved candidate, as if it were the answer of a
    /// lookup.
    ///
    /// - Returns: the current candidate.
    func keep(_ offer: EditionOffer, for candidate: Candidate) async throws -> Candidate {
        let item = candidate.item
        let metadata = offer.isbn.map { $0 == item.isbn } ?? true ? offer.metadata : offer.metadata.ofWork
        let answer = LookupAnswer(isbn: item.isbn, outcome: .found(metadata, from: metadata.sources[.title] ?? .person))
        _ = try await queue.record([item.id: answer], at: now())
        return try await self.candidate(item.id) ?? candidate
    }

    /// Gives waiting items another preset in one durable commit. Items that have left the queue are left as they are.
    ///
    /// - Returns: the current candidates.
    public func setPreset(_ preset: Preset, of ids: [ID<QueueItem>]) async throws -> [Candidate] {
        try await queue.setPreset(preset, of: ids)
        let changed = Set(ids)
        return try await recognise(queue.items(in: [.waiting]).filter { changed.contains($0.id) })
    }
}

extension Candidate {
    /// True if `--yes` may save the candidate: a source has a record with this ISBN, or a person has entered the title.
    ///
    /// This is never true for a number that was read from print, because one misread number in ten has a correct check
    /// digit by chance and may be the ISBN of another book. A person has to compare the number with the book.
    public var isSureEnough: Bool {
        isComplete
            && (metadata.sources[.title] == .person
                || (item.outcome == .found && !metadata.isWeakMatch && !item.isReadFromPrint))
    }
}

extension Duration {
    fileprivate var inSeconds: Double { self / .seconds(1) }
}

extension Sequence where Element: Hashable {
    /// Returns the elements without repetitions, each in the position of its first occurrence.
    func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
