import Bookplate
import Glibc
import SystemCalls
import SystemPackage

/// A still photo: JPEG, PNG, WebP, or HEIC if libheif is installed. The initialisers read the file and its header. The
/// picture is decoded on demand, directly to grey and no larger than needed.
///
/// Only one thread may use it at a time, because it keeps the last decoded picture.
public final class PhotoFile: Picture {
    /// The name or path of the photo, as the user gave it.
    public let name: String
    public let format: PhotoFormat
    public var width: Int { image.width }
    public var height: Int { image.height }
    public var orientation: Orientation { image.orientation }
    /// True if data was missing or wrong in the parts decoded so far. A code may still be found in the other parts. If
    /// none is found, the photo should be reported as damaged, not as having no code.
    public private(set) var isDamaged = false

    private let image: any GreyImage
    /// The largest picture decoded so far, from which smaller ones are made.
    private var decoded: Frame?

    /// Opens a file, following symbolic links.
    ///
    /// - Parameter name: the photo's name in messages, because a path need not be valid text.
    /// - Throws: ``PhotoError`` if the path does not lead to a regular file, or the file is larger than ``PhotoLimit``
    ///   allows, or it is not a photo.
    public convenience init(path: FilePath, name: String) throws(PhotoError) {
        try self.init(bytes: PhotoBytes.read(path: path, photo: name), name: name)
    }

    /// Opens a file whose name is text. See ``init(path:name:)``.
    public convenience init(path: String) throws(PhotoError) { try self.init(path: FilePath(path), name: path) }

    /// Reads a photo from an open descriptor, such as standard input (0), to its end.
    public convenience init(descriptor: Int32, name: String) throws(PhotoError) {
        try self.init(
            bytes: PhotoBytes.read(FileDescriptor(rawValue: descriptor), photo: name), name: name)
    }

    /// - Parameter name: the photo's name in messages.
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

    /// Loads libheif and its decoders now, if they are installed, instead of with the first HEIC photo. This is for a
    /// process that can open no files afterwards.
    public static func loadLibheif() {
        // If this fails, HEIC photos are refused with libheif's reason.
        _ = Libheif.installed?.initialise?(nil)
    }

    /// - Throws: ``PhotoError/damaged(photo:format:reason:)`` if nothing can be decoded, or
    ///   ``PhotoError/outOfMemory(photo:)``.
    public func luma(atLeast longSide: Int) throws -> Frame {
        let wanted = min(max(longSide, 1), max(width, height))
        if let decoded, max(decoded.width, decoded.height) >= wanted { return decoded }
        let fresh = try image.decode(longSide: wanted)
        isDamaged = isDamaged || fresh.isDamaged
        decoded = fresh.frame
        return fresh.frame
    }

    /// Returns the picture in grey, scaled down by averaging to at most `longSide` pixels on its long side.
    ///
    /// - Throws: ``PhotoError/damaged(photo:format:reason:)`` if nothing can be decoded, or
    ///   ``PhotoError/outOfMemory(photo:)``.
    public func luma(longSide: Int) throws -> Frame {
        let wanted = min(max(longSide, 1), max(width, height))
        return try luma(atLeast: wanted).areaAveraged(longSide: wanted)
    }
}

/// Reads the bytes of a photo, up to ``PhotoLimit/bytes``.
///
/// The file is not mapped into memory. If another program shortened a mapped file, SIGBUS would end this process.
enum PhotoBytes {
    /// Reads a regular file. Anything else is refused before it is opened, because opening a pipe can block for ever,
    /// and opening a device can start it.
    static func read(path: FilePath, photo: String) throws(PhotoError) -> [UInt8] {
        var status = stat()
        guard path.withPlatformString({ stat($0, &status) }) == 0 else {
            throw .cannotOpen(photo: photo, errno: .current)
        }
        try check(status, photo)
        let file: FileDescriptor
        do {
            // Do not block, because a pipe may have replaced the file since stat().
            file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        } catch {
            throw .cannotOpen(photo: photo, errno: error as? Errno ?? .ioError)
        }
        // Errors from closing a file that was only read can be ignored.
        defer { try? file.close() }
        guard fstat(file.rawValue, &status) == 0 else { throw .cannotOpen(photo: photo, errno: .current) }
        try check(status, photo)
        return try read(file, photo: photo, expecting: Int(status.st_size))
    }

