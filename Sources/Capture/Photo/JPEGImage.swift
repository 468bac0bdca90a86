import Bookplate
import CTurboJPEG

/// JPEG by TurboJPEG: straight to grey, which leaves the colour planes undecoded, and at eighths of the size, which leaves out
/// the higher frequencies of each block (what libjpeg calls DCT scaling).
struct JPEGImage: GreyImage {
    let width: Int
    let height: Int
    var orientation: Orientation { markers.orientation }
    private let bytes: [UInt8]
    private let name: String
    private let markers: JPEGMarkers
    /// CMYK and YCCK, which TurboJPEG does not decode to grey.
    private let isCMYK: Bool

    init(_ bytes: [UInt8], name: String) throws(PhotoError) {
        let decompressor = try Decompressor(name: name)
        var (width, height, sampling, colour): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        let status = bytes.withUnsafeBufferPointer {
            tjDecompressHeader3(
                decompressor.handle, $0.baseAddress, UInt($0.count), &width, &height, &sampling, &colour)
        }
        guard status == 0 || decompressor.onlyWarned, width > 0, height > 0 else {
            throw .damaged(photo: name, format: .jpeg, reason: decompressor.message)
        }
        try PhotoLimit.check(width: Int(width), height: Int(height), photo: name)
        markers = JPEGMarkers(bytes)
        guard markers.scans <= PhotoLimit.scans else { throw .tooManyScans(photo: name, limit: PhotoLimit.scans) }
        isCMYK = colour == Int32(TJCS_CMYK.rawValue) || colour == Int32(TJCS_YCCK.rawValue)
        (self.width, self.height) = (Int(width), Int(height))
        (self.bytes, self.name) = (bytes, name)
    }

    func decode(longSide: Int) throws(PhotoError) -> Decoded {
        let decompressor = try Decompressor(name: name)
        // Four bytes a pixel: CMYK is never decoded larger than this.
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
        return Decoded(frame: frame, isDamaged: isDamaged)
    }

    /// As `TJSCALED` counts: rounded up.
    private func scaled(_ side: Int, _ eighths: Int) -> Int { (side * eighths + 7) / 8 }

    /// The usual luma weights (ITU-R BT.601) of the light that cyan, magenta, yellow and black leave.
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
        guard let handle = tjInitDecompress() else {
            throw .damaged(photo: name, format: .jpeg, reason: "the decoder does not start: out of memory")
        }
        (self.handle, self.name) = (handle, name)
    }

    deinit { tjDestroy(handle) }

    var onlyWarned: Bool { tjGetErrorCode(handle) == Int32(TJERR_WARNING.rawValue) }
    var message: String { String(cString: tjGetErrorStr2(handle)) }

    /// - Returns: whether data was missing or wrong.
    func run(
        _ bytes: [UInt8], into pixels: UnsafeMutableBufferPointer<UInt8>, _ width: Int, _ height: Int, _ format: TJPF
    ) throws(PhotoError) -> Bool {
        let status = bytes.withUnsafeBufferPointer {
            tjDecompress2(
                handle, $0.baseAddress, UInt($0.count), pixels.baseAddress, Int32(width), 0, Int32(height),
                Int32(format.rawValue), 0)
        }
        if status == 0 { return false }
        guard onlyWarned else { throw .damaged(photo: name, format: .jpeg, reason: message) }
        return true
    }
}
