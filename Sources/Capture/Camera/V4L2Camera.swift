import Bookplate
import Synchronization

/// A camera that is used through libv4l2 and streams into mapped buffers.
///
/// ``run(state:frame:)`` finds, opens and restarts the camera automatically. If the camera is missing, busy or broken,
/// the method reports that and keeps trying until ``stop()`` is called.
public final class V4L2Camera: FrameSource {
    private let settings: CaptureSettings
    private let preview: (any PreviewTap)?
    private let stopSignal = StopSignal()
    private let counter = FrameCounter()

    /// - Parameter preview: also receives the frames while somebody is watching.
    public init(_ settings: CaptureSettings = CaptureSettings(), preview: (any PreviewTap)? = nil) {
        self.settings = settings
        self.preview = preview
    }

    public func run(state: (CameraState) -> Void, frame: (Frame) -> Void) {
        var loop = CaptureLoop(settings, host: V4L2Host(stopSignal: stopSignal), counter: counter, preview: preview)
        loop.run(state: state, frame: frame)
    }

    public func stop() { stopSignal.stop() }

    public var counts: FrameCounts { counter.value }
}

/// The frame counts of a source, which other threads can read.
final class FrameCounter: Sendable {
    private let counts = Mutex(FrameCounts())

    var value: FrameCounts { counts.withLock { $0 } }
    func set(_ new: FrameCounts) { counts.withLock { $0 = new } }
}
