import Bookplate
import Hummingbird

/// Percent-encoding for URLs (RFC 3986, 2.1). Queries are in the form that browsers send (WHATWG URL, 5.1), in which a
/// plus sign is a space.
enum PercentEncoding {
    /// Returns the decoded text.
    ///
    /// - Throws: ``RequestRefusal`` (400) if a percent sign is not followed by two hexadecimal digits, or if the result
    ///   is not valid UTF-8.
    static func decoded(_ text: some Collection<UInt8>, isQuery: Bool) throws(RequestRefusal) -> String {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where isQuery: bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    throw refusal(
                        "The address contains a \"%\" that is not followed by two hexadecimal digits.", isQuery)
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw refusal("The address is not valid UTF-8.", isQuery)
        }
        return text
    }

    /// Encodes all bytes as %XX except the unreserved characters of RFC 3986, 2.3.
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
        RequestRefusal(isQuery ? .badQuery : .badTarget, message)
    }
}

extension Request {
    /// Checks that the path and the query can be decoded, so that no route receives a malformed URL.
    ///
    /// - Throws: ``RequestRefusal`` (400).
    func checkTarget() throws(RequestRefusal) {
        _ = try PercentEncoding.decoded(uri.path.utf8, isQuery: false)
        _ = try PercentEncoding.decoded((uri.query ?? "").utf8, isQuery: true)
    }
}

// Queries in the form that browsers send (WHATWG URL, 5.1), with pairs that are separated by &.
extension PercentEncoding {
    /// Returns the names and values in a query, in order.
    ///
    /// - Throws: ``RequestRefusal`` (400) for invalid UTF-8 or for more than 200 pairs.
    static func pairs(_ query: String) throws -> [(name: String, value: String)] {
        let pieces = query.utf8.split(separator: UInt8(ascii: "&"), maxSplits: 200)
        guard pieces.count <= 200 else {
            throw RequestRefusal(.badQuery, "A query may have at most 200 parameters.")
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
    /// Returns the names and values in the query, in order.
    func queryPairs() throws -> [(name: String, value: String)] { try PercentEncoding.pairs(uri.query ?? "") }

    /// Returns the value of a query parameter, or its last value if the parameter is repeated; `nil` if it is absent.
    func queryValue(_ name: String) throws -> String? { try queryPairs().last { $0.name == name }?.value }

    /// Returns the ISBN in a query parameter; `nil` if the parameter is absent.
    ///
    /// - Throws: ``RequestRefusal`` (400) if the value is not an ISBN.
    func isbn(_ name: String) throws -> ISBN? {
        guard let text = try queryValue(name) else { return nil }
        do throws(ISBNRefusal) {
            return try ISBN(text)
        } catch {
            throw RequestRefusal(.badQuery, "\"\(name)\" must be an ISBN.")
        }
    }

    /// Returns the value of a query parameter, which must be a whole number.
    ///
    /// - Parameter standard: the number to return if the parameter is absent.
    /// - Throws: ``RequestRefusal`` (400) if the value is not a number or lies outside of `range`.
    func number(_ name: String, in range: ClosedRange<Int>, or standard: Int) throws -> Int {
        guard let text = uri.queryParameters[name[...]] else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw RequestRefusal(
                .badQuery, "\"\(name)\" must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
