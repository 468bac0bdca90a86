import Bookplate
import FoundationEssentials
import HTTP

/// What all requests of this process share.
struct RequestPolicy: Sendable {
    let http: HTTPClient
    let states: any RateLimits
    let time: Timekeeper
    /// Stretches the pauses between attempts so that stations do not march in step.
    var jitter: @Sendable () -> Double = { .random(in: 0.5...1.5) }
    var limits = HTTPLimits()
    /// Sees every answer before it is understood.
    var witness: @Sendable (HTTPAnswer) -> Void = { _ in }
}

/// What is asked for, and how insistently.
struct Errand: Sendable {
    var accept = "application/json"
    /// The most attempts at one request: Google's 503 often passes at the second or third.
    var attempts = 3
    /// Whether the first address may send to the second.
    var follows: @Sendable (WebAddress, WebAddress) -> Bool = { $0.origin == $1.origin }
    /// Whether only the public internet may be connected to for an address.
    var needsPublicAddress: @Sendable (WebAddress) -> Bool = { _ in false }
}

/// One lookup's dealings with one source: every request, redirects and repetitions included, takes its turn in the machine's queue,
/// and all of them stay within the lookup's time.
struct Visit: Sendable {
    let source: SourceName
    let policy: RequestPolicy
    let budget: Budget
    let reach: Reach
    /// What is left for the sources after this one.
    var reserve: Duration = .zero
    /// Whether a remembered "needs a key" still counts.
    var honoursNotAsked = true
    var errand = Errand()

    private static let redirects = 3

    private var now: Date { policy.time.date() }
    private var remaining: Duration { max(.zero, budget.remaining - reserve) }

    private enum Attempt {
        case answered(HTTPAnswer)
        /// Nothing was asked.
        case noTurn(Trouble)
        /// A failure that is not the source's (no network here) does not count against it.
        case failed(Trouble, isWorthRetrying: Bool, isSourcesFault: Bool)
    }

    /// Asks for data.
    ///
    /// - Parameter triage: what the source knows better than HTTP does about an answer; `nil` leaves it to HTTP.
    /// - Returns: an answer with a status of 2xx, 404 or 410.
    func get(
        _ address: WebAddress, triage: (HTTPAnswer) -> Trouble? = { _ in nil }
    ) async throws(Trouble) -> HTTPAnswer {
        for number in 1... {
            switch await attempt(address, triage) {
            case .answered(let answer):
                await remember { if $0.breaker.failures > 0 { $0.breaker.succeeded() } }
                return answer
            case .noTurn(let trouble): throw trouble
            case .failed(let trouble, let isWorthRetrying, let isSourcesFault):
                if isWorthRetrying, number < errand.attempts, await pause(after: number, trouble) { continue }
                if case .notAsked = trouble { reach.lose(source, trouble) }
                let date = now
                await remember { state in
                    if isSourcesFault { state.breaker.failed(at: date) }
                    trouble.leaveNote(in: &state, at: date)
                }
                throw trouble
            }
        }
        preconditionFailure("the attempts end by returning or throwing")
    }

