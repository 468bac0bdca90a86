import Bookplate
import FoundationEssentials
import Hummingbird
import NIOCore
import Synchronization

/// Serves the stream of server-sent events (WHATWG HTML, 9.2).
struct EventRoutes: Sendable {
    let events: EventHub
    /// An identifier that is new at every start of the service. Pages that see another identifier reload.
    let run: String

    var routes: [Route] { [Route(.get, "/api/events", for: .guests, stream)] }

    private func stream(_ request: Request, _ context: KioskContext) -> Response {
        let (stream, run) = (events.events(forGuest: context.isGuest, in: context.language), run)
        let change = events.changes
        return Response(
            status: .ok, headers: .stream(of: "text/event-stream"),
            body: ResponseBody { writer in
                // Pages reconnect a second after the stream breaks.
                try await writer.write(
                    ByteBuffer(string: "retry: 1000\nevent: hello\ndata: {\"run\":\"\(run)\",\"change\":\(change)}\n\n")
                )
                for await event in stream.cancelOnGracefulShutdown() { try await writer.write(event) }
                try await writer.finish(nil)
            })
    }
}

/// An event that is sent to pages.
struct KioskEvent: Sendable {
    /// The type of the event. Scripts listen for this name.
    var name: String
    /// Returns the event's data in the language of a page.
    var data: @Sendable (Language) -> JSONValue

    init(name: String, data: JSONValue) { self.init(name: name) { _ in data } }

    init(name: String, data: @escaping @Sendable (Language) -> JSONValue) { (self.name, self.data) = (name, data) }

    /// True for the two events that guests receive. These events only announce a change, because guests may not see
    /// what the station sees and does.
    var isForGuests: Bool { name == "library" || name == "batch" }

    /// Returns the event in the form in which it is sent over the network.
    func bytes(in language: Language) -> ByteBuffer {
        ByteBuffer(string: "event: \(name)\ndata: \(data(language).text)\n\n")
    }
}

/// Sends events to all listeners. Each event is encoded once per language. Slow listeners lose their oldest events.
final class EventHub: Sendable {
    /// The maximum number of events that may wait for a listener. If there are more, the oldest are dropped.
    static let bufferLimit = 64
    /// The interval between heartbeats. They reveal that a connection is closed even if there are no events.
    static let heartbeat: Duration = .seconds(15)

    private struct Listener {
        let stream: AsyncStream<ByteBuffer>.Continuation
        let isGuest: Bool
        let language: Language
    }

    private let listeners = Mutex<[UUID: Listener]>([:])
    private let lastChange = Mutex(0)

    /// The number of changes to the library in this run. Each page contains the number from the time when it was
    /// rendered. When the page begins to listen for events, it compares this number with the current one, and refreshes
    /// itself if the library has changed in between.
    var changes: Int { lastChange.withLock { $0 } }

    var listenerCount: Int { listeners.withLock(\.count) }

    /// Returns the events from now on, encoded for the network.
    ///
    /// - Parameter isGuest: true to return only the events that guests may receive.
    func events(forGuest isGuest: Bool = false, in language: Language = .english) -> AsyncStream<ByteBuffer> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(Self.bufferLimit))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.removeValue(forKey: id) }
        }
        listeners.withLock { $0[id] = Listener(stream: continuation, isGuest: isGuest, language: language) }
        return stream
    }

    func send(_ event: KioskEvent) {
        let listeners = listeners.withLock { listeners in
            listeners.values.filter { event.isForGuests || !$0.isGuest }
        }
        for (language, listeners) in Dictionary(grouping: listeners, by: \.language) {
            let bytes = event.bytes(in: language)
            for listener in listeners { listener.stream.yield(bytes) }
        }
    }

    /// Announces a change to the library.
    func libraryChanged(_ count: Int) {
        lastChange.withLock { $0 = count }
        send(KioskEvent(name: "library", data: ["change": .integer(count)]))
    }

    /// Sends a comment to all listeners. Pages ignore comments.
    func sendHeartbeat() {
        let bytes = ByteBuffer(string: ":\n\n")
        for listener in listeners.withLock({ Array($0.values) }) { listener.stream.yield(bytes) }
    }
}
