import Bookplate
import FoundationEssentials
import Hummingbird
import NIOCore
import Station
import Synchronization

/// The camera's newest picture for whoever watches: one copy of each frame, shared by all.
///
/// The newest frame wins for each watcher: one that is slow loses frames, and nothing piles up.
public final class PreviewFeed: PreviewTap {
    /// Watchers at once; more would take the machine's network and time from capturing.
    static let most = 4
    /// A watcher that takes nothing for so long makes room for one who asks.
    static let stalledAfter: Duration = .seconds(10)
    /// Between the parts of the stream (RFC 2046, 5.1.1). JPEGs do not hold it: parts say how long they are.
    static let boundary = "bookplate-frame"

    private struct Watcher {
        let continuation: AsyncStream<ByteBuffer>.Continuation
        var lastTaken: Duration
    }

    private let watchers = Mutex<[UUID: Watcher]>([:])
    private let count = Atomic(0)
    private let now: @Sendable () -> Duration

    public convenience init() { self.init(now: { .monotonicNow }) }

    /// - Parameter now: a monotonic clock.
    init(now: @escaping @Sendable () -> Duration) { self.now = now }

    public var isWatched: Bool { count.load(ordering: .relaxed) > 0 }

    /// How many watch.
    var watching: Int { count.load(ordering: .relaxed) }

    public func take(jpeg: UnsafeBufferPointer<UInt8>) {
        let part = Self.part(jpeg)
        let time = now()
        watchers.withLock { watchers in
            for (id, watcher) in watchers {
                // Only what was taken makes room for this one.
                if case .enqueued(remaining: _) = watcher.continuation.yield(part) { watchers[id]?.lastTaken = time }
            }
        }
    }

    /// One part of the stream: the boundary, its headers, the bytes as they are.
    static func part(_ jpeg: UnsafeBufferPointer<UInt8>) -> ByteBuffer {
        let head = "--\(boundary)\r\nContent-Type: image/jpeg\r\nContent-Length: \(jpeg.count)\r\n\r\n"
        var part = ByteBufferAllocator().buffer(capacity: head.utf8.count + jpeg.count + 2)
        part.writeString(head)
        part.writeBytes(UnsafeRawBufferPointer(jpeg))
        part.writeString("\r\n")
        return part
    }

    /// The parts from now on; who stops listening makes room.
    ///
    /// - Returns: `nil` when as many watch as may.
    func parts() -> AsyncStream<ByteBuffer>? {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        let time = now()
        let stalled = watchers.withLock { watchers -> Watcher?? in
            var stalled: Watcher?
            if watchers.count >= Self.most {
                guard let (id, watcher) = watchers.min(by: { $0.value.lastTaken < $1.value.lastTaken }),
                    time - watcher.lastTaken >= Self.stalledAfter
                else { return nil }
                watchers[id] = nil
                stalled = watcher
            }
            watchers[id] = Watcher(continuation: continuation, lastTaken: time)
            count.store(watchers.count, ordering: .relaxed)
            return .some(stalled)
        }
        guard let stalled else { return nil }
        stalled?.continuation.finish()
        continuation.onTermination = { [weak self] _ in self?.leave(id) }
        return stream
    }

    /// No picture will come for now: the streams end, and pages ask again.
    func end() {
        let gone = watchers.withLock { watchers in
            defer { watchers = [:] }
            count.store(0, ordering: .relaxed)
            return watchers
        }
        for watcher in gone.values { watcher.continuation.finish() }
    }

    private func leave(_ id: UUID) {
        watchers.withLock { watchers in
            watchers[id] = nil
            count.store(watchers.count, ordering: .relaxed)
        }
    }
}

/// The camera's picture, live: one JPEG after the other in a body that goes on (multipart/x-mixed-replace).
struct PreviewRoutes: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/api/station/preview", for: .household, stream)] }

    private func stream(_ request: Request, _ context: KioskContext) async throws -> Response {
        guard let preview = parts.ports.preview, case .streaming = await parts.ports.desk.outlook(limit: 0).camera
        else {
            throw RequestRefusal(
                status: .serviceUnavailable, code: "noPicture",
                message: "The camera shows no picture now. It is asked for again by itself.",
                headers: [.retryAfter: "1"])
        }
        guard let frames = preview.parts() else {
            throw RequestRefusal(
                status: .serviceUnavailable, code: "tooManyWatch",
                message: "\(PreviewFeed.most) pages show the camera already. Close one of them.",
                headers: [.retryAfter: "5"], values: ["count": "\(PreviewFeed.most)"])
        }
        return Response(
            status: .ok,
            headers: .stream(of: "multipart/x-mixed-replace; boundary=\(PreviewFeed.boundary)"),
            body: ResponseBody { writer in
                for await part in frames.cancelOnGracefulShutdown() { try await writer.write(part) }
                try await writer.write(ByteBuffer(string: "--\(PreviewFeed.boundary)--\r\n"))
                try await writer.finish(nil)
            })
    }
}
