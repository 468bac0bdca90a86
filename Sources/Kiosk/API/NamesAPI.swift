import Bookplate
import FoundationEssentials
import Hummingbird

/// Tags, shelves and authors: listed, made, renamed, merged, deleted. Names are in bodies, not in paths: they hold anything.
struct NamesAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        NameList.allCases.flatMap { list in
            let path = "/api/\(list.rawValue)"
            let acts = NameActs(library: parts.library, list: list, now: parts.ports.now)
            var routes = [
                Route(.get, path, for: .guests) { _, _ in JSONAnswer([list.rawValue: .array(try await acts.all())]) },
                Route(.patch, path, for: .household) { request, _ in
                    let asked = try await request.json(Renaming.self)
                    return JSONAnswer(try await acts.rename(asked.name, to: asked.newName))
                },
                Route(.post, path + "/merge", for: .household) { request, _ in
                    let asked = try await request.json(Merging.self)
                    return JSONAnswer(try await acts.merge(try Self.checked(asked.names), into: asked.into))
                },
                Route(.delete, path, for: .household) { request, _ in
                    let asked = try await request.json(Deleting.self)
                    return JSONAnswer(try await acts.delete(try Self.checked(asked.names)))
                },
            ]
            if let kind = list.kind {
                routes.append(
                    Route(.post, path, for: .household) { request, _ in
                        let asked = try await request.json(Making.self)
                        return JSONAnswer(try await acts.make(kind, asked.name))
                    })
            }
            return routes
        }
    }

    private struct Making: Decodable { let name: String }
    private struct Renaming: Decodable { let name, newName: String }
    private struct Merging: Decodable {
        let names: [String]
        let into: String
    }
    private struct Deleting: Decodable { let names: [String] }

    /// - Throws: ``KioskError`` for no name at all, or more than one act takes.
    private static func checked(_ names: [String]) throws -> [String] {
        guard (1...200).contains(names.count) else { throw KioskError(.refused, "Name 1 to 200 of them.") }
        return names
    }
}

/// The three lists of names. Raw values are in addresses.
enum NameList: String, Sendable, CaseIterable {
    case tags, shelves, authors

    /// `nil` for authors, who come with books and cannot be made without one.
    var kind: Label.Kind? {
        switch self {
        case .tags: .tag
        case .shelves: .shelf
        case .authors: nil
        }
    }
}

/// What is done to one of the lists, told as JSON: of authors as of labels.
struct NameActs: Sendable {
    let library: any KioskLibrary
    let list: NameList
    let now: @Sendable () -> Date

    func all() async throws -> [JSONValue] {
        guard let kind = list.kind else { return try await library.authors().map(\.json) }
        return try await library.labels(kind).map(\.json)
    }

    func make(_ kind: Label.Kind, _ name: String) async throws -> JSONValue {
        try await library.addLabel(kind, name, to: [], at: now()).told
    }

    func rename(_ name: String, to newName: String) async throws -> JSONValue {
        guard let kind = list.kind else {
            return try await library.renameAuthor(name, to: newName, at: now()).told
        }
        return try await library.renameLabel(kind, name, to: newName, at: now()).told
    }

    func merge(_ names: [String], into target: String) async throws -> JSONValue {
        guard let kind = list.kind else {
            return try await library.mergeAuthors(names, into: target, at: now()).told
        }
        return try await library.mergeLabels(kind, names, into: target, at: now()).told
    }

    func delete(_ names: [String]) async throws -> JSONValue {
        if let kind = list.kind {
            let done = try await library.deleteLabels(kind, names, at: now())
            return [list.rawValue: .array(done.map(\.label.json)), "change": JSONValue(done.first?.change?.rawValue)]
        }
        let done = try await library.deleteAuthors(names, at: now())
        return [list.rawValue: .array(done.map(\.author.json)), "change": JSONValue(done.first?.change?.rawValue)]
    }
}

extension LabelChange {
    fileprivate var told: JSONValue { label.json.with(changedBooks, change) }
}

extension AuthorChange {
    fileprivate var told: JSONValue { author.json.with(changedBooks, change) }
}

extension JSONValue {
    fileprivate func with(_ changedBooks: Int, _ change: ID<Change>?) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members + [
                (key: "changedBooks", value: .integer(changedBooks)),
                (key: "change", value: JSONValue(change?.rawValue)),
            ])
    }
}
