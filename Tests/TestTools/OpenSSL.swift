import Foundation

/// Runs the command openssl.
public enum OpenSSL {
    public static let path = "/usr/bin/openssl"
    public static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// - Returns: the exit status.
    @discardableResult
    public static func run(_ arguments: String..., in folder: String) throws -> Int32 {
        try run(arguments, in: folder).status
    }

    /// - Parameter input: the bytes to send to the command, whose input then ends.
    /// - Returns: the exit status, and what the command printed to either output.
    public static func run(
        _ arguments: [String], in folder: String, input: String = ""
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        let (sent, printed) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (sent, printed, printed)
        try process.run(atMost: .seconds(60))
        sent.fileHandleForWriting.write(Data(input.utf8))
        try sent.fileHandleForWriting.close()
        let output = printed.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    public struct Failed: Error { var step: String }

    /// A certificate authority for the tests.
    public final class Authority: Sendable {
        private let scratch: Scratch
        public var file: String { scratch.file("ca.pem") }

        public init() throws {
            scratch = try Scratch()
            guard
                try run(
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                    "/CN=Bookplate tests", "-days", "30", "-keyout", "ca.key", "-out", "ca.pem", in: scratch.path) == 0
            else { throw Failed(step: "authority") }
        }

        /// Starts a server with a certificate for `subject`. It ends when the returned object is released.
        public func serve(subject: String, days: Int) throws -> Server {
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
    public final class Server: Sendable {
        public let port: Int
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
