import Cryptography
import NIOCore

/// Encrypts a connection: TLS between the socket and the handlers of HTTP.
///
/// A client that ends only its own side is still answered, as without TLS. Like all channel handlers, this one runs
/// only on its connection's event loop.
final class TLSServerHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The most bytes that a TLS record holds (RFC 8446, 5.1).
    private static let recordSize = 1 << 14

    private var session: TLSSession
    /// The writes from before the handshake was complete.
    private var waiting: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    /// True once the client has said that it sends nothing more, or did not keep to TLS.
    private var isInputOver = false
    private var isOutputOver = false
    /// True if decrypted bytes were passed on since the socket was last read.
    private var hasPassedOn = false

    /// - Throws: ``OpenSSLError``
    init(_ context: TLSContext) throws { session = try TLSSession(context) }

    func handlerRemoved(context: ChannelHandlerContext) { endOutput(ChannelError.ioOnClosedChannel) }

    func channelInactive(context: ChannelHandlerContext) {
        isInputOver = true
        endOutput(ChannelError.ioOnClosedChannel)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isInputOver else { return }
        do {
            try unwrapInboundIn(data).withUnsafeReadableBytes { try session.receive($0) }
            try passOn(context)
            if session.isEstablished { try writeWaiting(context) }
            flush(context)
        } catch {
            isInputOver = true
            // The alert that gives the client the reason.
            flush(context)
            endOutput(error)
            context.fireErrorCaught(error)
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A part of a record gave nothing to those who have asked for bytes, so the rest of it is asked for.
        if !hasPassedOn, !isInputOver { context.read() }
        hasPassedOn = false
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed {
            // The connection ends after the client's goodbye, with which the input has ended already. Requests have
            // ends of their own (RFC 9112, 6.3), so none is taken for complete if the goodbye is missing.
            guard !isInputOver else { return }
            isInputOver = true
        }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isOutputOver else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        let bytes = unwrapOutboundIn(data)
        guard session.isEstablished else { return waiting.append((bytes, promise)) }
        do { try encrypt(bytes, promise, context) } catch { promise?.fail(error) }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .input, !isOutputOver {
            session.end()
            flush(context)
            endOutput(ChannelError.outputClosed)
        }
        context.close(mode: mode, promise: promise)
    }

    /// Decrypts what has arrived, and passes it on.
    private func passOn(_ context: ChannelHandlerContext) throws {
        while !isInputOver {
            var bytes = context.channel.allocator.buffer(capacity: Self.recordSize)
            var result = TLSSession.ReadResult.needsMore
            try bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.recordSize) { buffer in
                result = try session.read(into: buffer)
                if case .bytes(let count) = result { return count }
                return 0
            }
            switch result {
            case .bytes:
                hasPassedOn = true
                context.fireChannelRead(wrapInboundOut(bytes))
            case .needsMore: return
            case .ended:
                isInputOver = true
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            }
        }
    }

    private func writeWaiting(_ context: ChannelHandlerContext) throws {
        while !waiting.isEmpty {
            let (bytes, promise) = waiting.removeFirst()
            do { try encrypt(bytes, promise, context) } catch {
                promise?.fail(error)
                throw error
            }
        }
    }

    private func encrypt(
        _ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) throws {
        try bytes.withUnsafeReadableBytes { try session.write($0) }
        context.write(wrapOutboundOut(takeOutput(context)), promise: promise)
    }

    /// Sends what the session has for the client.
    private func flush(_ context: ChannelHandlerContext) {
        guard session.outputCount > 0 else { return }
        context.writeAndFlush(wrapOutboundOut(takeOutput(context)), promise: nil)
    }

    private func takeOutput(_ context: ChannelHandlerContext) -> ByteBuffer {
        let count = session.outputCount
        var bytes = context.channel.allocator.buffer(capacity: count)
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { session.takeOutput(into: $0) }
        return bytes
    }

    private func endOutput(_ error: any Error) {
        isOutputOver = true
        let unwritten = waiting
        waiting = []
        for (_, promise) in unwritten { promise?.fail(error) }
    }
}
