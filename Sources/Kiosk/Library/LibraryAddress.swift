import Bookplate
import FoundationEssentials

/// The query of a Library page or of the API, such as `?q=zürich&status=reading&status=read&sort=title`. If a filter
/// occurs several times, a book matches if it has any of the values. Parameters with empty values are ignored.
/// `reader`, which every address may have, is left to ``ReaderChoice``.
struct LibraryAddress: Sendable {
    enum Name: String, Sendable, CaseIterable {
        case q, status, tag, shelf, author, series, language, rating, owned, wishlist, favourite, added, started,
            finished
        case publisher, year, pages, format, missing
        case readBy, notReadBy, readByNobody
        case trash, sort, reverse, view, limit, after, before

        /// The parameters that filter books.
        static let filters: [Name] = [
            .status, .tag, .shelf, .author, .series, .language, .rating, .owned, .favourite, .wishlist, .added,
            .started, .finished, .publisher, .year, .pages, .format, .missing, .readBy, .notReadBy, .readByNobody,
        ]
    }

    struct Item: Sendable, Equatable {
        var name: Name
        var value: String
    }

    /// The maximum number of books in one response. It is high because, after a change, a page reloads all books that
    /// it shows.
    static let maxHits = 500

    private(set) var items: [Item] = []
    private(set) var query = BookQuery()
    /// The parts of the search that were left out, because they are wrong or not complete yet.
    private(set) var ignored: [QueryMistake] = []
    private(set) var isGrid = false

    /// - Parameters:
    ///   - text: the query of the URL.
    ///   - readers: the household's readers, to whom the filters by reader refer.
    ///   - filters: the saved filters that the search may name.
    ///   - isTyped: true for the search of a page, which a person may still be typing: wrong parts of it are left out.
    ///   - isGuest: true if the request comes from a guest. The search then leaves out notes and quotes, and refuses to
    ///     show the trash.
    /// - Throws: ``RequestRefusal``: 400 with the allowed values if a parameter is not allowed, 401 if a guest requests
    ///   the trash. ``QueryMistake`` for a mistake in the search.
    init(
        _ text: String?, zone: TimeZone, now: Date, readers: [Reader] = [], filters: [SavedFilter] = [],
        isTyped: Bool = false, forGuest isGuest: Bool = false
    ) throws {
        query.zone = zone
        query.searchesAnnotations = !isGuest
        for (name, value) in try PercentEncoding.pairs(text ?? "") where !value.isEmpty && name != "reader" {
            guard let name = Name(rawValue: name) else {
                throw Self.refusal("query", name, Name.allCases.map(\.rawValue))
            }
            // Stored texts are cleaned in the same way. A value of which nothing is left, such as white space, is
            // ignored.
            let value = value.cleanedLine
            if value.isEmpty { continue }
            try apply(name, value, today: CalendarDay(now, in: zone), readers)
            items.append(Item(name: name, value: value))
        }
        if isGuest, query.inTrash { throw RequestRefusal.signInNeeded }
        let context = QueryContext(today: CalendarDay(now, in: zone), readers: readers, filters: filters)
        try parseSearch(QueryParser(context, isLenient: isTyped))
        if query.isReversed, query.sort == nil {
            throw Self.refusal("query", "reverse without sort", BookQuery.Sort.allCases.map { "sort=\($0.rawValue)" })
        }
    }

    /// The search as it was typed.
    var search: String { items.last { $0.name == .q }?.value ?? "" }

    private mutating func parseSearch(_ parser: QueryParser) throws {
        guard !search.isEmpty else { return }
        let parsed = try parser.parse(search)
        // The order that a person has chosen on the page is more than one that the search names.
        let (sort, isReversed) = (query.sort, query.isReversed)
        query.add(parsed)
        if sort != nil { (query.sort, query.isReversed) = (sort, isReversed) }
        ignored = parsed.ignored
    }

