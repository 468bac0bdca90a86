import Bookplate
import SystemPackage
import Synchronization

/// Frames from a stream such as standard input: JPEGs one after the other (MJPEG), or grey PGMs.
///
/// All frames are delivered in order and none is skipped. Only two or three frames can wait for a slow reader, because
/// a pipe holds 64 KiB and one read takes at most another 64 KiB. After that, the writing program blocks, and it must
/// decide what to do with further frames from its camera.
public final class FrameStream: FrameSource {
    private let descriptor: FileDescriptor
    private let rate: Double?
    private let preview: (any PreviewTap)?
    private let interval: Duration
    private let now: @Sendable () -> Duration
    private let counter = Mutex(FrameCounts())
    private let stopSignal = StopSignal()

    /// The time without a frame after which the stream is reported as frozen, both at the start and later.
    static let frozenAfter: Duration = .seconds(10)
    /// The maximum number of bytes before the first frame. If the input contains more bytes but no frame, an error is
    /// reported.
    static let maxNoise = 64 << 10
    /// The number of bytes in a row without a frame after which the stream is no longer read. Searching an endless
    /// stream of something else would occupy a processor for nothing. It is a few times the size of the largest frame.
    static let maxBytesWithoutFrame = 4 * FrameSplitter.maxBytes

    /// - Parameters:
    ///   - descriptor: a descriptor that is open for reading; the caller closes it.
    ///   - rate: the frame rate of a recording, in frames per second, from which the times of the frames are
    ///     calculated; `nil` to use their times of arrival.
    ///   - preview: also receives the frames while somebody is watching.
    public convenience init(descriptor: Int32, rate: Double? = nil, preview: (any PreviewTap)? = nil) {
        self.init(
            FileDescriptor(rawValue: descriptor), rate: rate, preview: preview, interval: .seconds(1),
            now: { .monotonicNow })
    }

    /// - Parameter interval: the longest single wait for bytes.
    init(
        _ descriptor: FileDescriptor, rate: Double?, preview: (any PreviewTap)? = nil, interval: Duration,
        now: @escaping @Sendable () -> Duration
    ) {
        (self.descriptor, self.rate, self.preview, self.interval, self.now) =
            (descriptor, rate, preview, interval, now)
    }

    public func stop() { stopSignal.stop() }

    public var counts: FrameCounts { counter.withLock(\.self) }

    public func run(state onState: (CameraState) -> Void, frame onFrame: (Frame) -> Void) {
        defer { onState(.ended) }
        guard var picture = StreamPicture(preview: preview) else {
            return onState(
                .failed(CameraError(.failing, "cannot decode frames: out of memory. Close other programs.")))
        }
        var splitter = FrameSplitter()
        var bytesWithoutFrame = 0
        var status = StreamStatus(now())
        onState(status.state)
        while !stopSignal.isStopped {
            switch stopSignal.wait(for: descriptor, atMost: interval) {
            case .ready:
                switch splitter.fill(from: descriptor) {
                case .some(let count): bytesWithoutFrame += count
                case .end: return finish(splitter, status, onState)
                case .failed(let error): return onState(.failed(.cannotRead(error)))
                }
            case .ended: break
            case .failed(let error): return onState(.failed(.cannotRead(error)))
            }
            let arrival = now()
            while !stopSignal.isStopped, decode(splitter.next(), &splitter, &picture, at: arrival) {
                guard picture.isSound else { continue }
                bytesWithoutFrame = 0
                if status.markStreaming(picture.format(rate: rate), at: arrival) { onState(status.state) }
                onFrame(picture.frame)
            }
            guard bytesWithoutFrame < Self.maxBytesWithoutFrame else {
                if counts.delivered > 0 { return onState(.failed(.noMoreFrames)) }
                return finish(splitter, status, onState)
            }
            if splitter.skipped >= Self.maxNoise, counts.delivered == 0 { status.fail(.noFrames) }
            if status.isDue(at: now()) { onState(status.state) }
        }
    }

    /// Decodes a chunk of the stream into a frame, and counts the frame.
    ///
    /// - Returns: true if there may be another chunk.
    private func decode(
        _ chunk: FrameSplitter.Chunk, _ splitter: inout FrameSplitter, _ picture: inout StreamPicture,
        at arrival: Duration
    ) -> Bool {
        if case .more = chunk { return false }
        picture.decode(chunk, from: splitter)
        let number = counter.withLock { counts in
            if picture.isSound { counts.delivered += 1 } else { counts.dropped += 1 }
            return counts.delivered + counts.dropped - 1
        }
        picture.frame.sequence = UInt32(truncatingIfNeeded: number)
        picture.frame.timestamp = rate.map { .seconds(Double(number) / $0) } ?? arrival
        return true
    }

