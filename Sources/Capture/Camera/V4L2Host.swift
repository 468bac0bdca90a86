import Bookplate
import CV4L2
import Glibc

/// This machine's cameras.
struct V4L2Host: CameraHost {
    let wake: Wake

    var now: Duration { .monotonicNow }
    var isStopped: Bool { wake.isStopped }

    func pause(_ time: Duration) {
        wake.pause(time)
    }

    func identity(of path: String) -> NodeIdentity? {
        var node = stat()
        guard stat(path, &node) == 0 else { return nil }
        return NodeIdentity(device: UInt64(node.st_rdev), inode: UInt64(node.st_ino))
    }

    func open(_ device: CameraDevice) throws(CameraError) -> any VideoNode {
        try V4L2Node(path: device.path, converting: device.modes.allSatisfy(\.isConverted), wake: wake)
    }

    func holder(of path: String) -> String? { DeviceHolder.name(of: path) }

    func resolve(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    func nodes() -> [ListedNode] {
        let folder = "/dev/v4l/by-id"
        let links = entries(of: folder).sorted().map { (link: "\(folder)/\($0)", path: resolve("\(folder)/\($0)")) }
        let numbers = entries(of: "/dev").filter { $0.hasPrefix("video") }.compactMap { Int($0.dropFirst(5)) }.sorted()
        return numbers.map { number in
            let path = "/dev/video\(number)"
            return Self.node(path, byID: links.first { $0.path == path }?.link)
        }
    }

    private static func node(_ path: String, byID: String?) -> ListedNode {
        do throws(CameraError) {
            return try open(path, byID: byID)
        } catch {
            // What the kernel says of a node that cannot be opened.
            let node = String(path.dropFirst("/dev/".count))
            let name = NodeRules.name(textFile("/sys/class/video4linux/\(node)/name", atMost: 256))
            let device = CameraDevice(
                path: path, name: name.isEmpty ? node : name, driver: "", bus: "", byID: byID, modes: [], refusal: nil)
            return ListedNode(device, obstacle: NodeObstacle(error, path: path))
        }
    }

    private static func open(_ path: String, byID: String?) throws(CameraError) -> ListedNode {
        let descriptor = try NodeDescriptor.open(path)
        var capability = v4l2_capability()
        try descriptor.request(CV4L2_VIDIOC_QUERYCAP, "VIDIOC_QUERYCAP", &capability)
        var device = CameraDevice(
            path: path, name: NodeRules.name(text(&capability.card)), driver: text(&capability.driver),
            bus: text(&capability.bus_info),
            byID: byID, modes: [], refusal: nil)
        if let obstacle = NodeRules.obstacle(capabilities: capability.device_caps, driver: device.driver) {
            return ListedNode(device, obstacle: obstacle)
        }
        var (read, others) = descriptor.modes()
        if read.isEmpty {
            try descriptor.adopt(converting: true)
            read = descriptor.modes().read
        }
        device.modes = read
        return ListedNode(device, obstacle: read.isEmpty ? .noFormat(others) : nil)
    }

    /// A text of fixed length, which need not be terminated.
    private static func text<Bytes>(_ bytes: inout Bytes) -> String {
        withUnsafeBytes(of: &bytes) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }.withoutControls
    }
}