    /// One attempt, over at most three redirects, to where the errand follows them.
    private func attempt(_ address: WebAddress, _ triage: (HTTPAnswer) -> Trouble?) async -> Attempt {
        var address = address
        for _ in 0...Self.redirects {
            if let trouble = await turn() { return .noTurn(trouble) }
            let answer: HTTPAnswer
            do throws(TransportError) {
                answer = try await policy.http.send(request(to: address))
            } catch {
                return failed(error)
            }
            policy.witness(answer)
            guard answer.isRedirect else {
                guard let trouble = triage(answer) ?? Trouble(answer, of: source, at: now) else {
                    return .answered(answer)
                }
                return .failed(
                    trouble, isWorthRetrying: [500, 502, 503, 504].contains(answer.status),
                    isSourcesFault: answer.status != 429)
            }
            guard let target = answer.redirect, errand.follows(address, target) else {
                let host = answer.redirect?.origin ?? answer.redirectText.map { String($0.prefix(100)) } ?? "nowhere"
                let reason = "sends to \(host) instead of answering; the network wants a sign-in"
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

    private func failed(_ error: TransportError) -> Attempt {
        let trouble = Trouble(error, of: source, at: now)
        switch error {
        case .offline: reach.lose(source, trouble)
        case .timedOut(connecting: true):
            budget.spendConnecting(keepsSome: reserve > .zero)
            reach.lose(source, trouble)
        default: break
        }
        let isSourcesFault =
            switch error {
            case .offline, .cancelled, .other: false
            default: true
            }
        return .failed(trouble, isWorthRetrying: error.isWorthRetrying, isSourcesFault: isSourcesFault)
    }

    private func request(to address: WebAddress) -> HTTPRequest {
        var limits = policy.limits
        limits.connect = min(limits.connect, budget.connecting(keepsSome: reserve > .zero))
        limits.total = min(limits.total, remaining)
        return HTTPRequest(
            address: address, limits: limits, reach: errand.needsPublicAddress(address) ? .publicAddresses : .anywhere,
            accept: errand.accept)
    }

    /// Waits until this machine may ask the source again; begins the lookup's time.
    ///
    /// - Returns: why it may not within that time; `nil` when it may now.
    private func turn() async -> Trouble? {
        if let lost = reach.trouble(with: source) { return lost }
        var hasRested = false
        while true {
            let (date, patience, honoursNotAsked) = (now, remaining, honoursNotAsked)
            let turn: Turn
            do {
                turn = try await policy.states.update(source) { state in
                    Turn(&state, at: date, patience: patience, honoursNotAsked: honoursNotAsked)
                }
            } catch {
                let reason = "the turns of this machine cannot be kept: \(error)"
                return .temporary(SourceError(source: source, reason: reason))
            }
            do {
                switch turn {
                case .now: break
                case .after(let wait): try await policy.time.sleep(wait)
                case .resting(let wait) where !hasRested:
                    try await policy.time.sleep(wait)
                    hasRested = true
                    continue
                case .not(let trouble): return trouble
                case .resting(let wait), .notWithin(let wait, why: _):
                    return .temporary(SourceError(source: source, reason: turn.why, retryAfter: wait))
                }
            } catch {
                return .temporary(SourceError(source: source, reason: "cancelled"))
            }
            budget.begin()
            guard remaining > .zero else {
                return .temporary(SourceError(source: source, reason: "no time left", retryAfter: .seconds(1)))
            }
            return nil
        }
    }

    /// Pauses before the next attempt: as long as the source said, else 0.3 s, then 0.6 s, stretched by chance.
    ///
    /// - Returns: whether there is time for another attempt.
    private func pause(after number: Int, _ trouble: Trouble) async -> Bool {
        let own = Duration.milliseconds(Int64(300 * Double(number) * policy.jitter()))
        var wait = own
        if case .temporary(let failure) = trouble, let told = failure.retryAfter { wait = max(own, told) }
        guard wait < remaining else { return false }
        do {
            try await policy.time.sleep(wait)
            return true
        } catch {
            return false
        }
    }

    /// Stores what was learned. A failure here is not lost: the next turn meets it and says so.
    private func remember(_ change: @escaping @Sendable (inout SourceState) -> Void) async {
        do { try await policy.states.update(source, change) } catch {}
    }
}

/// What the machine's memory of a source says to one more request.
enum Turn: Sendable, Equatable {
    case now
    /// The request is counted and may go out after the wait.
    case after(Duration)
    /// The source asked to be left alone for so long; then ask again for a turn.
    case resting(Duration)
    /// The wait would be longer than the lookup's patience; nothing was counted.
    case notWithin(Duration, why: String)
    case not(Trouble)

    /// Takes a turn, or leaves the state as it was.
    init(_ state: inout SourceState, at now: Date, patience: Duration, honoursNotAsked: Bool) {
        if honoursNotAsked, let reason = state.reasonNotToAsk(at: now) {
            self = .not(.notAsked(reason: reason))
            return
        }
        if let rest = state.rest(at: now) {
            self = rest <= patience ? .resting(rest) : .notWithin(rest, why: Self.rest)
            return
        }
        var next = state
        let wait = next.bucket.take(at: now)
        let pause = next.breaker.wait(at: now)
        if pause > .zero {
            self = .notWithin(pause, why: "failed \(state.breaker.failures) times in a row and is left alone for now")
        } else if wait > patience {
            self = .notWithin(wait, why: "others of this machine wait before this one")
        } else {
            state = next
            self = wait > .zero ? .after(wait) : .now
        }
    }
}

extension Turn {
    private static let rest = "asked to be left alone"

    /// Why a wait ends the lookup, for a person.
    var why: String {
        guard case .notWithin(_, let why) = self else { return Self.rest }
        return why
    }
}

extension SourceState {
    /// How long the source still wants to be left alone. A clock that jumped back does not make an hour longer.
    fileprivate func rest(at now: Date) -> Duration? {
        guard let restUntil, restUntil > now else { return nil }
        return .milliseconds(Int64(min(restUntil.timeIntervalSince(now), 3600) * 1000) + 1)
    }

    /// Why it counts as not asked today.
    func reasonNotToAsk(at now: Date) -> String? {
        // No day is longer than a day, whatever the clock did.
        guard let notAskedUntil, now < notAskedUntil, notAskedUntil.timeIntervalSince(now) <= 86_400 else { return nil }
        return notAskedReason
    }
}

extension Trouble {
    /// Leaves what the next process should know.
    func leaveNote(in state: inout SourceState, at now: Date) {
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
