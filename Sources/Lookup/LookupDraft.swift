import Bookplate

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
        return .temporary(SourceFailure(source: nil, reason: "no online source was asked (\(reasons))"))
    }
}

extension [ISBN] {
    /// An answer for every one of them.
    func answered(by answer: (ISBN) -> SourceAnswer) -> [ISBN: SourceAnswer] {
        Dictionary(map { ($0, answer($0)) }, uniquingKeysWith: { first, _ in first })
    }
}
