import Bookplate
import Glibc

@testable import Capture

/// A camera controlled by a test, behind the same protocol as a real one.
final class ScriptedCamera {
    var device: CameraDevice
    var error: NodeError?
    var isPlugged = true { didSet { if isPlugged, !oldValue { plugs += 1 } } }
    /// The number of times it was plugged in; each time it gets a new node.
    private(set) var plugs: UInt64 = 1
    /// The errors that operations throw, by the name of the operation.
    var failures: [String: V4L2Error] = [:]
    /// The format that the driver returns; `nil` returns the requested one.
    var given: PictureFormat?
    var buffers = [Int](repeating: 1 << 20, count: 4)
    var rate = 10.0
    var controls: [UInt32: Int32] = [:]
    /// Returns the next frame by the number of frames since the stream started; `nil` is silence.
    var frames: (Int) -> ScriptedFrame?
    /// The number of buffers filled at each wait.
    var burst = 1
    /// True to signal ready without a picture: POLLERR, then EAGAIN.
    var isAlwaysReady = false
    /// The operations in order, with their times.
    var log: [(time: Duration, name: String)] = []

    init(
        path: String = "/dev/video0", name: String = "Scripted", byID: String? = nil, format: PixelFormat = .grey,
        width: Int = 64, height: Int = 48
    ) {
        device = CameraDevice(
            path: path, name: name, driver: "scripted", bus: "usb-1", byID: byID,
            modes: [.init(pixelFormat: format, width: width, height: height, rates: [30], isConverted: false)],
            refusal: nil)
        frames = { number in
            // Every frame differs, as noise makes them.
            ScriptedFrame(bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: width * height * 2))
        }
    }

    func times(_ name: String) -> [Duration] { log.filter { $0.name == name }.map(\.time) }
}

struct ScriptedFrame {
    var bytes: [UInt8]
    var bytesUsed: Int?
    var index: Int?
    var isDamaged = false
    /// The sequence number; `nil` continues counting.
    var sequence: UInt32?
    /// The difference from the true time.
    var clockError: Duration = .zero
}

final class ScriptedHost: CameraHost {
    var cameras: [ScriptedCamera]
    private(set) var now: Duration = .seconds(1000)
    private(set) var isStopped = false
    private var events: [(time: Duration, action: () -> Void)] = []
    var links: [String: String] = [:]
    var holder: String?
    fileprivate(set) var openNodes = 0

    init(_ cameras: [ScriptedCamera]) { self.cameras = cameras }

    /// Schedules an action, in seconds after the start.
    func at(_ seconds: Double, _ action: @escaping () -> Void) {
        events.append((.seconds(1000) + .seconds(seconds), action))
        events.sort { $0.time < $1.time }
    }

    func advance(_ time: Duration) {
        let end = now + time
        while !isStopped, let next = events.first, next.time <= end {
            events.removeFirst()
            now = max(now, next.time)
            next.action()
        }
        if !isStopped { now = end }
    }

    func stop() { isStopped = true }
    func pause(_ time: Duration) { advance(time) }
    func resolve(_ path: String) -> String { links[path] ?? path }
    func holder(of path: String) -> String? { holder }

    func nodes() -> [ListedNode] {
        cameras.filter(\.isPlugged).map { ListedNode($0.device, error: $0.error) }
    }

    func identity(of path: String) -> NodeIdentity? {
        cameras.first { $0.isPlugged && $0.device.path == path }.map { NodeIdentity(device: 81, inode: $0.plugs) }
    }

    func open(_ device: CameraDevice) throws(V4L2Error) -> any VideoNode {
        guard let camera = cameras.first(where: { $0.isPlugged && $0.device.path == device.path }) else {
            throw .failed("open", errno: .noSuchFileOrDirectory)
        }
        camera.log.append((now, "open"))
        if let failure = camera.failures["open"] { throw failure }
        openNodes += 1
        return ScriptedNode(camera, self)
    }

    /// The states and frames of one run.
    struct Record {
        /// The changes of state, in seconds since the start.
        var states: [(time: Double, state: CameraState)] = []
        var frames: [Frame] = []
        var counts = FrameCounts()
        /// The longest time without a report.
        var longestSilence: Duration = .zero

        var kinds: [String] {
            states.map { entry in
                switch entry.state {
                case .starting: "starting"
                case .streaming(_, let format):
                    "streaming \(format.width)x\(format.height) \(format.pixelFormat.rawValue)"
                case .failed(let error): error.kind.rawValue
                case .ended: "ended"
                }
            }
        }

        func error(_ kind: CameraError.Kind) -> (time: Double, text: String)? {
            for case (let time, .failed(let error)) in states where error.kind == kind {
                return (time, error.description)
            }
            return nil
        }
    }

