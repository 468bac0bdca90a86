import Async
import Bookplate
import Capture
import Decoder
import Station
import Synchronization
import Terminal

/// Watches a camera for some time, as the station does, and measures the frames that it delivers.
struct CameraProbe {
    let source: any FrameSource
    let requested: CaptureSettings
    /// The time for which the camera is watched, counted from the first frame.
    let duration: Duration
    /// The longest time that the camera may take to deliver its first frame.
    let patience: Duration
    private let scan: LiveScan

    init(
        source: any FrameSource, requested: CaptureSettings, duration: Duration, patience: Duration = .seconds(8)
    ) {
        (self.source, self.requested, self.duration, self.patience) = (source, requested, duration, patience)
        scan = LiveScan(source: source, makeDecoder: { try FrameReader() })
    }

    /// Watches the camera and returns the results.
    ///
    /// - Parameter show: called ten times per second with the latest state.
    func run(show: (LiveScan.Snapshot, CameraFindings) -> Void) async throws -> CameraFindings {
        // This also runs if the task is cancelled.
        defer { source.stop() }
        let recorder = CameraRecorder(CameraFindings(requested: requested))
        let watching = Task { [scan] in
            do {
                for try await event in scan.events() { recorder.record(event) }
            } catch {
                recorder.record(.camera(.failed(CameraError(.failing, "the frames cannot be read: \(error)."))))
            }
            recorder.finish()
        }
        let start = Duration.monotonicNow
        while !recorder.record(scan.snapshot, .monotonicNow, from: start, for: duration, patience) {
            show(scan.snapshot, recorder.findings)
            try await Task.sleep(for: .milliseconds(100))
        }
        // This restores the camera's controls. A camera that hangs is abandoned.
        source.stop()
        _ = await withTimeLimit(.seconds(2)) { await watching.value }
        watching.cancel()
        return recorder.findings
    }

    /// Restores the camera's controls before the program ends. Blocks until this is done, but not longer than `limit`.
    ///
    /// - Returns: true if the controls are restored.
    @discardableResult
    func leave(within limit: Duration = .seconds(1)) -> Bool { scan.leave(within: limit) }
}

/// The results of watching a camera.
struct CameraFindings: Sendable {
    var requested = CaptureSettings()
    /// The name of the camera that delivered frames, as its driver gives it.
    var name: String?
    var format: CaptureFormat?
    /// The error that prevented or ended the stream.
    var error: CameraError?
    /// The numbers of frames that were delivered, skipped or damaged in the measured time.
    var counts = FrameCounts()
    var elapsed: Duration = .zero
    /// The median of the measured latencies.
    var latency: Duration?
    /// The light in the most recent frame.
    var light = FrameResult.Light()
    /// The measurements of the most recent frame in which a code was read. If no code was read, the measurements of the
    /// most recent frame with something that looked like a bar code.
    var meter = Meter()
    /// The codes that were read, on books and on other products. Each code is listed once.
    var codes: [String] = []

    struct Meter: Sendable, Equatable {
        var sharpness: Double?
        var pixelsPerModule: Double?
    }

    fileprivate mutating func add(code: String) {
        if !codes.contains(code), codes.count < 20 { codes.append(code) }
    }

    /// Returns the status line: "fps 29.8 · light 112 · sharpness 0.41 · 2.3 px per narrowest bar · read
    /// 9780441478125".
    func line(_ snapshot: LiveScan.Snapshot) -> String {
        guard snapshot.counts.delivered > 0 else { return "waiting for the camera …" }
        let parts: [String?] = [
            snapshot.framesPerSecond > 0 ? "fps \(snapshot.framesPerSecond.rounded(to: 1))" : nil,
            "light \(snapshot.light.mean.rounded(to: 0))",
            snapshot.sharpness.map { "sharpness \($0.rounded(to: 2))" },
            snapshot.pixelsPerModule.map { "\($0.rounded(to: 1)) px per narrowest bar" },
            codes.last.map { "read \($0.oneLine)" },
            snapshot.hint?.text ?? (codes.isEmpty ? "hold a book up to the camera" : nil),
        ]
        return parts.compactMap(\.self).joined(separator: " · ")
    }
}

/// Collects findings from the stream of events and from regular snapshots.
private final class CameraRecorder: Sendable {
    private struct State {
        var findings: CameraFindings
        var first: (time: Duration, counts: FrameCounts)?
        var latencies: [Duration] = []
        var isFinished = false
    }

    /// The maximum number of latencies that are kept. It is small, because only recent latencies show the current
    /// speed, and because all of them are sorted for every snapshot.
    private static let latencyLimit = 256
    private let state: Mutex<State>

    init(_ findings: CameraFindings) { state = Mutex(State(findings: findings)) }

    var findings: CameraFindings { state.withLock(\.findings) }

    func finish() { state.withLock { $0.isFinished = true } }

    func record(_ event: LiveScan.Event) {
        state.withLock { state in
            switch event {
            case .camera(.streaming(let name, let format)):
                (state.findings.name, state.findings.format) = (name, format)
            case .camera(.failed(let error)):
                state.findings.error = state.findings.error ?? error
                state.isFinished = true
            case .camera(.starting), .camera(.ended), .view: break
            case .captured(let detection): state.findings.add(code: detection.isbn.digits)
            case .refused(let symbol, _): state.findings.add(code: symbol.payload)
            }
        }
    }

    /// Records a snapshot.
    ///
    /// - Returns: true if the camera need not be watched any longer.
    func record(
        _ snapshot: LiveScan.Snapshot, _ now: Duration, from start: Duration, for duration: Duration,
        _ patience: Duration
    ) -> Bool {
        state.withLock { state in
            guard snapshot.counts.delivered > 0 else { return state.isFinished || now - start >= patience }
            let first = state.first ?? (now, snapshot.counts)
            state.first = first
            state.findings.elapsed = now - first.time
            state.findings.counts = snapshot.counts - first.counts
            state.findings.light = snapshot.light
            if state.latencies.count == Self.latencyLimit { state.latencies.removeFirst() }
            state.latencies.append(snapshot.latency)
            state.findings.latency = state.latencies.sorted()[state.latencies.count / 2]
            if state.findings.codes.isEmpty || !snapshot.symbols.isEmpty {
                state.findings.meter = CameraFindings.Meter(
                    sharpness: snapshot.sharpness, pixelsPerModule: snapshot.pixelsPerModule)
            }
            return state.isFinished || now - first.time >= duration
        }
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
