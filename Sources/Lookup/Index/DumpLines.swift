import CZlib
import Glibc

/// The lines of a dump file, plain or compressed by gzip (zlib tells them apart by the first bytes), in one buffer of a few MiB.
struct DumpLines: ~Copyable {
    /// Longer lines are skipped and counted.
    static let longest = 1 << 20

    private let file: gzFile
    private let path: String
    private(set) var tooLong = 0

    init(path: String) throws(OfflineIndexError) {
        guard let file = gzopen(path, "rb") else {
            throw .unreadable(path: path, cause: OfflineIndexError.systemCause)
        }
        gzbuffer(file, 256 << 10)
        self.file = file
        self.path = path
    }

    deinit { gzclose_r(file) }

    /// How far in the file itself, in bytes.
    var offset: Int { Int(gzoffset(file)) }

    /// Calls `body` for every line, without its line break; the bytes are gone after the call.
    ///
    /// - Throws: what `body` throws, ``OfflineIndexError/brokenDump(path:cause:)`` when the file cannot be read to its end.
    mutating func forEach(_ body: (UnsafeBufferPointer<UInt8>, _ offset: Int) throws -> Void) throws {
        let capacity = 2 * Self.longest
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)
        defer { buffer.deallocate() }
        var filled = 0
        var isSkipping = false
        while true {
            let count = gzread(file, buffer.baseAddress! + filled, UInt32(capacity - filled))
            guard count >= 0 else { throw broken() }
            filled += Int(count)
            var start = 0
            while let end = lineBreak(in: buffer[start..<filled]).map({ start + $0 }) {
                if isSkipping || end - start > Self.longest {
                    tooLong += 1
                } else {
                    try body(UnsafeBufferPointer(rebasing: buffer[start..<end]), offset)
                }
                isSkipping = false
                start = end + 1
            }
            if count == 0 {
                try finish(UnsafeBufferPointer(rebasing: buffer[start..<filled]), isSkipping, body)
                return
            }
            filled -= start
            if filled > Self.longest {
                // Longer than allowed already: what comes up to the next line break is passed over.
                (isSkipping, filled) = (true, 0)
            } else if start > 0 {
                memmove(buffer.baseAddress!, buffer.baseAddress! + start, filled)
            }
        }
    }

    /// memchr() passes over a row of some kilobytes a hundred times faster than an unoptimised loop.
    private func lineBreak(in bytes: Slice<UnsafeMutableBufferPointer<UInt8>>) -> Int? {
        let bytes = UnsafeBufferPointer(rebasing: bytes)
        guard let first = bytes.baseAddress, let found = memchr(first, 0x0A, bytes.count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(first)
    }

    /// The last line may have no line break.
    private mutating func finish(
        _ last: UnsafeBufferPointer<UInt8>, _ isSkipping: Bool,
        _ body: (UnsafeBufferPointer<UInt8>, _ offset: Int) throws -> Void
    ) throws {
        // A file cut in the middle of its compressed stream reads as its end; zlib tells here.
        var code: Int32 = 0
        _ = gzerror(file, &code)
        guard code == Z_OK || code == Z_STREAM_END else { throw broken() }
        if isSkipping {
            tooLong += 1
        } else if !last.isEmpty {
            try body(last, offset)
        }
    }

    private func broken() -> OfflineIndexError {
        var code: Int32 = 0
        let text = gzerror(file, &code).map { String(cString: $0) } ?? ""
        let cause = code == Z_ERRNO ? OfflineIndexError.systemCause : text.isEmpty ? "zlib code \(code)" : text
        return code == Z_ERRNO ? .unreadable(path: path, cause: cause) : .brokenDump(path: path, cause: cause)
    }
}
