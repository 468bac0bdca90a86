import Bookplate
import CV4L2
import Glibc
import SystemCalls
import SystemPackage

/// An open camera that is used through libv4l2, by one thread only.
final class V4L2Node: VideoNode {
    private var descriptor: NodeDescriptor
    private var buffers: MappedBuffers?
    private let stopSignal: StopSignal

    /// - Parameter converting: true if libv4l2 may produce a format that the camera does not have.
    init(path: String, converting: Bool, stopSignal: StopSignal) throws(V4L2Error) {
        descriptor = try NodeDescriptor.open(path)
        self.stopSignal = stopSignal
        try descriptor.attachLibrary(converting: converting)
    }

    func close() {
        buffers = nil
        descriptor.close()
    }

    private func request<Argument>(_ request: UInt, _ name: StaticString, _ argument: inout Argument)
        throws(V4L2Error)
    {
        try descriptor.request(request, name, &argument)
    }

    // MARK: format

    func setFormat(_ asked: PictureFormat) throws(V4L2Error) -> PictureFormat {
        var format = v4l2_format()
        format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        format.fmt.pix.pixelformat = asked.pixelFormat
        format.fmt.pix.width = UInt32(clamping: asked.width)
        format.fmt.pix.height = UInt32(clamping: asked.height)
        format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        try request(CV4L2_VIDIOC_S_FMT, "VIDIOC_S_FMT", &format)
        let given = format.fmt.pix
        return PictureFormat(
            pixelFormat: given.pixelformat, width: Int(given.width), height: Int(given.height),
            bytesPerLine: Int(given.bytesperline), sizeImage: Int(given.sizeimage))
    }

    func setRate(_ framesPerSecond: Int) throws(V4L2Error) -> Double? {
        var parameters = v4l2_streamparm()
        parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        parameters.parm.capture.timeperframe = v4l2_fract(numerator: 1, denominator: UInt32(clamping: framesPerSecond))
        do throws(V4L2Error) {
            try request(CV4L2_VIDIOC_S_PARM, "VIDIOC_S_PARM", &parameters)
        } catch {
            // Drivers without frame rates return ENOTTY or EINVAL, and some cameras return EIO. In all three cases, the
            // camera keeps its own rate.
            if error.isGone || error.isBusy { throw error }
            return nil
        }
        guard parameters.parm.capture.capability & UInt32(V4L2_CAP_TIMEPERFRAME) != 0 else { return nil }
        return parameters.parm.capture.timeperframe.rate
    }

    // MARK: buffers

    func requestBuffers(_ count: Int) throws(V4L2Error) -> [Int] {
        var asked = v4l2_requestbuffers()
        asked.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        asked.memory = V4L2_MEMORY_MMAP.rawValue
        asked.count = UInt32(count)
        try request(CV4L2_VIDIOC_REQBUFS, "VIDIOC_REQBUFS", &asked)
        var mapped = MappedBuffers(library: descriptor.library)
        for index in 0..<min(asked.count, UInt32(VIDEO_MAX_FRAME)) {
            var buffer = Self.buffer(index)
            try request(CV4L2_VIDIOC_QUERYBUF, "VIDIOC_QUERYBUF", &buffer)
            try mapped.map(descriptor.value, length: Int(buffer.length), offset: Int64(buffer.m.offset))
        }
        let lengths = mapped.lengths
        buffers = consume mapped
        return lengths
    }

    func releaseBuffers() {
        buffers = nil
        var none = v4l2_requestbuffers()
        none.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        none.memory = V4L2_MEMORY_MMAP.rawValue
        // This fails if the camera was unplugged; then closing the descriptor releases the buffers.
        do { try request(CV4L2_VIDIOC_REQBUFS, "VIDIOC_REQBUFS", &none) } catch { return }
    }

