import Bookplate
import FoundationEssentials
import Hummingbird
import NIOCore
import Station
import Synchronization

/// Distributes the camera's newest picture to all watchers, which share one copy of each frame.
///
/// Slow watchers lose frames: for each, only the newest one is buffered.
public final class PreviewFeed: PreviewTap {
    /// The most watchers: more would take network and processor time from capturing.
    static let most = 4
    /// A watcher that has read nothing for so long is replaced by a new one.
    static let stalledAfter: Duration = .seconds(10)
    /// The boundary between the parts of the stream (RFC 2046, 5.1.1). It need not be absent from JPEGs: each part has its length.
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

    /// The number of watchers.
    var watching: Int { count.load(ordering: .relaxed) }

    public func take(jpeg: UnsafeBufferPointer<UInt8>) {
        let part = Self.part(jpeg)
        let time = now()
        watchers.withLock { watchers in
            for (id, watcher) in watchers {
                // Enqueued without dropping a frame: the watcher has read the previous one.
                if case .enqueued(remaining: _) = watcher.continuation.yield(part) { watchers[id]?.lastTaken = time }
            }
        }
    }

    /// Returns a part of the stream: the boundary, its headers and the JPEG.
    static func part(_ jpeg: UnsafeBufferPointer<UInt8>) -> ByteBuffer {
        let head = "--\(boundary)\r\nContent-Type: image/jpeg\r\nContent-Length: \(jpeg.count)\r\n\r\n"
        var part = ByteBufferAllocator().buffer(capacity: head.utf8.count + jpeg.count + 2)
        part.writeString(head)
        part.writeBytes(UnsafeRawBufferPointer(jpeg))
        part.writeString("\r\n")
        return part
    }

    /// Returns the parts from now on. The place is freed when the stream is no longer read.
    ///
    /// - Returns: `nil` if there are ``most`` watchers.
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

    /// Ends all streams because no picture comes for now. Pages reconnect.
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

/// Serves the camera's live picture as a stream of JPEGs (multipart/x-mixed-replace).
struct PreviewRoutes: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/api/station/preview", for: .household, stream)] }

    private func stream(_ request: Request, _ context: KioskContext) async throws -> Response {
        guard let preview = parts.ports.preview, case .streaming = await parts.ports.station.snapshot(limit: 0).camera
        else {
            throw RequestRefusal(
                status: .serviceUnavailable, code: "noPicture",
                message: "The camera shows no picture now. The page tries again automatically.",
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
