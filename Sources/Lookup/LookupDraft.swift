import Bookplate
import FoundationEssentials

/// The unfinished answer for one ISBN.
struct LookupDraft: Sendable {
    let isbn: ISBN
    private var records: [(source: SourceName, metadata: Metadata)] = []
    private var misses: [SourceName] = []
    private var failures: [(source: SourceName, answer: SourceAnswer)] = []
    private var notAsked: [NotAsked]
    /// The sources that have given all they know about the book.
    private var exhausted: Set<SourceName> = []
    /// The sources that were asked to complete their records.
    private var completed: Set<SourceName> = []
    /// The sources that were pending in the cached answer with which the draft goes on; `nil` for a new draft.
    private let resumed: PendingSources?

    /// True while another source has been asked and has not answered yet.
    var isAwaited = false

    /// - Parameter notAsked: the sources that cannot be used, which the answer lists.
    init(_ isbn: ISBN, notAsked: [NotAsked]) {
        self.isbn = isbn
        self.notAsked = notAsked
        resumed = nil
    }

    /// Creates a draft that goes on with a cached answer.
    ///
    /// - Returns: `nil` if no source is pending.
    init?(_ answer: LookupAnswer) {
        guard case .found(let metadata, let source) = answer.outcome, let pending = answer.pending else { return nil }
        isbn = answer.isbn
        notAsked = answer.notAsked
        records = metadata.parts(from: source)
        resumed = pending
    }

    mutating func add(_ answer: SourceAnswer, from source: SourceName) {
        switch answer {
        case .found(let metadata):
            records.append((source, metadata))
            exhausted.insert(source)
        case .notFound:
            misses.append(source)
            exhausted.insert(source)
        case .notAsked(let reason): leave(out: [NotAsked(source: source, reason: reason)])
        // A network that requires a sign-in blocks every source, and does not do so for ever.
        case .temporary, .blocked: failures.append((source, answer))
        case .badData:
            failures.append((source, answer))
            exhausted.insert(source)
        }
    }

    /// Replaces the record from `source` with a more complete record.
    mutating func complete(with metadata: Metadata, from source: SourceName) {
        guard let index = records.firstIndex(where: { $0.source == source }) else { return }
        records[index].metadata = metadata
        completed.insert(source)
        exhausted.insert(source)
    }

    /// Lists sources that cannot be queried.
    private mutating func leave(out sources: [NotAsked]) {
        for one in sources where !notAsked.contains(where: { $0.source == one.source }) { notAsked.append(one) }
    }

    /// The merged record: the fields of the source with the lowest rank win, and the others fill the gaps. A weak match
    /// may be a different book, so it is never merged with other records, and is used only if there is no certain
    /// match.
    func merged(_ order: SourceOrder) -> (metadata: Metadata, from: SourceName)? {
        let certain = records.filter { !$0.metadata.isWeakMatch }
        func ranked(_ records: [(source: SourceName, metadata: Metadata)]) -> [(SourceName, Metadata)] {
            // Sorting is stable, so that records of the same source stay in the order of their arrival.
            records.sorted { order.rank(of: $0.source) < order.rank(of: $1.source) }
        }
        guard let (source, first) = (ranked(certain).first ?? ranked(records).first) else { return nil }
        var metadata = first
        for (_, other) in ranked(certain).dropFirst() { metadata.fillGaps(from: other) }
        if metadata.series == nil { metadata.seriesNumber = nil }
        return (metadata, metadata.sources[.title] ?? source)
    }

    /// The record so far, in which any certain match comes before a weak one.
    private var found: Metadata? { merged(.standard)?.metadata }

    /// True if a certain match has a title.
    var hasTitle: Bool { found.map { !$0.isWeakMatch && $0.title != nil } ?? false }

    /// True if a certain match has a title and authors.
    var hasTitleAndAuthors: Bool { hasTitle && found?.authorNames.isEmpty == false }

    /// True if another source should be queried, because there is no certain match or an essential field is missing.
    var needsMore: Bool { found.map { $0.isWeakMatch || !$0.missingEssentials.isEmpty } ?? true }

    /// Returns true if the source has answered with a record.
    func hasRecord(of source: SourceName) -> Bool { records.contains { $0.source == source } }

    /// Returns true if the source may add something to the records so far.
    func isAsked(of source: any OnlineSource) -> Bool { source.isAsked(for: isbn, found: found) }

