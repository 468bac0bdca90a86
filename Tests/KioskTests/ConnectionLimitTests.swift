import Bookplate
import FoundationEssentials
import Glibc
import Hummingbird
import NIOCore
import NIOEmbedded
import TestTools
import Testing

@testable import Kiosk

/// The limits of a connection.
@Suite struct `A connection` {
    /// Accepts a photo and answers its size.
    private static let photos = Route(.post, "/api/photo", for: .household, body: .photo) { request, context in
        JSONResponse(["bytes": .integer(try await PhotoUploads().withPicture(of: request, context) { $0.count })])
    }

    private func head(_ kiosk: WebKiosk, _ path: String, _ length: String, _ type: String = "application/json")
        -> String
    {
        "POST \(path) HTTP/1.1\r\nHost: \(kiosk.host)\r\nOrigin: http://\(kiosk.host)\r\n"
            + "Content-Type: \(type)\r\n\(length)\r\n\r\n"
    }

    @Test func `that declares too long a body is refused before sending it`() async throws {
        try await withWebKiosk(more: [Self.photos]) { kiosk in
            let json = try await kiosk.send(head(kiosk, "/api/sign-in", "Content-Length: \(64 << 10 | 1)"))
            #expect(json.status == 413 && json["connection"] == "close")
            let photo = head(kiosk, "/api/photo", "Content-Length: \(32 << 20 | 1)", "image/jpeg")
            #expect(try await kiosk.send(photo).status == 413)
            let small = try await kiosk.ask("POST", "/api/photo", [("Content-Type", "image/jpeg")], body: "xxxx")
            #expect(small.status == 200 && small.body == #"{"bytes":4}"#)
            let wrong = try await kiosk.ask("POST", "/api/photo", [("Content-Type", "text/html")], body: "xxxx")
            #expect(wrong.status == 415)
        }
    }

