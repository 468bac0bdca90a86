import Bookplate

/// What a decoder did with a picture: which stage read what, and what each cost.
public struct Explanation: Sendable {
    public struct Step: Sendable {
        public var stage: String
        public var reason: String
        /// Places that were looked at; for the search for regions those found.
        public var regions: Int
        /// CPU time of the thread.
        public var cpu: Duration
        /// What was believed for the first time after it.
        public var read: [String]
    }

    public internal(set) var steps: [Step] = []

    public init() {}
}
