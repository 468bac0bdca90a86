import Bookplate
import Hummingbird

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
