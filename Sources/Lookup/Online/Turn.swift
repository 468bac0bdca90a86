import Bookplate
import FoundationEssentials

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
