import Bookplate
import Hummingbird
import Station

/// The camera's picture, live: one JPEG after the other in a body that goes on (multipart/x-mixed-replace).
struct PreviewRoutes: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/api/station/preview", for: .household, stream)] }

    private func stream(_ request: Request, _ context: KioskContext) async throws -> Response {
        guard let preview = parts.ports.preview, case .streaming = await parts.ports.station.snapshot(limit: 0).camera
        else {
            throw RequestRefusal(
                status: .serviceUnavailable, code: "noPicture",
                message: "The camera shows no picture now. It is asked for again by itself.",
                headers: [.retryAfter: "1"])
        }
        guard let frames = preview.parts() else {
            throw RequestRefusal(
                status: .serviceUnavailable, code: "tooManyWatch",
                message: "\(PreviewFeed.most) pages show the camera already. Close one of them.",
                headers: [.retryAfter: "5"], values: ["count": "\(PreviewFeed.most)"])
        }
        return Response(
            status: .ok,
            headers: .stream(of: "multipart/x-mixed-replace; boundary=\(PreviewFeed.boundary)"),
            body: ResponseBody { writer in
                for await part in frames.cancelOnGracefulShutdown() { try await writer.write(part) }
                try await writer.write(ByteBuffer(string: "--\(PreviewFeed.boundary)--\r\n"))
                try await writer.finish(nil)
            })
    }
}
