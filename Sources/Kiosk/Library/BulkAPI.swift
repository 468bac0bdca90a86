import Bookplate
import FoundationEssentials
import Hummingbird

/// Changes many books with one request. Either all of them are changed or none. The response is `{"changed",
/// "change"}`, where `change` is null if nothing changed. If the books are the results of a search, the response also
/// has `next`; see ``BookSelection``.
struct BulkAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.post, "/api/books/status", for: .household, setStatus),
            Route(.post, "/api/books/tag", for: .household, tag),
            Route(.post, "/api/books/untag", for: .household, untag),
            Route(.post, "/api/books/shelf", for: .household, shelve),
            Route(.post, "/api/books/edit", for: .household, edit),
            Route(.post, "/api/books/trash", for: .household, trash),
            Route(.post, "/api/books/restore", for: .household, restore),
            Route(.post, "/api/books/delete-for-good", for: .household, deleteForGood),
        ]
    }

    private func setStatus(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(BookSelection.self)
        guard let status = body.status.flatMap(Copy.Status.init(rawValue:)) else {
            let allowed = Copy.Status.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw RequestRefusal(.field, "\"status\" must be one of these: \(allowed).", member: "status")
        }
        return try await change(body, context) { $0.status = status }
    }

    private func tag(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(BookSelection.self)
        let name = try (body.name ?? "").checked(as: "tag", limit: TextLimit.name)
        return try await change(body, context) { $0.tags.append(name) }
    }

    private func untag(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(BookSelection.self)
        let name = try (body.name ?? "").checked(as: "tag", limit: TextLimit.name).lowercased()
        return try await change(body, context) { copy in copy.tags.removeAll { $0.lowercased() == name } }
    }

    /// Puts the books on a shelf, or takes them off their shelves if the request has no shelf name.
    private func shelve(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(BookSelection.self)
        let name = (body.name ?? "").cleanedLine
        let shelf = name.isEmpty ? nil : try name.checked(as: "shelf", limit: TextLimit.name)
        return try await change(body, context) { $0.shelf = shelf }
    }

    /// Applies an edit of the form's fields. With `dryRun`, nothing is changed, and the response is the edit's preview
    /// for the first of the books.
    private func edit(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let sent = try await request.object()
        let (body, edit) = (try sent.decoded(as: BookSelection.self), try BulkEdit(sent))
        if try sent.bool("dryRun").value == true {
            return JSONResponse(try edit.preview(try await body.sample(parts, context)))
        }
        let (copies, next) = try await body.copies(parts, context)
        let (changed, change) = try await context.library.updateBooks(
            copies, continuing: body.change, on: nil, at: parts.ports.now()
        ) { book in
            if book.copy.deleted == nil {
                try edit(&book)
            } else if !body.isSearch {
                throw InTrashRefusal(book.copy.id)
            }
        }
        return Self.response(changed, change, next, of: body)
    }

    private func change(
        _ body: BookSelection, _ context: KioskContext, _ edit: @escaping @Sendable (inout Copy) -> Void
    ) async throws -> JSONResponse {
        let (copies, next) = try await body.copies(parts, context)
        let (changed, change) = try await context.library.update(
            copies, continuing: body.change, at: parts.ports.now()
        ) { copy in
            if copy.deleted == nil { edit(&copy) } else if !body.isSearch { throw InTrashRefusal(copy.id) }
        }
        return Self.response(changed, change, next, of: body)
    }

    private func trash(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        try await move(request, context, context.library.trash(_:continuing:at:))
    }

    private func restore(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        try await move(request, context, context.library.restore(_:continuing:at:))
    }

    private func move(
        _ request: Request, _ context: KioskContext,
        _ act: ([ID<Copy>], ID<Change>?, Date) async throws -> (changed: Int, change: ID<Change>?)
    ) async throws -> JSONResponse {
        let body = try await request.json(BookSelection.self)
        let (copies, next) = try await body.copies(parts, context)
        let (changed, change) = try await act(copies, body.change, parts.ports.now())
        return Self.response(changed, change, next, of: body)
    }

    /// Deletes books for good. Only books in the trash can be deleted, so that a single mistake never deletes a book.
    /// The deletion cannot be undone.
    private func deleteForGood(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let body = try await request.json(BookSelection.self)
        try await body.checkCount(parts, context)
        let (copies, next) = try await body.copies(parts, context, piece: 100)
        do {
            try await context.library.purge(copies)
            return Self.response(copies.count, nil, next, of: body)
        } catch {
            var inTrash: [ID<Copy>] = []
            for copy in copies {
                let book = try await context.library.book(copy)
                guard book != nil || body.isSearch else { throw RequestRefusal.notFound("book") }
                if book?.copy.deleted != nil { inTrash.append(copy) }
            }
            guard inTrash.count < copies.count else { throw error }
            guard body.isSearch, !inTrash.isEmpty else {
                throw RequestRefusal(.notInTrash, "Not all of these books are in the trash. Nothing was deleted.")
            }
            // Somebody restored a book after the search had found it.
            try await context.library.purge(inTrash)
            return Self.response(inTrash.count, nil, next, of: body)
        }
    }

    private static func response(
        _ changed: Int, _ change: ID<Change>?, _ next: String?, of body: BookSelection
    ) -> JSONResponse {
        let answer: JSONValue = ["changed": .integer(changed), "change": JSONValue(change?.rawValue)]
        return JSONResponse(body.isSearch ? answer.appending([("next", JSONValue(next))]) : answer)
    }
}