    /// Returns the record that the source can complete with more requests; `nil` if there is none.
    func incompleteRecord(of source: any OnlineSource) -> Metadata? {
        guard !completed.contains(source.name), resumed?.sources.contains(source.name) ?? true,
            found?.authorNames.isEmpty == true,
            let record = records.first(where: { $0.source == source.name })?.metadata, source.canComplete(record)
        else { return nil }
        return record
    }

    /// Returns true if the source is pending in the cached answer and may still add something.
    func isPending(_ source: any OnlineSource) -> Bool {
        resumed?.sources.contains(source.name) == true && !exhausted.contains(source.name) && isAsked(of: source)
            && incompleteRecord(of: source) == nil
    }

    /// Returns the sources that have not been asked, or have failed for the time being, and may fill gaps of the
    /// record; `nil` if there are none, or no record yet.
    private func pending(_ sources: LookupSources, at now: Date) -> PendingSources? {
        guard hasTitle else { return nil }
        let names = sources.available.filter { source in
            if incompleteRecord(of: source) != nil { return true }
            return !exhausted.contains(source.name) && isAsked(of: source)
                && !notAsked.contains { $0.source == source.name }
                && resumed?.sources.contains(source.name) ?? true
        }.map(\.name)
        guard !names.isEmpty else { return nil }
        guard let resumed else {
            // A source that is still awaited must not be asked a second time.
            return PendingSources(names, due: isAwaited ? now.addingTimeInterval(8) : now)
        }
        let waits = failures.compactMap { _, answer in
            if case .temporary(let failure) = answer { failure.retryAfter } else { nil as Duration? }
        }
        return resumed.postponed(names, by: waits.max(), at: now)
    }

    /// True if an online source has answered.
    private var wasAnsweredOnline: Bool {
        resumed != nil || (records.map(\.source) + misses).contains { $0 != .offlineIndex }
    }

    /// True if the answer may be cached: an online source has answered, and the outcome is *found* or *not found*. A
    /// weak match is not cached if any source failed, because that source may have a better match.
    var isCacheable: Bool {
        guard wasAnsweredOnline else { return false }
        return switch outcome(.standard) {
        case .found(let metadata, _): !metadata.isWeakMatch || failures.isEmpty
        case .notFound: true
        default: false
        }
    }

    /// Returns the answer. A record wins over any failure. Without a record, the failure of the online source with the
    /// lowest rank is the outcome, because that source may know the book. The outcome is *not found* only if no source
    /// failed and at least one online source answered.
    func answer(_ sources: LookupSources, at now: Date) -> LookupAnswer {
        var draft = self
        draft.leave(out: sources.notAsked)
        return LookupAnswer(
            isbn: isbn, outcome: draft.outcome(sources.order), notAsked: draft.notAsked,
            pending: draft.pending(sources, at: now))
    }

    private func outcome(_ order: SourceOrder) -> LookupOutcome {
        if let merged = merged(order) { return .found(merged.metadata, from: merged.from) }
        let online = failures.filter { $0.source != .offlineIndex }
        let failure = online.min { order.rank(of: $0.source) < order.rank(of: $1.source) } ?? failures.first
        switch failure?.answer {
        case .temporary(let failure): return .temporary(failure)
        case .blocked(let failure): return .blocked(failure)
        case .badData(let failure): return .badData(failure)
        default: break
        }
        if wasAnsweredOnline {
            return .notFound(asked: misses.sorted { order.rank(of: $0) < order.rank(of: $1) })
        }
        return .temporary(.noSourceAsked(notAsked))
    }
}

extension [ISBN] {
    /// Returns an answer for each ISBN.
    func answered(by answer: (ISBN) -> SourceAnswer) -> [ISBN: SourceAnswer] {
        Dictionary(map { ($0, answer($0)) }, uniquingKeysWith: { first, _ in first })
    }
}

extension Metadata {
    /// Returns the fields of each source as a record of its own, so that another source can be ranked between them. A
    /// field without a source belongs to `source`.
    fileprivate func parts(from source: SourceName) -> [(source: SourceName, metadata: Metadata)] {
        let fields = Dictionary(grouping: filledFields) { sources[$0] ?? source }
        return fields.map { source, fields in
            var part = Metadata()
            for field in fields { part.copy(field, from: self) }
            part.isWeakMatch = isWeakMatch
            return (source, part)
        }
    }
}
