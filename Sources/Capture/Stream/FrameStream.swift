import Bookplate
import Glibc
import Synchronization

/// Frames from a stream such as standard input: JPEGs one after the other (MJPEG), or grey PGMs.
///
/// All frames are given in turn and none is skipped. Nothing piles up behind a slow reader: a pipe holds 64 KiB, a read takes that much
/// more, and together that is two frames or three; then the program that writes waits, and what its camera does meanwhile is that
/// program's affair.
public final class FrameStream: FrameSource {
    private let descriptor: Int32
    private let rate: Double?
    private let preview: (any PreviewTap)?
    private let tick: Duration
    private let now: @Sendable () -> Duration
    private let counter = Mutex(FrameCounts())
    private let wake = Wake()

    /// A stream that is silent for so long, from the start or after frames, is told as frozen.
    static let frozenAfter: Duration = .seconds(10)
    /// Bytes of no frame, before the first, after which it is told that these are none.
    static let mostNoise = 64 << 10

    /// - Parameters:
    ///   - descriptor: open for reading; it stays the caller's.
    ///   - rate: the frames' times are counted with so many a second (a recording); `nil` takes the time of arrival.
    ///   - preview: gets the frames too, while somebody watches.
    public convenience init(descriptor: Int32, rate: Double? = nil, preview: (any PreviewTap)? = nil) {
        self.init(descriptor: descriptor, rate: rate, preview: preview, tick: .seconds(1), now: { .monotonicNow })
    }

    /// - Parameter tick: how long is waited for bytes at once.
    init(
        descriptor: Int32, rate: Double?, preview: (any PreviewTap)? = nil, tick: Duration,
        now: @escaping @Sendable () -> Duration
    ) {
        (self.descriptor, self.rate, self.preview, self.tick, self.now) = (descriptor, rate, preview, tick, now)
    }

    public func stop() { wake.stop() }

    public var counts: FrameCounts { counter.withLock(\.self) }

    public func run(state tell: (CameraState) -> Void, frame give: (Frame) -> Void) {
        defer { tell(.ended) }
        guard var picture = StreamPicture(preview: preview) else {
            return tell(.trouble(CameraError(.failing, "cannot decode frames: out of memory. Close other programs.")))
        }
        var cutter = FrameCutter()
        var status = Status(now())
        tell(status.state)
        while !wake.isStopped {
            switch wake.wait(for: descriptor, atMost: tick) {
            case .ready:
                switch cutter.fill(from: descriptor) {
                case .some: break
                case .end: return end(cutter, status, tell)
                case .failed(let number): return tell(.trouble(.cannotRead(number)))
                }
            case .over: break
            case .failed(let number): return tell(.trouble(.cannotRead(number)))
            }
            let arrival = now()
            while !wake.isStopped, take(cutter.next(), &cutter, &picture, at: arrival) {
                guard picture.isSound else { continue }
                if status.streams(picture.format(rate: rate), at: arrival) { tell(status.state) }
                give(picture.frame)
            }
            if cutter.passedOver >= Self.mostNoise, counts.delivered == 0 { status.fail(.noFrames) }
            if status.isDue(at: now()) { tell(status.state) }
        }
    }

    /// Makes a frame of a piece of the stream, and counts it.
    ///
    /// - Returns: whether there may be another piece.
    private func take(
        _ cut: FrameCutter.Cut, _ cutter: inout FrameCutter, _ picture: inout StreamPicture, at arrival: Duration
    ) -> Bool {
        if case .more = cut { return false }
        picture.take(cut, from: cutter)
        let number = counter.withLock { counts in
            if picture.isSound { counts.delivered += 1 } else { counts.dropped += 1 }
            return counts.delivered + counts.dropped - 1
        }
        picture.frame.sequence = UInt32(truncatingIfNeeded: number)
        picture.frame.timestamp = rate.map { .seconds(Double(number) / $0) } ?? arrival
        return true
    }

