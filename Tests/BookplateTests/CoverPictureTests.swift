import Bookplate
import Testing

@Suite struct `The picture of a cover` {
    private static let gif = Array("GIF89a".utf8) + [0x2C, 0x01, 0xC2, 0x01] + [UInt8](repeating: 0, count: 6000)
    private static let png: [UInt8] =
        [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0x2C, 0, 0, 1,
            0xC2,
        ]
        + [UInt8](repeating: 0, count: 6000)
    private static let jpeg: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xC2, 0, 11, 8, 1, 0xC2, 1, 0x2C, 3]
        + [UInt8](repeating: 0, count: 6000)

    private static func webP(_ kind: String, _ rest: [UInt8]) -> [UInt8] {
        Array("RIFF\0\0\0\0WEBPVP8\(kind)".utf8) + [0, 0, 0, 0] + rest + [UInt8](repeating: 0, count: 6000)
    }

    @Test(arguments: [
        gif, png, jpeg, webP(" ", [0, 0, 0, 0x9D, 0x01, 0x2A, 0x2C, 0x01, 0xC2, 0x01]),
        webP("X", [0, 0, 0, 0, 0x2B, 0x01, 0, 0xC1, 0x01, 0]), webP("L", [0x2F, 0x2B, 0x41, 0x70, 0]),
    ])
    func `has its size in the head`(_ bytes: [UInt8]) {
        let picture = CoverPicture(bytes)
        #expect(picture.width == 300 && picture.height == 450 && !picture.isBlank && picture.isGood)
    }

    @Test func `of any bytes cut anywhere is read without a crash`() {
        for bytes in [Self.gif, Self.png, Self.jpeg] {
            for count in 0..<40 { _ = CoverPicture(Array(bytes.prefix(count))) }
        }
        #expect(CoverPicture([]).width == 0 && !CoverPicture([]).isBlank && !CoverPicture([1]).isGood)
        #expect(CoverPicture([0xFF, 0xD8, 0xFF, 0xE0, 0, 0]).width == 0, "a segment without a length")
    }

    @Test func `is blank if it has too few bytes for its size`() {
        #expect(CoverPicture(Array(Self.jpeg.prefix(500))).isBlank)
        #expect(!CoverPicture(Array(Self.png.prefix(500))).isBlank, "a plain cover takes few bytes as a PNG")
        #expect(CoverPicture(Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0]).isBlank, "one pixel")
    }

    @Test func `is better if it is not blank, and then if it has more pixels`() {
        let (large, blank) = (CoverPicture(Self.png), CoverPicture(Array(Self.jpeg.prefix(500))))
        let small = CoverPicture(
            Array("GIF89a".utf8) + [0x80, 0, 0xC0, 0] + [UInt8](repeating: 0, count: 3000))
        #expect(large.isBetter(than: small) && !small.isBetter(than: large) && small.isBetter(than: blank))
        #expect(!large.isBetter(than: large))
    }
}
