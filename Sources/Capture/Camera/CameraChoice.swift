import Bookplate
import Glibc

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

/// One V4L2 node, as `scan devices` lists it.
public struct CameraDevice: Sendable, Equatable {
    /// /dev/video0
    public var path: String
    /// As the driver calls the camera (`v4l2_capability.card`).
    public var name: String
    public var driver: String
    /// Where it is connected (`v4l2_capability.bus_info`), such as usb-0000:00:14.0-1.
    public var bus: String
    /// The path below /dev/v4l/by-id, which stays the same wherever the camera is plugged in; `nil` where udev makes none.
    public var byID: String?
    /// What is read here, natively first, in the driver's order.
    public var modes: [Mode]
    /// Why it is not used as a camera, `nil` when it can be.
    public var refusal: String?

    /// One format at one size.
    public struct Mode: Sendable, Equatable {
        public var pixelFormat: PixelFormat
        public var width: Int
        public var height: Int
        /// Frames a second, highest first; empty where the driver does not say.
        public var rates: [Double]
        /// `V4L2_FMT_FLAG_EMULATED`: converted by libv4l.
        public var isConverted: Bool

        public init(pixelFormat: PixelFormat, width: Int, height: Int, rates: [Double], isConverted: Bool) {
            self.pixelFormat = pixelFormat
            self.width = width
            self.height = height
            self.rates = rates
            self.isConverted = isConverted
        }
    }

    public init(
        path: String, name: String, driver: String, bus: String, byID: String?, modes: [Mode], refusal: String?
    ) {
        self.path = path
        self.name = name
        self.driver = driver
        self.bus = bus
        self.byID = byID
        self.modes = modes
        self.refusal = refusal
    }

    /// All V4L2 nodes of this machine in the order of their numbers, those that are no cameras with the reason.
    ///
    /// Where one cannot be opened, its name comes from sysfs and nothing else of it is known.
    public static func all() -> [CameraDevice] { V4L2Host(wake: Wake()).nodes().map(\.device) }
}

/// Who has a device open, as far as this account may see.
enum DeviceHolder {
    /// - Returns: such as "zoom (process 1234)"; of several those that have its buffers mapped, since session managers keep
    ///   every camera open without using it. `nil` when none can be seen.
    static func name(of path: String) -> String? {
        var device = stat()
        guard stat(path, &device) == 0, device.st_rdev != 0 else { return nil }
        let holders = entries(of: "/proc").filter { Int($0) != nil && holds($0, device.st_rdev) }
        let using = holders.filter { textFile("/proc/\($0)/maps", atMost: 4 << 20).contains(path + "\n") }
        let named = (using.isEmpty ? holders : using).prefix(3).map { process in
            let name = textFile("/proc/\(process)/comm", atMost: 64).filter { !$0.isNewline }
            return "\(name.isEmpty ? "a program" : name) (process \(process))"
        }
        return named.isEmpty ? nil : named.joined(separator: ", ")
    }

    private static func holds(_ process: String, _ device: dev_t) -> Bool {
        entries(of: "/proc/\(process)/fd").contains { descriptor in
            var file = stat()
            return stat("/proc/\(process)/fd/\(descriptor)", &file) == 0 && file.st_rdev == device
                && file.st_mode & S_IFMT == S_IFCHR
        }
    }
}
