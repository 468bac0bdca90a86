import Hummingbird

/// Percent-encoding of URLs (RFC 3986, 2.1). Queries are in the form that browsers send (WHATWG URL, 5.1): a plus is a space.
enum PercentEncoding {
    /// - Throws: ``RequestRefusal`` (400) for a percent sign without two digits, and for invalid UTF-8.
    static func decoded(_ text: some Collection<UInt8>, isQuery: Bool) throws(RequestRefusal) -> String {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where isQuery: bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    throw refusal("The address has a % without two digits.", isQuery)
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw refusal("The address is no valid UTF-8.", isQuery)
        }
        return text
    }

    /// Encodes everything but the unreserved characters of RFC 3986, 2.3, as %XX.
    static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }

    private static func refusal(_ message: String, _ isQuery: Bool) -> RequestRefusal {
        RequestRefusal(status: .badRequest, code: isQuery ? "badQuery" : "badTarget", message: message)
    }
}

extension Request {
    /// Checks that path and query can be decoded, so that no route receives a malformed URL.
    ///
    /// - Throws: ``RequestRefusal`` (400).
    func checkTarget() throws(RequestRefusal) {
        _ = try PercentEncoding.decoded(uri.path.utf8, isQuery: false)
        _ = try PercentEncoding.decoded((uri.query ?? "").utf8, isQuery: true)
    }
}

// Queries in the form that browsers send (WHATWG URL, 5.1): pairs separated by &.
extension PercentEncoding {
    /// - Throws: ``RequestRefusal`` (400) for invalid UTF-8 or more than 200 pairs.
    static func pairs(_ query: String) throws -> [(name: String, value: String)] {
        let pieces = query.utf8.split(separator: UInt8(ascii: "&"), maxSplits: 200)
        guard pieces.count <= 200 else {
            throw RequestRefusal(
                status: .badRequest, code: "badQuery", message: "A query has at most 200 parameters.")
        }
        return try pieces.map { piece in
            let halves = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (
                try decoded(halves[0], isQuery: true), halves.count > 1 ? try decoded(halves[1], isQuery: true) : ""
            )
        }
    }
}

extension Request {
    /// Returns the parameters of the query, in order.
    func queryPairs() throws -> [(name: String, value: String)] { try PercentEncoding.pairs(uri.query ?? "") }

    /// Returns a parameter of the query, the last one if repeated; `nil` if absent.
    func queryValue(_ name: String) throws -> String? { try queryPairs().last { $0.name == name }?.value }

    /// Returns a whole number in the query.
    ///
    /// - Throws: ``RequestRefusal`` (400) for anything else and for a number outside of `range`.
    func number(_ name: String, in range: ClosedRange<Int>, or standard: Int) throws -> Int {
        guard let text = uri.queryParameters[name[...]] else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw RequestRefusal(
                status: .badRequest, code: "badQuery",
                message: "\"\(name)\" is a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
