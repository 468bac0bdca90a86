import Bookplate
import CTurboJPEG
import Glibc

/// Decodes JPEG with TurboJPEG, directly to grey without decoding the colour planes. If a smaller picture is enough, it
/// is decoded at one to seven eighths of the full size, without the higher frequencies of each block (libjpeg's DCT
/// scaling).
struct JPEGImage: GreyImage {
    let width: Int
    let height: Int
    var orientation: Orientation { markers.orientation }
    private let bytes: [UInt8]
    private let name: String
    private let markers: JPEGMarkers
    /// True if the picture is in CMYK or YCCK, which TurboJPEG does not decode to grey.
    private let isCMYK: Bool

    init(_ bytes: [UInt8], name: String) throws(PhotoError) {
        let decompressor = try Decompressor(name: name)
        var (width, height, sampling, colour): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        let status = bytes.withUnsafeBufferPointer {
            tjDecompressHeader3(
                decompressor.handle, $0.baseAddress, UInt($0.count), &width, &height, &sampling, &colour)
        }
        guard status == 0 || decompressor.onlyWarned, width > 0, height > 0 else {
            throw .failed(photo: name, format: .jpeg, reason: decompressor.message)
        }
        try PhotoLimit.check(width: Int(width), height: Int(height), photo: name)
        markers = JPEGMarkers(bytes)
        guard markers.scans <= PhotoLimit.scans else { throw .tooManyScans(photo: name, limit: PhotoLimit.scans) }
        isCMYK = colour == Int32(TJCS_CMYK.rawValue) || colour == Int32(TJCS_YCCK.rawValue)
        (self.width, self.height) = (Int(width), Int(height))
        (self.bytes, self.name) = (bytes, name)
    }

    func decode(longSide: Int) throws(PhotoError) -> GreyPicture {
        let decompressor = try Decompressor(name: name)
        // CMYK takes four bytes per pixel, so do not ask for a long side of more than 2560 pixels.
        let wanted = isCMYK ? min(longSide, 2560) : longSide
        let eighths = (1...8).first { scaled(max(width, height), $0) >= wanted } ?? 8
        var frame = Frame(width: scaled(width, eighths), height: scaled(height, eighths))
        let isDamaged: Bool
        if isCMYK {
            let pixels = frame.width * frame.height
            var cmyk = [UInt8](repeating: 0xFF, count: pixels * 4)
            isDamaged = try cmyk.withUnsafeMutableBufferPointer { buffer throws(PhotoError) in
                try decompressor.run(bytes, into: buffer, frame.width, frame.height, TJPF_CMYK)
            }
            let isInverted = markers.isAdobe
            frame.withMutableLuma { luma in
                cmyk.withUnsafeBufferPointer { inks in
                    for pixel in 0..<pixels {
                        luma[pixel] = Self.grey(inks.baseAddress! + pixel * 4, isInverted: isInverted)
                    }
                }
            }
        } else {
            let (width, height) = (frame.width, frame.height)
            isDamaged = try frame.withMutableLuma { luma throws(PhotoError) in
                try decompressor.run(bytes, into: luma, width, height, TJPF_GRAY)
            }
        }
        return GreyPicture(frame: frame, isDamaged: isDamaged)
    }

    /// Scales a side and rounds it up, like the macro `TJSCALED`.
    private func scaled(_ side: Int, _ eighths: Int) -> Int { (side * eighths + 7) / 8 }

    /// Returns the luma of a CMYK pixel, that is, of the light that its cyan, magenta, yellow and black inks reflect.
    /// The weights of the colours are those of ITU-R BT.601.
    @inline(__always)
    private static func grey(_ inks: UnsafePointer<UInt8>, isInverted: Bool) -> UInt8 {
        func light(_ ink: UInt8) -> Int { Int(isInverted ? ink : 255 - ink) }
        return UInt8((299 * light(inks[0]) + 587 * light(inks[1]) + 114 * light(inks[2])) * light(inks[3]) / 255_000)
    }
}

/// Owns a TurboJPEG decompressor.
private struct Decompressor: ~Copyable {
    let handle: tjhandle
    private let name: String

    init(name: String) throws(PhotoError) {
        guard let handle = tjInitDecompress() else { throw .outOfMemory(photo: name) }
        (self.handle, self.name) = (handle, name)
    }

    deinit { tjDestroy(handle) }

    var onlyWarned: Bool { tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue) }
    var message: String { String(cString: tjGetErrorStr2(handle)) }

    /// Decompresses the picture.
    ///
    /// - Returns: true if data was missing or wrong.
    func run(
        _ bytes: [UInt8], into pixels: UnsafeMutableBufferPointer<UInt8>, _ width: Int, _ height: Int, _ format: TJPF
    ) throws(PhotoError) -> Bool {
        let status = bytes.withUnsafeBufferPointer {
            tjDecompress2(
                handle, $0.baseAddress, UInt($0.count), pixels.baseAddress, Int32(width), 0, Int32(height),
                Int32(format.rawValue), 0)
        }
        if status == 0 { return false }
        guard onlyWarned else { throw .failed(photo: name, format: .jpeg, reason: message) }
        return true
    }
}

/// Facts about a JPEG that TurboJPEG does not report, found by going from marker to marker (ITU-T T.81, B.1).
struct JPEGMarkers {
    var orientation = Orientation.up
    /// True if an APP14 segment begins with "Adobe". CMYK values are then stored inverted, with 255 for no ink.
    var isAdobe = false
    /// The number of start-of-scan markers. Counting stops at one more than ``PhotoLimit/scans``.
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

    /// Returns the next marker. Skips fill bytes, stuffed bytes and restart markers (FF FF, FF 00, FF D0-D7), so it
    /// also finds the end of coded data.
    ///
    /// - Parameter at: the position to search from; on return, the position after the marker.
    static func nextMarker(in bytes: [UInt8], from at: inout Int) -> UInt8? {
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

/// Reads the orientation from EXIF data, and nothing else.
enum EXIF {
    /// Returns the orientation in the first image file directory (EXIF 2.32, 4.6.2 and 4.6.4).
    ///
    /// - Parameter block: a TIFF header and the directories, perhaps preceded by the mark `Exif\0\0`, which JPEG
    ///   requires and some WebP writers add.
    /// - Returns: `.up` if there is no orientation or the data is broken, because broken EXIF data must not make a
    ///   photo unreadable.
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

/// Reads numbers from untrusted bytes. Every read is checked, so no bytes can cause a trap.
struct ByteReader {
    let bytes: ArraySlice<UInt8>
    var bigEndian = true

    init(_ bytes: ArraySlice<UInt8>, bigEndian: Bool = true) {
        self.bytes = bytes
        self.bigEndian = bigEndian
    }

    var count: Int { bytes.count }

    /// - Returns: `nil` if the slice does not lie within the bytes.
    func slice(at offset: Int, count: Int) -> ArraySlice<UInt8>? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
        return bytes[(bytes.startIndex + offset)..<(bytes.startIndex + offset + count)]
    }

    func uint16(at offset: Int) -> Int? { number(at: offset, size: 2) }
    func uint32(at offset: Int) -> Int? { number(at: offset, size: 4) }

    private func number(at offset: Int, size: Int) -> Int? {
        guard let field = slice(at: offset, count: size) else { return nil }
        return bigEndian
            ? field.reduce(0) { $0 << 8 | Int($1) }
            : field.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
