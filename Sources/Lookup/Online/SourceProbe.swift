import Bookplate
import FoundationEssentials
import HTTP
import Synchronization

/// Asks every online source for itself, for a person who wants to know which of them answers.
///
/// The policy are those of a lookup: turns, rests and a remembered "needs a key" count, and the cache is passed over.
public struct SourceProbe: Sendable {
    private let sources: [any OnlineSource]
    private let policy: RequestPolicy
    private let isOffline: Bool

    /// What one source did.
    public struct Finding: Sendable, Equatable {
        public var source: SourceName
        public var answer: SourceAnswer
        /// How far the clock of whoever answered is ahead of this machine's, from the Date header; to a second, and late by the
        /// time the answer took. `nil` when nobody answered, or without a date.
        public var clockLead: Duration?

        public init(source: SourceName, answer: SourceAnswer, clockLead: Duration? = nil) {
            self.source = source
            self.answer = answer
            self.clockLead = clockLead
        }
    }

    /// - Parameters:
    ///   - states: the machine's memory of the sources.
    ///   - clock: for waits and time limits.
    ///   - now: the calendar's time.
    public init(
        _ configuration: LookupConfiguration, states: any RateLimits, clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let covers = CoverAddress(base: configuration.covers)
        sources = [
            OpenLibrary(base: configuration.openLibrary, covers: covers),
            GoogleBooks(base: configuration.googleBooks, key: configuration.googleBooksKey, covers: covers),
        ]
        policy = RequestPolicy(http: HTTPClient(configuration), states: states, time: Timekeeper(clock, date: now))
        isOffline = configuration.isOffline
    }

    /// Asks all of them at the same time for one book.
    ///
    /// - Parameter patience: for the answer of one source, and once more for its turn.
    /// - Returns: what each did, in the order in which a lookup asks them.
    public func ask(for isbn: ISBN, patience: Duration = .seconds(6)) async -> [Finding] {
        await withTaskGroup(of: (Int, Finding).self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask { (index, await ask(source, for: isbn, patience)) }
            }
            var findings: [(Int, Finding)] = []
            for await finding in group { findings.append(finding) }
            return findings.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func ask(_ source: any OnlineSource, for isbn: ISBN, _ patience: Duration) async -> Finding {
        guard !isOffline else {
            return Finding(source: source.name, answer: .notAsked(reason: "offline is switched on"))
        }
        let lead = ClockLead()
        var policy = policy
        policy.witness = { [date = policy.time.date] in lead.see($0, at: date()) }
        let visit = Visit(
            source: source.name, policy: policy, budget: Budget(policy.time, limit: patience), reach: Reach(),
            honoursNotAsked: !source.hasKey)
        let answers = await source.lookUp([isbn], on: visit)
        return Finding(source: source.name, answer: answers[isbn] ?? .notFound, clockLead: lead.duration)
    }
}

/// Remembers the last Date header.
private final class ClockLead: Sendable {
    private let seen = Mutex<Duration?>(nil)

    var duration: Duration? { seen.withLock(\.self) }

    func see(_ answer: HTTPAnswer, at now: Date) {
        guard let text = answer.date, case .success(let curl) = CurlLibrary.shared, let date = curl.date(text) else {
            return
        }
        seen.withLock { $0 = .seconds(Int64(date.timeIntervalSince(now))) }
    }
}
