import FoundationEssentials

/// The state of a source, which the processes on this machine share through a file.
///
/// Times are wall-clock times, because several processes share them. If the clock goes backwards, the elapsed time is
/// taken to be zero.
public struct SourceState: Sendable, Equatable, Codable {
    public var bucket = TokenBucket()
    public var breaker = CircuitBreaker()
    /// The end of a pause that the source itself requested (Retry-After). Until then, the source is not queried.
    public var restUntil: Date?
    /// The reason for a pause of more than an hour, such as a quota for a day; `nil` for a shorter pause.
    public var restReason: String?
    /// The source is skipped until this time. Until then, lookups report it as *not asked*.
    public var notAskedUntil: Date?
    /// The reason why the source is skipped until ``notAskedUntil``, such as "needs a key".
    public var notAskedReason: String?

    public init() {}
}

/// A rate limit of one request per second, with bursts of up to three.
public struct TokenBucket: Sendable, Equatable, Codable {
    public static let burst = 3.0

    public var tokens = TokenBucket.burst
    public var filledAt: Date?

    public init() {}

    /// Takes one token from the bucket, for one request.
    ///
    /// - Parameters:
    ///   - pause: the time in which one token comes back.
    ///   - burst: the number of tokens in a full bucket.
    /// - Returns: the time to wait before sending the request; zero to send it now. In both cases the request is
    ///   counted.
    public mutating func consume(
        at now: Date, every pause: Duration = .seconds(1), burst: Double = TokenBucket.burst
    ) -> Duration {
        let perSecond = .seconds(1) / pause
        if let filledAt, now < filledAt.addingTimeInterval(3600) {
            tokens = min(burst, tokens + max(0, now.timeIntervalSince(filledAt)) * perSecond)
            self.filledAt = max(now, filledAt)
            // The clock went backwards by more than requests in flight can explain.
            if filledAt.timeIntervalSince(now) > 60 { self.filledAt = now }
        } else {
            tokens = burst
            filledAt = now
        }
        tokens -= 1
        return tokens >= 0 ? .zero : .milliseconds(Int64(-tokens / perSecond * 1000) + 1)
    }
}

/// Stops requests to a source that keeps failing. After five failures in a row, the source is not queried for 30 s.
/// Then one probe (a test request) is allowed; every probe that fails doubles the pause, up to 15 min.
public struct CircuitBreaker: Sendable, Equatable, Codable {
    public static let threshold = 5
    public static let firstPause: TimeInterval = 30
    public static let longestPause: TimeInterval = 900

    public var failures = 0
    public var openUntil: Date?

    public init() {}

    /// Returns the time to wait before the source may be queried; zero if it may be queried now. After a pause, only
    /// the first call returns zero, as permission for a probe (a test request), and a new pause begins. Only one
    /// process therefore sends a probe.
    public mutating func wait(at now: Date) -> Duration {
        guard let openUntil else { return .zero }
        // If the clock jumps back, the circuit stays open for at most the longest pause.
        let remaining = min(openUntil.timeIntervalSince(now), Self.longestPause)
        if remaining > 0 { return .milliseconds(Int64(remaining * 1000)) }
        self.openUntil = now.addingTimeInterval(pause)
        return .zero
    }

    public mutating func succeeded() { self = CircuitBreaker() }

    public mutating func failed(at now: Date) {
        failures += 1
        if failures >= Self.threshold { openUntil = now.addingTimeInterval(pause) }
    }

    private var pause: TimeInterval {
        min(Self.longestPause, Self.firstPause * Double(1 << min(10, max(0, failures - Self.threshold))))
    }
}