    private func finish(_ splitter: FrameSplitter, _ status: StreamStatus, _ onState: (CameraState) -> Void) {
        let delivered = counter.withLock { counts in
            if splitter.endsInDamage { counts.dropped += 1 }
            return counts.delivered
        }
        if delivered == 0, status.state != .failed(.noFrames) { onState(.failed(.noFrames)) }
    }
}

/// The last state of a stream that was reported, and the time of the report.
private struct StreamStatus {
    private(set) var state = CameraState.starting
    private var format: CaptureFormat?
    private var reportedAt: Duration
    private var lastFrame: Duration
    private var hasChanged = false

    init(_ time: Duration) { (reportedAt, lastFrame) = (time, time) }

    /// Records a frame.
    ///
    /// - Returns: true if the state must be reported because the format is new.
    mutating func markStreaming(_ format: CaptureFormat, at time: Duration) -> Bool {
        lastFrame = time
        guard format != self.format else { return false }
        (self.format, hasChanged, reportedAt) = (format, false, time)
        state = .streaming(name: "standard input", format: format)
        return true
    }

    /// Records an error. The next call of ``isDue(at:)`` then returns true.
    mutating func fail(_ error: CameraError) {
        guard state != .failed(error) else { return }
        (state, format, hasChanged) = (.failed(error), nil, true)
    }

    /// Returns true if the state must be reported, because it has changed or the last report was at least a second ago.
    mutating func isDue(at time: Duration) -> Bool {
        if format != nil || state == .starting, time - lastFrame >= FrameStream.frozenAfter { fail(.silent) }
        guard hasChanged || time - reportedAt >= .seconds(1) else { return false }
        (hasChanged, reportedAt) = (false, time)
        return true
    }
}

extension CameraError {
    fileprivate static let noFrames = CameraError(
        .noFrames,
        "standard input contains no frames. Send JPEGs one after the other (MJPEG), or grey PGMs. With rpicam-vid, add "
            + "--codec mjpeg; with ffmpeg, add -f mjpeg.")

    fileprivate static let noMoreFrames = CameraError(
        .noFrames,
        "standard input contains no more frames, only other data, and is no longer read. Restart the program that writes "
            + "the frames, and Bookplate.")

    fileprivate static let silent = CameraError(
        .frozen, "standard input has delivered no frame for ten seconds. Check the program that writes the frames.")

    fileprivate static func cannotRead(_ errno: Errno) -> CameraError {
        CameraError(
            .failing,
            "cannot read frames from standard input: \(errno). Restart the program that writes the frames.")
    }
}

/// One frame of a stream in grey levels. Its memory is reused for the next frame.
struct StreamPicture {
    private let jpeg: JPEGFrameDecoder
    var frame = Frame(width: 1, height: 1)
    /// True if the last chunk could be decoded; otherwise the content of `frame` is undefined.
    private(set) var isSound = false
    private var pixelFormat = PixelFormat.mjpg
    private var preview: PreviewWriter

    /// - Returns: `nil` if memory runs out.
    init?(preview: (any PreviewTap)? = nil) {
        guard let jpeg = JPEGFrameDecoder() else { return nil }
        self.jpeg = jpeg
        self.preview = PreviewWriter(preview)
    }

    func format(rate: Double?) -> CaptureFormat {
        CaptureFormat(width: frame.width, height: frame.height, pixelFormat: pixelFormat, framesPerSecond: rate)
    }

    mutating func decode(_ chunk: FrameSplitter.Chunk, from splitter: FrameSplitter) {
        switch chunk {
        case .jpeg(let range):
            pixelFormat = .mjpg
            isSound = splitter.withBytes(range) { bytes in
                guard jpeg.decode(bytes, into: &frame) else { return false }
                preview.forward(bytes)
                return true
            }
        case .pgm(let header, let rows):
            pixelFormat = .grey
            frame.resize(width: header.width, height: header.height)
            splitter.withBytes(rows) { rows in
                frame.withMutableLuma { luma in
                    guard let base = rows.baseAddress, rows.count == luma.count else { return }
                    luma.baseAddress?.update(from: base, count: rows.count)
                }
            }
            isSound = true
            preview.encode(frame)
        case .damaged, .more:
            isSound = false
        }
    }
}
