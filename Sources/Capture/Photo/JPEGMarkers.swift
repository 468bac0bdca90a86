import Bookplate
import Glibc

/// What TurboJPEG does not tell about a JPEG: found by going from marker to marker (ITU-T T.81, B.1).
struct JPEGMarkers {
    var orientation = Orientation.up
    /// An APP14 segment says "Adobe": then CMYK values are stored inverted, 255 for no ink.
    var isAdobe = false
    /// Start-of-scan markers, counted to one above ``PhotoLimit/scans`` at most.
    var scans = 0

    init(_ bytes: [UInt8]) {
        let reader = ByteReader(bytes[...])
        var at = 2
        while scans <= PhotoLimit.scans, let marker = Self.nextMarker(in: bytes, from: &at) {
            if marker == 0xD9 { break }
            guard let length = reader.uint16(at: at), length >= 2 else { break }
            let body = reader.slice(at: at + 2, count: length - 2) ?? []
            switch marker {
            case 0xDA: scans += 1
            case 0xE1 where orientation == .up && body.starts(with: "Exif\0\0".utf8):
                orientation = EXIF.orientation(in: body)
            case 0xEE where body.starts(with: "Adobe".utf8): isAdobe = true
            default: break
            }
            at += length
        }
    }

    /// Goes over fill bytes, stuffed bytes and restart markers (FF FF, FF 00, FF D0-D7), so it also finds the end of coded data.
    ///
    /// - Parameter at: where to look; afterwards the byte behind the marker.
    private static func nextMarker(in bytes: [UInt8], from at: inout Int) -> UInt8? {
        bytes.withUnsafeBytes { raw -> UInt8? in
            guard let base = raw.baseAddress else { return nil }
            while at < raw.count, let hit = memchr(base + at, 0xFF, raw.count - at) {
                at = base.distance(to: UnsafeRawPointer(hit)) + 1
                guard at < raw.count else { return nil }
                switch raw[at] {
                case 0x00, 0xD0...0xD7: at += 1
                case 0xFF: break
                case let marker:
                    at += 1
                    return marker
                }
            }
            return nil
        }
    }
}
