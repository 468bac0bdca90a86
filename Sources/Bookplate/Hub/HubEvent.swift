/// The status of a hub, as the station knows it.
public enum HubStatus: Sendable, Equatable {
    /// No request was made yet.
    case unknown
    case up
    /// The hub does not answer, for this reason. It is tried again in growing intervals.
    case away(String)
    /// The token is no longer valid. Nothing is sent until the station is paired again.
    case unpaired
}

/// An event of the connection to a hub.
public enum HubEvent: Sendable, Equatable {
    case status(HubStatus)
    /// The number of items that the hub does not have in their present state.
    case waiting(Int)
    case news([HubNews])
    /// The outbox cannot be read or written, or the hub answers but fails with some items.
    case error(String)
}
