import Bookplate
import Capture
import Decoder
import Station
import Synchronization

/// What a look through the camera showed.
struct CameraSight: Sendable {
    var asked = CaptureSettings()
    /// The camera that gave frames, as its driver calls it.
    var name: String?
    var format: CaptureFormat?
    /// What kept the frames away, or ended them.
    var trouble: CameraTrouble?
    /// What became of the frames in the time that was measured.
    var counts = FrameCounts()
    var elapsed: Duration = .zero
    /// The middle one of those measured.
    var latency: Duration?
    /// Of the last frame.
    var light = FrameReading.Light()
    /// Of the frame that was read last; without one, of the last that had something like bars.
    var meter = Meter()
    /// Every code that was believed, books and others, each once.
    var codes: [String] = []

    struct Meter: Sendable, Equatable {
        var sharpness: Double?
        var pixelsPerModule: Double?
    }
}

/// Looks through a camera, as the station does, and keeps what it sees.
struct CameraLook {
    let source: any FrameSource
    let asked: CaptureSettings
    /// How long, from the first frame on.
    let duration: Duration
    /// How long a camera may take to give its first frame.
    let patience: Duration
    private let scan: LiveScan

    init(source: any FrameSource, asked: CaptureSettings, duration: Duration, patience: Duration = .seconds(8)) {
        (self.source, self.asked, self.duration, self.patience) = (source, asked, duration, patience)
        scan = LiveScan(source: source, makeDecoder: { try FrameReader() })
    }

    /// - Parameter show: what is seen now, ten times a second.
    func run(show: (LiveScan.Glance, CameraSight) -> Void) async throws -> CameraSight {
        // Also when the look is cancelled.
        defer { source.stop() }
        let notes = Notes(CameraSight(asked: asked))
        let watching = Task { [scan] in
            do {
                for try await event in scan.events() { notes.take(event) }
            } catch {
                notes.take(.camera(.trouble(CameraTrouble(.failing, "the frames cannot be read: \(error)."))))
            }
            notes.end()
        }
        let began = Duration.monotonicNow
        while !notes.take(scan.glance, .monotonicNow, from: began, for: duration, patience) {
            show(scan.glance, notes.sight)
            try await Task.sleep(for: .milliseconds(100))
        }
        // The camera gets back what was set on it; one that hangs is left.
        source.stop()
        _ = await answer(within: .seconds(2)) { await watching.value }
        watching.cancel()
        return notes.sight
    }

    /// Ends a look for a program that has to go: blocks until the camera has back what was set on it, but no longer than `limit`.
    ///
    /// - Returns: whether it has.
    @discardableResult
    func leave(within limit: Duration = .seconds(1)) -> Bool { scan.leave(within: limit) }
}

/// What is noted by the one who hears of events and the one who glances now and then.
private final class Notes: Sendable {
    private struct State {
        var sight: CameraSight
        var first: (time: Duration, counts: FrameCounts)?
        var latencies: [Duration] = []
        var isOver = false
    }

    /// The last ones tell how it goes now, and are sorted with every glance.
    private static let mostLatencies = 256
    private let state: Mutex<State>

    init(_ sight: CameraSight) { state = Mutex(State(sight: sight)) }

    var sight: CameraSight { state.withLock(\.sight) }

    func end() { state.withLock { $0.isOver = true } }

    func take(_ event: LiveScan.Event) {
        state.withLock { state in
            switch event {
            case .camera(.streaming(let name, let format)): (state.sight.name, state.sight.format) = (name, format)
            case .camera(.trouble(let trouble)):
                state.sight.trouble = state.sight.trouble ?? trouble
                state.isOver = true
            case .camera(.starting), .camera(.ended): break
            case .captured(let sighting): state.sight.add(code: sighting.isbn.digits)
            case .refused(let symbol, _): state.sight.add(code: symbol.payload)
            }
        }
    }

    /// - Returns: whether enough was seen.
    func take(
        _ glance: LiveScan.Glance, _ now: Duration, from began: Duration, for duration: Duration, _ patience: Duration
    ) -> Bool {
        state.withLock { state in
            guard glance.counts.delivered > 0 else { return state.isOver || now - began >= patience }
            let first = state.first ?? (now, glance.counts)
            state.first = first
            state.sight.elapsed = now - first.time
            state.sight.counts = glance.counts - first.counts
            state.sight.light = glance.light
            if state.latencies.count == Self.mostLatencies { state.latencies.removeFirst() }
            state.latencies.append(glance.latency)
            state.sight.latency = state.latencies.sorted()[state.latencies.count / 2]
            if state.sight.codes.isEmpty || !glance.symbols.isEmpty {
                state.sight.meter = CameraSight.Meter(
                    sharpness: glance.sharpness, pixelsPerModule: glance.pixelsPerModule)
            }
            return state.isOver || now - first.time >= duration
        }
    }
}

extension CameraSight {
    fileprivate mutating func add(code: String) {
        if !codes.contains(code), codes.count < 20 { codes.append(code) }
    }

    /// "fps 29.8 · light 112 · sharpness 0.41 · 2.3 px a module · read 9780441478125", for the status line.
    static func line(_ glance: LiveScan.Glance, _ sight: CameraSight) -> String {
        guard glance.counts.delivered > 0 else { return "waiting for the camera …" }
        let parts: [String?] = [
            glance.framesPerSecond > 0 ? "fps \(glance.framesPerSecond.rounded(to: 1))" : nil,
            "light \(glance.light.mean.rounded(to: 0))",
            glance.sharpness.map { "sharpness \($0.rounded(to: 2))" },
            glance.pixelsPerModule.map { "\($0.rounded(to: 1)) px a module" },
            sight.codes.last.map { "read \($0.oneLine)" },
            glance.hint?.text ?? (sight.codes.isEmpty ? "hold a book up to the camera" : nil),
        ]
        return parts.compactMap(\.self).joined(separator: " · ")
    }
}

extension FrameCounts {
    fileprivate static func - (later: FrameCounts, earlier: FrameCounts) -> FrameCounts {
        var counts = later
        counts.delivered -= earlier.delivered
        counts.skipped -= earlier.skipped
        counts.dropped -= earlier.dropped
        counts.restarts -= earlier.restarts
        return counts
    }
}
