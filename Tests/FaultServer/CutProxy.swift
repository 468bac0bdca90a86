import Foundation
import Glibc
import Synchronization

/// A proxy to a web server, such as the hub, that cuts connections at a chosen point. Each connection has one request.
public final class CutProxy: Sendable {
    /// The point at which a request's connection is cut.
    public enum Cut: String, Sendable, CaseIterable {
        /// The hub gets nothing, and the connection is reset.
        case beforeRequest
        /// The hub gets the request without its end.
        case withinRequest
        /// The hub has processed the request, but the answer is lost.
        case beforeAnswer
        /// The station gets the answer without its end.
        case withinAnswer
    }

    private let listener: LoopbackListener
    private let hub: Mutex<Int>
    /// Decides for each request, by its number from 0 and its text. The closure may also do other work.
    private let plan: @Sendable (Int, String) -> Cut?
    private let count = Mutex(0)
    /// Called when the hub has answered, before the answer is forwarded.
    private let answered: @Sendable (Int) -> Void

    public init(
        to hubPort: Int, plan: @escaping @Sendable (Int, String) -> Cut?,
        answered: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        hub = Mutex(hubPort)
        (self.plan, self.answered) = (plan, answered)
        listener = try LoopbackListener(queue: 16)
        listener.serve { [weak self] client in self?.serve(client) }
    }

    deinit { listener.stop() }

    public var port: Int { listener.port }
    public var address: String { listener.address }
    /// The port of the hub, which changes if the hub is started again.
    public var hubPort: Int {
        get { hub.withLock { $0 } }
        set { hub.withLock { $0 = newValue } }
    }
    /// The number of requests so far.
    public var requests: Int { count.withLock { $0 } }

    private func serve(_ client: Connection) {
        let number = count.withLock { count in
            defer { count += 1 }
            return count
        }
        guard let request = message(from: client) else { return }
        let cut = plan(number, String(decoding: request, as: UTF8.self))
        if cut == .beforeRequest {
            client.reset()
            return
        }
        let hubPort = hubPort
        guard let hub = Connection(toLoopbackPort: hubPort) else { return }
        defer { hub.end() }
        // The hub only accepts its own host name.
        let rewritten = request.with(header: "Host", "127.0.0.1:\(hubPort)")
        if cut == .withinRequest {
            hub.send(rewritten.cut)
            return
        }
        hub.send(rewritten)
        guard let answer = message(from: hub) else { return }
        answered(number)
        switch cut {
        case .beforeAnswer: return
        case .withinAnswer: client.send(answer.cut)
        default: client.send(answer.with(header: "Connection", "close"))
        }
    }

    /// Reads the head and a body of Content-Length.
    private func message(from connection: Connection) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let end = bytes.headEnd {
                let head = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
                let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                if bytes.count >= end + (length ?? 0) { return bytes }
            }
            let count = recv(connection.descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }
}

extension [UInt8] {
    /// The message without its end.
    fileprivate var cut: [UInt8] { dropLast(Swift.max(1, count / 4)) }

    /// The index behind the empty line.
    fileprivate var headEnd: Int? {
        guard count >= 4 else { return nil }
        return (0...(count - 4)).first { self[$0..<$0 + 4] == [13, 10, 13, 10] }.map { $0 + 4 }
    }

    /// Returns the message with the value of a header replaced.
    fileprivate func with(header name: String, _ value: String) -> [UInt8] {
        guard let end = headEnd else { return self }
        var lines = String(decoding: self[..<(end - 4)], as: UTF8.self).components(separatedBy: "\r\n")
        lines.removeAll { $0.lowercased().hasPrefix(name.lowercased() + ":") }
        lines.append("\(name): \(value)")
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + self[end...]
    }
}
