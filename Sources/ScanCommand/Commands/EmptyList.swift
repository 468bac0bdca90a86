import Bookplate
import Library

/// What to say when a list is empty: why, and what to do next.
struct EmptyList {
    private let search: any Search
    private let query: BookQuery

    init(_ search: any Search, _ query: BookQuery) {
        self.search = search
        self.query = query
    }

    func text() async throws -> String {
        if !query.text.isEmpty, !query.hasWords {
            return "\"\(query.text.prefix(80).printable)\" has no word to look for. scan library list shows every book."
        }
        let isWordless = query.text.isEmpty
        if isWordless, !query.hasFilters {
            return query.inTrash
                ? "The trash is empty." : "The library is empty. \(Wiring.firstBook)"
        }
        var wishes = BookQuery()
        wishes.isOnWishlist = true
        if isWordless, query.isOnWishlist == true, try await total(wishes) == 0 {
            return "Nothing is on the wishlist. scan --isbn NUMBER --wishlist puts a book on it."
        }
        let place = query.inTrash ? "in the trash" : "in the library"
        var text =
            isWordless
            ? "No book \(place) fits."
            : "No book \(place) fits \"\(query.text.prefix(80).printable)\"."
        var ways: [String] = []
        for (name, without) in withoutOne {
            let count = try await total(without)
            if count > 0 { ways.append("without \(name) there \(count == 1 ? "is 1" : "are \(count)")") }
        }
        if !ways.isEmpty {
            text += " But " + ways.joined(separator: ", ") + "."
        } else if query.hasFilters {
            text += " Try fewer filters."
        } else {
            text += " Every word must be found, as the beginning of a word; try fewer, or shorter ones."
        }
        return text
    }

    private func total(_ query: BookQuery) async throws -> Int {
        var query = query
        query.limit = 1
        return try await search.books(matching: query).total
    }

    /// The query without one of its filters, or without its words, each with the name of what was left out.
    private var withoutOne: [(name: String, query: BookQuery)] {
        let drops: [(String, (inout BookQuery) -> Void)] = [
            ("--status", { $0.statuses = [] }), ("--tag", { $0.tags = [] }), ("--shelf", { $0.shelves = [] }),
            ("--author", { $0.authors = [] }), ("--language", { $0.languages = [] }), ("--rating", { $0.ratings = [] }),
            ("--wishlist", { $0.isOnWishlist = nil }), ("--owned", { $0.isOwned = nil }),
            ("--favourite", { $0.isFavourite = nil }), ("--added", { $0.added = nil }),
            ("--started", { $0.started = nil }), ("--finished", { $0.finished = nil }),
        ]
        return drops.compactMap { name, drop in
            var without = query
            drop(&without)
            return without == query ? nil : (name, without)
        }
    }
}
