import Bookplate
import CZlib
import SystemCalls
import Glibc
import SystemPackage

/// A row of an Open Library dump, with five columns separated by tabs: type, key, revision, last modified, JSON.
/// Source: openlibrary.org/developers/dumps.
enum DumpRow {
    case edition(id: Int64, version: Version, record: JSONValue)
    case work(id: Int64, version: Version, authors: [Int64])
    case author(id: Int64, version: Version, name: String)
    /// A row that is a redirect, a deleted record, or a record of a type that the index does not need.
    case other
    /// A row that cannot be parsed. Such rows are counted and do not stop the build.
    case junk(Junk)

    struct Version {
        var revision: Int64
        /// The time of the change as the dump writes it, such as "2008-04-01T03:28:50.625462"; empty if it is
        /// malformed.
        var modified: String
    }

    enum Junk: Equatable { case columns, content }

    init(_ line: UnsafeBufferPointer<UInt8>) {
        let columns = line.split(separator: UInt8(ascii: "\t"), maxSplits: 5, omittingEmptySubsequences: false)
        guard columns.count == 5 else {
            self = .junk(.columns)
            return
        }
        let texts = columns[0..<4].map { String(decoding: $0.prefix(64), as: UTF8.self) }
        let type = texts[0]
        guard ["/type/edition", "/type/work", "/type/author"].contains(type) else {
            self = type.hasPrefix("/type/") ? .other : .junk(.content)
            return
        }
        guard let revision = Int64(texts[2]),
            case .success(let record) = JSONValue.parse(UnsafeBufferPointer(rebasing: columns[4]))
        else {
            self = .junk(.content)
            return
        }
        let version = Version(revision: revision, modified: Self.time(texts[3]))
        self = Self.row(type, key: texts[1], version, record) ?? .junk(.content)
    }

    private static func row(_ type: String, key: String, _ version: Version, _ record: JSONValue) -> DumpRow? {
        switch type {
        case "/type/edition":
            OpenLibraryEdition.number(in: key, "/books/OL", "M").map {
                .edition(id: $0, version: version, record: record)
            }
        case "/type/work":
            OpenLibraryEdition.number(in: key, "/works/OL", "W").map {
                .work(id: $0, version: version, authors: authorNumbers(record))
            }
        default:
            OpenLibraryEdition.number(in: key, "/authors/OL", "A").flatMap { id in
                FieldLimits.text(record["name"] ?? record["personal_name"]).map {
                    .author(id: id, version: version, name: $0)
                }
            }
        }
    }

    /// Returns the numbers of the authors of an edition or a work, in order and without duplicates.
    static func authorNumbers(_ record: JSONValue) -> [Int64] {
        var seen: Set<Int64> = []
        return OpenLibraryEdition.authorKeys(record)
            .compactMap { OpenLibraryEdition.number(in: "/authors/\($0)", "/authors/OL", "A") }
            .filter { seen.insert($0).inserted }
    }

    private static func time(_ text: String) -> String {
        text.utf8.count <= 32 && CalendarDay(String(text.prefix(10))) != nil
            && text.utf8.allSatisfy { (0x30...0x3A).contains($0) || "-T.Z+".utf8.contains($0) } ? text : ""
    }
}

/// Reads the lines of a dump file through one buffer of a few MiB. The file may be plain or compressed with gzip, which
/// zlib recognises by the first bytes.
struct DumpLines: ~Copyable {
    /// The length limit of a line in bytes. Longer lines are skipped and counted.
    static let maxLength = 1 << 20

    private let file: gzFile
    private let path: String
    private(set) var tooLong = 0

    init(path: String) throws(OfflineIndexError) {
        guard let file = gzopen(path, "rb") else {
            throw .unreadable(path: path, cause: "\(Errno.current)")
        }
        gzbuffer(file, 256 << 10)
        self.file = file
        self.path = path
    }

    deinit { gzclose_r(file) }

    /// The position in the plain or compressed file on disk, in bytes.
    var offset: Int { Int(gzoffset(file)) }

    /// Calls `body` for every line, without its line break. The bytes are valid only during the call.
    ///
    /// - Throws: the errors of `body`, and ``OfflineIndexError/brokenDump(path:cause:)`` if the file cannot be read to
    ///   its end.
    mutating func forEach(_ body: (UnsafeBufferPointer<UInt8>, _ offset: Int) throws -> Void) throws {
        let capacity = 2 * Self.maxLength
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)
        defer { buffer.deallocate() }
        var filled = 0
        var isSkipping = false
        // The first error. A truncated compressed file seems to end normally; only gzerror() reports the error, and
        // since zlib 1.3.2 only until the next read.
        var failure: OfflineIndexError?
        while true {
            let count = gzread(file, buffer.baseAddress! + filled, UInt32(capacity - filled))
            failure = failure ?? error()
            guard count >= 0 else { throw failure ?? .brokenDump(path: path, cause: "zlib code \(count)") }
            filled += Int(count)
            var start = 0
            while let end = lineBreak(in: buffer[start..<filled]).map({ start + $0 }) {
                if isSkipping || end - start > Self.maxLength {
                    tooLong += 1
                } else {
                    try body(UnsafeBufferPointer(rebasing: buffer[start..<end]), offset)
                }
                isSkipping = false
                start = end + 1
            }
            if count == 0 {
                if let failure { throw failure }
                try finish(UnsafeBufferPointer(rebasing: buffer[start..<filled]), isSkipping, body)
                return
            }
            filled -= start
            if filled > Self.maxLength {
                // The line is already too long; skip the rest up to its line break.
                (isSkipping, filled) = (true, 0)
            } else if start > 0 {
                memmove(buffer.baseAddress!, buffer.baseAddress! + start, filled)
            }
        }
    }

    /// Finds the next line break. It uses memchr(), which is a hundred times faster than an unoptimised loop on a row
    /// of some kilobytes.
    private func lineBreak(in bytes: Slice<UnsafeMutableBufferPointer<UInt8>>) -> Int? {
        let bytes = UnsafeBufferPointer(rebasing: bytes)
        guard let first = bytes.baseAddress, let found = memchr(first, 0x0A, bytes.count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(first)
    }

    /// Handles the last line, which may have no line break.
    private mutating func finish(
        _ last: UnsafeBufferPointer<UInt8>, _ isSkipping: Bool,
        _ body: (UnsafeBufferPointer<UInt8>, _ offset: Int) throws -> Void
    ) throws {
        if isSkipping {
            tooLong += 1
        } else if !last.isEmpty {
            try body(last, offset)
        }
    }

    /// Returns the error of the last read.
    private func error() -> OfflineIndexError? {
        var code: Int32 = 0
        let text = gzerror(file, &code).map { String(cString: $0) } ?? ""
        guard code != Z_OK, code != Z_STREAM_END else { return nil }
        let cause = code == Z_ERRNO ? "\(Errno.current)" : text.isEmpty ? "zlib code \(code)" : text
        return code == Z_ERRNO ? .unreadable(path: path, cause: cause) : .brokenDump(path: path, cause: cause)
    }
}
