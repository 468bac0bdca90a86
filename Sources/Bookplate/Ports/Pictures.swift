/// A still photo whose grey levels are available at several scales, so that a decoder spends no time on pixels that it
/// does not need.
public protocol Picture {
    /// The width of the image as stored, before it is turned upright according to EXIF.
    var width: Int { get }
    var height: Int { get }
    /// The transformation that makes the stored image upright.
    var orientation: Orientation { get }

    /// Returns the grey levels of the image as stored (not turned). The scale is the cheapest one at which the longer
    /// side has at least `longSide` pixels; a smaller picture is returned at full size. Coordinates are scaled by
    /// `frame.width / width` and `frame.height / height`.
    ///
    /// - Throws: the photo's own error if its data is damaged.
    func luma(atLeast longSide: Int) throws -> Frame
}

/// The eight orientations of a stored image. Raw values and meaning are those of the EXIF tag Orientation (EXIF 2.32,
/// 4.6.4).
public enum Orientation: Int, Sendable {
    case up = 1, mirrored, down, downMirrored, leftMirrored, right, rightMirrored, left

    /// Returns the width and height of the upright image.
    public func uprightSize(width: Int, height: Int) -> (width: Int, height: Int) {
        rawValue >= 5 ? (height, width) : (width, height)
    }

    /// Maps a point of the stored image (of the given size) to the upright image.
    public func upright(_ point: Point, width: Int, height: Int) -> Point {
        let (w, h) = (Double(width), Double(height))
        return switch self {
        case .up: point
        case .mirrored: Point(x: w - point.x, y: point.y)
        case .down: Point(x: w - point.x, y: h - point.y)
        case .downMirrored: Point(x: point.x, y: h - point.y)
        case .leftMirrored: Point(x: point.y, y: point.x)
        case .right: Point(x: h - point.y, y: point.x)
        case .rightMirrored: Point(x: h - point.y, y: w - point.x)
        case .left: Point(x: point.y, y: w - point.x)
        }
    }
}

/// The result of decoding a photo in another process, which runs with limits on its resources.
public struct DecodedPhoto: Sendable, Equatable {
    /// The symbols in reading order.
    public var symbols: [Symbol]
    /// A small upright JPEG of the whole photo; `nil` if none could be made.
    public var thumbnail: [UInt8]?

    public init(symbols: [Symbol], thumbnail: [UInt8]? = nil) {
        self.symbols = symbols
        self.thumbnail = thumbnail
    }
}
