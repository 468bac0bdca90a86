import COpenSSL
import Certificates
import Cryptography
import NIOCore
import NIOEmbedded
import TestTools
import Testing

@testable import Kiosk

/// The client's side of a TLS connection, by OpenSSL.
private final class TLSClient {
    private let context: OpaquePointer
    let session: OpaquePointer
    private let (received, sent): (OpaquePointer, OpaquePointer)
    /// The decrypted bytes from the server.
    private(set) var content: [UInt8] = []
    /// The result of the last attempt to read: `SSL_ERROR_ZERO_RETURN` after a close_notify, `SSL_ERROR_SSL` after an
    /// alert.
    private(set) var state = SSL_ERROR_NONE
    var isConnected: Bool { SSL_is_init_finished(session) == 1 }

    /// - Parameters:
    ///   - version: the newest version of TLS that the client speaks.
    ///   - protocols: the names of the protocols that it offers, each after its length (RFC 7301, 3.1).
    init(newest version: Int32 = TLS1_3_VERSION, protocols: [UInt8] = []) throws {
        context = try #require(SSL_CTX_new(TLS_client_method()))
        _ = SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        session = try #require(SSL_new(context))
        (received, sent) = (try #require(BIO_new(BIO_s_mem())), try #require(BIO_new(BIO_s_mem())))
        SSL_set_bio(session, received, sent)
        SSL_set_connect_state(session)
        if !protocols.isEmpty { SSL_set_alpn_protos(session, protocols, UInt32(protocols.count)) }
        SSL_do_handshake(session)
    }

    deinit {
        SSL_free(session)
        SSL_CTX_free(context)
    }

    func write(_ bytes: [UInt8]) {
        var written = 0
        #expect(SSL_write_ex(session, bytes, bytes.count, &written) == 1 && written == bytes.count)
    }

    /// Returns the bytes that the client has for the server.
    func output() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(sent)) { buffer, count in
            _ = BIO_read_ex(sent, buffer.baseAddress, buffer.count, &count)
        }
    }

    func receive(_ bytes: [UInt8]) {
        var count = 0
        if !bytes.isEmpty { BIO_write_ex(received, bytes, bytes.count, &count) }
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        var result: Int32 = 1
        while result == 1 {
            ERR_clear_error()
            result = SSL_read_ex(session, &buffer, buffer.count, &count)
            if result == 1 { content += buffer[..<count] }
        }
        state = SSL_get_error(session, result)
    }
}

/// Keeps what reaches the handlers of HTTP.
private final class Recorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private(set) var content: [UInt8] = []
    private(set) var events: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        content += unwrapInboundIn(data).readableBytesView
    }
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { events.append("\(event)") }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { events.append("\(error)") }
}

/// Counts the times that the socket is asked for bytes.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var count = 0

    func read(context: ChannelHandlerContext) { count += 1 }
}

/// A client, and the server's handlers without a socket between them.
private struct Line {
    let client: TLSClient
    let server = EmbeddedChannel()
    let recorder = Recorder()
    let reads = ReadCounter()
    /// The folder of the server's certificate, which is removed with the line.
    private let scratch: Scratch

    init(_ client: TLSClient, isConnected: Bool = true) throws {
        scratch = try Scratch()
        let certificate = try StationAuthority(folder: scratch.file("tls")).certificate(
            for: Subjects(names: ["localhost"], addresses: []))
        self.client = client
        let handler = try TLSServerHandler(TLSContext(chain: certificate.chain, key: certificate.key))
        try server.pipeline.syncOperations.addHandlers([reads, handler, recorder])
        try server.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        if isConnected {
            try exchange()
            #expect(client.isConnected)
        }
    }

    /// Carries bytes in both directions until neither side has more for the other.
    ///
    /// - Parameter size: the number of bytes that arrive at once.
    func exchange(inPiecesOf size: Int = .max) throws {
        while true {
            let request = client.output()
            for begin in stride(from: 0, to: request.count, by: min(size, max(request.count, 1))) {
                try deliver(request[begin..<min(request.count, begin + min(size, request.count))])
            }
            var response: [UInt8] = []
            while let bytes = try server.readOutbound(as: ByteBuffer.self) { response += bytes.readableBytesView }
            for begin in stride(from: 0, to: response.count, by: min(size, max(response.count, 1))) {
                client.receive(Array(response[begin..<min(response.count, begin + min(size, response.count))]))
            }
            if request.isEmpty, response.isEmpty { return }
        }
    }

    func deliver(_ bytes: some Sequence<UInt8>) throws { try server.writeInbound(ByteBuffer(bytes: bytes)) }

    func respond(_ bytes: [UInt8]) throws { try server.writeOutbound(ByteBuffer(bytes: bytes)) }
}

