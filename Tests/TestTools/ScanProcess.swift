import Foundation

/// Runs the built program as a user or a script would, in a home folder of its own.
public struct ScanProcess: Sendable {
    /// The folder of one test; deleted by ``remove()``.
    public let home: URL
    public var environment: [String: String]
    /// The command before the program, such as one that sets a variable for the program alone.
    public var prefix: [String] = []
    public var executable = Self.program

    public static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    public static let samples = root.appendingPathComponent("samples")
    /// The program beside the tests' own executable, or the one that BOOKPLATE_PROGRAM names, such as a release build.
    public static let program =
        ProcessInfo.processInfo.environment["BOOKPLATE_PROGRAM"].map { URL(fileURLWithPath: $0) }
        ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("scan")

    /// Returns a program that asks no online source and knows the books of samples/index.sqlite.
    public static func offline(in folder: URL = FileManager.default.temporaryDirectory) throws -> ScanProcess {
        var scan = try ScanProcess(in: folder)
        scan.environment["BOOKPLATE_OFFLINE"] = "1"
        scan.environment["BOOKPLATE_INDEX"] = samples.appendingPathComponent("index.sqlite").path
        return scan
    }

    /// - Parameter folder: the folder in which the home folder is created.
    public init(in folder: URL = FileManager.default.temporaryDirectory) throws {
        home = folder.appendingPathComponent("scan-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        environment = [
            "HOME": home.path, "PATH": "/usr/bin:/bin",
            "BOOKPLATE_LIBRARY": home.appendingPathComponent("library.sqlite").path,
            "TERM": "xterm-256color", "LANG": "C.UTF-8",
            // The sources for which tests have servers.
            "BOOKPLATE_SOURCES": "openLibrary, googleBooks",
        ]
        // The time zone of the tests.
        environment["TZ"] = ProcessInfo.processInfo.environment["TZ"]
    }

    public func remove() throws { try FileManager.default.removeItem(at: home) }

    public var library: String { environment["BOOKPLATE_LIBRARY"] ?? "" }

    public struct Ending: Sendable {
        public let status: Int32
        public let out: String
        public let err: String

        public var lines: [String] { out.split(separator: "\n").map(String.init) }

        /// Parses each line of standard output as a JSON object.
        public func objects() throws -> [[String: Any]] {
            try lines.map { line in
                guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                    throw NoObject(line: line)
                }
                return object
            }
        }

        /// A line of output that is no JSON object.
        public struct NoObject: Error { public let line: String }

        /// Returns the events with this name.
        public func events(_ name: String) throws -> [[String: Any]] {
            try objects().filter { $0["event"] as? String == name }
        }
    }

    /// Returns the ISBNs of the events with this name in the output of a program that was run with `--json` and may
    /// have been killed. A last line without its end was cut short, and so reports nothing.
    public static func isbns(of event: String, in output: String) throws -> [String] {
        try output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .filter { $0.hasPrefix("{\"event\":\"\(event)\",") }
            .compactMap { line in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return object?["isbn13"] as? String
            }
    }

    /// Runs the program to its end, with `input` on standard input and without a terminal.
    @discardableResult
    public func run(_ arguments: String..., input: Data = Data()) throws -> Ending { try run(arguments, input: input) }

    @discardableResult
    public func run(_ arguments: [String], input: Data = Data()) throws -> Ending {
        let running = try start(arguments, input: input)
        return try running.wait()
    }

    /// A running program. Its output goes to files, so that no full pipe blocks it.
    public struct Running {
        public let process: Process
        let out: URL
        let err: URL
        /// Signalled when the process has ended.
        let end: DispatchSemaphore

        public func wait() throws -> Ending {
            // waitUntilExit() may look only every 50 ms (swift-corelibs-foundation, Process.swift), which is longer
            // than most commands take. It also frees the process and its files, so it is called at the end.
            end.wait()
            process.waitUntilExit()
            // For those who wait for the same process later.
            end.signal()
            return Ending(
                status: process.terminationReason == .uncaughtSignal
                    ? 128 + process.terminationStatus : process.terminationStatus,
                out: try text(out), err: try text(err))
        }

        /// Returns the size of its output so far.
        public func bytesSoFar() throws -> Int {
            try FileManager.default.attributesOfItem(atPath: out.path)[.size] as? Int ?? 0
        }

        /// Returns the whole lines of its output so far.
        public func lines() throws -> [String] {
            try text(out).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        }

        /// Returns its standard error so far.
        public func error() throws -> String { try text(err) }

        private func text(_ url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }
    }

    /// - Parameter limit: the time after which the program is killed. A test that hangs then fails.
    public func start(_ arguments: [String], input: Data = Data(), atMost limit: Duration = .seconds(900)) throws
        -> Running
    {
        let process = Process()
        // A session of its own has no controlling terminal, however the tests are run.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
        process.arguments = ["--wait"] + prefix + [executable.path] + arguments
        process.environment = environment
        process.currentDirectoryURL = home
        let (inFile, out, err) = (file("in"), file("out"), file("err"))
        try input.write(to: inFile)
        try Data().write(to: out)
        try Data().write(to: err)
        process.standardInput = try FileHandle(forReadingFrom: inFile)
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = try FileHandle(forWritingTo: err)
        let end = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in end.signal() }
        try process.run(atMost: limit)
        return Running(process: process, out: out, err: err, end: end)
    }

    private func file(_ name: String) -> URL { home.appendingPathComponent("\(name)-\(UUID().uuidString)") }
}

/// Sends a signal to the program below setsid, which does not forward signals.
public func killProgram(below setsid: Int32, by signal: Int32 = SIGKILL) {
    let programs = children(of: setsid)
    for program in programs.isEmpty ? [setsid] : programs { kill(program, signal) }
}