    /// Reads a file of any kind to its end.
    ///
    /// - Parameter expecting: the expected number of bytes. A good estimate saves reallocations.
    static func read(_ file: FileDescriptor, photo: String, expecting: Int = 1 << 20) throws(PhotoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(max(expecting, 0), PhotoLimit.bytes) + 1)
        var filled = 0
        while true {
            if filled == bytes.count {
                guard filled <= PhotoLimit.bytes else { throw .fileTooLarge(photo: photo, limit: PhotoLimit.bytes) }
                bytes.append(contentsOf: repeatElement(0, count: min(filled, PhotoLimit.bytes + 1 - filled)))
            }
            do {
                let count = try bytes.withUnsafeMutableBytes { try file.read(into: .init(rebasing: $0[filled...])) }
                if count == 0 { break }
                filled += count
            } catch Errno.resourceTemporarilyUnavailable {
                var waiting = pollfd(fd: file.rawValue, events: Int16(POLLIN), revents: 0)
                _ = poll(&waiting, 1, -1)
            } catch {
                throw .cannotRead(photo: photo, errno: error as? Errno ?? .ioError)
            }
        }
        guard filled > 0 else { throw .empty(photo: photo) }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    private static func check(_ status: stat, _ photo: String) throws(PhotoError) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .notAFile(photo: photo, kind: .folder)
        case S_IFIFO: throw .notAFile(photo: photo, kind: .pipe)
        case S_IFSOCK: throw .notAFile(photo: photo, kind: .socket)
        default: throw .notAFile(photo: photo, kind: .device)
        }
        guard status.st_size <= PhotoLimit.bytes else { throw .fileTooLarge(photo: photo, limit: PhotoLimit.bytes) }
    }
}

/// The formats of still photos that Bookplate reads. A format is recognised by the file's first bytes, never by its
/// name.
public enum PhotoFormat: String, Sendable, CaseIterable {
    case jpeg = "JPEG"
    case png = "PNG"
    case webp = "WebP"
    case heic = "HEIC"

    /// - Parameter bytes: the beginning of the file, at least 12 bytes unless the file is shorter.
    /// - Returns: `nil` if the file has none of these formats.
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

    /// The brands of HEVC-coded still images (ISO/IEC 23008-12, B.4), and the generic brands that cameras write first.
    private static let heicBrands = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]

    /// Returns the name of the format that the file's first bytes suggest, if it is a known format that Bookplate
    /// cannot read.
    static func nameOfOther(_ bytes: some Collection<UInt8>) -> String? {
        let known: [(String, offset: Int, magic: [UInt8])] = [
            ("a GIF", 0, Array("GIF8".utf8)), ("a TIFF", 0, Array("II*\0".utf8)), ("a TIFF", 0, Array("MM\0*".utf8)),
            ("a BMP", 0, Array("BM".utf8)), ("a PDF", 0, Array("%PDF".utf8)), ("an AVIF", 4, Array("ftypavif".utf8)),
            ("a JPEG XL", 0, [0xFF, 0x0A]), ("a JPEG XL", 4, Array("JXL ".utf8)),
            ("a JPEG 2000", 4, Array("jP  ".utf8)), ("a video", 4, Array("ftyp".utf8)),
        ]
        return known.first { bytes.dropFirst($0.offset).starts(with: $0.magic) }?.0
    }
}

/// The reason why a photo cannot be read. Each case carries the photo's name as the user gave it, and the details of
/// the error.
public enum PhotoError: Error, Hashable, Sendable {
    /// `open`, `stat` or `opendir` failed.
    case cannotOpen(photo: String, errno: Errno)
    /// `read` failed before the end of the file.
    case cannotRead(photo: String, errno: Errno)
    case notAFile(photo: String, kind: OtherKind)
    case empty(photo: String)
    /// - Parameter limit: the size limit in bytes.
    case fileTooLarge(photo: String, limit: Int)
    case tooManyPixels(photo: String, width: Int, height: Int)
    /// The photo is a progressive JPEG with so many scans that it would take too long to decode.
    case tooManyScans(photo: String, limit: Int)
    /// - Parameter looksLike: the format that the first bytes suggest; `nil` if they suggest no known format.
    case unknownFormat(photo: String, looksLike: String?)
    /// Nothing could be decoded. If part of a photo can be decoded, there is no error; instead, ``PhotoFile/isDamaged``
    /// is true.
    case damaged(photo: String, format: PhotoFormat, reason: String)
    /// There is not enough memory to decode the photo, or to encode a smaller one.
    case outOfMemory(photo: String)
    case unsupported(photo: String, what: String)
    /// The photo is in the HEIC format, and libheif is not installed.
    case needsLibheif(photo: String)

    /// A kind of file that cannot be a photo, because it is not a regular file.
    public enum OtherKind: String, Sendable {
        case folder = "a folder"
        case pipe = "a pipe"
        case socket = "a socket"
        case device = "a device"
    }

    /// The name of the photo.
    public var photo: String {
        switch self {
        case .cannotOpen(let photo, _), .cannotRead(let photo, _), .notAFile(let photo, _), .empty(let photo),
            .fileTooLarge(let photo, _), .tooManyPixels(let photo, _, _), .tooManyScans(let photo, _),
            .unknownFormat(let photo, _), .damaged(let photo, _, _), .outOfMemory(let photo),
            .unsupported(let photo, _), .needsLibheif(let photo):
            photo
        }
    }

