import CZlib
import Hummingbird

/// Compression with gzip (RFC 1952), for assets and pages.
enum Gzip {
    /// The effort to compress an answer.
    enum Effort {
        /// For bytes that are compressed once and sent many times.
        case best
        /// For a page, which is compressed each time it is sent: at least twice as fast, and a tenth larger.
        case fast

        fileprivate var level: Int32 { self == .best ? Z_BEST_COMPRESSION : 3 }
    }

    /// - Returns: `nil` where the result would be no smaller, or memory runs out.
    static func compressed(_ bytes: [UInt8], _ effort: Effort = .best) -> [UInt8]? {
        var stream = z_stream()
        // 15 bits of window, and 16 for gzip's header instead of zlib's (zlib.h, deflateInit2).
        guard
            deflateInit2_(
                &stream, effort.level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(bytes.count))))
        let isWhole = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, uInt(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, uInt(output.count))
                return deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
        }
        let count = Int(stream.total_out)
        return isWhole && count < bytes.count ? Array(output.prefix(count)) : nil
    }
}

extension Request {
    /// True if the client accepts gzip (RFC 9110, 12.5.3).
    var acceptsGzip: Bool {
        (headers[.acceptEncoding] ?? "").prefix(500).lowercased().split(separator: ",").contains { wish in
            let parts = wish.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            return parts.first == "gzip" && !parts.dropFirst().contains { $0 == "q=0" || $0 == "q=0.0" }
        }
    }
}
