import Bookplate
import Dispatch
import Synchronization
import TestTools
import Testing

@testable import Library

extension LibraryFile {
    /// Makes a backup that pauses after its first pages until `act` has ended.
    func backup(to target: String, during act: () async throws -> Void) async throws -> CopyReport {
        let (parts, continuation) = AsyncStream.makeStream(of: Double.self)
        let gate = Gate()
        async let report = {
            defer { continuation.finish() }
            return try await self.backup(to: target) { part in
                continuation.yield(part)
                try gate.hold()
            }
        }()
        // The backup continues even if `act` fails.
        defer { gate.open() }
        var first: Double?
        for await part in parts {
            first = part
            break
        }
        #expect((first ?? 1) < 1, "the backup was over before anything could happen")
        try await act()
        gate.open()
        return try await report
    }
}

/// A gate that blocks a thread once.
private final class Gate: Sendable {
    private let wasHeld = Atomic(false)
    private let way = DispatchSemaphore(value: 0)

    /// Blocks the thread until the gate is opened. May be called only on a reader's own thread, which may block. The
    /// time limit ends a broken test.
    func hold() throws {
        if wasHeld.exchange(true, ordering: .relaxed) { return }
        guard way.wait(timeout: .now() + Double(minutes(10) * 60)) == .success else { throw CancellationError() }
    }

    func open() { way.signal() }
}
