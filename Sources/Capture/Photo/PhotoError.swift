import Glibc

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
