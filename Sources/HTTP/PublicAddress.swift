import Glibc

/// Tells addresses of the public internet from those of this machine and of private networks.
///
/// Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates).
enum PublicAddress {
    /// - Parameter address: a socket address of which `length` bytes are there.
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

    /// - Parameter bytes: sixteen.
    static func isPublic(v6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        func v4(at offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        // ::ffff:a.b.c.d is the IPv4 address in it, so are 64:ff9b:: (NAT64) and 2002:: (6to4).
        if let address = mappedV4(bytes) { return isPublic(v4: address) }
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) { return isPublic(v4: v4(at: 12)) }
        if bytes.starts(with: [0x20, 0x02]) { return isPublic(v4: v4(at: 2)) }
        // Only 2000::/3 is global unicast; of it, documentation (2001:db8::/32) and 2001::/23 (Teredo and tests) are not.
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        if bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8]) { return false }
        return !(bytes.starts(with: [0x20, 0x01]) && bytes[2] < 0x02)
    }

    /// - Parameter bytes: sixteen, of which the last four are an IPv4 address where it is written as ::ffff:a.b.c.d.
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
