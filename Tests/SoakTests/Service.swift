import FaultServer
import Foundation
import FoundationNetworking
import Glibc
import Synchronization
import TestTools

/// The home folder of a household: one library, which several services share, and the settings of its sources.
struct Household: Sendable {
    private let program: ScanProcess

    var folder: URL { program.home }
    var library: String { program.library }
    var index: String { folder.appendingPathComponent("index.sqlite").path }

    /// - Parameter sources: the address of the server that plays all online sources; `nil` to ask none.
    init(sources: String?) throws {
        var program = try ScanProcess()
        program.environment["BOOKPLATE_INDEX"] = program.home.appendingPathComponent("index.sqlite").path
        if let sources {
            // Without a key, Google Books is not asked. It would set the pace of the day with a request for each book.
            for name in ["OPENLIBRARY", "GOOGLEBOOKS", "COVERS"] {
                program.environment["BOOKPLATE_\(name)_URL"] = sources
            }
        } else {
            program.environment["BOOKPLATE_OFFLINE"] = "1"
        }
        self.program = program
    }

    func remove() throws { try program.remove() }

    /// Prepares a `scan` whose input stays open, with files for its output, so that no full pipe blocks it.
    func process(_ arguments: [String], output: URL, errors: URL) throws -> Process {
        let process = Process()
        process.executableURL = ScanProcess.program
        process.arguments = arguments
        process.environment = program.environment
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

    /// Runs a command to its end.
    func scan(_ arguments: String..., input: String = "") async throws -> ScanProcess.Ending {
        try await scan(arguments, input: input)
    }

    func scan(_ arguments: [String], input: String = "") async throws -> ScanProcess.Ending {
        let running = try program.start(arguments, input: Data(input.utf8), atMost: .seconds(1200))
        try await wait(for: "the end of scan \(arguments)", within: .seconds(1200)) { !running.process.isRunning }
        return try running.wait()
    }

    /// Runs a command that prints one JSON object per line.
    func objects(_ arguments: String...) async throws -> [[String: Any]] {
        let ending = try await scan(arguments + ["--json"])
        guard ending.status == 0 else {
            throw Unexpected("scan \(arguments) ended with \(ending.status): \(ending.err)")
        }
        return try ending.objects()
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A kiosk that reads frames from its standard input, and that can be killed and started again at the same address.
final class Service: Sendable {
    let household: Household
    let name: String
    /// Keeps the port for this service while it does not run.
    private let reservation: LoopbackListener
    var port: Int { reservation.port }
    /// The file with everything that the service has logged.
    let log: URL
    private let running = Mutex<(process: Process, frames: FileHandle)?>(nil)
    /// Writes the frames. A service that is busy blocks the write, and must not stop the rest of the household.
    private let camera = DispatchQueue(label: "soak.camera")

    init(_ household: Household, named name: String) throws {
        self.household = household
        self.name = name
        reservation = try LoopbackListener(queue: 1)
        close(reservation.descriptor)
        log = household.folder.appendingPathComponent("\(name).log")
        // Writing to a killed service then fails instead of ending the tests.
        signal(SIGPIPE, SIG_IGN)
    }

    /// No service outlives its test.
    deinit { if let id { Glibc.kill(id, SIGKILL) } }

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
        guard let id else { throw Unexpected("\(name) had ended before it was killed: see \(log.path)") }
        Glibc.kill(id, SIGKILL)
        try await wait(for: "the end of \(name)") { self.id == nil }
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
    func show(_ frame: [UInt8]) async -> Bool {
        guard let frames = running.withLock({ $0?.frames }) else { return false }
        return await withCheckedContinuation { shown in
            camera.async {
                do {
                    try frames.write(contentsOf: Data(frame))
                    shown.resume(returning: true)
                } catch {
                    shown.resume(returning: false)
                }
            }
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
        guard let object = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any] else {
            throw Unexpected("\(method) \(path): \(answer.status) without a JSON object")
        }
        return (answer.status, object)
    }
}
