import Bookplate
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// A connection that Hummingbird serves, with the guards added to it.
struct GuardedChannel: ServerChildChannel {
    private let base: HTTP1Channel
    private let limits: ConnectionLimits
    private let connections: Connections
    private let contexts: TLSContexts?

    /// - Parameter contexts: the TLS contexts of an encrypted connection; `nil` for plain HTTP.
    init(
        responder: @escaping HTTPChannelHandler.Responder, limits: ConnectionLimits, connections: Connections,
        contexts: TLSContexts?
    ) {
        // The parser's limits are twice the limits of the guard and are only a second line of defence. The guard reacts
        // first, because it responds with the right status.
        base = HTTP1Channel(
            responder: responder,
            configuration: .init(
                idleTimeout: limits.idle,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 2 * limits.headers, maxHeaderListSize: 2 * limits.headers,
                    maxHeaderFieldCount: 100)))
        self.limits = limits
        self.connections = connections
        self.contexts = contexts
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        connections.add(channel)
        return channel.eventLoop.makeCompletedFuture {
            guard let contexts else { return }
            do { try channel.pipeline.syncOperations.addHandler(TLSServerHandler(try contexts.current())) } catch {
                logger.error("https: \(error)")
                channel.close(promise: nil)
                throw error
            }
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }.flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let head = HeadGuard(limits: limits, logger: logger)
            // Its time limits begin now, so they hold for the handshake too.
            let position: ChannelPipeline.SynchronousOperations.Position =
                if contexts == nil { .first } else { .after(try pipeline.handler(type: TLSServerHandler.self)) }
            try pipeline.addHandler(head, position: position)
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(
                RequestGuard(head: head, headContext: try pipeline.context(handler: head), logger: logger),
                position: .after(parser))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

extension HTTPServerBuilder {
    /// Returns a builder of HTTP/1.1 servers with guarded connections.
    ///
    /// - Parameter contexts: the TLS contexts of a server for https; `nil` for plain http.
    static func guarded(
        _ limits: ConnectionLimits, _ connections: Connections, contexts: TLSContexts?
    ) -> HTTPServerBuilder {
        HTTPServerBuilder {
            GuardedChannel(responder: $0, limits: limits, connections: connections, contexts: contexts)
        }
    }
}

/// Limits the time and the length of a request's head, the time for its body, and the time for which a client may stop
/// reading. This handler sits between the socket, or TLS, and the HTTP parser.
///
/// If the head of a request arrives in time, the response may take any amount of time. Event streams and the live
/// picture are therefore never cut off. Like all channel handlers, this one runs only on its connection's event loop.
final class HeadGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// No byte of the next request has arrived.
        case waiting
        case head(HeadScan)
        case body
        /// The request was refused, and further bytes are discarded.
        case refused
    }

    private let limits: ConnectionLimits
    private let logger: Logger
    private var phase = Phase.waiting
    private var deadline: Scheduled<Void>?
    private var stalled: Scheduled<Void>?
    /// The number of the body's bytes that have arrived in the current ``ConnectionLimits/bodyWindow``.
    private var bodyBytes = 0
    /// The time that the service has spent waiting for the body.
    private var bodyTime = TimeAmount.zero
    /// True while the service waits for bytes from the socket. If it is false, a delay is caused by the service and not
    /// by the client.
    private var isReading = false

    init(limits: ConnectionLimits, logger: Logger) {
        self.limits = limits
        self.logger = logger
    }

    func handlerAdded(context: ChannelHandlerContext) { closeSoon(context, in: limits.head) }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        stalled?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        switch phase {
        case .refused: return
        case .body: bodyBytes += bytes.readableBytes
        case .waiting:
            if deadline == nil { closeSoon(context, in: limits.head) }
            scan(HeadScan(), bytes, context)
        case .head(let head): scan(head, bytes, context)
        }
        if case .refused = phase { return }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        if case .refused = phase { context.read() }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        isReading = true
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            stalled?.cancel()
            stalled = nil
        } else if stalled == nil {
            stalled = schedule(limits.stalledWrite, context) { _, context in context.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .refused = phase, event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Ends the time limits for a request. The ``RequestGuard`` calls this function when the parser has reached the
    /// request's end.
    func requestEnded() {
        deadline?.cancel()
        deadline = nil
        if case .refused = phase { return }
        phase = .waiting
    }

    /// Shuts down writing, discards further input, and closes the connection after the client has had time to read the
    /// response. Closing a socket with unread input would reset the connection, and the client might lose the response.
    func finish(context: ChannelHandlerContext) {
        phase = .refused
        deadline?.cancel()
        context.close(mode: .output, promise: nil)
        deadline = schedule(limits.linger, context) { _, context in context.close(promise: nil) }
        context.read()
    }

    private func scan(_ head: HeadScan, _ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        var head = head
        bytes.withUnsafeReadableBytes { head.scan($0) }
        if head.line > limits.requestLine {
            refuse(.uriTooLong, "uriTooLong", "The address is longer than \(limits.requestLine >> 10) kB.", context)
        } else if let first = head.target, first != UInt8(ascii: "/") {
            // The absolute form is refused too, because browsers send it only to proxies and it would contain a second
            // host.
            refuse(.badRequest, "badTarget", "The request target must be a path.", context)
        } else if head.headers > limits.headers {
            refuse(
                .requestHeaderFieldsTooLarge, "headersTooLarge",
                "The headers are longer than \(limits.headers >> 10) kB.", context)
        } else if head.isComplete {
            phase = .body
            bodyBytes = 0
            bodyTime = .zero
            deadline?.cancel()
            watchBody(context)
        } else {
            phase = .head(head)
        }
    }

    private func watchBody(_ context: ChannelHandlerContext) {
        deadline = schedule(limits.bodyWindow, context) { handler, context in
            guard case .body = handler.phase else { return }
            // A window counts only if the service was reading during it, or if bytes arrived.
            if handler.isReading || handler.bodyBytes > 0 {
                handler.bodyTime = handler.bodyTime + handler.limits.bodyWindow
            }
            let isTooSlow = handler.isReading && handler.bodyBytes < handler.limits.bodyBytes
            if isTooSlow || handler.bodyTime > handler.limits.body { return context.close(promise: nil) }
            handler.bodyBytes = 0
            handler.watchBody(context)
        }
    }

    private func refuse(
        _ status: RawResponse.Status, _ code: String, _ message: String, _ context: ChannelHandlerContext
    ) {
        let response = RawResponse(status: status, code: code, message: message)
        response.log(logger)
        context.writeAndFlush(wrapOutboundOut(response.bytes), promise: nil)
        finish(context: context)
    }

    private func closeSoon(_ context: ChannelHandlerContext, in time: TimeAmount) {
        deadline = schedule(time, context) { _, context in context.close(promise: nil) }
    }

    private func schedule(
        _ time: TimeAmount, _ context: ChannelHandlerContext,
        _ action: @escaping (HeadGuard, ChannelHandlerContext) -> Void
    ) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            if let self { action(self, context) }
        }
    }
}

