import Bookplate
import SystemPackage

/// Keeps a camera streaming: finds it, reads its frames, and restarts it after every kind of failure, with a pause
/// before each attempt.
struct CaptureLoop<Host: CameraHost> {
    /// The longest time that the loop waits or pauses before it reports the state again.
    static var interval: Duration { .seconds(1) }
    /// The time without a frame after which the stream is restarted.
    static var silenceLimit: Duration { .seconds(3) }
    /// The time without a new picture after which the camera is reported as frozen.
    static var frozenAfter: Duration { .seconds(10) }
    /// The time that a stream must run before the retry delay is reset to its shortest value.
    static var stableAfter: Duration { .seconds(10) }

    /// The pause before the next attempt to read from a node that reports a picture but delivers none.
    static var unreadyPause: Duration { .milliseconds(10) }

    private let settings: CaptureSettings
    private let host: Host
    private let counter: FrameCounter
    private var preview: PreviewWriter
    private var choice: CameraChoice
    private var backoff = Backoff()
    private var current = CameraState.starting
    private var lastReport: Duration?
    private var counts = FrameCounts()
    private var frame = Frame(width: 1, height: 1)
    /// The time of the last new picture; before the first one, the time at which the stream started.
    private var lastNew: Duration?
    private var fingerprint: (sequence: UInt32, luma: UInt64)?
    /// The identity of the node that was last opened or refused.
    private var opened: NodeIdentity?

    init(_ settings: CaptureSettings, host: Host, counter: FrameCounter, preview: (any PreviewTap)? = nil) {
        (self.settings, self.host, self.counter) = (settings, host, counter)
        self.preview = PreviewWriter(preview)
        choice = CameraChoice(requested: settings.device)
    }

    /// Runs until the capture is stopped.
    mutating func run(state onState: (CameraState) -> Void, frame onFrame: (Frame) -> Void) {
        report(.starting, onState)
        while !host.isStopped {
            let nodes = host.nodes()
            switch choice.pick(from: nodes, at: host.now, resolve: host.resolve) {
            case .found(let device):
                do throws(V4L2Error) {
                    try capture(device, onState, onFrame)
                } catch {
                    recover(device, from: error, onState)
                }
            case .refused(let node):
                lastNew = nil
                let isBusy = node.error == .busy
                let holder = isBusy ? host.holder(of: node.device.path) : nil
                report(.failed(.refused(node.device, node.error ?? .noPictures, holder: holder)), onState)
                opened = host.identity(of: node.device.path)
                pause(isBusy ? backoff.next() : Self.interval, watching: node.device, onState)
            case .none:
                lastNew = nil
                report(.failed(absenceError(nodes)), onState)
                pause(Self.interval, watching: nil, onState)
            }
        }
        report(.ended, onState)
    }

