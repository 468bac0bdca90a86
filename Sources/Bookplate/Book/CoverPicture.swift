/// The properties by which covers are compared, read from the head of a picture's bytes without decoding it.
public struct CoverPicture: Sendable, Equatable {
    /// The size in pixels; 0 if the head does not give it.
    public var width = 0
    public var height = 0
    /// True if the picture is a JPEG that has so few bytes for its size that nothing can be on it, or if it has hardly
    /// any pixels. Sources send such pictures in place of a cover that they do not have. A white JPEG takes about 0.01
    /// bytes a pixel.
    public var isBlank = false

    /// The width from which a cover is large enough for every page of the kiosk.
    public static let goodWidth = 300

    /// Sources of the formats: ITU-T T.81 B.1.1 and B.2.2 (JPEG), RFC 2083 11.2.1 (PNG), GIF89a 18, RFC 9649 2.5 to 2.7
    /// (WebP).
    public init(_ bytes: [UInt8]) {
        (width, height) = Self.jpeg(bytes) ?? Self.png(bytes) ?? Self.gif(bytes) ?? Self.webP(bytes) ?? (0, 0)
        let pixels = width * height
        // One pixel is how web servers say that there is nothing.
        let isEmpty = bytes.starts(with: [0xFF, 0xD8]) && Double(bytes.count) < 0.02 * Double(pixels)
        isBlank = pixels > 0 && (pixels < 100 || isEmpty)
    }

    /// True if the picture need not be compared with another one.
    public var isGood: Bool { width >= Self.goodWidth && !isBlank }

    /// Returns true if this picture is better: not blank, or else with more pixels.
    public func isBetter(than other: CoverPicture) -> Bool {
        isBlank == other.isBlank ? width * height > other.width * other.height : other.isBlank
    }

    private static func number(_ bytes: [UInt8], at offset: Int, _ count: Int, isLittle: Bool = false) -> Int? {
        guard offset >= 0, offset + count <= bytes.count else { return nil }
        let digits = bytes[offset..<offset + count]
        return (isLittle ? Array(digits.reversed()) : Array(digits)).reduce(0) { $0 << 8 | Int($1) }
    }

    private static func size(_ width: Int?, _ height: Int?) -> (Int, Int)? {
        guard let width, let height, (1...65_535).contains(width), (1...65_535).contains(height) else { return nil }
        return (width, height)
    }

    private static func jpeg(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
        var offset = 2
        while let marker = number(bytes, at: offset, 2), marker & 0xFF00 == 0xFF00 {
            switch marker & 0xFF {
            case 0xFF: offset += 1
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return size(number(bytes, at: offset + 7, 2), number(bytes, at: offset + 5, 2))
            case 0x01, 0xD0...0xD8: offset += 2
            case 0xD9, 0xDA: return nil
            default:
                guard let length = number(bytes, at: offset + 2, 2), length >= 2 else { return nil }
                offset += 2 + length
            }
        }
        return nil
    }

    private static func png(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else { return nil }
        return size(number(bytes, at: 16, 4), number(bytes, at: 20, 4))
    }

    private static func gif(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.starts(with: "GIF8".utf8) else { return nil }
        return size(number(bytes, at: 6, 2, isLittle: true), number(bytes, at: 8, 2, isLittle: true))
    }

    private static func webP(_ bytes: [UInt8]) -> (Int, Int)? {
        guard bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBPVP8".utf8), bytes.count > 30 else {
            return nil
        }
        func little(_ offset: Int, _ count: Int) -> Int? { number(bytes, at: offset, count, isLittle: true) }
        switch bytes[15] {
        case UInt8(ascii: " "): return size(little(26, 2).map { $0 & 0x3FFF }, little(28, 2).map { $0 & 0x3FFF })
        case UInt8(ascii: "L"):
            let bits = little(21, 4) ?? 0
            return size(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        case UInt8(ascii: "X"): return size(little(24, 3).map { $0 + 1 }, little(27, 3).map { $0 + 1 })
        default: return nil
        }
    }
}
