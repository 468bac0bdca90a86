import Glibc

/// Cuts a stream into frames: JPEGs and grey PGMs, one after the other, in any mixture.
///
/// What stands between frames is passed over, as the headers of a multipart stream do. Memory is kept; it grows to the largest frame.
struct FrameCutter {
    /// A frame that is larger is none: 8 MiB is 4K in grey, and ten times a camera's JPEG.
    static let mostBytes = 8 << 20

    enum Cut {
        /// From SOI to EOI.
        case jpeg(Range<Int>)
        /// The rows alone.
        case pgm(PGMHeader, rows: Range<Int>)
        /// A frame that broke off, or bytes that are of no frame; told once for all that is passed over because of it.
        case damaged
        /// More bytes are needed.
        case more
    }

    /// What ``fill(from:)`` came upon.
    enum Filling {
        case some, end
        case failed(errno: Int32)
    }

    private enum Frame {
        case jpeg(JPEGWalk), pgm(PGMHeader), pgmHeader
    }

    private var bytes = [UInt8](repeating: 0, count: 4 * Self.room)
    /// What was read and not cut yet.
    private var (begin, end) = (0, 0)
    private var frame: Frame?
    /// Something was passed over that is part of no frame, and not told yet.
    private var hasDamage = false
    /// What is passed over now belongs to damage that was told.
    private var isTold = false
    /// Bytes of no frame since the last one.
    private(set) var passedOver = 0

    /// For one read; what a pipe holds.
    private static let room = 64 << 10

    /// Reads what is there, and blocks where nothing is.
    mutating func fill(from descriptor: Int32) -> Filling {
        makeRoom()
        while true {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + end, $0.count - end)
            }
            if count > 0 {
                end += count
                return .some
            }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .some
            case let number: return .failed(errno: number)
            }
        }
    }

    private mutating func makeRoom() {
        guard bytes.count - end < Self.room else { return }
        if begin > 0 {
            bytes.withUnsafeMutableBytes { _ = memmove($0.baseAddress!, $0.baseAddress! + begin, end - begin) }
            (begin, end) = (0, end - begin)
        }
        // `next()` gives up a frame above the limit, so this ends at twice that.
        if bytes.count - end < Self.room { bytes.append(contentsOf: repeatElement(0, count: bytes.count)) }
    }

    /// - Parameter range: of a cut, before anything is filled in again.
    func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    mutating func next() -> Cut {
        while true {
            switch frame {
            case nil:
                guard seek() else { return .more }
                if hasDamage {
                    hasDamage = false
                    return .damaged
                }
            case .jpeg(var walk):
                switch withBytes(begin..<end, { walk.go(through: $0) }) {
                case .more:
                    frame = .jpeg(walk)
                    return .more
                case .whole(let count): return .jpeg(take(count))
                case .damaged(let resume): return giveUp(resume)
                }
            case .pgmHeader:
                switch withBytes(begin..<end, PGMHeader.parse) {
                case .more: return .more
                case .refused: return giveUp(2)
                case .header(let header): frame = .pgm(header)
                }
            case .pgm(let header):
                let count = header.count + header.width * header.height
                guard end - begin >= count else { return .more }
                return .pgm(header, rows: take(count).dropFirst(header.count))
            }
        }
    }

    /// Whether the stream ended within a frame, or with bytes of no frame.
    var endsInDamage: Bool { frame != nil || (!isTold && (hasDamage || rest.contains { $0 >= 0x80 })) }

    private var rest: ArraySlice<UInt8> { bytes[begin..<end] }

    private mutating func take(_ count: Int) -> Range<Int> {
        let range = begin..<(begin + count)
        (begin, frame, isTold, passedOver) = (range.upperBound, nil, false, 0)
        return range
    }

    private mutating func giveUp(_ count: Int) -> Cut {
        let count = min(count, end - begin)
        begin += count
        passedOver += count
        (frame, isTold) = (nil, true)
        return .damaged
    }

    /// Goes to where a frame begins: FF D8 FF, as every marker follows another, or "P5" and white space.
    private mutating func seek() -> Bool {
        let start = begin
        var isText = true
        bytes.withUnsafeBufferPointer { bytes in
            while begin + 2 < end {
                let byte = bytes[begin]
                if byte == 0xFF, bytes[begin + 1] == 0xD8, bytes[begin + 2] == 0xFF {
                    frame = .jpeg(JPEGWalk())
                    return
                }
                if byte == UInt8(ascii: "P"), bytes[begin + 1] == UInt8(ascii: "5"), PGMHeader.isSpace(bytes[begin + 2])
                {
                    frame = .pgmHeader
                    return
                }
                // Zeros that pad, and the headers of a multipart stream, are no damage; the rest of a frame is never all below 0x80.
                if byte >= 0x80 { isText = false }
                begin += 1
            }
        }
        passedOver += begin - start
        if !isText, !isTold { (hasDamage, isTold) = (true, true) }
        return frame != nil
    }
}
