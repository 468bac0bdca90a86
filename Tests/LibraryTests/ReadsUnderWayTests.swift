import Synchronization
import Testing

@testable import Library

@Suite(.timeLimit(.minutes(1))) struct `Reads under way when a library closes` {
    @Test func `are waited for, and none begins after`() async throws {
        let reads = CloseGuard()
        let hasRead = Flag()
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (allowed, allowing) = AsyncStream.makeStream(of: Void.self)
        let reading = Task {
            try await reads.perform {
                beginning.finish()
                for await _ in allowed {}
                hasRead.value.store(true, ordering: .relaxed)
            }
        }
        for await _ in begun {}
        // Not for ever: this one is still under way.
        reads.end(within: .zero)
        #expect(!hasRead.value.load(ordering: .relaxed))
        await #expect(throws: CancellationError.self) { try await reads.perform {} }
        let ending = Task.detached {
            reads.end(within: .seconds(50))
            return hasRead.value.load(ordering: .relaxed)
        }
        allowing.finish()
        #expect(await ending.value)
        try await reading.value
    }

    private final class Flag: Sendable { let value = Atomic(false) }

    @Test func `are no more of a library that is closed`() async throws {
        let folder = Folder()
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        _ = try await library.changes(limit: 1)
        try library.close()
        await #expect(throws: CancellationError.self) { _ = try await library.changes(limit: 1) }
    }
}
