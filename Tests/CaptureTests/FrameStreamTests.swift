import Bookplate
import Foundation
import Synchronization
import SystemPackage
import TestTools
import Testing

@testable import Capture
import CodeMaker

/// Returns a picture of one grey level, by which the frame is recognised.
private func picture(_ level: UInt8, width: Int = 64, height: Int = 48) -> Frame {
    var frame = Frame(width: width, height: height)
    frame.withMutableLuma { $0.update(repeating: level) }
    return frame
}

private func jpeg(_ level: UInt8, width: Int = 64, height: Int = 48) throws -> [UInt8] {
    try picture(level, width: width, height: height).jpeg(quality: 90, name: "test")
}

private func pgm(_ level: UInt8, header: String = "P5 64 48 255\n", count: Int = 64 * 48) -> [UInt8] {
    Array(header.utf8) + [UInt8](repeating: level, count: count)
}

/// Returns a JPEG with another one in an APP1 segment, as cameras store thumbnails.
private func withThumbnail(_ frame: [UInt8], _ thumbnail: [UInt8]) -> [UInt8] {
    let length = thumbnail.count + 2
    return Array(frame[0..<2]) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + thumbnail + frame[2...]
}

/// The states and frames of a stream until its end.
private struct Record {
    var states: [CameraState] = []
    var levels: [Int] = []
    var sequences: [UInt32] = []
    var times: [Duration] = []
    var counts = FrameCounts()
    var errors: [CameraError.Kind] {
        states.compactMap { if case .failed(let error) = $0 { error.kind } else { nil } }
    }
    var formats: [String] {
        states.compactMap { if case .streaming(_, let format) = $0 { format.description } else { nil } }
    }
}

/// - Parameter now: the clock, by which a stream without frames is reported as frozen.
private func readAll(
    _ bytes: [UInt8], rate: Double? = nil, now: @escaping @Sendable () -> Duration = { .monotonicNow }
) throws -> Record {
    let file = try #require(tmpfile())
    defer { fclose(file) }
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    rewind(file)
    let stream = FrameStream(FileDescriptor(rawValue: fileno(file)), rate: rate, interval: .seconds(1), now: now)
    var record = Record()
    stream.run(state: { record.states.append($0) }) { frame in
        let middle = frame.luma[frame.height / 2 * frame.bytesPerLine + frame.width / 2]
        record.levels.append(Int((Double(middle) / 10).rounded()) * 10)
        record.sequences.append(frame.sequence)
        record.times.append(frame.timestamp)
    }
    record.counts = stream.counts
    #expect(record.states.last == .ended)
    return record
}

@Test func `delivers every frame of a stream in order`() throws {
    let record = try readAll(try (1...20).flatMap { try jpeg(UInt8($0 * 10)) })
    #expect(record.levels == (1...20).map { $0 * 10 })
    #expect(record.sequences == (0..<20).map { UInt32($0) })
    #expect(record.counts.delivered == 20 && record.counts.dropped == 0 && record.counts.skipped == 0)
    #expect(record.formats == ["64x48 MJPG"])
}

@Test func `counts the time of a recording by its rate`() throws {
    let record = try readAll(try (1...4).flatMap { try jpeg(UInt8($0 * 10)) }, rate: 10)
    #expect(record.times == [.zero, .milliseconds(100), .milliseconds(200), .milliseconds(300)])
    #expect(record.formats == ["64x48 MJPG, 10 fps"])
}

@Test func `accepts alternating JPEGs and grey PGMs, and reports each new size`() throws {
    let comments = pgm(130, header: "P5\n# a comment\n64 # wide\n 48\n255\n")
    let record = try readAll(
        try jpeg(50) + pgm(90) + comments + (try jpeg(200, width: 100, height: 30))
            + pgm(10, header: "P5 3 1 255 ", count: 3))
    #expect(record.levels == [50, 90, 130, 200, 10])
    #expect(record.formats == ["64x48 MJPG", "64x48 GREY", "100x30 MJPG", "3x1 GREY"])
}

@Test func `does not mistake a thumbnail within a frame for a frame`() throws {
    let record = try readAll(withThumbnail(try jpeg(200), try jpeg(10, width: 16, height: 16)) + (try jpeg(100)))
    #expect(record.levels == [200, 100])
    #expect(record.counts.dropped == 0)
}

