import Bookplate
import FoundationEssentials
import Hummingbird

/// All books: search as one types, views, filters, order, list and grid; the trash.
struct LibraryPage: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/library", for: .guests, page), Route(.get, "/library/filters", for: .guests, filters),
        ]
    }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let (texts, now) = (parts.pages.texts(context), parts.ports.now())
        let address = try LibraryAddress(
            request.uri.query, zone: parts.ports.zone, now: now, forGuest: context.isGuest)
        var query = address.query
        // Counted to the end: a person is asked about all that goes for good, and about no more.
        if query.inTrash { query.countLimit = .max }
        let found = try await parts.library.books(matching: query)
        // A page asks for no picture that is not there.
        let covers = try await parts.library.keptCovers(among: found.hits.map(\.book.edition.id))
        var view: View = [
            "q": query.text.cleanedLine, "isGrid": address.isGrid, "isTrash": query.inTrash,
            "hits": found.hits.map {
                LibraryHit(hit: $0, texts: texts, now: now, hasCover: covers.contains($0.book.edition.id))
            },
            "total": Self.total(found, texts), "exactTotal": found.isTotalExact ? String(found.total) : "",
            "views": views(address, texts, forGuest: context.isGuest), "chosen": chosen(address, texts),
            "sorts": sorts(address, texts),
            "isReversed": query.isReversed,
            "carried": Self.carried(address, except: [.q, .sort]),
            "otherLook": address.setting(.view, address.isGrid ? nil : "grid"), "panel": address.panel,
            "statuses": Copy.Status.allCases.map { ["code": $0.rawValue, "label": texts("common.\($0.rawValue)")] },
        ]
        if query.sort != nil { view["reversed"] = address.setting(.reverse, query.isReversed ? nil : "1") }
        if let next = found.next { view["next"] = address.next(next) }
        if found.hits.isEmpty { view["empty"] = empty(address) }
        return try await parts.pages.answer(
            Pages.Page(template: "library", title: texts("layout.library"), tab: .library, view: view), context)
    }

    private static func total(_ found: SearchResults, _ texts: Texts) -> String {
        found.isTotalExact
            ? texts("common.books", count: found.total)
            : texts("library.atLeast", ["count": texts.grouped(found.total)])
    }

    static func carried(_ address: LibraryAddress, except names: Set<LibraryAddress.Name>) -> [View] {
        address.carried(except: names).map { ["key": $0.name.rawValue, "value": $0.value] }
    }

    /// The library, and parts of it that people look through by themselves.
    private func views(_ address: LibraryAddress, _ texts: Texts, forGuest: Bool) -> [View] {
        let query = address.query
        let all: [(String, LibraryAddress.Name?, Bool)] = [
            ("all", nil, query.isOnWishlist != true && query.isFavourite != true && !query.inTrash),
            ("wishlist", .wishlist, query.isOnWishlist == true), ("favourites", .favourite, query.isFavourite == true),
            ("trash", .trash, query.inTrash),
        ]
        return all.filter { !(forGuest && $0.1 == .trash) }.map { name, filter, isCurrent in
            [
                "label": texts("library.\(name)"), "isCurrent": isCurrent,
                "address": address.only(filter.map { [.init(name: $0, value: "1")] } ?? []),
            ]
        }
    }

    /// The filters that are set, each with the list without it; what is a view is seen as such.
    private func chosen(_ address: LibraryAddress, _ texts: Texts) -> [View] {
        let filters = address.items.filter { item in
            LibraryAddress.Name.filters.contains(item.name)
                && !([.wishlist, .favourite].contains(item.name) && item.isYes)
        }
        return filters.map { item in
            ["label": label(of: item, texts), "address": address.without(item)]
        }
    }

    private func label(of item: LibraryAddress.Item, _ texts: Texts) -> String {
        let value = LibraryHit.short(item.value)
        switch item.name {
        case .status: return texts("common.\(value)")
        case .rating: return Self.band(value, texts)
        case .owned: return texts(item.isYes ? "library.owned" : "library.notOwned")
        case .wishlist: return texts(item.isYes ? "library.wishlist" : "library.notWishlist")
        case .favourite: return texts(item.isYes ? "library.favourites" : "library.notFavourite")
        case .language: return texts("library.with_language", ["value": texts.language(code: value)])
        default: return texts("library.with_\(item.name.rawValue)", ["value": value])
        }
    }

    static func band(_ text: String, _ texts: Texts) -> String {
        Int(text).map { texts("common.stars", count: $0) } ?? texts("common.unrated")
    }

    private func sorts(_ address: LibraryAddress, _ texts: Texts) -> [View] {
        let best: View = [
            "value": "", "label": texts(address.query.text.isEmpty ? "library.sort_newest" : "library.sort_best"),
            "isChosen": address.query.sort == nil,
        ]
        return [best]
            + BookQuery.Sort.allCases.map { sort in
                [
                    "value": sort.rawValue, "label": texts("library.sort_\(sort.rawValue)"),
                    "isChosen": address.query.sort == sort,
                ]
            }
    }

    /// Why nothing is shown, and what to do.
    private func empty(_ address: LibraryAddress) -> View {
        let query = address.query
        let isSearched = !query.text.isEmpty
        let filters = address.items.filter { LibraryAddress.Name.filters.contains($0.name) }
        var byHand = "/add"
        if isSearched {
            let isNumber = (try? ISBN(query.text)) != nil
            byHand += (isNumber ? "?isbn=" : "?title=") + PercentEncoding.encoded(String(query.text.prefix(200)))
        }
        return [
            "isLibrary": !isSearched && filters.isEmpty && !query.inTrash,
            "isTrash": !isSearched && filters.isEmpty && query.inTrash,
            "isWishlist": !isSearched && filters.count == 1 && query.isOnWishlist == true,
            "isFavourites": !isSearched && filters.count == 1 && query.isFavourite == true,
            "isNothing": isSearched || filters.count > 1
                || filters.count == 1 && query.isOnWishlist != true && query.isFavourite != true,
            "hasFilters": !filters.isEmpty, "unfiltered": address.only([]), "bare": address.bare,
            "isSearched": isSearched, "byHand": byHand,
        ]
    }
}

extension LibraryAddress.Item {
    var isYes: Bool { ["1", "true", "yes"].contains(value) }
}
