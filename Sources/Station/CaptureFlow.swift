import Bookplate
import FoundationEssentials

/// The workflow that every way in shares: detection → intake item → candidate → confirmed → book.
///
/// It knows only the domain's ports. Time comes in as a closure, so that tests turn it by hand.
public struct CaptureFlow: Sendable {
    let intake: any Intake
    let shelf: any Shelf
    let lookup: any MetadataLookup
    let now: @Sendable () -> Date

    /// How long a process may hold an item while it asks the sources; begun anew while it is still at it.
    static let lease: Duration = .seconds(60)

    /// How many are looked up in one go: enough to fill several requests.
    static let mostAtOnce = 100

    public init(
        intake: any Intake, shelf: any Shelf, lookup: any MetadataLookup,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.intake = intake
        self.shelf = shelf
        self.lookup = lookup
        self.now = now
    }

    /// Puts detections into the intake queue. When it returns they are on the disk, before anything was asked of anyone, and for
    /// a minute they are this process's to look up.
    public func capture(_ detections: [Detection], preset: Preset = Preset()) async throws -> [IntakeItem] {
        try await intake.capture(detections, preset: preset, lease: Self.lease, at: now())
    }

    /// Finds out what items of the queue are, as they come in, and hands each on as soon as it is known: first those whose
    /// edition the library holds or that were found before, then those that were answered before, then what the sources say.
    /// Those that wait together are asked for together, and every answer is stored before it is handed on. What another process
    /// is just looking up is handed on as it stands.
    ///
    /// - Parameter areCaptured: whether ``capture(_:preset:)`` of this flow made the items just now, so that they are leased.
    public func candidates(
        following items: AsyncStream<IntakeItem>, areCaptured: Bool
    ) -> AsyncThrowingStream<Candidate, any Error> {
        candidateStream { yield in
            try await forEachBurst(of: items, upTo: Self.mostAtOnce) { burst in
                try await resolve(burst, areCaptured: areCaptured, yield: yield)
            }
        }
    }

    /// Looks up what waits in the queue and is due, whoever captured it, until nothing more is due.
    ///
    /// - Parameter everything: asks for every waiting item, due or not, and passes over library and answer cache.
    public func refreshQueue(everything: Bool = false) -> AsyncThrowingStream<Candidate, any Error> {
        candidateStream { yield in
            if everything {
                var rest = try await intake.items(in: [.waiting])[...]
                while !rest.isEmpty {
                    let round = Array(rest.prefix(Self.mostAtOnce))
                    rest = rest.dropFirst(round.count)
                    try await ask(
                        intake.lease(round.map(\.id), limit: round.count, for: Self.lease, at: now()), refresh: true,
                        yield)
                }
            } else {
                var seen: Set<ID<IntakeItem>> = []
                while !Task.isCancelled {
                    let due = try await intake.lease(nil, limit: Self.mostAtOnce, for: Self.lease, at: now())
                    // An item that comes up again could not be stored: another process has it by now.
                    guard due.contains(where: { seen.insert($0.id).inserted }) else { return }
                    try await ask(due, refresh: false, yield)
                }
            }
        }
    }

    private func resolve(
        _ items: [IntakeItem], areCaptured: Bool, yield: @escaping @Sendable (Candidate) -> Void
    ) async throws {
        let found = items.filter { $0.outcome == .found }
        let open = items.filter { $0.outcome != .found }
        if !found.isEmpty {
            let known = try await shelf.books(with: found.map(\.isbn).uniqued())
            for item in found { yield(Candidate(item: item, existing: known[item.isbn] ?? [])) }
        }
        guard !open.isEmpty else { return }
        let isFresh = areCaptured && open.allSatisfy { now().timeIntervalSince($0.captured) < Self.lease.inSeconds / 2 }
        if isFresh { return try await ask(open, refresh: false, yield) }
        let leased = try await intake.lease(open.map(\.id), limit: open.count, for: Self.lease, at: now())
        let mine = Set(leased.map(\.id))
        try await ask(leased, refresh: false, yield)
        for item in open where !mine.contains(item.id) {
            if let candidate = try await candidate(item.id) { yield(candidate) }
        }
    }

