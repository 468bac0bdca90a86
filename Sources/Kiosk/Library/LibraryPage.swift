import Bookplate
import FoundationEssentials
import Hummingbird
import Mustache

/// The Library page: a search that updates while a person types, with views, saved filters, filters, sorting, a list or
/// a grid, and the trash.
struct LibraryPage: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [Route(.get, "/library", for: .guests, page)]
    }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let (texts, now) = (parts.pages.texts(context), parts.ports.now())
        let address = try await context.libraryAddress(request.uri.query, parts.ports, isTyped: true)
        var query = address.query
        // The trash is counted completely because a person confirms the exact number of books to delete for good.
        if query.inTrash { query.countLimit = .max }
        let found = try await context.library.books(matching: query)
        // The page requests only covers that exist.
        let covers = try await context.library.keptCovers(among: found.hits.map(\.book.edition.id))
        let saved = try await saved(address, texts, context)
        let isSavedFilter = saved.contains { $0["isCurrent"] as? Bool == true }
        var view: View = [
            "q": address.search, "isGrid": address.isGrid, "isTrash": query.inTrash,
            "hits": found.hits.map {
                LibraryHit(hit: $0, texts: texts, now: now, hasCover: covers.contains($0.book.edition.id))
            },
            "total": Self.total(found, texts), "exactTotal": found.isTotalExact ? String(found.total) : "",
            "views": views(address, texts, forGuest: context.isGuest, isSavedFilter: isSavedFilter),
            "chosen": chosen(address, texts),
            "sorts": sorts(address, texts),
            "isReversed": query.isReversed,
            "carried": Self.carried(address, except: [.q, .sort]),
            "saved": saved, "maySave": maySave(address, context),
            "otherLook": address.setting(.view, address.isGrid ? nil : "grid"), "panel": address.panel,
            "statuses": Copy.Status.allCases.map { ["code": $0.rawValue, "label": texts("common.\($0.rawValue)")] },
        ]
        if query.isOnWishlist == true { view["isWishlistView"] = true }
        view["heading"] =
            query.isOnWishlist == true
            ? texts("common.wishlist") : query.inTrash ? texts("library.trash") : texts("layout.library")
        if let reversed = address.reversed { view["reversed"] = reversed }
        if !address.ignored.isEmpty {
            let parts = address.ignored.map { String($0.query.dropFirst($0.place.lowerBound).prefix($0.place.count)) }
            view["ignored"] = texts("library.ignored", ["part": LibraryHit.short(parts.joined(separator: ", "))])
        }
        let filters = chosenFilters(address)
        if !filters.isEmpty { view["filterCount"] = String(filters.count) }
        if let next = found.next { view["next"] = address.next(next) }
        if let start = found.start { view["earlier"] = address.earlier(start) }
        // A list of one page needs no letters.
        if found.next != nil || found.start != nil {
            let letters = try await context.library.letters(matching: query)
            if letters.count > 1 {
                view["hasLetters"] = true
                view["letters"] = self.letters(letters, address, texts)
            }
        }
        let isFiltered = !address.search.isEmpty || !address.chosenFilters.isEmpty
        view["hasRail"] = !context.isGuest && (!found.hits.isEmpty || isFiltered)
        // Without a search and filters, no book was left out.
        let isFirst = found.hits.isEmpty && !isFiltered && !query.inTrash
        if isFirst { view["isFirst"] = true } else if found.hits.isEmpty { view["empty"] = empty(address) }
        return try await parts.pages.render(
            Pages.Page(
                template: "library", title: texts("layout.library"), tab: .library, view: view,
                scripts: isFirst ? ["start"] : []), context)
    }

    private static func total(_ found: SearchResults, _ texts: Texts) -> String {
        found.isTotalExact
            ? texts("common.books", count: found.total)
            : texts("library.atLeast", ["count": texts.grouped(found.total)])
    }

    static func carried(_ address: LibraryAddress, except names: Set<LibraryAddress.Name>) -> [View] {
        address.carried(except: names).map { ["key": $0.name.rawValue, "value": $0.value] }
    }

    /// Returns the views of the library: all books, the wishlist, favourites and the trash.
    private func views(_ address: LibraryAddress, _ texts: Texts, forGuest: Bool, isSavedFilter: Bool) -> [View] {
        let query = address.query
        let all: [(String, LibraryAddress.Name?, Bool)] = [
            ("all", nil, !isSavedFilter && query.isOnWishlist != true && query.isFavourite != true && !query.inTrash),
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

    /// Returns the active filters, each with the address of the list without that filter. The wishlist and the
    /// favourites are views, so they are not listed.
    private func chosen(_ address: LibraryAddress, _ texts: Texts) -> [View] {
        chosenFilters(address).map { ["label": label(of: $0, texts), "address": address.without($0)] }
    }

    private func chosenFilters(_ address: LibraryAddress) -> [LibraryAddress.Item] {
        address.items.filter { item in
            LibraryAddress.Name.filters.contains(item.name)
                && !([.wishlist, .favourite].contains(item.name) && item.isYes)
        }
    }

    /// Returns the saved filters of the present reader. Guests have none.
    private func saved(_ address: LibraryAddress, _ texts: Texts, _ context: KioskContext) async throws -> [View] {
        guard !context.isGuest else { return [] }
        return try await context.library.savedFilters().map { filter in
            let query = QueryField.filter.condition(filter.name)
            let isCurrent = address.search == query
            return [
                "id": filter.id.rawValue, "name": filter.name, "label": LibraryHit.short(filter.name),
                "query": filter.query, "isCurrent": isCurrent, "address": address.searching(query),
            ]
        }
    }

    /// True if there is a search, filter or order that can be saved, and that is not a saved filter already.
    private func maySave(_ address: LibraryAddress, _ context: KioskContext) -> Bool {
        guard !context.isGuest, let query = address.savedQuery, !query.isEmpty, address.ignored.isEmpty else {
            return false
        }
        let isFiltered = !address.search.isEmpty || !chosenFilters(address).isEmpty
        return isFiltered && (query != address.search || !query.hasPrefix("filter:"))
    }

    private func label(of item: LibraryAddress.Item, _ texts: Texts) -> String {
        let value = LibraryHit.short(item.value)
        switch item.name {
        case .status: return texts("common.\(value)")
        case .rating: return Self.band(value, texts)
        case .owned: return texts(item.isYes ? "library.owned" : "library.notOwned")
        case .wishlist: return texts(item.isYes ? "library.wishlist" : "library.notWishlist")
        case .favourite: return texts(item.isYes ? "library.favourites" : "library.notFavourite")
        case .readBy, .notReadBy: return texts("library.with_\(item.name.rawValue)", ["name": value])
        case .readByNobody: return texts("library.readByNobody")
        case .language: return texts("library.with_language", ["value": texts.language(code: value)])
        case .format: return texts.label(for: Metadata.Format(rawValue: value))
        case .missing: return texts("library.missing_\(value)")
        case .year, .pages: return texts("library.with_\(item.name.rawValue)", ["value": Self.range(value)])
        case .added, .started, .finished:
            return texts("library.with_\(item.name.rawValue)", ["value": period(value, texts)])
        default: return texts("library.with_\(item.name.rawValue)", ["value": value])
        }
    }

    /// Returns a range of numbers as people write it, such as 150–299 or ≥ 500.
    static func range(_ text: String) -> String {
        guard let dots = text.firstRange(of: "..") else { return text }
        let (from, to) = (text[..<dots.lowerBound], text[dots.upperBound...])
        return from.isEmpty ? "≤ \(to)" : to.isEmpty ? "≥ \(from)" : "\(from)–\(to)"
    }

    private func period(_ text: String, _ texts: Texts) -> String {
        if let quick = QuickPeriod(rawValue: text) { return texts("library.period_\(quick)") }
        func day(_ text: Substring) -> String { CalendarDay(String(text)).map(texts.day) ?? String(text) }
        guard let dots = text.firstRange(of: "..") else { return day(text[...]) }
        let (from, to) = (text[..<dots.lowerBound], text[dots.upperBound...])
        return from.isEmpty
            ? texts("library.until", ["day": day(to)])
            : to.isEmpty ? texts("library.since", ["day": day(from)]) : "\(day(from)) – \(day(to))"
    }

    static func band(_ text: String, _ texts: Texts) -> String {
        Int(text).map { texts("common.stars", count: $0) } ?? texts("common.unrated")
    }

    /// Returns the orders to choose from. The first one is the default, which is by relevance for a search, and else
    /// the latest addition first.
    private func sorts(_ address: LibraryAddress, _ texts: Texts) -> [View] {
        let (chosen, isRanked) = (address.query.sort, !address.query.text.isEmpty)
        var first: View = ["value": "", "label": texts("library.sort_best"), "isChosen": chosen == nil]
        if !isRanked {
            let isNamed = chosen == .added
            first = [
                "value": isNamed ? "added" : "", "label": texts("library.sort_added"),
                "isChosen": isNamed || chosen == nil,
            ]
        }
        return [first]
            + BookQuery.Sort.allCases.filter { isRanked || $0 != .added }.map { sort in
                [
                    "value": sort.rawValue, "label": texts("library.sort_\(sort.rawValue)"),
                    "isChosen": chosen == sort,
                ]
            }
    }

    /// Returns the letters with which the titles or names of the list begin, each with the address of the list from
    /// there on.
    private func letters(_ groups: [LetterGroup], _ address: LibraryAddress, _ texts: Texts) -> [View] {
        groups.map { group in
            let sign =
                switch group.initial {
                case .digit: "#"
                case .letter(let letter): String(letter)
                case .other: "…"
                }
            let books = texts("common.books", count: group.count)
            return [
                "letter": sign, "address": address.next(group.start),
                "label": group.initial == .other
                    ? texts("library.otherLetters", ["books": books]) : "\(sign): \(books)",
                "isCurrent": address.query.after == group.start,
            ]
        }
    }

    /// Returns the values that explain an empty list and suggest what a person can do.
    private func empty(_ address: LibraryAddress) -> View {
        let query = address.query
        let isSearched = !address.search.isEmpty
        let filters = address.chosenFilters
        var byHand = "/add"
        // A title may have signs that a search leaves out. Conditions are no title.
        let title = query.condition == nil && query.sort == nil ? address.search : query.text
        if !title.isEmpty {
            let isNumber = (try? ISBN(title)) != nil
            byHand += (isNumber ? "?isbn=" : "?title=") + PercentEncoding.encoded(String(title.prefix(200)))
        }
        return [
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

extension LibraryAddress {
    fileprivate var chosenFilters: [Item] { items.filter { Name.filters.contains($0.name) } }
}

extension LibraryAddress.Item {
    var isYes: Bool { ["1", "true", "yes"].contains(value) }
}

/// One book of the list, prepared for the template. It is a class rather than a dictionary for speed: Mustache passes
/// it as `Any` for each field, and the page is rendered again for every letter that a person types.
final class LibraryHit: Sendable, MustacheParent {
    private let hit: BookHit
    private let texts: Texts
    private let now: Date
    private let hasCover: Bool

    init(hit: BookHit, texts: Texts, now: Date, hasCover: Bool) {
        self.hit = hit
        self.texts = texts
        self.now = now
        self.hasCover = hasCover
    }

    func child(named name: String) -> Any? {
        switch name {
        case "id": hit.book.copy.id.rawValue
        case "cover": hasCover ? "/covers/\(hit.book.edition.id.rawValue)" : nil
        case "name":
            Self.short(hit.book.edition.metadata.title ?? hit.book.edition.isbn?.hyphenated ?? texts("common.untitled"))
        case "initial": drawnCover.initial
        case "tint": drawnCover.colour
        case "author": author
        case "printed": printed
        case "isMarked": hit.match?.field == .title
        case "hasWhy": hit.match.map { $0.field != .title } ?? false
        case "why": hit.match.map { texts("library.in_\($0.field.rawValue)") } ?? ""
        case "snippet": (hit.match?.snippet.parts ?? []).map(LibraryMark.init)
        case "isReading": percent != nil
        case "percent": percent.map(String.init) ?? ""
        case "hasMarks":
            hit.book.copy.rating != nil || hit.book.copy.isOnWishlist || hit.book.copy.isFavourite
                || !hit.book.copy.tags.isEmpty
                || hit.book.copy.shelf != nil || hit.book.edition.metadata.series != nil
                || hit.book.copy.deleted != nil
        case "hasStars": hit.book.copy.rating != nil
        case "stars": hit.book.copy.rating.map(Copy.stars) ?? ""
        case "rated": hit.book.copy.rating.map { texts("library.rated", ["stars": texts.decimal($0)]) } ?? ""
        case "isWish": hit.book.copy.isOnWishlist
        case "isFavourite": hit.book.copy.isFavourite
        case "tags": tags
        case "shelf": hit.book.copy.shelf.map(Self.short)
        case "series": hit.book.edition.metadata.series.map { Self.short($0 + (number.map { " \($0)" } ?? "")) }
        case "seriesPage": hit.book.edition.metadata.series.map(SeriesPage.address)
        case "isTrash": hit.book.copy.deleted != nil
        case "daysLeft":
            hit.book.copy.deleted.map { texts("library.daysLeft", count: Trash.daysLeft(deleted: $0, now: now)) } ?? ""
        case "statusCode": hit.book.copy.status.rawValue
        case "statusName": texts.label(for: hit.book.copy.status)
        case "statusOf": texts.status(hit.book.copy.status, of: texts.shownTitle(of: hit.book))
        default: nil
        }
    }

    /// The year, the ISBN and the shelf, which are on the printed list.
    private var printed: String {
        let metadata = hit.book.edition.metadata
        return [
            metadata.publishedDate.map { String($0.year) } ?? metadata.publishedDateText,
            hit.book.edition.isbn?.hyphenated,
            hit.book.copy.shelf,
        ].compactMap { $0.map(Self.short) }.joined(separator: " · ")
    }

    private var drawnCover: DrawnCover {
        DrawnCover(of: hit.book.edition, titled: hit.book.edition.metadata.title ?? hit.book.displayTitle)
    }

    /// The first four tags, followed by the number of the remaining tags, such as "+3".
    private var tags: [String] {
        let tags = hit.book.copy.tags
        return tags.prefix(4).map(Self.short) + (tags.count > 4 ? ["+\(tags.count - 4)"] : [])
    }

    private var number: String? { hit.book.edition.metadata.seriesNumber }

    private var author: String {
        let names = hit.book.edition.metadata.authorNames
        return names.isEmpty ? texts("common.unknownAuthor") : Self.short(names.joined(separator: ", "))
    }

    /// The progress in percent; `nil` if the book is not being read or its progress is unknown.
    private var percent: Int? {
        guard hit.book.copy.status == .reading || hit.book.copy.status == .onHold,
            let amount = hit.book.copy.reading?.progress?.amount,
            let part = amount.fraction(of: hit.book.edition.metadata.pageCount)
        else { return nil }
        return Int((min(1, max(0, part)) * 100).rounded())
    }

    /// Cuts a text that is longer than 200 bytes after 150 characters, which is about two lines.
    static func short(_ text: String) -> String {
        let line = text.cleanedLine
        return line.utf8.count <= 200 ? line : line.prefix(150) + "…"
    }
}

/// A piece of a text in the search results. `isMatch` is true if the piece matches the search.
struct LibraryMark: Sendable, MustacheParent {
    let text: String
    let isMatch: Bool

    init(_ part: Snippet.Part) { (text, isMatch) = (part.text, part.isMatch) }

    func child(named name: String) -> Any? {
        switch name {
        case "text": text
        case "isMatch": isMatch
        default: nil
        }
    }
}
