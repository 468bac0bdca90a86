import Bookplate

/// Estimates the memory that decoding a photo takes. Only the header is read, without the libraries that decode
/// pictures, so this is safe in a process that must not be attacked. A header can lie: the memory of the process that
/// decodes the photo must be limited as well.
public enum PhotoMemory {
    /// - Returns: the number of bytes, estimated too high rather than too low; `nil` if the header does not contain the
    ///   picture's size.
    public static func estimate(_ bytes: [UInt8]) -> Int? {
        let reader = ByteReader(bytes[...])
        return switch PhotoFormat(magic: bytes) {
        case .jpeg: jpeg(bytes, reader)
        case .png: png(reader)
        case .webp: webp(reader)
        // The sizes are in nested boxes, which only libheif reads.
        case .heic, nil: nil
        }
    }

    /// Besides the decoded picture, libjpeg keeps the coefficients of the whole picture (two bytes for each sample) if
    /// they arrive in several scans.
    private static func jpeg(_ bytes: [UInt8], _ reader: ByteReader) -> Int? {
        var at = 2
        var frame: (pixels: Int, samples: Int, components: Int, isProgressive: Bool)?
        while let marker = JPEGMarkers.nextMarker(in: bytes, from: &at), let length = reader.uint16(at: at) {
            switch marker {
            // SOF0 to SOF15, without the tables DHT and DAC and the reserved JPG. Source: ITU-T T.81, table B.1.
            case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
                guard let size = samples(reader, at: at + 2) else { return nil }
                frame = (size.pixels, size.samples, size.components, ![0xC0, 0xC1, 0xC9].contains(marker))
            case 0xDA:
                guard let frame, let inFirstScan = reader.slice(at: at + 2, count: 1)?.first else { return nil }
                let hasManyScans = frame.isProgressive || Int(inFirstScan) < frame.components
                // CMYK is decoded with all four inks, every other picture to grey alone.
                return frame.pixels * (frame.components > 3 ? 5 : 1) + (hasManyScans ? 2 * frame.samples : 0)
            default: break
            }
            at += max(2, length)
        }
        return nil
    }

    /// Counts the pixels and the samples of a frame header (ITU-T T.81, B.2.2). Each component is stored in whole
    /// blocks of 8 x 8 samples, as many as its sampling factors say in each unit of the picture (A.1.1, A.2.4).
    private static func samples(_ reader: ByteReader, at start: Int) -> (pixels: Int, samples: Int, components: Int)? {
        guard let height = reader.uint16(at: start + 1), let width = reader.uint16(at: start + 3),
            let count = reader.slice(at: start + 5, count: 1)?.first,
            let components = reader.slice(at: start + 6, count: 3 * Int(count)), width > 0, height > 0
        else { return nil }
        let factors = components.enumerated().compactMap { index, byte in
            index % 3 == 1 ? (across: Int(byte >> 4), down: Int(byte & 15)) : nil
        }
        guard let across = factors.map(\.across).max(), let down = factors.map(\.down).max(), across > 0, down > 0
        else { return nil }
        let units = ((width + 8 * across - 1) / (8 * across)) * ((height + 8 * down - 1) / (8 * down))
        return (width * height, factors.reduce(0) { $0 + units * $1.across * $1.down * 64 }, factors.count)
    }

    /// Small pictures are decoded with up to four channels, and then to grey.
    private static func png(_ reader: ByteReader) -> Int? {
        guard let width = reader.uint32(at: 16), let height = reader.uint32(at: 20) else { return nil }
        return size(width, height).map { 5 * $0 }
    }

    /// Luma, chroma and opacity take up to 2.5 bytes per pixel, and libwebp keeps another four for a lossless picture.
    /// Source of the positions: RFC 9649, 2.5 to 2.7.
    private static func webp(_ reader: ByteReader) -> Int? {
        let little = ByteReader(reader.bytes, bigEndian: false)
        let sides: (width: Int, height: Int)? =
            switch reader.slice(at: 12, count: 4).map(Array.init) {
            case Array("VP8 ".utf8):
                little.uint16(at: 26).flatMap { width in
                    little.uint16(at: 28).map { (width & 0x3FFF, $0 & 0x3FFF) }
                }
            case Array("VP8L".utf8): little.uint32(at: 21).map { (($0 & 0x3FFF) + 1, ($0 >> 14 & 0x3FFF) + 1) }
            case Array("VP8X".utf8):
                little.uint32(at: 24).flatMap { width in
                    // Three bytes each.
                    little.uint32(at: 26).map { ((width & 0xFF_FFFF) + 1, ($0 >> 8) + 1) }
                }
            default: nil
            }
        return sides.flatMap { size($0.width, $0.height) }.map { 8 * $0 }
    }

    /// Returns the number of pixels; `nil` if no decoder would accept the picture.
    private static func size(_ width: Int, _ height: Int) -> Int? {
        width <= PhotoLimit.side && height <= PhotoLimit.side ? width * height : nil
    }
}
