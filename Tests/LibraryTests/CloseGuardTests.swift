import Synchronization
import Testing

@testable import Library

@Suite(.timeLimit(.minutes(5))) struct `Reads under way when a library closes` {
    @Test func `are waited for, and none begins afterwards`() async throws {
        let guardian = CloseGuard()
        let hasRead = Flag()
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (allowed, allowing) = AsyncStream.makeStream(of: Void.self)
        let reading = Task {
            try await guardian.perform {
                beginning.finish()
                for await _ in allowed {}
                hasRead.set()
            }
        }
        for await _ in begun {}
        // The guard does not wait for ever, although this read is still running.
        guardian.close(within: .zero)
        #expect(!hasRead.isSet)
        await #expect(throws: CancellationError.self) { try await guardian.perform {} }
        let ending = Task.detached {
            guardian.close(within: .seconds(50))
            return hasRead.isSet
        }
        allowing.finish()
        #expect(await ending.value)
        try await reading.value
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    @Test func `are refused once the library is closed`() async throws {
        let folder = Folder()
        let library = try LibraryFile.open(at: folder("library.sqlite"))
        _ = try await library.changes(limit: 1)
        try library.close()
        await #expect(throws: CancellationError.self) { _ = try await library.changes(limit: 1) }
    }
}
