import FaultServer
import Foundation
import FoundationNetworking
import Glibc
import Synchronization
import TestTools

/// The folder of a household: one library, which several services share, and the settings of its sources.
struct Household: Sendable {
    let folder: URL
    let environment: [String: String]

    private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("scan")
    static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("samples")

    /// - Parameter sources: the address of the server that plays all online sources; `nil` to ask none.
    init(named name: String, sources: String?) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("bookplate-\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var environment = [
            "HOME": folder.path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
            "BOOKPLATE_LIBRARY": folder.appendingPathComponent("library.sqlite").path,
            "BOOKPLATE_INDEX": folder.appendingPathComponent("index.sqlite").path,
        ]
        if let sources {
            // Without a key, Google Books is not asked. It would set the pace of the day with a request for each book.
            for name in ["OPENLIBRARY", "GOOGLEBOOKS", "COVERS"] { environment["BOOKPLATE_\(name)_URL"] = sources }
        } else {
            environment["BOOKPLATE_OFFLINE"] = "1"
        }
        self.environment = environment
    }

    func remove() throws { try FileManager.default.removeItem(at: folder) }

    /// Prepares a `scan` with files for its output, so that no full pipe blocks it.
    func process(_ arguments: [String], output: URL, errors: URL) throws -> Process {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        process.environment = environment
        for file in [output, errors] where !FileManager.default.fileExists(atPath: file.path) {
            try Data().write(to: file)
        }
        func appending(_ file: URL) throws -> FileHandle {
            let handle = try FileHandle(forWritingTo: file)
            try handle.seekToEnd()
            return handle
        }
        process.standardOutput = try appending(output)
        process.standardError = try appending(errors)
        return process
    }

    /// Runs a command to its end and returns its exit code and its output.
    @discardableResult
    func scan(_ arguments: String..., input: String = "") async throws -> (status: Int32, output: String) {
        try await scan(arguments, input: input)
    }

    private func scan(_ arguments: [String], input: String = "") async throws -> (status: Int32, output: String) {
        let output = folder.appendingPathComponent("out-\(UUID().uuidString)")
        let process = try process(arguments, output: output, errors: folder.appendingPathComponent("errors"))
        let pipe = Pipe()
        process.standardInput = pipe
        try process.run(atMost: .seconds(1200))
        try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try pipe.fileHandleForWriting.close()
        try await wait(for: "the end of scan \(arguments)", within: .seconds(1200)) { !process.isRunning }
        let text = try String(contentsOf: output, encoding: .utf8)
        try FileManager.default.removeItem(at: output)
        return (process.terminationStatus, text)
    }

    /// Runs a command that prints one JSON object per line.
    func objects(_ arguments: String...) async throws -> [[String: Any]] {
        let (status, output) = try await scan(arguments + ["--json"])
        guard status == 0 else { throw Unexpected("scan \(arguments) ended with \(status)") }
        return output.split(separator: "\n").compactMap(object)
    }
}

/// Parses a JSON object; `nil` for everything else.
func object(_ line: some StringProtocol) -> [String: Any]? {
    try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A kiosk that reads frames from its standard input, and that can be killed and started again at the same address.
final class Service: Sendable {
    let household: Household
    let name: String
    let port: Int
    /// The file with everything that the service has logged.
    let log: URL
    private let running = Mutex<(process: Process, frames: FileHandle)?>(nil)

    init(_ household: Household, named name: String) throws {
        self.household = household
        self.name = name
        let listener = try LoopbackListener(queue: 1)
        // Nothing else on this machine asks for a certain port, so it stays free.
        close(listener.descriptor)
        port = listener.port
        log = household.folder.appendingPathComponent("\(name).log")
        // Writing to a killed service then fails instead of ending the tests.
        signal(SIGPIPE, SIG_IGN)
    }

    var address: String { "http://127.0.0.1:\(port)" }
    var id: pid_t? { running.withLock { $0.flatMap { $0.process.isRunning ? $0.process.processIdentifier : nil } } }

    /// Starts the service and waits until it answers.
    func start() async throws {
        let process = try household.process(
            ["kiosk", "--port", "\(port)", "--frames", "-"],
            output: household.folder.appendingPathComponent("\(name).out"), errors: log)
        let pipe = Pipe()
        process.standardInput = pipe
        try process.run(atMost: .seconds(3 * 3600))
        running.withLock { $0 = (process, pipe.fileHandleForWriting) }
        try await wait(for: "\(name) to answer") {
            guard process.isRunning else { throw Unexpected("\(self.name) ended: see \(self.log.path)") }
            return await self.answer("GET", "/healthz").status == 200
        }
    }

    /// Kills the service as a power cut does, though what it has written stays in the system's cache.
    func kill() async throws {
        guard let process = running.withLock({ $0?.process }) else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        try await wait(for: "the end of \(name)") { !process.isRunning }
    }

    /// Stops the service as systemd does.
    ///
    /// - Returns: its exit code.
    func stop() async throws -> Int32 {
        guard let process = running.withLock({ $0?.process }) else { return 0 }
        process.terminate()
        try await wait(for: "the end of \(name)") { !process.isRunning }
        return process.terminationStatus
    }

    /// Writes a frame to the service's camera.
    ///
    /// - Returns: false if the service is not running.
    func show(_ frame: [UInt8]) -> Bool {
        guard let frames = running.withLock({ $0?.frames }) else { return false }
        do {
            try frames.write(contentsOf: Data(frame))
            return true
        } catch {
            return false
        }
    }

    /// Sends a request. The status is 0 if no answer came, for example because the service was killed.
    func answer(
        _ method: String, _ path: String, _ body: Data? = nil, type: String = "application/json"
    ) async -> (status: Int, body: Data) {
        var request = URLRequest(url: URL(string: address + path)!, timeoutInterval: 120)
        request.httpMethod = method
        if let body {
            request.httpBody = body
            request.setValue(type, forHTTPHeaderField: "Content-Type")
        }
        if method != "GET" { request.setValue(address, forHTTPHeaderField: "Origin") }
        do {
            let (data, response) = try await URLSession.shared.data(for: request)
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, data)
        } catch {
            return (0, Data())
        }
    }

    /// Sends a request with JSON, and returns the status and the object in the answer.
    func ask(_ method: String, _ path: String, _ body: [String: any Sendable]? = nil) async throws
        -> (status: Int, object: [String: Any])
    {
        let data = try body.map { try JSONSerialization.data(withJSONObject: $0) }
        let answer = await answer(method, path, data)
        guard answer.status != 0 else { return (0, [:]) }
        return (answer.status, object(String(decoding: answer.body, as: UTF8.self)) ?? [:])
    }
}
