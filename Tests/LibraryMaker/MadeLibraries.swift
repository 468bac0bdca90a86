import Foundation

/// Writes a copy of a library that ``makeLibrary(at:copies:seed:sessions:)`` makes. Each library is made only once for
/// all tests of a run.
public func copyMadeLibrary(to path: String, copies: Int, seed: UInt64) async throws {
    try await MadeLibraries.shared.file(copies: copies, seed: seed).write(to: URL(fileURLWithPath: path))
}

private actor MadeLibraries {
    static let shared = MadeLibraries()

    private var files: [[UInt64]: Task<Data, any Error>] = [:]

    func file(copies: Int, seed: UInt64) async throws -> Data {
        let key = [UInt64(copies), seed]
        let task =
            files[key]
            ?? Task {
                let folder = NSTemporaryDirectory() + "/bookplate-made-\(UUID().uuidString)"
                defer { try? FileManager.default.removeItem(atPath: folder) }
                try await makeLibrary(at: folder + "/library.sqlite", copies: copies, seed: seed)
                return try Data(contentsOf: URL(fileURLWithPath: folder + "/library.sqlite"))
            }
        files[key] = task
        return try await task.value
    }
}
