import Bookplate
import FoundationEssentials
import Hummingbird

/// The filter panel of the Library page. Counting the books for all filters takes as long as several lists, so the
/// panel is loaded only when a person opens it, and the authors, series and publishers, of which there may be tens of
/// thousands, only when their group is opened. Without JavaScript, both are separate pages.
struct FilterPanel: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/library/filters", for: .guests, page),
            Route(.get, "/library/filters/author", for: .guests) { try await later(.author, $0, $1) },
            Route(.get, "/library/filters/series", for: .guests) { try await later(.series, $0, $1) },
            Route(.get, "/library/filters/publisher", for: .guests) { try await later(.publisher, $0, $1) },
        ]
    }

    /// The number of values that each filter shows at first.
    private static let firstValues = 12
    /// The number of further values that each filter shows behind "More".
    private static let moreValues = 200
    /// The groups that are open at first.
    private static let open: Set<LibraryAddress.Name> = [.status, .rating, .tag, .shelf]

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let address = try await context.libraryAddress(request.uri.query, parts.ports, isTyped: true)
        let facets = try await context.library.facets(matching: address.query, countsAuthors: false)
        let group = Group(address: address, texts: texts, isGuest: context.isGuest)
        let languages = facets.languages.map { Value($0.name, texts.language(code: $0.name), $0.count) }
        var groups: [View?] = [
            group.values(.status, facets.statuses(texts)), group.values(.rating, facets.ratings(texts)),
            group.values(.tag, Value.names(facets.tags), find: "tag"),
            group.values(.shelf, Value.names(facets.shelves), find: "shelf"),
            group.later(.author), group.later(.series),
        ]
        groups += [
            group.values(.language, languages), group.values(.format, facets.formats(texts)),
            group.values(.owned, facets.ownership(texts, in: address)),
            group.values(.missing, facets.missing(texts)),
            group.values(.year, facets.decades(texts), isRange: true),
            group.values(.pages, facets.pageBands, isRange: true),
            group.later(.publisher), group.readers(context.readers),
        ]
        groups += [.added, .started, .finished].map { group.dates($0, parts.ports) }
        return try await render(groups.compactMap(\.self), for: address, total: facets.total, context)
    }

    /// Responds with one group of names, with their counts.
    private func later(
        _ name: LibraryAddress.Name, _ request: Request, _ context: KioskContext
    ) async throws -> Response {
        let address = try await context.libraryAddress(request.uri.query, parts.ports, isTyped: true)
        let counts =
            name == .author
            ? try await context.library.facets(matching: address.query).authors
            : try await context.library.counts(
                of: name == .series ? .series : .publisher, matching: address.query,
                limit: Self.firstValues + Self.moreValues)
        let group = Group(address: address, texts: parts.pages.texts(context), isGuest: context.isGuest)
        let values = group.values(name, Value.names(counts), find: name.rawValue, isOpen: true)
        return try await render(values.map { [$0] } ?? [], for: address, total: nil, fields: [name], context)
    }

    /// - Parameters:
    ///   - total: the number of books found; `nil` if they were not counted.
    ///   - fields: the filters that have fields in the panel; `nil` for all.
    private func render(
        _ groups: [View], for address: LibraryAddress, total: Int?, fields: Set<LibraryAddress.Name>? = nil,
        _ context: KioskContext
    ) async throws -> Response {
        let texts = parts.pages.texts(context)
        let carried = LibraryPage.carried(
            address, except: fields ?? Self.shown(context.readers))
        var view: View = ["groups": groups, "carried": carried]
        if let total { view["show"] = texts("library.showFound", count: total, ["n": texts.grouped(total)]) }
        if address.items.contains(where: { LibraryAddress.Name.filters.contains($0.name) }) {
            view["unfiltered"] = address.only([])
        }
        return try await parts.pages.render(
            Pages.Page(template: "filters", title: texts("library.filters"), tab: .library, view: view), context)
    }

    /// Returns the filters that have fields in the panel.
    private static func shown(_ readers: [Reader]) -> Set<LibraryAddress.Name> {
        let all: Set<LibraryAddress.Name> = [
            .status, .rating, .tag, .shelf, .author, .series, .language, .owned, .added, .started, .finished,
            .publisher,
            .year, .pages, .format, .missing,
        ]
        return readers.count > 1 ? all.union([.readBy, .notReadBy, .readByNobody]) : all
    }

    fileprivate struct Value {
        let value: String
        let label: String
        let count: Int?

        init(_ value: String, _ label: String, _ count: Int?) {
            (self.value, self.label, self.count) = (value, label, count)
        }

        static func names(_ counts: [NameCount]) -> [Value] { counts.map { Value($0.name, $0.name, $0.count) } }
    }

    /// Prepares the groups of the panel for the template. A group is open at first if it is often needed or filters
    /// the list.
    private struct Group {
        let address: LibraryAddress
        let texts: Texts
        let isGuest: Bool

        private func view(_ name: LibraryAddress.Name, isOpen: Bool = false) -> View {
            let count = address.items.count { $0.name == name }
            var view: View = [
                "name": name.rawValue, "title": texts("library.by_\(name.rawValue)"),
                "isOpen": isOpen || count > 0 || FilterPanel.open.contains(name),
            ]
            if count > 0 { view["chosenCount"] = String(count) }
            return view
        }

        private func chip(_ name: LibraryAddress.Name, _ value: Value, isChosen: Bool) -> View {
            var view: View = [
                "key": name.rawValue, "value": value.value, "label": LibraryHit.short(value.label),
                "isChosen": isChosen,
            ]
            if let count = value.count { view["count"] = texts.grouped(count) }
            return view
        }

        /// Returns a group of values, any of which a book may have; `nil` if there are none.
        ///
        /// - Parameters:
        ///   - find: the kind of names to complete in a field, if there are more values than the group shows at first.
        ///   - isRange: true for a group of numbers, in which a person can also enter a range.
        func values(
            _ name: LibraryAddress.Name, _ values: [Value], find: String? = nil, isRange: Bool = false,
            isOpen: Bool = false
        ) -> View? {
            guard !values.isEmpty else { return nil }
            let chosen = address.items.filter { $0.name == name }.map { name.folded($0.value) }
            let chips = values.map { chip(name, $0, isChosen: chosen.contains(name.folded($0.value))) }
            var view = view(name, isOpen: isOpen)
            view["first"] = Array(chips.prefix(FilterPanel.firstValues))
            view["rest"] = Array(chips.dropFirst(FilterPanel.firstValues).prefix(FilterPanel.moreValues))
            view["hasRest"] = chips.count > FilterPanel.firstValues
            if let find, chips.count > FilterPanel.firstValues || isOpen, !isGuest { view["find"] = find }
            if isRange {
                // A value that is none of the chips is the range that a person has entered.
                let known = Set(values.map(\.value))
                let own = address.items.last { $0.name == name && !known.contains($0.value) }
                let range = own.flatMap { NumberRange.parse($0.value, digits: 6) }
                view["range"] =
                    [
                        "key": name.rawValue, "value": own?.value ?? "",
                        "from": range.map { $0.lowerBound == 0 ? "" : String($0.lowerBound) } ?? "",
                        "to": range.map { $0.upperBound == .max ? "" : String($0.upperBound) } ?? "",
                        "most": name == .year ? "9999" : "999999", "title": texts("library.by_\(name.rawValue)"),
                    ] as View
            }
            return view
        }

        /// Returns a group of names that are counted when it is opened. Before, it has the chosen ones.
        func later(_ name: LibraryAddress.Name) -> View {
            var view = view(name)
            view["first"] = address.items.filter { $0.name == name }.map {
                chip(name, Value($0.value, $0.value, nil), isChosen: true)
            }
            view["later"] = address.panel(of: name)
            return view
        }

        /// Returns the filters by reader as one group; `nil` if there is one reader. Their books are not counted.
        func readers(_ readers: [Reader]) -> View? {
            guard readers.count > 1 else { return nil }
            func reader(_ name: LibraryAddress.Name, _ value: String, _ label: String) -> View {
                let isChosen = address.items.contains { $0.name == name && $0.value.lowercased() == value.lowercased() }
                return chip(name, Value(value, label, nil), isChosen: isChosen)
            }
            let chips = [LibraryAddress.Name.readBy, .notReadBy].flatMap { name in
                readers.map {
                    let shown = texts.name(of: $0)
                    return reader(
                        name, shown, texts("library.with_\(name.rawValue)", ["name": LibraryHit.short(shown)]))
                }
            }
            return [
                "name": "readers", "title": texts("readers.title"),
                "isOpen": chips.contains { $0["isChosen"] as? Bool == true },
                "first": chips + [reader(.readByNobody, "1", texts("library.readByNobody"))],
            ]
        }

        /// Returns the group of a date, with some periods to choose, of which one holds, and a first and last day to
        /// choose in the calendar.
        func dates(_ name: LibraryAddress.Name, _ ports: KioskPorts) -> View {
            let value = address.items.last { $0.name == name }?.value
            let quick = QuickPeriod.allCases.first { $0.rawValue == value }
            var view = view(name)
            view["periods"] =
                [chip(name, Value("", texts("library.period_any"), nil), isChosen: value == nil)]
                + QuickPeriod.allCases.map {
                    chip(name, Value($0.rawValue, texts("library.period_\($0)"), nil), isChosen: $0 == quick)
                }
            let today = CalendarDay(ports.now(), in: ports.zone)
            var own: Period?
            if quick == nil, let value {
                // A value that is refused is not in the address.
                own = try? Period(phrase: value, today: today)
            }
            func end(_ day: CalendarDay?, _ which: String, _ label: String) -> View {
                [
                    "which": which, "value": day?.description ?? "", "shown": day.map(texts.day) ?? "–",
                    "label": label, "spoken": "\(texts("library.by_\(name.rawValue)")), \(label)",
                ]
            }
            view["days"] =
                [
                    "key": name.rawValue, "value": own == nil ? "" : value ?? "",
                    "ends": [end(own?.from, "from", texts("stats.from")), end(own?.to, "to", texts("stats.to"))],
                ] as View
            return view
        }
    }
}

