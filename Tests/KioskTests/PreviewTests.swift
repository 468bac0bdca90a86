import Bookplate
import NIOCore
import Station
import Synchronization
import Testing

@testable import Kiosk

private func take(_ feed: PreviewFeed, _ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { feed.receive(jpeg: $0) } }

@Suite struct `The preview's feed` {
    @Test func `gives a slow watcher the newest picture, and buffers at most one`() async throws {
        let feed = PreviewFeed()
        #expect(!feed.isWatched)
        let parts = try #require(feed.parts())
        #expect(feed.isWatched)
        for number in UInt8(1)...9 { take(feed, [number]) }
        var watcher = parts.makeAsyncIterator()
        let part = await watcher.next()
        #expect(
            part.map { Array($0.readableBytesView) }
                == Array("--bookplate-frame\r\nContent-Type: image/jpeg\r\nContent-Length: 1\r\n\r\n".utf8) + [
                    9, 13, 10,
                ])
        feed.end(feed.ids)
        #expect(await watcher.next() == nil)
        #expect(!feed.isWatched)
    }

    @Test func `ends only the given watchers, not one that has joined since`() async throws {
        let feed = PreviewFeed()
        let first = try #require(feed.parts())
        let ids = feed.ids
        let second = try #require(feed.parts())
        feed.end(ids)
        take(feed, [7])
        var (ended, going) = (first.makeAsyncIterator(), second.makeAsyncIterator())
        #expect(await ended.next() == nil)
        #expect(await going.next() != nil)
        #expect(feed.watching == 1)
    }

    @Test func `has room for four watchers, and for another when one leaves`() throws {
        let feed = PreviewFeed()
        var watchers = (0..<4).compactMap { _ in feed.parts() }
        #expect(watchers.count == 4 && feed.parts() == nil)
        watchers.removeLast()
        #expect(feed.parts() != nil)
    }

    @Test func `gives the place of a stalled watcher to a new one`() async throws {
        let clock = SharedTime()
        let feed = PreviewFeed(now: { clock.now })
        let watchers = (0..<4).compactMap { _ in feed.parts() }
        clock.advance(.seconds(9))
        take(feed, [1])
        clock.advance(.seconds(9))
        // All watchers received a picture nine seconds ago.
        #expect(feed.parts() == nil)
        take(feed, [2])
        clock.advance(.seconds(2))
        // No watcher has received the second picture.
        let newcomer = try #require(feed.parts())
        #expect(feed.watching == 4)
        take(feed, [3])
        var iterator = newcomer.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        _ = watchers
    }
}

@Suite(.timeLimit(.minutes(5))) struct `The preview over HTTP` {
    @Test func `is 503 without a picture`() async throws {
        let rig = try await StationRig()
        let answer = try await rig.ask("GET", "/api/station/preview")
        #expect(answer.status == 503 && answer.text("error.code") == "noPicture")
        try await rig.stop()
    }

    @Test func `forwards pictures unchanged to four at once`() async throws {
        let rig = try await StationRig(live: .showing())
        try await rig.isStreaming()
        var clients: [RawConnection] = []
        for _ in 0..<20 { clients.append(try await rig.open("/api/station/preview")) }
        var (watching, refused) = ([RawConnection](), 0)
        for client in clients {
            let head = try await client.read(until: "\r\n\r\n")
            if head.hasPrefix("HTTP/1.1 200") { watching.append(client) } else { refused += 1 }
            if head.hasPrefix("HTTP/1.1 503") { client.close() }
        }
        #expect(watching.count == 4 && refused == 16)
        let picture = [0xFF, 0xD8] + (0..<60_000).map { UInt8(truncatingIfNeeded: $0) } + [0xFF, 0xD9]
        take(rig.preview, picture)
        rig.preview.end(rig.preview.ids)
        for client in watching {
            let bytes = try await client.untilEndOfBody()
            #expect(bytes.firstRange(of: picture.prefix(4000)) != nil)
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.contains("Content-Length: \(picture.count)\r\n"))
            #expect(text.hasSuffix("--bookplate-frame--\r\n\r\n0\r\n\r\n"))
            client.close()
        }
        #expect(!rig.preview.isWatched)
        try await rig.stop()
    }

    @Test func `ends when the camera is unplugged`() async throws {
        let camera = ShownCamera()
        let rig = try await StationRig(live: .showing(camera))
        try await rig.isStreaming()
        let client = try await rig.open("/api/station/preview")
        try await client.read(until: "\r\n\r\n")
        camera.say(.failed(CameraError(.unplugged, "The camera was unplugged.")))
        #expect(try await String(decoding: client.untilEndOfBody(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        let answer = try await rig.ask("GET", "/api/station")
        #expect(answer.text("camera.kind") == "unplugged" && answer.text("camera.text") == "The camera was unplugged.")
        try await rig.stop()
    }
}

private final class SharedTime: Sendable {
    private let time = Mutex(Duration.zero)
    var now: Duration { time.withLock { $0 } }
    func advance(_ step: Duration) { time.withLock { $0 += step } }
}
