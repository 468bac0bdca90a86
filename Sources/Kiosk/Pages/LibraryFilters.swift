import Bookplate
import Hummingbird

// The panel of filters. Counting costs as much as twenty lists, so that it is asked for only when the panel is open; without a
// script it is a page of its own.
extension LibraryPage {
    func filters(_ request: Request, _ context: KioskContext) async throws -> Response {
        let (texts, now) = (parts.pages.texts(context), parts.ports.now())
        let address = try LibraryAddress(
            request.uri.query, zone: parts.ports.zone, now: now, forGuest: context.isGuest)
        let facets = try await parts.library.facets(matching: address.query)
        let named: [(LibraryAddress.Name, [Value])] = [
            (.status, facets.statuses(texts)), (.rating, facets.ratings(texts)), (.tag, Value.names(facets.tags)),
            (.shelf, Value.names(facets.shelves)), (.author, Value.names(facets.authors)),
            (.language, facets.languages.map { Value($0.name, texts.language(code: $0.name), $0.count) }),
            (
                .owned,
                [Value("1", texts("library.owned"), facets.owned)].filter {
                    $0.count > 0 || address.query.isOwned == true
                }
            ),
        ]
        let groups = named.filter { !$0.1.isEmpty }.map { name, values in
            let chosen = Set(address.items.filter { $0.name == name }.map { name.folded($0.value) })
            let items: [View] = values.map {
                [
                    "key": name.rawValue, "value": $0.value, "label": LibraryHit.short($0.label),
                    "count": String($0.count), "isChosen": chosen.contains(name.folded($0.value)),
                ]
            }
            return [
                "title": texts("library.by_\(name.rawValue)"), "first": Array(items.prefix(Self.firstValues)),
                "rest": Array(items.dropFirst(Self.firstValues).prefix(Self.mostValues)),
                "hasRest": items.count > Self.firstValues,
            ] as View
        }
        let dates = [LibraryAddress.Name.added, .started, .finished].map { name -> View in
            [
                "key": name.rawValue, "label": texts("library.by_\(name.rawValue)"),
                "value": address.items.last { $0.name == name }?.value ?? "",
            ]
        }
        let shown: Set<LibraryAddress.Name> = [
            .status, .rating, .tag, .shelf, .author, .language, .owned, .added, .started, .finished,
        ]
        return try await parts.pages.answer(
            Pages.Page(
                template: "filters", title: texts("library.filters"), tab: .library,
                view: ["groups": groups, "dates": dates, "carried": Self.carried(address, except: shown)]), context)
    }

    /// So many of each filter are seen at once, and so many more behind "More".
    private static let firstValues = 12
    private static let mostValues = 200

    fileprivate struct Value {
        let value: String
        let label: String
        let count: Int

        init(_ value: String, _ label: String, _ count: Int) {
            (self.value, self.label, self.count) = (value, label, count)
        }

        static func names(_ counts: [NameCount]) -> [Value] { counts.map { Value($0.name, $0.name, $0.count) } }
    }
}

extension LibraryAddress.Name {
    /// Tags and the like are the same in any case.
    fileprivate func folded(_ value: String) -> String { self == .status ? value : value.lowercased() }
}

extension BookFacets {
    fileprivate func statuses(_ texts: Texts) -> [LibraryPage.Value] {
        Copy.Status.allCases.compactMap { status in
            statuses[status].map { .init(status.rawValue, texts("common.\(status.rawValue)"), $0) }
        }
    }

    fileprivate func ratings(_ texts: Texts) -> [LibraryPage.Value] {
        RatingBand.all.compactMap { band in
            ratings[band].map { .init(band.text, LibraryPage.band(band.text, texts), $0) }
        }
    }
}
