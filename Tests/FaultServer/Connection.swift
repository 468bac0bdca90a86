import Glibc

/// A connection between a client and a server.
public struct Connection: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Connects to a server on this machine; `nil` if none listens there.
    init?(toLoopbackPort port: Int) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let (descriptor, name) = (descriptor, sockaddr_in(loopbackPort: port))
        let isConnected = withUnsafePointer(to: name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            end()
            return nil
        }
    }

    /// - Returns: everything up to the empty line; `nil` if the client disconnected before.
    func readHead() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < 65_536, recv(descriptor, &byte, 1, 0) == 1 {
            bytes.append(byte)
            if bytes.suffix(4) == [13, 10, 13, 10] { return String(decoding: bytes.dropLast(4), as: UTF8.self) }
        }
        return nil
    }

    /// - Returns: true if the client received everything.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Waits until the client disconnects.
    ///
    /// - Returns: true if it did within the time.
    @discardableResult
    public func awaitEnd(milliseconds: Int32 = -1) -> Bool {
        // 0x2000 is POLLRDHUP, which Glibc declares only with _GNU_SOURCE.
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN) | 0x2000, revents: 0)
        return poll(&watched, 1, milliseconds) != 0
    }

    /// Makes the connection end with a reset instead of an orderly close.
    public func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    func end() { close(descriptor) }
}
