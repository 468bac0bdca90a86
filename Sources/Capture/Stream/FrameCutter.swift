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

/// Goes through one JPEG from marker to marker while its bytes arrive, to find where it ends (ITU-T T.81, B.1.1).
///
/// Segments are gone over by their lengths, so the EOI of a thumbnail in an APP segment does not end the frame around it.
struct JPEGWalk {
    enum Outcome {
        /// All that is there was gone through, and it is not the end.
        case more
        case whole(count: Int)
        /// It cannot go on like this. The next frame may begin at `resume`, within what was gone through.
        case damaged(resume: Int)
    }

    /// Where to go on, from SOI.
    private var at = 2
    /// Behind the last marker that was in its place: what follows it can be anything.
    private var sound = 2
    private var isCoded = false
    private var hasScan = false

    /// - Parameter bytes: from SOI on; each time the same and more.
    mutating func go(through bytes: UnsafeBufferPointer<UInt8>) -> Outcome {
        while at <= FrameCutter.mostBytes {
            if isCoded {
                guard let marker = Self.marker(in: bytes, from: &at) else { return .more }
                (at, isCoded) = (marker, false)
            }
            guard at + 1 < bytes.count else { return .more }
            guard bytes[at] == 0xFF else { return .damaged(resume: sound) }
            switch bytes[at + 1] {
            case 0xFF: at += 1  // a fill byte
            case 0x01, 0xD0...0xD7: at += 2  // stand alone
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

    /// The first marker of coded data that is no restart; FF 00 is a stuffed byte.
    ///
    /// - Parameter at: where to look; afterwards how far it was looked.
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

/// The head of a grey PGM: "P5", width, height and 255, parted by white space and comments, then one white space (netpbm, pgm(5)).
struct PGMHeader {
    enum Outcome {
        case more
        case header(PGMHeader)
        /// Not that, or nothing that is read here: 16 bits a pixel, or too large.
        case refused
    }

    var width: Int
    var height: Int
    /// Bytes of the head.
    var count: Int

    /// With more it is no head; comments are short.
    private static let mostBytes = 1024

    /// - Parameter bytes: from "P5" on.
    static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Outcome {
        let bytes = UnsafeBufferPointer(rebasing: bytes.prefix(mostBytes))
        let notEnough = bytes.count < mostBytes ? Outcome.more : .refused
        var at = 2
        var numbers = (0, 0, 0)
        for place in 0..<3 {
            guard skipSpace(bytes, &at) else { return notEnough }
            let begin = at
            var number = 0
            while at < bytes.count, (0x30...0x39).contains(bytes[at]), at - begin < 6 {
                number = number * 10 + Int(bytes[at] - 0x30)
                at += 1
            }
            guard at < bytes.count else { return notEnough }
            guard at > begin, isSpace(bytes[at]) else { return .refused }
            switch place {
            case 0: numbers.0 = number
            case 1: numbers.1 = number
            default: numbers.2 = number
            }
        }
        let (width, height, white) = numbers
        guard white == 255, width > 0, height > 0, width * height <= FrameCutter.mostBytes else { return .refused }
        return .header(PGMHeader(width: width, height: height, count: at + 1))
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// - Returns: false when the bytes end before anything else comes.
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
