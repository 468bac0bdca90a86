import Bookplate
import FoundationEssentials
import HTTP

/// The settings and services that all requests of this process share.
struct RequestPolicy: Sendable {
    let http: HTTPClient
    let states: any RateLimits
    let time: LookupClock
    /// Returns a random factor for the pauses between attempts, so that several stations do not retry at the same
    /// moment.
    var jitter: @Sendable () -> Double = { .random(in: 0.5...1.5) }
    var limits = HTTPLimits()
    /// Returns when a source has kept a lookup waiting for so long that the next one is asked as well. Most answers
    /// take less than a second, and five sources in a row still fit into the 8 s of a lookup.
    var patience: @Sendable (LookupClock) async throws -> Void = { try await $0.sleep(.milliseconds(1200)) }
    /// Receives every answer before the answer is checked.
    var observe: @Sendable (HTTPAnswer) -> Void = { _ in }
    /// Logs errors that do not change an answer, such as a cache that cannot be read or written.
    var report: @Sendable (String) -> Void = { _ in }
    /// Lists the requests of this process that are in progress, with their waits and retries.
    var open = OpenRequests()

    /// Waits as long as a source may keep a lookup waiting.
    ///
    /// - Returns: false if the answer has come before, and the task is cancelled.
    func losesPatience() async -> Bool {
        do { try await patience(time) } catch { return false }
        return true
    }
}

/// The options for the requests of a ``SourceClient``.
struct RequestOptions: Sendable {
    var accept = "application/json"
    /// True if an answer may be XML, whose first character is that of a web page as well.
    var isXMLExpected = false
    /// The time between two requests, and the number of requests that may follow one another without it.
    var pause: Duration = .seconds(1)
    var burst = TokenBucket.burst
    /// The maximum number of attempts at one request. When Google answers with status 503, the second or third attempt
    /// often succeeds.
    var attempts = 3
    /// Returns true if the first address may redirect to the second.
    var follows: @Sendable (WebAddress, WebAddress) -> Bool = { $0.origin == $1.origin }
    /// Returns true if a request to this address may connect only to the public internet.
    var needsPublicAddress: @Sendable (WebAddress) -> Bool = { _ in false }
}

/// Sends the requests of one lookup to one source. Every request, including redirects and retries, obeys the rate
/// limits of this machine. All requests together stay within the deadline of the lookup.
struct SourceClient: Sendable {
    let source: SourceName
    let policy: RequestPolicy
    let deadline: Deadline
    let unreachable: UnreachableSources
    /// True if no source is asked after this one. Only then may a connection take all of the time for connecting.
    var isLast = true
    /// True if the source is left out as long as a stored refusal ("needs a key") applies.
    var honoursNotAsked = true
    var options = RequestOptions()

    private static let redirects = 3

    private var now: Date { policy.time.date() }
    private var remaining: Duration { deadline.remaining }

    private enum Attempt {
        case answered(HTTPAnswer)
        /// No request was sent, for the reason in the error.
        case notSent(LookupError)
        /// The request failed. The failure is counted for the source only if it was the source's fault. A missing
        /// network on this machine, for example, is not counted.
        case failed(LookupError, isWorthRetrying: Bool, isSourcesFault: Bool)
    }

    /// Sends a request, and repeats it if that may help.
    ///
    /// - Parameter classify: returns the error for an answer that has a special meaning at this source; `nil` to apply
    ///   the general rules for HTTP.
    /// - Returns: an answer with status 2xx, 404 or 410.
    func get(
        _ address: WebAddress, classify: (HTTPAnswer) -> LookupError? = { _ in nil }
    ) async throws(LookupError) -> HTTPAnswer {
        policy.open.begin(source)
        defer { policy.open.end(source) }
        for number in 1... {
            switch await attempt(address, classify) {
            case .answered(let answer):
                await update { if $0.breaker.failures > 0 { $0.breaker.succeeded() } }
                return answer
            case .notSent(let error): throw error
            case .failed(let error, let isWorthRetrying, let isSourcesFault):
                if isWorthRetrying, number < options.attempts, await pause(after: number, error) { continue }
                if case .notAsked = error { unreachable.add(source, error) }
                let date = now
                await update { state in
                    if isSourcesFault { state.breaker.failed(at: date) }
                    error.record(in: &state, at: date)
                }
                throw error
            }
        }
        preconditionFailure("every attempt must return or throw")
    }

