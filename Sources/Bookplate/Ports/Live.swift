/// A source of frames: a camera, or a stream on standard input.
///
/// Errors are not thrown, because a lost camera may come back. Until then, the state says what the person can do.
public protocol FrameSource: Sendable {
    /// Delivers frames and states on the calling thread until ``stop()`` or the end of the stream. It blocks, and may
    /// be called only once.
    ///
    /// Only the newest frame is delivered: frames that arrive while `frame` runs are skipped and counted.
    ///
    /// - Parameters:
    ///   - state: called when the state changes, and at least every second as a heartbeat.
    ///   - frame: called with each frame. The memory of the frame is then reused for the next frame. If the closure
    ///     keeps a copy, new memory must be allocated instead.
    func run(state: (CameraState) -> Void, frame: (Frame) -> Void)
    /// Ends ``run(state:frame:)`` soon. May be called from any thread, any number of times.
    func stop()
    /// The numbers of frames so far. They may be read from any thread.
    var counts: FrameCounts { get }
}

/// The numbers of frames since the source was started.
public struct FrameCounts: Sendable, Equatable {
    /// The number of frames that were delivered.
    public var delivered = 0
    /// The number of intact frames that were replaced by a newer frame before they could be delivered.
    public var skipped = 0
    /// The number of frames that were dropped: frames that were damaged or marked as damaged by the driver, and the
    /// first frames after a start.
    public var dropped = 0
    /// The number of times the stream was restarted.
    public var restarts = 0

    public init() {}
}

/// Decodes the frames of a camera, each within the time of one frame. A code that was missed in one frame is tried in
/// another way in the next frame.
public protocol FrameDecoder {
    /// Decodes one frame.
    ///
    /// - Parameter result: overwritten with the result; its memory is reused.
    mutating func read(_ frame: Frame, into result: inout FrameResult)
}

/// The place where a frame source puts its pictures for live viewers.
///
/// The source checks ``isWatched`` once per frame, and does nothing more while nobody watches.
public protocol PreviewTap: Sendable {
    /// True while somebody is watching the live picture. May be read from any thread.
    var isWatched: Bool { get }
    /// Receives one frame as a JPEG, whose bytes are valid only during the call. It is called on the source's thread,
    /// so it must only copy the bytes.
    func receive(jpeg: UnsafeBufferPointer<UInt8>)
}
