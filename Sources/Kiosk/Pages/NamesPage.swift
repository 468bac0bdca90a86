import Bookplate
import Hummingbird

/// Tags, shelves and authors, to be put in order.
struct NamesPage: Sendable {
    let parts: KioskParts

    /// How many names a page has: a large library has tens of thousands of authors.
    private static let most = 200

    var routes: [Route] {
        NameList.allCases.map { list in
            Route(.get, "/settings/\(list.rawValue)", for: .household) { request, context in
                try await page(list, request, context)
            }
        }
    }

    private func page(_ list: NameList, _ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let asked = try LibraryAddress.pairs(request.uri.query ?? "").last { $0.name == "q" }?.value ?? ""
        let wanted = String(asked.cleanedLine.prefix(100))
        let all = try await names(list)
        let fits = wanted.isEmpty ? all : all.filter { $0.name.lowercased().contains(wanted.lowercased()) }
        var view: View = [
            "list": list.rawValue, "wanted": wanted, "isEmpty": all.isEmpty, "hasFits": !fits.isEmpty,
            "isFound": !all.isEmpty && fits.isEmpty, "emptyText": texts("settings.\(list.rawValue)Empty"),
            "explanation": texts("settings.\(list.rawValue)Hint"),
            "names": fits.prefix(Self.most).map { entry -> View in
                [
                    "name": entry.name, "count": texts.several("stats.nBooks", entry.books),
                    "href": "/library?\(list.filter)=\(PercentEncoding.encoded(entry.name))",
                    "deletion": JSONValue.object([(key: "names", value: [.string(entry.name)])]).text,
                    "deleteLabel": texts("settings.deleteNamed", ["name": entry.name]),
                    "renameLabel": texts("settings.renameNamed", ["name": entry.name]),
                    "selectLabel": texts("settings.selectNamed", ["name": entry.name]),
                ]
            },
        ]
        if list.kind != nil { view["canMake"] = true }
        if fits.count > Self.most {
            view["cut"] = texts(
                "settings.namesCut", ["n": texts.grouped(Self.most), "all": texts.grouped(fits.count)])
        }
        return try await parts.pages.answer(
            Pages.Page(
                template: "settings-names", title: texts("settings.\(list.rawValue)"), tab: .settings, view: view),
            context)
    }

    private func names(_ list: NameList) async throws -> [(name: String, books: Int)] {
        guard let kind = list.kind else { return try await parts.library.authors().map { ($0.name, $0.books) } }
        return try await parts.library.labels(kind).map { ($0.name, $0.books) }
    }
}

extension NameList {
    /// The Library page's filter by such a name.
    fileprivate var filter: String {
        switch self {
        case .tags: "tag"
        case .shelves: "shelf"
        case .authors: "author"
        }
    }
}
