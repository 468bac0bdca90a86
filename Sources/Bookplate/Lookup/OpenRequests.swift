import Synchronization

/// The requests to online sources that have not been answered yet, so that a screen can show whom a long lookup waits
/// for.
public final class OpenRequests: Sendable {
    /// The source of each request, in the order in which the requests began.
    private let requests = Mutex<[SourceName]>([])

    public init() {}

    /// The sources that are being asked, each once, in the order in which they were asked.
    public var sources: [SourceName] {
        requests.withLock { requests in
            requests.reduce(into: []) { sources, source in if !sources.contains(source) { sources.append(source) } }
        }
    }

    /// Adds a request, until ``end(_:)`` is called with the same source.
    public func begin(_ source: SourceName) { requests.withLock { $0.append(source) } }

    /// Removes a request that was answered or has failed.
    public func end(_ source: SourceName) {
        requests.withLock { requests in
            if let place = requests.firstIndex(of: source) { requests.remove(at: place) }
        }
    }
}