    /// Runs the loop for a number of seconds of its own clock.
    func run(for seconds: Double, _ settings: CaptureSettings = CaptureSettings(), keepsFrames: Bool = true) -> Record {
        at(seconds) { [unowned self] in stop() }
        let counter = FrameCounter()
        var loop = CaptureLoop(settings, host: self, counter: counter)
        var record = Record()
        var lastReport = now
        loop.run(
            state: { state in
                record.longestSilence = max(record.longestSilence, now - lastReport)
                lastReport = now
                if record.states.last?.state != state {
                    record.states.append(((now - .seconds(1000)) / .seconds(1), state))
                }
            },
            frame: { frame in if keepsFrames { record.frames.append(frame) } })
        record.counts = counter.value
        return record
    }
}

/// An open ``ScriptedCamera``.
final class ScriptedNode: VideoNode {
    private let camera: ScriptedCamera
    private let host: ScriptedHost
    private var memory: [[UInt8]] = []
    private var queued: [Int] = []
    private var filled: [(buffer: FilledBuffer, memory: Int)] = []
    private var count = 0
    private var isStreaming = false
    private var isOpen = true

    init(_ camera: ScriptedCamera, _ host: ScriptedHost) { (self.camera, self.host) = (camera, host) }

    private func record(_ name: String) throws(V4L2Error) {
        camera.log.append((host.now, name))
        precondition(isOpen, "\(name) on a closed node")
        if !camera.isPlugged { throw .failed(name, errno: .operationNotSupportedByDevice) }
        if let failure = camera.failures[name] { throw failure }
    }

    func setFormat(_ requested: PictureFormat) throws(V4L2Error) -> PictureFormat {
        try record("VIDIOC_S_FMT")
        return camera.given ?? requested
    }

    func setRate(_ framesPerSecond: Int) throws(V4L2Error) -> Double? { camera.rate }

    func requestBuffers(_ count: Int) throws(V4L2Error) -> [Int] {
        try record("VIDIOC_REQBUFS")
        memory = camera.buffers.map { [UInt8](repeating: 0xEE, count: $0) }
        return camera.buffers
    }

    func releaseBuffers() { (memory, queued, filled) = ([], [], []) }

    func streamOn() throws(V4L2Error) {
        try record("VIDIOC_STREAMON")
        (isStreaming, count) = (true, 0)
    }

    func streamOff() {
        isStreaming = false
        camera.log.append((host.now, "VIDIOC_STREAMOFF"))
    }

    func enqueue(_ index: Int) throws(V4L2Error) {
        precondition(memory.indices.contains(index) && !queued.contains(index), "buffer \(index) is queued already")
        if !camera.isPlugged { throw .failed("VIDIOC_QBUF", errno: .operationNotSupportedByDevice) }
        queued.append(index)
    }

    /// The number of buffers that are neither queued nor filled; must be 0 between waits.
    var missing: Int { memory.count - queued.count - filled.count }

    func wait(atMost time: Duration) throws(V4L2Error) -> Bool {
        precondition(isStreaming)
        precondition(missing == 0, "\(missing) buffers did not come back")
        guard camera.isPlugged, camera.failures["VIDIOC_DQBUF"] == nil else {
            host.advance(.milliseconds(1))
            return true
        }
        if camera.isAlwaysReady {
            host.advance(.microseconds(1))
            return true
        }
        for _ in 0..<camera.burst where !queued.isEmpty {
            guard let frame = camera.frames(count) else { break }
            host.advance(.seconds(1 / camera.rate))
            let index = queued.removeFirst()
            let bytes = frame.bytes.prefix(memory[index].count)
            memory[index].replaceSubrange(0..<bytes.count, with: bytes)
            let buffer = FilledBuffer(
                index: frame.index ?? index, bytesUsed: frame.bytesUsed ?? bytes.count, isDamaged: frame.isDamaged,
                sequence: frame.sequence ?? UInt32(count), timestamp: host.now + frame.clockError)
            filled.append((buffer, index))
            count += 1
        }
        if filled.isEmpty { host.advance(time) }
        return !filled.isEmpty
    }

    func dequeue() throws(V4L2Error) -> FilledBuffer? {
        try record("VIDIOC_DQBUF")
        guard !filled.isEmpty else { return nil }
        let (buffer, index) = filled.removeFirst()
        // With an invalid index, only the driver knows which buffer it meant.
        if buffer.index != index { queued.append(index) }
        return buffer
    }

    func withBytes<Result>(of index: Int, count: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        memory[index].withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[0..<count])) }
    }

    func control(_ id: UInt32, offers value: Int32) -> ControlValue? {
        camera.controls[id].map { ControlValue(current: $0, isOffered: true) }
    }

    func setControl(_ id: UInt32, to value: Int32) throws(V4L2Error) {
        try record("VIDIOC_S_CTRL")
        camera.controls[id] = value
    }

    func close() {
        precondition(isOpen, "closed twice")
        isOpen = false
        host.openNodes -= 1
        camera.log.append((host.now, "close"))
    }
}
