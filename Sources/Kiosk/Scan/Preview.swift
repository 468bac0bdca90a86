import Bookplate
import FoundationEssentials
import Hummingbird
import NIOCore
import Station
import Synchronization

/// Sends the camera's newest picture to all watchers, which are the pages that show it. They share one copy of each
/// frame.
///
/// A slow watcher misses frames, because only the newest frame is kept for each watcher.
public final class PreviewFeed: PreviewTap {
    /// The maximum number of watchers, which are the pages that show the live picture. More of them would take network
    /// and processor time away from capturing.
    static let most = 4
    /// The time for which a watcher must have read nothing before a new watcher may replace it.
    static let stalledAfter: Duration = .seconds(10)
    /// The boundary between the parts of the stream (RFC 2046, 5.1.1). It does no harm if a JPEG contains the same
    /// characters, because each part states its length.
    static let boundary = "bookplate-frame"

    private struct Watcher {
        let continuation: AsyncStream<ByteBuffer>.Continuation
        var lastRead: Duration
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

    public func receive(jpeg: UnsafeBufferPointer<UInt8>) {
        let part = Self.part(jpeg)
        let time = now()
        watchers.withLock { watchers in
            for (id, watcher) in watchers {
                // The frame was added without dropping another one, so the watcher has read the previous frame.
                if case .enqueued(remaining: _) = watcher.continuation.yield(part) { watchers[id]?.lastRead = time }
            }
        }
    }

    /// Returns one part of the stream: the boundary, the headers and the JPEG.
    static func part(_ jpeg: UnsafeBufferPointer<UInt8>) -> ByteBuffer {
        let head = "--\(boundary)\r\nContent-Type: image/jpeg\r\nContent-Length: \(jpeg.count)\r\n\r\n"
        var part = ByteBufferAllocator().buffer(capacity: head.utf8.count + jpeg.count + 2)
        part.writeString(head)
        part.writeBytes(UnsafeRawBufferPointer(jpeg))
        part.writeString("\r\n")
        return part
    }

    /// Adds a watcher, and returns its stream, which has one part for each frame from now on. The watcher is removed
    /// when nobody reads its stream any more.
    ///
    /// - Returns: `nil` if there are already ``most`` watchers and none of them can be replaced.
    func parts() -> AsyncStream<ByteBuffer>? {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        let time = now()
        let stalled = watchers.withLock { watchers -> Watcher?? in
            var stalled: Watcher?
            if watchers.count >= Self.most {
                guard let (id, watcher) = watchers.min(by: { $0.value.lastRead < $1.value.lastRead }),
                    time - watcher.lastRead >= Self.stalledAfter
                else { return nil }
                watchers[id] = nil
                stalled = watcher
            }
            watchers[id] = Watcher(continuation: continuation, lastRead: time)
            count.store(watchers.count, ordering: .relaxed)
            return .some(stalled)
        }
        guard let stalled else { return nil }
        stalled?.continuation.finish()
        continuation.onTermination = { [weak self] _ in self?.leave(id) }
        return stream
    }

    /// The ids of the present watchers.
    var ids: Set<UUID> { Set(watchers.withLock(\.keys)) }

    /// Ends the streams of these watchers, because the camera no longer shows a picture. Pages reconnect automatically.
    func end(_ ids: Set<UUID>) {
        let gone = watchers.withLock { watchers in
            defer { count.store(watchers.count, ordering: .relaxed) }
            return ids.compactMap { watchers.removeValue(forKey: $0) }
        }
        for watcher in gone { watcher.continuation.finish() }
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
                .noPicture, "The camera shows no picture at the moment. The page tries again automatically.",
                headers: [.retryAfter: "1"])
        }
        guard let frames = preview.parts() else {
            throw RequestRefusal(
                .tooManyWatch, "\(PreviewFeed.most) pages already show the camera. Close one of them.",
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
