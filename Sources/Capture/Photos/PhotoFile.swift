import Bookplate
import Glibc

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

/// The bytes of a photo, read whole up to ``PhotoLimit/bytes``.
///
/// Read, not mapped: a file that another program shortens would end the process with SIGBUS.
enum PhotoBytes {
    /// Reads a regular file. Anything else is refused before it is opened: opening a pipe can wait for ever, and opening a
    /// device can start it.
    static func read(path: String) throws(PhotoError) -> [UInt8] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .cannotOpen(photo: path, errno: errno) }
        try check(status, path)
        // O_NONBLOCK for the moment between stat and open, in which a pipe could have taken the file's place.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .cannotOpen(photo: path, errno: errno) }
        defer { close(descriptor) }
        guard fstat(descriptor, &status) == 0 else { throw .cannotOpen(photo: path, errno: errno) }
        try check(status, path)
        return try read(descriptor: descriptor, photo: path, expecting: Int(status.st_size))
    }

    /// Reads to the end, whatever the descriptor is.
    ///
    /// - Parameter expecting: how many bytes will come, as far as is known; only saves growing.
    static func read(descriptor: Int32, photo: String, expecting: Int = 1 << 20) throws(PhotoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(max(expecting, 0), PhotoLimit.bytes) + 1)
        var filled = 0
        while true {
            if filled == bytes.count {
                guard filled <= PhotoLimit.bytes else { throw .fileTooLarge(photo: photo, limit: PhotoLimit.bytes) }
                bytes.append(contentsOf: repeatElement(0, count: min(filled, PhotoLimit.bytes + 1 - filled)))
            }
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + filled, $0.count - filled)
            }
            if count > 0 {
                filled += count
            } else if count == 0 {
                break
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw .cannotRead(photo: photo, errno: errno)
            }
        }
        guard filled > 0 else { throw .empty(photo: photo) }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    private static func check(_ status: stat, _ path: String) throws(PhotoError) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .notAFile(photo: path, kind: .folder)
        case S_IFIFO: throw .notAFile(photo: path, kind: .pipe)
        case S_IFSOCK: throw .notAFile(photo: path, kind: .socket)
        default: throw .notAFile(photo: path, kind: .device)
        }
        guard status.st_size <= PhotoLimit.bytes else { throw .fileTooLarge(photo: path, limit: PhotoLimit.bytes) }
    }
}

/// The formats of still photos that are read. The first bytes decide, never the file's name.
public enum PhotoFormat: String, Sendable, CaseIterable {
    case jpeg = "JPEG"
    case png = "PNG"
    case webp = "WebP"
    case heic = "HEIC"

    /// - Parameter bytes: the file's beginning, at least 12 bytes where it has them.
    /// - Returns: nil when it is none of them.
    init?(magic bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(12))
        if head.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if head.starts(with: "RIFF".utf8), head.dropFirst(8).elementsEqual("WEBP".utf8) {
            self = .webp
        } else if Self.heicBrands.contains(where: { head.dropFirst(4).elementsEqual(("ftyp" + $0).utf8) }) {
            self = .heic
        } else {
            return nil
        }
    }

    /// Brands of HEVC-coded still images (ISO/IEC 23008-12, B.4), and the generic ones that cameras write first.
    private static let heicBrands = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]

    /// What a file that is none of them is, where its first bytes say so.
    static func nameOfOther(_ bytes: some Collection<UInt8>) -> String? {
        let known: [(String, offset: Int, magic: [UInt8])] = [
            ("a GIF", 0, Array("GIF8".utf8)), ("a TIFF", 0, Array("II*\0".utf8)), ("a TIFF", 0, Array("MM\0*".utf8)),
            ("a BMP", 0, Array("BM".utf8)), ("a PDF", 0, Array("%PDF".utf8)), ("an AVIF", 4, Array("ftypavif".utf8)),
            ("a JPEG XL", 0, [0xFF, 0x0A]), ("a JPEG XL", 4, Array("JXL ".utf8)),
            ("a JPEG 2000", 4, Array("jP  ".utf8)), ("a film", 4, Array("ftyp".utf8)),
        ]
        return known.first { bytes.dropFirst($0.offset).starts(with: $0.magic) }?.0
    }
}

/// Why a photo cannot be read. Each case carries the photo's name as the person gave it and the facts.
public enum PhotoError: Error, Hashable, Sendable {
    /// `open`, `stat` or `opendir` failed.
    case cannotOpen(photo: String, errno: Int32)
    /// `read` failed half way.
    case cannotRead(photo: String, errno: Int32)
    case notAFile(photo: String, kind: FileKind)
    case empty(photo: String)
    /// - Parameter limit: in bytes.
    case fileTooLarge(photo: String, limit: Int)
    case tooManyPixels(photo: String, width: Int, height: Int)
    /// A progressive JPEG that makes the decoder go over the picture again and again.
    case tooManyScans(photo: String, limit: Int)
    /// - Parameter looksLike: what the first bytes say, where they are known.
    case unknownFormat(photo: String, looksLike: String?)
    /// Nothing could be decoded. A photo of which only a part is there is read, with ``PhotoFile/isDamaged`` set.
    case damaged(photo: String, format: PhotoFormat, reason: String)
    case unsupported(photo: String, what: String)
    /// HEIC needs a library that is not installed.
    case needsLibheif(photo: String)

