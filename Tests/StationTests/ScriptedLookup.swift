import Bookplate
import FoundationEssentials
import Library
import Station
import Synchronization

/// A lookup that knows what it is told to know, and writes down what it was asked.
final class ScriptedLookup: MetadataLookup {
    private let known: Mutex<[String: LookupOutcome]>
    private let asked = Mutex<[[ISBN]]>([])

    init(_ known: [String: LookupOutcome] = [:]) { self.known = Mutex(known) }

    var questions: [[ISBN]] { asked.withLock { $0 } }

    func learn(_ isbn: String, _ outcome: LookupOutcome) { known.withLock { $0[isbn] = outcome } }

    func lookUp(_ isbns: [ISBN], refresh: Bool) -> AsyncStream<LookupAnswer> {
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

    static let offline = LookupOutcome.temporary(SourceError(source: .openLibrary, reason: "offline"))
}

/// A library in memory with the workflow on it.
struct Workbench {
    let library: LibraryFile
    let lookup: ScriptedLookup
    let flow: CaptureFlow

    init(_ known: [String: LookupOutcome] = [:], now: @escaping @Sendable () -> Date = { Date() }) throws {
        library = try LibraryFile.inMemory(station: "desk")
        lookup = ScriptedLookup(known)
        flow = CaptureFlow(intake: library, shelf: library, lookup: lookup, now: now)
    }

    /// What a refresh of the queue finds out.
    func refreshed() async throws -> [Candidate] {
        try await flow.refreshQueue().reduce(into: []) { $0.append($1) }
    }

    func capture(_ isbns: String..., preset: Preset = Preset()) async throws -> [IntakeItem] {
        try await flow.capture(isbns.map { Detection(isbn: try ISBN($0), raw: $0, origin: .typed) }, preset: preset)
    }

    func candidates(for items: [IntakeItem]) async throws -> [Candidate] {
        let (stream, continuation) = AsyncStream.makeStream(of: IntakeItem.self)
        for item in items { continuation.yield(item) }
        continuation.finish()
        return try await flow.candidates(following: stream, areCaptured: true).reduce(into: []) { $0.append($1) }
    }
}
