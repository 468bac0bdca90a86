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
