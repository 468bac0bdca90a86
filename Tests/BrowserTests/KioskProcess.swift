import Foundation
import FoundationNetworking
import TestTools
import Testing

/// The built program as a service with a library of its own. It queries no online source, and finds the books of
/// samples/index.sqlite.
final class KioskProcess: Sendable {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("scan")

    let home: URL
    let address: String
    /// The port for https; `nil` without `--tls`.
    let encryptedPort: Int?
    private let process: Process
    private let frames: Pipe

    /// - Parameters:
    ///   - home: the folder of an earlier kiosk, to continue with its library.
    ///   - port: 0 for a free one.
    init(home: URL? = nil, port: Int = 0, options: [String] = ["--no-camera"]) async throws {
        self.home =
            home
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("bookplate-browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.home, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = Self.program
        process.arguments = ["kiosk", "--port", "\(port)"] + options
        process.environment = Self.environment(self.home)
        frames = Pipe()
        process.standardInput = frames
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run(atMost: .seconds(600))
        self.process = process
        let isEncrypted = options.contains("--tls")
        let text = try await onThread {
            var text = ""
            while !text.contains(isEncrypted ? Self.encrypted : Self.plain) {
                let data = errors.fileHandleForReading.availableData
                guard !data.isEmpty else { throw WebDriver.Failure(description: "the kiosk ended: \(text)") }
                text += String(decoding: data, as: UTF8.self)
            }
            return text
        }
        encryptedPort = isEncrypted ? text.firstMatch(of: Self.encrypted).flatMap { Int($0.output.1) } : nil
        address = String(try #require(text.firstMatch(of: /http:\/\/[\d.]+:\d+/)).output)
        // Later output is discarded, so that it does not fill the pipe.
        errors.fileHandleForReading.readabilityHandler = { if $0.availableData.isEmpty { $0.readabilityHandler = nil } }
    }

    /// The addresses that the service prints once it listens.
    private static var plain: Regex<(Substring, Substring)> { /http:\/\/[\d.]+:(\d+)\// }
    private static var encrypted: Regex<(Substring, Substring)> { /https:\/\/[\d.]+:(\d+)\// }

    private static func environment(_ home: URL) -> [String: String] {
        [
            "HOME": home.path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
            "BOOKPLATE_LIBRARY": home.appendingPathComponent("library.sqlite").path, "BOOKPLATE_OFFLINE": "1",
            "BOOKPLATE_INDEX": root.appendingPathComponent("samples/index.sqlite").path,
        ]
    }

    /// Runs another `scan` on the same library, like a second terminal.
    ///
    /// - Parameter input: its standard input.
    /// - Returns: its standard output.
    @discardableResult
    func scan(_ arguments: String..., giving status: Int32 = 0, input: String = "") async throws -> String {
        try await onThread { try self.run(arguments, giving: status, input: input) }
    }

    private func run(_ arguments: [String], giving status: Int32, input: String) throws -> String {
        let other = Process()
        other.executableURL = Self.program
        other.arguments = arguments
        other.environment = Self.environment(home)
        let (pipe, errors) = (Pipe(), Pipe())
        other.standardInput = pipe
        let output = Pipe()
        other.standardOutput = output
        other.standardError = errors
        try other.run(atMost: .seconds(300))
        try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try pipe.fileHandleForWriting.close()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        let told = try errors.fileHandleForReading.readToEnd() ?? Data()
        other.waitUntilExit()
        try #require(other.terminationStatus == status, "scan \(arguments): \(String(decoding: told, as: UTF8.self))")
        return String(decoding: printed, as: UTF8.self)
    }

    /// Returns the id of the first book that a search finds.
    func book(_ words: String) async throws -> String {
        let page = try await ask("GET", "/api/books?q=\(words)") as? [String: Any]
        return try #require((page?["hits"] as? [[String: Any]])?.first?["id"] as? String, "no book: \(words)")
    }

    /// Returns the titles of all books.
    func titles() async throws -> [String] {
        let page = try await ask("GET", "/api/books") as? [String: Any]
        return (page?["hits"] as? [[String: Any]] ?? []).compactMap { $0["title"] as? String }
    }

    /// Returns the rows of the batch, newest first.
    func rows() async throws -> [[String: Any]] {
        let station = try await ask("GET", "/api/station") as? [String: Any]
        return station?["rows"] as? [[String: Any]] ?? []
    }

    /// Captures a number as if it had been typed.
    func capture(_ isbn: String) async throws {
        try await ask("POST", "/api/station/captures", ["text": isbn, "origin": "typed"])
    }

    /// Sends a request and returns the JSON of the response.
    @discardableResult
    func ask(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> Any? {
        var request = URLRequest(url: URL(string: address + path)!)
        request.httpMethod = method
        if let body {
            request.httpBody = try JSONSerialization.data(withJSONObject: body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if method != "GET" { request.setValue(address, forHTTPHeaderField: "Origin") }
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        try #require(
            (200..<300).contains(status), "\(method) \(path): \(status) \(String(decoding: data, as: UTF8.self))")
        return data.isEmpty ? nil : try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    }

    /// Sends frames to a service started with `--frames -`.
    func show(_ file: String) throws {
        try frames.fileHandleForWriting.write(
            contentsOf: Data(contentsOf: Self.root.appendingPathComponent("samples/frames/" + file)))
    }

    var port: Int { Int(address.split(separator: ":").last ?? "") ?? 0 }

    /// Stops the service like the system.
    @discardableResult
    func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Kills the service like a power cut.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops the service from running, while the system keeps its connections open.
    func freeze() { Foundation.kill(process.processIdentifier, SIGSTOP) }
    func thaw() { Foundation.kill(process.processIdentifier, SIGCONT) }

    /// Stops it and removes its library.
    func remove() {
        if process.isRunning { stop() }
        do {
            try FileManager.default.removeItem(at: home)
        } catch {
            // Another process on the same library has already removed it.
            #expect(!FileManager.default.fileExists(atPath: home.path), "\(error)")
        }
    }
}