    private mutating func apply(_ name: Name, _ value: String, today: CalendarDay, _ readers: [Reader]) throws {
        switch name {
        // The search is parsed when the other parameters are known.
        case .q: break
        case .status:
            let allowed = Copy.Status.allCases.map(\.rawValue)
            query.statuses.insert(try Self.value(name, Copy.Status(rawValue: value), value, allowed))
        case .tag: query.tags.append(value)
        case .shelf: query.shelves.append(value)
        case .author: query.authors.append(value)
        case .series: query.series.append(value)
        case .language: query.languages.insert(value.lowercased())
        case .rating:
            query.ratings.insert(
                try Self.value(name, RatingBand(parsing: value), value, RatingBand.all.map(\.text)))
        case .publisher: query.publishers.append(value)
        case .year: query.years.append(try Self.range(name, value, digits: 4))
        case .pages: query.pages.append(try Self.range(name, value, digits: 6))
        case .format:
            let allowed = Metadata.Format.allCases.map(\.rawValue)
            query.formats.insert(try Self.value(name, Metadata.Format(rawValue: value), value, allowed))
        case .missing:
            let allowed = MissingField.allCases.map(\.rawValue)
            query.missing.insert(try Self.value(name, MissingField(rawValue: value), value, allowed))
        case .owned:
            let isOwned = try Self.flag(name, value)
            // Both values together match every book.
            query.isOwned = items.contains { $0.name == .owned && $0.isYes != isOwned } ? nil : isOwned
        case .wishlist: query.isOnWishlist = try Self.flag(name, value)
        case .favourite: query.isFavourite = try Self.flag(name, value)
        case .added: query.added = try Self.period(name, value, today)
        case .started: query.started = try Self.period(name, value, today)
        case .finished: query.finished = try Self.period(name, value, today)
        case .readBy: query.readBy.append(try Self.reader(name, value, readers))
        case .notReadBy: query.notReadBy.append(try Self.reader(name, value, readers))
        case .readByNobody: query.readByNobody = try Self.flag(name, value)
        case .trash: query.inTrash = try Self.flag(name, value)
        case .sort:
            let allowed = BookQuery.Sort.allCases.map(\.rawValue)
            query.sort = try Self.value(name, BookQuery.Sort(rawValue: value), value, allowed)
        case .reverse: query.isReversed = try Self.flag(name, value)
        case .view: isGrid = try Self.value(name, ["list": false, "grid": true][value], value, ["list", "grid"])
        case .limit:
            let number = Int(value).flatMap { (1...Self.maxHits).contains($0) ? $0 : nil }
            query.limit = try Self.value(name, number, value, ["1 to \(Self.maxHits)"])
        case .after: query.after = value
        case .before: query.before = value
        }
    }

    private static func value<Value>(_ name: Name, _ value: Value?, _ text: String, _ allowed: [String]) throws -> Value
    {
        guard let value else { throw refusal(name.rawValue, text, allowed) }
        return value
    }

    private static func reader(_ name: Name, _ text: String, _ readers: [Reader]) throws -> ID<Reader> {
        try value(name, readers.first { $0.isCalled(text) }?.id, text, readers.compactMap { $0.name?.cleanedLine })
    }

    private static func flag(_ name: Name, _ text: String) throws -> Bool {
        try value(
            name, ["1": true, "true": true, "yes": true, "0": false, "false": false, "no": false][text], text,
            ["1", "0"])
    }

    /// Parses a period such as `2024`, `2024-03..2024-05`, `..2023`, `-30d..` or `this year`, as the query language
    /// does.
    private static func period(_ name: Name, _ text: String, _ today: CalendarDay) throws -> Period {
        do throws(Period.PhraseFlaw) {
            return try Period(phrase: text, today: today)
        } catch {
            throw refusal(name.rawValue, text, ["2024", "2024-03..2024-05", "..2023", "today", "-30d..", "this year"])
        }
    }

    private static func range(_ name: Name, _ text: String, digits: Int) throws -> ClosedRange<Int> {
        try value(name, NumberRange.parse(text, digits: digits), text, ["200", "..200", "200..400"])
    }

    private static func refusal(_ name: String, _ value: String, _ allowed: [String]) -> RequestRefusal {
        RequestRefusal(
            .badQuery,
            "\(name.cleanedLine.prefix(40)): \"\(value.cleanedLine.prefix(80))\" is not allowed. "
                + "Allowed values: \(allowed.joined(separator: ", ")).",
            values: [
                "value": String(value.cleanedLine.prefix(80)), "allowed": allowed.joined(separator: ", "),
            ], key: "badFilter")
    }
}

// Addresses derived from this one. They leave out the place in the list, so that they begin at the start of the list.
extension LibraryAddress {
    /// Returns the address with a new value for one parameter, or without that parameter if the value is `nil`.
    func setting(_ name: Name, _ value: String?) -> String {
        var rest = kept.filter { $0.name != name }
        if let value { rest.append(Item(name: name, value: value)) }
        return Self.address(rest)
    }

    /// The address of the list in the opposite order; `nil` if the books are ranked by how well they match. It names
    /// the order, because one that only the search names is not reversed.
    var reversed: String? {
        guard let sort = query.sort ?? (query.text.isEmpty ? .added : nil) else { return nil }
        let rest = kept.filter { $0.name != .sort && $0.name != .reverse }
        let order = [Item(name: .sort, value: sort.rawValue)]
        return Self.address(rest + order + (query.isReversed ? [] : [Item(name: .reverse, value: "1")]))
    }

    /// Returns the address without one item. Other items with the same name are kept.
    func without(_ item: Item) -> String { Self.address(kept.filter { $0 != item }) }

    /// Returns the address with the same search text, order and view, but with only these filters.
    func only(_ filters: [Item]) -> String {
        Self.address(kept.filter { [.q, .sort, .reverse, .view].contains($0.name) } + filters)
    }

