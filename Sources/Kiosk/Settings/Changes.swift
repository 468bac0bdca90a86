import Bookplate
import Hummingbird
import Station

/// The page that lists the library's changes of the last 30 days, each with a button to undo or redo it.
struct ChangesPage: Sendable {
    let parts: KioskParts

    private static let maxChanges = 200

    var routes: [Route] { [Route(.get, "/changes", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let changes = try await context.library.changes(limit: Self.maxChanges)
        let summaries = parts.pages.changeTexts(context)
        let view: View = [
            "isEmpty": changes.isEmpty,
            "changes": changes.map { change -> View in
                let (summary, language) = summaries.summary(of: change)
                var view: View = [
                    "summary": summary, "summaryLanguage": language.rawValue,
                    "when": texts.instant(change.at, in: parts.ports.zone),
                    "device": parts.deviceLabel(change.device.cleanedLine, texts),
                    "body": JSONValue.object([(key: "change", value: .string(change.id.rawValue))]).text,
                    "undoLabel": texts("settings.undoNamed", ["summary": summary]),
                    "redoLabel": texts("settings.redoNamed", ["summary": summary]),
                    "canRedo": change.canBeRedone,
                ]
                if let undone = change.undone {
                    view["undone"] = texts("settings.undone", ["when": texts.instant(undone, in: parts.ports.zone)])
                } else {
                    view["canUndo"] = true
                }
                return view
            },
        ]
        return try await parts.pages.render(
            Pages.Page(template: "changes", title: texts("settings.changes"), tab: .settings, view: view), context)
    }
}

/// Lists, undoes and redoes changes.
struct HistoryAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/changes", for: .household, changes), Route(.post, "/api/undo", for: .household, undo),
            Route(.post, "/api/redo", for: .household, redo),
        ]
    }

    /// Responds with `{"changes": […]}`, beginning with the newest change. `?limit=` is 50 by default and at most 500.
    private func changes(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let text = try request.queryValue("limit") ?? "50"
        guard let limit = Int(text), (1...500).contains(limit) else {
            throw RequestRefusal(.badQuery, "\"limit\" must be a number from 1 to 500.")
        }
        let summaries = parts.pages.changeTexts(context)
        let changes = try await context.library.changes(limit: limit).map { change in
            change.json.appending([("shown", .string(summaries.summary(of: change).text))])
        }
        return JSONResponse(["changes": .array(changes)])
    }

    private struct Body: Decodable {
        var change: String
    }

    /// Undoes a change, and responds with it. The request must contain the change's id, because the last change may
    /// have been made on another screen.
    private func undo(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let change = ID<Change>(rawValue: try await request.json(Body.self).change)
        guard let undone = try await parts.ports.station.undo(.change(change)).changes.first else {
            throw Station.Refusal.nothingToUndo
        }
        return JSONResponse(undone.json)
    }

    /// Redoes a change, and responds with it.
    private func redo(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let change = ID<Change>(rawValue: try await request.json(Body.self).change)
        return JSONResponse(try await parts.ports.station.redo(change).change.json)
    }
}
