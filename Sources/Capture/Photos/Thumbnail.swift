import Bookplate
import CTurboJPEG

extension PhotoFile {
    /// Returns a small, upright, grey JPEG from which a person can recognise the book.
    ///
    /// - Parameters:
    ///   - corners: the corners of one code, in pixels of the upright full-size photo, if the photo shows several
    ///     codes. The thumbnail then shows an area three times as long as the code, which is about the size of a book's
    ///     cover. `nil` for the whole photo.
    ///   - longSide: the maximum length of the thumbnail's longer side, in pixels.
    /// - Returns: the JPEG's bytes, about 10 kB.
    /// - Throws: ``PhotoError``.
    public func thumbnail(around corners: Corners? = nil, longSide: Int = 320) throws -> [UInt8] {
        let full = orientation.uprightSize(width: width, height: height)
        let area =
            corners?.surroundings(width: full.width, height: full.height)
            ?? (x: 0, y: 0, width: full.width, height: full.height)
        // The smaller the area, the larger the picture from which it is cut. Above 1280 pixels, a sharper thumbnail is
        // not worth the time.
        let wanted = longSide * max(width, height) / max(area.width, area.height)
        let upright = try luma(longSide: min(wanted, 1280)).turned(by: orientation)
        let scale = Double(upright.width) / Double(full.width)
        func scaled(_ value: Int) -> Int { Int(Double(value) * scale) }
        let x = min(scaled(area.x), upright.width - 1)
        let y = min(scaled(area.y), upright.height - 1)
        let cut = upright.cropped(
            x: x, y: y, width: min(max(1, scaled(area.width)), upright.width - x),
            height: min(max(1, scaled(area.height)), upright.height - y))
        return try cut.areaAveraged(longSide: longSide).jpeg(quality: 80, name: name)
    }
}

extension Frame {
    /// Returns the picture turned upright.
    func turned(by orientation: Orientation) -> Frame {
        guard orientation != .up else { return self }
        let size = orientation.uprightSize(width: width, height: height)
        var result = Frame(width: size.width, height: size.height)
        let (width, height, stride) = (width, height, bytesPerLine)
        withLuma { source in
            result.withMutableLuma { target in
                for y in 0..<height {
                    for x in 0..<width {
                        // Map the centre of each old pixel to the centre of a new pixel.
                        let centre = Point(x: Double(x) + 0.5, y: Double(y) + 0.5)
                        let upright = orientation.upright(centre, width: width, height: height)
                        target[Int(upright.y) * size.width + Int(upright.x)] = source[y * stride + x]
                    }
                }
            }
        }
        return result
    }

    /// - Precondition: the area to cut out lies within the frame.
    func cropped(x: Int, y: Int, width: Int, height: Int) -> Frame {
        var result = Frame(width: width, height: height)
        let stride = bytesPerLine
        withLuma { source in
            result.withMutableLuma { target in
                for row in 0..<height {
                    for column in 0..<width {
                        target[row * width + column] = source[(y + row) * stride + x + column]
                    }
                }
            }
        }
        return result
    }

    /// - Throws: ``PhotoError/outOfMemory(photo:)``.
    func jpeg(quality: Int32, name: String) throws(PhotoError) -> [UInt8] {
        guard let compressor = tjInitCompress() else { throw .outOfMemory(photo: name) }
        defer { tjDestroy(compressor) }
        var memory: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(memory) }
        let status = withLuma { luma in
            tjCompress2(
                compressor, luma.baseAddress, Int32(width), Int32(bytesPerLine), Int32(height),
                Int32(TJPF_GRAY.rawValue), &memory, &count, Int32(TJSAMP_GRAY.rawValue), quality, 0)
        }
        guard status == 0, let memory else {
            throw .failed(photo: name, format: .jpeg, reason: String(cString: tjGetErrorStr2(compressor)))
        }
        return Array(UnsafeBufferPointer(start: memory, count: Int(count)))
    }
}
