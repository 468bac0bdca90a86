import Bookplate
import Glibc
import Testing

@testable import Capture

private let width = 64
private let height = 48

/// Returns a grey level that differs from pixel to pixel.
private func level(_ x: Int, _ y: Int) -> UInt8 { UInt8(truncatingIfNeeded: x * 3 + y * 5) }

/// Returns a picture as in the driver's memory; bytes that are not luma are 0xEE.
private func picture(_ format: PixelFormat, stride: Int, rows: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: stride * rows)
    let step = format == .yuyv ? 2 : 1
    for y in 0..<height {
        for x in 0..<width { bytes[y * stride + x * step] = level(x, y) }
    }
    return bytes
}

private let wholeJPEG = try! Frame(width: width, height: height).jpeg(quality: 80, name: "")

struct Layout: CustomTestStringConvertible {
    var format: PixelFormat
    /// The stride that the driver announces; 0 if it announces none.
    var announced: Int
    var stride: Int
    var testDescription: String { "\(format.rawValue), \(announced) bytes a line" }
}

@Test(arguments: [
    Layout(format: .grey, announced: 64, stride: 64), Layout(format: .grey, announced: 0, stride: 64),
    Layout(format: .grey, announced: 96, stride: 96), Layout(format: .nv12, announced: 64, stride: 64),
    Layout(format: .nv12, announced: 80, stride: 80), Layout(format: .yu12, announced: 128, stride: 128),
    Layout(format: .yuyv, announced: 128, stride: 128), Layout(format: .yuyv, announced: 0, stride: 128),
    Layout(format: .yuyv, announced: 160, stride: 160),
])
func `luma is extracted from every layout`(_ layout: Layout) throws {
    let camera = ScriptedCamera(format: layout.format)
    camera.given = PictureFormat(
        pixelFormat: layout.format.fourCC, width: width, height: height, bytesPerLine: layout.announced, sizeImage: 0)
    let bytes = picture(layout.format, stride: layout.stride, rows: height)
    camera.frames = { $0 < 5 ? ScriptedFrame(bytes: bytes) : nil }
    let frame = try #require(ScriptedHost([camera]).run(for: 2).frames.first)
    #expect(frame.width == width && frame.height == height)
    let isRight = frame.withLuma { luma in
        (0..<height).allSatisfy { y in
            (0..<width).allSatisfy { x in luma[y * frame.bytesPerLine + x] == level(x, y) }
        }
    }
    #expect(isRight)
}

@Test func `a size and format other than requested are used and reported`() throws {
    let camera = ScriptedCamera(format: .mjpg, width: 1280, height: 720)
    camera.given = PictureFormat(
        pixelFormat: PixelFormat.yuyv.fourCC, width: width, height: height, bytesPerLine: 144, sizeImage: 144 * height)
    let record = ScriptedHost([camera]).run(for: 2)
    guard case .streaming(_, let format) = record.states[1].state else { throw CancellationError() }
    #expect(format == CaptureFormat(width: width, height: height, pixelFormat: .yuyv, framesPerSecond: 10))
    #expect(record.frames.first?.width == width)
}

struct Damage: CustomTestStringConvertible {
    var testDescription: String
    var format = PixelFormat.grey
    var frame: ScriptedFrame
}

private let length = 1 << 20
private let grey = [UInt8](repeating: 9, count: width * height)

