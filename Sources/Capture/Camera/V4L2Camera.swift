import Bookplate
import Synchronization

/// A camera through libv4l2, streaming into mapped buffers.
///
/// It is looked for, opened and begun anew by itself: with no camera, a busy or a broken one ``run(state:frame:)`` tells the trouble
/// and goes on trying until ``stop()``.
public final class V4L2Camera: FrameSource {
    private let settings: CaptureSettings
    private let preview: (any PreviewTap)?
    private let wake = Wake()
    private let counter = FrameCounter()

    /// - Parameter preview: gets the frames too, while somebody watches.
    public init(_ settings: CaptureSettings = CaptureSettings(), preview: (any PreviewTap)? = nil) {
        self.settings = settings
        self.preview = preview
    }

    public func run(state: (CameraState) -> Void, frame: (Frame) -> Void) {
        var loop = CaptureLoop(settings, host: V4L2Host(wake: wake), counter: counter, preview: preview)
        loop.run(state: state, frame: frame)
    }

    public func stop() { wake.stop() }

    public var counts: FrameCounts { counter.value }
}

/// The counts of a source, for other threads.
final class FrameCounter: Sendable {
    private let counts = Mutex(FrameCounts())

    var value: FrameCounts { counts.withLock { $0 } }
    func set(_ new: FrameCounts) { counts.withLock { $0 = new } }
}
