import Bookplate
import Hummingbird

/// An edit of many books at once, parsed from the members of a request's JSON. The members are those of ``BookPatch``
/// that make sense for many books. Tags and genres are added and removed instead of replaced, and contributors replace
/// only those with the same roles.
struct BulkEdit: Sendable {
    /// The members that belong to a single book, such as its title.
    private static let single: Set = [
        "title", "subtitle", "isbnText", "pageCount", "seriesNumber", "description", "previewLink", "infoLink",
        "dailyGoal", "tags", "subjects",
    ]
    private static let lists: Set = ["addTags", "removeTags", "addSubjects", "removeSubjects"]

    private let patch: BookPatch
    private let changesPeople: Bool
    private let names: [(list: WritableKeyPath<Book, [String]> & Sendable, added: [String], removed: Set<String>)]
    /// The names under which ``Bookplate/Book/json`` has the changed values.
    let fields: [String]

    /// - Throws: ``RequestRefusal`` (400) for unknown members and wrong types, or if nothing is to be changed,
    ///   ``FieldRefusal`` for invalid values.
    init(_ sent: RequestObject) throws {
        let others = BookSelection.memberNames.union(Self.lists).union(["dryRun"])
        try sent.checkMembers(BookPatch.memberNames.subtracting(Self.single).union(others))
        patch = try BookPatch(sent, and: others)
        changesPeople = sent.members["authors"] != nil
        let tags = try Self.names(sent, "addTags", "tag"), oldTags = try Self.names(sent, "removeTags", "tag")
        let genres = try Self.names(sent, "addSubjects", "genre")
        let oldGenres = try Self.names(sent, "removeSubjects", "genre")
        names = [
            (\.copy.tags, tags, Set(oldTags.map { $0.lowercased() })),
            (\.edition.metadata.subjects, genres, Set(oldGenres.map { $0.lowercased() })),
        ]
        var fields = BookPatch.memberNames.filter { sent.members[$0] != nil }
        if !tags.isEmpty || !oldTags.isEmpty { fields.insert("tags") }
        if !genres.isEmpty || !oldGenres.isEmpty { fields.insert("subjects") }
        self.fields = fields.sorted()
        guard !fields.isEmpty else {
            throw RequestRefusal(.missingField, "The request must contain at least one field to change.")
        }
    }

    private static func names(_ sent: RequestObject, _ member: String, _ what: String) throws -> [String] {
        let names = try sent.texts(member).value ?? []
        return try FieldRefusal.at(member) { try names.map { try $0.checked(as: what, limit: TextLimit.name) } }
    }

    func callAsFunction(_ book: inout Book) throws {
        let people = book.edition.metadata.authors
        try patch(&book)
        if changesPeople {
            let roles = Set(book.edition.metadata.authors.map(\.role))
            book.edition.metadata.authors += people.filter { !roles.contains($0.role) }
        }
        for (list, added, removed) in names where !added.isEmpty || !removed.isEmpty {
            var names = book[keyPath: list].filter { !removed.contains($0.lowercased()) }
            for name in added where !names.contains(where: { $0.lowercased() == name.lowercased() }) {
                names.append(name)
            }
            book[keyPath: list] = names
        }
    }

    /// The number of values that the preview of a field names.
    private static let shownValues = 3

    /// Returns a description of the edit's effects on some books, which changes nothing: `{"books", "changed",
    /// "fields": [{"field", "changed", "was": [{"value", "count"}], "others"}]}`. `was` has the most frequent values
    /// that would be replaced, and `others` is the number of books with any other value.
    func preview(_ books: [Book]) throws -> JSONValue {
        var changed = 0
        var before: [String: [JSONValue]] = [:]
        for book in books {
            var edited = book
            try self(&edited)
            if edited != book { changed += 1 }
            let (old, new) = (book.json, edited.json)
            for field in fields where old[field] != new[field] {
                before[field, default: []].append(old[field] ?? .null)
            }
        }
        return [
            "books": .integer(books.count), "changed": .integer(changed),
            "fields": .array(fields.map { Self.preview($0, before[$0] ?? []) }),
        ]
    }

    private static func preview(_ field: String, _ values: [JSONValue]) -> JSONValue {
        let groups = Dictionary(grouping: values, by: \.text).sorted {
            ($1.value.count, $0.key) < ($0.value.count, $1.key)
        }
        let shown = groups.prefix(shownValues)
        return [
            "field": .string(field), "changed": .integer(values.count),
            "was": .array(shown.map { ["value": $0.value[0], "count": .integer($0.value.count)] }),
            "others": .integer(groups.dropFirst(shownValues).reduce(0) { $0 + $1.value.count }),
        ]
    }
}

extension JSONValue {
    fileprivate subscript(member: String) -> JSONValue? {
        if case .object(let members) = self { members.first { $0.key == member }?.value } else { nil }
    }
}

/// The sheet in which a person edits many books. It is loaded when it is opened.
struct BulkEditPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/library/edit", for: .household, page)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        func choice(_ code: String, _ label: String) -> View { ["code": code, "label": label] }
        let ratings = stride(from: 5.0, to: 0, by: -0.25).map {
            choice(JSONValue.number($0).text, "\(Copy.stars($0)) \(texts.decimal($0))")
        }
        return try await parts.pages.render(
            Pages.Page(
                template: "bulk-edit", title: texts("library.editMany"), tab: .library,
                view: [
                    "statuses": Copy.Status.allCases.map { choice($0.rawValue, texts.label(for: $0)) },
                    "formats": Metadata.Format.allCases.map { choice($0.rawValue, texts.label(for: $0)) },
                    "ratings": ratings,
                    "languages": texts.section("languages").sorted { $0.value < $1.value }.map { choice($0, $1) },
                ]), context)
    }
}
