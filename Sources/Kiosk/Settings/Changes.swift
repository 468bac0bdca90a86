import Bookplate
import Hummingbird

/// What was done to the library in the last 30 days, with the way back.
struct ChangesPage: Sendable {
    let parts: KioskParts

    private static let most = 200

    var routes: [Route] { [Route(.get, "/changes", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let changes = try await parts.library.changes(limit: Self.most)
        let view: View = [
            "isEmpty": changes.isEmpty,
            "changes": changes.map { change -> View in
                var view: View = [
                    "summary": change.summary.cleanedLine, "when": texts.instant(change.at, in: parts.ports.zone),
                    "station": parts.shown(station: change.station.cleanedLine, texts),
                    "body": JSONValue.object([(key: "change", value: .string(change.id.rawValue))]).text,
                    "undoLabel": texts("settings.undoNamed", ["summary": change.summary.cleanedLine]),
                ]
                if let undone = change.undone {
                    view["undone"] = texts("settings.undone", ["when": texts.instant(undone, in: parts.ports.zone)])
                } else {
                    view["canUndo"] = true
                }
                return view
            },
        ]
        return try await parts.pages.answer(
            Pages.Page(template: "changes", title: texts("settings.changes"), tab: .settings, view: view), context)
    }
}

/// What was done, and the way back.
struct HistoryAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [Route(.get, "/api/changes", for: .household, changes), Route(.post, "/api/undo", for: .household, undo)]
    }

    /// `?limit=`, 50 unless told, 500 at the most: `{"changes": […]}`, newest first.
    private func changes(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let asked = try LibraryAddress.pairs(request.uri.query ?? "").last { $0.name == "limit" }?.value ?? "50"
        guard let limit = Int(asked), (1...500).contains(limit) else {
            throw RequestRefusal(status: .badRequest, code: "badQuery", message: "limit is 1 to 500.")
        }
        return JSONAnswer(["changes": .array(try await parts.library.changes(limit: limit).map(\.json))])
    }

    private struct Body: Decodable {
        var change: String
    }

    /// Takes back the change that is named, and none that nobody has seen: the last one may be of another screen. Answers the change.
    private func undo(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let change = ID<Change>(rawValue: try await request.json(Body.self).change)
        return JSONAnswer(try await parts.library.undo(change, at: parts.ports.now()).json)
    }
}
