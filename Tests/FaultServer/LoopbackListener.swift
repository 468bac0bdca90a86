import Foundation
import Glibc

/// A socket that listens on a free port of 127.0.0.1.
public final class LoopbackListener: Sendable {
    /// The socket. ``serve(_:)`` closes it; without that call, the caller does.
    public let descriptor: Int32
    let name: sockaddr_in
    /// A second socket with the same port, which does not listen. While it is open, the kernel gives the port to nobody
    /// else, so that after ``stop()`` connections are refused and do not reach the server of another test.
    private let reservation: Int32

    public var port: Int { Int(UInt16(bigEndian: name.sin_port)) }

    /// The address, such as "http://127.0.0.1:34567".
    var address: String { "http://127.0.0.1:\(port)" }

    /// - Parameter queue: the number of connections that may wait to be accepted; Linux adds one.
    public init(queue: Int32) throws {
        var name = sockaddr_in(loopbackPort: 0)
        reservation = try boundSocket(&name)
        do {
            descriptor = try boundSocket(&name)
        } catch {
            close(reservation)
            throw error
        }
        self.name = name
        guard listen(descriptor, queue) == 0 else { throw POSIXError(errno) }
    }

    deinit { close(reservation) }

    /// Serves connections until ``stop()``: accepts them on one thread, and serves each on a thread of its own.
    func serve(_ serve: @escaping @Sendable (Connection) -> Void) {
        Thread.detachNewThread { [descriptor] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else {
                    // Closed only here, because another server may get the number at once.
                    close(descriptor)
                    return
                }
                Thread.detachNewThread {
                    let connection = Connection(client)
                    serve(connection)
                    connection.end()
                }
            }
        }
    }

    /// Refuses further connections.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// Returns a socket that is bound to the address. A port of 0 is replaced by the one that the kernel has chosen.
private func boundSocket(_ name: inout sockaddr_in) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    // Two sockets may have the same port if both allow it, and if neither listens yet.
    var allowed: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &allowed, socklen_t(MemoryLayout<Int32>.size))
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &name) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
        }
    }
    guard isBound else {
        let error = POSIXError(errno)
        close(descriptor)
        throw error
    }
    return descriptor
}

extension POSIXError {
    fileprivate init(_ number: Int32) { self.init(POSIXErrorCode(rawValue: number) ?? .EIO) }
}

extension sockaddr_in {
    /// The address of a port of 127.0.0.1; with port 0, the kernel chooses one.
    init(loopbackPort port: Int) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        sin_port = UInt16(port).bigEndian
    }
}
