import Hummingbird

/// The scripts, styles and pictures that come with the program.
struct AssetRoutes: Sendable {
    let web: WebFolder

    var routes: [Route] { [Route(.get, "/assets/**", for: .everyone, asset)] }

    private func asset(_ request: Request, _ context: KioskContext) throws -> Response {
        let path = context.parameters.getCatchAll().joined(separator: "/")
        guard let asset = web.assets[path] else { throw RequestRefusal.notThere("file") }
        let compressed = request.acceptsGzip ? asset.compressed : nil
        // The compressed bytes need a tag of their own (RFC 9110, 8.8.3).
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
