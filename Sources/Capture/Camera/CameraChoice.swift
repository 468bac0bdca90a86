import Bookplate

/// Which camera of those that are there, and whether one that returns is the one that went.
struct CameraChoice {
    /// So long a camera that was in use has to come back before another one is taken.
    static let returnTime: Duration = .seconds(10)

    /// As `--device` says it.
    let asked: String?
    /// The camera that was used last.
    private(set) var last: CameraDevice?
    private var lostAt: Duration?

    init(asked: String?) { self.asked = asked }

    enum Outcome: Equatable {
        case found(CameraDevice)
        /// The one that is meant is there and cannot be used.
        case refused(ListedNode)
        /// None that is meant is there.
        case none
    }

    mutating func use(_ device: CameraDevice) { (last, lostAt) = (device, nil) }
    mutating func lose(at time: Duration) { lostAt = lostAt ?? time }

    /// - Parameter resolve: where a path leads, links followed.
    func pick(from nodes: [ListedNode], at time: Duration, resolve: (String) -> String) -> Outcome {
        // A node that went while it was looked at is none.
        let nodes = nodes.filter { node in
            if case .failing(let error) = node.obstacle { !error.isGone } else { true }
        }
        let usable = nodes.filter { $0.obstacle == nil }
        let returned = last.flatMap { last in usable.first { $0.device.isSame(as: last) } }
        guard let asked else {
            if let returned { return .found(returned.device) }
            if let lostAt, last != nil, time - lostAt < Self.returnTime { return .none }
            return Self.outcome(usable.first ?? Self.mostLikely(nodes))
        }
        let meant: [ListedNode]
        if asked.hasPrefix("/") {
            let path = resolve(asked)
            meant = nodes.filter { $0.device.path == path || $0.device.byID == asked }
        } else {
            meant = nodes.filter { $0.device.name.lowercased().contains(asked.lowercased()) }
        }
        let found = meant.first { $0.obstacle == nil } ?? returned ?? Self.mostLikely(meant)
        return Self.outcome(found ?? (asked.hasPrefix("/") ? meant.first : nil))
    }

    /// Of nodes that cannot be used, the one that might be a camera.
    private static func mostLikely(_ nodes: [ListedNode]) -> ListedNode? {
        nodes.first { node in
            switch node.obstacle {
            case .denied, .busy, .failing, .libraryMissing, .noFormat: true
            case .metadata, .codec, .output, .noPictures, .multiplanar, .noStreaming, .pipeline, nil: false
            }
        }
    }

    private static func outcome(_ node: ListedNode?) -> Outcome {
        guard let node else { return .none }
        return node.obstacle == nil ? .found(node.device) : .refused(node)
    }
}

extension CameraDevice {
    /// The same camera, perhaps under another number: by its by-id name, which holds maker, model and serial number; else by
    /// its name at the same connector.
    func isSame(as other: CameraDevice) -> Bool {
        if let byID, let otherID = other.byID { return byID == otherID }
        return name == other.name && bus == other.bus
    }
}
