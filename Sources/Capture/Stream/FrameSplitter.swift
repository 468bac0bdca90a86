import Glibc
import SystemPackage

/// Splits a stream into frames: JPEGs and grey PGMs, one after the other, in any mixture.
///
/// Bytes between frames, such as the headers of a multipart stream, are skipped. The memory is reused and grows to the
/// size of the largest frame.
struct FrameSplitter {
    /// The maximum frame size, in bytes. 8 MiB is the size of a grey 4K picture, and ten times the size of a camera's
    /// JPEG.
    static let maxBytes = 8 << 20

    enum Chunk {
        /// The bytes of a JPEG, from its SOI to its EOI marker.
        case jpeg(Range<Int>)
        /// The header of a PGM and the bytes of its rows.
        case pgm(PGMHeader, rows: Range<Int>)
        /// An incomplete frame, or bytes that belong to no frame. Skipped bytes in a row yield only one such chunk.
        case damaged
        /// More bytes are needed.
        case more
    }

    /// The result of ``fill(from:)``.
    enum FillResult {
        /// This many bytes were read; 0 if there are none yet.
        case some(Int)
        case end
        case failed(errno: Errno)
    }

    private enum Frame {
        case jpeg(JPEGScanner), pgm(PGMHeader), pgmHeader
    }

    private var bytes = [UInt8](repeating: 0, count: 4 * Self.readSize)
    /// The bounds of the bytes that were read but have not been split yet.
    private var (begin, end) = (0, 0)
    private var frame: Frame?
    /// True if bytes that belong to no frame were skipped but have not been reported yet.
    private var hasDamage = false
    /// True if the damage that is being skipped was already reported.
    private var isReported = false
    /// The number of bytes since the last frame that belong to no frame.
    private(set) var skipped = 0

    /// The size of one read in bytes, which is as much as a pipe holds.
    private static let readSize = 64 << 10

    /// Reads the available bytes, or waits until there are some.
    mutating func fill(from descriptor: FileDescriptor) -> FillResult {
        makeRoom()
        do {
            let count = try bytes.withUnsafeMutableBytes { try descriptor.read(into: .init(rebasing: $0[end...])) }
            end += count
            return count == 0 ? .end : .some(count)
        } catch Errno.resourceTemporarilyUnavailable {
            return .some(0)
        } catch {
            return .failed(errno: error as? Errno ?? .ioError)
        }
    }

    private mutating func makeRoom() {
        guard bytes.count - end < Self.readSize else { return }
        if begin > 0 {
            bytes.withUnsafeMutableBytes { _ = memmove($0.baseAddress!, $0.baseAddress! + begin, end - begin) }
            (begin, end) = (0, end - begin)
        }
        // `next()` abandons a frame above the limit, so the memory grows to at most twice the limit.
        if bytes.count - end < Self.readSize { bytes.append(contentsOf: repeatElement(0, count: bytes.count)) }
    }

    /// Calls `body` with the bytes of a chunk.
    ///
    /// - Parameter range: the chunk's range, valid until ``fill(from:)`` is called again.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    /// Returns the next chunk of the stream, such as a frame.
    mutating func next() -> Chunk {
        while true {
            switch frame {
            case nil:
                guard seek() else { return .more }
                if hasDamage {
                    hasDamage = false
                    return .damaged
                }
            case .jpeg(var scanner):
                switch withBytes(begin..<end, { scanner.advance(through: $0) }) {
                case .more:
                    frame = .jpeg(scanner)
                    return .more
                case .whole(let count): return .jpeg(consume(count))
                case .damaged(let resume): return abandon(resume)
                }
            case .pgmHeader:
                switch withBytes(begin..<end, PGMHeader.parse) {
                case .more: return .more
                case .refused: return abandon(2)
                case .header(let header): frame = .pgm(header)
                }
            case .pgm(let header):
                let count = header.count + header.width * header.height
                guard end - begin >= count else { return .more }
                return .pgm(header, rows: consume(count).dropFirst(header.count))
            }
        }
    }

    /// True if the stream ended in the middle of a frame, or with unreported bytes that belong to no frame.
    var endsInDamage: Bool { frame != nil || (!isReported && (hasDamage || rest.contains { $0 >= 0x80 })) }

    private var rest: ArraySlice<UInt8> { bytes[begin..<end] }

    private mutating func consume(_ count: Int) -> Range<Int> {
        let range = begin..<(begin + count)
        (begin, frame, isReported, skipped) = (range.upperBound, nil, false, 0)
        return range
    }

    private mutating func abandon(_ count: Int) -> Chunk {
        let count = min(count, end - begin)
        begin += count
        skipped += count
        (frame, isReported) = (nil, true)
        return .damaged
    }

    /// Skips to the beginning of the next frame. A JPEG begins with FF D8 FF, because another marker must follow the
    /// SOI marker; a PGM begins with "P5" and white space.
    ///
    /// - Returns: false if the bytes read so far contain no beginning of a frame.
    private mutating func seek() -> Bool {
        let start = begin
        var isText = true
        bytes.withUnsafeBufferPointer { bytes in
            while begin + 2 < end {
                let byte = bytes[begin]
                if byte == 0xFF, bytes[begin + 1] == 0xD8, bytes[begin + 2] == 0xFF {
                    frame = .jpeg(JPEGScanner())
                    return
                }
                if byte == UInt8(ascii: "P"), bytes[begin + 1] == UInt8(ascii: "5"), PGMHeader.isSpace(bytes[begin + 2])
                {
                    frame = .pgmHeader
                    return
                }
                // Padding zeros and the headers of a multipart stream are not damage. The rest of a damaged frame,
                // however, always has bytes of 0x80 or more.
                if byte >= 0x80 { isText = false }
                begin += 1
            }
        }
        skipped += begin - start
        if !isText, !isReported { (hasDamage, isReported) = (true, true) }
        return frame != nil
    }
}

