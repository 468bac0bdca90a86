import Bookplate
import FoundationEssentials
import HTTP

/// The settings and services that all requests of this process share.
struct RequestPolicy: Sendable {
    let http: HTTPClient
    let states: any RateLimits
    let time: LookupClock
    /// Returns a factor for the pauses between attempts, so that stations do not retry in step.
    var jitter: @Sendable () -> Double = { .random(in: 0.5...1.5) }
    var limits = HTTPLimits()
    /// Receives every answer before it is interpreted.
    var observe: @Sendable (HTTPAnswer) -> Void = { _ in }
}

/// The options of a client's requests.
struct RequestOptions: Sendable {
    var accept = "application/json"
    /// The most attempts at one request: Google's 503 often passes at the second or third.
    var attempts = 3
    /// Returns true if the first address may redirect to the second.
    var follows: @Sendable (WebAddress, WebAddress) -> Bool = { $0.origin == $1.origin }
    /// Returns true if an address may only lead to the public internet.
    var needsPublicAddress: @Sendable (WebAddress) -> Bool = { _ in false }
}

/// Sends the requests of one lookup to one source. Every request, including redirects and retries, obeys the rate
/// limits of this machine, and all of them stay within the lookup's deadline.
struct SourceClient: Sendable {
    let source: SourceName
    let policy: RequestPolicy
    let deadline: Deadline
    let unreachable: UnreachableSources
    /// The time to leave for the sources after this one.
    var reserve: Duration = .zero
    /// True if a stored "needs a key" still applies.
    var honoursNotAsked = true
    var options = RequestOptions()

    private static let redirects = 3

    private var now: Date { policy.time.date() }
    private var remaining: Duration { max(.zero, deadline.remaining - reserve) }

    private enum Attempt {
        case answered(HTTPAnswer)
        /// No request was sent.
        case notSent(LookupError)
        /// A failure that is not the source's fault, such as no network here, does not count against it.
        case failed(LookupError, isWorthRetrying: Bool, isSourcesFault: Bool)
    }

    /// Requests data.
    ///
    /// - Parameter classify: returns the error for an answer that the source understands better than plain HTTP does;
    ///   `nil` to leave it to HTTP.
    /// - Returns: an answer with a status of 2xx, 404 or 410.
    func get(
        _ address: WebAddress, classify: (HTTPAnswer) -> LookupError? = { _ in nil }
    ) async throws(LookupError) -> HTTPAnswer {
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
        preconditionFailure("the attempts end by returning or throwing")
    }

    /// Makes one attempt, following at most three redirects that the options allow.
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
            policy.observe(answer)
            guard answer.isRedirect else {
                guard let error = classify(answer) ?? LookupError(answer, of: source, at: now) else {
                    return .answered(answer)
                }
                return .failed(
                    error, isWorthRetrying: [500, 502, 503, 504].contains(answer.status),
                    isSourcesFault: answer.status != 429)
            }
            guard let target = answer.redirect, options.follows(address, target) else {
                let host = answer.redirect?.origin ?? answer.redirectText.map { String($0.prefix(100)) } ?? "nowhere"
                let reason = "redirects to \(host) instead of answering; the network wants a sign-in"
                return .failed(
                    .blocked(SourceError(source: source, reason: reason)), isWorthRetrying: false,
                    isSourcesFault: true)
            }
            address = target
        }
        let reason = "redirects more than \(Self.redirects) times"
        return .failed(
            .badData(SourceError(source: source, reason: reason)), isWorthRetrying: false, isSourcesFault: true)
    }

    private func failed(_ transportError: TransportError) -> Attempt {
        let error = LookupError(transportError, of: source, at: now)
        switch transportError {
        case .offline: unreachable.add(source, error)
        case .timedOut(connecting: true):
            deadline.spendConnecting(keepsSome: reserve > .zero)
            unreachable.add(source, error)
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
        limits.connect = min(limits.connect, deadline.connecting(keepsSome: reserve > .zero))
        limits.total = min(limits.total, remaining)
        return HTTPRequest(
            address: address, limits: limits, allowed: options.needsPublicAddress(address) ? .publicOnly : .any,
            accept: options.accept)
    }

    /// Waits until this machine may ask the source again; starts the lookup's deadline.
    ///
    /// - Returns: the reason why it may not within that time; `nil` if it may now.
    private func waitForPermission() async -> LookupError? {
        if let error = unreachable.error(of: source) { return error }
        var hasWaited = false
        while true {
            let (date, longestWait, honoursNotAsked) = (now, remaining, honoursNotAsked)
            let decision: RateLimitDecision
            do {
                decision = try await policy.states.update(source) { state in
                    RateLimitDecision(&state, at: date, longestWait: longestWait, honoursNotAsked: honoursNotAsked)
                }
            } catch {
                let reason = "the rate limits of this machine cannot be stored: \(error)"
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
                case .retryAfter(let wait), .tooLong(let wait, reason: _):
                    return .temporary(SourceError(source: source, reason: decision.reason, retryAfter: wait))
                }
            } catch {
                return .temporary(SourceError(source: source, reason: "cancelled"))
            }
            deadline.start()
            guard remaining > .zero else {
                return .temporary(SourceError(source: source, reason: "no time left", retryAfter: .seconds(1)))
            }
            return nil
        }
    }

    /// Pauses before the next attempt: as long as the source asked for, else 0.3 s, then 0.6 s, with random jitter.
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

    /// Updates the stored state of the source. An error is not lost: it occurs again, and is reported, with the next
    /// request.
    private func update(_ change: @escaping @Sendable (inout SourceState) -> Void) async {
        do { try await policy.states.update(source, change) } catch {}
    }
}

