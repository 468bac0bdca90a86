/// Where a source of frames leaves its pictures for whoever watches them live.
///
/// The source asks ``isWatched`` once a frame, and does nothing more while nobody watches.
public protocol PreviewTap: Sendable {
    /// Whether anybody watches at this moment. From any thread.
    var isWatched: Bool { get }
    /// Takes one frame as a JPEG; the bytes are only lent. Called on the source's thread, and quick: it copies and goes.
    func take(jpeg: UnsafeBufferPointer<UInt8>)
}
