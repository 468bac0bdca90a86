import Bookplate
import FoundationEssentials
import Hummingbird
import Station

// Photos that pages upload. They are decoded in an isolated process, at most two at a time.
extension StationRoutes {
    private static let photoTypes: Set = ["image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"]

    func readPhoto(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        guard let type = request.headers[.contentType]?.split(separator: ";").first?.lowercased(),
            Self.photoTypes.contains(type)
        else {
            throw RequestRefusal(.notPhoto, "A photo must be a JPEG, PNG, WebP or HEIC.")
        }
        guard let read = parts.ports.readPhoto else {
            throw RequestRefusal(.noPhotos, "Photos cannot be read here. Type the ISBN, or use 'scan --image'.")
        }
        let asked = try item(of: request.uri.queryParameters["request"].map { String($0) })
        // The request waits for its turn before its first byte is read, so that waiting photos stay in the browsers.
        let photo: DecodedPhoto
        do {
            photo = try await parts.uploads.withPermit { try await read(try await request.photo()) }
        } catch let error as KioskError where error.kind == .refused {
            throw RequestRefusal(.refused, error.message, key: "unsoundPhoto")
        }
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
        let rows = try await station.capture(detections)
        return JSONResponse(["rows": .array(rows.map(\.json)), "refused": .array(refused)])
    }
}

extension ID<QueueItem> {
    /// Derives the id of a book in a photo from the request's id, so that a repeated request gives the same id. The id
    /// is a UUID of version 8 (RFC 9562, 5.8).
    ///
    /// - Parameter number: the number of this book among the books with the same ISBN in the photo, from 0.
    fileprivate init(of isbn: ISBN, number: Int, askedBy request: ID<QueueItem>) {
        var bytes = Array(SHA256.digest(of: "\(request.rawValue) \(isbn.digits) \(number)".utf8).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        self.init(rawValue: uuid.uuidString.lowercased())
    }
}
