import Bookplate
import Hummingbird

/// How the service stands, and what it can be asked for.
struct StationAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/healthz", for: .everyone, health),
            Route(.get, "/api/openapi.json", for: .everyone, description),
        ]
    }

    /// 200 when the library answers.
    private func health(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        _ = try await parts.library.count(in: [.waiting])
        return JSONAnswer(["status": "ok", "version": .string(parts.configuration.version)])
    }

    private func description(_ request: Request, _ context: KioskContext) -> Response {
        let file = parts.web.description
        return Response(
            status: .ok, headers: [.contentType: file.type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }
}
