import Bookplate

/// A grey picture at the size at which printed text is read.
public struct OCRImage: Sendable, Equatable {
    let width: Int
    let height: Int
    private var grey: [UInt8]

    /// The length, in pixels, of the long side of the picture that tesseract reads. If a page fills the photo, the
    /// letters of its imprint are then about 20 pixels high. With a larger picture, tesseract takes longer and reads no
    /// more in real photos.
    static let longSide = 2400
    /// The maximum size of ``pgm``, in bytes.
    public static let maxBytes = longSide * longSide + 32

    /// Makes the upright image of a picture.
    ///
    /// - Throws: the picture's own error if its data is damaged.
    public init(_ picture: some Picture) throws {
        self = OCRImage(try picture.luma(atLeast: Self.longSide), longSide: Self.longSide)
            .turned(by: picture.orientation)
    }

    /// - Parameter longSide: the maximum length of the longer side, in pixels; a smaller frame keeps its size.
    init(_ frame: Frame, longSide: Int) {
        var image = OCRImage(width: frame.width, height: frame.height)
        frame.withLuma { luma in
            for y in 0..<frame.height {
                let row = luma[(y * frame.bytesPerLine)..<(y * frame.bytesPerLine + frame.width)]
                image.grey.replaceSubrange((y * frame.width)..<((y + 1) * frame.width), with: row)
            }
        }
        // Halve the image first, because interpolating between pixels that are further apart would lose print.
        while max(image.width, image.height) >= 2 * longSide { image = image.halved() }
        let long = max(image.width, image.height)
        self = long > longSide ? image.resized(by: Double(longSide) / Double(long)) : image
    }

    private init(width: Int, height: Int) {
        (self.width, self.height) = (max(1, width), max(1, height))
        grey = [UInt8](repeating: 0, count: self.width * self.height)
    }

    /// Returns the image at half its size, with the means of two by two pixels. An odd row or column at the end is
    /// dropped.
    private func halved() -> OCRImage {
        var half = OCRImage(width: width / 2, height: height / 2)
        grey.withUnsafeBufferPointer { from in
            half.grey.withUnsafeMutableBufferPointer { to in
                for y in 0..<half.height {
                    let (upper, lower) = (min(2 * y, height - 1) * width, min(2 * y + 1, height - 1) * width)
                    for x in 0..<half.width {
                        let (left, right) = (min(2 * x, width - 1), min(2 * x + 1, width - 1))
                        let sum =
                            Int(from[upper + left]) + Int(from[upper + right]) + Int(from[lower + left])
                            + Int(from[lower + right])
                        to[y * half.width + x] = UInt8((sum + 2) / 4)
                    }
                }
            }
        }
        return half
    }

    /// Returns the image scaled down by bilinear interpolation.
    private func resized(by factor: Double) -> OCRImage {
        var image = OCRImage(width: Int(Double(width) * factor), height: Int(Double(height) * factor))
        /// Returns the two old pixels around each new pixel, and the share of the second one in the new pixel, in units
        /// of 1/256.
        func neighbours(_ count: Int, of old: Int) -> [(first: Int, second: Int, share: Int)] {
            (0..<count).map { index in
                let middle = max(0, (Double(index) + 0.5) * Double(old) / Double(count) - 0.5)
                let first = min(Int(middle), old - 1)
                return (first, min(first + 1, old - 1), Int((middle - Double(first)) * 256))
            }
        }
        let (columns, rows) = (neighbours(image.width, of: width), neighbours(image.height, of: height))
        grey.withUnsafeBufferPointer { from in
            image.grey.withUnsafeMutableBufferPointer { to in
                for (y, row) in rows.enumerated() {
                    let (upper, lower) = (row.first * width, row.second * width)
                    for (x, column) in columns.enumerated() {
                        let (left, right) = (column.first, column.second)
                        let top =
                            Int(from[upper + left]) * (256 - column.share) + Int(from[upper + right]) * column.share
                        let bottom =
                            Int(from[lower + left]) * (256 - column.share) + Int(from[lower + right]) * column.share
                        to[y * image.width + x] = UInt8(
                            min(255, (top * (256 - row.share) + bottom * row.share + 32_768) >> 16))
                    }
                }
            }
        }
        return image
    }

    /// Returns the image turned upright.
    func turned(by orientation: Orientation) -> OCRImage {
        guard orientation != .up else { return self }
        let size = orientation.uprightSize(width: width, height: height)
        var image = OCRImage(width: size.width, height: size.height)
        /// Returns the index of a pixel in the turned image. The pixel's centre is mapped to the centre of a new pixel.
        func index(_ x: Int, _ y: Int) -> Int {
            let centre = orientation.upright(
                Point(x: Double(x) + 0.5, y: Double(y) + 0.5), width: width, height: height)
            return Int(centre.y) * size.width + Int(centre.x)
        }
        let origin = index(0, 0)
        let (across, down) = (width > 1 ? index(1, 0) - origin : 0, height > 1 ? index(0, 1) - origin : 0)
        grey.withUnsafeBufferPointer { from in
            image.grey.withUnsafeMutableBufferPointer { to in
                for y in 0..<height {
                    for x in 0..<width { to[origin + x * across + y * down] = from[y * width + x] }
                }
            }
        }
        return image
    }

    /// The image as a Portable Greymap. Source: pgm(5) of Netpbm.
    public var pgm: [UInt8] { Array("P5\n\(width) \(height)\n255\n".utf8) + grey }

    /// Parses a greymap that ``pgm`` has written in another process.
    ///
    /// - Returns: `nil` if the bytes are anything else.
    public init?(pgm bytes: [UInt8]) {
        let lines = bytes.prefix(32).split(
            separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
        guard lines.count == 4, let size = String(validating: lines[1], as: UTF8.self) else { return nil }
        let sides = size.split(separator: " ").compactMap { Int($0) }.filter { (1...Self.longSide).contains($0) }
        guard sides.count == 2 else { return nil }
        (width, height) = (sides[0], sides[1])
        grey = Array(bytes.suffix(width * height))
        guard bytes == pgm else { return nil }
    }
}
