import Bookplate
import Foundation
import Hub
import Library
import TestTools

/// The built program of a station, with a home folder of its own and without online sources.
struct ScanProgram {
    let home: String
    /// The command before the program, such as a network namespace to run it in.
    var prefix: [String] = []

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The program beside the tests' own executable.
    private static let path: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("scan").path
    }()

    init() throws { home = try temporaryFolder("home") }

    func remove() throws { try FileManager.default.removeItem(atPath: home) }

    var library: String { home + "/library.sqlite" }

    /// Writes the file that pairing writes.
    func pair(with address: String, token: String, as station: PairedStation) throws {
        try PairedHubs(path: home + "/.config/bookplate/hub.json").save(
            PairedHub(
                address: try HubAddress(address).description, token: token, name: station.name, station: station.id))
    }

    /// A running program. Its standard input stays open until ``end()``.
    final class Running {
        let process = Process()
        private let input = Pipe()
        private let out: FileHandle
        private let err: FileHandle
        private let outPath: String
        private let errPath: String

        init(_ program: ScanProgram, _ arguments: [String]) throws {
            let name = UUID().uuidString
            (outPath, errPath) = (program.home + "/out-" + name, program.home + "/err-" + name)
            for path in [outPath, errPath] { try Data().write(to: URL(fileURLWithPath: path)) }
            out = try FileHandle(forWritingTo: URL(fileURLWithPath: outPath))
            err = try FileHandle(forWritingTo: URL(fileURLWithPath: errPath))
            // Writing to a killed program then fails instead of ending the tests.
            signal(SIGPIPE, SIG_IGN)
            let words = program.prefix + [ScanProgram.path] + arguments
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = words
            process.environment = [
                "HOME": program.home, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "BOOKPLATE_LIBRARY": program.library,
                "BOOKPLATE_OFFLINE": "1",
                "BOOKPLATE_INDEX": ScanProgram.root.appendingPathComponent("samples/index.sqlite").path,
                "LANG": "C.UTF-8",
            ]
            (process.standardInput, process.standardOutput, process.standardError) = (input, out, err)
            try process.run(atMost: .seconds(900))
        }

        /// No program outlives its test.
        deinit { if process.isRunning { process.terminate() } }

        func say(_ text: String) throws { try input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }

        var output: String { Self.text(outPath) }
        var complaints: String { Self.text(errPath) }

        /// Decodes leniently, because the last character may be written only partly.
        private static func text(_ path: String) -> String {
            String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        }

        /// Returns the ISBNs of the printed events of a kind.
        func isbns(_ event: String) -> [String] {
            output.split(separator: "\n").compactMap { line in
                let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return object?["event"] as? String == event ? object?["isbn13"] as? String : nil
            }
        }

        /// Waits until it has printed an event this many times, or has ended.
        func await(_ event: String, count: Int) async throws {
            try await wait(for: "\(count) \(event)") { self.isbns(event).count >= count || !self.process.isRunning }
        }

        /// - Returns: the exit code.
        @discardableResult
        func end() async throws -> Int32 {
            try input.fileHandleForWriting.close()
            try await wait(for: "the end of the program") { !self.process.isRunning }
            return process.terminationStatus
        }
    }

    func start(_ arguments: String...) throws -> Running { try start(arguments) }
    func start(_ arguments: [String]) throws -> Running { try Running(self, arguments) }

    /// Sends the items that wait for the hub. Retries while the hub takes longer than the program waits, as it may on a
    /// busy machine.
    func deliver(_ options: String...) async throws -> (status: Int32, out: String, err: String) {
        for _ in 0..<20 {
            let sent = try await run(["hub", "send"] + options)
            if sent.status != 69 { return sent }
        }
        return try await run(["hub", "send"] + options)
    }

    func run(_ arguments: String..., input: String = "") async throws -> (status: Int32, out: String, err: String) {
        try await run(arguments, input: input)
    }

    func run(_ arguments: [String], input: String = "") async throws -> (status: Int32, out: String, err: String) {
        let running = try Running(self, arguments)
        if !input.isEmpty { try running.say(input) }
        let status = try await running.end()
        return (status, running.output, running.complaints)
    }
}
