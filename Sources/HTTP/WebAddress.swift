import Glibc

/// An absolute http or https address. Parsing is strict: an address that two parsers could understand differently is
/// refused. A connection therefore always goes to the host that was checked.
///
/// There must be no user name before the host, and no percent sign, backslash or non-ASCII letter in the host. An
/// international name must be in its `xn--` form.
public struct WebAddress: Sendable, Hashable, CustomStringConvertible {
    public let scheme: Scheme
    /// The host in lower case; an IPv6 address is in brackets.
    public let host: String
    /// The port; `nil` for the default port of the scheme.
    public let port: UInt16?
    /// The path, which starts with "/", and the query. There is no fragment.
    public let target: String

    public enum Scheme: String, Sendable { case http, https }

    /// The length limit of an address in bytes.
    public static let maxLength = 2048

    /// - Returns: `nil` if the text is not a plain absolute address.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maxLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
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

    /// The scheme and the host, and the port if it is not the default.
    public var origin: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }

    /// True if the address is on this machine: the host is "localhost" or a loopback address.
    public var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Returns an address below the path of this address.
    ///
    /// - Parameter target: the path and query without a leading slash, already percent-encoded.
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
    /// The text percent-encoded for a path segment or a query value. All characters are encoded except the unreserved
    /// ones of RFC 3986, 2.3.
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

/// Recognises addresses of this machine and of private networks. Plain http may be used for these addresses, because
/// nobody outside the network can read the data.
///
/// The private addresses are loopback, 10/8, 172.16/12, 192.168/16 (RFC 1918), 169.254/16 (RFC 3927), fc00::/7 (RFC
/// 4193) and fe80::/10 (RFC 4291). No other address is private, even if ``PublicAddress`` does not count it as public.
enum PrivateAddress {
    /// - Parameter address: a socket address of `length` bytes.
    static func isPrivate(_ address: UnsafePointer<sockaddr>, length: Int) -> Bool {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            guard length >= MemoryLayout<sockaddr_in>.size else { return false }
            let raw = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
            return isPrivate(v4: UInt32(bigEndian: raw))
        case AF_INET6:
            guard length >= MemoryLayout<sockaddr_in6>.size else { return false }
            let raw = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return isPrivate(v6: withUnsafeBytes(of: raw) { Array($0) })
        default: return false
        }
    }

    static func isPrivate(v4 address: UInt32) -> Bool {
        address >> 24 == 127 || address >> 24 == 10 || address >> 20 == 0xAC1 || address >> 16 == 0xC0A8
            || address >> 16 == 0xA9FE
    }

    /// - Parameter bytes: the sixteen bytes of the IPv6 address.
    static func isPrivate(v6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        if let address = PublicAddress.mappedV4(bytes) { return isPrivate(v4: address) }
        if bytes.dropLast().allSatisfy({ $0 == 0 }) { return bytes[15] == 1 }
        return bytes[0] & 0xFE == 0xFC || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
    }
}

/// Recognises addresses of the public internet.
///
/// Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates).
enum PublicAddress {
    /// - Parameter address: a socket address of `length` bytes.
    static func isPublic(_ address: UnsafePointer<sockaddr>, length: Int) -> Bool {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            guard length >= MemoryLayout<sockaddr_in>.size else { return false }
            let raw = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr
            return isPublic(v4: UInt32(bigEndian: raw))
        case AF_INET6:
            guard length >= MemoryLayout<sockaddr_in6>.size else { return false }
            let raw = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return isPublic(v6: withUnsafeBytes(of: raw) { Array($0) })
        default: return false
        }
    }

    static func isPublic(v4 address: UInt32) -> Bool {
        !reservedV4.contains { address >> (32 - $0.bits) == $0.prefix >> (32 - $0.bits) }
    }

    /// - Parameter bytes: the sixteen bytes of the IPv6 address.
    static func isPublic(v6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        func v4(at offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        // ::ffff:a.b.c.d, 64:ff9b:: (NAT64) and 2002:: (6to4) contain an IPv4 address, which is checked instead.
        if let address = mappedV4(bytes) { return isPublic(v4: address) }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) { return isPublic(v4: v4(at: 12)) }
        if bytes.starts(with: [0x20, 0x02]) { return isPublic(v4: v4(at: 2)) }
        // Only 2000::/3 is global unicast, except documentation (2001:db8::/32) and 2001::/23 (Teredo and tests).
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        if bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8]) { return false }
        return !(bytes.starts(with: [0x20, 0x01]) && bytes[2] < 0x02)
    }

    /// Returns the IPv4 address in an IPv6 address of the form ::ffff:a.b.c.d; `nil` for any other address.
    ///
    /// - Parameter bytes: the sixteen bytes of the IPv6 address.
    static func mappedV4(_ bytes: [UInt8]) -> UInt32? {
        guard bytes.count == 16, bytes[0..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else {
            return nil
        }
        return bytes[12...].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static let reservedV4: [(prefix: UInt32, bits: UInt32)] = [
        (0x0000_0000, 8),  // this network
        (0x0A00_0000, 8),  // private
        (0x6440_0000, 10),  // carriers' shared space
        (0x7F00_0000, 8),  // loopback
        (0xA9FE_0000, 16),  // link-local
        (0xAC10_0000, 12),  // private
        (0xC000_0000, 24),  // protocol assignments
        (0xC000_0200, 24),  // documentation
        (0xC0A8_0000, 16),  // private
        (0xC612_0000, 15),  // benchmarks
        (0xC633_6400, 24),  // documentation
        (0xCB00_7100, 24),  // documentation
        (0xE000_0000, 3),  // multicast, reserved, broadcast
    ]
}
