import Bookplate
import Foundation
import Synchronization

/// Reads a source's frames on a separate thread and reports the codes that are shown to the camera.
///
/// The frames stay on that thread; only events and a ``snapshot`` leave it.
public final class LiveScan: Sendable {
    public enum Event: Sendable {
        /// The state of the camera, or of another source of frames, changed.
        case camera(CameraState)
        /// A book was shown to the camera and confirmed by ``Consensus``; reported once each time that it is shown.
        case captured(Detection)
        /// A code that does not belong to a book was shown to the camera.
        case refused(Symbol, ISBNRefusal)
        /// A screen has to show something else of the frames. Reported at most every ``viewInterval`` of the frames'
        /// time, and at once when the state of the camera changes.
        case view(Station.CameraView)
    }

    /// The state of the camera and of what it sees, at one moment.
    public struct Snapshot: Sendable {
        public var camera: CameraState = .starting
        public var hint: Hint?
        public var counts = FrameCounts()
        /// The mean frame rate over the last second.
        public var framesPerSecond = 0.0
        /// The time from the most recent frame's time stamp to the end of its decoding.
        public var latency: Duration = .zero
        public var light = FrameResult.Light()
        /// The sharpness of the bars in the latest frame in which it was measured; nil if it has not been measured yet.
        public var sharpness: Double?
        /// The width of the narrowest bar, in pixels, in the latest frame in which it was measured; nil if it has not
        /// been measured yet.
        public var pixelsPerModule: Double?
        /// The codes that were read in the most recent frame.
        public var symbols: [Symbol] = []
    }

    private let source: any FrameSource
    private let makeDecoder: @Sendable () throws -> any FrameDecoder
    private let thumbnail: @Sendable (Frame, Corners) -> [UInt8]?
    private let now: @Sendable () -> Duration
    private let state = Mutex(State())
    /// Signalled when the thread no longer uses the source.
    private let ended = DispatchSemaphore(value: 0)

    private struct State {
        var snapshot = Snapshot()
        /// The last reported view, and the time stamp of the frame that it is of.
        var view = Station.CameraView()
        var viewedAt: Duration?
        /// The time at which the source last sent a frame or reported its state.
        var beat: Duration = .zero
        var isRunning = false

        /// - Returns: the view, if it differs from the last.
        mutating func changedView() -> Station.CameraView? {
            let view = Station.CameraView(snapshot)
            guard view != self.view else { return nil }
            self.view = view
            return view
        }
    }

    /// The time after which the thread counts as stuck in the driver if the source has neither sent a frame nor
    /// reported its state.
    public static let stuckAfter: Duration = .seconds(15)
    /// The minimum time between two reports of the view while frames arrive: faster than a person can follow.
    static let viewInterval: Duration = .milliseconds(100)

    /// - Parameters:
    ///   - makeDecoder: called on the thread that decodes.
    ///   - thumbnail: makes a small JPEG of the code's surroundings, by which a person recognises the book.
    ///   - now: returns the time on the clock of the frames' time stamps.
    public init(
        source: any FrameSource, makeDecoder: @escaping @Sendable () throws -> any FrameDecoder,
        thumbnail: @escaping @Sendable (Frame, Corners) -> [UInt8]? = { _, _ in nil },
        now: @escaping @Sendable () -> Duration = { .monotonicNow }
    ) {
        self.source = source
        self.makeDecoder = makeDecoder
        self.thumbnail = thumbnail
        self.now = now
    }

