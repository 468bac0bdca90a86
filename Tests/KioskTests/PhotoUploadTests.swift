import Bookplate
import TestTools
import Testing

@testable import Kiosk

@Suite struct `A photo that is uploaded` {
    /// Sends a request with a photo of this size, of which only the first bytes are sent.
    ///
    /// - Parameter from: the device's address.
    private func send(_ kiosk: WebKiosk, from: String = "127.0.0.1", bytes: Int, sending: Int? = nil) throws
        -> BareSocket
    {
        let socket = try BareSocket(to: kiosk.port, from: from)
        try socket.write(
            "POST /api/station/photos HTTP/1.1\r\nHost: \(kiosk.host)\r\nOrigin: http://\(kiosk.host)\r\n"
                + "Content-Type: image/jpeg\r\nContent-Length: \(bytes)\r\n\r\n")
        // When the service has refused the photo, it closes the connection, and the rest cannot be sent.
        do { try socket.write([UInt8](repeating: 0x20, count: sending ?? bytes)) } catch is BareSocket.Failed {}
        return socket
    }

    @Test func `slowly keeps nobody waiting`() async throws {
        try await withWebKiosk { configuration, ports in
            configuration.limits.bodyWindow = .hours(1)
            ports.readPhoto = { _ in DecodedPhoto(symbols: [], thumbnail: nil) }
        } _: { kiosk in
            let answer = try await onThread {
                let slow = try (0..<8).map { _ in try send(kiosk, bytes: 32 << 20, sending: 1000) }
                defer { for socket in slow { socket.close() } }
                let socket = try send(kiosk, bytes: 1000)
                defer { socket.close() }
                return try socket.answer()
            }
            #expect(answer.text("error.code") == "noBarCode")
        }
    }

    @Test func `is refused while too many bytes of its device, or of all devices, are in memory`() async throws {
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let (end, finish) = AsyncStream.makeStream(of: Void.self)
        try await withWebKiosk { _, ports in
            ports.readPhoto = { _ in
                begin.yield()
                for await _ in end {}
                return DecodedPhoto(symbols: [], thumbnail: nil)
            }
        } _: { kiosk in
            let photo = 20 << 20
            var beginnings = began.makeAsyncIterator()
            var waiting: [BareSocket] = []
            func expectRefusal(of bytes: Int, from device: Int) async throws {
                let answer = try await onThread {
                    let socket = try send(kiosk, from: "127.0.0.\(device)", bytes: bytes)
                    defer { socket.close() }
                    return try socket.answer()
                }
                #expect(answer.status == 503 && answer["retry-after"] == "5", "\(device)")
            }
            for device in 1...3 {
                waiting.append(try await onThread { try send(kiosk, from: "127.0.0.\(device)", bytes: photo) })
                await beginnings.next()
                // Each device has 12 MiB left, as long as all devices together have more.
                if device == 1 { try await expectRefusal(of: 13 << 20, from: 1) }
            }
            // All devices together have 4 MiB left.
            try await expectRefusal(of: 5 << 20, from: 4)
            finish.finish()
            let read = try await onThread { [waiting] in
                try waiting.map { socket in
                    defer { socket.close() }
                    return try socket.answer().text("error.code")
                }
            }
            #expect(read == ["noBarCode", "noBarCode", "noBarCode"])
            let again = try await onThread { try send(kiosk, bytes: 32 << 20).answer() }
            #expect(again.text("error.code") == "noBarCode")
        }
    }
}
