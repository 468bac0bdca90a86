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
