import Bookplate
import FoundationEssentials
import Hummingbird

/// The hub's side of the hub protocol. Other stations pair with this library and send their captures to it.
///
/// All requests of a station are idempotent: a repeated delivery gets the same receipt.
struct HubRoutes: Sendable {
    let parts: KioskParts

    /// The maximum size of a thumbnail, in bytes.
    static let maxThumbnailBytes = 64 << 10

    var routes: [Route] {
        [
            Route(.post, "/api/stations", for: .everyone, pair),
            Route(.get, "/api/stations", for: .household, stations),
            Route(.delete, "/api/stations/:id", for: .household, revoke),
            Route(.post, "/api/hub/items", for: .stations, receive),
            Route(.get, "/api/hub/items", for: .stations, status),
            Route(.put, "/api/hub/items/:id/thumbnail", for: .stations, body: .photo, thumbnail),
            Route(.post, "/api/hub/books", for: .stations, books),
            Route(.delete, "/api/hub/station", for: .stations, leave),
        ]
    }

    // MARK: Pairing

    private struct Pairing: Decodable { let code, name, station: String }

    /// Exchanges the access code for a token. This response is the only one that contains the token.
    private func pair(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let pairing = try await request.json(Pairing.self)
        let now = parts.ports.now()
        if let refusal = RequestRefusal(
            of: try await context.library.check(
                code: pairing.code, from: context.address, device: pairing.name, at: now))
        {
            throw refusal
        }
        let (station, token) = try await context.library.pair(
            ID(rawValue: pairing.station), named: pairing.name, at: now)
        return JSONResponse(
            ["id": .string(station.id.rawValue), "name": .string(station.name), "token": .string(token)],
            status: .created)
    }

    private func stations(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(["stations": .array(try await context.library.pairedStations().map(\.json))])
    }

    private func revoke(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: PairedStation.self)
        return JSONResponse(try await context.library.revoke(id, at: parts.ports.now()).json)
    }

    /// Revokes the token of the station that sends the request.
    private func leave(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let station = try station(context)
        return JSONResponse(try await context.library.revoke(station.id, at: parts.ports.now()).json)
    }

    // MARK: Requests of stations

    private struct Deliveries: Decodable { let items: [HubDelivery] }

    private func receive(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let station = try station(context)
        let items = try await request.json(Deliveries.self).items
        try Self.check(count: items.count, atMost: HubDelivery.mostAtOnce)
        guard Set(items.map(\.id)).count == items.count else {
            throw Self.refusal("The request contains the same item twice.")
        }
        let receipts = try await context.library.receive(items, from: station, at: parts.ports.now())
        return try await answer(receipts, context)
    }

    private func status(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let station = try station(context)
        let ids = (request.uri.queryParameters["ids"].map(String.init) ?? "").split(separator: ",")
        try Self.check(count: ids.count, atMost: HubDelivery.mostAtOnce)
        let receipts = try await context.library.status(
            of: ids.map { ID(rawValue: String($0)) }, from: station.id)
        return try await answer(receipts, context)
    }

    private func answer(_ receipts: [HubReceipt], _ context: KioskContext) async throws -> JSONResponse {
        let hub = try await context.library.instance()
        return JSONResponse([
            "items": .array(receipts.map(\.json)), "library": JSONValue(hub.library), "opening": JSONValue(hub.opening),
        ])
    }

    private func thumbnail(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let station = try station(context)
        guard request.headers[.contentType] == "image/jpeg" else {
            throw RequestRefusal(.notJPEG, "A thumbnail's Content-Type must be \"image/jpeg\".")
        }
        let bytes = Array(buffer: try await request.body.collect(upTo: Self.maxThumbnailBytes))
        // Only the markers at both ends of the JPEG are checked (ITU-T T.81, B.1.1.3), because only browsers decode it.
        guard bytes.starts(with: [0xFF, 0xD8, 0xFF]), bytes.suffix(2) == [0xFF, 0xD9] else {
            throw Self.refusal("The thumbnail is not a JPEG.")
        }
        let id = try context.id(of: QueueItem.self)
        guard try await context.library.keepThumbnail(bytes, of: id, from: station.id) else {
            throw RequestRefusal.notFound("item")
        }
        return JSONResponse(["id": .string(id.rawValue)])
    }

    private struct Numbers: Decodable { let isbns: [String] }

    private func books(_ request: Request, _ context: KioskContext) async throws -> Response {
        _ = try station(context)
        let texts = try await request.json(Numbers.self).isbns
        try Self.check(count: texts.count, atMost: HubBook.mostAtOnce)
        let isbns: [ISBN]
        do {
            isbns = try texts.map { try ISBN(ean13: $0) }
        } catch {
            throw Self.refusal("Every number in the request must be an ISBN with 13 digits.")
        }
        let books = try await context.library.knownBooks(isbns, at: parts.ports.now())
        // The books are encoded with Codable because the station decodes them with Codable.
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(["books": books]))))
    }

    // MARK: Checks

    /// Returns the station that sent the request. ``Authenticator`` has already refused all other callers.
    private func station(_ context: KioskContext) throws(RequestRefusal) -> PairedStation {
        guard case .station(let station) = context.caller else { throw .tokenNeeded }
        return station
    }

    private static func check(count: Int, atMost limit: Int) throws {
        if count > limit { throw refusal("The request contains \(count) items; the limit is \(limit).") }
    }

    private static func refusal(_ message: String) -> RequestRefusal {
        RequestRefusal(.refused, message)
    }
}
