import Bookplate
import Hummingbird

/// Completes names as they are typed.
struct SuggestionsAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/api/suggestions", for: .guests, suggestions)] }

    /// `?kind=author|tag|shelf&beginning=&limit=`: `{"suggestions": [{"name", "count"}]}`, the most used first; 8 unless told, 50 at
    /// the most.
    private func suggestions(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let kinds: [String: NameKind] = ["author": .author, "tag": .tag, "shelf": .shelf]
        var (kind, beginning, limit): (NameKind?, String, Int?) = (nil, "", 8)
        for (name, value) in try LibraryAddress.pairs(request.uri.query ?? "") {
            switch name {
            case "kind": kind = kinds[value]
            case "beginning": beginning = value
            case "limit": limit = Int(value).flatMap { (1...50).contains($0) ? $0 : nil }
            default: kind = nil
            }
        }
        guard let kind, let limit else {
            throw RequestRefusal(
                status: .badRequest, code: "badQuery",
                message: "Ask with kind=author, tag or shelf, beginning= and limit=1 to 50.")
        }
        let found = try await parts.library.suggestions(for: kind, beginning: beginning, limit: limit)
        return JSONAnswer([
            "suggestions": .array(found.map { ["name": .string($0.name), "count": .integer($0.count)] })
        ])
    }
}
