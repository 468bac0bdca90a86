import Hummingbird

/// Scripts, styles and pictures that come with the program.
struct AssetRoutes: Sendable {
    let web: WebFolder

    var routes: [Route] { [Route(.get, "/assets/**", for: .everyone, asset)] }

    private func asset(_ request: Request, _ context: KioskContext) throws -> Response {
        let path = context.parameters.getCatchAll().joined(separator: "/")
        guard let asset = web.assets[path] else { throw RequestRefusal.notThere("file") }
        var headers: HTTPFields = [
            .contentType: asset.type, .eTag: asset.tag, .cacheControl: "no-cache", .vary: "Accept-Encoding",
        ]
        if request.headers[.ifNoneMatch] == asset.tag { return Response(status: .notModified, headers: headers) }
        var bytes = asset.bytes
        if let compressed = asset.compressed, request.takesGzip {
            headers[.contentEncoding] = "gzip"
            bytes = compressed
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Request {
    /// Whether the browser names gzip among what it takes, and does not refuse it (RFC 9110, 12.5.3).
    fileprivate var takesGzip: Bool {
        (headers[.acceptEncoding] ?? "").prefix(500).lowercased().split(separator: ",").contains { wish in
            let parts = wish.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            return parts.first == "gzip" && !parts.dropFirst().contains { $0 == "q=0" || $0 == "q=0.0" }
        }
    }
}
