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
            if copy.deleted == nil { act(&copy) } else if !body.isSearch { throw InTrash(copy.id) }
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
            try await parts.library.deleteForGood(copies)
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
            try await parts.library.deleteForGood(inTrash)
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

/// The books that an act on many is about: named by their ids, or all that a search shows, piece by piece.
///
/// A search may show 100,000 books. So one request acts on a piece of them, in a transaction that is over soon, and tells where
/// the next begins; `continuing` the first piece's change, all of them are undone at once.
struct ChosenBooks: Decodable, Sendable {
    static let mostIDs = 1000
    /// How many books of a search one request acts on.
    static let piece = 500

    private let ids: [String]?
    /// As in the address of the Library page: "q=dune&status=read".
    private let query: String?
    private let after: String?
    /// Of what the search shows, those that are not meant.
    private let except: [String]?
    private let continuing: String?
    /// How many of what a search shows a person was asked about, less those that are done with.
    private let count: Int?
    let status: String?
    let name: String?

    /// The change that this goes on with.
    var change: ID<Change>? { query == nil ? nil : continuing.map { ID(rawValue: $0) } }
    var isSearch: Bool { query != nil }

    /// - Returns: each once, in their order, and where the search goes on; `nil` at its end.
    /// - Throws: ``RequestRefusal``, ``SearchRefusal``.
    func copies(_ parts: KioskParts, piece: Int = Self.piece) async throws -> (ids: [ID<Copy>], next: String?) {
        switch (ids, query) {
        case (let ids?, nil): return (try Self.checked(ids), nil)
        case (nil, let text?):
            guard text.utf8.count <= 16_000 else { throw Self.refusal }
            var query = try LibraryAddress(text, zone: parts.ports.zone, now: parts.ports.now()).query
            (query.after, query.limit, query.countLimit) = (after, piece, 0)
            let found = try await parts.library.books(matching: query)
            let except = except ?? []
            let spared = try except.isEmpty ? [] : Set(Self.checked(except))
            return (found.books.map(\.id).filter { !spared.contains($0) }, found.next)
        default:
            throw RequestRefusal(
                status: .badRequest, code: "missingField", message: "Say \"ids\" or \"query\", one of the two.")
        }
    }

    /// What nothing brings back is done to no more books than the person was told of.
    func checkCount(_ parts: KioskParts) async throws {
        guard let count, let text = query else { return }
        var query = try LibraryAddress(text, zone: parts.ports.zone, now: parts.ports.now()).query
        (query.limit, query.countLimit) = (1, .max)
        guard try await parts.library.books(matching: query).total - (except?.count ?? 0) > count else { return }
        throw RequestRefusal(
            status: .unprocessableContent, code: "moreThanAsked",
            message: "There are more books in the trash now than you were asked about. Look at them, and ask again.")
    }

    private static func checked(_ ids: [String]) throws -> [ID<Copy>] {
        guard (1...mostIDs).contains(ids.count), ids.allSatisfy({ $0.utf8.count <= 64 }) else { throw refusal }
        var seen: Set<String> = []
        return ids.filter { seen.insert($0).inserted }.map { ID(rawValue: $0) }
    }

    private static let refusal = RequestRefusal(
        status: .unprocessableContent, code: "badBooks", message: "Name 1 to \(mostIDs) books by their ids.")
}
