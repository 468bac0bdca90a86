import Hummingbird

/// Scripts, styles and pictures that come with the program.
struct AssetRoutes: Sendable {
    let web: WebFolder

    var routes: [Route] { [Route(.get, "/assets/**", for: .everyone, asset)] }

    private func asset(_ request: Request, _ context: KioskContext) throws -> Response {
        let path = context.parameters.getCatchAll().joined(separator: "/")
        guard let asset = web.assets[path] else { throw RequestRefusal.notThere("file") }
        let compressed = request.takesGzip ? asset.compressed : nil
        // Other bytes have another tag (RFC 9110, 8.8.3).
        let tag = compressed == nil ? asset.tag : asset.tag.dropLast() + "-gzip\""
        var headers: HTTPFields = [
            .contentType: asset.type, .eTag: tag, .cacheControl: "no-cache", .vary: "Accept-Encoding",
        ]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        if compressed != nil { headers[.contentEncoding] = "gzip" }
        let bytes = ByteBuffer(bytes: compressed ?? asset.bytes)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
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
