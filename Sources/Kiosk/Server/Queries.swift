import Hummingbird

/// Texts within addresses (RFC 3986, 2.1). Queries are in the form that browsers write (WHATWG URL, 5.1): a plus is a space.
enum PercentEncoding {
    /// - Throws: ``RequestRefusal`` (400) for a percent sign without two digits, and for what is no UTF-8.
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

    /// Everything but the unreserved characters of RFC 3986, 2.3, as %XX.
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
    /// Nothing malformed comes to a route: what is in an address can be decoded, by whoever does it.
    ///
    /// - Throws: ``RequestRefusal`` (400).
    func checkTarget() throws(RequestRefusal) {
        _ = try PercentEncoding.decoded(uri.path.utf8, isQuery: false)
        _ = try PercentEncoding.decoded((uri.query ?? "").utf8, isQuery: true)
    }
}