/// Finds the end of one JPEG while its bytes arrive, by going from marker to marker (ITU-T T.81, B.1.1).
///
/// Segments are skipped by their lengths, so the EOI of a thumbnail in an APP segment does not end the frame around it.
struct JPEGScanner {
    enum Outcome {
        /// The end of the JPEG has not arrived yet.
        case more
        case whole(count: Int)
        /// The JPEG is damaged. The next frame may begin at `resume`, within the bytes scanned so far.
        case damaged(resume: Int)
    }

    /// The position to continue from, relative to SOI.
    private var at = 2
    /// The position after the last valid marker, from which the search for the next frame starts if this JPEG is
    /// damaged.
    private var sound = 2
    private var isCoded = false
    private var hasScan = false

    /// Scans the bytes that are new since the last call.
    ///
    /// - Parameter bytes: all bytes of the JPEG so far, from the SOI marker on.
    mutating func advance(through bytes: UnsafeBufferPointer<UInt8>) -> Outcome {
        while at <= FrameSplitter.maxBytes {
            if isCoded {
                guard let marker = Self.marker(in: bytes, from: &at) else { return .more }
                (at, isCoded) = (marker, false)
            }
            guard at + 1 < bytes.count else { return .more }
            guard bytes[at] == 0xFF else { return .damaged(resume: sound) }
            switch bytes[at + 1] {
            case 0xFF: at += 1  // a fill byte
            case 0x01, 0xD0...0xD7: at += 2  // markers without a segment
            case 0xD8: return .damaged(resume: at)
            case 0xD9: return hasScan ? .whole(count: at + 2) : .damaged(resume: sound)
            case 0x00, 0x02...0xBF: return .damaged(resume: sound)
            case let marker:
                guard at + 3 < bytes.count else { return .more }
                let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
                guard length >= 2 else { return .damaged(resume: at + 2) }
                guard at + 2 + length <= bytes.count else { return .more }
                sound = at + 2
                at += 2 + length
                if marker == 0xDA { (isCoded, hasScan) = (true, true) }
            }
        }
        return .damaged(resume: at)
    }

    /// Returns the position of the first marker in coded data, skipping restart markers and stuffed bytes (FF 00).
    ///
    /// - Parameter at: the position to search from; on return, the position that the search reached.
    private static func marker(in bytes: UnsafeBufferPointer<UInt8>, from at: inout Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        while at < bytes.count {
            guard let hit = memchr(base + at, 0xFF, bytes.count - at) else {
                at = bytes.count
                return nil
            }
            at = UnsafeRawPointer(base).distance(to: UnsafeRawPointer(hit))
            guard at + 1 < bytes.count else { return nil }
            switch bytes[at + 1] {
            case 0x00, 0xD0...0xD7: at += 2
            case 0xFF: at += 1
            default: return at
            }
        }
        return nil
    }
}

/// The header of a grey PGM: "P5", width, height and 255, separated by white space and comments, followed by one white
/// space character (netpbm, pgm(5)).
struct PGMHeader {
    enum Outcome {
        case more
        case header(PGMHeader)
        /// The bytes are not a PGM header, or the picture cannot be read because it has 16 bits per pixel or is too
        /// large.
        case refused
    }

    var width: Int
    var height: Int
    /// The length of the header in bytes.
    var count: Int

    /// The maximum length of a header, in bytes. The comments in a header are usually short.
    private static let maxBytes = 1024

    /// - Parameter bytes: the bytes from "P5" on.
    static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Outcome {
        let bytes = UnsafeBufferPointer(rebasing: bytes.prefix(maxBytes))
        let notEnough = bytes.count < maxBytes ? Outcome.more : .refused
        var at = 2
        var numbers = (0, 0, 0)
        for index in 0..<3 {
            guard skipSpace(bytes, &at) else { return notEnough }
            let begin = at
            var number = 0
            while at < bytes.count, (0x30...0x39).contains(bytes[at]), at - begin < 6 {
                number = number * 10 + Int(bytes[at] - 0x30)
                at += 1
            }
            guard at < bytes.count else { return notEnough }
            guard at > begin, isSpace(bytes[at]) else { return .refused }
            switch index {
            case 0: numbers.0 = number
            case 1: numbers.1 = number
            default: numbers.2 = number
            }
        }
        let (width, height, white) = numbers
        guard white == 255, width > 0, height > 0, width * height <= FrameSplitter.maxBytes else { return .refused }
        return .header(PGMHeader(width: width, height: height, count: at + 1))
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Skips white space and comments.
    ///
    /// - Returns: false if the bytes end before anything else is found.
    private static func skipSpace(_ bytes: UnsafeBufferPointer<UInt8>, _ at: inout Int) -> Bool {
        var isComment = false
        while at < bytes.count {
            let byte = bytes[at]
            if isComment {
                isComment = byte != 0x0A && byte != 0x0D
            } else if byte == 0x23 {
                isComment = true
            } else if !isSpace(byte) {
                return true
            }
            at += 1
        }
        return false
    }
}
