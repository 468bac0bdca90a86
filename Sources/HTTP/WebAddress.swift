/// An absolute http or https address, read strictly: what two parsers could understand differently is refused, so that the
/// host that is checked is the host that is connected to.
///
/// No user name, no percent sign, backslash or non-ASCII letter in the host; an international name is written in its `xn--` form.
public struct WebAddress: Sendable, Hashable, CustomStringConvertible {
    public let scheme: Scheme
    /// In lower case; an IPv6 address stands in its brackets.
    public let host: String
    /// `nil` is the scheme's own.
    public let port: UInt16?
    /// Path and query, begins with "/". No fragment.
    public let target: String

    public enum Scheme: String, Sendable { case http, https }

    /// The longest address that is looked at, in bytes.
    public static let longest = 2048

    /// - Returns: `nil` for anything but a plain absolute address.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        guard !text.utf8.contains(where: { #""<>\^`{|}"#.utf8.contains($0) }) else { return nil }
        let lowered = text.prefix(8).lowercased()
        guard let scheme: Scheme = lowered.hasPrefix("https://") ? .https : lowered.hasPrefix("http://") ? .http : nil
        else { return nil }
        let rest = text.dropFirst(scheme.rawValue.count + 3)
        let authorityEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        guard let (host, port) = Self.authority(rest[..<authorityEnd]) else { return nil }
        let tail = rest[authorityEnd...].prefix { $0 != "#" }
        self.scheme = scheme
        self.host = host
        self.port = port == (scheme == .https ? 443 : 80) ? nil : port
        target = tail.hasPrefix("/") ? String(tail) : "/" + tail
    }

    private init(scheme: Scheme, host: String, port: UInt16?, target: String) {
        (self.scheme, self.host, self.port, self.target) = (scheme, host, port, target)
    }

    public var description: String { origin + target }

    /// Scheme, host and port.
    public var origin: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }

    /// Whether the host is this machine by its literal address or by the name every machine has for itself.
    public var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The address below this one's path.
    ///
    /// - Parameter target: path and query without a leading slash, already percent-encoded.
    public func appending(_ target: String) -> WebAddress {
        let base = self.target.prefix { $0 != "?" }
        return WebAddress(
            scheme: scheme, host: host, port: port, target: base + (base.hasSuffix("/") ? "" : "/") + target)
    }

    /// The same address over https.
    public var secured: WebAddress { WebAddress(scheme: .https, host: host, port: port, target: target) }

    private static func authority(_ text: Substring) -> (host: String, port: UInt16?)? {
        var host = text.lowercased()
        var port: UInt16?
        if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") {
            let digits = host[host.index(after: colon)...]
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(digits), number > 0
            else { return nil }
            port = number
            host = String(host[..<colon])
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard host.dropFirst().dropLast().utf8.allSatisfy({ "0123456789abcdef:.".utf8.contains($0) }) else {
                return nil
            }
        } else {
            guard !host.isEmpty, host.utf8.count <= 253, !host.hasPrefix("."), !host.hasPrefix("-"),
                host.utf8.allSatisfy({ "0123456789abcdefghijklmnopqrstuvwxyz.-".utf8.contains($0) })
            else { return nil }
        }
        return (host, port)
    }
}

extension String {
    /// Percent-encoded for a path segment or a query value (RFC 3986, 2.3: all but the unreserved characters).
    public var percentEncoded: String {
        var out = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                out.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                out += "%" + (hex.count == 1 ? "0" : "") + hex
            }
        }
        return out
    }
}