/// The books that a bulk request changes, given by their ids or by a search.
///
/// A search may have 100,000 results. Each request therefore changes only a part of them, called a piece, in a short
/// transaction, and the response says where the next piece begins. A request with `continuing` adds its piece to the
/// change of the first piece, so that all pieces can be undone together.
struct BookSelection: Decodable, Sendable {
    static let memberNames: Set = ["ids", "query", "after", "except", "continuing", "count"]
    static let maxIDs = 1000
    /// The number of search results that one request changes.
    static let piece = 500

    private let ids: [String]?
    /// The query of a Library page, such as "q=dune&status=read".
    private let query: String?
    private let after: String?
    /// The ids of the search results to leave unchanged.
    private let except: [String]?
    private let continuing: String?
    /// The number of search results that the person agreed to delete, minus those that are already deleted.
    private let count: Int?
    let status: String?
    let name: String?

    /// The change to which this request adds its books; `nil` if the request begins a new change.
    var change: ID<Change>? { query == nil ? nil : continuing.map { ID(rawValue: $0) } }
    var isSearch: Bool { query != nil }

    /// Returns the ids of the selected books, or of one piece of the search results.
    ///
    /// - Returns: the ids in order and without duplicates, and the position where the next piece begins; the position
    ///   is `nil` after the last piece.
    /// - Throws: ``RequestRefusal``, ``SearchRefusal``, ``QueryMistake``.
    func copies(_ parts: KioskParts, _ context: KioskContext, piece: Int = Self.piece) async throws -> (
        ids: [ID<Copy>], next: String?
    ) {
        switch (ids, query) {
        case (let ids?, nil): return (try Self.checked(ids), nil)
        case (nil, let text?):
            let found = try await found(text, parts, context, piece)
            return (found.books.map(\.id), found.next)
        default: throw Self.neither
        }
    }

    /// Returns at most ``piece`` of the selected books, as an example for all of them. Books in the trash are left out.
    func sample(_ parts: KioskParts, _ context: KioskContext) async throws -> [Book] {
        switch (ids, query) {
        case (let ids?, nil):
            var books: [Book] = []
            for id in try Self.checked(ids).prefix(Self.piece) {
                guard let book = try await context.library.book(id), book.copy.deleted == nil else { continue }
                books.append(book)
            }
            return books
        case (nil, let text?):
            return try await found(text, parts, context, Self.piece).books.filter { $0.copy.deleted == nil }
        default: throw Self.neither
        }
    }

    private func found(
        _ text: String, _ parts: KioskParts, _ context: KioskContext, _ piece: Int
    ) async throws -> (books: [Book], next: String?) {
        guard text.utf8.count <= 16_000 else { throw Self.refusal }
        var query = try await search(text, parts, context)
        (query.after, query.before, query.limit, query.countLimit) = (after, nil, piece, 0)
        let found = try await context.library.books(matching: query)
        let except = except ?? []
        let excluded = try except.isEmpty ? [] : Set(Self.checked(except))
        return (found.books.filter { !excluded.contains($0.id) }, found.next)
    }

    private static let neither = RequestRefusal(
        .missingField, "The request must contain either \"ids\" or \"query\".")

    /// Checks, before books are deleted for good, that the search has not found more books than the person agreed to
    /// delete.
    func checkCount(_ parts: KioskParts, _ context: KioskContext) async throws {
        guard let count, let text = query else { return }
        var query = try await search(text, parts, context)
        (query.limit, query.countLimit) = (1, .max)
        guard try await context.library.books(matching: query).total - (except?.count ?? 0) > count else { return }
        throw RequestRefusal(
            .moreThanAsked, "The trash now contains more books than you confirmed. Check them, and confirm again.")
    }

    /// Parses the search as the page does, but refuses one with a mistake. The page leaves out wrong parts, so that it
    /// shows more books than the person means to change.
    private func search(_ text: String, _ parts: KioskParts, _ context: KioskContext) async throws -> BookQuery {
        let address = try await context.libraryAddress(text, parts.ports, isTyped: true)
        if let mistake = address.ignored.first { throw mistake }
        return address.query
    }

    private static func checked(_ ids: [String]) throws -> [ID<Copy>] {
        guard (1...maxIDs).contains(ids.count), ids.allSatisfy({ $0.utf8.count <= 64 }) else { throw refusal }
        var seen: Set<String> = []
        return ids.filter { seen.insert($0).inserted }.map { ID(rawValue: $0) }
    }

    private static let refusal = RequestRefusal(.badBooks, "The request must contain the ids of 1 to \(maxIDs) books.")
}
