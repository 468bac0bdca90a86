import Bookplate
import FoundationEssentials
import Hummingbird

/// Serves covers, and stores and removes the cover photos that a person uploads.
struct CoverAPI: Sendable {
    let parts: KioskParts
    /// The maximum size of a cover, in bytes. The library has the same limit.
    static let maxBytes = 5 << 20

    private static let notPicture = RequestRefusal(.notPicture, "A cover must be a JPEG, PNG or WebP picture.")

    var routes: [Route] {
        [
            Route(.get, "/covers/:edition", for: .guests, cover),
            Route(.put, "/api/books/:id/cover", for: .household, body: .photo, keep),
            Route(.delete, "/api/books/:id/cover", for: .household, remove),
        ]
    }

    private func cover(_ request: Request, _ context: KioskContext) async throws -> Response {
        try await context.library.coverResponse(context.id("edition", of: Edition.self), request)
    }

    private func keep(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard request.headers[.contentType]?.lowercased().hasPrefix("image/") == true else { throw Self.notPicture }
        let book = try await book(context)
        try await parts.uploads.withPicture(of: request, context, limit: Self.maxBytes) { bytes in
            // The type is detected from the first bytes, because the declared type is not trusted.
            guard let type = PictureType(bytes), type != .gif else { throw Self.notPicture }
            try await check(bytes)
            try await context.library.keepOwnCover(bytes, of: book.edition.id)
        }
        return try await respond(with: book, context)
    }

    /// Decodes the picture in an isolated process to check that it is intact and has the size that it declares. A
    /// service that cannot read photos stores the picture unchecked. In both cases, pictures are sent with a header
    /// that keeps browsers from running scripts in them.
    private func check(_ bytes: [UInt8]) async throws {
        guard let read = parts.ports.readPhoto else { return }
        do {
            _ = try await read(bytes)
        } catch let error as KioskError where error.kind == .refused {
            throw RequestRefusal(.unsoundPicture, error.message)
        }
    }

    private func remove(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let book = try await book(context)
        guard try await context.library.removeOwnCover(of: book.edition.id) else {
            throw RequestRefusal.notFound("photo")
        }
        return try await respond(with: book, context)
    }

    private func book(_ context: KioskContext) async throws -> Book {
        guard let book = try await context.library.book(context.id(of: Copy.self)) else {
            throw RequestRefusal.notFound("book")
        }
        try book.checkOutsideTrash()
        return book
    }

    /// Responds with the book and its current cover. The response has no `change`, because a new picture cannot be
    /// undone.
    private func respond(with book: Book, _ context: KioskContext) async throws -> JSONResponse {
        let kept = try await context.library.keptCover(of: book.edition.id)
        let cover: JSONValue = kept.map { ["own": .bool($0.isOwn), "bytes": .integer($0.bytes)] } ?? .null
        return JSONResponse(book.json.appending([("cover", cover)]).with(change: nil))
    }
}

extension Covers {
    /// Returns the response with an edition's cover.
    ///
    /// - Throws: ``RequestRefusal`` (404) if there is none.
    func coverResponse(_ edition: ID<Edition>, _ request: Request) async throws -> Response {
        guard let kept = try await keptCover(of: edition) else { throw RequestRefusal.notFound("cover") }
        // The bytes are not trusted. The sandbox prevents a cover that is opened in a tab of its own from running
        // scripts.
        var headers: HTTPFields = [
            .eTag: kept.tag, .cacheControl: "private, no-cache", .contentSecurityPolicy: "default-src 'none'; sandbox",
            .xContentTypeOptions: "nosniff",
        ]
        if request.headers[.ifNoneMatch] == kept.tag { return Response(status: .notModified, headers: headers) }
        guard let bytes = try await cover(of: edition), let type = PictureType(bytes) else {
            throw RequestRefusal.notFound("cover")
        }
        headers[.contentType] = type.rawValue
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension KioskParts {
    /// Fetches a cover that a source offers, so that browsers ask nobody but this service.
    ///
    /// - Throws: ``RequestRefusal`` (404) if there is none.
    func offeredCover(at address: String?) async throws -> Response {
        guard let fetch = ports.fetchCover, let address, let bytes = try await fetch.cover(at: address),
            let type = PictureType(bytes)
        else { throw RequestRefusal.notFound("cover") }
        return Response(
            status: .ok,
            headers: [
                .contentType: type.rawValue, .cacheControl: "private, max-age=3600",
                .contentSecurityPolicy: "default-src 'none'; sandbox", .xContentTypeOptions: "nosniff",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

/// The picture formats that are sent to browsers. A picture's format is detected from its first bytes.
enum PictureType: String, Sendable {
    case jpeg = "image/jpeg"
    case png = "image/png"
    case webp = "image/webp"
    case gif = "image/gif"

    /// Detects the format from the first bytes. Sources: ITU-T T.81 B.1.1.3, RFC 2083 12.11, RFC 9649 2.4, GIF89a 17.
    init?(_ bytes: [UInt8]) {
        func has(_ text: String, at index: Int) -> Bool { bytes.dropFirst(index).starts(with: text.utf8) }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if has("RIFF", at: 0), has("WEBP", at: 8) {
            self = .webp
        } else if has("GIF87a", at: 0) || has("GIF89a", at: 0) {
            self = .gif
        } else {
            return nil
        }
    }
}

extension KeptCover {
    /// The identifier of this version of the cover, which is used in URLs and as the entity tag.
    var version: String { "\(Int64(stored.timeIntervalSince1970 * 1000))-\(bytes)" }
    fileprivate var tag: String { "\"\(version)\"" }
}