    private func end(_ cutter: FrameCutter, _ status: Status, _ tell: (CameraState) -> Void) {
        let delivered = counter.withLock { counts in
            if cutter.endsInDamage { counts.dropped += 1 }
            return counts.delivered
        }
        if delivered == 0, status.state != .trouble(.noFrames) { tell(.trouble(.noFrames)) }
    }
}

/// What was told last of a stream, and when.
private struct Status {
    private(set) var state = CameraState.starting
    private var format: CaptureFormat?
    private var toldAt: Duration
    private var lastFrame: Duration
    private var isNews = false

    init(_ time: Duration) { (toldAt, lastFrame) = (time, time) }

    /// - Returns: whether that is news.
    mutating func streams(_ format: CaptureFormat, at time: Duration) -> Bool {
        lastFrame = time
        guard format != self.format else { return false }
        (self.format, isNews, toldAt) = (format, false, time)
        state = .streaming(name: "standard input", format: format)
        return true
    }

    /// To be told with the next sign of life.
    mutating func fail(_ trouble: CameraError) {
        guard state != .trouble(trouble) else { return }
        (state, format, isNews) = (.trouble(trouble), nil, true)
    }

    /// Whether it is time for a sign of life.
    mutating func isDue(at time: Duration) -> Bool {
        if format != nil || state == .starting, time - lastFrame >= FrameStream.frozenAfter { fail(.silent) }
        guard isNews || time - toldAt >= .seconds(1) else { return false }
        (isNews, toldAt) = (false, time)
        return true
    }
}

extension CameraError {
    fileprivate static let noFrames = CameraError(
        .noFrames,
        "no frames come on standard input. It takes JPEGs one after the other (MJPEG), or grey PGMs: with rpicam-vid add "
            + "--codec mjpeg, with ffmpeg -f mjpeg.")

    fileprivate static let silent = CameraError(
        .frozen, "no frame has come on standard input for ten seconds. Look after the program that writes them.")

    fileprivate static func cannotRead(_ errno: Int32) -> CameraError {
        CameraError(
            .failing,
            "cannot read frames from standard input: \(String(cString: strerror(errno))). Start the program that writes them again."
        )
    }
}

/// One frame of a stream in grey levels. Its memory is used for the next.
struct StreamPicture {
    private let jpeg: JPEGFrameDecoder
    var frame = Frame(width: 1, height: 1)
    /// What was taken last could be decoded; else what `frame` holds is undefined.
    private(set) var isSound = false
    private var pixelFormat = PixelFormat.mjpg
    private var preview: PreviewPictures

    /// - Returns: `nil` when memory runs out.
    init?(preview: (any PreviewTap)? = nil) {
        guard let jpeg = JPEGFrameDecoder() else { return nil }
        self.jpeg = jpeg
        self.preview = PreviewPictures(preview)
    }

    func format(rate: Double?) -> CaptureFormat {
        CaptureFormat(width: frame.width, height: frame.height, pixelFormat: pixelFormat, framesPerSecond: rate)
    }

    mutating func take(_ cut: FrameCutter.Cut, from cutter: FrameCutter) {
        switch cut {
        case .jpeg(let range):
            pixelFormat = .mjpg
            isSound = cutter.withBytes(range) { bytes in
                guard jpeg.decode(bytes, into: &frame) else { return false }
                preview.pass(bytes)
                return true
            }
        case .pgm(let header, let rows):
            pixelFormat = .grey
            frame.resize(width: header.width, height: header.height)
            cutter.withBytes(rows) { rows in
                frame.withMutableLuma { luma in
                    guard let base = rows.baseAddress, rows.count == luma.count else { return }
                    luma.baseAddress?.update(from: base, count: rows.count)
                }
            }
            isSound = true
            preview.make(from: frame)
        case .damaged, .more:
            isSound = false
        }
    }
}
