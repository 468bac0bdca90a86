import FoundationEssentials

/// How a source is to be treated by all processes of this machine: what the library file remembers of it.
///
/// Times are instants of the wall clock because processes share them; a clock that went backwards counts as no time passed.
public struct SourceState: Sendable, Equatable, Codable {
    public var bucket = TokenBucket()
    public var breaker = CircuitBreaker()
    /// Until when the source is left alone because of what it said (Retry-After).
    public var restUntil: Date?
    /// Until when it counts as *not asked*, and why ("needs a key").
    public var notAskedUntil: Date?
    public var notAskedReason: String?

    public init() {}
}

/// At most one request a second with a burst of three.
public struct TokenBucket: Sendable, Equatable, Codable {
    public static let burst = 3.0
    public static let perSecond = 1.0

    public var tokens = TokenBucket.burst
    public var filledAt: Date?

    public init() {}

    /// Takes one request's worth.
    ///
    /// - Returns: how long to wait before the request may go out; zero when at once. The request is already counted.
    public mutating func take(at now: Date) -> Duration {
        if let filledAt, now < filledAt.addingTimeInterval(3600) {
            tokens = min(Self.burst, tokens + max(0, now.timeIntervalSince(filledAt)) * Self.perSecond)
            self.filledAt = max(now, filledAt)
            // The clock went backwards by more than the requests in flight explain.
            if filledAt.timeIntervalSince(now) > 60 { self.filledAt = now }
        } else {
            tokens = Self.burst
            filledAt = now
        }
        tokens -= 1
        return tokens >= 0 ? .zero : .milliseconds(Int64(-tokens / Self.perSecond * 1000) + 1)
    }
}

/// Stops asking a source that keeps failing: open for 30 s after five failures in a row, doubled up to 15 min with every
/// probe that fails; one probe is let through when the time is up.
public struct CircuitBreaker: Sendable, Equatable, Codable {
    public static let threshold = 5
    public static let firstPause: TimeInterval = 30
    public static let longestPause: TimeInterval = 900

    public var failures = 0
    public var openUntil: Date?

    public init() {}

    /// How long the source is still left alone; zero when it may be asked. Letting a probe through pushes the time on, so that
    /// only one process probes.
    public mutating func wait(at now: Date) -> Duration {
        guard let openUntil else { return .zero }
        // A clock that jumped back must not keep it shut longer than the longest pause.
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