/// The decision of this machine's rate limits on one more request to a source.
enum RateLimitDecision: Sendable, Equatable {
    case now
    /// The request is counted and may be sent after the wait.
    case after(Duration)
    /// The source asked to be left alone for this time; a new decision is needed after it.
    case retryAfter(Duration)
    /// The wait would exceed the time left; nothing was counted.
    case tooLong(Duration, reason: String)
    case refused(LookupError)

    /// Counts the request if it may be sent; else leaves the state unchanged.
    init(_ state: inout SourceState, at now: Date, longestWait: Duration, honoursNotAsked: Bool) {
        if honoursNotAsked, let reason = state.reasonNotToAsk(at: now) {
            self = .refused(.notAsked(reason: reason))
            return
        }
        if let rest = state.rest(at: now) {
            self = rest <= longestWait ? .retryAfter(rest) : .tooLong(rest, reason: Self.restReason)
            return
        }
        var next = state
        let wait = next.bucket.consume(at: now)
        let pause = next.breaker.wait(at: now)
        if pause > .zero {
            self = .tooLong(
                pause, reason: "failed \(state.breaker.failures) times in a row and is left alone for now")
        } else if wait > longestWait {
            self = .tooLong(wait, reason: "other requests of this machine are waiting before this one")
        } else {
            state = next
            self = wait > .zero ? .after(wait) : .now
        }
    }

    private static let restReason = "asked to be left alone"

    /// The reason why a wait ends the lookup, for a person.
    var reason: String {
        guard case .tooLong(_, let reason) = self else { return Self.restReason }
        return reason
    }
}

extension SourceState {
    /// Returns how long the source still wants to be left alone; at most an hour, in case the clock jumped back.
    fileprivate func rest(at now: Date) -> Duration? {
        guard let restUntil, restUntil > now else { return nil }
        return .milliseconds(Int64(min(restUntil.timeIntervalSince(now), 3600) * 1000) + 1)
    }

    /// Returns the reason why the source counts as not asked today.
    func reasonNotToAsk(at now: Date) -> String? {
        // At most a day ahead, in case the clock jumped back.
        guard let notAskedUntil, now < notAskedUntil, notAskedUntil.timeIntervalSince(now) <= 86_400 else { return nil }
        return notAskedReason
    }
}

extension LookupError {
    /// Stores what other processes should know.
    func record(in state: inout SourceState, at now: Date) {
        switch self {
        case .temporary(let failure):
            guard let wait = failure.retryAfter else { return }
            state.restUntil = now.addingTimeInterval(wait / .seconds(1))
        case .notAsked(let reason):
            let day = 86_400.0
            state.notAskedUntil = Date(
                timeIntervalSince1970: (now.timeIntervalSince1970 / day).rounded(.down) * day + day)
            state.notAskedReason = reason
        case .blocked, .badData: break
        }
    }
}
