import Bookplate
import SystemCalls
import Glibc

/// Chooses which connected camera to use, and recognises the last used camera when it is connected again.
struct CameraChoice {
    /// The longest time for which the last used camera may be disconnected before another camera is chosen.
    static let returnTime: Duration = .seconds(10)

    /// The value of the option `--device`; `nil` if it was not given.
    let requested: String?
    /// The camera that was used last.
    private(set) var last: CameraDevice?
    private var lostAt: Duration?

    init(requested: String?) { self.requested = requested }

    enum Outcome: Equatable {
        case found(CameraDevice)
        /// The requested node exists but cannot be used.
        case refused(ListedNode)
        /// No camera is connected, none matches the request, or the camera that was used last is disconnected and may
        /// still return.
        case none
    }

    mutating func markUsed(_ device: CameraDevice) { (last, lostAt) = (device, nil) }
    mutating func markLost(at time: Duration) { lostAt = lostAt ?? time }

    /// - Parameter resolve: follows the symbolic links in a path and returns the resulting path.
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
    /// Returns true if the other device is the same camera, even if its number is different. Compares the by-id names,
    /// which contain maker, model and serial number; if a camera has no by-id name, compares names and connectors.
    func isSame(as other: CameraDevice) -> Bool {
        if let byID, let otherID = other.byID { return byID == otherID }
        return name == other.name && bus == other.bus
    }
}

/// One V4L2 node in the list that `scan devices` prints.
public struct CameraDevice: Sendable, Equatable {
    /// The path, such as /dev/video0.
    public var path: String
    /// The driver's name for the camera (`v4l2_capability.card`).
    public var name: String
    public var driver: String
    /// The connector that the camera is plugged into (`v4l2_capability.bus_info`), such as usb-0000:00:14.0-1.
    public var bus: String
    /// The path in /dev/v4l/by-id, which stays the same wherever the camera is plugged in; `nil` if udev created no
    /// such link.
    public var byID: String?
    /// The modes that Bookplate can read, in the driver's order, with native modes before converted ones.
    public var modes: [Mode]
    /// The reason why the node cannot be used as a camera; `nil` if it can be used.
    public var refusal: String?

    /// A pixel format at one picture size.
    public struct Mode: Sendable, Equatable {
        public var pixelFormat: PixelFormat
        public var width: Int
        public var height: Int
        /// The frame rates in frames per second, highest first; empty if the driver does not report them.
        public var rates: [Double]
        /// True if libv4l converts the camera's pictures to this format (`V4L2_FMT_FLAG_EMULATED`).
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

    /// Returns all V4L2 nodes of this machine, sorted by number. If a node is not a camera, its ``refusal`` gives the
    /// reason.
    ///
    /// If a node cannot be opened, only its paths and its name (from sysfs) are known.
    public static func all() -> [CameraDevice] { V4L2Host(stopSignal: StopSignal()).nodes().map(\.device) }
}

/// Finds the processes that have a device open. Processes that this account may not inspect are not found.
enum DeviceHolder {
    /// Returns the processes that have a device open, such as "zoom (process 1234)", or `nil` if none can be seen.
    ///
    /// If some of these processes have mapped the device's buffers, only those are returned. Session managers, for
    /// example, keep every camera open without using it.
    static func name(of path: String) -> String? {
        var device = stat()
        guard stat(path, &device) == 0, device.st_rdev != 0 else { return nil }
        let holders = fileNames(in: "/proc").filter { Int($0) != nil && holds($0, device.st_rdev) }
        let using = holders.filter { readTextFile("/proc/\($0)/maps", atMost: 4 << 20).contains(path + "\n") }
        let named = (using.isEmpty ? holders : using).prefix(3).map { process in
            let name = readTextFile("/proc/\(process)/comm", atMost: 64).filter { !$0.isNewline }
            return "\(name.isEmpty ? "a program" : name) (process \(process))"
        }
        return named.isEmpty ? nil : named.joined(separator: ", ")
    }

    private static func holds(_ process: String, _ device: dev_t) -> Bool {
        fileNames(in: "/proc/\(process)/fd").contains { descriptor in
            var file = stat()
            return stat("/proc/\(process)/fd/\(descriptor)", &file) == 0 && file.st_rdev == device
                && file.st_mode & S_IFMT == S_IFCHR
        }
    }
}
