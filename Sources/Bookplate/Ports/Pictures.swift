/// A still photo whose grey levels can be had at several scales, so that a decoder need not pay for pixels it does not use.
public protocol Picture {
    /// Size of the image as stored, before EXIF turns it.
    var width: Int { get }
    var height: Int { get }
    /// How the stored image is turned to stand upright.
    var orientation: Orientation { get }

    /// The grey levels as stored (not turned), the long side at least so many pixels where the picture has them: as large as is
    /// cheapest. x and y are scaled by `frame.width / width` and `frame.height / height`.
    ///
    /// - Throws: the photo's own error when its data is damaged.
    func luma(atLeast longSide: Int) throws -> Frame
}

/// The eight ways an image can be stored. Raw values and meaning are those of the EXIF tag Orientation (EXIF 2.32, 4.6.4).
public enum Orientation: Int, Sendable {
    case up = 1, mirrored, down, downMirrored, leftMirrored, right, rightMirrored, left

    /// Width and height of the upright image.
    public func uprightSize(width: Int, height: Int) -> (width: Int, height: Int) {
        rawValue >= 5 ? (height, width) : (width, height)
    }

    /// Where a point of the stored image (of the given size) lies in the upright one.
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

/// Finds the bar codes of a picture.
public protocol SymbolDecoder {
    /// - Returns: every EAN-13 in reading order, each once, add-ons joined to the code they stand beside; empty when there is
    ///   none. Corners are in pixels of the upright full-size image.
    /// - Throws: the picture's own error when its data is damaged, or the decoder's when memory runs out.
    mutating func decode(_ picture: some Picture) throws -> [Symbol]
}

/// What a photo came to that somebody else has read for this program: in a process of its own, with limits.
public struct DecodedPhoto: Sendable, Equatable {
    /// In reading order.
    public var symbols: [Symbol]
    /// A small upright JPEG of the whole photo; `nil` where none could be made.
    public var thumbnail: [UInt8]?

    public init(symbols: [Symbol], thumbnail: [UInt8]? = nil) {
        self.symbols = symbols
        self.thumbnail = thumbnail
    }
}
