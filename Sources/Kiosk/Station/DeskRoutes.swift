import Bookplate
import FoundationEssentials
import Hummingbird
import Station

/// The station: what is captured, and what people say to it.
struct StationRoutes: Sendable {
    let parts: KioskParts
    let photos = PhotoTurns()

    init(parts: KioskParts) { self.parts = parts }

    var station: Station { parts.ports.station }

    var routes: [Route] {
        [
            Route(.get, "/api/station", for: .household) { _, context in
                JSONAnswer(await station.snapshot().json(parts.pages.texts(context), parts.ports.trouble))
            },
            Route(.post, "/api/station/captures", for: .household, capture),
            Route(.post, "/api/station/photos", for: .household, taking: .photo, readPhoto),
            Route(.put, "/api/station/preset", for: .household, give),
            Route(.post, "/api/station/undo", for: .household, undo),
            Route(.post, "/api/station/lookup", for: .household, lookUpSeveral),
            Route(.post, "/api/station/rows/save", for: .household, saveSeveral),
            Route(.post, "/api/station/rows/skip", for: .household, skipSeveral),
            Route(.patch, "/api/station/rows/:id", for: .household, edit),
            Route(.post, "/api/station/rows/:id/tick", for: .household, tick),
            Route(.post, "/api/station/rows/:id/save", for: .household, save),
            Route(.post, "/api/station/rows/:id/skip", for: .household, skip),
            Route(.post, "/api/station/rows/:id/lookup", for: .household, lookUp),
            Route(.get, "/api/intake/:id/thumbnail", for: .household, thumbnail),
        ]
    }

    // MARK: What comes in

    private struct Captured: Decodable {
        var text: String
        var origin: Origin?
        /// A UUID that the page made: the same one again captures nothing more.
        var request: String?
    }

    private func capture(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let said = try await request.json(Captured.self)
        let origin = said.origin ?? .typed
        guard origin == .typed || origin == .scanner else {
            throw RequestRefusal(status: .badRequest, code: "badJSON", message: "origin is typed or scanner.")
        }
        let number = TypedNumber(text: said.text, origin: origin)
        return JSONAnswer(["row": try await station.capture(number, request: item(of: said.request)).json])
    }

    /// The item that a request becomes.
    func item(of request: String?) throws -> ID<IntakeItem>? {
        guard let request else { return nil }
        guard let uuid = UUID(uuidString: request) else {
            throw RequestRefusal(status: .badRequest, code: "badField", message: "\"request\" is a UUID.")
        }
        return ID(rawValue: uuid.uuidString.lowercased())
    }

    private struct SaidPreset: Decodable {
        var shelf: String?
        var tags: [String]?
        var status: Copy.Status?
        var wishlist: Bool?
    }

    private func give(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let said = try await request.json(SaidPreset.self)
        let preset = Preset(
            shelf: said.shelf.flatMap { $0.cleanedLine.isEmpty ? nil : $0 }, tags: said.tags ?? [],
            status: said.status ?? .toRead, isWishlist: said.wishlist ?? false)
        try await station.setPreset(preset)
        return JSONAnswer(await station.snapshot(limit: 0).preset.json)
    }

    // MARK: Acts on one row

    private struct Tick: Decodable { var ticked: Bool }

    private func tick(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let id = try context.id(of: IntakeItem.self)
        let said = try await request.json(Tick.self)
        return JSONAnswer(["row": try await station.tick(id, said.ticked).json])
    }

    private struct Save: Decodable { var anotherCopy: Bool? }

    private func save(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let id = try context.id(of: IntakeItem.self)
        let said = try await request.json(Save.self)
        return JSONAnswer(try await station.save([id], anotherCopy: said.anotherCopy ?? false).json)
    }

    private func skip(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let id = try context.id(of: IntakeItem.self)
        _ = try await request.json(Nothing.self)
        return try await skip([id])
    }

    private func lookUp(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let id = try context.id(of: IntakeItem.self)
        _ = try await request.json(Nothing.self)
        return try await lookUp([id])
    }

    private func edit(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let id = try context.id(of: IntakeItem.self)
        let said = try await request.json(SaidOfBook.self)
        return JSONAnswer(["row": try await station.edit(id, said.edit).json])
    }

    private func thumbnail(_ request: Request, _ context: KioskContext) async throws -> Response {
        guard let bytes = try await station.thumbnail(of: context.id(of: IntakeItem.self)) else {
            throw RequestRefusal.notThere("picture")
        }
        // It never changes; the id is no secret, but the picture is the household's.
        return Response(
            status: .ok, headers: [.contentType: "image/jpeg", .cacheControl: "private, max-age=86400"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    // MARK: Acts on several, and on the batch

    private struct Several: Decodable {
        var ids: [String]
        var anotherCopy: Bool?

        var items: [ID<IntakeItem>] { ids.map { ID(rawValue: $0) } }
    }

    private func saveSeveral(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let said = try await request.json(Several.self)
        return JSONAnswer(try await station.save(said.items, anotherCopy: said.anotherCopy ?? false).json)
    }

    private func skipSeveral(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        try await skip(try await request.json(Several.self).items)
    }

    private func lookUpSeveral(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        try await lookUp(try await request.json(Several.self).items)
    }

    private func skip(_ ids: [ID<IntakeItem>]) async throws -> JSONAnswer {
        let skipped = try await station.skip(ids)
        return JSONAnswer(["skipped": .integer(skipped.count), "change": .string(skipped.change.rawValue)])
    }

    private func lookUp(_ ids: [ID<IntakeItem>]) async throws -> JSONAnswer {
        try await station.lookUpAgain(ids)
        return JSONAnswer(["asked": .integer(ids.count)])
    }

    private struct Undo: Decodable {
        /// Of the act that the page showed; none for whichever is the newest.
        var change: String?
    }

    private func undo(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let said = try await request.json(Undo.self)
        let undone = try await station.undo(said.change.map { .act(ID(rawValue: $0)) } ?? .newest)
        guard let act = undone.acts.first else { throw Station.Refusal.nothingToUndo }
        return JSONAnswer(["kind": .string(act.kind.word), "count": .integer(act.items.count)])
    }
}

/// A body of which nothing is wanted but that it is JSON.
private struct Nothing: Decodable {
    init(from decoder: any Decoder) throws {}
}

/// `{"title": …, "pageCount": null}`: what is not there is left as it is, null empties.
private struct SaidOfBook: Decodable {
    var edit = MetadataEdit()

    private enum Key: String, CodingKey { case title, subtitle, authors, publisher, publishedDate, pageCount }

    init(from decoder: any Decoder) throws {
        let said = try decoder.container(keyedBy: Key.self)
        func text(_ key: Key) throws -> String? {
            said.contains(key) ? try said.decodeIfPresent(String.self, forKey: key) ?? "" : nil
        }
        edit.title = try text(.title)
        edit.subtitle = try text(.subtitle)
        edit.publisher = try text(.publisher)
        edit.publishedDate = try text(.publishedDate)
        if said.contains(.authors) {
            let names = try said.decodeIfPresent([String].self, forKey: .authors) ?? []
            edit.authors = names.filter { !$0.cleanedLine.isEmpty }
        }
        if said.contains(.pageCount) { edit.pageCount = .some(try said.decodeIfPresent(Int.self, forKey: .pageCount)) }
    }
}
