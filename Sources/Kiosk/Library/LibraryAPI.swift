import Bookplate
import FoundationEssentials
import Hummingbird

/// Lists books, and counts the books for each value of a filter and for each letter.
struct BooksAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/books", for: .guests, list),
            Route(.get, "/api/books/facets", for: .guests, facets),
            Route(.get, "/api/books/letters", for: .guests, letters),
        ]
    }

    /// Responds with `{"hits", "total", "exact", "next", "start"}` to a query in the form of ``LibraryAddress``.
    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        var found = try await context.library.books(matching: try await query(request, context))
        if context.isGuest {
            for index in found.hits.indices { found.hits[index].book = found.hits[index].book.forGuests }
        }
        return JSONResponse(found.json)
    }

    private func facets(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(try await context.library.facets(matching: try await query(request, context)).json)
    }

    /// Responds with `{"letters": [{"letter", "count", "after"}]}`; the list is empty unless the books are sorted by
    /// title or author.
    private func letters(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let groups = try await context.library.letters(matching: try await query(request, context))
        return JSONResponse(["letters": .array(groups.map(\.json))])
    }

    private func query(_ request: Request, _ context: KioskContext) async throws -> BookQuery {
        try await context.libraryAddress(request.uri.query, parts.ports, isTyped: false).query
    }
}

extension SearchResults {
    /// The JSON for one page of search results.
    var json: JSONValue {
        [
            "hits": .array(hits.map(\.json)), "total": .integer(total), "exact": .bool(isTotalExact),
            "next": JSONValue(next), "start": JSONValue(start),
        ]
    }
}

/// Suggests names while the user types.
struct SuggestionsAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/api/suggestions", for: .guests, suggestions)] }

    /// Responds to `?kind=author|tag|shelf|publisher|series&beginning=&limit=` with
    /// `{"suggestions": [{"name", "count"}]}`, beginning with the most used name. The limit is 8 by default
    /// and at most 50.
    private func suggestions(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let kinds: [String: NameKind] = [
            "author": .author, "tag": .tag, "shelf": .shelf, "publisher": .publisher, "series": .series,
        ]
        var (kind, beginning, limit): (NameKind?, String, Int?) = (nil, "", 8)
        for (name, value) in try request.queryPairs() {
            switch name {
            case "kind": kind = kinds[value]
            case "beginning": beginning = value
            case "limit": limit = Int(value).flatMap { (1...50).contains($0) ? $0 : nil }
            default: kind = nil
            }
        }
        guard let kind, let limit else {
            throw RequestRefusal(
                .badQuery,
                "The query must contain kind=author, kind=tag, kind=shelf, kind=publisher or kind=series. "
                    + "It may also contain beginning= and limit= (from 1 to 50).")
        }
        let found = try await context.library.suggestions(for: kind, beginning: beginning, limit: limit)
        return JSONResponse([
            "suggestions": .array(found.map { ["name": .string($0.name), "count": .integer($0.count)] })
        ])
    }
}
