import Bookplate
import Dispatch
import Station
import Synchronization
import Testing

/// A source that plays a script on the thread that runs it.
private final class ScriptedSource: FrameSource {
    enum Step {
        case state(CameraState)
        /// A frame whose first bytes are the payload, this many milliseconds after the last.
        case frame(String?, after: Int)
        /// Waits until the test opens the gate.
        case gate
    }

    private let steps: [Step]
    private let gate = DispatchSemaphore(value: 0)
    private let stopped = Mutex(false)
    /// Yield when the source is stopped, and when it waits at a gate.
    let stops = AsyncStream.makeStream(of: Void.self)
    let gates = AsyncStream.makeStream(of: Void.self)
    private let delivered = Mutex(0)
    var isStopped: Bool { stopped.withLock { $0 } }

    init(_ steps: [Step]) { self.steps = steps }

    func open() { gate.signal() }

    func stop() {
        stopped.withLock { $0 = true }
        stops.continuation.yield()
        gate.signal()
    }

    var counts: FrameCounts {
        var counts = FrameCounts()
        counts.delivered = delivered.withLock { $0 }
        return counts
    }

    func run(state: (CameraState) -> Void, frame: (Frame) -> Void) {
        var time: Duration = .zero
        for step in steps where !isStopped {
            switch step {
            case .state(let news): state(news)
            case .frame(let payload, let milliseconds):
                time += .milliseconds(milliseconds)
                var picture = Frame(width: 32, height: 2)
                picture.timestamp = time
                picture.withMutableLuma { luma in
                    for (at, byte) in (payload ?? "").utf8.enumerated() { luma[at] = byte }
                }
                delivered.withLock { $0 += 1 }
                frame(picture)
            case .gate:
                gates.continuation.yield()
                gate.wait()
            }
        }
        state(.ended)
    }
}

/// Reads what ``ScriptedSource`` wrote.
private struct ScriptedDecoder: FrameDecoder {
    func read(_ frame: Frame, into reading: inout FrameResult) {
        reading.symbols.removeAll(keepingCapacity: true)
        let bytes = frame.luma.prefix { $0 != 0 }
        guard !bytes.isEmpty else { return }
        let zero = Point(x: 0, y: 0)
        reading.symbols.append(
            Symbol(
                payload: String(decoding: bytes, as: UTF8.self), quality: 1,
                corners: Corners(topLeft: zero, topRight: zero, bottomRight: zero, bottomLeft: zero)))
        reading.light.mean = 100
    }
}

private let streaming = CameraState.streaming(
    name: "Scripted", format: CaptureFormat(width: 32, height: 2, pixelFormat: .grey))

@Suite(.timeLimit(.minutes(5))) struct `The live scan` {
    private func frames(_ payload: String?, _ count: Int, every milliseconds: Int = 33) -> [ScriptedSource.Step] {
        (0..<count).map { _ in .frame(payload, after: milliseconds) }
    }

    private func texts(_ steps: [ScriptedSource.Step]) async throws -> [String] {
        let live = LiveScan(
            source: ScriptedSource(steps), makeDecoder: { ScriptedDecoder() }, thumbnail: { _, _ in [1, 2, 3] })
        var texts: [String] = []
        for try await event in live.events() {
            switch event {
            case .camera(let state): texts.append("\(state)".split(separator: "(")[0].description)
            case .captured(let detection):
                #expect(detection.origin == .camera && detection.thumbnail == [1, 2, 3])
                texts.append(detection.isbn.digits)
            case .refused(let symbol, _): texts.append("refused \(symbol.payload)")
            case .view: break
            }
        }
        return texts
    }

    @Test func `reports each change of the camera once, and each book held up`() async throws {
        let seen = try await texts(
            [.state(.starting), .state(streaming), .state(streaming)] + frames("9780441013593", 90)
                + frames("4006381333931", 90) + frames(nil, 30) + frames("9780141439587", 90))
        #expect(seen == ["streaming", "9780441013593", "refused 4006381333931", "9780141439587", "ended"])
    }

    @Test func `stops its source when the listener stops`() async throws {
        let source = ScriptedSource([.state(streaming), .gate])
        let live = LiveScan(source: source, makeDecoder: { ScriptedDecoder() })
        for try await _ in live.events() { break }
        let isStopped: Void? = await source.stops.stream.first { true }
        #expect(isStopped != nil)
    }

    @Test func `shows a thread that hangs in the driver as stuck`() async throws {
        let time = Mutex(Duration.zero)
        let source = ScriptedSource([.state(streaming), .gate, .frame(nil, after: 1)])
        let live = LiveScan(source: source, makeDecoder: { ScriptedDecoder() }, now: { time.withLock { $0 } })
        var events = live.events().makeAsyncIterator()
        _ = try await events.next()
        #expect(live.snapshot.camera == streaming)
        time.withLock { $0 = .seconds(16) }
        guard case .failed(let error) = live.snapshot.camera else {
            Issue.record("not stuck")
            return
        }
        #expect(error.kind == .stuck)
        source.open()
        while try await events.next() != nil {}
        #expect(live.snapshot.camera == .ended)
    }

    @Test func `reports the frame rate, the light and the codes in view`() async throws {
        let time = Mutex(Duration.zero)
        let source = ScriptedSource([.state(streaming)] + frames("9780441013593", 62) + [.gate])
        let live = LiveScan(
            source: source, makeDecoder: { ScriptedDecoder() },
            now: {
                time.withLock {
                    $0 = $0 + .milliseconds(1); return $0
                }
            })
        var events = live.events().makeAsyncIterator()
        _ = await source.gates.stream.first { true }
        let snapshot = live.snapshot
        #expect(snapshot.framesPerSecond.rounded() == 30)
        #expect(snapshot.symbols.map(\.payload) == ["9780441013593"])
        #expect(snapshot.light.mean == 100)
        source.stop()
        while try await events.next() != nil {}
    }

    @Test func `ends with the error of a decoder that does not start`() async {
        struct Broken: Error {}
        let live = LiveScan(source: ScriptedSource([.gate]), makeDecoder: { throw Broken() })
        await #expect(throws: Broken.self) { for try await _ in live.events() {} }
    }
}
