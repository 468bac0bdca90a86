import Bookplate
import FoundationEssentials
import HTTP
import Synchronization

/// Queries every online source separately, to find out which sources answer.
///
/// The same rules apply as for a lookup: rate limits, Retry-After and a stored refusal ("needs a key"). The cache is
/// not used.
public struct SourceProbe: Sendable {
    private let configuration: LookupConfiguration
    private let order: @Sendable () async throws -> SourceOrder
    private let policy: RequestPolicy

    /// The result for one source.
    public struct Finding: Sendable, Equatable {
        public var source: SourceName
        public var answer: SourceAnswer
        /// The time by which the server's clock is ahead of this machine's clock, according to the Date header. The
        /// value is precise to a second, and too low by the time that the answer took to arrive. `nil` if there is no
        /// answer, or no Date header in it.
        public var clockLead: Duration?

        public init(source: SourceName, answer: SourceAnswer, clockLead: Duration? = nil) {
            self.source = source
            self.answer = answer
            self.clockLead = clockLead
        }
    }

    /// - Parameters:
    ///   - order: returns the sources that are switched on. If it throws, none is asked.
    ///   - states: the rate limits for the sources.
    ///   - clock: the clock for waits and time limits.
    ///   - now: returns the calendar time.
    public init(
        _ configuration: LookupConfiguration, order: @escaping @Sendable () async throws -> SourceOrder,
        states: any RateLimits, clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.order = order
        policy = RequestPolicy(http: HTTPClient(configuration), states: states, time: LookupClock(clock, date: now))
    }

    /// Queries all sources that are switched on for one book, all at the same time.
    ///
    /// - Parameter timeout: the longest time to wait until the rate limits allow a request to a source. The same limit
    ///   then applies to the wait for the answer of the source.
    /// - Returns: the results, in the order of the sources.
    public func ask(for isbn: ISBN, timeout: Duration = .seconds(6)) async -> [Finding] {
        let order: SourceOrder
        do { order = try await self.order() } catch {
            return SourceOrder.standard.sources.map { source in
                let left = NotAsked(source, unreadable: error)
                return Finding(source: source, answer: .notAsked(reason: left.reason))
            }
        }
        return await withTaskGroup(of: (Int, Finding).self) { group in
            for (index, source) in configuration.sources(in: order).enumerated() {
                group.addTask { (index, await ask(source, for: isbn, timeout)) }
            }
            var findings: [(Int, Finding)] = []
            for await finding in group { findings.append(finding) }
            return findings.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func ask(_ source: any OnlineSource, for isbn: ISBN, _ timeout: Duration) async -> Finding {
        guard !configuration.isOffline else {
            return Finding(source: source.name, answer: .notAsked(reason: "offline mode is on"))
        }
        let lead = ClockLead()
        var policy = policy
        policy.observe = { [date = policy.time.date] in lead.record($0, at: date()) }
        let client = SourceClient(
            source: source.name, policy: policy, deadline: Deadline(policy.time, limit: timeout),
            unreachable: UnreachableSources(), honoursNotAsked: !source.hasKey, options: source.options)
        let answers = await source.lookUp([isbn], through: client)
        return Finding(source: source.name, answer: answers[isbn] ?? .notFound, clockLead: lead.duration)
    }
}

/// The time by which a server's clock is ahead, according to the last Date header.
private final class ClockLead: Sendable {
    private let last = Mutex<Duration?>(nil)

    var duration: Duration? { last.withLock(\.self) }

    func record(_ answer: HTTPAnswer, at now: Date) {
        guard let text = answer.date, case .success(let curl) = CurlLibrary.shared, let date = curl.date(text) else {
            return
        }
        last.withLock { $0 = .seconds(Int64(date.timeIntervalSince(now))) }
    }
}
