import Bookplate
import Foundation
import NIOCore
import Synchronization
import TestTools
import Testing

@testable import Kiosk

@Suite(.timeLimit(.minutes(5))) struct `Events` {
    @Test func `reach every listener`() async {
        let hub = EventHub()
        var listeners = (0..<100).map { _ in hub.events().makeAsyncIterator() }
        #expect(hub.listenerCount == 100)
        hub.send(KioskEvent(name: "batch", data: ["a": "line\nand <b>"]))
        hub.sendHeartbeat()
        for index in listeners.indices {
            let event = await listeners[index].next()
            #expect(event.map(String.init(buffer:)) == "event: batch\ndata: {\"a\":\"line\\nand <b>\"}\n\n")
            let beat = await listeners[index].next()
            #expect(beat.map(String.init(buffer:)) == ":\n\n")
        }
        listeners = []
        #expect(hub.listenerCount == 0)
    }

    @Test func `of the station do not reach guests`() async {
        let hub = EventHub()
        var guest = hub.events(forGuest: true).makeAsyncIterator()
        for name in ["captured", "known", "refused", "camera", "glance", "library", "row", "batch"] {
            hub.send(KioskEvent(name: name, data: .null))
        }
        hub.sendHeartbeat()
        for bytes in ["event: library\ndata: null\n\n", "event: batch\ndata: null\n\n", ":\n\n"] {
            let event = await guest.next()
            #expect(event.map(String.init(buffer:)) == bytes)
        }
    }

    @Test func `for a slow listener are dropped, the oldest first`() async {
        let hub = EventHub()
        var slow = hub.events().makeAsyncIterator()
        for number in 1...(EventHub.bufferLimit + 10) { hub.send(KioskEvent(name: "\(number)", data: .null)) }
        let first = await slow.next()
        #expect(first.map(String.init(buffer:)) == "event: 11\ndata: null\n\n")
    }

    @Test func `announce changes of the library by another process`() async throws {
        let rig = try await StationRig()
        let events = try await rig.open("/api/events")
        try await events.read(until: "event: hello")
        let other = try rig.another()
        let detection = Detection(isbn: try ISBN("9780441013593"), raw: "9780441013593", origin: .camera)
        _ = try await other.enqueue([detection], preset: Preset(), lease: .zero, at: .now)
        try await events.read(until: "event: library")
        // This kiosk looks up the title, because the book is in the queue.
        while try await rig.ask("GET", "/api/station").text("rows.0.title") != "Dune" {
            try await events.read(until: "event: batch")
        }
        try await rig.stop()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A service that is stopped` {
    @Test func `ends its streams and itself at once, even with clients that do not read`() async throws {
        // The service waits for the client that does not read.
        let rig = try await StationRig(live: .showing(), shutdownTime: .seconds(5))
        try await rig.isStreaming()
        let events = try await rig.open("/api/events")
        try await events.read(until: "event: hello")
        let watching = try await rig.open("/api/station/preview")
        try await watching.read(until: "boundary=")
        let stalled = try await rig.open("/api/station/preview", room: 4096)
        try await wait(for: "two watchers") {
            await Task.yield()
            return rig.preview.watching == 2
        }
        // More than socket buffers hold: the service blocks in a write to this client.
        let picture = [UInt8](repeating: 0x55, count: 4 << 20)
        for _ in 0..<4 { picture.withUnsafeBufferPointer { rig.preview.receive(jpeg: $0) } }
        async let end = rig.stop()
        #expect(try await String(decoding: events.rest(), as: UTF8.self).hasSuffix("0\r\n\r\n"))
        _ = try await watching.rest()
        try await end
        stalled.close()
    }
}
