import Bookplate
import Glibc

/// Keeps a camera streaming: finds it, follows it, and begins again after every kind of failure, never in a tight loop.
struct CaptureLoop<Host: CameraHost> {
    /// The longest wait and pause; every one ends with a sign of life.
    static var tick: Duration { .seconds(1) }
    /// No frame for so long: the stream is begun anew.
    static var silence: Duration { .seconds(3) }
    /// No new picture for so long, and the person is told.
    static var frozenAfter: Duration { .seconds(10) }
    /// A stream that went so long has mended what was before.
    static var mendedAfter: Duration { .seconds(10) }

    /// Between two looks at a node that says ready and has no picture.
    static var unreadyPause: Duration { .milliseconds(10) }

    private let settings: CaptureSettings
    private let host: Host
    private let counter: FrameCounter
    private var preview: PreviewPictures
    private var choice: CameraChoice
    private var pauses = Pauses()
    private var current = CameraState.starting
    private var lastTold: Duration?
    private var counts = FrameCounts()
    private var frame = Frame(width: 1, height: 1)
    /// When the last new picture came, or the first was asked for.
    private var lastNew: Duration?
    private var fingerprint: (sequence: UInt32, luma: UInt64)?
    /// The node that was opened last, or was to be.
    private var opened: NodeIdentity?

    init(_ settings: CaptureSettings, host: Host, counter: FrameCounter, preview: (any PreviewTap)? = nil) {
        (self.settings, self.host, self.counter) = (settings, host, counter)
        self.preview = PreviewPictures(preview)
        choice = CameraChoice(asked: settings.device)
    }

    /// Returns when the host is stopped.
    mutating func run(state: (CameraState) -> Void, frame deliver: (Frame) -> Void) {
        tell(.starting, state)
        while !host.isStopped {
            let nodes = host.nodes()
            switch choice.pick(from: nodes, at: host.now, resolve: host.resolve) {
            case .found(let device):
                do throws(V4L2Error) {
                    try capture(device, state, deliver)
                } catch {
                    recover(device, from: error, state)
                }
            case .refused(let node):
                lastNew = nil
                let isBusy = node.obstacle == .busy
                let holder = isBusy ? host.holder(of: node.device.path) : nil
                tell(.trouble(CameraTroubles.refused(node.device, node.obstacle ?? .noPictures, holder: holder)), state)
                opened = host.identity(of: node.device.path)
                pause(isBusy ? pauses.next() : Self.tick, watching: node.device, state)
            case .none:
                lastNew = nil
                tell(.trouble(absence(nodes)), state)
                pause(Self.tick, watching: nil, state)
            }
        }
        tell(.ended, state)
    }

    /// Opens the camera and follows it. A stream that fails is begun anew once; when it fails again soon, the device is closed.
    private mutating func capture(
        _ device: CameraDevice, _ state: (CameraState) -> Void, _ deliver: (Frame) -> Void
    ) throws(V4L2Error) {
        opened = host.identity(of: device.path)
        let node = try host.open(device)
        defer { node.close() }
        var controls = CameraControls()
        defer { controls.restore(on: node) }
        try controls.set(on: node)
        var canRestart = true
        while true {
            do throws(V4L2Error) {
                return try follow(node, device, state, deliver)
            } catch {
                canRestart = canRestart || pauses.isReset
                if !canRestart || error.isGone || error.isBusy || error.isUnusable || host.isStopped { throw error }
                canRestart = false
                fail(device, error, state)
                if pause(pauses.next(), watching: device, state) { throw .failed("stat", errno: ENODEV) }
            }
        }
    }

    private mutating func follow(
        _ node: any VideoNode, _ device: CameraDevice, _ state: (CameraState) -> Void, _ deliver: (Frame) -> Void
    ) throws(V4L2Error) {
        if host.isStopped { return }
        defer {
            node.streamOff()
            node.releaseBuffers()
        }
        var stream = try CaptureStream(node, of: device, for: settings)
        let began = host.now
        if choice.last != nil { counts.restarts += 1 }
        choice.use(device)
        fingerprint = nil
        var (lastArrival, lastChange) = (began, began)
        lastNew = lastNew ?? began
        while !host.isStopped {
            let isReady = try node.wait(atMost: Self.tick)
            let now = host.now
            let outcome = isReady ? try stream.takeNewest(into: &frame, &counts, now: now, for: preview) : .nothing
            switch outcome {
            case .frame:
                lastArrival = now
                if isNew() { (lastChange, lastNew) = (now, now) }
                if now - began >= Self.mendedAfter { pauses.reset() }
                counts.delivered += 1
                counter.set(counts)
                tell(.streaming(name: device.name, format: stream.format), state)
                deliver(frame)
                if stream.format.pixelFormat != .mjpg { preview.make(from: frame) }
            case .passed:
                lastArrival = now
                tick(state)
            case .nothing:
                counter.set(counts)
                tick(state)
                // A node that reports an error and gives none, or gives damage only, is ready all the time.
                if isReady { host.pause(Self.unreadyPause) }
            }
            if now - lastArrival >= Self.silence { throw .silent(now - lastArrival) }
            if now - lastChange >= Self.frozenAfter { throw .silent(now - lastChange) }
        }
    }