@Suite struct `The handler of TLS` {
    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION], [1, 7, 1460, 65_536])
    func `carries requests and responses of any size, however they are cut`(version: Int32, size: Int) throws {
        let line = try Line(TLSClient(newest: version))
        let lengths = size < 1000 ? [1, 17_000] : [16_384, 16_385, 200_000]
        for length in lengths {
            line.client.write(bytes(length))
            try line.exchange(inPiecesOf: size)
            try line.respond(bytes(length))
            try line.exchange(inPiecesOf: size)
        }
        let all = lengths.flatMap { bytes($0) }
        #expect(line.recorder.content == all && line.client.content == all)
        #expect(line.recorder.events.isEmpty && line.server.isActive)
    }

    @Test func `passes on requests that arrive together in their order`() throws {
        let line = try Line(TLSClient())
        for number in 1...3 { line.client.write(Array("request \(number)\n".utf8)) }
        try line.exchange()
        #expect(String(decoding: line.recorder.content, as: UTF8.self) == "request 1\nrequest 2\nrequest 3\n")
    }

    @Test func `asks for the rest of a record`() throws {
        let line = try Line(TLSClient())
        line.client.write(bytes(100))
        let record = line.client.output()
        let before = line.reads.count
        try line.deliver(record.dropLast())
        #expect(line.reads.count == before + 1 && line.recorder.content.isEmpty)
        try line.deliver(record.suffix(1))
        #expect(line.reads.count == before + 1 && line.recorder.content == bytes(100))
    }

    @Test func `answers a client that sends nothing more`() throws {
        let line = try Line(TLSClient())
        line.client.write([1])
        SSL_shutdown(line.client.session)
        try line.exchange()
        #expect(line.recorder.content == [1] && line.recorder.events == ["inputClosed"])
        // The end of the socket's input says nothing new.
        line.server.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(line.recorder.events == ["inputClosed"])
        try line.respond(bytes(100_000))
        try line.exchange()
        #expect(line.client.content == bytes(100_000))
        _ = try line.server.finish()
    }

    @Test func `ends with a close_notify`() throws {
        let line = try Line(TLSClient())
        try line.respond([1])
        try line.server.close().wait()
        try line.exchange()
        #expect(line.client.content == [1] && line.client.state == SSL_ERROR_ZERO_RETURN)
    }

    @Test func `says once that the socket ended without a close_notify`() throws {
        let line = try Line(TLSClient())
        line.server.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        line.server.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(line.recorder.events == ["inputClosed"] && line.server.isActive)
    }

    @Test func `ends a connection whose bytes were altered`() throws {
        let line = try Line(TLSClient())
        line.client.write([1])
        var record = line.client.output()
        record[record.count - 1] ^= 1
        try line.deliver(record)
        #expect(line.recorder.content.isEmpty && line.recorder.events.count == 1 && !line.server.isActive)
        try line.exchange()
        #expect(line.client.state == SSL_ERROR_SSL)
    }

    @Test func `writes nothing before there is a session`() throws {
        let line = try Line(TLSClient(), isConnected: false)
        #expect(throws: OpenSSLError.self) { try line.respond(Array("in the clear".utf8)) }
        #expect(!line.server.isActive)
        while let bytes = try line.server.readOutbound(as: ByteBuffer.self) {
            #expect(!String(buffer: bytes).contains("in the clear"))
        }
    }

    @Test func `answers no client that begins a new handshake`() throws {
        let line = try Line(TLSClient(newest: TLS1_2_VERSION))
        #expect(SSL_renegotiate(line.client.session) == 1)
        SSL_do_handshake(line.client.session)
        try line.exchange()
        #expect(SSL_is_init_finished(line.client.session) == 0 && line.recorder.content.isEmpty)
    }

    @Test func `uses new keys when the client asks for them, and answers while their message is not complete`() throws {
        let line = try Line(TLSClient())
        #expect(SSL_key_update(line.client.session, SSL_KEY_UPDATE_REQUESTED) == 1)
        SSL_do_handshake(line.client.session)
        let message = line.client.output()
        try line.deliver(message.prefix(message.count / 2))
        try line.respond(bytes(20_000))
        try line.exchange()
        #expect(line.client.content == bytes(20_000))
        try line.deliver(message.suffix(message.count - message.count / 2))
        line.client.write([1, 2])
        try line.exchange()
        try line.respond(bytes(10))
        try line.exchange()
        #expect(line.recorder.content == [1, 2] && line.client.content == bytes(20_000) + bytes(10))
    }

    @Test(arguments: [("h2", nil), ("http/1.1", "http/1.1"), ("h2,http/1.1", "http/1.1")] as [(String, String?)])
    func `offers HTTP/1.1`(offered: String, chosen: String?) throws {
        let names = offered.split(separator: ",").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        let line = try Line(TLSClient(protocols: names))
        var (name, count) = (UnsafePointer<UInt8>?.none, UInt32(0))
        SSL_get0_alpn_selected(line.client.session, &name, &count)
        let selected = UnsafeBufferPointer(start: name, count: Int(count))
        #expect(selected.isEmpty ? chosen == nil : String(decoding: selected, as: UTF8.self) == chosen)
    }
}
