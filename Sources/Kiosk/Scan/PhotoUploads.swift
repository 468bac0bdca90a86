import Bookplate
import Cryptography
import FoundationEssentials
import Hummingbird
import Station
import Synchronization

/// The uploaded pictures that are in memory: those that are arriving, and those that have arrived and are waiting or
/// being read. Their number of bytes is limited, altogether and for each device. A picture waits for nothing before it
/// has arrived, so a slow device keeps nobody waiting.
final class PhotoUploads: Sendable {
    /// The maximum number of bytes of all devices.
    static let limit = 64 << 20
    /// The maximum number of bytes of one device: one picture of the maximum size.
    static let limitOfDevice = Request.maxPhotoBytes

    private let held = Mutex<[Device: Int]>([:])

    /// Receives the picture in the body of a request and passes it to `body`.
    ///
    /// - Parameter limit: the maximum size of the picture, in bytes.
    /// - Throws: ``RequestRefusal`` if the picture is too large (413), ``KioskError`` if too many bytes are already in
    ///   memory (503).
    func withPicture<Result: Sendable>(
        of request: Request, _ context: KioskContext, limit: Int = Request.maxPhotoBytes,
        _ body: ([UInt8]) async throws -> Result
    ) async throws -> Result {
        let device = context.device
        var bytes: [UInt8] = []
        defer { release(bytes.count, device) }
        // Memory counts only once it is used, so the declared length costs nothing.
        bytes.reserveCapacity(min(request.headers[.contentLength].flatMap { Int($0) } ?? 0, limit))
        for try await part in request.body {
            guard bytes.count + part.readableBytes <= limit else { throw RequestRefusal.tooLarge }
            try take(part.readableBytes, device)
            part.withUnsafeReadableBytes { bytes.append(contentsOf: $0.bindMemory(to: UInt8.self)) }
        }
        return try await body(bytes)
    }

    private func take(_ count: Int, _ device: Device) throws {
        let isTaken = held.withLock { held in
            let own = held[device, default: 0] + count
            guard own <= Self.limitOfDevice, held.values.reduce(count, +) <= Self.limit else { return false }
            held[device] = own
            return true
        }
        if !isTaken { throw KioskError(.unavailable, "Too many photos are arriving at once. Try again.") }
    }

    private func release(_ count: Int, _ device: Device) {
        held.withLock { held in
            let rest = held[device, default: 0] - count
            held[device] = rest > 0 ? rest : nil
        }
    }
}

extension KioskParts {
    private static let photoTypes: Set = ["image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"]

    /// Receives the photo in the body of a request and reads it with `read`, which decodes it in an isolated process.
    ///
    /// - Throws: ``RequestRefusal`` if it is not a photo (415), too large (413) or cannot be decoded (422), and
    ///   ``KioskError`` if too many photos arrive at once, or as `read` throws it (503).
    func readUpload<Result: Sendable>(
        _ request: Request, _ context: KioskContext, with read: ([UInt8]) async throws -> Result
    ) async throws -> Result {
        guard let type = request.headers[.contentType]?.split(separator: ";").first?.lowercased(),
            Self.photoTypes.contains(type)
        else {
            throw RequestRefusal(.notPhoto, "A photo must be a JPEG, PNG, WebP or HEIC.")
        }
        do {
            return try await uploads.withPicture(of: request, context, read)
        } catch let error as KioskError where error.kind == .refused {
            throw RequestRefusal(.refused, error.message, key: "unsoundPhoto")
        }
    }
}

extension StationRoutes {
    func readPhoto(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard let read = parts.ports.readPhoto else {
            throw RequestRefusal(.noPhotos, "Photos cannot be read here. Type the ISBN, or use 'scan --image'.")
        }
        let asked = try item(of: request.uri.queryParameters["request"].map { String($0) })
        let photo = try await parts.readUpload(request, context, with: read)
        let texts = parts.pages.texts(context)
        var (detections, refused): ([Detection], [JSONValue]) = ([], [])
        for symbol in photo.symbols {
            do throws(ISBNRefusal) {
                let isbn = try symbol.isbn()
                detections.append(
                    Detection(
                        isbn: isbn, raw: symbol.payload, addon: symbol.addon, origin: .photo,
                        thumbnail: photo.thumbnail,
                        item: asked.map { ID(of: isbn, number: detections.count { $0.isbn == isbn }, askedBy: $0) }))
            } catch {
                refused.append(["payload": .string(symbol.payload), "reason": JSONValue(texts.message(for: error))])
            }
        }
        guard !photo.symbols.isEmpty else {
            throw RequestRefusal(
                .noBarCode, "No bar code was found in the photo. Take a closer photo in even light, or type the ISBN.")
        }
        let rows = try await station.capture(detections, with: await parts.preset(of: context))
        let shortest = photo.symbols.map(\.corners.length).min() ?? 0
        return JSONResponse([
            "rows": .array(rows.map(\.json)), "refused": .array(refused), "shortestCode": .integer(Int(shortest)),
        ])
    }
}

extension ID<QueueItem> {
    /// Derives the id of a book in a photo from the request's id, so that a repeated request gives the same id. The id
    /// is a UUID of version 8 (RFC 9562, 5.8).
    ///
    /// - Parameter number: the number of this book among the books with the same ISBN in the photo, from 0.
    fileprivate init(of isbn: ISBN, number: Int, askedBy request: ID<QueueItem>) {
        var bytes = Array(SHA256.hash("\(request.rawValue) \(isbn.digits) \(number)".utf8).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        self.init(rawValue: uuid.uuidString.lowercased())
    }
}
