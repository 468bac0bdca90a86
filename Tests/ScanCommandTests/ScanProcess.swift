import Foundation
import TestTools
import Testing

/// Runs the built program as a user or a script would, in a home folder of its own.
struct ScanProcess {
    /// The folder of one test; deleted by ``remove()``.
    let home: URL
    var environment: [String: String]

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let samples = root.appendingPathComponent("samples")
    /// The program beside the tests' own executable.
    static let program: URL = {
        let tests = URL(
            fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "")
        return tests.deletingLastPathComponent().appendingPathComponent("scan")
    }()

    /// Returns a program that asks no online source and knows the books of samples/index.sqlite.
    static func offline() throws -> ScanProcess {
        var scan = try ScanProcess()
        scan.environment["BOOKPLATE_OFFLINE"] = "1"
        scan.environment["BOOKPLATE_INDEX"] = samples.appendingPathComponent("index.sqlite").path
        return scan
    }

    init() throws {
        home = FileManager.default.temporaryDirectory.appendingPathComponent("scan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        environment = [
            "HOME": home.path, "PATH": "/usr/bin:/bin",
            "BOOKPLATE_LIBRARY": home.appendingPathComponent("library.sqlite").path,
            "TERM": "xterm-256color", "LANG": "C.UTF-8",
        ]
        // The time zone of the tests.
        environment["TZ"] = ProcessInfo.processInfo.environment["TZ"]
    }

    func remove() throws { try FileManager.default.removeItem(at: home) }

    var library: String { environment["BOOKPLATE_LIBRARY"] ?? "" }

    struct Ending {
        let status: Int32
        let out: String
        let err: String

        var lines: [String] { out.split(separator: "\n").map(String.init) }

        /// Parses each line of standard output as a JSON object.
        func objects() throws -> [[String: Any]] {
            try lines.map { line in
                try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
            }
        }

        /// Returns the events with this name.
        func events(_ name: String) throws -> [[String: Any]] {
            try objects().filter { $0["event"] as? String == name }
        }
    }

    /// Runs the program to its end, with `input` on standard input and without a terminal.
    @discardableResult
    func run(_ arguments: String..., input: Data = Data()) throws -> Ending { try run(arguments, input: input) }

    @discardableResult
    func run(_ arguments: [String], input: Data = Data()) throws -> Ending {
        let running = try start(arguments, input: input)
        return try running.wait()
    }

    /// A running program. Its output goes to files, so that no full pipe blocks it.
    struct Running {
        let process: Process
        let out: URL
        let err: URL

        func wait() throws -> Ending {
            process.waitUntilExit()
            return Ending(
                status: process.terminationReason == .uncaughtSignal
                    ? 128 + process.terminationStatus : process.terminationStatus,
                out: try text(out), err: try text(err))
        }

        /// Returns the size of its output so far.
        func bytesSoFar() throws -> Int {
            try FileManager.default.attributesOfItem(atPath: out.path)[.size] as? Int ?? 0
        }

        /// Returns its standard error so far.
        func error() throws -> String { try text(err) }

        private func text(_ url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }
    }

    func start(_ arguments: [String], input: Data = Data()) throws -> Running {
        let process = Process()
        // A session of its own has no controlling terminal, however the tests are run.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["--wait", Self.program.path] + arguments
        process.environment = environment
        process.currentDirectoryURL = home
        let (inFile, out, err) = (file("in"), file("out"), file("err"))
        try input.write(to: inFile)
        try Data().write(to: out)
        try Data().write(to: err)
        process.standardInput = try FileHandle(forReadingFrom: inFile)
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = try FileHandle(forWritingTo: err)
        try process.run(atMost: .seconds(900))
        return Running(process: process, out: out, err: err)
    }

    private func file(_ name: String) -> URL { home.appendingPathComponent("\(name)-\(UUID().uuidString)") }
}

/// Runs the body with a program whose home folder is deleted afterwards.
func withScan<Result>(_ make: () throws -> ScanProcess = ScanProcess.offline, _ body: (ScanProcess) throws -> Result)
    throws -> Result
{
    let scan = try make()
    defer { try? scan.remove() }
    return try body(scan)
}