/// A named stream of bytes, which a failing test does not print.
struct StreamBytes: CustomStringConvertible, Sendable {
    var description: String
    var bytes: [UInt8]

    init(_ description: String, _ bytes: [UInt8]) { (self.description, self.bytes) = (description, bytes) }
}

private let between: [(StreamBytes, dropped: Int)] = [
    (StreamBytes("nothing", []), 0), (StreamBytes("padding zeros", [UInt8](repeating: 0, count: 1000)), 0),
    (StreamBytes("the header of a multipart stream", Array("\r\n--frame\r\nContent-Type: image/jpeg\r\n\r\n".utf8)), 0),
    (StreamBytes("noise", [0x12, 0xFF, 0xC4, 0x80, 0xFF, 0xD9, 0x33]), 1),
    (StreamBytes("an SOI alone", [0xFF, 0xD8]), 1),
    (StreamBytes("an SOI and EOI", [0xFF, 0xD8, 0xFF, 0xD9]), 1),
    (StreamBytes("a PGM of 16 bits", Array("P5 2 2 65535 abcdefgh".utf8)), 1),
    (StreamBytes("a PGM without a size", Array("P5 x".utf8)), 1),
    (StreamBytes("a PGM of nothing", Array("P5 0 10 255 ".utf8)), 1),
    (StreamBytes("a PGM of gigabytes", Array("P5 99999 99999 255 ".utf8)), 1),
    (StreamBytes("a segment of no length", [0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x00]), 1),
]

@Test(arguments: between)
func `continues after bytes that are not a frame`(_ between: StreamBytes, _ dropped: Int) throws {
    let record = try readAll(try jpeg(50) + between.bytes + (try jpeg(100)) + between.bytes + (try jpeg(150)))
    #expect(record.levels == [50, 100, 150])
    #expect(record.counts.dropped == 2 * dropped)
    #expect(record.errors.isEmpty)
}

@Test func `drops a frame truncated anywhere, and reads the next`() throws {
    let (whole, next) = (try jpeg(50), try jpeg(100))
    // A truncated length can announce up to 64 KiB, which are then lost as well.
    let rest = repeatElement(next, count: (128 << 10) / next.count).joined()
    for length in stride(from: 3, to: whole.count, by: 7) {
        let record = try readAll(whole + whole.prefix(length) + rest)
        #expect(record.levels.first == 50 && record.levels.last == 100, "cut at \(length)")
    }
    let record = try readAll(whole + whole.dropLast(5) + next)
    #expect(record.levels == [50, 100] && record.counts.dropped == 1)
}

@Test func `reads no more than there is, wherever the stream ends`() throws {
    let bytes = try jpeg(50) + pgm(90) + (try jpeg(100))
    for length in stride(from: 0, to: bytes.count, by: 13) {
        let record = try readAll(Array(bytes.prefix(length)))
        #expect(record.levels == Array([50, 90, 100].prefix(record.levels.count)))
        #expect(record.errors == (record.levels.isEmpty ? [.noFrames] : []))
    }
}

@Test func `survives bytes that were changed at random`() throws {
    var random = SplitMix(seed: 1992)
    var good: [UInt8] = []
    for grey in stride(from: UInt8(30), through: 180, by: 30) { good += try jpeg(grey) + pgm(grey) }
    for _ in 0..<200 {
        var bytes = good
        for _ in 0..<20 { bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random) }
        let record = try readAll(bytes)
        #expect(record.levels.count == record.counts.delivered && record.counts.delivered <= 12)
    }
}

private let noFrames: [StreamBytes] = [
    StreamBytes("nothing", []), StreamBytes("text", Array(String(repeating: "9780306406157\n", count: 10_000).utf8)),
    StreamBytes(
        "H.264",
        [0, 0, 0, 1, 0x67, 0x64, 0, 0x28] + (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }),
    StreamBytes("a PNG", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0x90, count: 1000)),
]

@Test(arguments: noFrames)
func `reports once that the input contains no frames, and what to do`(_ input: StreamBytes) throws {
    let record = try readAll(input.bytes)
    #expect(record.errors == [.noFrames])
    let text = record.states.map { String(describing: $0) }.joined()
    #expect(text.contains("--codec mjpeg"))
}

