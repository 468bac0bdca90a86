import Bookplate
import CPNG

/// Decodes PNG with libpng's simplified interface, which handles palettes, 16-bit values, interlacing and gamma.
/// Transparent parts become white.
struct PNGImage: GreyImage {
    let width: Int
    let height: Int
    let orientation: Orientation
    private let bytes: [UInt8]
    private let name: String

    init(_ bytes: [UInt8], name: String) throws(PhotoError) {
        // The size is at a fixed position, in the IHDR chunk after the signature (PNG specification, 11.2.2).
        let reader = ByteReader(bytes[...])
        guard reader.slice(at: 12, count: 4)?.elementsEqual("IHDR".utf8) == true,
            let width = reader.uint32(at: 16), let height = reader.uint32(at: 20), width > 0, height > 0
        else { throw .damaged(photo: name, format: .png, reason: "it does not begin with a PNG header") }
        try PhotoLimit.check(width: width, height: height, photo: name)
        (self.width, self.height) = (width, height)
        (self.bytes, self.name) = (bytes, name)
        orientation = Self.exif(reader).map(EXIF.orientation) ?? .up
    }

    func decode(longSide: Int) throws(PhotoError) -> GreyPicture {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        var frame = Frame(width: width, height: height)
        let (wantedWidth, wantedHeight) = (width, height)
        let isComplete = bytes.withUnsafeBytes { data -> Bool? in
            guard png_image_begin_read_from_memory(&image, data.baseAddress, data.count) != 0,
                image.width == wantedWidth, image.height == wantedHeight
            else { return nil }
            // Without a gamma chunk, libpng assumes that 16-bit values are linear light, but scanners and cameras write
            // sRGB.
            image.flags |= png_uint_32(PNG_IMAGE_FLAG_16BIT_sRGB)
            return frame.withMutableLuma { luma in
                luma.update(repeating: 255)
                return wantedWidth * wantedHeight <= Self.inColourUpTo
                    ? Self.readColour(&image, into: luma) : Self.readGrey(&image, into: luma)
            }
        }
        let error = PhotoError.failed(photo: name, format: .png, reason: message(of: image))
        guard let isComplete, isComplete || error != .outOfMemory(photo: name) else { throw error }
        return GreyPicture(frame: frame, isDamaged: !isComplete)
    }

    /// The size, in pixels, of the largest picture that libpng reads in colour and Bookplate then converts to grey. For
    /// a small picture, setting up libpng's conversion would take longer than reading it. Larger pictures are converted
    /// by libpng, which needs only one byte per pixel.
    private static let inColourUpTo = 8_000_000

    private static func readGrey(_ image: inout png_image, into luma: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        image.format = png_uint_32(PNG_FORMAT_GRAY)
        var white = png_color(red: 255, green: 255, blue: 255)
        return png_image_finish_read(&image, &white, luma.baseAddress, png_int_32(image.width), nil) != 0
    }

    private static func readColour(_ image: inout png_image, into luma: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        image.format &= png_uint_32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)
        let isColour = image.format & png_uint_32(PNG_FORMAT_FLAG_COLOR) != 0
        let hasAlpha = image.format & png_uint_32(PNG_FORMAT_FLAG_ALPHA) != 0
        let channels = (isColour ? 3 : 1) + (hasAlpha ? 1 : 0)
        var pixels = [UInt8](repeating: 255, count: luma.count * channels)
        let isComplete = png_image_finish_read(&image, nil, &pixels, png_int_32(Int(image.width) * channels), nil) != 0
        pixels.withUnsafeBufferPointer { pixels in
            for at in luma.indices {
                let pixel = at * channels
                // The luma weights of ITU-R BT.601, in 1/256.
                let level =
                    isColour
                    ? (77 * Int(pixels[pixel]) + 150 * Int(pixels[pixel + 1]) + 29 * Int(pixels[pixel + 2])) >> 8
                    : Int(pixels[pixel])
                let opacity = hasAlpha ? Int(pixels[pixel + channels - 1]) : 255
                luma[at] = UInt8((level * opacity + 255 * (255 - opacity)) / 255)
            }
        }
        return isComplete
    }

    /// Returns the content of the eXIf chunk, which may be anywhere in the file.
    private static func exif(_ reader: ByteReader) -> ArraySlice<UInt8>? {
        var at = 8
        while let length = reader.uint32(at: at), let type = reader.slice(at: at + 4, count: 4) {
            if type.elementsEqual("eXIf".utf8) { return reader.slice(at: at + 8, count: length) }
            at += 12 + length
        }
        return nil
    }

    private func message(of image: png_image) -> String {
        withUnsafeBytes(of: image.message) { text in
            String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
