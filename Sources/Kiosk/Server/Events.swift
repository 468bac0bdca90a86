import Bookplate
import FoundationEssentials
import Hummingbird
import NIOCore
import Synchronization

/// Server-sent events (WHATWG HTML, 9.2): what happens, as it happens.
struct EventRoutes: Sendable {
    let events: EventHub
    /// Another one with every start of the service: pages that see it change load themselves anew.
    let run: String

    var routes: [Route] { [Route(.get, "/api/events", for: .guests, stream)] }

    private func stream(_ request: Request, _ context: KioskContext) -> Response {
        let (stream, run) = (events.events(forGuest: context.isGuest, in: context.language), run)
        let change = events.changes
        return Response(
            status: .ok, headers: .stream(of: "text/event-stream"),
            body: ResponseBody { writer in
                // The page reconnects a second after the stream broke.
                try await writer.write(
                    ByteBuffer(string: "retry: 1000\nevent: hello\ndata: {\"run\":\"\(run)\",\"change\":\(change)}\n\n")
                )
                for await event in stream.cancelOnGracefulShutdown() { try await writer.write(event) }
                try await writer.finish(nil)
            })
    }
}

/// One thing that pages are told as it happens.
struct KioskEvent: Sendable {
    /// As the page's script listens for it.
    var name: String
    /// In the language of the page that listens.
    var data: @Sendable (Language) -> JSONValue

    init(name: String, data: JSONValue) { self.init(name: name) { _ in data } }

    init(name: String, data: @escaping @Sendable (Language) -> JSONValue) { (self.name, self.data) = (name, data) }

    /// Guests look at the library alone: that something changed is all they are told, and never what the station sees and does.
    var isForGuests: Bool { name == "library" || name == "batch" }

    /// As it goes over the wire.
    func bytes(in language: Language) -> ByteBuffer {
        ByteBuffer(string: "event: \(name)\ndata: \(data(language).text)\n\n")
    }
}

/// Hands events on to whoever listens, each written out once for all of one language. A listener that is slow loses the oldest.
final class EventHub: Sendable {
    /// So many wait for a listener at the most: more than a page needs to catch up on.
    static let mostWaiting = 64
    /// Between two signs of life: without one, nobody would notice that a listener is gone until something happens.
    static let heartbeat: Duration = .seconds(15)

    private struct Listener {
        let stream: AsyncStream<ByteBuffer>.Continuation
        let isGuest: Bool
        let language: Language
    }

    private let listeners = Mutex<[UUID: Listener]>([:])
    private let last = Mutex(0)

    /// How often the library has changed in this run, as far as it was told. A page that was made before the last change, and listens since,
    /// has not heard of it.
    var changes: Int { last.withLock { $0 } }

    /// How many listen.
    var listening: Int { listeners.withLock(\.count) }

    /// - Parameter isGuest: whether only what guests may know is to come.
    func events(forGuest isGuest: Bool = false, in language: Language = .english) -> AsyncStream<ByteBuffer> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(Self.mostWaiting))
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

    /// The library has changed once more.
    func libraryChanged(_ count: Int) {
        last.withLock { $0 = count }
        send(KioskEvent(name: "library", data: ["change": .integer(count)]))
    }

    /// A comment, which pages do not see.
    func beat() {
        let bytes = ByteBuffer(string: ":\n\n")
        for listener in listeners.withLock({ Array($0.values) }) { listener.stream.yield(bytes) }
    }
}