    /// Asks for items that this process has leased.
    func ask(
        _ items: [IntakeItem], refresh: Bool, _ yield: @escaping @Sendable (Candidate) -> Void
    ) async throws {
        guard !items.isEmpty else { return }
        let known = try await shelf.books(with: items.map(\.isbn).uniqued())
        var leaseBegan = now()
        var open = items
        /// Stores what is known of some of the open items, and hands them on in their order.
        func settle(_ answers: [ISBN: LookupAnswer]) async throws {
            let settled = open.filter { answers[$0.isbn] != nil }
            guard !settled.isEmpty else { return }
            open.removeAll { answers[$0.isbn] != nil }
            let recorded = try await intake.record(
                Dictionary(uniqueKeysWithValues: settled.map { ($0.id, answers[$0.isbn]!) }), at: now())
            let byID = Dictionary(uniqueKeysWithValues: recorded.map { ($0.id, $0) })
            for item in settled.compactMap({ byID[$0.id] }) {
                yield(Candidate(item: item, existing: known[item.isbn] ?? []))
            }
            if !open.isEmpty, now().timeIntervalSince(leaseBegan) > Self.lease.inSeconds / 3 {
                leaseBegan = now()
                _ = try await intake.lease(open.map(\.id), limit: open.count, for: Self.lease, at: leaseBegan)
            }
        }
        if !refresh {
            try await settle(
                known.compactMapValues { books in
                    books.first.flatMap { book in
                        book.edition.isbn.map {
                            LookupAnswer(isbn: $0, outcome: .found(book.edition.metadata, from: .library))
                        }
                    }
                })
        }
        // What is there at once (the cache, the offline index) comes in a burst: one commit holds many answers.
        let unknown = open.map(\.isbn).uniqued()
        guard !unknown.isEmpty else { return }
        try await forEachBurst(of: lookup.lookUp(unknown, refresh: refresh)) { burst in
            try Task.checkCancellation()
            try await settle(Dictionary(burst.map { ($0.isbn, $0) }, uniquingKeysWith: { first, _ in first }))
        }
    }

    /// Saves what a person confirmed, all in one durable commit.
    ///
    /// - Parameter change: an earlier change that this goes on with, so that undo takes back both.
    public func save(_ confirmed: [Confirmed], continuing change: ID<Change>? = nil) async throws -> [SaveResult] {
        try await shelf.add(confirmed, continuing: change, at: now())
    }

    /// The person said yes in advance (`--yes`): what was found is saved, what is owned already leaves the queue, everything
    /// else stays in it, also what may be another book (``Metadata/isWeakMatch``).
    ///
    /// - Parameter change: the change of the batch's earlier saves, so that undo takes back the whole batch.
    /// - Returns: the events of all candidates, in their order.
    public func settle(
        _ candidates: [Candidate], anotherCopy: Bool = false, continuing change: ID<Change>? = nil
    ) async throws -> [CaptureEvent] {
        var events = [CaptureEvent?](repeating: nil, count: candidates.count)
        var confirmed: [(index: Int, value: Confirmed)] = []
        for (index, candidate) in candidates.enumerated() {
            guard candidate.isSureEnough else {
                events[index] = .queued(candidate)
                continue
            }
            confirmed.append((index, try candidate.confirm(by: .advance, anotherCopy: anotherCopy)))
        }
        let results = try await save(confirmed.map(\.value), continuing: change)
        var owned: [ID<IntakeItem>] = []
        for ((index, _), result) in zip(confirmed, results) {
            events[index] = .saved(candidates[index], result)
            if case .owned = result { owned.append(candidates[index].item.id) }
        }
        if !owned.isEmpty { try await intake.close(owned) }
        return events.compactMap { $0 }
    }

    /// A person said no.
    ///
    /// - Returns: the change that undo takes back.
    public func dismiss(_ candidates: [Candidate]) async throws -> ID<Change> {
        try await intake.dismiss(candidates.map(\.item.id), at: now())
    }

    /// Keeps a person's edits of a candidate that is not saved yet: these fields, and no other.
    ///
    /// - Returns: the candidate as it is now.
    public func keepEdits(of candidate: Candidate, fields: Set<Metadata.Field>) async throws -> Candidate {
        let edited = candidate.metadata
        try await intake.edit(candidate.item.id) { metadata, _ in
            for field in fields { metadata.take(field, from: edited) }
        }
        return try await self.candidate(candidate.item.id) ?? candidate
    }

    /// The item as a candidate with what the library holds now; `nil` when it is not in the queue any more.
    public func candidate(_ id: ID<IntakeItem>) async throws -> Candidate? {
        guard let item = try await intake.item(id), item.state == .waiting else { return nil }
        return Candidate(item: item, existing: try await shelf.books(with: [item.isbn])[item.isbn] ?? [])
    }
}

extension Candidate {
    /// Whether a yes in advance covers it: a source that named the very ISBN knows it, or a person gave it its title.
    ///
    /// Not what was read from print: one misread number in ten has the right check digit by chance, and may well be a book that the
    /// sources know. Somebody has to compare it with the book in hand.
    public var isSureEnough: Bool {
        isComplete
            && (metadata.sources[.title] == .person
                || (item.outcome == .found && !metadata.isWeakMatch && !item.isReadFromPrint))
    }
}

extension Duration {
    fileprivate var inSeconds: Double { self / .seconds(1) }
}

