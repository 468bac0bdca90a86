import Bookplate
import Decoder
import SystemPackage

@testable import Capture

/// The largest picture that is decoded. Larger ones only take longer; the sizes that are refused have their own tests.
private let maxPixels = 128_000

/// Reads a file as a photo, as a frame of a camera, and as a stream.
func runPhoto(_ bytes: [UInt8]) {
    let bytes = withCorrectChecksums(bytes)
    var isSmall = true
    do {
        let photo = try PhotoFile(bytes: bytes, name: "photo")
        require((1...PhotoLimit.side).contains(photo.width) && (1...PhotoLimit.side).contains(photo.height), "size")
        isSmall = photo.width * photo.height <= maxPixels
        // Codes are searched in one of four photos: that takes ten times as long and is mainly tested by `frames`.
        if isSmall {
            try read(photo, longSide: 1 + Int(bytes[bytes.count / 2]), isDecoded: bytes.count.isMultiple(of: 4))
        }
    } catch let error as PhotoError {
        require(!error.description.isEmpty, "an error without a message")
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
        require(decoder.decode(bytes, into: &second), "a frame decoded once fails the second time")
        require(first.withLuma(Array.init) == second.withLuma(Array.init), "a different picture of the same frame")
    }
}

/// Reads the bytes from a pipe, all at once.
private func readStream(_ bytes: [UInt8]) {
    var splitter = FrameSplitter()
    do {
        let pipe = try FileDescriptor.pipe()
        require(try pipe.writeEnd.writeAll(bytes) == bytes.count, "written to the pipe")
        try pipe.writeEnd.close()
        while case .some = splitter.fill(from: pipe.readEnd) {}
        try pipe.readEnd.close()
    } catch {
        fatalError("no pipe: \(error)")
    }
    guard let decoder = JPEGFrameDecoder() else { return }
    var frame = Frame(width: 1, height: 1)
    // Every chunk consumes bytes.
    for _ in 0...(2 * bytes.count) {
        switch splitter.next() {
        case .jpeg(let range): _ = splitter.withBytes(range) { decoder.decode($0, into: &frame) }
        case .pgm(let header, let rows): require(rows.count == header.width * header.height, "rows of \(header)")
        case .damaged: continue
        case .more: return
        }
    }
    fatalError("a stream that does not end")
}

/// Returns a PNG with correct checksums of its chunks, without which libpng stops; unchanged if its last byte is odd.
private func withCorrectChecksums(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]), let last = bytes.last, last % 2 == 0 else { return bytes }
    var result = bytes
    var at = 8
    while at + 12 <= bytes.count {
        let length = bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) }
        guard length <= bytes.count - at - 12 else { break }
        let end = at + 8 + length
        let sum = checksum(bytes[(at + 4)..<end])
        for index in 0..<4 { result[end + index] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * index)) }
        at = end + 4
    }
    return result
}

/// Returns the CRC-32 (PNG specification, annex D).
private func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(~0) { sum, byte in sumTable[Int((sum ^ UInt32(byte)) & 255)] ^ (sum >> 8) }
}

private let sumTable: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
}
