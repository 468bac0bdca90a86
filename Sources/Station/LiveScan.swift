import Bookplate
import Foundation
import Synchronization

/// From frames to captured books: runs a source and a decoder on a thread of their own, and tells what a person should know.
///
/// The frames stay on that thread; what comes out are events, and a glance at how things stand for whoever draws a screen.
public final class LiveScan: Sendable {
    public enum Event: Sendable {
        /// How the source stands; told when it changes.
        case camera(CameraState)
        /// A book was held up: believed by ``Consensus``, once a showing.
        case captured(Detection)
        /// A code that is no book was held up.
        case refused(Symbol, ISBNRefusal)
    }

    /// How things stand at this moment.
    public struct Glance: Sendable {
        public var camera: CameraState = .starting
        public var hint: Hint?
        public var counts = FrameCounts()
        /// Mean over the last second.
        public var framesPerSecond = 0.0
        /// From the frame's time stamp to the end of its decoding.
        public var latency: Duration = .zero
        public var light = FrameResult.Light()
        /// The last that were measured on something that looks like bars.
        public var sharpness: Double?
        public var pixelsPerModule: Double?
        /// What was read within the last frame.
        public var symbols: [Symbol] = []
    }

    private let source: any FrameSource
    private let makeDecoder: @Sendable () throws -> any FrameDecoder
    private let thumbnail: @Sendable (Frame, Corners) -> [UInt8]?
    private let now: @Sendable () -> Duration
    private let state = Mutex(State())
    /// Signalled when the thread is through with the source.
    private let ended = DispatchSemaphore(value: 0)

    private struct State {
        var glance = Glance()
        /// When the source last gave a sign of life.
        var beat: Duration = .zero
        var isRunning = false
    }

    /// So long without a sign of life, and the thread hangs in the driver.
    public static let stuckAfter: Duration = .seconds(15)

    /// - Parameters:
    ///   - makeDecoder: called on the thread that decodes.
    ///   - thumbnail: a small JPEG of the code's surroundings, to recognise the book by.
    ///   - now: the clock of the frames' time stamps.
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

    /// Starts the thread. Who stops listening stops the source; the stream ends when the source does.
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
                    state: { camera in tell(camera, to: continuation) },
                    frame: { frame in take(frame, &follower, continuation) })
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

    /// For a program that is about to end: stops the source and waits until it gave back what it holds, such as a camera with its
    /// controls as they were; but no longer than `limit`, for a driver may hang.
    ///
    /// - Returns: whether it has.
    @discardableResult
    public func leave(within limit: Duration = .seconds(2)) -> Bool {
        source.stop()
        guard state.withLock(\.isRunning) else { return true }
        let hasEnded = ended.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1)))) == .success
        // Passed on, for whoever else waits.
        if hasEnded { ended.signal() }
        return hasEnded
    }

    /// How things stand now. A source without a sign of life for ``stuckAfter`` shows as stuck.
    public var glance: Glance {
        let time = now()
        return state.withLock { state in
            var glance = state.glance
            if state.isRunning, time - state.beat >= Self.stuckAfter {
                glance.camera = .trouble(
                    CameraError(
                        .stuck,
                        "the camera's driver does not answer. Unplug the camera and plug it in again, or restart the program."
                    ))
                glance.framesPerSecond = 0
            }
            return glance
        }
    }

    private func tell(_ camera: CameraState, to events: AsyncThrowingStream<Event, any Error>.Continuation) {
        let time = now()
        let isNews = state.withLock { state in
            state.beat = time
            guard state.glance.camera != camera else { return false }
            state.glance.camera = camera
            if case .streaming = camera {} else { (state.glance.framesPerSecond, state.glance.hint) = (0, nil) }
            return true
        }
        if isNews { events.yield(.camera(camera)) }
    }

    private func take(
        _ frame: Frame, _ follower: inout Follower, _ events: AsyncThrowingStream<Event, any Error>.Continuation
    ) {
        follower.take(frame)
        for symbol in follower.believed {
            do throws(ISBNRefusal) {
                let detection = Detection(
                    isbn: try symbol.isbn(), raw: symbol.payload, addon: symbol.addon, origin: .camera,
                    thumbnail: thumbnail(frame, symbol.corners))
                events.yield(.captured(detection))
            } catch {
                events.yield(.refused(symbol, error))
            }
        }
        let time = now()
        let counts = source.counts
        state.withLock { state in
            state.beat = time
            follower.show(in: &state.glance)
            state.glance.counts = counts
            state.glance.latency = time - frame.timestamp
        }
    }
}

/// What the thread knows of the frames so far.
private struct Follower {
    private var decoder: any FrameDecoder
    private var reading = FrameResult()
    private var consensus = Consensus()
    private var hints = HintRules()
    private var hint: Hint?
    private(set) var believed: [Symbol] = []
    /// Begin of the second that is counted, and what it counted.
    private var second: (began: Duration, frames: Int)?
    private var framesPerSecond = 0.0

    init(decoder: any FrameDecoder) { self.decoder = decoder }

    mutating func take(_ frame: Frame) {
        decoder.read(frame, into: &reading)
        consensus.take(reading, at: frame.timestamp, believed: &believed)
        hint = hints.take(reading, at: frame.timestamp)
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

    func show(in glance: inout LiveScan.Glance) {
        glance.hint = hint
        glance.framesPerSecond = framesPerSecond
        glance.light = reading.light
        glance.sharpness = reading.sharpness ?? glance.sharpness
        glance.pixelsPerModule = reading.pixelsPerModule ?? glance.pixelsPerModule
        glance.symbols.removeAll(keepingCapacity: true)
        glance.symbols.append(contentsOf: reading.symbols)
    }
}
