import Async
import Bookplate
import FoundationEssentials
import Library
import Station
import Synchronization

/// A lookup with scripted answers that records its questions.
final class ScriptedLookup: MetadataLookup {
    private let known: Mutex<[String: LookupOutcome]>
    private let asked = Mutex<[[ISBN]]>([])
    private let gaps = Mutex<[LookupAnswer]>([])

    init(_ known: [String: LookupOutcome] = [:]) { self.known = Mutex(known) }

    var questions: [[ISBN]] { asked.withLock { $0 } }

    /// The answers that filling gaps applies, each once.
    func addGaps(_ answers: [LookupAnswer]) { gaps.withLock { $0 += answers } }

    func fillGaps(_ apply: @Sendable ([LookupAnswer]) async throws -> Void) async throws {
        while let answer = gaps.withLock({ $0.first }) {
            try await apply([answer])
            gaps.withLock { _ = $0.removeFirst() }
        }
    }

    func learn(_ isbn: String, _ outcome: LookupOutcome) { known.withLock { $0[isbn] = outcome } }

    func lookUp(_ isbns: [ISBN], for goal: LookupGoal, refresh: Bool) -> AsyncStream<LookupAnswer> {
        asked.withLock { $0.append(isbns) }
        let known = known.withLock { $0 }
        return AsyncStream { continuation in
            for isbn in isbns {
                continuation.yield(
                    LookupAnswer(isbn: isbn, outcome: known[isbn.digits] ?? .notFound(asked: [.openLibrary])))
            }
            continuation.finish()
        }
    }
}

extension LookupOutcome {
    static func found(_ title: String) -> LookupOutcome {
        var metadata = Metadata()
        metadata.title = title
        metadata.attribute(to: .openLibrary)
        return .found(metadata, from: .openLibrary)
    }

    /// The same book with a page count from another source.
    static func found(_ title: String, pages: Int) -> LookupOutcome {
        var metadata = Metadata()
        (metadata.title, metadata.pageCount) = (title, pages)
        metadata.attribute(to: .dnb)
        return .found(metadata, from: .dnb)
    }

    static let offline = LookupOutcome.temporary(SourceError(source: .openLibrary, reason: "offline"))
}

/// A library in memory with the workflow on it.
struct Workbench {
    let library: LibraryFile
    let lookup: ScriptedLookup
    let flow: CaptureFlow

    init(_ known: [String: LookupOutcome] = [:], now: @escaping @Sendable () -> Date = { Date() }) throws {
        library = try LibraryFile.inMemory(device: "desk")
        lookup = ScriptedLookup(known)
        flow = CaptureFlow(queue: library, shelf: library, lookup: lookup, now: now)
    }

    /// Returns the candidates that a lookup of the due items delivers.
    func refreshed() async throws -> [Candidate] {
        try await delivered { [flow] in try await flow.lookUpDue(deliver: $0) }
    }

    /// Returns the candidates that a lookup delivers.
    func delivered(
        _ lookup: @Sendable (@escaping CaptureFlow.Delivery) async throws -> Void
    ) async throws -> [Candidate] {
        let candidates = SharedValue<[Candidate]>([])
        try await lookup { delivered in candidates.withLock { $0 += delivered } }
        return candidates.value
    }

    func capture(_ isbns: String..., preset: Preset = Preset()) async throws -> [QueueItem] {
        try await flow.enqueue(isbns.map { Detection(isbn: try ISBN($0), raw: $0, origin: .typed) }, preset: preset)
    }

    func candidates(for items: [QueueItem]) async throws -> [Candidate] {
        try await delivered { [flow] in try await flow.lookUp(items, areCaptured: true, deliver: $0) }
    }

    /// Saves the items that `--yes` covers, as an unattended run does.
    ///
    /// - Returns: the events of all items.
    func settle(_ items: [QueueItem], anotherCopy: Bool = false) async throws -> [CaptureEvent] {
        var options = Station.Options()
        options.saving = Station.AutomaticSaving(anotherCopy: anotherCopy, isUnattended: true)
        let station = Station(flow: flow, history: library, options: options)
        try await station.adopt(items)
        await station.settled()
        station.endNews()
        var events: [CaptureEvent] = []
        for await news in station.news {
            switch news {
            case .settled(let settled): events += settled
            case .failed(let error): throw error
            default: break
            }
        }
        return items.compactMap { item in events.first { $0.item == item.id } }
    }
}
