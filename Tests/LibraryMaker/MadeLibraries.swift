import Foundation

/// Writes a copy of a library that ``makeLibrary(at:copies:seed:sessions:readers:)`` makes. Each library is made only
/// once for all tests of a run.
public func copyMadeLibrary(to path: String, copies: Int, seed: UInt64, readers: Int = 1) async throws {
    try await MadeLibraries.shared.file(copies: copies, seed: seed, readers: readers)
        .write(to: URL(fileURLWithPath: path))
}

private actor MadeLibraries {
    static let shared = MadeLibraries()

    private var files: [[UInt64]: Task<Data, any Error>] = [:]

    func file(copies: Int, seed: UInt64, readers: Int) async throws -> Data {
        let key = [UInt64(copies), seed, UInt64(readers)]
        let task =
            files[key]
            ?? Task {
                let folder = NSTemporaryDirectory() + "/bookplate-made-\(UUID().uuidString)"
                defer { try? FileManager.default.removeItem(atPath: folder) }
                try await makeLibrary(at: folder + "/library.sqlite", copies: copies, seed: seed, readers: readers)
                return try Data(contentsOf: URL(fileURLWithPath: folder + "/library.sqlite"))
            }
        files[key] = task
        return try await task.value
    }
}
