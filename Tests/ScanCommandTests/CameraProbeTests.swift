import Bookplate
import Capture
import Foundation
import Synchronization
import Testing

@testable import ScanCommand

/// A camera that follows a script on the caller's thread.
private final class ScriptedCamera: FrameSource {
    enum Step: Sendable {
        case state(CameraState)
        case frame(Frame)
        /// Hangs until it is stopped, or for ever.
        case hang(endsWhenStopped: Bool)
    }

    private let steps: [Step]
    private let stopped = DispatchSemaphore(value: 0)
    private let delivered = Mutex(0)
    private let isStopped = Mutex(false)
    var wasStopped: Bool { isStopped.withLock { $0 } }

    init(_ steps: [Step]) { self.steps = steps }

    private let isReturned = Mutex(false)
    var hasReturned: Bool { isReturned.withLock { $0 } }

    func run(state: (CameraState) -> Void, frame: (Frame) -> Void) {
        defer { isReturned.withLock { $0 = true } }
        for step in steps {
            switch step {
            case .state(let now): state(now)
            case .frame(let picture):
                delivered.withLock { $0 += 1 }
                frame(picture)
            case .hang(let endsWhenStopped):
                stopped.wait()
                if !endsWhenStopped { DispatchSemaphore(value: 0).wait() }
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

@Suite struct `A probe of the camera` {
    private static let streaming = ScriptedCamera.Step.state(
        .streaming(
            name: "Scripted", format: CaptureFormat(width: 1280, height: 720, pixelFormat: .grey, framesPerSecond: 30)))

    /// Returns the photo as frames, thirty a second.
    private func frames(_ photo: String, _ count: Int) throws -> [ScriptedCamera.Step] {
        var frame = try PhotoFile(path: ScanProcess.samples.appendingPathComponent("photos/\(photo)").path)
            .luma(longSide: 1280)
        return (1...count).map { number in
            frame.timestamp = .milliseconds(number * 33)
            return .frame(frame)
        }
    }

    private func watch(
        _ steps: [ScriptedCamera.Step], for duration: Duration = .seconds(60), patience: Duration = .seconds(60)
    ) async throws -> (CameraFindings, ScriptedCamera) {
        let camera = ScriptedCamera(steps)
        let probe = CameraProbe(source: camera, requested: CaptureSettings(), duration: duration, patience: patience)
        return (try await probe.run { _, _ in }, camera)
    }

    @Test func `reports the book that was held up, and what the camera delivered`() async throws {
        let (findings, _) = try await watch([Self.streaming] + frames("frontal.jpg", 8))
        #expect(findings.codes == ["9780441478125"])
        #expect(findings.name == "Scripted")
        #expect(findings.format?.width == 1280)
        #expect(findings.error == nil)
    }

    @Test func `reports codes of other products too`() async throws {
        let (findings, _) = try await watch([Self.streaming] + frames("ean13-product.jpg", 8))
        #expect(findings.codes.count == 1)
        #expect(findings.codes.first?.hasPrefix("978") == false)
    }

    @Test func `ends when its time is up, and stops the camera`() async throws {
        let (findings, camera) = try await watch(
            [Self.streaming] + frames("no-code-table.jpg", 2) + [.hang(endsWhenStopped: true)], for: .zero)
        #expect(findings.counts.delivered == 0, "counted from the first snapshot on")
        #expect(findings.codes.isEmpty)
        #expect(camera.wasStopped)
    }

    @Test func `ends at once when the camera reports an error`() async throws {
        let error = CameraError(.busy, "somebody has it. Ask them.")
        let (findings, _) = try await watch([.state(.starting), .state(.failed(error)), .hang(endsWhenStopped: true)])
        #expect(findings.error == error)
        #expect(findings.format == nil)
    }

    @Test func `is left only when the camera has its controls back`() async throws {
        let camera = ScriptedCamera([Self.streaming, .hang(endsWhenStopped: true)])
        let probe = CameraProbe(
            source: camera, requested: CaptureSettings(), duration: .seconds(60), patience: .seconds(60))
        let (shown, continuation) = AsyncStream.makeStream(of: Void.self)
        async let findings = probe.run { _, _ in continuation.yield() }
        _ = await shown.first { true }
        // leave() blocks, so it runs on a thread of its own: the probe needs the tasks' threads.
        let isBack = await withCheckedContinuation { answer in
            Thread.detachNewThread { answer.resume(returning: probe.leave(within: .seconds(60))) }
        }
        #expect(isBack)
        #expect(camera.hasReturned)
        _ = try await findings
    }

    @Test func `does not wait for a camera that delivers nothing and does not stop`() async throws {
        let (findings, _) = try await watch([Self.streaming, .hang(endsWhenStopped: false)], patience: .zero)
        #expect(findings.counts.delivered == 0)
        #expect(CameraChecks(findings: findings).camera.state == .broken)
    }
}
