import Glibc

/// Tells addresses of this machine and of private networks: those to which plain http may go, as nobody on the way to them is
/// outside the house.
///
/// Loopback, 10/8, 172.16/12, 192.168/16 (RFC 1918), 169.254/16 (RFC 3927), fc00::/7 (RFC 4193), fe80::/10 (RFC 4291). All else is
/// not private, also what ``PublicAddress`` does not count as public.
enum PrivateAddress {
    /// - Parameter address: a socket address of which `length` bytes are there.
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

    /// - Parameter bytes: sixteen.
    static func isPrivate(v6 bytes: [UInt8]) -> Bool {
        guard bytes.count == 16 else { return false }
        if let address = PublicAddress.mappedV4(bytes) { return isPrivate(v4: address) }
        if bytes.dropLast().allSatisfy({ $0 == 0 }) { return bytes[15] == 1 }
        return bytes[0] & 0xFE == 0xFC || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
    }
}