    /// Makes one attempt. Follows at most three redirects, if the options allow them.
    private func attempt(_ address: WebAddress, _ classify: (HTTPAnswer) -> LookupError?) async -> Attempt {
        var address = address
        for _ in 0...Self.redirects {
            if let error = await waitForPermission() { return .notSent(error) }
            let answer: HTTPAnswer
            do throws(TransportError) {
                answer = try await policy.http.send(request(to: address))
            } catch {
                return failed(error)
            }
            unreachable.connected()
            policy.observe(answer)
            guard answer.isRedirect else {
                guard
                    let error = classify(answer)
                        ?? LookupError(answer, of: source, at: now, isXMLExpected: options.isXMLExpected)
                else {
                    return .answered(answer)
                }
                return .failed(
                    error, isWorthRetrying: [500, 502, 503, 504].contains(answer.status),
                    isSourcesFault: answer.status != 429)
            }
            guard let target = answer.redirect, options.follows(address, target) else {
                let host = answer.redirect?.origin ?? answer.redirectText.map { String($0.prefix(100)) } ?? "nowhere"
                let reason = "redirects to \(host) instead of answering; the network requires you to sign in"
                return .failed(
                    .blocked(SourceError(source: source, reason: reason)), isWorthRetrying: false,
                    isSourcesFault: true)
            }
            address = target
        }
        let reason = "redirected the request more than \(Self.redirects) times"
        return .failed(
            .badData(SourceError(source: source, reason: reason)), isWorthRetrying: false, isSourcesFault: true)
    }

    private func failed(_ transportError: TransportError) -> Attempt {
        let error = LookupError(transportError, of: source, at: now)
        switch transportError {
        case .offline: unreachable.add(source, error)
        case .timedOut(connecting: true):
            deadline.spendConnecting(keepsSome: !isLast)
            unreachable.timedOut(source, error)
        default: break
        }
        let isSourcesFault =
            switch transportError {
            case .offline, .cancelled, .other: false
            default: true
            }
        return .failed(error, isWorthRetrying: transportError.isWorthRetrying, isSourcesFault: isSourcesFault)
    }

    private func request(to address: WebAddress) -> HTTPRequest {
        var limits = policy.limits
        limits.connect = min(limits.connect, deadline.connecting(keepsSome: !isLast))
        limits.total = min(limits.total, remaining)
        return HTTPRequest(
            address: address, limits: limits, allowed: options.needsPublicAddress(address) ? .publicOnly : .any,
            accept: options.accept)
    }

    /// Waits until the rate limits of this machine allow a request to the source, and then starts the deadline of the
    /// lookup.
    ///
    /// - Returns: the reason why no request may be sent in time; `nil` if the request may be sent now.
    private func waitForPermission() async -> LookupError? {
        if let error = unreachable.error(of: source) { return error }
        var hasWaited = false
        while true {
            let (date, longestWait, honoursNotAsked, options) = (now, remaining, honoursNotAsked, options)
            let decision: RateLimitDecision
            do {
                decision = try await policy.states.update(source) { state in
                    RateLimitDecision(
                        &state, at: date, longestWait: longestWait, honoursNotAsked: honoursNotAsked,
                        pause: options.pause, burst: options.burst)
                }
            } catch {
                let reason = "this machine's rate limits cannot be saved: \(error)"
                return .temporary(SourceError(source: source, reason: reason))
            }
            do {
                switch decision {
                case .now: break
                case .after(let wait): try await policy.time.sleep(wait)
                case .retryAfter(let wait) where !hasWaited:
                    try await policy.time.sleep(wait)
                    hasWaited = true
                    continue
                case .refused(let error): return error
                case .retryAfter(let wait), .tooLong(let wait, reason: _), .busy(let wait):
                    return .temporary(SourceError(source: source, reason: decision.reason, retryAfter: wait))
                }
            } catch {
                return .temporary(SourceError(source: source, reason: "cancelled"))
            }
            deadline.start()
            guard remaining > .zero else {
                return .temporary(
                    SourceError(
                        source: source, reason: "there was no time left for a request", retryAfter: .seconds(1)))
            }
            return nil
        }
    }

