import Bookplate
import Capture
import Foundation
import Synchronization
import Testing

@testable import ScanCommand

/// A camera that does as it is told, on the caller's thread.
private final class ScriptedCamera: FrameSource {
    enum Step: Sendable {
        case state(CameraState)
        case frame(Frame)
        /// Until it is stopped, or for good.
        case hang(comesBack: Bool)
    }

    private let steps: [Step]
    private let stopped = DispatchSemaphore(value: 0)
    private let delivered = Mutex(0)
    private let isStopped = Mutex(false)
    var wasStopped: Bool { isStopped.withLock { $0 } }

    init(_ steps: [Step]) { self.steps = steps }

    private let isBack = Mutex(false)
    var hasReturned: Bool { isBack.withLock { $0 } }

    func run(state: (CameraState) -> Void, frame: (Frame) -> Void) {
        defer { isBack.withLock { $0 = true } }
        for step in steps {
            switch step {
            case .state(let now): state(now)
            case .frame(let picture):
                delivered.withLock { $0 += 1 }
                frame(picture)
            case .hang(let comesBack):
                stopped.wait()
                if !comesBack { DispatchSemaphore(value: 0).wait() }
            }
        }
    }

    func stop() {
        isStopped.withLock { $0 = true }
        stopped.signal()
    }

    var counts: FrameCounts {
        var counts = FrameCounts()
        counts.delivered = delivered.withLock(\.self)
        return counts
    }
}

@Suite struct `A look through the camera` {
    private static let streaming = ScriptedCamera.Step.state(
        .streaming(
            name: "Scripted", format: CaptureFormat(width: 1280, height: 720, pixelFormat: .grey, framesPerSecond: 30)))

    /// The photo, thirty times a second.
    private func frames(_ photo: String, _ count: Int) throws -> [ScriptedCamera.Step] {
        var frame = try PhotoFile(path: ScanProcess.samples.appendingPathComponent("photos/\(photo)").path)
            .luma(longSide: 1280)
        return (1...count).map { number in
            frame.timestamp = .milliseconds(number * 33)
            return .frame(frame)
        }
    }

    private func look(
        _ steps: [ScriptedCamera.Step], for duration: Duration = .seconds(60), patience: Duration = .seconds(60)
    ) async throws -> (CameraSight, ScriptedCamera) {
        let camera = ScriptedCamera(steps)
        let look = CameraLook(source: camera, asked: CaptureSettings(), duration: duration, patience: patience)
        return (try await look.run { _, _ in }, camera)
    }

    @Test func `tells which book was held up, and what the camera gave`() async throws {
        let (sight, _) = try await look([Self.streaming] + frames("frontal.jpg", 8))
        #expect(sight.codes == ["9780441478125"])
        #expect(sight.name == "Scripted")
        #expect(sight.format?.width == 1280)
        #expect(sight.trouble == nil)
    }

    @Test func `names what is no book as well`() async throws {
        let (sight, _) = try await look([Self.streaming] + frames("ean13-product.jpg", 8))
        #expect(sight.codes.count == 1)
        #expect(sight.codes.first?.hasPrefix("978") == false)
    }

    @Test func `is over when its time is, and stops the camera`() async throws {
        let (sight, camera) = try await look(
            [Self.streaming] + frames("no-code-table.jpg", 2) + [.hang(comesBack: true)], for: .zero)
        #expect(sight.counts.delivered == 0, "counted from the first glance on")
        #expect(sight.codes.isEmpty)
        #expect(camera.wasStopped)
    }

    @Test func `is over at once when the camera tells its trouble`() async throws {
        let trouble = CameraError(.busy, "somebody has it. Ask them.")
        let (sight, _) = try await look([.state(.starting), .state(.trouble(trouble)), .hang(comesBack: true)])
        #expect(sight.trouble == trouble)
        #expect(sight.format == nil)
    }

    @Test func `is left only when the camera has been given back`() async throws {
        let camera = ScriptedCamera([Self.streaming, .hang(comesBack: true)])
        let look = CameraLook(source: camera, asked: CaptureSettings(), duration: .seconds(60), patience: .seconds(60))
        let (shown, continuation) = AsyncStream.makeStream(of: Void.self)
        async let sight = look.run { _, _ in continuation.yield() }
        _ = await shown.first { true }
        // On a thread of its own: it blocks, and the look needs those of the tasks.
        let isBack = await withCheckedContinuation { answer in
            Thread.detachNewThread { answer.resume(returning: look.leave(within: .seconds(60))) }
        }
        #expect(isBack)
        #expect(camera.hasReturned)
        _ = try await sight
    }

    @Test func `does not wait for a camera that gives nothing and does not come back`() async throws {
        let (sight, _) = try await look([Self.streaming, .hang(comesBack: false)], patience: .zero)
        #expect(sight.counts.delivered == 0)
        #expect(CameraChecks(sight: sight).camera.state == .broken)
    }
}
