import Bookplate
import Foundation
import Library
import Synchronization
import TestTools
import Testing

@testable import Station

private let dune = "9780441013593"

@Suite(.timeLimit(.minutes(5))) struct `The station's camera` {
    @Test func `captures a book that is held up, and reports what it sees`() async throws {
        let source = TestSource()
        let live = LiveScan(
            source: source, makeDecoder: { TestDecoder(payload: dune) }, thumbnail: { _, _ in [1, 2] })
        let rig = try StationRig(live: live)
        try await rig.run {
            source.say(.streaming(name: "Test", format: CaptureFormat(width: 64, height: 48, pixelFormat: .grey)))
            var state = CameraState.starting
            while state == .starting { state = try await rig.next(\.cameraState) }
            if case .streaming = state {} else { Issue.record("\(state)") }
            #expect(try await rig.next(\.view).symbols.isEmpty)
            source.show(frames: 5)
            let view = try await rig.next(\.view)
            #expect(view.width == 64 && view.height == 48)
            #expect(view.symbols == [[.init(x: 1, y: 2), .init(x: 9, y: 2), .init(x: 9, y: 7), .init(x: 1, y: 7)]])
            let row = try await rig.next(\.captured)
            #expect(row.candidate.item.isbn.digits == dune && row.hasThumbnail)
            #expect(try await rig.station.thumbnail(of: row.id) == [1, 2])

            source.say(.failed(CameraError(.unplugged, "The camera was unplugged.")))
            let gone = try await rig.next(\.cameraState)
            #expect(gone == .failed(CameraError(.unplugged, "The camera was unplugged.")))
            #expect(rig.lines.all.contains("camera: The camera was unplugged."))
            // The service continues without it.
            #expect(try await rig.capture("9780141439587").status == .lookingUp)
        }
        #expect(source.isStopped)
    }

    @Test func `is shown as failed while its driver does not answer, and again afterwards`() async throws {
        let time = Mutex(Duration.zero)
        let source = TestSource()
        let live = LiveScan(
            source: source, makeDecoder: { TestDecoder(payload: dune) }, now: { time.withLock(\.self) })
        let rig = try StationRig(live: live)
        let streaming = CameraState.streaming(
            name: "Test", format: CaptureFormat(width: 64, height: 48, pixelFormat: .grey))
        try await rig.run {
            source.say(streaming)
            while try await rig.next(\.cameraState) != streaming {}
            time.withLock { $0 = LiveScan.stuckAfter }
            await rig.clock.hasSleeper(for: Station.checkInterval)
            rig.clock.advance(by: Station.checkInterval)
            guard case .failed(let error) = try await rig.next(\.cameraState) else {
                Issue.record("not failed")
                return
            }
            #expect(error.kind == .stuck)
            #expect(try await rig.next(\.view) == Station.CameraView())

            source.show(frames: 1)
            try await wait(for: "the driver answers") { live.snapshot.camera == streaming }
            await rig.clock.hasSleeper(for: Station.checkInterval)
            rig.clock.advance(by: Station.checkInterval)
            #expect(try await rig.next(\.cameraState) == streaming)
        }
    }

    @Test func `is nil for a station without a camera`() async throws {
        let rig = try StationRig()
        #expect(await rig.station.snapshot().camera == nil)
        #expect(await rig.station.snapshot().view == Station.CameraView())
    }
}

/// A source whose states and frames a test controls.
private final class TestSource: FrameSource {
    private enum Step { case state(CameraState), frame }
    private let steps = Mutex<[Step]>([])
    private let stopped = Atomic(false)
    private let signal = DispatchSemaphore(value: 0)

    var isStopped: Bool { stopped.load(ordering: .relaxed) }
    var counts: FrameCounts { FrameCounts() }

    func say(_ state: CameraState) { put([.state(state)]) }
    func show(frames: Int) { put(Array(repeating: .frame, count: frames)) }

    private func put(_ new: [Step]) {
        steps.withLock { $0 += new }
        signal.signal()
    }

    func stop() {
        stopped.store(true, ordering: .relaxed)
        signal.signal()
    }

    func run(state: (CameraState) -> Void, frame: (Frame) -> Void) {
        var picture = Frame(width: 64, height: 48)
        while !isStopped {
            signal.wait()
            let now = steps.withLock { steps in
                defer { steps = [] }
                return steps
            }
            for step in now {
                switch step {
                case .state(let new): state(new)
                case .frame:
                    picture.timestamp += .milliseconds(33)
                    frame(picture)
                }
            }
        }
        state(.ended)
    }
}

private struct TestDecoder: FrameDecoder {
    let payload: String

    mutating func read(_ frame: Frame, into reading: inout FrameResult) {
        reading.symbols = [
            Symbol(
                payload: payload, quality: 1,
                corners: Corners(
                    topLeft: Point(x: 1, y: 2), topRight: Point(x: 9, y: 2), bottomRight: Point(x: 9, y: 7),
                    bottomLeft: Point(x: 1, y: 7)))
        ]
    }
}
