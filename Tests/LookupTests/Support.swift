import Async
import Bookplate
import FaultServer
import Foundation
import HTTP
import TestTools
import Testing

@testable import Lookup

actor MemoryStates: RateLimits {
    private(set) var states: [SourceName: SourceState] = [:]
    /// The number of updates until the states cannot be stored any more.
    private var updatesLeft: Int

    init(updatesLeft: Int = .max) { self.updatesLeft = updatesLeft }

    func update<Result: Sendable>(
        _ source: SourceName, _ change: @Sendable (inout SourceState) -> Result
    ) async throws -> Result {
        guard updatesLeft > 0 else { throw NoAnswer() }
        updatesLeft -= 1
        return change(&states[source, default: SourceState()])
    }
}

/// Stores answers as JSON, as the library does.
actor MemoryCache: AnswerCache {
    private(set) var kept: [ISBN: LookupAnswer] = [:]
    private(set) var texts: [ISBN: Data] = [:]

    func answers(for isbns: [ISBN], at now: Date) async throws -> [ISBN: LookupAnswer] {
        var answers = kept.filter { isbns.contains($0.key) }
        for (isbn, answer) in answers {
            guard case .found(_, let source) = answer.outcome, let text = texts[isbn] else { continue }
            answers[isbn]?.outcome = .found(try JSONDecoder().decode(Metadata.self, from: text), from: source)
        }
        return answers
    }
    func answersWithGaps(limit: Int, at now: Date) async throws -> [LookupAnswer] {
        let due = kept.values.filter { $0.pending.map { $0.due <= now } ?? false }
        return Array(due.sorted { $0.isbn < $1.isbn }.prefix(limit))
    }
    func fillGapsAlone(_ body: @Sendable () async throws -> Void) async throws { try await body() }
    func keep(_ answers: [LookupAnswer], at now: Date) async throws {
        for answer in answers {
            kept[answer.isbn] = answer
            texts[answer.isbn] = try answer.outcome.metadata.map { try JSONEncoder().encode($0) }
        }
    }
}

/// Two fault servers that stand for Open Library and Google Books, and a lookup that asks them without waiting in real
/// time.
struct Rig {
    let openLibrary: FaultServer
    let googleBooks: FaultServer
    let clock = JumpClock()
    let states: MemoryStates
    let cache = MemoryCache()
    var key: String? = "key"
    var contact: String? = "station@example.org"
    var isOffline = false
    /// The catalogues that are asked, and their addresses.
    var catalogues: [SourceName: String] = [:]
    /// The sources that are switched on; `nil` if they cannot be read.
    var order: SourceOrder? = SourceOrder([.openLibrary, .googleBooks])
    var limits = HTTPLimits(connect: .seconds(3), total: .seconds(8), slowFor: .seconds(5))
    /// Returns when the lookup loses its patience with a source; by default, it never does.
    var patience: @Sendable (LookupClock) async throws -> Void = { _ in try await Task.sleep(for: .seconds(86_400)) }

