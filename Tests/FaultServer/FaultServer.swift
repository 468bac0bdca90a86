import Foundation
import Glibc
import Synchronization

/// A web server for tests, on a free port of this machine, with correct or faulty replies.
///
/// Every path has a list of replies that are sent in turn; the last one is repeated. A path without replies answers as
/// ``onOtherPaths(_:)`` says, or 404 with a web page. One thread accepts connections, each connection has its own
/// thread, and each carries one request.
public final class FaultServer: Sendable {
    /// The address, such as "http://127.0.0.1:34567".
    public let address: String
    /// The requests in the order of their arrival.
    public let arrivals: AsyncStream<Request>

    private let listener: LoopbackListener
    private let arrived: AsyncStream<Request>.Continuation
    private let state = Mutex(State())

    private struct State {
        /// The replies by path; those for all other paths under `nil`.
        var replies: [String?: [Reply]] = [:]
        var requests: [Request] = []
        var stopped = false
        var stamp: (@Sendable () -> Duration)?
    }

    /// A request of a client.
    public struct Request: Sendable {
        public var target: String
        /// The headers, with names in lower case.
        public var headers: [String: String]
        /// The time by the clock given to ``stampRequests(by:)``.
        public var time: Duration = .zero

        /// The target without its query.
        public var path: String { String(target.prefix { $0 != "?" }) }
        /// Returns the decoded value of a query item.
        public func query(_ name: String) -> String? {
            URLComponents(string: target)?.queryItems?.first { $0.name == name }?.value
        }
    }

    /// Binds 127.0.0.1 and starts to answer.
    public init() throws {
        listener = try LoopbackListener(queue: 128)
        address = listener.address
        (arrivals, arrived) = AsyncStream.makeStream()
        listener.serve { [weak self] connection in self?.serve(connection) }
    }

    deinit { stop() }

    /// Stops accepting connections: clients are refused from now on.
    public func stop() {
        let wasStopped = state.withLock { state in
            defer { state.stopped = true }
            return state.stopped
        }
        guard !wasStopped else { return }
        listener.stop()
        arrived.finish()
    }

    /// Sets the replies of a path (or of a whole target with its query), replacing earlier ones.
    public func on(_ path: String, _ replies: Reply...) { state.withLock { $0.replies[path] = replies } }

    /// Sets the replies of all paths that have none of their own.
    public func onOtherPaths(_ replies: Reply...) { state.withLock { $0.replies[nil] = replies } }

    /// The requests so far.
    public var requests: [Request] { state.withLock(\.requests) }

    /// Returns the number of requests for a path.
    public func count(_ path: String) -> Int { requests.count { $0.path == path } }

    /// Stamps requests with the time of a test's clock.
    public func stampRequests(by clock: @escaping @Sendable () -> Duration) { state.withLock { $0.stamp = clock } }

    private func serve(_ connection: Connection) {
        guard let head = connection.readHead() else { return }
        let lines = head.components(separatedBy: "\r\n")
        let parts = (lines.first ?? "").split(separator: " ")
        guard parts.count == 3 else { return }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        let (request, reply) = state.withLock { state in
            let request = Request(target: String(parts[1]), headers: headers, time: state.stamp?() ?? .zero)
            state.requests.append(request)
            for key in [request.target, request.path, nil] {
                guard let replies = state.replies[key], let reply = replies.first else { continue }
                if replies.count > 1 { state.replies[key]?.removeFirst() }
                return (request, reply)
            }
            return (request, Reply.page("<!DOCTYPE html><title>not found</title>", status: 404))
        }
        arrived.yield(request)
        reply.send(connection, request)
    }
}