    public enum FileKind: String, Sendable {
        case folder = "a folder"
        case pipe = "a pipe"
        case socket = "a socket"
        case device = "a device"
    }

    /// The photo it happened to.
    public var photo: String {
        switch self {
        case .cannotOpen(let photo, _), .cannotRead(let photo, _), .notAFile(let photo, _), .empty(let photo),
            .fileTooLarge(let photo, _), .tooManyPixels(let photo, _, _), .tooManyScans(let photo, _),
            .unknownFormat(let photo, _), .damaged(let photo, _, _), .unsupported(let photo, _),
            .needsLibheif(let photo):
            photo
        }
    }
}

extension PhotoError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotOpen(let photo, EACCES):
            "cannot open \(photo): permission denied. Make it readable for this account (chmod +r)."
        case .cannotOpen(let photo, ENOENT):
            "cannot open \(photo): there is no such file. Check the name."
        case .cannotOpen(let photo, let errno):
            "cannot open \(photo): \(text(of: errno)). Check the name and that the disk is there."
        case .cannotRead(let photo, let errno):
            "cannot read \(photo): \(text(of: errno)). Copy it again from where it came from."
        case .notAFile(let photo, .folder):
            "\(photo) is a folder, not a photo. Name the photos in it, or give the folder where folders are taken."
        case .notAFile(let photo, let kind):
            "\(photo) is \(kind.rawValue), not a photo. Give the name of an image file, or - for standard input."
        case .empty(let photo):
            "\(photo) is empty (0 bytes). Copy it again from where it came from."
        case .fileTooLarge(let photo, let limit):
            "\(photo) is larger than \(limit >> 20) MiB, the limit for a photo. Save it smaller or as JPEG."
        case .tooManyPixels(let photo, let width, let height):
            "\(photo) is \(width)x\(height) pixels; the limits are \(PhotoLimit.pixels / 1_000_000) megapixels and "
                + "\(PhotoLimit.side) a side. Scale it down."
        case .tooManyScans(let photo, let limit):
            "\(photo) is a progressive JPEG of more than \(limit) scans. Save it again as an ordinary JPEG."
        case .unknownFormat(let photo, let looksLike?):
            "\(photo) is \(looksLike), which is not read. Convert it to JPEG, PNG, WebP or HEIC."
        case .unknownFormat(let photo, nil):
            "\(photo) is no photo: its first bytes are those of no image format. Give a JPEG, PNG, WebP or HEIC file."
        case .damaged(let photo, let format, let reason):
            "cannot decode \(photo): the \(format.rawValue) data is damaged (\(reason)). Copy it again or take the photo again."
        case .unsupported(let photo, let what):
            "cannot decode \(photo): \(what). Save it as an ordinary JPEG or PNG."
        case .needsLibheif(let photo):
            "cannot decode \(photo): HEIC photos need libheif, which is not installed. "
                + "Install it (apt-get install libheif1), or convert the photo to JPEG."
        }
    }
}

private func text(of errno: Int32) -> String { String(cString: strerror(errno)) }

/// What a photo may be. All are looked at before memory is taken for the picture: a JPEG of 294 bytes can ask for 8 GB.
public enum PhotoLimit {
    /// Bytes of the file.
    public static let bytes = 32 << 20
    public static let pixels = 50_000_000
    /// Pixels of the longer side.
    public static let side = 12_000
    /// Scans of a progressive JPEG. Encoders write about ten; each costs a pass over the whole picture.
    public static let scans = 100
    /// Folders below the one that is walked.
    public static let folderDepth = 32

    /// - Throws: ``PhotoError/tooManyPixels(photo:width:height:)``.
    static func check(width: Int, height: Int, photo: String) throws(PhotoError) {
        guard width <= side, height <= side, width * height <= pixels else {
            throw .tooManyPixels(photo: photo, width: width, height: height)
        }
    }
}

/// One format's way to grey levels. ``PhotoFile`` asks it, keeps what it gave and scales that down.
protocol GreyImage {
    /// Size as stored, before EXIF turns it.
    var width: Int { get }
    var height: Int { get }
    var orientation: Orientation { get }

    /// The whole picture in grey, the long side at least `longSide` where the picture has that much; larger where the format
    /// cannot scale.
    func decode(longSide: Int) throws(PhotoError) -> Decoded
}

/// Grey levels, and whether something was missing.
struct Decoded {
    var frame: Frame
    /// The decoder went on over missing or wrong data; what it did not have is grey or white.
    var isDamaged: Bool
}
