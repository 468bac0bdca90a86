import Bookplate
import FoundationEssentials
import Glibc
import Library
import Synchronization
import TestTools
import Testing

@testable import Kiosk

/// A kiosk that is used over bare sockets, with a clock that is set by hand.
///
/// It listens on loopback. Requests to `localhost` are the household's; requests to ``stranger``, a configured name,
/// are a stranger's.
struct WebKiosk: Sendable {
    let kiosk: RunningKiosk
    let clock: HandClock

    /// The Host of requests from other machines.
    static let stranger = "shelf.example"
    static let code = "kumquat 7"

    /// - Parameter before: a stopped kiosk, whose library and clock are used again.
    init(
        after before: WebKiosk? = nil, more: [Route] = [],
        _ configure: (inout KioskServer.Configuration, inout KioskPorts) -> Void = { _, _ in }
    ) async throws {
        let clock = before?.clock ?? HandClock()
        self.clock = clock
        func set(_ configuration: inout KioskServer.Configuration, _ ports: inout KioskPorts) {
            configuration.names = [Self.stranger]
            ports.now = { clock.now }
            configure(&configuration, &ports)
        }
        kiosk =
            if let before {
                try await RunningKiosk(folder: before.kiosk.folder, more: more, set)
            } else {
                try await RunningKiosk(more: more, set)
            }
    }

    var library: LibraryFile { kiosk.library }
    var port: Int { kiosk.port }
    var log: KeptLog { kiosk.log }
    var host: String { "localhost:\(port)" }

    /// Sends bytes over a new connection, and reads the response until it is complete or the connection ends.
    ///
    /// - Parameters:
    ///   - address: the service's address.
    ///   - from: the client's address, any of 127.0.0.0/8.
    func send(
        _ bytes: String, to address: String = "127.0.0.1", from: String = "127.0.0.1"
    ) async throws -> WebAnswer {
        let port = port
        return try await onThread {
            let socket = try BareSocket(to: port, at: address, from: from)
            defer { socket.close() }
            try socket.write(bytes)
            return try socket.answer()
        }
    }

    /// Sends a request with the headers of the service's own pages.
    func ask(
        _ method: String, _ path: String, host: String? = nil, from: String = "127.0.0.1",
        _ headers: [(String, String)] = [], body: String? = nil, asPage: Bool = true
    ) async throws -> WebAnswer {
        let host = host ?? self.host
        var all = [("Host", host)]
        if asPage, method != "GET" { all += [("Origin", "http://\(host)"), ("Sec-Fetch-Site", "same-origin")] }
        if let body { all += [("Content-Type", "application/json"), ("Content-Length", "\(body.utf8.count)")] }
        for header in headers {
            all.removeAll { $0.0 == header.0 }
            all.append(header)
        }
        let head = all.map { "\($0.0): \($0.1)\r\n" }.joined()
        return try await send("\(method) \(path) HTTP/1.1\r\n\(head)\r\n\(body ?? "")", from: from)
    }

    /// Sends a request like a stranger on the network.
    func askAsStranger(
        _ method: String, _ path: String, from: String = "127.0.0.1", _ headers: [(String, String)] = [],
        body: String? = nil
    ) async throws -> WebAnswer {
        try await ask(method, path, host: Self.stranger, from: from, headers, body: body)
    }

    func signIn(_ code: String = WebKiosk.code, from: String = "127.0.0.1") async throws -> WebAnswer {
        try await askAsStranger("POST", "/api/sign-in", from: from, body: #"{"code":"\#(code)"}"#)
    }
}

/// Runs the body with a kiosk that is removed afterwards.
func withWebKiosk(
    more: [Route] = [],
    _ configure: (inout KioskServer.Configuration, inout KioskPorts) -> Void = { _, _ in },
    _ body: (WebKiosk) async throws -> Void
) async throws {
    let kiosk = try await WebKiosk(more: more, configure)
    try await kiosk.kiosk.use { _ in try await body(kiosk) }
}

final class HandClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_795_262_400))

    var now: Date { time.withLock { $0 } }

    func advance(by seconds: TimeInterval) { time.withLock { $0 += seconds } }
}

struct WebAnswer: Sendable {
    /// 0 if the connection ended without a response.
    var status = 0
    /// The names are in lower case.
    var headers: [(name: String, value: String)] = []
    var body = ""

    subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Returns a string of the JSON by its path: `error.code`.
    func text(_ path: String) -> String? {
        var value = try? JSONDecoder().decode(AnyJSON.self, from: Data(body.utf8))
        for part in path.split(separator: ".") { value = value?.members[String(part)] }
        return value?.string
    }

    /// The cookie that it sets, as a request sends it.
    var cookie: String? { self["set-cookie"].map { String($0.prefix { $0 != ";" }) } }
}

/// JSON of which only strings within objects are kept.
private struct AnyJSON: Decodable {
    var members: [String: AnyJSON] = [:]
    var string: String?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            string = text
        } else {
            members = (try? container.decode([String: AnyJSON].self)) ?? [:]
        }
    }
}

/// A connection over which anything can be sent. Blocks, so use it with ``onThread(_:)``.
struct BareSocket {
    struct Failed: Error { var call: String, code: Int32 }

    let descriptor: Int32

    init(to port: Int, at address: String = "127.0.0.1", from: String = "127.0.0.1") throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A test that waits longer fails.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try Self.with(from, 0) { try check("bind", bind(descriptor, $0, $1)) }
        try Self.with(address, port) { try check("connect", connect(descriptor, $0, $1)) }
    }

    func close() { Glibc.close(descriptor) }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failed(call: "send", code: errno) }
            sent += count
        }
    }

    /// - Returns: nothing at the end of the connection, even after an error.
    func read() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN { throw Failed(call: "read", code: errno) }
        return Array(buffer.prefix(max(0, count)))
    }

    /// Reads until the other end closes the connection, and returns true then.
    func ends() throws -> Bool {
        while true { if try read().isEmpty { return true } }
    }

    func answer() throws -> WebAnswer {
        var bytes: [UInt8] = []
        while true {
            let more = try read()
            bytes += more
            if let answer = Self.parsed(bytes, isWhole: more.isEmpty) { return answer }
            if more.isEmpty { return WebAnswer() }
        }
    }

    private static func parsed(_ bytes: [UInt8], isWhole: Bool) -> WebAnswer? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        var answer = WebAnswer(status: Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0)
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            answer.headers.append((parts[0].lowercased(), String(parts[1].drop { $0 == " " })))
        }
        answer.body = String(text[end.upperBound...])
        let length = answer["content-length"].flatMap { Int($0) } ?? 0
        return isWhole || answer.body.utf8.count >= length ? answer : nil
    }

    private static func with(
        _ address: String, _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void
    ) throws {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, address, &name.sin_addr)
        try withUnsafePointer(to: &name) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

private func check(_ call: String, _ result: Int32) throws {
    guard result == 0 else { throw BareSocket.Failed(call: call, code: errno) }
}
