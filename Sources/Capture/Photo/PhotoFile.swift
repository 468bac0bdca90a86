import Bookplate

/// A still photo: JPEG, PNG, WebP, or HEIC where libheif is installed. Opening reads the file and looks at its header; pictures are
/// decoded when asked for, straight to grey and no larger than needed.
///
/// One thread at a time: it keeps the last decoded picture.
public final class PhotoFile: Picture {
    /// As the person named it.
    public let name: String
    public let format: PhotoFormat
    public var width: Int { image.width }
    public var height: Int { image.height }
    public var orientation: Orientation { image.orientation }
    /// Whether data was missing or wrong in what was decoded so far. A code may still be found in the rest; where none is, say
    /// "damaged" and not "no code".
    public private(set) var isDamaged = false

    private let image: any GreyImage
    /// The largest picture decoded so far: what is asked for next may be made from it.
    private var decoded: Frame?

    /// Opens a file. Links are followed.
    ///
    /// - Throws: anything that is not a regular file, is larger than ``PhotoLimit`` allows, or is no photo.
    public convenience init(path: String) throws(PhotoError) {
        try self.init(bytes: PhotoBytes.read(path: path), name: path)
    }

    /// Reads a photo from an open descriptor to its end, such as standard input (0).
    public convenience init(descriptor: Int32, name: String) throws(PhotoError) {
        try self.init(bytes: PhotoBytes.read(descriptor: descriptor, photo: name), name: name)
    }

    /// - Parameter name: for messages.
    public init(bytes: [UInt8], name: String) throws(PhotoError) {
        guard !bytes.isEmpty else { throw .empty(photo: name) }
        guard bytes.count <= PhotoLimit.bytes else { throw .fileTooLarge(photo: name, limit: PhotoLimit.bytes) }
        guard let format = PhotoFormat(magic: bytes) else {
            throw .unknownFormat(photo: name, looksLike: PhotoFormat.nameOfOther(bytes))
        }
        (self.name, self.format) = (name, format)
        image =
            switch format {
            case .jpeg: try JPEGImage(bytes, name: name)
            case .png: try PNGImage(bytes, name: name)
            case .webp: try WebPImage(bytes, name: name)
            case .heic: try HEICImage(bytes, name: name)
            }
    }

    /// - Throws: ``PhotoError/damaged(photo:format:reason:)`` when nothing could be decoded.
    public func luma(atLeast longSide: Int) throws -> Frame {
        let wanted = min(max(longSide, 1), max(width, height))
        if let decoded, max(decoded.width, decoded.height) >= wanted { return decoded }
        let fresh = try image.decode(longSide: wanted)
        isDamaged = isDamaged || fresh.isDamaged
        decoded = fresh.frame
        return fresh.frame
    }

    /// The same averaged down to `longSide` pixels.
    ///
    /// - Throws: ``PhotoError/damaged(photo:format:reason:)`` when nothing could be decoded.
    public func luma(longSide: Int) throws -> Frame {
        let wanted = min(max(longSide, 1), max(width, height))
        return try luma(atLeast: wanted).areaAveraged(longSide: wanted)
    }
}
