import Foundation
import Glibc

/// A socket that listens on a free port of 127.0.0.1.
public struct LoopbackListener: Sendable {
    public let descriptor: Int32
    let name: sockaddr_in

    public var port: Int { Int(UInt16(bigEndian: name.sin_port)) }

    /// The address, such as "http://127.0.0.1:34567".
    var address: String { "http://127.0.0.1:\(port)" }

    /// - Parameter queue: the number of connections that may wait to be accepted; Linux adds one.
    public init(queue: Int32) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in(loopbackPort: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, queue) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else {
            let code = POSIXErrorCode(rawValue: errno) ?? .EIO
            close(descriptor)
            throw POSIXError(code)
        }
        self.descriptor = descriptor
        self.name = name
    }

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

extension sockaddr_in {
    /// The address of a port of 127.0.0.1; with port 0, the kernel chooses one.
    init(loopbackPort port: Int) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        sin_port = UInt16(port).bigEndian
    }
}
