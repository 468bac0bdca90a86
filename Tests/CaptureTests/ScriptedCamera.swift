import Bookplate
import Glibc

@testable import Capture

/// A camera that does what a test says, behind the same protocol as a real one.
final class ScriptedCamera {
    var device: CameraDevice
    var obstacle: NodeObstacle?
    var isPlugged = true { didSet { if isPlugged, !oldValue { plugs += 1 } } }
    /// How often it was plugged in; each time it gets another node.
    private(set) var plugs: UInt64 = 1
    /// Thrown by the operation of that name as long as it is there.
    var failures: [String: V4L2Error] = [:]
    /// What the driver makes of any format; `nil` gives what was asked.
    var given: PictureFormat?
    var buffers = [Int](repeating: 1 << 20, count: 4)
    var rate = 10.0
    var controls: [UInt32: Int32] = [:]
    /// The bytes and words of the next frame, by the number of frames since stream on; `nil` is silence.
    var frames: (Int) -> ScriptedFrame?
    /// How many are filled at each wait.
    var burst = 1
    /// Says ready and has nothing: POLLERR, then EAGAIN.
    var isNeverThrough = false
    /// Operations in order, and when.
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
    /// `nil` counts on.
    var sequence: UInt32?
    /// Added to the true time.
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

    /// Seconds after the begin.
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
        cameras.filter(\.isPlugged).map { ListedNode($0.device, obstacle: $0.obstacle) }
    }

    func identity(of path: String) -> NodeIdentity? {
        cameras.first { $0.isPlugged && $0.device.path == path }.map { NodeIdentity(device: 81, inode: $0.plugs) }
    }

    func open(_ device: CameraDevice) throws(V4L2Error) -> any VideoNode {
        guard let camera = cameras.first(where: { $0.isPlugged && $0.device.path == device.path }) else {
            throw .failed("open", errno: ENOENT)
        }
        camera.log.append((now, "open"))
        if let failure = camera.failures["open"] { throw failure }
        openNodes += 1
        return ScriptedNode(camera, self)
    }

    /// What was told and given in one run.
    struct Record {
        /// Changes of state, in seconds since the begin.
        var states: [(time: Double, state: CameraState)] = []
        var frames: [Frame] = []
        var counts = FrameCounts()
        /// The longest time without a sign of life.
        var longestSilence: Duration = .zero

        var kinds: [String] {
            states.map { entry in
                switch entry.state {
                case .starting: "starting"
                case .streaming(_, let format):
                    "streaming \(format.width)x\(format.height) \(format.pixelFormat.rawValue)"
                case .trouble(let trouble): trouble.kind.rawValue
                case .ended: "ended"
                }
            }
        }

        func trouble(_ kind: CameraError.Kind) -> (time: Double, text: String)? {
            for case (let time, .trouble(let trouble)) in states where trouble.kind == kind {
                return (time, trouble.description)
            }
            return nil
        }
    }

    /// Runs the loop for so many seconds of its own clock.
    func run(for seconds: Double, _ settings: CaptureSettings = CaptureSettings(), keepsFrames: Bool = true) -> Record {
        at(seconds) { [unowned self] in stop() }
        let counter = FrameCounter()
        var loop = CaptureLoop(settings, host: self, counter: counter)
        var record = Record()
        var lastSign = now
        loop.run(
            state: { state in
                record.longestSilence = max(record.longestSilence, now - lastSign)
                lastSign = now
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

    private func note(_ name: String) throws(V4L2Error) {
        camera.log.append((host.now, name))
        precondition(isOpen, "\(name) on a closed node")
        if !camera.isPlugged { throw .failed(name, errno: ENODEV) }
        if let failure = camera.failures[name] { throw failure }
    }

    func setFormat(_ asked: PictureFormat) throws(V4L2Error) -> PictureFormat {
        try note("VIDIOC_S_FMT")
        return camera.given ?? asked
    }

    func setRate(_ framesPerSecond: Int) throws(V4L2Error) -> Double? { camera.rate }

    func requestBuffers(_ count: Int) throws(V4L2Error) -> [Int] {
        try note("VIDIOC_REQBUFS")
        memory = camera.buffers.map { [UInt8](repeating: 0xEE, count: $0) }
        return camera.buffers
    }

    func releaseBuffers() { (memory, queued, filled) = ([], [], []) }

    func streamOn() throws(V4L2Error) {
        try note("VIDIOC_STREAMON")
        (isStreaming, count) = (true, 0)
    }

    func streamOff() {
        isStreaming = false
        camera.log.append((host.now, "VIDIOC_STREAMOFF"))
    }

    func enqueue(_ index: Int) throws(V4L2Error) {
        precondition(memory.indices.contains(index) && !queued.contains(index), "buffer \(index) is queued already")
        if !camera.isPlugged { throw .failed("VIDIOC_QBUF", errno: ENODEV) }
        queued.append(index)
    }

    /// Buffers that are neither queued nor filled: none, whatever came.
    var missing: Int { memory.count - queued.count - filled.count }

    func wait(atMost time: Duration) throws(V4L2Error) -> Bool {
        precondition(isStreaming)
        precondition(missing == 0, "\(missing) buffers did not come back")
        guard camera.isPlugged, camera.failures["VIDIOC_DQBUF"] == nil else {
            host.advance(.milliseconds(1))
            return true
        }
        if camera.isNeverThrough {
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
        try note("VIDIOC_DQBUF")
        guard !filled.isEmpty else { return nil }
        let (buffer, index) = filled.removeFirst()
        // Of an index that is none, only the driver could say which buffer it meant.
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
        try note("VIDIOC_S_CTRL")
        camera.controls[id] = value
    }

    func close() {
        precondition(isOpen, "closed twice")
        isOpen = false
        host.openNodes -= 1
        camera.log.append((host.now, "close"))
    }
}
