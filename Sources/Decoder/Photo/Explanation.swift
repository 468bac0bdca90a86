import Bookplate

/// What a decoder did with a picture: which stage read what, and what each cost. Places are in pixels of the upright full-size picture.
public struct Explanation: Sendable {
    public struct Step: Sendable {
        public var stage: String
        public var reason: String
        /// What was looked at; for the search for regions those found.
        public var places: [Corners]
        /// CPU time of the thread.
        public var cpu: Duration
        /// What was believed for the first time after it.
        public var read: [String]
    }

    public internal(set) var steps: [Step] = []
    /// Of the upright picture, in pixels.
    public internal(set) var width = 0
    public internal(set) var height = 0

    public init() {}
}