@Test(arguments: [
    Damage(testDescription: "marked by the driver", frame: ScriptedFrame(bytes: grey, isDamaged: true)),
    Damage(testDescription: "no bytes", frame: ScriptedFrame(bytes: grey, bytesUsed: 0)),
    Damage(testDescription: "more bytes than the buffer has", frame: ScriptedFrame(bytes: grey, bytesUsed: length + 1)),
    Damage(testDescription: "far more bytes", frame: ScriptedFrame(bytes: grey, bytesUsed: Int(UInt32.max))),
    Damage(testDescription: "an invalid index", frame: ScriptedFrame(bytes: grey, index: 4)),
    Damage(testDescription: "an index far out of range", frame: ScriptedFrame(bytes: grey, index: Int(UInt32.max))),
    Damage(testDescription: "one byte short", frame: ScriptedFrame(bytes: grey, bytesUsed: width * height - 1)),
    Damage(testDescription: "half a YUYV", format: .yuyv, frame: ScriptedFrame(bytes: grey)),
    Damage(testDescription: "no SOI", format: .mjpg, frame: ScriptedFrame(bytes: Array(wholeJPEG.dropFirst()))),
    Damage(testDescription: "no EOI", format: .mjpg, frame: ScriptedFrame(bytes: wholeJPEG.dropLast(2))),
    Damage(testDescription: "garbage", format: .mjpg, frame: ScriptedFrame(bytes: grey)),
    Damage(
        testDescription: "garbage between SOI and EOI", format: .mjpg,
        frame: ScriptedFrame(bytes: [0xFF, 0xD8] + grey + [0xFF, 0xD9])),
    Damage(
        testDescription: "a JPEG cut in its header", format: .mjpg,
        frame: ScriptedFrame(bytes: wholeJPEG.prefix(100) + [0xFF, 0xD9])),
    Damage(testDescription: "three bytes", format: .mjpg, frame: ScriptedFrame(bytes: [0xFF, 0xD8, 0xFF])),
])
func `a damaged frame is dropped, counted and given back`(_ damage: Damage) {
    let camera = ScriptedCamera(format: damage.format)
    let sound = damage.format == .mjpg ? wholeJPEG : [UInt8](repeating: 5, count: width * height * 2)
    // After the first three, every second frame is damaged. The scripted node traps if a buffer is not given back.
    camera.frames = { number in
        number >= 23 ? nil : number < 3 || number.isMultiple(of: 2) ? ScriptedFrame(bytes: sound) : damage.frame
    }
    let host = ScriptedHost([camera])
    let record = host.run(for: 3)
    // 23 frames: the first three, 10 damaged ones and 10 sound ones.
    #expect(record.counts == FrameCounts(delivered: 10, skipped: 0, dropped: 13, restarts: 0))
    #expect(record.kinds == ["starting", "streaming 64x48 \(damage.format.rawValue)", "ended"])
}

@Test(arguments: [[0x00, 0x00], [0x12], [0xFF, 0x00, 0x55]] as [[UInt8]])
func `stray bytes before the end of a JPEG, as many webcams send them, are not damage`(_ stray: [UInt8]) {
    let camera = ScriptedCamera(format: .mjpg)
    let bytes: [UInt8] = Array(wholeJPEG.dropLast(2)) + stray + [0xFF, 0xD9, 0, 0]
    camera.frames = { $0 < 13 ? ScriptedFrame(bytes: bytes) : nil }
    #expect(ScriptedHost([camera]).run(for: 2).counts.delivered == 10)
}

extension FrameCounts {
    fileprivate init(delivered: Int, skipped: Int, dropped: Int, restarts: Int) {
        self.init()
        (self.delivered, self.skipped, self.dropped, self.restarts) = (delivered, skipped, dropped, restarts)
    }
}

@Test func `the newest frame wins and the others are counted`() {
    let camera = ScriptedCamera()
    camera.rate = 100
    camera.burst = 3
    camera.frames = { $0 < 30 ? ScriptedFrame(bytes: [UInt8](repeating: UInt8($0), count: width * height)) : nil }
    let record = ScriptedHost([camera]).run(for: 2)
    // Ten bursts of three; the first three are dropped.
    #expect(record.frames.map(\.sequence) == [11, 14, 17, 20, 23, 26, 29])
    #expect(record.counts == FrameCounts(delivered: 7, skipped: 20, dropped: 3, restarts: 0))
}