    /// Opens the camera and reads its frames. A stream that fails is restarted once; if it soon fails again, the device
    /// is closed.
    private mutating func capture(
        _ device: CameraDevice, _ onState: (CameraState) -> Void, _ onFrame: (Frame) -> Void
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
                return try stream(node, device, onState, onFrame)
            } catch {
                canRestart = canRestart || backoff.isReset
                if !canRestart || error.isGone || error.isBusy || error.isUnusable || host.isStopped { throw error }
                canRestart = false
                reportFailure(of: device, error, onState)
                if pause(backoff.next(), watching: device, onState) {
                    throw .failed("stat", errno: .operationNotSupportedByDevice)
                }
            }
        }
    }

    private mutating func stream(
        _ node: any VideoNode, _ device: CameraDevice, _ onState: (CameraState) -> Void, _ onFrame: (Frame) -> Void
    ) throws(V4L2Error) {
        if host.isStopped { return }
        defer {
            node.streamOff()
            node.releaseBuffers()
        }
        var stream = try CaptureStream(node, of: device, for: settings)
        let start = host.now
        if choice.last != nil { counts.restarts += 1 }
        choice.markUsed(device)
        fingerprint = nil
        var (lastArrival, lastChange) = (start, start)
        lastNew = lastNew ?? start
        while !host.isStopped {
            let isReady = try node.wait(atMost: Self.interval)
            let now = host.now
            let outcome = isReady ? try stream.readNewest(into: &frame, &counts, now: now, for: preview) : .nothing
            switch outcome {
            case .frame:
                lastArrival = now
                if isNew() { (lastChange, lastNew) = (now, now) }
                if now - start >= Self.stableAfter { backoff.reset() }
                counts.delivered += 1
                counter.set(counts)
                report(.streaming(name: device.name, format: stream.format), onState)
                onFrame(frame)
                if stream.format.pixelFormat != .mjpg { preview.encode(frame) }
            case .skipped:
                lastArrival = now
                repeatReport(onState)
            case .nothing:
                counter.set(counts)
                repeatReport(onState)
                // A node that signals an error or delivers only damaged frames is always ready, so pause before the
                // next attempt.
                if isReady { host.pause(Self.unreadyPause) }
            }
            if now - lastArrival >= Self.silenceLimit { throw .silent(now - lastArrival) }
            if now - lastChange >= Self.frozenAfter { throw .silent(now - lastChange) }
        }
    }

    /// Returns true if the frame's picture or sequence number differs from the previous frame's. Pictures of a still
    /// scene may be equal, but a working camera gives each picture a new number.
    private mutating func isNew() -> Bool {
        let now = (sequence: frame.sequence, luma: frame.sampledHash)
        defer { fingerprint = now }
        guard let last = fingerprint else { return true }
        return last != now
    }

    // MARK: failures

    private mutating func recover(_ device: CameraDevice, from error: V4L2Error, _ onState: (CameraState) -> Void) {
        reportFailure(of: device, error, onState)
        let isQuick = error.isGone || error.isDenied
        pause(isQuick ? Self.interval : backoff.next(), watching: device, onState)
    }

    /// Reports why the device was closed or its stream stopped.
    private mutating func reportFailure(
        of device: CameraDevice, _ error: V4L2Error, _ onState: (CameraState) -> Void
    ) {
        if host.isStopped { return }
        if case .silent = error {
            markSilence(of: device)
            report(current, onState)
            return
        }
        lastNew = nil
        if error.isGone {
            if choice.last == nil { return report(.failed(.noCamera), onState) }
            choice.markLost(at: host.now)
            backoff.reset()
            report(.failed(.unplugged(device)), onState)
        } else if error.isBusy {
            report(.failed(.busy(device, holder: host.holder(of: device.path))), onState)
        } else if error.isDenied {
            report(.failed(.denied(path: device.path)), onState)
        } else {
            report(.failed(.failing(device, error)), onState)
        }
    }

    private mutating func absenceError(_ nodes: [ListedNode]) -> CameraError {
        if let last = choice.last {
            choice.markLost(at: host.now)
            return .unplugged(last)
        }
        guard let requested = choice.requested else { return .noCamera }
        return .notFound(requested, others: nodes.filter { $0.error == nil }.map(\.device))
    }

    // MARK: reports

    private mutating func report(_ new: CameraState, _ onState: (CameraState) -> Void) {
        // Do not report an unchanged state with every frame, but only every half interval, which is twice as often as
        // ``FrameSource`` promises.
        if new == current, let lastReport, host.now - lastReport < Self.interval / 2 { return }
        (current, lastReport) = (new, host.now)
        onState(new)
    }

    /// Reports the current state again, or reports the camera as frozen if it has delivered no new picture for too
    /// long.
    private mutating func repeatReport(_ onState: (CameraState) -> Void) {
        if let device = choice.last { markSilence(of: device) }
        report(current, onState)
    }

    private mutating func markSilence(of device: CameraDevice) {
        guard let lastNew, host.now - lastNew >= Self.frozenAfter else { return }
        current = .failed(.frozen(device))
        lastReport = nil
    }

    /// Pauses for the given time. If the camera is unplugged or plugged in again during the pause, the pause ends early
    /// and the next pause is short.
    ///
    /// - Returns: true if the pause ended early because the camera was unplugged or plugged in again.
    @discardableResult
    private mutating func pause(
        _ time: Duration, watching device: CameraDevice?, _ onState: (CameraState) -> Void
    ) -> Bool {
        let end = host.now + time
        while !host.isStopped, host.now < end {
            host.pause(min(Self.interval, end - host.now))
            repeatReport(onState)
            if let device, host.identity(of: device.path) != opened {
                backoff.reset()
                return true
            }
        }
        return false
    }
}

/// A sequence of growing pauses: 1, 2, 4 and 8 seconds, then always 10 seconds.
struct Backoff {
    private var last: Duration = .zero

    mutating func next() -> Duration {
        last = last == .zero ? .seconds(1) : min(last * 2, .seconds(10))
        return last
    }

    mutating func reset() { last = .zero }

    var isReset: Bool { last == .zero }
}

extension Frame {
    /// A hash (FNV-1a) of some pixels that are spread over the picture.
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

/// The settings that are requested from a camera. The camera may deliver something else, which a ``CaptureFormat``
/// describes.
public struct CaptureSettings: Sendable, Equatable {
    /// The camera to use: a device such as /dev/video0 or /dev/bookplate, a by-id path, or part of a camera's name.
    /// `nil` for the first usable camera.
    public var device: String?
    public var width = 1280
    public var height = 720
    /// The frame rate, in frames per second.
    public var rate = 30
    /// The pixel format; `nil` for the format that is cheapest to process at this size and rate.
    public var pixelFormat: PixelFormat?

    public init() {}
}
