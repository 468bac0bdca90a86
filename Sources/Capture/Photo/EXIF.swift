import Bookplate

/// The one EXIF entry that is of use here. Everything else of EXIF is left alone.
enum EXIF {
    /// Orientation of the first image file directory (EXIF 2.32, 4.6.2 and 4.6.4).
    ///
    /// - Parameter block: a TIFF header and what follows; the mark `Exif\0\0`, which JPEG demands and some WebP writers add, may
    ///   stand before it.
    /// - Returns: `.up` when there is none, or anything is wrong with it: a photo is not lost for its EXIF.
    static func orientation(in block: ArraySlice<UInt8>) -> Orientation {
        let mark = Array("Exif\0\0".utf8)
        var tiff = ByteReader(block.starts(with: mark) ? block.dropFirst(mark.count) : block)
        switch tiff.slice(at: 0, count: 2).map(Array.init) {
        case Array("II".utf8): tiff.bigEndian = false
        case Array("MM".utf8): tiff.bigEndian = true
        default: return .up
        }
        guard tiff.uint16(at: 2) == 42, let directory = tiff.uint32(at: 4), let count = tiff.uint16(at: directory)
        else { return .up }
        for entry in 0..<count {
            let at = directory + 2 + entry * 12
            guard let tag = tiff.uint16(at: at) else { return .up }
            if tag == 0x0112 {
                let short = 3
                guard tiff.uint16(at: at + 2) == short, tiff.uint32(at: at + 4) == 1 else { return .up }
                return tiff.uint16(at: at + 8).flatMap(Orientation.init(rawValue:)) ?? .up
            }
        }
        return .up
    }
}