    private static func buffer(_ index: UInt32 = 0) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        buffer.index = index
        return buffer
    }

    func enqueue(_ index: Int) throws(V4L2Error) {
        var buffer = Self.buffer(UInt32(index))
        try request(CV4L2_VIDIOC_QBUF, "VIDIOC_QBUF", &buffer)
    }

    func dequeue() throws(V4L2Error) -> FilledBuffer? {
        var buffer = Self.buffer()
        do throws(V4L2Error) {
            try request(CV4L2_VIDIOC_DQBUF, "VIDIOC_DQBUF", &buffer)
        } catch {
            if case .failed(_, .resourceTemporarilyUnavailable) = error { return nil }
            throw error
        }
        let isMonotonic =
            buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        return FilledBuffer(
            index: Int(buffer.index), bytesUsed: Int(buffer.bytesused),
            isDamaged: buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0, sequence: buffer.sequence,
            timestamp: isMonotonic
                ? .seconds(buffer.timestamp.tv_sec) + .microseconds(buffer.timestamp.tv_usec) : nil)
    }

    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        buffers!.withBytes(of: index, count: count, body)
    }

    // MARK: stream

    func streamOn() throws(V4L2Error) {
        var type = Int32(V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue)
        try request(CV4L2_VIDIOC_STREAMON, "VIDIOC_STREAMON", &type)
    }

    func streamOff() {
        var type = Int32(V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue)
        // This fails if the camera was unplugged or the stream never started, and then there is nothing to stop.
        do { try request(CV4L2_VIDIOC_STREAMOFF, "VIDIOC_STREAMOFF", &type) } catch { return }
    }

    func wait(atMost time: Duration) throws(V4L2Error) -> Bool {
        switch stopSignal.wait(for: FileDescriptor(rawValue: descriptor.value), atMost: time) {
        case .ready: return true
        case .ended: return false
        case .failed(let code): throw .failed("poll", errno: code)
        }
    }

    // MARK: controls

    func control(_ id: UInt32, offers value: Int32) -> ControlValue? {
        var query = v4l2_queryctrl()
        query.id = id
        var control = v4l2_control(id: id, value: 0)
        // The camera works without any control, so a control that cannot be queried counts as missing.
        do {
            try request(CV4L2_VIDIOC_QUERYCTRL, "VIDIOC_QUERYCTRL", &query)
            try request(CV4L2_VIDIOC_G_CTRL, "VIDIOC_G_CTRL", &control)
        } catch { return nil }
        let unsettable = V4L2_CTRL_FLAG_DISABLED | V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_INACTIVE
        guard query.flags & UInt32(unsettable) == 0 else { return nil }
        var isOffered = query.minimum <= value && value <= query.maximum
        if isOffered, query.type == V4L2_CTRL_TYPE_MENU.rawValue {
            var menu = v4l2_querymenu()
            (menu.id, menu.index) = (id, UInt32(bitPattern: value))
            // The driver returns EINVAL if the menu has a gap at this value.
            do { try request(CV4L2_VIDIOC_QUERYMENU, "VIDIOC_QUERYMENU", &menu) } catch { isOffered = false }
        }
        return ControlValue(current: control.value, isOffered: isOffered)
    }

    func setControl(_ id: UInt32, to value: Int32) throws(V4L2Error) {
        var control = v4l2_control(id: id, value: value)
        try request(CV4L2_VIDIOC_S_CTRL, "VIDIOC_S_CTRL", &control)
    }
}

extension v4l2_fract {
    /// The number of frames per second for a frame interval; `nil` if the interval is not valid.
    var rate: Double? { numerator > 0 && denominator > 0 ? Double(denominator) / Double(numerator) : nil }
}

/// This machine and its cameras.
struct V4L2Host: CameraHost {
    let stopSignal: StopSignal

    var now: Duration { .monotonicNow }
    var isStopped: Bool { stopSignal.isStopped }

    func pause(_ time: Duration) {
        stopSignal.pause(time)
    }

    func identity(of path: String) -> NodeIdentity? {
        var node = stat()
        guard stat(path, &node) == 0 else { return nil }
        return NodeIdentity(device: UInt64(node.st_rdev), inode: UInt64(node.st_ino))
    }

    func open(_ device: CameraDevice) throws(V4L2Error) -> any VideoNode {
        try V4L2Node(path: device.path, converting: device.modes.allSatisfy(\.isConverted), stopSignal: stopSignal)
    }

    func holder(of path: String) -> String? { DeviceHolder.name(of: path) }