/// Finds the end of a request's head, which may arrive in pieces, and measures it.
struct HeadScan {
    /// The length of the request line so far, in bytes.
    private(set) var line = 0
    /// The length of the header lines so far, in bytes.
    private(set) var headers = 0
    private(set) var isComplete = false
    /// The first byte of the request target, which follows the method.
    private(set) var target: UInt8?
    private var isBehindMethod = false
    private var isInFirstLine = true
    private var isLineEmpty = true

    /// Scans the next bytes of the request, but not beyond the end of its head.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            if isInFirstLine {
                line += 1
                if isBehindMethod, target == nil, byte != UInt8(ascii: " ") { target = byte }
                if !isLineEmpty, byte == UInt8(ascii: " ") { isBehindMethod = true }
            } else {
                headers += 1
            }
            switch byte {
            case UInt8(ascii: "\n"):
                // Empty lines before a request are ignored (RFC 9112, 2.2).
                if isLineEmpty, !isInFirstLine {
                    isComplete = true
                    return
                }
                if !isLineEmpty { isInFirstLine = false }
                isLineEmpty = true
            case UInt8(ascii: "\r"): break
            default: isLineEmpty = false
            }
        }
    }
}

/// Responds with 400 to invalid HTTP and to targets that are not paths, and closes the connection. It also closes a
/// connection whose request was answered before its whole body was read, for instance because the body is too large.
/// Otherwise the remaining body would be read, no matter how long it is. This handler sits behind the HTTP parser.
///
/// Like all channel handlers, this one runs only on its connection's event loop.
final class RequestGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let head: HeadGuard
    private let headContext: ChannelHandlerContext
    private let logger: Logger
    /// The number of requests whose response is not complete.
    private var unanswered = 0
    private var isReading = false
    private var isAnswering = false
    private var isOver = false

    init(head: HeadGuard, headContext: ChannelHandlerContext, logger: Logger) {
        self.head = head
        self.headContext = headContext
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            // The absolute form (RFC 9112, 3.2.2) contains its own host, which later checks would not see.
            guard head.uri.hasPrefix("/") else {
                let response = RawResponse(
                    status: .badRequest, code: "badTarget", message: "The request target must be a path.")
                return refuse(with: unanswered == 0 ? response : nil)
            }
            unanswered += 1
            isReading = true
        case .body: break
        case .end:
            isReading = false
            head.requestEnded()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isOver else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            isAnswering = true
            if isReading, unanswered == 1 { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            isAnswering = false
            unanswered -= 1
            context.write(data, promise: promise)
            guard isReading, unanswered == 0 else { return }
            context.flush()
            finish()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isNext = unanswered == 0 || (unanswered == 1 && isReading && !isAnswering)
        if error is HTTPParserError, !isOver, isNext {
            refuse(
                with: RawResponse(
                    status: error as? HTTPParserError == .headerOverflow ? .requestHeaderFieldsTooLarge : .badRequest,
                    code: "notHTTP", message: "The request is not valid HTTP (RFC 9112)."))
        }
        // The error is passed on, so that the code that reads the body knows that the body is incomplete.
        context.fireErrorCaught(error)
    }

    /// Refuses the request and closes the connection.
    ///
    /// - Parameter response: the response to send; `nil` while an earlier response is being sent, so that the client
    ///   does not confuse the two responses.
    private func refuse(with response: RawResponse?) {
        if let response {
            response.log(logger)
            headContext.writeAndFlush(head.wrapOutboundOut(response.bytes), promise: nil)
        }
        finish()
    }

    private func finish() {
        isOver = true
        head.finish(context: headContext)
    }
}

/// An error response that is sent before the router has received a request.
struct RawResponse {
    enum Status: String {
        case badRequest = "400 Bad Request"
        case uriTooLong = "414 URI Too Long"
        case requestHeaderFieldsTooLarge = "431 Request Header Fields Too Large"
    }

    let status: Status
    let code: String
    let message: String
    let id = ID<RawResponse>().rawValue

    var bytes: ByteBuffer {
        let error: JSONValue = ["code": .string(code), "message": .string(message), "id": .string(id)]
        let body = JSONValue.object([(key: "error", value: error)]).text
        return ByteBuffer(
            string: """
                HTTP/1.1 \(status.rawValue)\r
                Content-Type: application/json\r
                Content-Length: \(body.utf8.count)\r
                Cache-Control: no-store\r
                X-Content-Type-Options: nosniff\r
                Connection: close\r
                \r
                \(body)
                """)
    }

    func log(_ logger: Logger) {
        logger.notice("refused status=\(status.rawValue.prefix(3)) code=\(code) id=\(id)")
    }
}