/// The periods that can be chosen with one tap. Raw values are in the query language, and are relative to the current
/// day.
enum QuickPeriod: String, CaseIterable {
    case last30Days = "-30d.."
    case thisYear = "this year"
    case lastYear = "last year"
}

extension LibraryAddress.Name {
    /// Returns the value in lower case, because names are compared ignoring case. Codes, and publishers, which are
    /// compared exactly, are returned unchanged.
    fileprivate func folded(_ value: String) -> String {
        [.status, .format, .missing, .publisher].contains(self) ? value : value.lowercased()
    }
}

extension BookFacets {
    fileprivate func statuses(_ texts: Texts) -> [FilterPanel.Value] {
        Copy.Status.allCases.compactMap { status in
            statuses[status].map { .init(status.rawValue, texts.label(for: status), $0) }
        }
    }

    fileprivate func ratings(_ texts: Texts) -> [FilterPanel.Value] {
        RatingBand.all.compactMap { band in
            ratings[band].map { .init(band.text, LibraryPage.band(band.text, texts), $0) }
        }
    }

    fileprivate func formats(_ texts: Texts) -> [FilterPanel.Value] {
        Metadata.Format.allCases.compactMap { format in
            formats[format].map { .init(format.rawValue, texts.label(for: format), $0) }
        }
    }

    /// Returns the values for which there are books, or that the address contains.
    fileprivate func ownership(_ texts: Texts, in address: LibraryAddress) -> [FilterPanel.Value] {
        let values: [FilterPanel.Value] = [
            .init("1", texts("library.owned"), owned), .init("0", texts("library.notOwned"), notOwned),
        ]
        return values.filter { value in
            value.count != 0 || address.items.contains { $0.name == .owned && $0.value == value.value }
        }
    }

    fileprivate func missing(_ texts: Texts) -> [FilterPanel.Value] {
        MissingField.counted.compactMap { field in
            missing[field].map { .init(field.rawValue, texts("library.missing_\(field.rawValue)"), $0) }
        }
    }

    /// The decades, latest first.
    fileprivate func decades(_ texts: Texts) -> [FilterPanel.Value] {
        decades.sorted { $0.key > $1.key }.map { decade, count in
            .init(NumberRange.text(decade...decade + 9), texts("library.decade", ["year": String(decade)]), count)
        }
    }

    fileprivate var pageBands: [FilterPanel.Value] {
        PageBand.allCases.compactMap { band in
            pages[band].map { .init(band.text, LibraryPage.range(band.text), $0) }
        }
    }
}
