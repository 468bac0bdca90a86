import Bookplate
import Capture
import Decoder
import Station
import Synchronization

/// What a look through the camera says of the camera, of the light, and of a book that was held up.
struct CameraChecks {
    let sight: CameraSight

    var all: [Check] {
        guard camera.state == .ok, let format = sight.format else { return [camera] }
        return [camera, self.format(format), rate(format), decoding, light, BookCheck(sight: sight).check]
    }

    /// Whether it gives frames.
    var camera: Check {
        guard let name = sight.name, let format = sight.format else {
            return sight.trouble.map { Check("camera", .broken, telling: $0.description) }
                ?? Check(
                    "camera", .broken, "no frames came",
                    next: "Unplug the camera and plug it in again; try another USB port, or another one with --device.")
        }
        if let trouble = sight.trouble { return Check("camera", .broken, telling: trouble.description) }
        guard sight.counts.delivered > 0 else {
            return Check(
                "camera", .broken, "\(name) says that it streams, but no frames came",
                next: "Unplug it and plug it in again; ask for another --size if that does not help.")
        }
        return Check("camera", .ok, "\(name) gives \(format)")
    }

    /// What was asked against what is given.
    func format(_ given: CaptureFormat) -> Check {
        let asked = "asked \(sight.asked.width)x\(sight.asked.height), given \(given)"
        if given.width < sight.asked.width || given.height < sight.asked.height {
            return Check(
                "format", .attention, asked,
                next: "The book must be held closer. scan devices lists the sizes that the camera has.")
        }
        if given.isConverted {
            return Check(
                "format", .attention, asked,
                next: "Converting costs time: prefer a camera or --size that gives GREY, YUYV, NV12 or MJPG by itself.")
        }
        return Check("format", .ok, asked)
    }

    /// Frames a second as they come, against those announced.
    func rate(_ given: CaptureFormat) -> Check {
        guard sight.elapsed >= .seconds(1) else {
            return Check("rate", .unknown, "too few frames to tell", next: "Look longer: --seconds 10.")
        }
        let rate = Double(sight.counts.delivered + sight.counts.skipped) / (sight.elapsed / .seconds(1))
        let announced = given.framesPerSecond.map { " of \($0.rounded(to: 1)) announced" } ?? ""
        let fact = "\(rate.rounded(to: 1)) frames a second\(announced)"
        guard rate < 0.8 * (given.framesPerSecond ?? 12) else { return Check("rate", .ok, fact) }
        return Check(
            "rate", .attention, fact,
            next: sight.light.mean < Self.dim
                ? "More light: in the dark a camera takes longer for a frame."
                : "Give the camera a USB port of its own, or ask for a smaller --size.")
    }

    /// Whether this machine keeps up with the camera.
    var decoding: Check {
        let (counts, latency) = (sight.counts, sight.latency ?? .zero)
        let milliseconds = Int((latency / .milliseconds(1)).rounded())
        let fact =
            "\(milliseconds) ms from frame to answer; \(counts.delivered) frames looked at, \(counts.skipped) skipped, "
            + "\(counts.dropped) damaged"
        if counts.dropped * 10 > counts.delivered + counts.skipped {
            return Check(
                "decoding", .attention, fact,
                next: "Damaged frames come from cables and hubs: plug the camera in directly.")
        }
        if counts.restarts > 0 {
            return Check(
                "decoding", .attention, "\(fact); the stream was begun anew \(counts.restarts) times",
                next: "Try another cable and USB port; the kernel's log (dmesg) says what it saw.")
        }
        if latency < .zero || latency > .seconds(60) {
            return Check(
                "decoding", .attention, "\(fact): the driver's time stamps are of another clock",
                next: "Scanning works; how long it takes cannot be told.")
        }
        if latency > .milliseconds(300) || counts.skipped > 3 * counts.delivered {
            return Check(
                "decoding", .attention, fact,
                next: "This machine is busy or slow: end other programs, or ask for a smaller --size.")
        }
        return Check("decoding", .ok, fact)
    }

