/// A source of frames: a camera, or a stream on standard input.
///
/// Errors are not thrown: a lost camera may return, and until then the state says what the person can do.
public protocol FrameSource: Sendable {
    /// Delivers frames and states on the calling thread until ``stop()`` or the end of the stream. Call it once; it
    /// blocks.
    ///
    /// The newest frame wins: frames that arrive while `frame` runs are skipped and counted.
    ///
    /// - Parameters:
    ///   - state: called when the state changes, and at least every second as a heartbeat.
    ///   - frame: called with a frame on loan: keeping a copy makes the next frame allocate memory.
    func run(state: (CameraState) -> Void, frame: (Frame) -> Void)
    /// Ends ``run(state:frame:)`` soon. May be called from any thread, any number of times.
    func stop()
    /// The counts so far. May be read from any thread.
    var counts: FrameCounts { get }
}

/// The numbers of frames since the source was started.
public struct FrameCounts: Sendable, Equatable {
    /// Frames passed on.
    public var delivered = 0
    /// Intact frames that were replaced by a newer one.
    public var skipped = 0
    /// Frames that were damaged, marked as such by the driver, or among the first after a start.
    public var dropped = 0
    /// The number of times the stream was restarted.
    public var restarts = 0

    public init() {}
}

/// Decodes the frames of a camera, within a frame's time: a code missed in one frame is tried in another way in the
/// next.
public protocol FrameDecoder {
    /// Decodes one frame.
    ///
    /// - Parameter result: overwritten with the result; its memory is reused.
    mutating func read(_ frame: Frame, into result: inout FrameResult)
}

/// The place where a frame source puts its pictures for live viewers.
///
/// The source checks ``isWatched`` once a frame, and does nothing more while nobody watches.
public protocol PreviewTap: Sendable {
    /// True while anybody watches. May be read from any thread.
    var isWatched: Bool { get }
    /// Receives one frame as a JPEG, on loan. Called on the source's thread, so it must only copy the bytes.
    func take(jpeg: UnsafeBufferPointer<UInt8>)
}