@Test(.timeLimit(.minutes(minutes(5)))) func `stops reading an endless stream without frames`() throws {
    let zeros = open("/dev/zero", O_RDONLY)
    defer { close(zeros) }
    var errors: [CameraError.Kind] = []
    FrameStream(descriptor: zeros).run(
        state: { if case .failed(let error) = $0 { errors.append(error.kind) } }, frame: { _ in })
    #expect(errors.last == .noFrames)
}

/// The other data consists of damaged frames, which take the most time to search.
@Test(arguments: [false, true])
func `stops reading a stream that contains no frame any more`(isTooLong: Bool) throws {
    let damaged: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 0xFF, 0xD9]
    let length = FrameStream.maxBytesWithoutFrame + (isTooLong ? 1 << 20 : -(1 << 20))
    let other = Array(repeatElement(damaged, count: length / damaged.count).joined())
    // The clock stands still, so that the search may take as long as it takes.
    let record = try readAll(try jpeg(10) + other + (try jpeg(100)), now: { .zero })
    #expect(record.levels == (isTooLong ? [10] : [10, 100]))
    #expect(record.errors == (isTooLong ? [.noFrames] : []))
}

@Test func `abandons a frame without an end`() throws {
    var endless = try jpeg(50)
    endless.removeLast(2)
    let record = try readAll(try jpeg(10) + endless + [UInt8](repeating: 0x55, count: 9 << 20) + (try jpeg(100)))
    #expect(record.levels == [10, 100])
    #expect(record.counts.dropped == 1)
}

@Test func `reports the error of a descriptor that cannot be read`() throws {
    let folder = open("/", O_RDONLY)
    defer { close(folder) }
    var states: [CameraState] = []
    FrameStream(descriptor: folder).run(state: { states.append($0) }, frame: { _ in })
    #expect(states.count == 3 && states.last == .ended)
    #expect(String(describing: states[1]).contains("Is a directory"))
}

@Test(.timeLimit(.minutes(minutes(5))), arguments: [true, false])
func `repeats its state while nothing comes, reports a frozen stream, and stops`(givesOne: Bool) throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let bytes = givesOne ? try jpeg(50) : []
    #expect(write(ends[1], bytes, bytes.count) == bytes.count)
    // Every reading of the clock is half a second later.
    let time = Mutex(Duration.zero)
    let stream = FrameStream(FileDescriptor(rawValue: ends[0]), rate: nil, interval: .milliseconds(1)) {
        time.withLock { time in
            time += .milliseconds(500)
            return time
        }
    }
    var states: [CameraState] = []
    stream.run(
        state: { state in
            states.append(state)
            if case .failed(let error) = state {
                #expect(error.kind == .frozen && time.withLock(\.self) >= .seconds(10))
                stream.stop()
            }
        }, frame: { _ in })
    let streaming = states.filter { if case .streaming = $0 { true } else { false } }
    #expect(givesOne ? streaming.count > 5 : streaming.isEmpty)
    #expect(states.count > 6)
    #expect(states.last == .ended)
}

@Test(.timeLimit(.minutes(minutes(5)))) func `stops while it waits, from another thread`() async throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let (read, write) = (ends[0], ends[1])
    defer { for end in [read, write] { close(end) } }
    let stream = FrameStream(FileDescriptor(rawValue: read), rate: nil, interval: .seconds(3600), now: { .zero })
    let (states, continuation) = AsyncStream.makeStream(of: CameraState.self)
    let thread = Thread {
        stream.run(state: { continuation.yield($0) }, frame: { _ in })
        continuation.finish()
    }
    thread.start()
    var seen: [CameraState] = []
    for await state in states {
        seen.append(state)
        stream.stop()
    }
    #expect(seen == [.starting, .ended])
}

@Test func `makes a thumbnail of a code's surroundings, even at the frame's edge`() throws {
    let frame = picture(120, width: 640, height: 480)
    for (x, y) in [(320.0, 240.0), (0, 0), (639, 479), (-50, 600)] {
        let corners = Corners(
            topLeft: Point(x: x - 60, y: y - 20), topRight: Point(x: x + 60, y: y - 20),
            bottomRight: Point(x: x + 60, y: y + 20), bottomLeft: Point(x: x - 60, y: y + 20))
        let bytes = try #require(frame.thumbnail(around: corners, longSide: 100))
        let photo = try PhotoFile(bytes: bytes, name: "thumbnail")
        #expect(max(photo.width, photo.height) <= 100)
    }
}