    /// The address without the search text and the filters.
    var bare: String { Self.address(kept.filter { [.sort, .reverse, .view, .trash].contains($0.name) }) }

    /// Returns the address of the list from a position on.
    func next(_ position: String) -> String { Self.address(kept + [Item(name: .after, value: position)]) }

    /// Returns the address of the page before a position.
    func earlier(_ position: String) -> String { Self.address(kept + [Item(name: .before, value: position)]) }

    /// Returns the address of the list with this search alone, in the same view.
    func searching(_ text: String) -> String {
        Self.address([Item(name: .q, value: text)] + kept.filter { $0.name == .view })
    }

    /// The address of the filter panel for this list.
    var panel: String { "/library/filters" + Self.address(kept).dropFirst("/library".count) }

    /// Returns the address of the values of one filter for this list.
    func panel(of filter: Name) -> String {
        "/library/filters/\(filter.rawValue)" + Self.address(kept).dropFirst("/library".count)
    }

    /// Returns the items that a form passes on in hidden fields. These are all items except those in `names`, which
    /// have visible fields.
    func carried(except names: Set<Name>) -> [Item] { kept.filter { !names.contains($0.name) } }

    private var kept: [Item] { items.filter { ![.after, .before, .limit].contains($0.name) } }

    private static func address(_ items: [Item]) -> String {
        "/library" + (items.isEmpty ? "" : "?")
            + items.map { "\($0.name.rawValue)=\(PercentEncoding.encoded($0.value))" }.joined(separator: "&")
    }
}

extension LibraryAddress {
    /// The search, the filters and the order as one query of the query language, under which they can be saved; `nil`
    /// in the trash, which the language does not have. An author or publisher becomes a phrase within the name. The
    /// view as a list or grid is left out.
    var savedQuery: String? {
        guard !query.inTrash else { return nil }
        var parts: [String] = []
        for name in Name.filters {
            let conditions = items.filter { $0.name == name }.map(condition).filter { !$0.isEmpty }
            switch name {
            case .readBy, .notReadBy: parts += conditions
            case .added, .started, .finished, .wishlist, .favourite, .readByNobody: parts += conditions.suffix(1)
            case .owned where Set(conditions).count > 1: break
            default: if !conditions.isEmpty { parts.append(Self.any(conditions)) }
            }
        }
        if !search.isEmpty {
            let isAlternative = search.split(separator: " ").contains("OR")
            parts.insert(isAlternative && !parts.isEmpty ? "(\(search))" : search, at: 0)
        }
        if items.contains(where: { $0.name == .sort }), let sort = query.sort {
            parts.append("\(sort.rawValue)\(sort.isAscending == query.isReversed ? "-" : "+")")
        }
        return parts.joined(separator: " ")
    }

    private func condition(_ item: Item) -> String {
        switch item.name {
        case .status: QueryField.status.condition(item.value)
        case .tag: QueryField.tag.exactCondition(item.value)
        case .shelf: QueryField.shelf.exactCondition(item.value)
        case .author: QueryField.author.exactCondition(item.value)
        case .series: QueryField.series.exactCondition(item.value)
        case .publisher: QueryField.publisher.exactCondition(item.value)
        case .language: QueryField.language.condition(item.value)
        case .rating: QueryField.rating.condition(item.value)
        case .year: QueryField.year.condition(item.value)
        case .pages: QueryField.pages.condition(item.value)
        case .format: QueryField.format.condition(item.value)
        case .missing: QueryField.missing.condition(item.value)
        case .added: QueryField.added.condition(item.value)
        case .started: QueryField.started.condition(item.value)
        case .finished: QueryField.finished.condition(item.value)
        case .owned: "\(item.isYes ? "" : "-")is:owned"
        case .wishlist: "\(item.isYes ? "" : "-")is:wishlist"
        case .favourite: "\(item.isYes ? "" : "-")is:favourite"
        case .readBy: QueryField.readby.condition(item.value)
        case .notReadBy: "-" + QueryField.readby.condition(item.value)
        case .readByNobody: item.isYes ? "readby:nobody" : ""
        case .q, .trash, .sort, .reverse, .view, .limit, .after, .before: ""
        }
    }

    private static func any(_ conditions: [String]) -> String {
        conditions.count == 1 ? conditions[0] : "(\(conditions.joined(separator: " OR ")))"
    }
}

extension KioskContext {
    /// Parses the query of a Library page or of the API.
    ///
    /// - Parameter isTyped: as in ``LibraryAddress/init(_:zone:now:readers:filters:isTyped:forGuest:)``.
    func libraryAddress(_ text: String?, _ ports: KioskPorts, isTyped: Bool) async throws -> LibraryAddress {
        let namesFilter = text?.lowercased().contains("filter") == true
        return try LibraryAddress(
            text, zone: ports.zone, now: ports.now(), readers: readers,
            filters: namesFilter && !isGuest ? try await library.savedFilters() : [], isTyped: isTyped,
            forGuest: isGuest)
    }
}
