import Bookplate
import CZlib
import Foundation
import Hummingbird
import Mustache

/// The web files that come with the program, which are templates, texts and assets. They are loaded once, when the
/// program starts.
struct WebFolder: Sendable {
    struct Asset: Sendable {
        let bytes: [UInt8]
        /// The bytes compressed with gzip; `nil` if that would make them longer.
        let compressed: [UInt8]?
        let type: String
        /// The entity tag, which is a hash of the bytes.
        let tag: String
    }

    let templates: MustacheLibrary
    let texts: [Language: Texts]
    /// The description of the API (OpenAPI 3.1).
    let description: Asset
    /// The assets, by their paths below /assets.
    let assets: [String: Asset]
    /// The imports between the scripts in the assets.
    let imports: ImportGraph
    /// A hash of all these files. Devices that keep some of them fetch them again when it changes.
    let version: String

    /// The web files that come with this program, or the error that occurred when loading them.
    static let bundled = Result { try WebFolder() }

    /// - Throws: an error if the folder is missing or if a file in it is invalid.
    init(path: String = Bundle.module.bundlePath + "/Web") throws {
        HTMLEscaping.register()
        var templates = MustacheLibrary()
        for file in try Self.files(in: path + "/templates") where file.hasSuffix(".mustache") {
            let text = String(decoding: try Self.bytes(of: path + "/templates/" + file), as: UTF8.self)
            try templates.register(text, named: String(file.dropLast(".mustache".count)))
        }
        self.templates = templates
        texts = try Texts.load(
            try Self.files(in: path + "/texts").filter { $0.hasSuffix(".json") }
                .map { (String($0.dropLast(5)), Data(try Self.bytes(of: path + "/texts/" + $0))) })
        var assets: [String: Asset] = [:]
        for file in try Self.files(in: path + "/assets") {
            assets[file] = try Self.asset(path + "/assets/" + file)
        }
        self.assets = assets
        imports = ImportGraph(
            scripts: assets.filter { $0.key.hasSuffix(".js") }.mapValues { String(decoding: $0.bytes, as: UTF8.self) })
        description = try Self.asset(path + "/openapi.json")
        let files = try Self.files(in: path)
        version = try Self.hash(of: files.flatMap { try Self.bytes(of: path + "/" + $0) })
    }

    private static func asset(_ path: String) throws -> Asset {
        var bytes = try bytes(of: path)
        if path.hasSuffix(".js") || path.hasSuffix(".css") {
            bytes = Array(withoutComments(String(decoding: bytes, as: UTF8.self)).utf8)
        }
        return Asset(bytes: bytes, compressed: Gzip.compressed(bytes), type: type(of: path), tag: tag(of: bytes))
    }

    /// Returns a script or a style without the comments that have lines of their own, which are a quarter of its
    /// weight. The lines stay, so that the numbers in a browser's messages are those of the file.
    static func withoutComments(_ source: String) -> String {
        var isInComment = false
        return source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let text = line.drop { $0 == " " }
            guard isInComment || text.hasPrefix("/*") else { return text.hasPrefix("//") ? "" : line }
            isInComment = !text.contains("*/")
            return text.range(of: "*/").map { text[$0.upperBound...] } ?? ""
        }.joined(separator: "\n")
    }

    private static func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder + "/" + path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private static func type(of file: String) -> String {
        switch file.split(separator: ".").last {
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "json": "application/json"
        case "webmanifest": "application/manifest+json"
        default: "application/octet-stream"
        }
    }

    private static func tag(of bytes: [UInt8]) -> String { "\"" + hash(of: bytes) + "\"" }

    /// Returns an FNV-1a hash of 64 bits. It distinguishes the versions of a file but does not protect against forgery.
    private static func hash(of bytes: [UInt8]) -> String {
        String(bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
    }
}

/// The static imports of scripts. With them, a page can load all of its scripts at once.
struct ImportGraph: Sendable {
    /// The names of the scripts that each script imports directly, by the name of the importing script.
    let imports: [String: [String]]

