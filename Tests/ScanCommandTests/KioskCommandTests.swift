import Foundation
import GRDB
import TestTools
import Testing

@testable import ScanCommand

@Suite struct `scan kiosk` {
    @Test(arguments: [["--port"], ["--port", "0", "--tls", "--tls-port"]])
    func `names the program that has the port, and the option for another, and ends with 69`(_ options: [String])
        throws
    {
        try withScan { scan in
            let first = try RunningCommand(scan, ["kiosk", "--no-camera", "--port", "0"])
            let log = try first.read(until: "/\n")
            let port = try #require(log.split(separator: ":").last?.prefix { $0.isNumber })
            let ending = try scan.run(["kiosk", "--no-camera"] + options + [String(port)])
            #expect(ending.status == 69)
            let error = ending.err.split(separator: "\n").last ?? ""
            #expect(error.contains("cannot listen on 127.0.0.1, port \(port): another program uses the port"))
            #expect(error.contains("(process \(first.process.processIdentifier))"))
            #expect(error.contains("choose another port with \(options[options.count - 1])."))
            first.process.terminate()
            first.process.waitUntilExit()
        }
    }

    @Test(arguments: [(["--tls", "--tls-port", "0"], "0"), ([], "1")])
    func `says which package https needs, if it is missing`(options: [String], setting: String) throws {
        try withScan { scan in
            var without = scan
            without.environment["BOOKPLATE_TLS"] = setting
            without.environment["LD_LIBRARY_PATH"] = scan.home.path
            try Data().write(to: scan.home.appendingPathComponent("libssl.so.3"))
            let ending = try without.run(["kiosk", "--no-camera", "--port", "0"] + options)
            #expect(ending.status == 78)
            let error = ending.err.split(separator: "\n").last ?? ""
            #expect(error.hasPrefix("scan: https needs OpenSSL 3, which is missing ("))
            #expect(error.hasSuffix("install the package libssl3."), "\(error)")
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
        let log = try kiosk.read(until: "/\n")
        let port = try #require(log.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) })
        var configuration = Configuration()
        // The test holds a transaction open.
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: scan.library, configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        let requests = try ["9780441478125", "9780441172719", "9780141439587", "9783161484100"].map {
            try SentCapture($0, port: port)
        }
        // A request has arrived when the kiosk has read all its bytes.
        try waitBlocking(for: "the requests to arrive") {
            try requests.allSatisfy { try $0.isRead(by: port) }
        }
        kill(kiosk.process.processIdentifier, SIGTERM)
        kiosk.process.waitUntilExit()
        #expect(kiosk.process.terminationReason == .exit && kiosk.process.terminationStatus == 0)
        for request in requests { #expect(try !request.answer().contains("HTTP/1.1 200")) }
        try await other.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
    }

    @Test func `keeps running when its frames end`() throws {
        try withScan { scan in
            let kiosk = try RunningCommand(scan, ["kiosk", "--frames", "-", "--port", "0"])
            // The frames may end before the server listens.
            let log = try kiosk.read(until: "standard input contains no frames")
            if !log.contains("The kiosk is at") { _ = try kiosk.read(until: "The kiosk is at") }
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

/// A request to capture a number, sent on a connection of its own.
private struct SentCapture {
    private let connection: FileHandle
    private let ownPort: UInt16

    init(_ isbn: String, port: UInt16) throws {
        connection = FileHandle(
            fileDescriptor: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), closeOnDealloc: true)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = connection.fileDescriptor
        let isConnected = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                // Afterwards the address is that of this end.
                connect(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
            }
        }
        try #require(isConnected)
        ownPort = UInt16(bigEndian: address.sin_port)
        let body = #"{"text":"\#(isbn)","origin":"scanner"}"#
        let head = [
            "POST /api/station/captures HTTP/1.1", "Host: 127.0.0.1:\(port)", "Origin: http://127.0.0.1:\(port)",
            "Content-Type: application/json", "Content-Length: \(body.utf8.count)", "Connection: close",
        ]
        try connection.write(contentsOf: Data((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
    }

    /// Returns true if no bytes wait at the other end any more. Source: proc_pid_net(5).
    func isRead(by port: UInt16) throws -> Bool {
        func end(_ port: UInt16) -> String { "0100007F:" + String(format: "%04X", port) }
        let table = try #require(PortHolder.text(of: "/proc/net/tcp"))
        return table.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            return fields[1] == end(port) && fields[2] == end(ownPort) && fields[4].hasSuffix(":00000000")
        }
    }

    /// Returns all that was answered before the other end closed the connection.
    func answer() throws -> String { String(decoding: try connection.readToEnd() ?? Data(), as: UTF8.self) }
}

/// A command whose standard error can be read while it runs.
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
        try process.run(atMost: .seconds(900))
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