    /// Starts the thread and returns its events. The source is stopped when the stream is no longer iterated, and the
    /// stream ends when the source ends.
    public func events() -> AsyncThrowingStream<Event, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Event.self)
        continuation.onTermination = { [source] _ in source.stop() }
        state.withLock { state in
            (state.beat, state.isRunning) = (now(), true)
        }
        let thread = Thread { [self] in
            do {
                var follower = Follower(decoder: try makeDecoder())
                source.run(
                    state: { camera in report(camera, to: continuation) },
                    frame: { frame in process(frame, &follower, continuation) })
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
            state.withLock { $0.isRunning = false }
            ended.signal()
        }
        thread.name = "camera"
        thread.stackSize = 8 << 20
        thread.start()
        return stream
    }

    /// Stops the source before the program ends, and waits until the source has released its device and restored the
    /// camera's controls.
    ///
    /// - Parameter limit: the longest time to wait, because a driver may hang.
    /// - Returns: true if the source has ended.
    @discardableResult
    public func leave(within limit: Duration = .seconds(2)) -> Bool {
        source.stop()
        guard state.withLock(\.isRunning) else { return true }
        let hasEnded = ended.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1)))) == .success
        // Wakes any other caller that is waiting.
        if hasEnded { ended.signal() }
        return hasEnded
    }

    /// The state at this moment. If the source has neither sent a frame nor reported its state for ``stuckAfter``, it
    /// counts as stuck.
    public var snapshot: Snapshot {
        let time = now()
        return state.withLock { state in
            var snapshot = state.snapshot
            if state.isRunning, time - state.beat >= Self.stuckAfter {
                snapshot.camera = .failed(
                    CameraError(
                        .stuck,
                        "the camera's driver does not answer. Unplug the camera and plug it in again, or restart the program."
                    ))
                snapshot.framesPerSecond = 0
            }
            return snapshot
        }
    }

    private func report(_ camera: CameraState, to events: AsyncThrowingStream<Event, any Error>.Continuation) {
        let time = now()
        let (isNews, view) = state.withLock { state in
            state.beat = time
            guard state.snapshot.camera != camera else { return (false, nil as Station.CameraView?) }
            state.snapshot.camera = camera
            if case .streaming = camera {} else { (state.snapshot.framesPerSecond, state.snapshot.hint) = (0, nil) }
            return (true, state.changedView())
        }
        if isNews { events.yield(.camera(camera)) }
        if let view { events.yield(.view(view)) }
    }

    private func process(
        _ frame: Frame, _ follower: inout Follower, _ events: AsyncThrowingStream<Event, any Error>.Continuation
    ) {
        follower.process(frame)
        for symbol in follower.believed {
            do throws(ISBNRefusal) {
                events.yield(.captured(try Detection(showing: symbol, in: frame, thumbnail: thumbnail)))
            } catch {
                events.yield(.refused(symbol, error))
            }
        }
        let time = now()
        let counts = source.counts
        let view = state.withLock { state in
            state.beat = time
            follower.write(to: &state.snapshot)
            state.snapshot.counts = counts
            state.snapshot.latency = time - frame.timestamp
            if let last = state.viewedAt, frame.timestamp >= last, frame.timestamp - last < Self.viewInterval {
                return nil as Station.CameraView?
            }
            state.viewedAt = frame.timestamp
            return state.changedView()
        }
        if let view { events.yield(.view(view)) }
    }
}

extension Detection {
    /// The detection of a code that was shown to a camera.
    init(
        showing symbol: Symbol, in frame: Frame, thumbnail: (Frame, Corners) -> [UInt8]?
    ) throws(ISBNRefusal) {
        self.init(
            isbn: try symbol.isbn(), raw: symbol.payload, addon: symbol.addon, origin: .camera,
            thumbnail: thumbnail(frame, symbol.corners))
    }
}

/// The state that is kept from one frame of a camera to the next.
struct Follower {
    private var decoder: any FrameDecoder
    private var result = FrameResult()
    private var consensus = Consensus()
    private var hints = HintRules()
    private(set) var hint: Hint?
    private(set) var believed: [Symbol] = []
    /// The second in which frames are being counted: its start, and the number of frames so far.
    private var second: (began: Duration, frames: Int)?
    private var framesPerSecond = 0.0

    init(decoder: any FrameDecoder) { self.decoder = decoder }

    /// The codes that were read in the last frame.
    var symbols: [Symbol] { result.symbols }

    mutating func process(_ frame: Frame) {
        decoder.read(frame, into: &result)
        consensus.update(with: result, at: frame.timestamp, believed: &believed)
        hint = hints.update(with: result, at: frame.timestamp)
        count(frame.timestamp)
    }

    private mutating func count(_ time: Duration) {
        guard let (began, frames) = second, time >= began, time - began < .seconds(5) else {
            second = (time, 0)
            return
        }
        second = (began, frames + 1)
        if time - began >= .seconds(1) {
            framesPerSecond = Double(frames + 1) / ((time - began) / .seconds(1))
            second = (time, 0)
        }
    }

    func write(to snapshot: inout LiveScan.Snapshot) {
        snapshot.hint = hint
        snapshot.framesPerSecond = framesPerSecond
        snapshot.light = result.light
        snapshot.sharpness = result.sharpness ?? snapshot.sharpness
        snapshot.pixelsPerModule = result.pixelsPerModule ?? snapshot.pixelsPerModule
        snapshot.symbols.removeAll(keepingCapacity: true)
        snapshot.symbols.append(contentsOf: result.symbols)
    }
}
