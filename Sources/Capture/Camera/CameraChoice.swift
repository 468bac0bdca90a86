import Bookplate
import Glibc

/// Chooses which of the connected cameras to use, and recognises the last one used when it returns.
struct CameraChoice {
    /// The time for which the last camera used may be away before another one is chosen.
    static let returnTime: Duration = .seconds(10)

    /// The value of `--device`.
    let requested: String?
    /// The camera that was used last.
    private(set) var last: CameraDevice?
    private var lostAt: Duration?

    init(requested: String?) { self.requested = requested }

    enum Outcome: Equatable {
        case found(CameraDevice)
        /// The requested node is there and cannot be used.
        case refused(ListedNode)
        /// No node matches the request.
        case none
    }

    mutating func markUsed(_ device: CameraDevice) { (last, lostAt) = (device, nil) }
    mutating func markLost(at time: Duration) { lostAt = lostAt ?? time }

    /// - Parameter resolve: returns the target of a path, with links followed.
    func pick(from nodes: [ListedNode], at time: Duration, resolve: (String) -> String) -> Outcome {
        // Ignore a node that disappeared while it was being examined.
        let nodes = nodes.filter { node in
            if case .failing(let error) = node.error { !error.isGone } else { true }
        }
        let usable = nodes.filter { $0.error == nil }
        let returned = last.flatMap { last in usable.first { $0.device.isSame(as: last) } }
        guard let requested else {
            if let returned { return .found(returned.device) }
            if let lostAt, last != nil, time - lostAt < Self.returnTime { return .none }
            return Self.outcome(usable.first ?? Self.mostLikely(nodes))
        }
        let matching: [ListedNode]
        if requested.hasPrefix("/") {
            let path = resolve(requested)
            matching = nodes.filter { $0.device.path == path || $0.device.byID == requested }
        } else {
            matching = nodes.filter { $0.device.name.lowercased().contains(requested.lowercased()) }
        }
        let found = matching.first { $0.error == nil } ?? returned ?? Self.mostLikely(matching)
        return Self.outcome(found ?? (requested.hasPrefix("/") ? matching.first : nil))
    }

    /// Returns the first unusable node that might be a camera.
    private static func mostLikely(_ nodes: [ListedNode]) -> ListedNode? {
        nodes.first { node in
            switch node.error {
            case .denied, .busy, .failing, .libraryMissing, .noFormat: true
            case .metadata, .codec, .output, .noPictures, .multiplanar, .noStreaming, .pipeline, nil: false
            }
        }
    }

    private static func outcome(_ node: ListedNode?) -> Outcome {
        guard let node else { return .none }
        return node.error == nil ? .found(node.device) : .refused(node)
    }
}

extension CameraDevice {
    /// Returns true if both are the same camera, perhaps under another number: compared by the by-id name, which holds
    /// maker, model and serial number, else by name and connector.
    func isSame(as other: CameraDevice) -> Bool {
        if let byID, let otherID = other.byID { return byID == otherID }
        return name == other.name && bus == other.bus
    }
}

/// One V4L2 node, as `scan devices` lists it.
public struct CameraDevice: Sendable, Equatable {
    /// The path, such as /dev/video0.
    public var path: String
    /// The driver's name for the camera (`v4l2_capability.card`).
    public var name: String
    public var driver: String
    /// The connector (`v4l2_capability.bus_info`), such as usb-0000:00:14.0-1.
    public var bus: String
    /// The path below /dev/v4l/by-id, which stays the same wherever the camera is plugged in; `nil` where udev creates
    /// none.
    public var byID: String?
    /// The modes that Bookplate can read, in the driver's order, native ones first.
    public var modes: [Mode]
    /// The reason why it is not used as a camera; `nil` if it can be.
    public var refusal: String?

    /// One format at one size.
    public struct Mode: Sendable, Equatable {
        public var pixelFormat: PixelFormat
        public var width: Int
        public var height: Int
        /// Frames per second, highest first; empty if the driver does not report them.
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

    /// Returns all V4L2 nodes of this machine by number; those that are not cameras carry the reason.
    ///
    /// If a node cannot be opened, only its name is known, from sysfs.
    public static func all() -> [CameraDevice] { V4L2Host(stopSignal: StopSignal()).nodes().map(\.device) }
}

/// Finds the processes that have a device open, as far as this account may see them.
enum DeviceHolder {
    /// Returns the holders of a device, such as "zoom (process 1234)", or `nil` if none can be seen.
    ///
    /// If some of them have its buffers mapped, only those are named: session managers keep every camera open without
    /// using it.
    static func name(of path: String) -> String? {
        var device = stat()
        guard stat(path, &device) == 0, device.st_rdev != 0 else { return nil }
        let holders = entries(of: "/proc").filter { Int($0) != nil && holds($0, device.st_rdev) }
        let using = holders.filter { readTextFile("/proc/\($0)/maps", atMost: 4 << 20).contains(path + "\n") }
        let named = (using.isEmpty ? holders : using).prefix(3).map { process in
            let name = readTextFile("/proc/\(process)/comm", atMost: 64).filter { !$0.isNewline }
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
