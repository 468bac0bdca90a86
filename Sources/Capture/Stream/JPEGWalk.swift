import Glibc

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
