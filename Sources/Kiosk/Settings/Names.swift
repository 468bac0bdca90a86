import Bookplate
import FoundationEssentials
import Hummingbird

/// The pages on which a person renames, merges and deletes tags, shelves and authors, and corrects the sort names of
/// authors.
struct NamesPage: Sendable {
    let parts: KioskParts

    /// The maximum number of names on a page. A large library has tens of thousands of authors.
    private static let maxNames = 200

    var routes: [Route] {
        NameList.allCases.map { list in
            Route(.get, "/settings/\(list.rawValue)", for: .household) { request, context in
                try await page(list, request, context)
            }
        }
    }

    private func page(_ list: NameList, _ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let query = try request.queryValue("q") ?? ""
        let wanted = String(query.cleanedLine.prefix(100))
        let all = try await names(list, context.library)
        let matches = wanted.isEmpty ? all : all.filter { $0.name.lowercased().contains(wanted.lowercased()) }
        var view: View = [
            "list": list.rawValue, "wanted": wanted, "isEmpty": all.isEmpty, "hasFits": !matches.isEmpty,
            "isFound": !all.isEmpty && matches.isEmpty, "emptyText": texts("settings.\(list.rawValue)Empty"),
            "explanation": texts("settings.\(list.rawValue)Hint"),
            "names": matches.prefix(Self.maxNames).map { entry -> View in
                var view: View = [
                    "name": entry.name, "count": texts("stats.nBooks", n: entry.books),
                    "href": "/library?\(list.filter)=\(PercentEncoding.encoded(entry.name))",
                    "deletion": JSONValue.object([(key: "names", value: [.string(entry.name)])]).text,
                    "deleteLabel": texts("settings.deleteNamed", ["name": entry.name]),
                    "renameLabel": texts("settings.renameNamed", ["name": entry.name]),
                    "selectLabel": texts("settings.selectNamed", ["name": entry.name]),
                ]
                if let author = entry.author {
                    view["sortName"] = author.sortName
                    view["sortLabel"] = texts("settings.sortNamed", ["name": entry.name])
                    if author.correctedSortName != nil { view["isCorrected"] = true }
                }
                return view
            },
        ]
        if list.kind != nil { view["canMake"] = true } else { view["canSort"] = true }
        if matches.count > Self.maxNames {
            view["cut"] = texts(
                "settings.namesCut", ["n": texts.grouped(Self.maxNames), "all": texts.grouped(matches.count)])
        }
        return try await parts.pages.render(
            Pages.Page(
                template: "settings-names", title: texts("settings.\(list.rawValue)"), tab: .settings, view: view),
            context)
    }

    private struct Entry {
        var name: String
        var books: Int
        var author: Author?
    }

    private func names(_ list: NameList, _ library: any KioskLibrary) async throws -> [Entry] {
        guard let kind = list.kind else {
            return try await library.authors().map { Entry(name: $0.name, books: $0.books, author: $0) }
        }
        return try await library.labels(kind).map { Entry(name: $0.name, books: $0.books) }
    }
}

extension NameList {
    /// The query parameter by which the Library page filters books with a name from this list.
    fileprivate var filter: String {
        switch self {
        case .tags: "tag"
        case .shelves: "shelf"
        case .authors: "author"
        }
    }
}

/// Lists, creates, renames, merges and deletes tags, shelves and authors. Names are sent in the bodies of requests
/// rather than in paths because they may contain any character.
struct NamesAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        NameList.allCases.flatMap { list in
            let path = "/api/\(list.rawValue)"
            let now = parts.ports.now
            @Sendable func editor(_ context: KioskContext) -> NameListEditor {
                NameListEditor(library: context.library, list: list, now: now)
            }
            var routes = [
                Route(.get, path, for: .guests) { _, context in
                    JSONResponse([list.rawValue: .array(try await editor(context).all())])
                },
                Route(.patch, path, for: .household) { request, context in
                    let body = try await request.json(Renaming.self)
                    return JSONResponse(try await editor(context).rename(body.name, to: body.newName))
                },
                Route(.post, path + "/merge", for: .household) { request, context in
                    let body = try await request.json(Merge.self)
                    return JSONResponse(try await editor(context).merge(try Self.checked(body.names), into: body.into))
                },
                Route(.delete, path, for: .household) { request, context in
                    let body = try await request.json(Deletion.self)
                    return JSONResponse(try await editor(context).delete(try Self.checked(body.names)))
                },
            ]
            if list.kind == nil {
                routes.append(
                    Route(.put, path + "/sort-name", for: .household) { request, context in
                        let body = try await request.json(Sorting.self)
                        let sortName = body.sortName.flatMap { $0.cleanedLine.isEmpty ? nil : $0 }
                        return JSONResponse(
                            try await context.library.setSortName(of: body.name, to: sortName, at: now()).json)
                    })
            }
            if let kind = list.kind {
                routes.append(
                    Route(.post, path, for: .household) { request, context in
                        let body = try await request.json(Creation.self)
                        return JSONResponse(try await editor(context).create(kind, body.name))
                    })
            }
            return routes
        }
    }

    private struct Creation: Decodable { let name: String }
    private struct Renaming: Decodable { let name, newName: String }
    /// The new sort name of an author; `null` or an empty text resets it to the one that the rule derives.
    private struct Sorting: Decodable {
        let name: String
        let sortName: String?
    }
    private struct Merge: Decodable {
        let names: [String]
        let into: String
    }
    private struct Deletion: Decodable { let names: [String] }

    /// Returns the names after checking their number.
    ///
    /// - Throws: ``KioskError`` if there are no names or too many names.
    private static func checked(_ names: [String]) throws -> [String] {
        guard (1...200).contains(names.count) else {
            throw KioskError(.refused, "The request must contain 1 to 200 names.")
        }
        return names
    }
}

/// The three lists of names. The raw values are parts of URLs.
enum NameList: String, Sendable, CaseIterable {
    case tags, shelves, authors

    /// The kind of label, which is a tag or a shelf; `nil` for authors, because authors are not created without a book.
    var kind: Label.Kind? {
        switch self {
        case .tags: .tag
        case .shelves: .shelf
        case .authors: nil
        }
    }
}

/// Edits one list of names and returns the result as JSON. Authors, tags and shelves are handled alike.
struct NameListEditor: Sendable {
    let library: any KioskLibrary
    let list: NameList
    let now: @Sendable () -> Date

    func all() async throws -> [JSONValue] {
        guard let kind = list.kind else { return try await library.authors().map(\.json) }
        return try await library.labels(kind).map(\.json)
    }

    func create(_ kind: Label.Kind, _ name: String) async throws -> JSONValue {
        try await library.addLabel(kind, name, to: [], at: now()).json
    }

    func rename(_ name: String, to newName: String) async throws -> JSONValue {
        guard let kind = list.kind else {
            return try await library.renameAuthor(name, to: newName, at: now()).json
        }
        return try await library.renameLabel(kind, name, to: newName, at: now()).json
    }

    func merge(_ names: [String], into target: String) async throws -> JSONValue {
        guard let kind = list.kind else {
            return try await library.mergeAuthors(names, into: target, at: now()).json
        }
        return try await library.mergeLabels(kind, names, into: target, at: now()).json
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
    fileprivate var json: JSONValue {
        label.json.appending([("changedBooks", .integer(changedBooks))]).with(change: change)
    }
}

extension AuthorChange {
    fileprivate var json: JSONValue {
        author.json.appending([("changedBooks", .integer(changedBooks))]).with(change: change)
    }
}
