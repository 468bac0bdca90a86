import Bookplate
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// A connection as Hummingbird serves it, with its guards.
struct GuardedChannel: ServerChildChannel {
    private let base: HTTP1Channel
    private let limits: ConnectionLimits
    private let connections: Connections

    init(responder: @escaping HTTPChannelHandler.Responder, limits: ConnectionLimits, connections: Connections) {
        // Twice what the guard allows: the guard answers with the right number, the parser's own limit is the second lock.
        base = HTTP1Channel(
            responder: responder,
            configuration: .init(
                idleTimeout: limits.idle,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 2 * limits.headers, maxHeaderListSize: 2 * limits.headers,
                    maxHeaderFieldCount: 100)))
        self.limits = limits
        self.connections = connections
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        connections.open(channel)
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let head = HeadGuard(limits: limits, logger: logger)
            try pipeline.addHandler(head, position: .first)
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
    /// HTTP/1.1 whose connections are guarded.
    static func guarded(_ limits: ConnectionLimits, _ connections: Connections) -> HTTPServerBuilder {
        HTTPServerBuilder { GuardedChannel(responder: $0, limits: limits, connections: connections) }
    }
}

/// Stands between the socket and the HTTP parser: how long a request's head may take and how long it may be, how slowly a body may
/// come, and how long an answer may wait to be taken.
///
/// A request that brought its head in time can be answered for as long as the service likes: event streams and the live picture are
/// never cut. Belongs to its connection's event loop, as all channel handlers.
final class HeadGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// No byte of the next request is there.
        case waiting
        case head(HeadScan)
        case body
        /// Refused: what comes is thrown away.
        case refused
    }

    private let limits: ConnectionLimits
    private let logger: Logger
    private var phase = Phase.waiting
    private var deadline: Scheduled<Void>?
    private var stalled: Scheduled<Void>?
    /// Bytes of the body since it was looked at last.
    private var bodyBytes = 0
    /// How long the body was waited for.
    private var bodyTime = TimeAmount.zero
    /// Whether the socket was asked for bytes and brought none yet: else it is the service that is slow.
    private var isAsked = false

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
        isAsked = false
        if case .refused = phase { context.read() }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        isAsked = true
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            stalled?.cancel()
            stalled = nil
        } else if stalled == nil {
            stalled = later(limits.stalledWrite, context) { _, context in context.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .refused = phase, event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    /// The parser has seen a request's end.
    func requestEnded() {
        deadline?.cancel()
        deadline = nil
        if case .refused = phase { return }
        phase = .waiting
    }

    /// Ends what is written, throws away what still comes, and closes when the client has had the time to read the answer: a socket
    /// closed with unread bytes takes the answer back.
    func finish(context: ChannelHandlerContext) {
        phase = .refused
        deadline?.cancel()
        context.close(mode: .output, promise: nil)
        deadline = later(limits.linger, context) { _, context in context.close(promise: nil) }
        context.read()
    }

    private func scan(_ head: HeadScan, _ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        var head = head
        bytes.withUnsafeReadableBytes { head.take($0) }
        if head.line > limits.requestLine {
            refuse(.uriTooLong, "uriTooLong", "The address is longer than \(limits.requestLine >> 10) kB.", context)
        } else if let first = head.target, first != UInt8(ascii: "/") {
            // Also the absolute form: no browser sends it to a service, and its host would be a second one.
            refuse(.badRequest, "badTarget", "What is asked for is a path.", context)
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
        deadline = later(limits.bodyWindow, context) { handler, context in
            guard case .body = handler.phase else { return }
            // The other windows are the service's own: it had enough to do.
            if handler.isAsked || handler.bodyBytes > 0 {
                handler.bodyTime = handler.bodyTime + handler.limits.bodyWindow
            }
            let isTooSlow = handler.isAsked && handler.bodyBytes < handler.limits.bodyBytes
            if isTooSlow || handler.bodyTime > handler.limits.body { return context.close(promise: nil) }
            handler.bodyBytes = 0
            handler.watchBody(context)
        }
    }

    private func refuse(_ status: RawAnswer.Status, _ code: String, _ message: String, _ context: ChannelHandlerContext)
    {
        let answer = RawAnswer(status: status, code: code, message: message)
        answer.log(logger)
        context.writeAndFlush(wrapOutboundOut(answer.bytes), promise: nil)
        finish(context: context)
    }

    private func closeSoon(_ context: ChannelHandlerContext, in time: TimeAmount) {
        deadline = later(time, context) { _, context in context.close(promise: nil) }
    }

    private func later(
        _ time: TimeAmount, _ context: ChannelHandlerContext,
        _ act: @escaping (HeadGuard, ChannelHandlerContext) -> Void
    ) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            if let self { act(self, context) }
        }
    }
}

/// Finds the end of a request's head in bytes that come in pieces, and measures it.
struct HeadScan {
    /// Bytes of the request line so far.
    private(set) var line = 0
    /// Bytes of the header lines so far.
    private(set) var headers = 0
    private(set) var isComplete = false
    /// The first byte of what is asked for, behind the method.
    private(set) var target: UInt8?
    private var isBehindMethod = false
    private var isInFirstLine = true
    private var isLineEmpty = true

    /// What follows the head is not looked at.
    mutating func take(_ bytes: UnsafeRawBufferPointer) {
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
                // Empty lines before a request are passed over (RFC 9112, 2.2).
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

/// Stands behind the HTTP parser: what is no HTTP, or asks for no path, is answered with 400 and the connection closed, and so is a connection whose request
/// was answered before its body was read, such as one that is too large. Otherwise the rest would be read to its end, however long.
///
/// Belongs to its connection's event loop, as all channel handlers.
final class RequestGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let head: HeadGuard
    private let headContext: ChannelHandlerContext
    private let logger: Logger
    /// Requests whose answer is not complete.
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
            // A whole address (RFC 9112, 3.2.2) names a host of its own, which those behind would not see.
            guard head.uri.hasPrefix("/") else {
                let answer = RawAnswer(status: .badRequest, code: "badTarget", message: "What is asked for is a path.")
                return refuse(with: unanswered == 0 ? answer : nil)
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
                with: RawAnswer(
                    status: error as? HTTPParserError == .headerOverflow ? .requestHeaderFieldsTooLarge : .badRequest,
                    code: "notHTTP", message: "The request is not HTTP as RFC 9112 has it."))
        }
        // Whoever reads the body learns that it is not whole.
        context.fireErrorCaught(error)
    }

    /// - Parameter answer: `nil` while one before it is under way, which the client would take it for.
    private func refuse(with answer: RawAnswer?) {
        if let answer {
            answer.log(logger)
            headContext.writeAndFlush(head.wrapOutboundOut(answer.bytes), promise: nil)
        }
        finish()
    }

    private func finish() {
        isOver = true
        head.finish(context: headContext)
    }
}

/// An error's answer from below the router: there is no request to speak of.
struct RawAnswer {
    enum Status: String {
        case badRequest = "400 Bad Request"
        case uriTooLong = "414 URI Too Long"
        case requestHeaderFieldsTooLarge = "431 Request Header Fields Too Large"
    }

    let status: Status
    let code: String
    let message: String
    let id = ID<RawAnswer>().rawValue

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
