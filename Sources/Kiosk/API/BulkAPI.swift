import Bookplate
import FoundationEssentials
import Hummingbird

/// Acts on many books at once: all or none, one change. Each answers `{"changed", "change"}`; `change` is null when nothing changed.
/// Of what a search shows it answers where the next piece begins, too: ``ChosenBooks``.
struct BulkAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.post, "/api/books/status", for: .household, setStatus),
            Route(.post, "/api/books/tag", for: .household, tag),
            Route(.post, "/api/books/untag", for: .household, untag),
            Route(.post, "/api/books/shelf", for: .household, shelve),
            Route(.post, "/api/books/trash", for: .household, trash),
            Route(.post, "/api/books/restore", for: .household, restore),
            Route(.post, "/api/books/delete-for-good", for: .household, deleteForGood),
        ]
    }

    private func setStatus(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let body = try await request.json(ChosenBooks.self)
        guard let status = body.status.flatMap(Copy.Status.init(rawValue:)) else {
            throw RequestRefusal(
                status: .unprocessableContent, code: "field.status",
                message: "A status is \(Copy.Status.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return try await change(body) { $0.status = status }
    }

    private func tag(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let body = try await request.json(ChosenBooks.self)
        let name = try (body.name ?? "").checked(as: "tag", limit: TextLimit.name)
        return try await change(body) { $0.tags.append(name) }
    }

    private func untag(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let body = try await request.json(ChosenBooks.self)
        let name = try (body.name ?? "").checked(as: "tag", limit: TextLimit.name).lowercased()
        return try await change(body) { copy in copy.tags.removeAll { $0.lowercased() == name } }
    }

    /// Without a name the books are taken off their shelves.
    private func shelve(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let body = try await request.json(ChosenBooks.self)
        let name = (body.name ?? "").cleanedLine
        let shelf = name.isEmpty ? nil : try name.checked(as: "shelf", limit: TextLimit.name)
        return try await change(body) { $0.shelf = shelf }
    }

    private func change(_ body: ChosenBooks, _ act: @escaping @Sendable (inout Copy) -> Void) async throws -> JSONAnswer
    {
        let (copies, next) = try await body.copies(parts)
        let (changed, change) = try await parts.library.update(
            copies, continuing: body.change, at: parts.ports.now()
        ) { copy in
            if copy.deleted == nil { act(&copy) } else if !body.isSearch { throw InTrashRefusal(copy.id) }
        }
        return Self.answer(changed, change, next, of: body)
    }

    private func trash(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        try await move(request, parts.library.trash(_:continuing:at:))
    }

    private func restore(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        try await move(request, parts.library.restore(_:continuing:at:))
    }

    private func move(
        _ request: Request, _ act: ([ID<Copy>], ID<Change>?, Date) async throws -> (changed: Int, change: ID<Change>?)
    ) async throws -> JSONAnswer {
        let body = try await request.json(ChosenBooks.self)
        let (copies, next) = try await body.copies(parts)
        let (changed, change) = try await act(copies, body.change, parts.ports.now())
        return Self.answer(changed, change, next, of: body)
    }

    /// Only from the trash, so that one slip is never enough; there is no change, because nothing brings them back.
    private func deleteForGood(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let body = try await request.json(ChosenBooks.self)
        try await body.checkCount(parts)
        let (copies, next) = try await body.copies(parts, piece: 100)
        do {
            try await parts.library.purge(copies)
            return Self.answer(copies.count, nil, next, of: body)
        } catch {
            var inTrash: [ID<Copy>] = []
            for copy in copies {
                let book = try await parts.library.book(copy)
                guard book != nil || body.isSearch else { throw RequestRefusal.notThere("book") }
                if book?.copy.deleted != nil { inTrash.append(copy) }
            }
            guard inTrash.count < copies.count else { throw error }
            guard body.isSearch, !inTrash.isEmpty else {
                throw RequestRefusal(
                    status: .unprocessableContent, code: "notInTrash",
                    message: "Not all of these are in the trash. Nothing was deleted.")
            }
            // Somebody took one out of the trash since the search found it.
            try await parts.library.purge(inTrash)
            return Self.answer(inTrash.count, nil, next, of: body)
        }
    }

    private static func answer(
        _ changed: Int, _ change: ID<Change>?, _ next: String?, of body: ChosenBooks
    ) -> JSONAnswer {
        let answer: JSONValue = ["changed": .integer(changed), "change": JSONValue(change?.rawValue)]
        return JSONAnswer(body.isSearch ? answer.with("next", JSONValue(next)) : answer)
    }
}