    init(states: MemoryStates = MemoryStates()) throws {
        openLibrary = try FaultServer()
        googleBooks = try FaultServer()
        self.states = states
        openLibrary.on("/api/books", .json("{}"))
        googleBooks.on("/books/v1/volumes", .json(#"{"kind":"books#volumes","totalItems":0}"#))
    }

    func configuration() throws -> LookupConfiguration {
        try LookupConfiguration(
            version: "1.0", homepage: "https://bookplate.example", contact: contact, openLibrary: openLibrary.address,
            googleBooks: googleBooks.address, covers: "https://covers.openlibrary.org", catalogues: catalogues,
            googleBooksKey: key,
            isOffline: isOffline)
    }

    func chain(
        index: (any MetadataSource)? = nil, notAsked: [NotAsked] = [], clock other: JumpClock? = nil,
        date: (@Sendable () -> Date)? = nil, report: @escaping @Sendable (String) -> Void = { _ in },
        open: OpenRequests = OpenRequests()
    ) throws -> LookupChain {
        let configuration = try configuration()
        let clock = other ?? clock
        let policy = RequestPolicy(
            http: HTTPClient(userAgent: configuration.userAgent), states: states,
            time: LookupClock(clock, date: date ?? { clock.date }), jitter: { 1 }, limits: limits, patience: patience,
            report: report,
            open: open)
        return LookupChain(
            configuration, index: index, notAsked: notAsked, order: { [order] in try order ?? { throw NoAnswer() }() },
            cache: cache,
            policy: policy)
    }

    func lookUp(
        _ isbns: ISBN..., for goal: LookupGoal = .record, index: (any MetadataSource)? = nil,
        notAsked: [NotAsked] = [], refresh: Bool = false
    ) async throws -> [LookupAnswer] {
        var answers: [LookupAnswer] = []
        for await answer in try chain(index: index, notAsked: notAsked).lookUp(isbns, for: goal, refresh: refresh) {
            answers.append(answer)
        }
        return answers
    }

    /// Returns the answers that filling gaps applies.
    func fillGaps() async throws -> [LookupAnswer] {
        let applied = SharedValue<[LookupAnswer]>([])
        try await chain().fillGaps { answers in applied.withLock { $0 += answers } }
        return applied.value
    }

    /// Returns the outcome for the book that most tests ask for.
    func outcome(of isbn: ISBN = .odyssey) async throws -> LookupOutcome {
        guard let answer = try await lookUp(isbn).first else { throw NoAnswer() }
        return answer.outcome
    }
}

struct NoAnswer: Error {}

/// A fault of a source, and the outcome that it must have.
struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let reply: Reply
    let outcome: LookupOutcome.Name
    /// The reason that people get; `nil` if it depends on the source.
    let reason: String?

    init(_ name: String, _ reply: Reply, _ outcome: LookupOutcome.Name, _ reason: String? = nil) {
        (testDescription, self.reply, self.outcome, self.reason) = (name, reply, outcome, reason)
    }

    /// The faults of connections, servers and networks, which do not depend on what a source answers.
    static let ofAnySource = [
        Fault("500", .status(500), .temporary, "is not working (500)"),
        Fault("502", .status(502), .temporary, "is not working (502)"),
        Fault("503", .status(503), .temporary, "is not working (503)"),
        Fault("a reset", .reset, .temporary, "the connection was reset"),
        Fault("a cut body", .cutChunks("{"), .temporary, "the connection ended in the middle of the answer"),
        Fault(
            "a wrong length", .cut("{}", length: 500), .temporary, "the connection ended in the middle of the answer"),
        Fault("403", .status(403), .blocked, "refuses to answer (403)"),
        Fault("511", .status(511), .blocked, "the network requires you to sign in (511)"),
        Fault(
            "a page", .page("<html>Sign in</html>"), .blocked,
            "answered with a web page; the network requires you to sign in"),
        Fault(
            "another host", .redirect(to: "http://portal.example/login"), .blocked,
            "redirects to http://portal.example instead of answering; the network requires you to sign in"),
        Fault("10 GB in chunks", .endless, .badData, "the answer is larger than 1024 KiB"),
        Fault("a gzip bomb", .gzipBomb(size: 16 << 20), .badData, "the answer is larger than 1024 KiB"),
    ]
}

extension ISBN {
    static let odyssey = sample("9780140268867")
    static let solaris = sample("9780156027601")
    static let kitchen = sample("9780802142443")

    static func sample(_ text: String) -> ISBN {
        do { return try ISBN(text) } catch { preconditionFailure("\(text) is no ISBN: \(error)") }
    }
}

extension LookupOutcome {
    var metadata: Metadata? {
        guard case .found(let metadata, _) = self else { return nil }
        return metadata
    }

    var failure: SourceError? {
        switch self {
        case .temporary(let failure), .blocked(let failure), .badData(let failure): failure
        default: nil
        }
    }
}

/// Returns the text of a file in Fixtures.
func fixture(_ name: String, file: String = #filePath) throws -> String {
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("Fixtures")
    return try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
}

extension Reply {
    /// Open Library's answer with one record that lists the ISBN, and no edition.
    ///
    /// - Parameter fields: the other members of the record, as JSON.
    static func book(_ isbn: ISBN, _ fields: String) -> Reply {
        books(data: #"{\#(fields), "identifiers": {"isbn_13": ["\#(isbn.digits)"]}}"#, details: nil)
    }

    /// Open Library's answer to both commands for each number: the record, and the edition.
    static func books(data: String, details: String?) -> Reply {
        .json { request in
            let isDetails = request.query("jscmd") == "details"
            let records = (request.query("bibkeys") ?? "").split(separator: ",").compactMap { key in
                isDetails
                    ? details.map { #""\#(key)": {"bib_key": "\#(key)", "details": \#($0)}"# } : #""\#(key)": \#(data)"#
            }
            return "{\(records.joined(separator: ","))}"
        }
    }
}
