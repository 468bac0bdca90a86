import Bookplate
import FoundationEssentials
import Hummingbird
import Station

/// Captures books with the station, and edits, saves and skips them.
struct StationRoutes: Sendable {
    let parts: KioskParts

    var station: Station { parts.ports.station }

    var routes: [Route] {
        [
            Route(.get, "/api/station", for: .household) { _, context in
                var snapshot = await station.snapshot()
                snapshot.preset = await parts.preset(of: context)
                return JSONResponse(snapshot.json(parts.pages.texts(context)))
            },
            Route(.post, "/api/station/captures", for: .household, capture),
            Route(.post, "/api/station/photos", for: .household, body: .photo, readPhoto),
            Route(.put, "/api/station/preset", for: .household, setPreset),
            Route(.post, "/api/station/clear", for: .household, clearSaved),
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

    // MARK: Captures

    private struct Captured: Decodable {
        var text: String
        var origin: Origin?
        /// A UUID that the page generates. A repeated request with the same UUID captures nothing more.
        var request: String?
    }

    private func capture(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(Captured.self)
        let origin = body.origin ?? .typed
        guard origin == .typed || origin == .scanner else {
            throw RequestRefusal(.badJSON, "\"origin\" must be \"typed\" or \"scanner\".")
        }
        let number = TypedNumber(text: body.text, origin: origin)
        let row = try await station.capture(
            number, request: item(of: body.request), with: await parts.preset(of: context))
        return JSONResponse(["row": row.json])
    }

    /// Converts the id of a request to the id of the queue item that the request adds; `nil` if the request has no id.
    func item(of request: String?) throws -> ID<QueueItem>? {
        guard let request else { return nil }
        guard let uuid = UUID(uuidString: request) else {
            throw RequestRefusal(.badField, "\"request\" must be a UUID.")
        }
        return ID(rawValue: uuid.uuidString.lowercased())
    }

    private struct PresetBody: Decodable {
        var shelf: String?
        var tags: [String]?
        var status: Copy.Status?
        var wishlist: Bool?
    }

    private func setPreset(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(PresetBody.self)
        // The reader of another browser is the one who is chosen there when it captures.
        let namesReader = context.browser == nil && context.readers.count > 1
        let preset = Preset(
            shelf: body.shelf.flatMap { $0.cleanedLine.isEmpty ? nil : $0 }, tags: body.tags ?? [],
            status: body.status ?? .toRead, isWishlist: body.wishlist ?? false,
            reader: namesReader ? context.reader?.name : nil, browser: context.browser)
        try await station.setPreset(preset)
        return JSONResponse(await parts.preset(of: context).json)
    }

    private func clearSaved(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        _ = try await request.json(IgnoredBody.self)
        await station.clearSaved()
        return JSONResponse(["cleared": .bool(true)])
    }

    // MARK: Acts on one row

    private struct Tick: Decodable { var ticked: Bool }

    private func tick(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: QueueItem.self)
        let body = try await request.json(Tick.self)
        return JSONResponse(["row": try await station.tick(id, body.ticked).json])
    }

    private struct Save: Decodable { var anotherCopy: Bool? }

    private func save(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: QueueItem.self)
        let body = try await request.json(Save.self)
        return JSONResponse(try await station.save([id], anotherCopy: body.anotherCopy ?? false).json)
    }

    private func skip(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: QueueItem.self)
        _ = try await request.json(IgnoredBody.self)
        return try await skip([id])
    }

    private func lookUp(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: QueueItem.self)
        _ = try await request.json(IgnoredBody.self)
        return try await lookUp([id])
    }

    private func edit(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: QueueItem.self)
        let edit = try MetadataEdit(ofRow: try await request.object())
        return JSONResponse(["row": try await station.edit(id, edit).json])
    }

    private func thumbnail(_ request: Request, _ context: KioskContext) async throws -> Response {
        guard let bytes = try await station.thumbnail(of: context.id(of: QueueItem.self)) else {
            throw RequestRefusal.notFound("picture")
        }
        // The picture never changes, so it may be cached. The cache must be private because the picture belongs to the
        // household and its id is not a secret.
        return Response(
            status: .ok, headers: [.contentType: "image/jpeg", .cacheControl: "private, max-age=86400"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    // MARK: Acts on several rows and on the batch

    private struct ItemsBody: Decodable {
        var ids: [String]
        var anotherCopy: Bool?

        var items: [ID<QueueItem>] { ids.map { ID(rawValue: $0) } }
    }

    private func saveSeveral(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(ItemsBody.self)
        return JSONResponse(try await station.save(body.items, anotherCopy: body.anotherCopy ?? false).json)
    }

    private func skipSeveral(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        try await skip(try await request.json(ItemsBody.self).items)
    }

    private func lookUpSeveral(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        try await lookUp(try await request.json(ItemsBody.self).items)
    }

    private func skip(_ ids: [ID<QueueItem>]) async throws -> JSONResponse {
        let skipped = try await station.skip(ids)
        return JSONResponse(["skipped": .integer(skipped.count), "change": .string(skipped.change.rawValue)])
    }

    private func lookUp(_ ids: [ID<QueueItem>]) async throws -> JSONResponse {
        try await station.lookUpAgain(ids)
        return JSONResponse(["asked": .integer(ids.count)])
    }

    private struct Undo: Decodable {
        /// The id of the change to undo, which belongs to the act that the page offers to undo; `nil` to undo the
        /// newest act.
        var change: String?
    }

    private func undo(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(Undo.self)
        let undone = try await station.undo(body.change.map { .act(ID(rawValue: $0)) } ?? .newest)
        guard let act = undone.acts.first else { throw Station.Refusal.nothingToUndo }
        return JSONResponse(["kind": .string(act.kind.word), "count": .integer(act.items.count)])
    }
}

extension KioskParts {
    /// Returns the preset with which the request's browser captures.
    func preset(of context: KioskContext) async -> Preset {
        var preset = await ports.station.preset(of: context.browser)
        if context.browser != nil, context.readers.count > 1 { preset.reader = context.reader?.name }
        return preset
    }
}

/// A body that must be JSON but whose content is ignored.
private struct IgnoredBody: Decodable {
    init(from decoder: any Decoder) throws {}
}

extension MetadataEdit {
    /// Parses the new values of a captured book's fields, such as `{"title": …, "pageCount": null}`. Absent members
    /// leave their fields as they are, and null clears a field.
    ///
    /// - Throws: ``RequestRefusal`` (400) for unknown members and wrong types.
    init(ofRow sent: RequestObject) throws {
        try sent.checkMembers([
            "title", "subtitle", "authors", "publisher", "publishedDate", "pageCount", "series", "seriesNumber",
        ])
        self.init()
        title = try sent.text("title").value(clearedBy: "")
        subtitle = try sent.text("subtitle").value(clearedBy: "")
        publisher = try sent.text("publisher").value(clearedBy: "")
        series = try sent.text("series").value(clearedBy: "")
        seriesNumber = try sent.text("seriesNumber").value(clearedBy: "")
        publishedDate = try sent.text("publishedDate").value(clearedBy: "")
        authors = try sent.texts("authors").value(clearedBy: [])?.filter { !$0.cleanedLine.isEmpty }
        pageCount = try sent.integer("pageCount").edited
    }
}
