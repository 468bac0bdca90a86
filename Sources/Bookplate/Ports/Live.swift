/// Something that gives frames one after the other: a camera, or a stream on standard input.
///
/// Errors are no exceptions here: a camera that is gone comes back, and until then its state says what the person can do.
public protocol FrameSource: Sendable {
    /// Gives frames and news on the calling thread, until ``stop()`` or the end of the stream. Called once; blocks.
    ///
    /// The newest frame wins: what came while `frame` was at work is passed over and counted.
    ///
    /// - Parameters:
    ///   - state: called when it changes, and at least every second as a sign of life.
    ///   - frame: the frame is only lent: whoever keeps a copy makes the next one cost an allocation.
    func run(state: (CameraState) -> Void, frame: (Frame) -> Void)
    /// Ends ``run(state:frame:)`` soon; from any thread, any number of times.
    func stop()
    /// From any thread.
    var counts: FrameCounts { get }
}

/// What became of the frames since the source was started.
public struct FrameCounts: Sendable, Equatable {
    /// Handed on.
    public var delivered = 0
    /// Sound, but a newer one was there.
    public var skipped = 0
    /// Damaged, marked as such by the driver, or the first after a start.
    public var dropped = 0
    /// How often the stream was begun anew.
    public var restarts = 0

    public init() {}
}

/// Reads the frames of a camera, within a frame's time: what is not read in one is tried another way in the next.
public protocol FrameDecoder {
    /// - Parameter reading: filled anew; its memory is used again.
    mutating func read(_ frame: Frame, into reading: inout FrameResult)
}

/// Where a source of frames leaves its pictures for whoever watches them live.
///
/// The source asks ``isWatched`` once a frame, and does nothing more while nobody watches.
public protocol PreviewTap: Sendable {
    /// Whether anybody watches at this moment. From any thread.
    var isWatched: Bool { get }
    /// Takes one frame as a JPEG; the bytes are only lent. Called on the source's thread, and quick: it copies and goes.
    func take(jpeg: UnsafeBufferPointer<UInt8>)
}
