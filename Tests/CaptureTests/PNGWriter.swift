/// Writes uncompressed PNGs of any colour type, as in `PNGWriter(colourType: 3, palette: …)`.
struct PNGWriter {
    var width: Int
    var height: Int
    var bitDepth: UInt8 = 8
    /// 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha (PNG specification, 11.2.2).
    var colourType: UInt8 = 0
    /// Red, green and blue of each entry.
    var palette: [UInt8] = []
    var exif: [UInt8] = []

    /// - Parameter row: returns the bytes of row y.
    func bytes(row: (Int) -> [UInt8]) -> [UInt8] {
        var raw: [UInt8] = []
        for y in 0..<height { raw += [0] + row(y) }
        var zlib: [UInt8] = [0x78, 0x01]
        var rest = raw[...]
        while !rest.isEmpty {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            zlib += [
                rest.isEmpty ? 1 : 0, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255),
                UInt8(~length >> 8),
            ]
            zlib += block
        }
        var (low, high) = (UInt32(1), UInt32(0))
        for byte in raw {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        zlib += Self.bigEndian(high << 16 | low)
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + Self.chunk(
                "IHDR",
                Self.bigEndian(UInt32(width)) + Self.bigEndian(UInt32(height)) + [bitDepth, colourType, 0, 0, 0])
            + (exif.isEmpty ? [] : Self.chunk("eXIf", exif))
            + (palette.isEmpty ? [] : Self.chunk("PLTE", palette))
            + Self.chunk("IDAT", zlib) + Self.chunk("IEND", [])
    }

    static func bigEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }

    private static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
        let checked = Array(type.utf8) + body
        var crc = UInt32.max
        for byte in checked {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return bigEndian(UInt32(body.count)) + checked + bigEndian(~crc)
    }
}

/// Returns a TIFF block with one entry, Orientation.
func exifBlock(orientation: UInt8, bigEndian: Bool = true) -> [UInt8] {
    bigEndian
        ? [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
        : [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
}

/// Returns a JPEG with an APP1 segment inserted behind its first marker.
func withEXIF(_ jpeg: [UInt8], _ block: [UInt8]) -> [UInt8] {
    let body = Array("Exif\0\0".utf8) + block
    let length = body.count + 2
    return jpeg[..<2] + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + body + jpeg[2...]
}