    @Test(arguments: [("/api/sign-in", "application/json", 1 << 20), ("/api/photo", "image/jpeg", 40 << 20)])
    func `that sends too long a body without declaring it is refused meanwhile, and memory stays flat`(
        _ path: String, _ type: String, _ bytes: Int
    ) async throws {
        try await withWebKiosk(more: [Self.photos], { configuration, _ in configuration.limits.linger = .seconds(30) })
        { kiosk in
            let (head, port) = (head(kiosk, path, "Transfer-Encoding: chunked", type), kiosk.port)
            let answer = try await onThread {
                let socket = try BareSocket(to: port)
                defer { socket.close() }
                try socket.write(head)
                let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 0x10000) + Array("\r\n".utf8)
                for _ in 0..<(bytes / 0x10000) { try socket.write(chunk) }
                return try socket.answer()
            }
            #expect(answer.status == 413)
            #expect(answer.text("error.code") == "tooLarge")
        }
    }

    @Test func `with headers over 16 kB gets 431, with a URL over 8 kB 414`() async throws {
        try await withWebKiosk { kiosk in
            let long = String(repeating: "x", count: 9 << 10)
            let address = try await kiosk.ask("GET", "/\(long)")
            #expect(address.status == 414)
            #expect(try await kiosk.ask("GET", "/home?q=\(long)").status == 414)
            #expect(try await kiosk.ask("GET", "/" + String(repeating: "x", count: 200 << 10)).status == 414)
            #expect(try await kiosk.ask("GET", "/home?q=\(long.prefix(7 << 10))").status == 200)
            let many = (0..<90).map { ("X-\($0)", String(long.prefix(250))) }
            #expect(try await kiosk.ask("GET", "/home", many).status == 431)
            #expect(try await kiosk.ask("GET", "/home", [("X-A", long), ("X-B", long)]).status == 431)
            #expect(try await kiosk.ask("GET", "/home", [("X-A", long)]).status == 200)
        }
    }

    @Test(arguments: [
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "Content-Length: +2\r\n\r\n{}",
        "Content-Length: -1\r\n\r\n{}",
        "Content-Length: 0x2\r\n\r\n{}",
        "Content-Length: 2, 2\r\n\r\n{}",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "Content-Length : 2\r\n\r\n{}",
        "X-A: a\r\n folded\r\nContent-Length: 2\r\n\r\n{}",
        "X-A: \0\r\nContent-Length: 2\r\n\r\n{}",
        "\u{1}: x\r\n\r\n",
    ])
    func `with an ambiguous request is answered with 400 and closed`(_ rest: String) async throws {
        try await withWebKiosk { kiosk in
            let port = kiosk.port
            let text =
                "POST /api/sign-out HTTP/1.1\r\nHost: \(kiosk.host)\r\nOrigin: http://\(kiosk.host)\r\n"
                + "Content-Type: application/json\r\n" + rest + "GET /healthz HTTP/1.1\r\nHost: \(kiosk.host)\r\n\r\n"
            let (answer, rest) = try await onThread {
                let socket = try BareSocket(to: port)
                defer { socket.close() }
                try socket.write(text)
                let answer = try socket.answer()
                return (answer, String(decoding: try socket.read(), as: UTF8.self))
            }
            #expect(answer.status == 400)
            #expect(answer["connection"] == "close")
            // The rest of the connection is not read.
            #expect(!answer.body.contains("version") && !rest.contains("HTTP/1.1 200"))
        }
    }

    /// Opens two hundred connections that send part of a request.
    private func crowd(_ port: Int, _ start: String) async throws -> [BareSocket] {
        try await onThread {
            try (0..<200).map { _ in
                let socket = try BareSocket(to: port)
                try socket.write(start)
                return socket
            }
        }
    }

    // Serialized because each case needs two hundred sockets, and as many in the service.
    @Test(.serialized, arguments: ["", "G", "GET / HTTP/1.1\r\nHost: ", "GET / HTTP/1.1\r\nHost: localhost\r\nX: "])
    func `of two hundred that send an incomplete head is closed, and others are served meanwhile`(_ start: String)
        async throws
    {
        // With the service's own time limit, which suffices for a complete request even on a busy machine.
        try await withWebKiosk { kiosk in
            let slow = try await crowd(kiosk.port, start)
            #expect(try await kiosk.ask("GET", "/healthz").status == 200)
            for socket in slow { socket.close() }
        }
        try await withWebKiosk({ configuration, _ in configuration.limits.head = .milliseconds(200) }) { kiosk in
            let slow = try await crowd(kiosk.port, start)
            let ended = try await onThread {
                try slow.map { socket in
                    defer { socket.close() }
                    return try socket.ends()
                }
            }
            #expect(ended.count == 200)
        }
    }

    @Test func `whose body arrives too slowly is closed`() async throws {
        try await withWebKiosk({ configuration, _ in configuration.limits.bodyWindow = .milliseconds(200) }) { kiosk in
            let (head, port) = (head(kiosk, "/api/sign-in", "Content-Length: 100"), kiosk.port)
            let answer = try await onThread {
                let socket = try BareSocket(to: port)
                defer { socket.close() }
                try socket.write(head + "{")
                return try socket.answer()
            }
            #expect(answer.status == 0)
        }
    }

    @Test func `whose body takes too long in total is closed, even if it never pauses`() async throws {
        try await withWebKiosk(more: [Self.photos]) { configuration, _ in
            configuration.limits.bodyWindow = .milliseconds(100)
            configuration.limits.body = .milliseconds(300)
            configuration.limits.bodyBytes = 1
        } _: { kiosk in
            let head = head(kiosk, "/api/photo", "Content-Length: \(32 << 20)", "image/jpeg")
            let port = kiosk.port
            let isCut = try await onThread {
                let socket = try BareSocket(to: port)
                defer { socket.close() }
                try socket.write(head)
                // The receive timeout sets the pace: a byte, then a wait for a response that does not come.
                var short = timeval(tv_sec: 0, tv_usec: 20_000)
                setsockopt(
                    socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &short, socklen_t(MemoryLayout<timeval>.size))
                for _ in 0..<1000 {
                    do { try socket.write("x") } catch { return true }
                    var byte: UInt8 = 0
                    let count = Glibc.read(socket.descriptor, &byte, 1)
                    if count == 0 || (count < 0 && errno != EAGAIN) { return true }
                }
                return false
            }
            #expect(isCut)
        }
    }

    @Test func `whose request arrived in time is not cut during the response, and may idle between two`() async throws {
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let slow = Route(.get, "/api/slow", for: .everyone) { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    try await writer.write(ByteBuffer(string: "first"))
                    for await _ in gate { break }
                    try await writer.write(ByteBuffer(string: "second"))
                    try await writer.finish(nil)
                })
        }
        try await withWebKiosk(more: [slow]) { configuration, _ in
            configuration.limits.head = .milliseconds(200)
            configuration.limits.bodyWindow = .milliseconds(200)
        } _: { kiosk in
            let (port, host) = (kiosk.port, kiosk.host)
            let (first, second) = try await onThread {
                var socket: BareSocket
                var first = ""
                // On a busy machine the request itself may come too late; then it is sent again.
                repeat {
                    socket = try BareSocket(to: port)
                    try socket.write("GET /api/slow HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                    first = String(decoding: try socket.read(), as: UTF8.self)
                    if first.isEmpty { socket.close() }
                } while first.isEmpty
                defer { socket.close() }
                // Later connections with an incomplete head are cut meanwhile, one after the other.
                for _ in 0..<3 {
                    let late = try BareSocket(to: port)
                    defer { late.close() }
                    try late.write("G")
                    _ = try late.ends()
                }
                opener.yield()
                while !first.hasSuffix("0\r\n\r\n") {
                    let more = try socket.read()
                    guard !more.isEmpty else { break }
                    first += String(decoding: more, as: UTF8.self)
                }
                try socket.write("GET /healthz HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                return (first, try socket.answer())
            }
            #expect(first.contains("first") && first.contains("second"))
            #expect(second.status == 200)
        }
    }

    @Test func `of the household stays open when strangers use up all others`() async throws {
        try await withWebKiosk({ configuration, _ in configuration.limits.connections = 20 }) { kiosk in
            let (port, host) = (kiosk.port, kiosk.host)
            let (known, lost) = try await onThread {
                let known = try BareSocket(to: port)
                defer { known.close() }
                try known.write("GET /healthz HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                _ = try known.answer()
                let crowd = try (0..<60).map { _ in try BareSocket(to: port) }
                defer { for socket in crowd { socket.close() } }
                // The first ones of the crowd were closed for the last ones.
                let lost = try crowd.prefix(30).allSatisfy { try $0.ends() }
                try known.write("GET /healthz HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                return (try known.answer(), lost)
            }
            #expect(known.status == 200)
            #expect(lost)
        }
    }

    @Test func `that was the household's and is a guest's now is closed like a stranger's`() async throws {
        try await withWebKiosk({ configuration, _ in configuration.limits.connections = 20 }) { kiosk in
            try await kiosk.library.set("guestView", to: "1", at: kiosk.clock.now)
            let (port, hosts) = (kiosk.port, [kiosk.host, WebKiosk.stranger])
            let isClosed = try await onThread {
                let guest = try BareSocket(to: port)
                defer { guest.close() }
                for host in hosts {
                    try guest.write("GET /home HTTP/1.1\r\nHost: \(host)\r\nAccept: text/html\r\n\r\n")
                    #expect(try guest.answer().status == 200)
                }
                let crowd = try (0..<60).map { _ in try BareSocket(to: port) }
                defer { for socket in crowd { socket.close() } }
                return try guest.ends()
            }
            #expect(isClosed)
        }
    }

    @Test func `over which a device has signed out stays open for its requests without a sign-in`() async throws {
        try await withWebKiosk { kiosk in
            try await kiosk.library.setAccessCode(WebKiosk.code, at: kiosk.clock.now)
            let answer = try await kiosk.signIn()
            let (port, cookie, library) = (kiosk.port, try #require(answer.cookie), kiosk.library)
            let id = ID<SignIn>(rawValue: try #require(answer.text("signIn.id")))
            let head = "HTTP/1.1\r\nHost: \(WebKiosk.stranger)\r\n"
            let signedIn = "GET /api/sign-ins \(head)Cookie: \(cookie)\r\n\r\n"
            let signedOut = "GET /sign-in \(head)\r\n"
            let sockets = try await onThread {
                try (0..<2).map { _ in
                    let socket = try BareSocket(to: port)
                    try socket.write(signedIn)
                    #expect(try socket.answer().status == 200)
                    return socket
                }
            }
            try await onThread {
                try sockets[0].write(signedOut)
                #expect(try sockets[0].answer().status == 200)
            }
            #expect(try await library.endSignIn(id))
            try await onThread {
                defer { for socket in sockets { socket.close() } }
                #expect(try sockets[1].ends())
                try sockets[0].write(signedOut)
                #expect(try sockets[0].answer().status == 200)
            }
        }
    }

    @Test func `of a device is closed for its own newer ones, and other devices are served meanwhile`() async throws {
        try await withWebKiosk { configuration, _ in
            (configuration.limits.connections, configuration.limits.connectionsOfDevice) = (20, 8)
        } _: { kiosk in
            let (port, host) = (kiosk.port, kiosk.host)
            let request = "GET /healthz HTTP/1.1\r\nHost: \(host)\r\n\r\n"
            // Each of the connections is the household's, from one address.
            let (crowd, isClosed) = try await onThread {
                let crowd = try (0..<30).map { _ in
                    let socket = try BareSocket(to: port)
                    try socket.write(request)
                    #expect(try socket.answer().status == 200)
                    return socket
                }
                return (crowd, try crowd.prefix(22).allSatisfy { try $0.ends() })
            }
            #expect(isClosed)
            #expect(try await kiosk.send(request, from: "127.0.0.2").status == 200)
            let isServed = try await onThread {
                defer { for socket in crowd { socket.close() } }
                return try crowd.suffix(8).allSatisfy { socket in
                    try socket.write(request)
                    return try socket.answer().status == 200
                }
            }
            #expect(isServed)
        }
    }

    @Test func `counts no more once it is being closed, so every surplus connection of a device is closed`() throws {
        var limits = ConnectionLimits()
        limits.connectionsOfDevice = 8
        let connections = Connections(limits)
        let channels = (0..<12).map { _ in EmbeddedChannel(handler: HeldClose()) }
        for channel in channels {
            connections.add(channel)
            connections.markKnown(ObjectIdentifier(channel), .address("127.0.0.1"))
        }
        let isClosing = try channels.map { try $0.pipeline.syncOperations.handler(type: HeldClose.self).isClosing }
        #expect(isClosing == (0..<12).map { $0 < 4 })
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\nbody", 16, 9, true), ("\r\n\r\nGET / HTTP/1.1\n\n", 19, 1, true),
        ("GET / HTTP/1.1\r\nHost", 16, 4, false), ("GET /", 5, 0, false), ("", 0, 0, false),
    ])
    func `is measured to the end of its head`(_ text: String, _ line: Int, _ headers: Int, _ isComplete: Bool) {
        for size in 1...max(1, text.utf8.count) {
            var scan = HeadScan()
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: size) where !scan.isComplete {
                bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { scan.scan($0) }
            }
            #expect(scan.isComplete == isComplete)
            #expect(scan.headers <= headers + 2 && scan.headers >= headers && scan.line == line)
        }
    }
}

/// Keeps a channel from closing, as a client does that does not answer.
private final class HeldClose: ChannelOutboundHandler {
    typealias OutboundIn = Never

    private(set) var isClosing = false

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) { isClosing = true }
}
