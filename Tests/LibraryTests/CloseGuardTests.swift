import Dispatch
import Synchronization
import TestTools
import Testing

@testable import Library

@Suite(.timeLimit(.minutes(minutes(5)))) struct `Reads under way when a library closes` {
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
        let closing = Task {
            await guardian.close()
            return hasRead.isSet
        }
        try await wait(for: "further reads are refused") {
            do { try await guardian.perform {} } catch is CancellationError { return true }
            return false
        }
        #expect(!hasRead.isSet)
        allowing.finish()
        #expect(await closing.value)
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
        try await library.close()
        await #expect(throws: CancellationError.self) { _ = try await library.changes(limit: 1) }
    }

    @Test func `can end while more libraries close than there are processors`() async throws {
        let folder = Folder()
        let libraries = try (0..<16).map { try LibraryFile.open(at: folder("\($0).sqlite")) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for library in libraries {
                let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
                let closing = DispatchSemaphore(value: 0)
                group.addTask {
                    try await library.read { _ in
                        beginning.finish()
                        closing.wait()
                    }
                }
                group.addTask {
                    for await _ in begun {}
                    closing.signal()
                    try await library.close()
                }
            }
            try await group.waitForAll()
        }
    }
}
