import Bookplate
import Decoder
import Glibc

@testable import Capture

/// Larger ones take longer, and nothing else: the sizes that are refused have tests of their own.
private let mostPixels = 128_000

/// A file: as a photo, as a frame of a camera, and as a stream.
func runPhoto(_ bytes: [UInt8]) {
    let bytes = withRightSums(bytes)
    var isSmall = true
    do {
        let photo = try PhotoFile(bytes: bytes, name: "photo")
        require((1...PhotoLimit.side).contains(photo.width) && (1...PhotoLimit.side).contains(photo.height), "size")
        isSmall = photo.width * photo.height <= mostPixels
        // Its codes are looked for in one of four: that takes ten times as long, and is what `frames` is for.
        if isSmall {
            try read(photo, longSide: 1 + Int(bytes[bytes.count / 2]), isDecoded: bytes.count.isMultiple(of: 4))
        }
    } catch let error as PhotoError {
        require(!error.description.isEmpty, "an error without words")
        if case .tooManyPixels = error { isSmall = false }
    } catch {
        fatalError("\(error)")
    }
    guard isSmall else { return }
    readFrame(bytes)
    readStream(bytes)
}

private func read(_ photo: PhotoFile, longSide: Int, isDecoded: Bool) throws {
    let small = try photo.luma(longSide: longSide)
    require(max(small.width, small.height) <= longSide, "\(small.width) x \(small.height) for \(longSide)")
    let all = try photo.luma(atLeast: .max)
    require(all.width == photo.width && all.height == photo.height, "\(all.width) x \(all.height)")
    if isDecoded {
        var decoder = try PhotoReader()
        check(try decoder.decode(photo))
    }
}

private func readFrame(_ bytes: [UInt8]) {
    guard let decoder = JPEGFrameDecoder() else { return }
    var (first, second) = (Frame(width: 1, height: 1), Frame(width: 1, height: 1))
    bytes.withUnsafeBufferPointer { bytes in
        guard decoder.decode(bytes, into: &first) else { return }
        require(decoder.decode(bytes, into: &second), "a frame that was whole is not")
        require(first.withLuma(Array.init) == second.withLuma(Array.init), "another picture of the same frame")
    }
}

/// What a pipe brings, all at once.
private func readStream(_ bytes: [UInt8]) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { fatalError("no pipe: errno \(errno)") }
    require(write(ends[1], bytes, bytes.count) == bytes.count, "written to the pipe")
    close(ends[1])
    var cutter = FrameCutter()
    while case .some = cutter.fill(from: ends[0]) {}
    close(ends[0])
    guard let decoder = JPEGFrameDecoder() else { return }
    var frame = Frame(width: 1, height: 1)
    // Every cut takes bytes away.
    for _ in 0...(2 * bytes.count) {
        switch cutter.next() {
        case .jpeg(let range): _ = cutter.withBytes(range) { decoder.decode($0, into: &frame) }
        case .pgm(let header, let rows): require(rows.count == header.width * header.height, "rows of \(header)")
        case .damaged: continue
        case .more: return
        }
    }
    fatalError("a stream that does not end")
}

/// A PNG with the check sums of its chunks made right, without which libpng looks no further; left as it is where its last byte is odd.
private func withRightSums(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]), let last = bytes.last, last % 2 == 0 else { return bytes }
    var result = bytes
    var at = 8
    while at + 12 <= bytes.count {
        let length = bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) }
        guard length <= bytes.count - at - 12 else { break }
        let end = at + 8 + length
        let sum = checkSum(bytes[(at + 4)..<end])
        for place in 0..<4 { result[end + place] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * place)) }
        at = end + 4
    }
    return result
}

/// CRC-32 (PNG specification, annex D).
private func checkSum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(~0) { sum, byte in sumTable[Int((sum ^ UInt32(byte)) & 255)] ^ (sum >> 8) }
}

private let sumTable: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
}
