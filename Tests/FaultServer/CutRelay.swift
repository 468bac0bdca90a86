import Glibc
import Synchronization

/// A network between a browser and a web server that cuts connections after a random number of bytes, wherever in a
/// request, an answer or a handshake that is.
public final class CutRelay: Sendable {
    /// The largest number of bytes that most connections, and every eighth, carry before they are cut.
    private static let (longest, longestOfEighth) = (12_000, 1_000_000)

    private struct State {
        var random: UInt64
        var cutsLeft = 0
    }

    private let listener: LoopbackListener
    private let server: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - server: the server's port.
    ///   - seed: chooses where connections are cut.
    public init(to server: Int, seed: UInt64) throws {
        self.server = server
        state = Mutex(State(random: seed))
        listener = try LoopbackListener(queue: 64)
        listener.serve { [weak self] client in self?.serve(client) }
    }

    deinit { listener.stop() }

    public var port: Int { listener.port }
    /// The number of connections that are still to be cut.
    public var cutsLeft: Int {
        get { state.withLock { $0.cutsLeft } }
        set { state.withLock { $0.cutsLeft = newValue } }
    }

    private func serve(_ client: Connection) {
        guard let server = Connection(toLoopbackPort: self.server) else { return }
        defer { server.end() }
        let end = state.withLock { state in
            // Knuth, The Art of Computer Programming, volume 2, 3.3.4.
            state.random = state.random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let number = Int(state.random >> 33)
            return number % 8 == 0 ? number / 8 % Self.longestOfEighth : number / 8 % Self.longest
        }
        var (carried, buffer) = (0, [UInt8](repeating: 0, count: 1024))
        var ends = [client, server].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while poll(&ends, 2, -1) > 0 {
            for (index, other) in [(0, server), (1, client)] where ends[index].revents != 0 {
                let count = recv(ends[index].fd, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                carried += count
                if carried > end, takeCut() {
                    client.reset()
                    server.reset()
                    return
                }
                other.send(Array(buffer[..<count]))
            }
        }
    }

    private func takeCut() -> Bool {
        state.withLock { state in
            guard state.cutsLeft > 0 else { return false }
            state.cutsLeft -= 1
            return true
        }
    }
}
