import Glibc

/// A port on which no connection is ever established, like a host behind a dead network: its queue is full and nothing
/// accepts from it, so Linux drops new ones.
public final class DeafPort: Sendable {
    /// The address, such as "http://127.0.0.1:34567".
    public let address: String
    private let descriptors: [Int32]

    public init() throws {
        // A queue of 0 holds one connection; the second waits for ever.
        let listener = try LoopbackListener(queue: 0)
        address = listener.address
        descriptors =
            [listener.descriptor]
            + (0..<2).map { _ in
                let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
                withUnsafePointer(to: listener.name) { pointer in
                    _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(filler, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                return filler
            }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}
