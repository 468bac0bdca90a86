import Bookplate
import Hummingbird

/// Acts on many books at once: all or none, one change. Each answers `{"changed", "change"}`; `change` is null when nothing changed.
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
        ]
    }

    static let mostBooks = 1000

    private struct Body: Decodable {
        var ids: [String]
        var status: String?
        var name: String?

        /// Each once, in their order.
        func copies() throws -> [ID<Copy>] {
            guard (1...BulkAPI.mostBooks).contains(ids.count), ids.allSatisfy({ $0.utf8.count <= 64 }) else {
                throw RequestRefusal(
                    status: .unprocessableContent, code: "badBooks",
                    message: "Name 1 to \(BulkAPI.mostBooks) books by their ids.")
            }
            var seen: Set<String> = []
            return ids.filter { seen.insert($0).inserted }.map { ID(rawValue: $0) }
        }
    }

    private func setStatus(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let body = try await request.json(Body.self)
        guard let status = body.status.flatMap(Copy.Status.init(rawValue:)) else {
            throw RequestRefusal(
                status: .unprocessableContent, code: "field.status",
                message: "A status is \(Copy.Status.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return try await change(body) { $0.status = status }
    }

    private func tag(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let body = try await request.json(Body.self)
        let name = try (body.name ?? "").checked(as: "tag", limit: TextLimit.name)
        return try await change(body) { copy in
            // In the spelling that it has already.
            if !copy.tags.contains(where: { $0.lowercased() == name.lowercased() }) { copy.tags.append(name) }
        }
    }

    private func untag(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let body = try await request.json(Body.self)
        let name = try (body.name ?? "").checked(as: "tag", limit: TextLimit.name).lowercased()
        return try await change(body) { copy in copy.tags.removeAll { $0.lowercased() == name } }
    }

    /// Without a name the books are taken off their shelves.
    private func shelve(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let body = try await request.json(Body.self)
        let name = (body.name ?? "").cleanedLine
        let shelf = name.isEmpty ? nil : try name.checked(as: "shelf", limit: TextLimit.name)
        return try await change(body) { $0.shelf = shelf }
    }

    private func change(_ body: Body, _ act: @escaping @Sendable (inout Copy) -> Void) async throws -> JSONAnswer {
        let (changed, change) = try await parts.library.update(try body.copies(), at: parts.ports.now(), act)
        return Self.answer(changed, change)
    }

    private func trash(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let copies = try await request.json(Body.self).copies()
        return Self.answer(copies.count, try await parts.library.trash(copies, at: parts.ports.now()))
    }

    private func restore(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let copies = try await request.json(Body.self).copies()
        return Self.answer(copies.count, try await parts.library.restore(copies, at: parts.ports.now()))
    }

    private static func answer(_ changed: Int, _ change: ID<Change>?) -> JSONAnswer {
        JSONAnswer(["changed": .integer(changed), "change": JSONValue(change?.rawValue)])
    }
}
