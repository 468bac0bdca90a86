import Foundation
import Testing

/// A stand-in for systemd: a datagram socket that receives the notifications of a service.
final class NoticeSocket: Sendable {
    /// The value for NOTIFY_SOCKET.
    let name: String
    private let descriptor: Int32
    private let folder: String

    enum Kind: String, CaseIterable { case path, abstract }

    init(_ kind: Kind = .path) throws {
        folder = NSTemporaryDirectory() + "notice-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        name = (kind == .abstract ? "@" : "") + folder + "/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var bytes = Array(name.utf8)
        if kind == .abstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(bound == 0, "bind: \(String(cString: strerror(errno)))")
        // A limit, in case nothing is sent.
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
        // If that fails, only a temporary folder is left.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Returns the next datagram, or `nil` after 30 seconds without one.
    func next() async -> String? {
        // Do not block a thread of the pool, because the sender may need it.
        await withCheckedContinuation { received in
            DispatchQueue.global().async { [self] in received.resume(returning: receive()) }
        }
    }

    private func receive() -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Returns the datagrams up to and including the first that fits.
    func receive(until fits: (String) -> Bool) async -> [String] {
        var received: [String] = []
        while let datagram = await next() {
            received.append(datagram)
            if fits(datagram) { break }
        }
        return received
    }
}
