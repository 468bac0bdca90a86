import CZlib
import Foundation

/// A reply to a request.
public struct Reply: Sendable {
    /// Answers one request.
    public let send: @Sendable (Connection, FaultServer.Request) -> Void

    /// Creates a custom reply.
    public init(_ send: @escaping @Sendable (Connection, FaultServer.Request) -> Void) { self.send = send }

    /// A correct answer with its length.
    public static func answer(
        _ body: [UInt8], type: String, status: Int = 200, headers: [String: String] = [:]
    ) -> Reply {
        Reply { connection, _ in
            connection.send(
                head(status, ["Content-Type": type, "Content-Length": "\(body.count)"].merging(headers) { $1 }))
            connection.send(body)
        }
    }

    public static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> Reply {
        answer(Array(text.utf8), type: "application/json", status: status, headers: headers)
    }

    public static func xml(_ text: String, status: Int = 200) -> Reply {
        answer(Array(text.utf8), type: "text/xml; charset=utf-8", status: status)
    }

    /// JSON that depends on the request.
    public static func json(_ make: @escaping @Sendable (FaultServer.Request) -> String) -> Reply {
        Reply { connection, request in json(make(request)).send(connection, request) }
    }

    /// A web page instead of data, such as a sign-in page or an error page.
    public static func page(_ html: String, status: Int = 200) -> Reply {
        answer(Array(html.utf8), type: "text/html; charset=utf-8", status: status)
    }

    public static func status(_ status: Int, headers: [String: String] = [:]) -> Reply {
        json("{}", status: status, headers: headers)
    }

    public static func redirect(to location: String, status: Int = 302) -> Reply {
        answer([], type: "text/plain", status: status, headers: ["Location": location])
    }

    /// Accepts the request and never answers.
    public static let blackHole = Reply { connection, _ in connection.awaitEnd() }

    /// Sends the beginning of an answer, and no more.
    public static func hanging(after beginning: String) -> Reply {
        Reply { connection, _ in
            connection.send(Array(beginning.utf8))
            connection.awaitEnd()
        }
    }

    /// Ends the connection with a reset.
    public static let reset = Reply { connection, _ in connection.reset() }

    /// Declares `length` bytes, sends `body`, and closes the connection.
    public static func cut(_ body: String, length: Int) -> Reply {
        Reply { connection, _ in
            connection.send(head(200, ["Content-Type": "application/json", "Content-Length": "\(length)"]))
            connection.send(Array(body.utf8))
        }
    }

    /// A correct answer in chunks, without a declared length.
    public static func chunks(_ body: String) -> Reply {
        Reply { connection, request in
            cutChunks(body).send(connection, request)
            connection.send(chunk([]))
        }
    }

    /// Chunks without the last one.
    public static func cutChunks(_ body: String) -> Reply {
        Reply { connection, _ in
            connection.send(head(200, ["Content-Type": "application/json", "Transfer-Encoding": "chunked"]))
            connection.send(chunk(Array(body.utf8)))
        }
    }

    /// Endless chunks, until the client disconnects.
    public static let endless = Reply { connection, _ in
        connection.send(head(200, ["Content-Type": "application/json", "Transfer-Encoding": "chunked"]))
        let piece = chunk([UInt8](repeating: UInt8(ascii: " "), count: 65_536))
        while connection.send(piece) {}
    }

    /// One byte per second.
    public static func drip(_ body: String) -> Reply {
        Reply { connection, _ in
            connection.send(head(200, ["Content-Type": "application/json", "Content-Length": "\(body.utf8.count)"]))
            for byte in body.utf8 {
                guard connection.send([byte]), !connection.awaitEnd(milliseconds: 1000) else { return }
            }
        }
    }

    /// Endless headers.
    public static let endlessHeaders = Reply { connection, _ in
        connection.send(Array("HTTP/1.1 200 OK\r\n".utf8))
        let line = Array("X-Filler: \(String(repeating: "x", count: 1000))\r\n".utf8)
        while connection.send(line) {}
    }

    /// `size` spaces, compressed to a thousandth.
    public static func gzipBomb(size: Int) -> Reply {
        let body = gzip([UInt8](repeating: UInt8(ascii: " "), count: size))
        return answer(body, type: "application/json", headers: ["Content-Encoding": "gzip"])
    }

    /// Bytes that are not HTTP.
    public static func raw(_ bytes: [UInt8]) -> Reply { Reply { connection, _ in connection.send(bytes) } }

    private static func head(_ status: Int, _ headers: [String: String]) -> [UInt8] {
        let lines = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return Array("HTTP/1.1 \(status) Status\r\n\(lines)Connection: close\r\n\r\n".utf8)
    }

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array(String(bytes.count, radix: 16).utf8) + [13, 10] + bytes + [13, 10]
    }
}

/// Returns the bytes compressed with gzip.
public func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    let version = ZLIB_VERSION
    // 15 + 16: the largest window, with a gzip header.
    guard
        deflateInit2_(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY, version, Int32(MemoryLayout<z_stream>.size))
            == Z_OK
    else { return [] }
    defer { deflateEnd(&stream) }
    var (bytes, out) = (bytes, [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count)))))
    let written = bytes.withUnsafeMutableBufferPointer { input in
        out.withUnsafeMutableBufferPointer { output in
            (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
            (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
            return deflate(&stream, Z_FINISH) == Z_STREAM_END ? Int(stream.total_out) : 0
        }
    }
    return Array(out.prefix(written))
}
