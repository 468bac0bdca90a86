import Foundation
import FoundationNetworking
import GRDB
import TestTools
import Testing

@Suite struct `scan kiosk` {
    @Test func `names the program that has the port, and ends with 69`() throws {
        try withScan { scan in
            let first = try RunningCommand(scan, ["kiosk", "--no-camera", "--port", "0"])
            let log = try first.read(until: "/\n")
            let port = try #require(log.split(separator: ":").last?.prefix { $0.isNumber })
            let ending = try scan.run("kiosk", "--no-camera", "--port", String(port))
            #expect(ending.status == 69)
            let error = ending.err.split(separator: "\n").last ?? ""
            #expect(error.contains("cannot listen at 127.0.0.1, port \(port): another program is there"))
            #expect(error.contains("(process \(first.process.processIdentifier))") && error.contains("--port"))
            first.process.terminate()
            first.process.waitUntilExit()
        }
    }

    @Test(arguments: [SIGTERM, SIGINT]) func `shuts down in order at the first signal`(_ signal: Int32) throws {
        try withScan { scan in
            let kiosk = try RunningCommand(scan, ["kiosk", "--no-camera", "--port", "0"])
            try kiosk.read(until: "The kiosk is at http://127.0.0.1:")
            kill(kiosk.process.processIdentifier, signal)
            kiosk.process.waitUntilExit()
            #expect(kiosk.process.terminationReason == .exit && kiosk.process.terminationStatus == 0)
            let log = kiosk.rest()
            #expect(log.contains("ended"))
            // The library was closed, which leaves no write-ahead log.
            #expect(!FileManager.default.fileExists(atPath: scan.library + "-wal"), "\(log)")
        }
    }

    /// Captures that wait for the library are retried until it is free; the shutdown does not wait for them.
    @Test func `ends while another program keeps the library locked`() async throws {
        let scan = try ScanProcess.offline()
        defer { try? scan.remove() }
        let kiosk = try RunningCommand(scan, ["kiosk", "--no-camera", "--port", "0"])
        let said = try kiosk.read(until: "/\n")
        let port = try #require(said.split(separator: ":").last?.prefix { $0.isNumber })
        var configuration = Configuration()
        // The test holds a transaction open.
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: scan.library, configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        let home = "http://127.0.0.1:\(port)"
        for isbn in ["9780441478125", "9780441172719", "9780141439587", "9783161484100"] {
            var request = URLRequest(url: try #require(URL(string: home + "/api/station/captures")))
            request.httpMethod = "POST"
            request.httpBody = Data(#"{"text":"\#(isbn)","origin":"scanner"}"#.utf8)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.setValue(home, forHTTPHeaderField: "Origin")
            URLSession.shared.dataTask(with: request).resume()
        }
        // They have arrived when a request sent after them is answered.
        _ = try await URLSession.shared.data(from: try #require(URL(string: home + "/api/station")))
        kill(kiosk.process.processIdentifier, SIGTERM)
        kiosk.process.waitUntilExit()
        #expect(kiosk.process.terminationReason == .exit && kiosk.process.terminationStatus == 0)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
    }

    @Test func `keeps running when its frames end`() throws {
        try withScan { scan in
            let kiosk = try RunningCommand(scan, ["kiosk", "--frames", "-", "--port", "0"])
            let log = try kiosk.read(until: "standard input contains no frames")
            #expect(log.contains("The kiosk is at"))
            #expect(kiosk.process.isRunning)
            kiosk.process.terminate()
            kiosk.process.waitUntilExit()
            #expect(kiosk.process.terminationStatus == 0)
        }
    }

    @Test(arguments: [
        ["--no-camera", "--device", "x"], ["--no-camera", "--frames", "-"], ["--port", "70000"], ["--frames", "file"],
    ]) func `refuses contradictory options`(_ arguments: [String]) throws {
        let ending = try withScan { try $0.run(["kiosk"] + arguments) }
        #expect(ending.status == 64)
    }
}

/// A running command whose standard error can be read meanwhile.
struct RunningCommand {
    let process = Process()
    private let err = Pipe()

    init(_ scan: ScanProcess, _ arguments: [String]) throws {
        process.executableURL = ScanProcess.program
        process.arguments = arguments
        process.environment = scan.environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = err
        try process.run(atMost: .seconds(300))
    }

    /// Returns the rest of its standard error, until it ends.
    func rest() -> String { String(decoding: err.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }

    /// Returns its standard error up to the text, or up to the end if the text does not appear.
    @discardableResult
    func read(until text: String) throws -> String {
        var all = ""
        while !all.contains(text) {
            let piece = err.fileHandleForReading.availableData
            if piece.isEmpty { break }
            all += String(decoding: piece, as: UTF8.self)
        }
        #expect(all.contains(text))
        return all
    }
}
