import Foundation
import TestTools
import Testing

@testable import HTTP

/// Tests of certificates: every fault is detected and reported as what it is. They need the command openssl.
@Suite(.enabled(if: OpenSSL.isInstalled, "the command openssl is not installed"))
struct TLSTests {
    static let authority = Result { try OpenSSL.Authority() }

    @Test(
        arguments: [
            ("sound", "IP:127.0.0.1", 30, true, nil),
            ("expired", "IP:127.0.0.1", -1, true, TransportError.tls(.expired)),
            ("another host", "DNS:books.example", 30, true, .tls(.wrongHost)),
            ("nobody we trust", "IP:127.0.0.1", 30, false, .tls(.unknownIssuer)),
        ] as [(String, String, Int, Bool, TransportError?)])
    func `a certificate is checked, and its fault is reported`(
        _ name: String, _ subject: String, _ days: Int, _ trusts: Bool, _ expected: TransportError?
    ) async throws {
        let authority = try Self.authority.get()
        let server = try authority.serve(subject: subject, days: days)
        let client = HTTPClient(userAgent: "Bookplate/1.0", certificateFile: trusts ? authority.file : nil)
        let address = try #require(WebAddress("https://127.0.0.1:\(server.port)/"))
        do throws(TransportError) {
            let answer = try await client.send(HTTPRequest(address: address))
            #expect(expected == nil)
            #expect(answer.status == 200)
        } catch {
            #expect(error == expected)
        }
    }

    @Test func `a file of authorities that cannot be read is reported by name`() async throws {
        let server = try Self.authority.get().serve(subject: "IP:127.0.0.1", days: 30)
        let client = HTTPClient(userAgent: "Bookplate/1.0", certificateFile: "/nonexistent.pem")
        let address = try #require(WebAddress("https://127.0.0.1:\(server.port)/"))
        await #expect {
            try await client.send(HTTPRequest(address: address))
        } throws: { error in
            "\(error)".contains("/nonexistent.pem")
        }
    }
}

/// Runs the command openssl.
enum OpenSSL {
    static let path = "/usr/bin/openssl"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    @discardableResult
    static func run(_ arguments: String..., in folder: String) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run(atMost: .seconds(60))
        process.waitUntilExit()
        return process.terminationStatus
    }

    struct Failed: Error { var step: String }

    /// A certificate authority for the tests.
    final class Authority: Sendable {
        private let scratch: Scratch
        var file: String { scratch.file("ca.pem") }

        init() throws {
            scratch = try Scratch()
            guard
                try run(
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                    "/CN=Bookplate tests", "-days", "30", "-keyout", "ca.key", "-out", "ca.pem", in: scratch.path) == 0
            else { throw Failed(step: "authority") }
        }

        /// Starts a server with a certificate for `subject`. It ends when the returned object is released.
        func serve(subject: String, days: Int) throws -> Server {
            let name = UUID().uuidString
            // A serial number of its own: `-CAcreateserial` counts in a file that servers started at once would share.
            let serial = "0x" + name.replacing("-", with: "").prefix(16)
            try scratch.write(Array("subjectAltName=\(subject)\n".utf8), to: "\(name).ext")
            guard
                try run(
                    "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=test",
                    "-keyout", "\(name).key", "-out", "\(name).csr", in: scratch.path) == 0,
                try run(
                    "x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", serial,
                    "-days", "\(days)", "-extfile", "\(name).ext", "-out", "\(name).pem", in: scratch.path) == 0
            else { throw Failed(step: "certificate") }
            return try Server(key: scratch.file("\(name).key"), certificate: scratch.file("\(name).pem"))
        }
    }

    /// `openssl s_server` on a free port.
    final class Server: Sendable {
        let port: Int
        private let process: Process

        init(key: String, certificate: String) throws {
            process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = ["s_server", "-accept", "127.0.0.1:0", "-www", "-key", key, "-cert", certificate]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            process.standardInput = FileHandle.nullDevice
            try process.run(atMost: .seconds(300))
            var text = ""
            while !text.hasSuffix("\n") || !text.contains("ACCEPT ") {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { throw Failed(step: "server: \(text)") }
                text += String(decoding: data, as: UTF8.self)
            }
            guard let last = text.split(separator: ":").last,
                let port = Int(last.trimmingCharacters(in: .whitespacesAndNewlines))
            else { throw Failed(step: "port: \(text)") }
            self.port = port
        }

        deinit { process.terminate() }
    }
}