    /// Pauses before the next attempt: about 0.3 s after the first attempt and 0.6 s after the second, with random
    /// jitter, or longer if the source has requested a longer pause.
    ///
    /// - Returns: true if there is time for another attempt.
    private func pause(after number: Int, _ error: LookupError) async -> Bool {
        var wait = Duration.milliseconds(Int64(300 * Double(number) * policy.jitter()))
        if case .temporary(let failure) = error, let retryAfter = failure.retryAfter { wait = max(wait, retryAfter) }
        guard wait < remaining else { return false }
        do {
            try await policy.time.sleep(wait)
            return true
        } catch {
            return false
        }
    }

    /// Updates the stored state of the source. An error is only logged, because the answer of the source has already
    /// arrived.
    private func update(_ change: @escaping @Sendable (inout SourceState) -> Void) async {
        do { try await policy.states.update(source, change) } catch {
            policy.report("lookup: the state of \(source.displayName) cannot be stored: \(error)")
        }
    }
}

/// The decision about one more request to a source, according to the rate limits of this machine.
enum RateLimitDecision: Sendable, Equatable {
    case now
    /// The request has been counted against the rate limits, and may be sent after this wait.
    case after(Duration)
    /// The source has requested a pause of this length. A new decision is needed after the pause.
    case retryAfter(Duration)
    /// The necessary wait is longer than the time that is left. The request was not counted against the rate limits.
    case tooLong(Duration, reason: String)
    /// As ``tooLong``, because of other requests from this machine.
    case busy(Duration)
    case refused(LookupError)

    /// Decides if a request may be sent. If so, the request is counted in the state; otherwise the state stays
    /// unchanged.
    init(
        _ state: inout SourceState, at now: Date, longestWait: Duration, honoursNotAsked: Bool,
        pause: Duration = .seconds(1), burst: Double = TokenBucket.burst
    ) {
        if honoursNotAsked, let reason = state.reasonNotToAsk(at: now) {
            self = .refused(.notAsked(reason: reason))
            return
        }
        if let rest = state.rest(at: now) {
            self = rest <= longestWait ? .retryAfter(rest) : .tooLong(rest, reason: state.restReason ?? Self.restReason)
            return
        }
        var next = state
        let wait = next.bucket.consume(at: now, every: pause, burst: burst)
        let rest = next.breaker.wait(at: now)
        if rest > .zero {
            self = .tooLong(
                rest,
                reason: "failed \(state.breaker.failures) times in a row and will not be queried again for a while")
        } else if wait > longestWait {
            self = .busy(wait)
        } else {
            state = next
            self = wait > .zero ? .after(wait) : .now
        }
    }

    private static let restReason = "asked for a pause before the next request"

    /// The reason for the wait, as a message for people.
    var reason: String {
        switch self {
        case .tooLong(_, let reason): reason
        case .busy: "other requests from this machine must be sent first"
        default: Self.restReason
        }
    }
}

extension SourceState {
    /// Returns the remaining time of the pause that the source has requested; `nil` if there is no pause. The result is
    /// at most an hour, or a day and an hour for a quota, because the clock may have been set back.
    fileprivate func rest(at now: Date) -> Duration? {
        guard let restUntil, restUntil > now else { return nil }
        let longest = restReason == nil ? 3600.0 : 90_000
        return .milliseconds(Int64(min(restUntil.timeIntervalSince(now), longest) * 1000) + 1)
    }

    /// Returns the reason why the source may not be queried today; `nil` if it may be queried.
    func reasonNotToAsk(at now: Date) -> String? {
        // A time more than a day ahead is ignored, because the clock must have been set back.
        guard let notAskedUntil, now < notAskedUntil, notAskedUntil.timeIntervalSince(now) <= 86_400 else { return nil }
        return notAskedReason
    }
}

extension LookupError {
    /// Stores the pause or the refusal that the error contains, so that other processes respect it too.
    func record(in state: inout SourceState, at now: Date) {
        switch self {
        case .temporary(let failure):
            guard let wait = failure.retryAfter else { return }
            state.restUntil = now.addingTimeInterval(wait / .seconds(1))
            state.restReason = wait > RetryAfter.longest ? failure.reason : nil
        case .notAsked(let reason):
            let day = 86_400.0
            state.notAskedUntil = Date(
                timeIntervalSince1970: (now.timeIntervalSince1970 / day).rounded(.down) * day + day)
            state.notAskedReason = reason
        case .blocked, .badData: break
        }
    }
}