    /// - Parameter scripts: the source text of each script, by the script's name. Each import must be on its own line:
    ///   `import { text } from "./texts.js";`
    init(scripts: [String: String]) {
        imports = scripts.mapValues { source in
            source.matches(of: /(?m)^import\s[^"\n]*"\.\/([^"\n]+)";/).map { String($0.output.1) }
        }
    }

    /// Returns all scripts that these scripts import, directly or indirectly, without duplicates.
    func modules(of entries: [String]) -> [String] {
        var seen = Set(entries)
        var (found, open): ([String], [String]) = ([], entries)
        while let script = open.popLast() {
            for module in imports[script] ?? [] where seen.insert(module).inserted {
                found.append(module)
                open.append(module)
            }
        }
        return found.sorted()
    }
}

/// Serves scripts, styles and pictures, and the description of the API.
struct AssetRoutes: Sendable {
    let web: WebFolder

    var routes: [Route] {
        [
            Route(.get, "/assets/**", for: .everyone, asset),
            Route(.get, "/api/openapi.json", for: .everyone, description),
        ]
    }

    private func asset(_ request: Request, _ context: KioskContext) throws -> Response {
        let path = context.parameters.getCatchAll().joined(separator: "/")
        guard let asset = web.assets[path] else { throw RequestRefusal.notFound("file") }
        let compressed = request.acceptsGzip ? asset.compressed : nil
        // A compressed representation needs its own tag (RFC 9110, 8.8.3).
        let tag = compressed == nil ? asset.tag : asset.tag.dropLast() + "-gzip\""
        var headers: HTTPFields = [
            .contentType: asset.type, .eTag: tag, .cacheControl: "no-cache", .vary: "Accept-Encoding",
        ]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        if compressed != nil { headers[.contentEncoding] = "gzip" }
        // It works for all pages, not only for those below its own folder (Service Workers, 7.2).
        if path == "service-worker.js" { headers[.serviceWorkerAllowed] = "/" }
        let bytes = ByteBuffer(bytes: compressed ?? asset.bytes)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
    }

    private func description(_ request: Request, _ context: KioskContext) -> Response {
        let file = web.description
        return Response(
            status: .ok, headers: [.contentType: file.type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }
}

/// Compresses assets and pages with gzip (RFC 1952).
enum Gzip {
    /// The effort for compressing a response. More effort takes more time and gives fewer bytes.
    enum Effort {
        /// The effort for bytes that are compressed once and sent many times.
        case best
        /// The effort for a page, which is compressed each time it is sent. For the Scan page with 200 books, it takes
        /// a third of the time of ``best``, and the result is a hundredth larger.
        case fast

        fileprivate var level: Int32 { self == .best ? Z_BEST_COMPRESSION : 4 }
    }

    /// - Returns: `nil` if the result would not be smaller, or if there is not enough memory.
    static func compressed(_ bytes: [UInt8], _ effort: Effort = .best) -> [UInt8]? {
        var stream = z_stream()
        // 15 is the size of the window in bits, and adding 16 selects gzip's header instead of zlib's (zlib.h,
        // deflateInit2).
        guard
            deflateInit2_(
                &stream, effort.level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(bytes.count))))
        let isWhole = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.next_in, stream.avail_in) = (input.baseAddress, uInt(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, uInt(output.count))
                return deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
        }
        let count = Int(stream.total_out)
        return isWhole && count < bytes.count ? Array(output.prefix(count)) : nil
    }
}

extension HTTPFields.Element.Name {
    fileprivate static let serviceWorkerAllowed = Self("Service-Worker-Allowed")!
}

extension Request {
    /// True if the client accepts gzip (RFC 9110, 12.5.3).
    var acceptsGzip: Bool {
        (headers[.acceptEncoding] ?? "").prefix(500).lowercased().split(separator: ",").contains { wish in
            let parts = wish.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
            return parts.first == "gzip" && !parts.dropFirst().contains { $0 == "q=0" || $0 == "q=0.0" }
        }
    }
}