@Test func `stale frames in a full queue are skipped once`() {
    let camera = ScriptedCamera()
    camera.burst = 4
    let record = ScriptedHost([camera]).run(for: 3)
    // Bursts of four that take 400 ms each: the first three frames are dropped, then every second burst is skipped.
    #expect(record.frames.map(\.sequence) == [19, 27])
}

@Test func `frames the driver had no buffer for are counted, but a large jump is not`() {
    let camera = ScriptedCamera()
    let sequences: [UInt32] = [0, 1, 2, 3, 7, 8, 4_000_000_000, 4_000_000_001]
    camera.frames = { $0 < sequences.count ? ScriptedFrame(bytes: grey, sequence: sequences[$0]) : nil }
    #expect(ScriptedHost([camera]).run(for: 2).counts.skipped == 3)
}

@Test(arguments: [Duration.seconds(3600), .seconds(-3600), .seconds(-6), .milliseconds(1)])
func `an implausible time stamp is replaced by the monotonic clock`(_ error: Duration) {
    let camera = ScriptedCamera()
    camera.frames = { $0 < 4 ? ScriptedFrame(bytes: grey, clockError: error) : nil }
    let record = ScriptedHost([camera]).run(for: 2)
    #expect(record.frames.map(\.timestamp) == [.seconds(1000) + .milliseconds(400)])
    #expect(record.kinds == ["starting", "streaming 64x48 GREY", "ended"])
}

@Test(arguments: [
    (PictureFormat(pixelFormat: PixelFormat.grey.fourCC, width: 0, height: 48, bytesPerLine: 0, sizeImage: 0), "0x48"),
    (
        PictureFormat(
            pixelFormat: PixelFormat.grey.fourCC, width: 1 << 31, height: 1 << 31, bytesPerLine: 0, sizeImage: 0),
        "not a camera"
    ),
    (
        PictureFormat(
            pixelFormat: PixelFormat.grey.fourCC, width: 16_000, height: 16_000, bytesPerLine: 0, sizeImage: 0),
        "not a camera"
    ),
    (
        PictureFormat(pixelFormat: PixelFormat.yuyv.fourCC, width: 64, height: 48, bytesPerLine: 127, sizeImage: 0),
        "127 bytes"
    ),
    (
        PictureFormat(
            pixelFormat: PixelFormat.grey.fourCC, width: 64, height: 48, bytesPerLine: Int(UInt32.max), sizeImage: 0),
        "rows of"
    ),
    (PictureFormat(pixelFormat: 0x3150_4D4D, width: 64, height: 48, bytesPerLine: 0, sizeImage: 0), "MMP1"),
])
func `a layout that would read out of bounds is refused`(_ given: PictureFormat, _ word: String) {
    do throws(V4L2Error) {
        _ = try LumaLayout(given)
        Issue.record("accepted")
    } catch {
        #expect(error.isUnusable && error.description.contains(word))
    }
}

@Test(arguments: [[1 << 20], [], [100, 100, 100, 100], [1 << 20, 1 << 20, 1 << 20, 3071], [0, 0]])
func `buffers that are too few or too short are refused`(_ lengths: [Int]) {
    let camera = ScriptedCamera()
    camera.buffers = lengths
    let record = ScriptedHost([camera]).run(for: 2)
    #expect(record.kinds == ["starting", "unusable", "ended"])
}

@Test func `JPEGs of another size than announced are reported with their real size`() throws {
    let camera = ScriptedCamera(format: .mjpg, width: 64, height: 48)
    var picture = Frame(width: 32, height: 24)
    picture.withMutableLuma { $0.update(repeating: 100) }
    let bytes = try picture.jpeg(quality: 90, name: "test")
    camera.frames = { _ in ScriptedFrame(bytes: bytes) }
    #expect(ScriptedHost([camera]).run(for: 5).kinds == ["starting", "streaming 32x24 MJPG", "ended"])
}
