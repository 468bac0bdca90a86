import Bookplate
import Synchronization

/// How the hub stands, as this process knows: set by whoever talks to it, asked by whoever would.
public final class HubLink: Sendable {
    public enum Standing: Sendable, Equatable {
        /// Not asked yet.
        case unknown
        case up
        /// And why; tried again in growing pauses.
        case away(String)
        /// The token is no longer good: nothing is sent until the station is paired again.
        case unpaired
    }

    private let state = Mutex(Standing.unknown)

    public init() {}

    public var standing: Standing { state.withLock { $0 } }

    func set(_ standing: Standing) { state.withLock { $0 = standing } }

    /// Whether a question may be put: one that is away is left to the sender, so that nobody else waits for it.
    var mayAsk: Bool {
        switch standing {
        case .unknown, .up: true
        case .away, .unpaired: false
        }
    }

    /// Takes note of why a question was not answered.
    func note(_ trouble: HubTrouble) {
        set(trouble == .revoked ? .unpaired : .away("\(trouble)"))
    }
}
