import Bookplate
import FoundationEssentials

/// What list of books is asked for, as addresses say it: `?q=zürich&status=reading&status=read&sort=title`. A name given several
/// times means either; one without a value counts as not given. Pages and API take the same names.
struct LibraryAddress: Sendable {
    enum Name: String, Sendable, CaseIterable {
        case q, status, tag, shelf, author, language, rating, owned, wishlist, favourite, added, started, finished
        case trash, sort, reverse, view, limit, after

        /// Those that choose books; the others order and show them.
        static let filters: [Name] = [
            .status, .tag, .shelf, .author, .language, .rating, .owned, .favourite, .wishlist, .added, .started,
            .finished,
        ]
    }

    struct Item: Sendable, Equatable {
        var name: Name
        var value: String
    }

    /// So many at once at the most; a page shows what it had loaded again after a change.
    static let mostHits = 500

    private(set) var items: [Item] = []
    private(set) var query = BookQuery()
    private(set) var isGrid = false

    /// - Parameters:
    ///   - text: what stands behind the question mark.
    ///   - isGuest: whether who asks is to find nothing by notes and quotes, and nothing in the trash.
    /// - Throws: ``RequestRefusal``: 400 that says what is allowed, 401 for a guest at the trash.
    init(_ text: String?, zone: TimeZone, now: Date, forGuest isGuest: Bool = false) throws {
        query.zone = zone
        query.searchesAnnotations = !isGuest
        for (name, value) in try Self.pairs(text ?? "") where !value.isEmpty {
            guard let name = Name(rawValue: name) else {
                throw Self.refusal("the search", name, Name.allCases.map(\.rawValue))
            }
            // White space alone looks for nothing.
            if name == .q, value.cleanedLine.isEmpty { continue }
            try take(name, value, today: CalendarDay(now, in: zone))
            items.append(Item(name: name, value: value))
        }
        if isGuest, query.inTrash { throw RequestRefusal.signInNeeded }
        if query.isReversed, query.sort == nil {
            throw Self.refusal("reverse", "without a sort", BookQuery.Sort.allCases.map { "sort=\($0.rawValue)" })
        }
    }

    private mutating func take(_ name: Name, _ value: String, today: CalendarDay) throws {
        switch name {
        case .q: query.text = value
        case .status:
            let words = Copy.Status.allCases.map(\.rawValue)
            query.statuses.insert(try Self.word(name, Copy.Status(rawValue: value), value, words))
        case .tag: query.tags.append(value)
        case .shelf: query.shelves.append(value)
        case .author: query.authors.append(value)
        case .language: query.languages.insert(value.lowercased())
        case .rating:
            query.ratings.insert(
                try Self.word(name, RatingBand(parsing: value), value, RatingBand.all.map(\.text)))
        case .owned: query.isOwned = try Self.flag(name, value)
        case .wishlist: query.isOnWishlist = try Self.flag(name, value)
        case .favourite: query.isFavourite = try Self.flag(name, value)
        case .added: query.added = try Self.period(name, value, today)
        case .started: query.started = try Self.period(name, value, today)
        case .finished: query.finished = try Self.period(name, value, today)
        case .trash: query.inTrash = try Self.flag(name, value)
        case .sort:
            let words = BookQuery.Sort.allCases.map(\.rawValue)
            query.sort = try Self.word(name, BookQuery.Sort(rawValue: value), value, words)
        case .reverse: query.isReversed = try Self.flag(name, value)
        case .view: isGrid = try Self.word(name, ["list": false, "grid": true][value], value, ["list", "grid"])
        case .limit:
            let number = Int(value).flatMap { (1...Self.mostHits).contains($0) ? $0 : nil }
            query.limit = try Self.word(name, number, value, ["1 to \(Self.mostHits)"])
        case .after: query.after = value
        }
    }

    private static func word<Value>(_ name: Name, _ value: Value?, _ text: String, _ words: [String]) throws -> Value {
        guard let value else { throw refusal(name.rawValue, text, words) }
        return value
    }

