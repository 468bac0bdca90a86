import Bookplate
import Foundation
import Lookup
import TestTools
import Testing

/// The file in which processes share their rate limits.
@Suite struct `A file of rate limits` {
    let folder: Scratch
    init() throws { folder = try Scratch() }

    private var path: String { folder.file("state/rate-limits.json") }

    @Test func `counts every request of all that use it`() async throws {
        let now = Date()
        let files = [RateLimitFile(path: path, isShared: false), RateLimitFile(path: path, isShared: false)]
        let waits = try await withThrowingTaskGroup(of: Duration.self) { group in
            for index in 0..<20 {
                group.addTask { try await files[index % 2].update(.openLibrary) { $0.bucket.consume(at: now) } }
            }
            return try await group.reduce(into: [Duration]()) { $0.append($1) }
        }
        // A burst of three, then one per second.
        #expect(waits.sorted().map { ($0 / .seconds(1)).rounded() } == [0, 0, 0] + (1...17).map(Double.init))
        let other = try await files[0].update(.googleBooks) { $0.bucket.consume(at: now) }
        #expect(other == .zero, "each source has limits of its own")
    }

    @Test(arguments: ["", "{", "[1]", #"{"openLibrary":"#, String(repeating: "x", count: 100_000)])
    func `that is damaged counts as empty`(_ content: String) async throws {
        let file = RateLimitFile(path: path, isShared: false)
        try await file.update(.openLibrary) { $0.notAskedReason = "a" }
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        #expect(try await file.update(.openLibrary) { $0 } == SourceState())
        try await file.update(.openLibrary) { $0.notAskedReason = "b" }
        #expect(try await file.update(.openLibrary) { $0.notAskedReason } == "b")
    }

    @Test func `whose folder cannot be created is an error that names it`() async throws {
        try Data().write(to: URL(fileURLWithPath: folder.file("state")))
        let file = RateLimitFile(path: folder.file("state/deep/rate-limits.json"), isShared: false)
        let error = await #expect(throws: (any Error).self) { try await file.update(.openLibrary) { _ in } }
        #expect(error.map { "\($0)" } == "\(folder.file("state/deep")): Not a directory")
    }

    @Test(arguments: [(false, 0o600), (true, 0o660)])
    func `can be read by its owner, or by the group that shares the library`(_ isShared: Bool, _ mode: Int)
        async throws
    {
        try await RateLimitFile(path: path, isShared: isShared).update(.openLibrary) { _ in }
        let stored = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(stored as? Int == mode)
    }
}
