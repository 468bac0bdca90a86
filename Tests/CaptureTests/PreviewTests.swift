import Bookplate
import Foundation
import Synchronization
import Testing

@testable import Capture

/// Collects the pictures of the preview.
private final class ByteTap: PreviewTap {
    private let watched: Atomic<Bool>
    private let pictures = Mutex<[[UInt8]]>([])

    init(isWatched: Bool) { watched = Atomic(isWatched) }

    var isWatched: Bool { watched.load(ordering: .relaxed) }
    var received: [[UInt8]] { pictures.withLock { $0 } }
    func receive(jpeg: UnsafeBufferPointer<UInt8>) { pictures.withLock { $0.append(Array(jpeg)) } }
}

/// Returns a JPEG that differs for each number.
private func jpeg(_ number: Int) throws -> [UInt8] {
    var frame = Frame(width: 64, height: 48)
    frame.withMutableLuma { luma in
        for index in luma.indices { luma[index] = UInt8(truncatingIfNeeded: index * (number + 3)) }
    }
    return try frame.jpeg(quality: 80, name: "")
}

@Suite struct `A live preview` {
    @Test func `is its JPEGs, byte for byte`() throws {
        let pictures = try (0..<12).map(jpeg)
        let camera = ScriptedCamera(format: .mjpg)
        camera.frames = { ScriptedFrame(bytes: pictures[$0 % 12]) }
        let tap = ByteTap(isWatched: true)
        let frames = run(camera, tap)
        #expect(frames.count > 5)
        #expect(tap.received.count == frames.count)
        #expect(tap.received.allSatisfy(pictures.contains))
    }

    @Test func `leaves out incomplete pictures`() throws {
        let picture = try jpeg(1)
        let camera = ScriptedCamera(format: .mjpg)
        camera.frames = { ScriptedFrame(bytes: $0 % 2 == 0 ? picture : Array(picture.prefix(100))) }
        let tap = ByteTap(isWatched: true)
        _ = run(camera, tap)
        #expect(!tap.received.isEmpty && tap.received.allSatisfy { $0 == picture })
    }

    @Test(arguments: [PixelFormat.mjpg, .grey]) func `is nothing while nobody watches`(_ format: PixelFormat) throws {
        let picture = try jpeg(1)
        let camera = ScriptedCamera(format: format)
        if format == .mjpg { camera.frames = { _ in ScriptedFrame(bytes: picture) } }
        let tap = ByteTap(isWatched: false)
        #expect(!run(camera, tap).isEmpty)
        #expect(tap.received.isEmpty)
    }

    @Test func `is made of raw pixels, grey, small, and at most fifteen a second`() throws {
        let camera = ScriptedCamera(format: .grey, width: 1280, height: 720)
        camera.rate = 30
        let tap = ByteTap(isWatched: true)
        let frames = run(camera, tap)
        let seconds = (frames.last! - frames.first!) / .seconds(1)
        #expect(Double(tap.received.count) <= seconds * 15.5 + 1)
        #expect(Double(tap.received.count) >= seconds * 14)
        var small = Frame(width: 1, height: 1)
        let decoder = try #require(JPEGFrameDecoder())
        let isWhole = tap.received[3].withUnsafeBufferPointer { decoder.decode($0, into: &small) }
        #expect(isWhole && small.width == 640 && small.height == 360)
    }

    @Test func `contains a stream's JPEGs and its grey pictures`() throws {
        let picture = try jpeg(1)
        let pgm = Array("P5 64 48 255\n".utf8) + [UInt8](repeating: 200, count: 64 * 48)
        let file = try #require(tmpfile())
        defer { fclose(file) }
        let bytes = picture + pgm
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
        rewind(file)
        let tap = ByteTap(isWatched: true)
        FrameStream(descriptor: fileno(file), preview: tap).run(state: { _ in }, frame: { _ in })
        #expect(tap.received.count == 2)
        #expect(tap.received.first == picture)
        #expect(tap.received.last?.starts(with: [0xFF, 0xD8, 0xFF]) == true)
    }

    @Test func `keeps the mean of the pixels it reduces`() {
        var frame = Frame(width: 7, height: 5, bytesPerLine: 9)
        frame.withMutableLuma { luma in
            for index in luma.indices { luma[index] = index % 9 < 2 ? 100 : 10 }
        }
        var small = Frame(width: 1, height: 1)
        frame.downsample(by: 2, into: &small)
        #expect(small.width == 3 && small.height == 2)
        #expect(small.luma.prefix(3) == [100, 10, 10])
    }

    /// - Returns: the times of the frames.
    private func run(_ camera: ScriptedCamera, _ tap: ByteTap) -> [Duration] {
        let host = ScriptedHost([camera])
        host.at(3) { [unowned host] in host.stop() }
        var times: [Duration] = []
        var loop = CaptureLoop(CaptureSettings(), host: host, counter: FrameCounter(), preview: tap)
        loop.run(state: { _ in }, frame: { times.append($0.timestamp) })
        return times
    }
}
