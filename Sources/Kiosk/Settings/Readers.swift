import Bookplate
import FoundationEssentials
import Hummingbird

/// The page on which a person adds, renames, colours and deletes readers, and gives the chosen reader a PIN.
struct ReadersPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/settings/readers", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let (readers, now) = (context.readers, parts.ports.now())
        let deleted = try await context.library.deletedReaders().map { reader -> View in
            let name = texts.name(of: reader)
            let daysLeft = Trash.daysLeft(deleted: reader.deleted ?? now, now: now)
            return [
                "id": reader.id.rawValue, "name": name, "restoreLabel": texts("readers.restore", ["name": name]),
                "left": texts("book.trashLeft", count: daysLeft),
            ]
        }
        var view: View = [
            "readers": readers.map { Self.view(of: $0, texts) },
            "needsFirst": readers.count == 1 && readers[0].name == nil, "areSeveral": readers.count > 1,
            "deleted": deleted, "hasDeleted": !deleted.isEmpty,
        ]
        if let reader = context.reader, readers.count > 1 || reader.hasPIN {
            view["pin"] =
                [
                    "id": reader.id.rawValue, "hasPIN": reader.hasPIN,
                    "title": texts("readers.pinOf", ["name": texts.name(of: reader)]),
                ] as View
        }
        return try await parts.pages.render(
            Pages.Page(template: "settings-readers", title: texts("readers.title"), tab: .settings, view: view), context
        )
    }

    private static func view(of reader: Reader, _ texts: Texts) -> View {
        let name = texts.name(of: reader)
        let colours = (1...8).map { (colour: Int) -> View in
            [
                "colour": String(colour), "isCurrent": colour == reader.colour + 1,
                "label": texts("readers.colour", ["n": String(colour)]),
            ]
        }
        return [
            "id": reader.id.rawValue, "name": name, "initial": reader.initial, "colour": String(reader.colour + 1),
            "hasPIN": reader.hasPIN, "renameLabel": texts("settings.renameNamed", ["name": name]),
            "deleteLabel": texts("settings.deleteNamed", ["name": name]),
            "colourLabel": texts("readers.colourOf", ["name": name]), "colours": colours,
        ]
    }
}

extension Texts {
    /// Returns the name of a reader; the first one has none until there is another.
    func name(of reader: Reader) -> String { reader.name?.cleanedLine ?? self("readers.unnamed") }
}

extension Reader {
    /// The first letter of the name, which stands in the head of every page.
    var initial: String { name?.cleanedLine.first.map { String($0).uppercased() } ?? "" }
}

/// Lists, adds, changes, deletes and restores readers, chooses the reader of a browser, and handles PINs.
struct ReadersAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/readers", for: .household, list),
            Route(.post, "/api/readers", for: .household, add),
            Route(.patch, "/api/readers/:id", for: .household, edit),
            Route(.delete, "/api/readers/:id", for: .household, delete),
            Route(.post, "/api/readers/:id/restore", for: .household, restore),
            Route(.post, "/api/readers/:id/choose", for: .household, choose),
            Route(.post, "/api/readers/:id/lock", for: .household, lock),
            Route(.put, "/api/readers/:id/pin", for: .household, setPIN),
        ]
    }

    private var now: Date { parts.ports.now() }

    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let deleted = try await context.library.deletedReaders()
        return JSONResponse([
            "readers": .array(context.readers.map(\.json)), "chosen": JSONValue(context.reader?.id.rawValue),
            "deleted": .array(
                deleted.map { $0.json.appending([("deleted", JSONValue($0.deleted?.rfc3339))]) }),
        ])
    }

    private func add(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        try sent.checkMembers(["name", "first"])
        let name = try sent.text("name").required(as: "name")
        let added = try await context.library.addReader(name, naming: sent.text("first").value, at: now)
        return JSONResponse(added.json, status: .created)
    }

    private func edit(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: Reader.self)
        let sent = try await request.object()
        try sent.checkMembers(["name", "colour"])
        let (name, colour) = (try sent.text("name").value, try sent.integer("colour").value)
        try NumberLimit.check(colour, as: "colour", in: 1...8)
        guard (name == nil) != (colour == nil) else {
            throw RequestRefusal(.missingField, "The request must contain either \"name\" or \"colour\".")
        }
        if let name { return JSONResponse(try await context.library.renameReader(id, to: name, at: now).json) }
        return JSONResponse(try await context.library.colourReader(id, (colour ?? 1) - 1, at: now).json)
    }

    private func delete(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(try await context.library.deleteReader(context.id(of: Reader.self), at: now).json)
    }

    private func restore(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(try await context.library.restoreReader(context.id(of: Reader.self), at: now).json)
    }

    // MARK: Choosing, PINs

    /// Chooses the reader of this browser. A reader with a PIN, who is not unlocked, needs `pin`.
    private func choose(_ request: Request, _ context: KioskContext) async throws -> Response {
        let id = try context.id(of: Reader.self)
        let sent = try await request.object()
        try sent.checkMembers(["pin"])
        let pin = try sent.text("pin").value
        guard let reader = context.readers.first(where: { $0.id == id }) else { throw ReaderRefusal.noSuchReader }
        // Private texts show only while their reader is chosen.
        if let chosen = context.reader, chosen.id != id, let holder = context.holder {
            try await context.library.lock(chosen.id, holder: holder)
        }
        var cookies = [request.cookie(ReaderChoice.cookie, id.rawValue, seconds: Request.longestCookie)]
        if let pin {
            let token = ReaderChoice.token(of: request) ?? ReaderChoice.newToken()
            try await unlock(id, pin, ReaderChoice.holder(of: token, context), context)
            cookies.append(
                request.cookie(ReaderChoice.unlockCookie, token, seconds: Int(Reader.unlockedFor)))
        } else if try await !context.library.isUnlocked(id, holder: context.holder, at: now) {
            throw ReaderRefusal.locked
        }
        var response = JSONResponse(["reader": reader.json]).response(from: request, context: context)
        for cookie in cookies { response.headers.append(HTTPFields.Element(name: .setCookie, value: cookie)) }
        return response
    }

    private func unlock(
        _ id: ID<Reader>, _ pin: String, _ holder: String, _ context: KioskContext
    ) async throws {
        switch try await context.library.unlock(id, pin: pin, holder: holder, from: context.address, at: now) {
        // A reader without a PIN is not locked.
        case .right, .noCode: return
        case .wrong: throw RequestRefusal(.wrongPIN, "That is not the PIN. Try again.")
        case .throttled(let seconds):
            throw RequestRefusal(
                .throttled, "Too many wrong PINs. Try again in \(seconds) s.", headers: [.retryAfter: String(seconds)],
                values: ["seconds": String(seconds)])
        }
    }

    private func lock(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        if let holder = context.holder {
            try await context.library.lock(context.id(of: Reader.self), holder: holder)
        }
        return JSONResponse(["locked": .bool(true)])
    }

    /// Sets a reader's PIN, or removes it (null). A reader who has a PIN must be unlocked in this browser.
    private func setPIN(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: Reader.self)
        let sent = try await request.object()
        try sent.checkMembers(["pin"])
        let pin = try sent.text("pin")
        guard pin != .keep else { throw RequestRefusal(.missingField, "The request must contain \"pin\".") }
        try await context.library.setPIN(pin.value, of: id, holder: context.holder, at: now)
        return JSONResponse(["pin": .bool(pin.value != nil)])
    }
}

extension ReaderChange {
    fileprivate var json: JSONValue { reader.json.with(change: change) }
}
