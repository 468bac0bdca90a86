import Bookplate
import Logging
import NIOCore
import NIOHTTP1

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