    /// Whether the frame is another than the last: a camera before a still scene gives equal pictures, but it counts them.
    private mutating func isNew() -> Bool {
        let now = (sequence: frame.sequence, luma: frame.sampledHash)
        defer { fingerprint = now }
        guard let last = fingerprint else { return true }
        return last != now
    }

    // MARK: failures

    private mutating func recover(_ device: CameraDevice, from error: V4L2Error, _ state: (CameraState) -> Void) {
        fail(device, error, state)
        let isQuick = error.isGone || error.isDenied
        pause(isQuick ? Self.tick : pauses.next(), watching: device, state)
    }

    /// Tells what is the matter; the device is closed, or its stream is off.
    private mutating func fail(_ device: CameraDevice, _ error: V4L2Error, _ state: (CameraState) -> Void) {
        if host.isStopped { return }
        if case .silent = error {
            tickSilence(device)
            tell(current, state)
            return
        }
        lastNew = nil
        if error.isGone {
            if choice.last == nil { return tell(.trouble(CameraTroubles.noCamera), state) }
            choice.lose(at: host.now)
            pauses.reset()
            tell(.trouble(CameraTroubles.unplugged(device)), state)
        } else if error.isBusy {
            tell(.trouble(CameraTroubles.busy(device, holder: host.holder(of: device.path))), state)
        } else if error.isDenied {
            tell(.trouble(CameraTroubles.denied(path: device.path)), state)
        } else {
            tell(.trouble(CameraTroubles.failing(device, error)), state)
        }
    }

    private mutating func absence(_ nodes: [ListedNode]) -> CameraError {
        if let last = choice.last {
            choice.lose(at: host.now)
            return CameraTroubles.unplugged(last)
        }
        guard let asked = choice.asked else { return CameraTroubles.noCamera }
        return CameraTroubles.notThere(asked, others: nodes.filter { $0.obstacle == nil }.map(\.device))
    }

    // MARK: news

    private mutating func tell(_ new: CameraState, _ state: (CameraState) -> Void) {
        // With every frame is too often, and twice as often as promised is enough.
        if new == current, let lastTold, host.now - lastTold < Self.tick / 2 { return }
        (current, lastTold) = (new, host.now)
        state(new)
    }

    /// A sign of life; and a camera that gives nothing for long is told.
    private mutating func tick(_ state: (CameraState) -> Void) {
        if let device = choice.last { tickSilence(device) }
        tell(current, state)
    }

    private mutating func tickSilence(_ device: CameraDevice) {
        guard let lastNew, host.now - lastNew >= Self.frozenAfter else { return }
        current = .trouble(CameraTroubles.frozen(device))
        lastTold = nil
    }

    /// Ends early, and the next pause is a short one again, when the camera was unplugged meanwhile, or plugged in again.
    ///
    /// - Returns: whether it was.
    @discardableResult
    private mutating func pause(
        _ time: Duration, watching device: CameraDevice?, _ state: (CameraState) -> Void
    ) -> Bool {
        let end = host.now + time
        while !host.isStopped, host.now < end {
            host.pause(min(Self.tick, end - host.now))
            tick(state)
            if let device, host.identity(of: device.path) != opened {
                pauses.reset()
                return true
            }
        }
        return false
    }
}

/// Growing pauses: 1, 2, 4, 8, then 10 seconds each.
struct Pauses {
    private var last: Duration = .zero

    mutating func next() -> Duration {
        last = last == .zero ? .seconds(1) : min(last * 2, .seconds(10))
        return last
    }

    mutating func reset() { last = .zero }

    var isReset: Bool { last == .zero }
}

extension Frame {
    /// A hash of some of the pixels, spread over the picture (FNV-1a).
    fileprivate var sampledHash: UInt64 {
        withLuma { luma in
            let step = max(1, luma.count / 1021)
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for index in stride(from: 0, to: luma.count, by: step) {
                hash = (hash ^ UInt64(luma[index])) &* 0x100_0000_01B3
            }
            return hash
        }
    }
}

/// What a camera is asked for; what it gives instead is a ``CaptureFormat``.
public struct CaptureSettings: Sendable, Equatable {
    /// A device such as /dev/video0 or /dev/bookplate, a by-id path, or part of a camera's name; `nil` for the first real camera.
    public var device: String?
    public var width = 1280
    public var height = 720
    /// Frames a second.
    public var rate = 30
    /// `nil` for what costs least at that size and rate.
    public var pixelFormat: PixelFormat?

    public init() {}
}
