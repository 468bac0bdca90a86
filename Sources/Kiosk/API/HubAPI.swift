import Bookplate
import FoundationEssentials
import Hummingbird

/// The hub's side: other stations pair with this library and capture into it.
///
/// Whatever a station asks can be asked again: the same delivery gets the same receipt.
struct HubAPI: Sendable {
    let parts: KioskParts

    /// The largest thumbnail, in bytes.
    static let mostThumbnail = 64 << 10

    var routes: [Route] {
        [
            Route(.post, "/api/stations", for: .everyone, pair),
            Route(.get, "/api/stations", for: .household, stations),
            Route(.delete, "/api/stations/:id", for: .household, revoke),
            Route(.post, "/api/hub/items", for: .stations, receive),
            Route(.get, "/api/hub/items", for: .stations, status),
            Route(.put, "/api/hub/items/:id/thumbnail", for: .stations, taking: .photo, thumbnail),
            Route(.post, "/api/hub/books", for: .stations, books),
            Route(.delete, "/api/hub/station", for: .stations, leave),
        ]
    }

    // MARK: Pairing

    private struct Pairing: Decodable { let code, name, station: String }

    /// The access code for a token, which is told this once.
    private func pair(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let wanted = try await request.json(Pairing.self)
        let now = parts.ports.now()
        if let refusal = RequestRefusal(
            of: try await parts.library.check(code: wanted.code, from: context.address, at: now))
        {
            throw refusal
        }
        let (station, token) = try await parts.library.pair(ID(rawValue: wanted.station), named: wanted.name, at: now)
        return JSONAnswer(
            ["id": .string(station.id.rawValue), "name": .string(station.name), "token": .string(token)],
            status: .created)
    }

    private func stations(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        JSONAnswer(["stations": .array(try await parts.library.pairedStations().map(\.json))])
    }

    private func revoke(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let id = try context.id(of: PairedStation.self)
        return JSONAnswer(try await parts.library.revoke(id, at: parts.ports.now()).json)
    }

    /// The station itself gives its token back.
    private func leave(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let station = try station(context)
        return JSONAnswer(try await parts.library.revoke(station.id, at: parts.ports.now()).json)
    }

    // MARK: What a station sends and asks

    private struct Deliveries: Decodable { let items: [HubDelivery] }

    private func receive(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let station = try station(context)
        let items = try await request.json(Deliveries.self).items
        try Self.check(count: items.count, atMost: HubDelivery.mostAtOnce)
        guard Set(items.map(\.id)).count == items.count else { throw Self.refusal("An item stands in it twice.") }
        let receipts = try await parts.library.receive(items, from: station, at: parts.ports.now())
        return JSONAnswer(["items": .array(receipts.map(\.json))])
    }

    private func status(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let station = try station(context)
        let ids = (request.uri.queryParameters["ids"].map(String.init) ?? "").split(separator: ",")
        try Self.check(count: ids.count, atMost: HubDelivery.mostAtOnce)
        let receipts = try await parts.library.status(
            of: ids.map { ID(rawValue: String($0)) }, from: station.id)
        return JSONAnswer(["items": .array(receipts.map(\.json))])
    }

    private func thumbnail(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let station = try station(context)
        guard request.headers[.contentType] == "image/jpeg" else {
            throw RequestRefusal(status: .unsupportedMediaType, code: "notJPEG", message: "Thumbnails are image/jpeg.")
        }
        let bytes = Array(buffer: try await request.body.collect(upTo: Self.mostThumbnail))
        // The two marks of every JPEG (ITU-T T.81, B.1.1.3); what is between them is for the browser.
        guard bytes.starts(with: [0xFF, 0xD8, 0xFF]), bytes.suffix(2) == [0xFF, 0xD9] else {
            throw Self.refusal("It is no JPEG.")
        }
        let id = try context.id(of: IntakeItem.self)
        guard try await parts.library.keepThumbnail(bytes, of: id, from: station.id) else {
            throw RequestRefusal.notThere("item")
        }
        return JSONAnswer(["id": .string(id.rawValue)])
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
            throw Self.refusal("It names numbers that are no ISBNs of 13 digits.")
        }
        let books = try await parts.library.knownBooks(isbns, at: parts.ports.now())
        // Whole records, as the station reads them: written by the type's own coding.
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(["books": books]))))
    }

    // MARK: Checks

    /// The station that asks: who else does was turned away at the door.
    private func station(_ context: KioskContext) throws(RequestRefusal) -> PairedStation {
        guard case .station(let station) = context.visitor else { throw .tokenNeeded }
        return station
    }

    private static func check(count: Int, atMost limit: Int) throws {
        if count > limit { throw refusal("It names \(count); \(limit) go into one request.") }
    }

    private static func refusal(_ message: String) -> RequestRefusal {
        RequestRefusal(status: .unprocessableContent, code: "refused", message: message)
    }
}
