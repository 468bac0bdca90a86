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
