import ArgumentParser
import Bookplate
import Foundation

/// What has to be so before the kiosk opens to others.
enum KioskDoor {
    /// - Throws: when it is no address to listen on, or no names.
    static func check(listen: String, names: [String]) throws {
        if listen != "localhost", bytes(of: listen) == nil {
            throw ValidationError(
                "--listen takes an address of this machine (127.0.0.1, 192.168.1.5, 0.0.0.0 for all of them), not "
                    + "\"\(listen.oneLine)\". A name goes with --name.")
        }
        for name in names where !isHostName(name) {
            throw ValidationError(
                "--name takes a host name without scheme, port and path, such as shelf.example, not \"\(name.oneLine)\"."
            )
        }
    }

    /// Only this machine may come in without a code.
    ///
    /// - Throws: ``Complaint`` with what to do.
    static func requireCode(for listen: String, behindProxy: Bool = false, of access: some Access) async throws {
        if isLoopback(listen), !behindProxy { return }
        if try await access.hasAccessCode() { return }
        if isLoopback(listen) {
            throw Complaint(
                .configuration,
                "with --behind-proxy everybody signs in, and no access code is set. Set one with 'scan kiosk code'.")
        } else {
            throw Complaint(
                .configuration,
                "others could reach the library at \(listen), and no access code is set. Set one with 'scan kiosk code', "
                    + "or leave --listen out: then only this machine gets in.")
        }
    }

    /// 127.0.0.0/8 and ::1 (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3).
    static func isLoopback(_ address: String) -> Bool {
        if address == "localhost" { return true }
        guard let bytes = bytes(of: address) else { return false }
        return bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    private static func bytes(of address: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, address, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        if inet_pton(AF_INET6, address, &six) == 1 { return withUnsafeBytes(of: &six) { Array($0) } }
        return nil
    }

    /// Labels of letters, digits and hyphens (RFC 1123, 2.1).
    private static func isHostName(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return name.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy {
                        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45
                    }
            }
    }
}