    private static func flag(_ name: Name, _ text: String) throws -> Bool {
        try word(
            name, ["1": true, "true": true, "yes": true, "0": false, "false": false, "no": false][text], text,
            ["1", "0"])
    }

    /// `2024`, `2024-03..2024-05`, `..2023`, `2024-11-05..`, `today`
    private static func period(_ name: Name, _ text: String, _ today: CalendarDay) throws -> Period {
        func day(_ text: Substring) throws -> CalendarDay? {
            if text.isEmpty { return nil }
            if text == "today" { return today }
            return try word(
                name, CalendarDay(String(text)), String(text), ["2024", "2024-03..2024-05", "..2023", "today"])
        }
        guard let dots = text.range(of: "..") else {
            let day = try day(text[...])
            return Period(from: day, to: day)
        }
        return Period(from: try day(text[..<dots.lowerBound]), to: try day(text[dots.upperBound...]))
    }

    private static func refusal(_ name: String, _ value: String, _ allowed: [String]) -> RequestRefusal {
        RequestRefusal(
            status: .badRequest, code: "badQuery",
            message:
                "\(name.cleanedLine.prefix(40)): \"\(value.cleanedLine.prefix(80))\" is not what can be asked for. "
                + "There is: \(allowed.joined(separator: ", ")).",
            values: [
                "value": String(value.cleanedLine.prefix(80)), "allowed": allowed.joined(separator: ", "),
            ], key: "badFilter")
    }
}

// Addresses made from this one. Where the list goes on is left out: it begins anew.
extension LibraryAddress {
    /// The same with another value of one name; `nil` takes the name out.
    func setting(_ name: Name, _ value: String?) -> String {
        var rest = kept.filter { $0.name != name }
        if let value { rest.append(Item(name: name, value: value)) }
        return Self.address(rest)
    }

    /// The same without one of several values.
    func without(_ item: Item) -> String { Self.address(kept.filter { $0 != item }) }

    /// The same text, order and look, with these filters alone.
    func only(_ filters: [Item]) -> String {
        Self.address(kept.filter { [.q, .sort, .reverse, .view].contains($0.name) } + filters)
    }

    /// Without text and filters.
    var bare: String { Self.address(kept.filter { [.sort, .reverse, .view, .trash].contains($0.name) }) }

    /// The page after this one.
    func next(_ place: String) -> String {
        Self.address(items.filter { $0.name != .after && $0.name != .limit } + [Item(name: .after, value: place)])
    }

    /// The panel of filters for this list.
    var panel: String { "/library/filters" + Self.address(kept).dropFirst("/library".count) }

    /// What a form without fields of these names has to hand on.
    func carried(except names: Set<Name>) -> [Item] { kept.filter { !names.contains($0.name) } }

    private var kept: [Item] { items.filter { $0.name != .after && $0.name != .limit } }

    private static func address(_ items: [Item]) -> String {
        "/library" + (items.isEmpty ? "" : "?")
            + items.map { "\($0.name.rawValue)=\(PercentEncoding.encoded($0.value))" }.joined(separator: "&")
    }
}

// The form that browsers write (WHATWG URL, 5.1): pairs parted by &.
extension LibraryAddress {
    /// - Throws: ``RequestRefusal`` (400) for what is no UTF-8, or more than 200 pairs.
    static func pairs(_ text: String) throws -> [(name: String, value: String)] {
        let pieces = text.utf8.split(separator: UInt8(ascii: "&"), maxSplits: 200)
        guard pieces.count <= 200 else {
            throw RequestRefusal(status: .badRequest, code: "badQuery", message: "A search has 200 parts at the most.")
        }
        return try pieces.map { piece in
            let halves = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (
                try PercentEncoding.decoded(halves[0], isQuery: true),
                halves.count > 1 ? try PercentEncoding.decoded(halves[1], isQuery: true) : ""
            )
        }
    }
}
