import Bookplate
import FoundationEssentials
import Glibc
import SystemCalls
import SystemPackage

/// The rate limits of the sources, in a small JSON file. Processes that use the same file share the limits, whether or
/// not there is a library.
public struct RateLimitFile: RateLimits {
    private let path: String
    private let mode: mode_t

    /// The longest wait for another process, which has the file locked only while it reads and writes it.
    private static let longestWait: Duration = .seconds(5)
    private static let byteLimit = 1 << 16

    /// - Parameters:
    ///   - path: the path of the file. The file and its folder are created when they are first needed.
    ///   - isShared: true if the group of the file's folder may read and write the file.
    public init(path: String, isShared: Bool) {
        self.path = path
        mode = isShared ? 0o660 : 0o600
    }

    /// - Throws: ``FileError`` if the file cannot be read or written.
    public func update<Result: Sendable>(
        _ source: SourceName, _ change: @escaping @Sendable (inout SourceState) -> Result
    ) async throws -> Result {
        do {
            try createFolder(folder(of: path))
            let file = try FileDescriptor.open(
                path, .readWrite, options: [.create, .closeOnExec], permissions: FilePermissions(rawValue: mode))
            // Closing the file also releases the lock, even if it reports an error. Such an error can lose only the
            // last seconds of rate limits, as a power cut can, because the file is never synced.
            defer { try? file.close() }
            // The umask must not exclude the group. If the file belongs to another user, its mode stays as it is.
            _ = fchmod(file.rawValue, mode)
            try await lock(file)
            var states = try Self.states(in: file)
            let before = states[source.rawValue] ?? SourceState()
            var state = before
            let result = change(&state)
            if state != before {
                states[source.rawValue] = state
                let bytes = Array(try JSONEncoder().encode(states))
                try file.resize(to: 0)
                try file.writeAll(toAbsoluteOffset: 0, bytes)
            }
            return result
        } catch let error as Errno {
            throw FileError(path: path, errno: error)
        }
    }

    /// Waits for the lock without blocking the thread, because a stopped process may have it.
    ///
    /// The wait of flock(2) has no time limit and blocks, so this polls instead. A process has the lock for less than a
    /// millisecond, so the next attempt after two nearly always succeeds.
    private func lock(_ file: FileDescriptor) async throws {
        let end = ContinuousClock.now.advanced(by: Self.longestWait)
        while flock(file.rawValue, LOCK_EX | LOCK_NB) != 0 {
            let error = Errno.current
            guard [.wouldBlock, .interrupted].contains(error), ContinuousClock.now < end else { throw error }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Reads the states of all sources. A file that a power cut has damaged counts as empty, because only the last
    /// pauses that the sources requested are lost with it.
    private static func states(in file: FileDescriptor) throws -> [String: SourceState] {
        var bytes = [UInt8](repeating: 0, count: byteLimit)
        let count = try bytes.withUnsafeMutableBytes { try file.read(fromAbsoluteOffset: 0, into: $0) }
        do {
            return try JSONDecoder().decode([String: SourceState].self, from: Data(bytes[..<count]))
        } catch {
            return [:]
        }
    }
}
