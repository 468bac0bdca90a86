import Bookplate
import CWebP

/// Decodes WebP with libwebp, whose Y plane is the picture in grey. Transparent parts become white.
struct WebPImage: GreyImage {
    let width: Int
    let height: Int
    let orientation: Orientation
    private let hasAlpha: Bool
    private let bytes: [UInt8]
    private let name: String

    init(_ bytes: [UInt8], name: String) throws(PhotoError) {
        var features = WebPBitstreamFeatures()
        let status = bytes.withUnsafeBufferPointer { WebPGetFeatures($0.baseAddress, $0.count, &features) }
        guard status == VP8_STATUS_OK, features.width > 0, features.height > 0 else {
            throw Self.error(status, name)
        }
        guard features.has_animation == 0 else { throw .unsupported(photo: name, what: "it is an animation") }
        try PhotoLimit.check(width: Int(features.width), height: Int(features.height), photo: name)
        (width, height) = (Int(features.width), Int(features.height))
        hasAlpha = features.has_alpha != 0
        (self.bytes, self.name) = (bytes, name)
        orientation = Self.exif(ByteReader(bytes[...], bigEndian: false)).map(EXIF.orientation) ?? .up
    }

    func decode(longSide: Int) throws(PhotoError) -> GreyPicture {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw .unsupported(
                photo: name, what: "the installed libwebp is not the version that this program was built for")
        }
        let pixels = width * height
        let chromaWidth = (width + 1) / 2
        let chromaSize = chromaWidth * ((height + 1) / 2)
        var frame = Frame(width: width, height: height)
        // U, V and alpha share one block. Start with opaque alpha, because a truncated file may not contain the values
        // of all pixels.
        var rest = [UInt8](repeating: 255, count: chromaSize * 2 + (hasAlpha ? pixels : 0))
        let (stride, chromaStride, hasAlpha) = (Int32(width), Int32(chromaWidth), hasAlpha)
        let status = frame.withMutableLuma { luma in
            luma.update(repeating: 235)
            return rest.withUnsafeMutableBufferPointer { rest in
                bytes.withUnsafeBufferPointer { data in
                    config.output.colorspace = hasAlpha ? MODE_YUVA : MODE_YUV
                    config.output.is_external_memory = 1
                    config.output.u.YUVA = WebPYUVABuffer(
                        y: luma.baseAddress, u: rest.baseAddress, v: rest.baseAddress.map { $0 + chromaSize },
                        a: hasAlpha ? rest.baseAddress.map { $0 + chromaSize * 2 } : nil,
                        y_stride: stride, u_stride: chromaStride, v_stride: chromaStride,
                        a_stride: hasAlpha ? stride : 0,
                        y_size: pixels, u_size: chromaSize, v_size: chromaSize, a_size: hasAlpha ? pixels : 0)
                    return WebPDecode(data.baseAddress, data.count, &config)
                }
            }
        }
        frame.withMutableLuma { luma in
            for pixel in 0..<pixels {
                // WebP's luma ranges from 16 to 235 (RFC 6386, 9.2); here it must range from 0 to 255.
                let level = (Int(luma[pixel]) - 16) * 255 / 219
                let opacity = hasAlpha ? Int(rest[chromaSize * 2 + pixel]) : 255
                luma[pixel] = UInt8(clamping: (level * opacity + 255 * (255 - opacity)) / 255)
            }
        }
        switch status {
        case VP8_STATUS_OK: return GreyPicture(frame: frame, isDamaged: false)
        case VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_BITSTREAM_ERROR: return GreyPicture(frame: frame, isDamaged: true)
        default: throw Self.error(status, name)
        }
    }

    /// Returns the EXIF chunk of the RIFF container (RFC 9649, 2.7.1.5).
    private static func exif(_ reader: ByteReader) -> ArraySlice<UInt8>? {
        var at = 12
        while let type = reader.slice(at: at, count: 4), let length = reader.uint32(at: at + 4) {
            if type.elementsEqual("EXIF".utf8) { return reader.slice(at: at + 8, count: length) }
            at += 8 + length + length % 2
        }
        return nil
    }

    private static func error(_ status: VP8StatusCode, _ name: String) -> PhotoError {
        let reason =
            switch status {
            case VP8_STATUS_OUT_OF_MEMORY: "out of memory"
            case VP8_STATUS_NOT_ENOUGH_DATA: "it ends too early"
            case VP8_STATUS_UNSUPPORTED_FEATURE: "it uses a feature that libwebp does not support"
            default: "its data is not valid WebP"
            }
        return .failed(photo: name, format: .webp, reason: reason)
    }
}
