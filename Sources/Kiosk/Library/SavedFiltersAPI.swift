import Bookplate
import FoundationEssentials
import Hummingbird

/// Lists, saves, renames and deletes the present reader's saved filters. A filter is a query of the query language.
struct SavedFiltersAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/filters", for: .household, list),
            Route(.post, "/api/filters", for: .household, save),
            Route(.patch, "/api/filters/:id", for: .household, rename),
            Route(.delete, "/api/filters/:id", for: .household, delete),
        ]
    }

    private func list(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        JSONResponse(["filters": .array(try await context.library.savedFilters().map(\.json))])
    }

    /// Saves a query, given by `query` in the query language or by `address`, the query of a Library page. A filter
    /// with the same name is replaced.
    private func save(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        try sent.checkMembers(["name", "query", "address"])
        let name = try FieldRefusal.at("name") {
            try sent.text("name").required(as: "name").checked(as: "name", limit: TextLimit.name)
        }
        let query = try await query(sent, context)
        // The new filter must not contain itself, and its mistakes are refused now instead of when it is used.
        let others = try await context.library.savedFilters().filter { !$0.isNamed(name) }
        let today = CalendarDay(parts.ports.now(), in: parts.ports.zone)
        let readers = context.readers
        _ = try QueryParser(QueryContext(today: today, readers: readers, filters: others)).parse(query)
        let (filter, change) = try await context.library.saveFilter(name, query, at: parts.ports.now())
        return JSONResponse(filter.json.with(change: change), status: .created)
    }

    private func query(_ sent: RequestObject, _ context: KioskContext) async throws -> String {
        switch (try sent.text("query").value, try sent.text("address").value) {
        case (let query?, nil): return query
        case (nil, let text?):
            guard text.utf8.count <= 16_000 else { throw RequestRefusal.tooLarge }
            let address = try await context.libraryAddress(text, parts.ports, isTyped: true)
            guard let query = address.savedQuery else {
                throw RequestRefusal(.badField, "A search of the trash cannot be saved.", key: "trashFilter")
            }
            return query
        default: throw RequestRefusal(.missingField, "The request must contain either \"query\" or \"address\".")
        }
    }

    private func rename(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let id = try context.id(of: SavedFilter.self)
        let sent = try await request.object()
        try sent.checkMembers(["name"])
        let name = try sent.text("name").required(as: "name")
        let (filter, change) = try await context.library.renameFilter(id, to: name, at: parts.ports.now())
        return JSONResponse(filter.json.with(change: change))
    }

    private func delete(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let change = try await context.library.deleteFilter(
            context.id(of: SavedFilter.self), at: parts.ports.now())
        return JSONResponse(["change": JSONValue(change?.rawValue)])
    }
}
