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
                    "station": parts.shown(station: change.device.cleanedLine, texts),
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
