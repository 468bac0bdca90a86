import Bookplate
import CPNG
import CTurboJPEG
import CWebPEncoder
import CodeMaker
import Glibc
import TestTools

/// Returns one small code in every file format.
func photoSeeds(_ number: Int, _ random: inout SplitMix) -> [[UInt8]] {
    let (width, height) = (160 + 24 * number, 40)
    var frame = Frame(width: width, height: height)
    let middle = Point(x: Double(width) / 2, y: Double(height) / 2)
    var code = PrintedCode(
        payload: random.payload(prefix: "978"), centre: middle, module: Double(width) / 120, height: 34)
    code.bell = 0.4
    code.draw(into: &frame, &random)
    let grey = frame.luma
    let colour = grey.flatMap { [$0, $0, $0] }
    let jpegs = [
        jpeg(grey, width, height, TJPF_GRAY, TJSAMP_GRAY, 0),
        jpeg(colour, width, height, TJPF_RGB, [TJSAMP_420, TJSAMP_422, TJSAMP_444, TJSAMP_440][number], 0),
        jpeg(colour, width, height, TJPF_RGB, TJSAMP_420, TJFLAG_PROGRESSIVE),
        jpeg(grey.flatMap { [0, 0, 0, $0] }, width, height, TJPF_CMYK, TJSAMP_444, 0),
    ]
    let pngs = [
        png(grey, width, height, UInt32(PNG_FORMAT_GRAY)), png(colour, width, height, UInt32(PNG_FORMAT_RGB)),
        png(grey.flatMap { [$0, 255 - $0] }, width, height, UInt32(PNG_FORMAT_GA)),
        png(grey.flatMap { [$0, $0, $0, 200] }, width, height, UInt32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA)),
    ]
    let head = Array("P5\n\(width) \(height)\n255\n".utf8)
    let all = jpegs + pngs + webps(colour, width, height) + [head + grey]
    // With an EXIF orientation, and two frames one after the other as in a stream.
    return all + [withEXIF(jpegs[0], UInt8(1 + number * 2)), jpegs[0] + jpegs[1]]
}

private func jpeg(
    _ pixels: [UInt8], _ width: Int, _ height: Int, _ format: TJPF, _ sampling: TJSAMP, _ flags: Int32
) -> [UInt8] {
    guard let handle = tjInitCompress() else { fatalError("no memory") }
    defer { tjDestroy(handle) }
    var (result, count): (UnsafeMutablePointer<UInt8>?, UInt) = (nil, 0)
    let status = tjCompress2(
        handle, pixels, Int32(width), 0, Int32(height), Int32(format.rawValue), &result, &count,
        Int32(sampling.rawValue), 80, flags)
    guard status == 0, let result else { fatalError("TurboJPEG writes none") }
    defer { tjFree(result) }
    return Array(UnsafeBufferPointer(start: result, count: Int(count)))
}

private func png(_ pixels: [UInt8], _ width: Int, _ height: Int, _ format: UInt32) -> [UInt8] {
    var image = png_image()
    image.version = png_uint_32(PNG_IMAGE_VERSION)
    (image.width, image.height, image.format) = (png_uint_32(width), png_uint_32(height), format)
    var count = pixels.count * 2 + 1000
    var result = [UInt8](repeating: 0, count: count)
    guard png_image_write_to_memory(&image, &result, &count, 0, pixels, 0, nil) != 0 else {
        fatalError("libpng writes none")
    }
    return Array(result[..<count])
}

private func webps(_ pixels: [UInt8], _ width: Int, _ height: Int) -> [[UInt8]] {
    func bytes(_ encode: (inout UnsafeMutablePointer<UInt8>?) -> Int) -> [UInt8] {
        var result: UnsafeMutablePointer<UInt8>?
        let count = encode(&result)
        guard count > 0, let result else { fatalError("libwebp writes none") }
        defer { WebPFree(result) }
        return Array(UnsafeBufferPointer(start: result, count: count))
    }
    let (columns, rows, stride) = (Int32(width), Int32(height), Int32(width * 3))
    return [
        bytes { WebPEncodeRGB(pixels, columns, rows, stride, 70, &$0) },
        bytes { WebPEncodeLosslessRGB(pixels, columns, rows, stride, &$0) },
    ]
}

/// Returns the JPEG with an APP1 segment behind SOI (EXIF 2.32, 4.5.4).
private func withEXIF(_ jpeg: [UInt8], _ orientation: UInt8) -> [UInt8] {
    let tiff: [UInt8] = [
        0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0,
    ]
    let body = Array("Exif\0\0".utf8) + tiff
    return Array(jpeg[..<2]) + [0xFF, 0xE1, 0, UInt8(body.count + 2)] + body + Array(jpeg[2...])
}
