import Glibc

/// An address of this machine on a network.
public struct MachineAddress: Sendable, Hashable {
    /// The address as text, without a zone: "192.168.0.17".
    public var text: String
    /// The name of the network interface, such as "eth0".
    public var interface: String

    public init(_ text: String, interface: String) { (self.text, self.interface) = (text, interface) }

    /// Returns the addresses of all networks with which the machine is connected, without loopback addresses and
    /// without those that are valid only together with an interface (RFC 4291, 2.5.6).
    public static func all() -> [MachineAddress] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        return sequence(state: first) { next in
            defer { next = next?.pointee.ifa_next }
            return next
        }.compactMap { entry in
            guard let address = entry.pointee.ifa_addr, entry.pointee.ifa_flags & UInt32(IFF_UP) != 0,
                let text = text(of: address)
            else { return nil }
            let isLinkLocal = text.hasPrefix("fe8") || text.hasPrefix("fe9") || text.hasPrefix("fea")
            guard !text.hasPrefix("127."), text != "::1",
                !(text.contains(":") && (isLinkLocal || text.hasPrefix("feb")))
            else { return nil }
            return MachineAddress(text, interface: String(cString: entry.pointee.ifa_name))
        }
    }

    /// Returns the address with which this machine would send to the internet: the one of the network in which people's
    /// other devices usually are. Nothing is sent.
    ///
    /// - Returns: `nil` if the machine has no route to other networks.
    public static func usual() -> String? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // An address for documentation (RFC 5737). Connecting a datagram socket only chooses a route.
        var other = sockaddr_in()
        other.sin_family = sa_family_t(AF_INET)
        other.sin_port = in_port_t(9).bigEndian
        guard inet_pton(AF_INET, "192.0.2.1", &other.sin_addr) == 1 else { return nil }
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &other) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard connect(descriptor, address, size) == 0, getsockname(descriptor, address, &size) == 0 else {
                    return nil
                }
                return text(of: address)
            }
        }
    }

    /// Returns the name of this machine without a domain; an empty string if it has none.
    public static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(name.prefix { $0 != "." })
    }

    /// - Returns: `nil` for an address that is neither of IPv4 nor of IPv6.
    private static func text(of address: UnsafeMutablePointer<sockaddr>) -> String? {
        let size: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(size), &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(text.prefix { $0 != "%" })
    }

    var isIPv6: Bool { text.contains(":") }

    /// False if the address can be reached from the internet, unless a firewall prevents it: all addresses but those
    /// for private networks (RFC 1918, RFC 4193, RFC 3927, RFC 6598).
    var isPrivate: Bool {
        if isIPv6 { return text.hasPrefix("fc") || text.hasPrefix("fd") }
        let bytes = text.split(separator: ".").compactMap { UInt8($0) }
        guard bytes.count == 4 else { return false }
        return switch (bytes[0], bytes[1]) {
        case (10, _), (192, 168), (169, 254), (172, 16...31), (100, 64...127): true
        default: false
        }
    }
}
