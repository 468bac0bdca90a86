/// The status of a hub, as the station knows it.
public enum HubStatus: Sendable, Equatable {
    /// No request has been made yet.
    case unknown
    case up
    /// The hub does not answer, for this reason. The station asks it again at growing intervals.
    case away(String)
    /// The token is no longer valid. Nothing is sent until the station is paired again.
    case unpaired
}

/// An event on the connection to a hub.
public enum HubEvent: Sendable, Equatable {
    case status(HubStatus)
    /// The number of items whose present state the hub does not have.
    case waiting(Int)
    case news([HubNews])
    /// The outbox cannot be read or written, or the hub answers but cannot process some items.
    case error(String)
}
