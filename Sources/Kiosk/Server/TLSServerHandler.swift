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
    /// True once the client has said that it sends nothing more, or did not keep to TLS.
    private var isInputOver = false
    private var isOutputOver = false
    /// True if decrypted bytes were passed on since the socket was last read.
    private var hasPassedOn = false

    /// - Throws: ``OpenSSLError``
    init(_ context: TLSContext) throws { session = try TLSSession(context) }

    func channelInactive(context: ChannelHandlerContext) {
        (isInputOver, isOutputOver) = (true, true)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isInputOver else { return }
        do {
            try unwrapInboundIn(data).withUnsafeReadableBytes { try session.receive($0) }
            try passOn(context)
            flush(context)
        } catch { fail(context, error) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A part of a record gave nothing to those who have asked for bytes, so the rest of it is asked for.
        if !hasPassedOn, !isInputOver { context.read() }
        hasPassedOn = false
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed {
            // A close_notify has already ended the input. Without one, the requests still have ends of their own (RFC
            // 9112, 6.3), so none is taken for complete.
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
        do { context.write(wrapOutboundOut(try encrypt(unwrapOutboundIn(data), context)), promise: promise) } catch {
            // There is no session yet, or the client does not let it go on.
            promise?.fail(error)
            fail(context, error)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .input, !isOutputOver {
            session.end()
            flush(context)
            isOutputOver = true
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

    /// Encrypts a record at a time, so that the session never holds much.
    private func encrypt(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) throws -> ByteBuffer {
        var rest = bytes
        var output = context.channel.allocator.buffer(capacity: bytes.readableBytes + 64)
        while let part = rest.readSlice(length: min(rest.readableBytes, Self.recordSize)), part.readableBytes > 0 {
            try part.withUnsafeReadableBytes { try session.write($0) }
            takeOutput(into: &output)
        }
        return output
    }

    /// Sends what the session has for the client.
    private func flush(_ context: ChannelHandlerContext) {
        guard session.outputCount > 0 else { return }
        var bytes = context.channel.allocator.buffer(capacity: session.outputCount)
        takeOutput(into: &bytes)
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    private func takeOutput(into bytes: inout ByteBuffer) {
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: session.outputCount) { session.takeOutput(into: $0) }
    }

    private func fail(_ context: ChannelHandlerContext, _ error: any Error) {
        isInputOver = true
        // The alert that gives the client the reason.
        flush(context)
        isOutputOver = true
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}
