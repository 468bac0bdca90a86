import Foundation
import TestTools
import Testing

/// The built program, the files of the repository, and the tools of the system.
enum Built {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    /// The program beside the tests' own executable.
    static let program: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("scan").path
    }()

    static func text(_ path: String) throws -> String { try String(contentsOfFile: root + "/" + path, encoding: .utf8) }

    /// Returns true if the system has a program.
    static func has(_ name: String) -> Bool { tool(name) != nil }

    static func tool(_ name: String) -> String? {
        ["/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"].map { $0 + name }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// A program of the system that was run to its end.
struct Ran {
    let status: Int32
    /// Standard output and standard error, in the order in which they were written.
    let text: String

    init(_ command: [String], environment: [String: String] = [:]) async throws {
        // Not on a thread of the pool: with two cores it has two, and the other tests need them.
        self = try await withCheckedThrowingContinuation { ended in
            DispatchQueue.global().async {
                ended.resume(with: Result { try Ran(waitingFor: command, environment: environment) })
            }
        }
    }

    private init(waitingFor command: [String], environment: [String: String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Built.tool(command[0]) ?? command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root"]
            .merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run(atMost: .seconds(1200))
        text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
    }
}

/// Runs the body with a new folder, which is deleted afterwards.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = NSTemporaryDirectory() + "packaging-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}