/// The candidates that `work` hands on, as a stream; who stops listening cancels the work.
func candidateStream(
    _ work: @escaping @Sendable (_ yield: @escaping @Sendable (Candidate) -> Void) async throws -> Void
) -> AsyncThrowingStream<Candidate, any Error> {
    AsyncThrowingStream { continuation in
        let task = Task {
            do {
                try await work { continuation.yield($0) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
    }
}

extension Sequence where Element: Hashable {
    /// Each element once, where it first stands.
    func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}

/// What a batch needs of the workflow besides capturing, looking up and saving.
extension CaptureFlow {
    /// What the library says of items at once, before any source is asked.
    public func recognise(_ items: [IntakeItem]) async throws -> [Candidate] {
        let known = try await shelf.books(with: items.map(\.isbn).uniqued())
        return items.map { Candidate(item: $0, existing: known[$0.isbn] ?? []) }
    }

    /// Finds out what items are that were captured just now; see ``candidates(following:areCaptured:)``.
    public func candidates(
        _ captured: [IntakeItem], areCaptured: Bool = true
    ) -> AsyncThrowingStream<Candidate, any Error> {
        let (items, continuation) = AsyncStream.makeStream(of: IntakeItem.self)
        for item in captured { continuation.yield(item) }
        continuation.finish()
        return candidates(following: items, areCaptured: areCaptured)
    }

    /// Asks the sources once more, due or not, and passes over library and answer cache.
    public func refresh(_ ids: [ID<IntakeItem>]) -> AsyncThrowingStream<Candidate, any Error> {
        candidateStream { yield in
            try await ask(
                intake.lease(ids, limit: ids.count, for: Self.lease, at: now()), refresh: true, yield)
        }
    }

    /// Gives waiting items another preset, in one durable commit. Those that left the queue meanwhile are passed over.
    ///
    /// - Returns: the candidates as they are now.
    public func give(_ preset: Preset, to ids: [ID<IntakeItem>]) async throws -> [Candidate] {
        try await intake.give(preset, to: ids)
        let given = Set(ids)
        return try await recognise(intake.items(in: [.waiting]).filter { given.contains($0.id) })
    }

    /// Owned books leave the queue: nothing is left to do for them.
    public func close(_ ids: [ID<IntakeItem>]) async throws {
        if !ids.isEmpty { try await intake.close(ids) }
    }

    /// How many items wait in the queue, whoever captured them.
    public func waitingCount() async throws -> Int { try await intake.count(in: [.waiting]) }
}

/// What taking acts back came to.
public struct BatchUndoing: Sendable {
    /// An act that was taken back, and its items as the queue has them now; `nil` when that could not be read.
    public struct Undone: Sendable {
        public let act: Batch.Act
        public let now: [Candidate]?
    }

    public fileprivate(set) var undone: [Undone] = []
    /// What was changed since, and stays done.
    public fileprivate(set) var refused: [Batch.Act] = []
    /// What went wrong last.
    public fileprivate(set) var failure: (any Error)?
}

extension CaptureFlow {
    /// Takes acts of a batch back, the last first; goes on past what was changed since, and takes what was undone elsewhere as undone.
    public func undo(_ acts: [Batch.Act], in history: any History) async -> BatchUndoing {
        var result = BatchUndoing()
        for act in acts.reversed() {
            do {
                _ = try await history.undo(act.change, at: now())
            } catch UndoRefusal.alreadyUndone {
                // As good as done here.
            } catch let refusal as UndoRefusal {
                result.refused.append(act)
                result.failure = refusal
                continue
            } catch {
                result.failure = error
                return result
            }
            do {
                var now: [Candidate] = []
                for item in act.items { if let candidate = try await candidate(item) { now.append(candidate) } }
                result.undone.append(BatchUndoing.Undone(act: act, now: now))
            } catch {
                result.undone.append(BatchUndoing.Undone(act: act, now: nil))
                result.failure = error
                return result
            }
        }
        return result
    }

    /// Of rows whose book the library held, those for which it still does: only they may leave the queue as owned.
    public func stillOwned(_ rows: [Batch.Row]) async throws -> [Batch.Row] {
        guard !rows.isEmpty else { return [] }
        let now = try await recognise(rows.map(\.candidate.item))
        return zip(rows, now).filter { $0.1.owned != nil }.map(\.0)
    }

    /// Puts detections into the queue; what may pass by itself is waited for, with a try every second.
    ///
    /// - Parameters:
    ///   - preset: asked for anew with every try.
    ///   - mayWait: asked after a try that failed, whether to go on.
    ///   - waits: told what stands in the way, with every try.
    public func captureUntilPossible(
        _ detections: [Detection], clock: any Clock<Duration> = ContinuousClock(),
        preset: @Sendable () async -> Preset, mayWait: @Sendable () -> Bool,
        waits: @Sendable (any Error) async -> Void
    ) async throws -> [IntakeItem] {
        while true {
            do {
                // A task of its own: a try is not given up half way, so that nothing is captured twice or told as lost.
                let preset = await preset()
                return try await Task { try await capture(detections, preset: preset) }.value
            } catch let error where isTransient(error) && mayWait() {
                await waits(error)
                try await clock.sleep(for: .seconds(1))
            }
        }
    }
}

extension Batch {
    /// What taking acts back came to.
    public mutating func note(_ undoing: BatchUndoing) {
        for each in undoing.undone { noteUndone(each.act.change, now: each.now) }
        for act in undoing.refused { noteRefused(act.change) }
    }
}