    /// Creates the error of a decoder or an encoder that reports its reason only as a text, as libjpeg-turbo and libpng
    /// do.
    static func failed(photo: String, format: PhotoFormat, reason: String) -> PhotoError {
        let text = reason.lowercased()
        return ["out of memory", "insufficient memory", "memory allocation"].contains(where: text.contains)
            ? .outOfMemory(photo: photo) : .damaged(photo: photo, format: format, reason: reason)
    }
}

extension PhotoError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotOpen(let photo, .permissionDenied):
            "cannot open \(photo): permission denied. Make it readable for this account (chmod +r)."
        case .cannotOpen(let photo, .noSuchFileOrDirectory):
            "cannot open \(photo): there is no such file. Check the name."
        case .cannotOpen(let photo, let errno):
            "cannot open \(photo): \(errno). Check the name, and check that the disk is connected."
        case .cannotRead(let photo, let errno):
            "cannot read \(photo): \(errno). Copy it again from its source."
        case .notAFile(let photo, .folder):
            "\(photo) is a folder, not a photo. Give the names of the photos in it, or use a command that accepts folders."
        case .notAFile(let photo, let kind):
            "\(photo) is \(kind.rawValue), not a photo. Give the name of an image file, or '-' for standard input."
        case .empty(let photo):
            "\(photo) is empty (0 bytes). Copy it again from its source."
        case .fileTooLarge(let photo, let limit):
            "\(photo) is larger than \(limit >> 20) MiB, the limit for a photo. Save a smaller version, or save it as JPEG."
        case .tooManyPixels(let photo, let width, let height):
            "\(photo) is \(width)x\(height) pixels; the limits are \(PhotoLimit.pixels / 1_000_000) megapixels and "
                + "\(PhotoLimit.side) pixels per side. Scale it down."
        case .tooManyScans(let photo, let limit):
            "\(photo) is a progressive JPEG with more than \(limit) scans. Save it again as a non-progressive JPEG."
        case .unknownFormat(let photo, let looksLike?):
            "\(photo) is \(looksLike), which Bookplate cannot read. Convert it to JPEG, PNG, WebP or HEIC."
        case .unknownFormat(let photo, nil):
            "\(photo) is not a photo: its first bytes are not those of an image format. Give a JPEG, PNG, WebP or HEIC file."
        case .damaged(let photo, let format, let reason):
            "cannot decode \(photo): the \(format.rawValue) data is damaged (\(reason)). Copy the file again, or take the photo again."
        case .outOfMemory(let photo):
            "cannot decode \(photo): out of memory. Close other programs and try again."
        case .unsupported(let photo, let what):
            "cannot decode \(photo): \(what). Save the photo as an ordinary JPEG or PNG."
        case .needsLibheif(let photo):
            "cannot decode \(photo): HEIC photos need libheif, which is not installed. "
                + "Install it (apt-get install libheif1), or convert the photo to JPEG."
        }
    }
}

/// The limits for photos. All are checked before memory is allocated for the picture, because a JPEG of 294 bytes can
/// require 8 GB.
public enum PhotoLimit {
    /// The maximum file size, in bytes.
    public static let bytes = 32 << 20
    public static let pixels = 50_000_000
    /// The maximum length of a picture's longer side, in pixels.
    public static let side = 12_000
    /// The maximum number of scans in a progressive JPEG. Encoders write about ten, and decoding each takes a pass over
    /// the whole picture.
    public static let scans = 100
    /// The number of levels of subfolders that are searched.
    public static let folderDepth = 32

    /// - Throws: ``PhotoError/tooManyPixels(photo:width:height:)``.
    static func check(width: Int, height: Int, photo: String) throws(PhotoError) {
        guard width <= side, height <= side, width * height <= pixels else {
            throw .tooManyPixels(photo: photo, width: width, height: height)
        }
    }
}

/// A decoder for one photo format. ``PhotoFile`` keeps the decoded picture and scales it down.
protocol GreyImage {
    /// The width of the stored picture, before it is turned upright.
    var width: Int { get }
    var height: Int { get }
    var orientation: Orientation { get }

    /// Decodes the whole picture to grey. The long side of the result has at least `longSide` pixels if the picture is
    /// large enough, and may have more if the format cannot be decoded at exactly that size.
    func decode(longSide: Int) throws(PhotoError) -> GreyPicture
}

/// A decoded picture in grey.
struct GreyPicture {
    var frame: Frame
    /// True if the decoder continued past missing or wrong data; the gaps are grey or white.
    var isDamaged: Bool
}