    func resolve(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    func nodes() -> [ListedNode] {
        let folder = "/dev/v4l/by-id"
        let links = fileNames(in: folder).sorted().map { (link: "\(folder)/\($0)", path: resolve("\(folder)/\($0)")) }
        let numbers = fileNames(in: "/dev").filter { $0.hasPrefix("video") }.compactMap { Int($0.dropFirst(5)) }
            .sorted()
        return numbers.map { number in
            let path = "/dev/video\(number)"
            return Self.node(path, byID: links.first { $0.path == path }?.link)
        }
    }

    private static func node(_ path: String, byID: String?) -> ListedNode {
        do throws(V4L2Error) {
            return try open(path, byID: byID)
        } catch {
            // sysfs gives the name even of a node that cannot be opened.
            let node = String(path.dropFirst("/dev/".count))
            let name = NodeRules.name(readTextFile("/sys/class/video4linux/\(node)/name", atMost: 256))
            let device = CameraDevice(
                path: path, name: name.isEmpty ? node : name, driver: "", bus: "", byID: byID, modes: [], refusal: nil)
            return ListedNode(device, error: NodeError(error, path: path))
        }
    }

    private static func open(_ path: String, byID: String?) throws(V4L2Error) -> ListedNode {
        let descriptor = try NodeDescriptor.open(path)
        var capability = v4l2_capability()
        try descriptor.request(CV4L2_VIDIOC_QUERYCAP, "VIDIOC_QUERYCAP", &capability)
        var device = CameraDevice(
            path: path, name: NodeRules.name(text(&capability.card)), driver: text(&capability.driver),
            bus: text(&capability.bus_info),
            byID: byID, modes: [], refusal: nil)
        if let error = NodeRules.error(capabilities: capability.device_caps, driver: device.driver) {
            return ListedNode(device, error: error)
        }
        var (usable, others) = descriptor.modes()
        if usable.isEmpty {
            try descriptor.attachLibrary(converting: true)
            usable = descriptor.modes().usable
        }
        device.modes = usable
        return ListedNode(device, error: usable.isEmpty ? .noFormat(others) : nil)
    }

    /// Returns the text in a C array, up to the first zero byte or to the end of the array.
    private static func text<Bytes>(_ bytes: inout Bytes) -> String {
        withUnsafeBytes(of: &bytes) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }.withoutControls
    }
}

/// The library libv4l2, which is loaded when the first camera is opened and never unloaded.
///
/// `@unchecked Sendable` is safe because the table is written once, before the `static let` publishes it, and is only
/// read after that.
struct V4L2Library: @unchecked Sendable {
    let table: UnsafePointer<cv4l2>

    /// The loaded library, or the reason why it cannot be used.
    static let shared: Result<V4L2Library, V4L2Error> = {
        let table = UnsafeMutablePointer<cv4l2>.allocate(capacity: 1)
        table.initialize(to: cv4l2())
        if let missing = cv4l2_open(table) {
            let cause = String(cString: missing)
            table.deallocate()
            return .failure(.libraryMissing(cause))
        }
        return .success(V4L2Library(table: table))
    }()
}

/// An open V4L2 node, which is closed when this value is destroyed.
///
/// The descriptor is a plain number because libv4l2 must close it; the kernel's close() alone is not enough.
struct NodeDescriptor: ~Copyable {
    let library: V4L2Library
    /// The descriptor, or -1 after it was closed.
    private(set) var value: Int32

    /// Opens a node in non-blocking mode. Child processes do not inherit the descriptor.
    static func open(_ path: String) throws(V4L2Error) -> NodeDescriptor {
        let library = try V4L2Library.shared.get()
        let value = cv4l2_open_node(path)
        if value < 0 { throw .failed("open", errno: .current) }
        return NodeDescriptor(library: library, value: value)
    }

    private init(library: V4L2Library, value: Int32) { (self.library, self.value) = (library, value) }

    deinit { if value >= 0 { _ = library.table.pointee.close(value) } }

    mutating func close() {
        // The kernel releases the descriptor even if close() reports an error.
        if value >= 0 { _ = library.table.pointee.close(value) }
        value = -1
    }

    /// Routes requests through libv4l2.
    ///
    /// - Parameter converting: true if libv4l2 may also list and produce formats that the camera does not have; false
    ///   if it may only validate requests.
    func attachLibrary(converting: Bool) throws(V4L2Error) {
        if library.table.pointee.fd_open(value, converting ? 0 : V4L2_DISABLE_CONVERSION) < 0 {
            throw .failed("v4l2_fd_open", errno: .current)
        }
    }

    /// Sends one request to the driver. The corresponding function is v4l2_ioctl(), which forwards requests to the
    /// kernel if they do not concern libv4l2.
    func request<Argument>(_ request: UInt, _ name: StaticString, _ argument: inout Argument) throws(V4L2Error) {
        do throws(Errno) {
            try retryOnInterrupt {
                withUnsafeMutablePointer(to: &argument) { cv4l2_ioctl(library.table, value, request, $0) }
            }
        } catch {
            throw .failed(name.description, errno: error)
        }
    }
}