    /// Mean grey level below which a camera begins to lengthen its exposure.
    static let dim = 70.0

    var light: Check {
        let (mean, clipped) = (sight.light.mean, sight.light.clipped)
        let fact =
            "mean \(mean.rounded(to: 0)) of 255, \((clipped * 100).rounded(to: 0)) % white"
        if mean < HintRules.dark {
            return Check("light", .attention, fact, next: "More light: a desk lamp from the side.")
        }
        if clipped > HintRules.clipped {
            return Check("light", .attention, fact, next: "Less light, or a lamp from the side: glare hides the bars.")
        }
        return Check("light", .ok, fact)
    }
}

/// What a look through the camera showed.
struct CameraSight: Sendable {
    var asked = CaptureSettings()
    /// The camera that gave frames, as its driver calls it.
    var name: String?
    var format: CaptureFormat?
    /// What kept the frames away, or ended them.
    var trouble: CameraError?
    /// What became of the frames in the time that was measured.
    var counts = FrameCounts()
    var elapsed: Duration = .zero
    /// The middle one of those measured.
    var latency: Duration?
    /// Of the last frame.
    var light = FrameResult.Light()
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
    func run(show: (LiveScan.Snapshot, CameraSight) -> Void) async throws -> CameraSight {
        // Also when the look is cancelled.
        defer { source.stop() }
        let notes = Notes(CameraSight(asked: asked))
        let watching = Task { [scan] in
            do {
                for try await event in scan.events() { notes.take(event) }
            } catch {
                notes.take(.camera(.trouble(CameraError(.failing, "the frames cannot be read: \(error)."))))
            }
            notes.end()
        }
        let began = Duration.monotonicNow
        while !notes.take(scan.snapshot, .monotonicNow, from: began, for: duration, patience) {
            show(scan.snapshot, notes.sight)
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
            case .captured(let detection): state.sight.add(code: detection.isbn.digits)
            case .refused(let symbol, _): state.sight.add(code: symbol.payload)
            }
        }
    }

    /// - Returns: whether enough was seen.
    func take(
        _ glance: LiveScan.Snapshot, _ now: Duration, from began: Duration, for duration: Duration, _ patience: Duration
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
    static func line(_ glance: LiveScan.Snapshot, _ sight: CameraSight) -> String {
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

/// How well a book that is held up can be read.
struct BookCheck {
    let sight: CameraSight

    var check: Check {
        let meter = sight.meter
        var facts: [String] = []
        if let last = sight.codes.last { facts.append("read \(last)") }
        if let sharpness = meter.sharpness { facts.append("sharpness \(sharpness.rounded(to: 2))") }
        if let pixels = meter.pixelsPerModule { facts.append("\(pixels.rounded(to: 1)) px a module") }
        guard !facts.isEmpty else {
            return Check(
                "book", .unknown, "nobody held up a book",
                next: "Run scan doctor --seconds 15 and hold the back of a book up to the camera.")
        }
        if sight.codes.isEmpty { facts.insert("something like bars, not read", at: 0) }
        let fact = facts.joined(separator: ", ")
        if let pixels = meter.pixelsPerModule, pixels < HintRules.pixelsPerModule {
            let more = sight.asked.width < 1920 ? ", or ask for more with --size 1920x1080" : ""
            return Check("book", .attention, fact, next: "Hold it closer\(more).")
        }
        if let sharpness = meter.sharpness, sharpness < HintRules.sharpness {
            return Check(
                "book", .attention, fact,
                next:
                    "Hold it still, and at the distance where the camera is sharp; a fixed focus is often sharp only from 40 cm on."
            )
        }
        guard sight.codes.isEmpty else { return Check("book", .ok, fact) }
        return Check(
            "book", .attention, fact, next: "If it was a book: hold it flat and still, with all of its code in view.")
    }
}
