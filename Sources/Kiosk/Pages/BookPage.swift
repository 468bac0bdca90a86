import Bookplate
import FoundationEssentials
import Hummingbird

/// All of one book, and everything that is done to it.
struct BookPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/books/:id", for: .guests, page)] }

    /// Of a long list, this many at a time.
    static let sessionsAtATime = 20
    static let remarksAtFirst = 20

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let copy = try context.id(of: Copy.self)
        let (library, texts) = (parts.library, parts.pages.texts(context))
        guard let whole = try await library.wholeBook(copy) else { throw RequestRefusal.notThere("book") }
        let now = parts.ports.now()
        if context.isGuest { return try await guestPage(whole.book, context) }
        let offset = try request.number("sessions", in: 0...1_000_000, or: 0)
        let history = BookHistory(
            book: whole.book,
            figures: try await library.stats(of: copy, at: now, in: parts.ports.zone),
            entries: try await entries(of: whole.book, request),
            // One more than is shown tells whether there are older ones.
            sessions: try await library.sessions(of: copy, limit: Self.sessionsAtATime + 1, offset: offset),
            offset: offset, totals: try await library.sessionTotals(of: copy), texts: texts, zone: parts.ports.zone)
        let head = BookHead(
            book: whole.book, cover: try await library.keptCover(of: whole.book.edition.id),
            running: try await library.runningSession(), texts: texts, zone: parts.ports.zone, now: now)
        let annotations = BookAnnotations(
            whole: whole, showsAll: request.uri.queryParameters["all"] != nil, texts: texts, zone: parts.ports.zone)
        let details = BookDetails(book: whole.book, texts: texts, zone: parts.ports.zone)

        var view = head.view
        view.merge(details.view) { $1 }
        view.merge(history.view) { $1 }
        view.merge(annotations.view) { $1 }
        view["copies"] = try await copies(of: whole.book, texts)
        if whole.book.copy.deleted != nil { view.merge(seen(whole.book)) { $1 } }
        return try await parts.pages.answer(
            Pages.Page(
                template: "book", title: texts.shownTitle(of: whole.book), tab: .library, view: view), context)
    }

    /// What guests see: the book itself and its days, and neither what was written about it nor its sessions and history.
    private func guestPage(_ book: Book, _ context: KioskContext) async throws -> Response {
        guard book.copy.deleted == nil else { throw RequestRefusal.notThere("book") }
        let (texts, zone) = (parts.pages.texts(context), parts.ports.zone)
        let head = BookHead(
            book: book, cover: try await parts.library.keptCover(of: book.edition.id), running: nil, texts: texts,
            zone: zone, now: parts.ports.now())
        var view = head.view
        view.merge(BookDetails(book: book, texts: texts, zone: zone).view) { $1 }
        view.merge(seen(book)) { $1 }
        view["copies"] = try await copies(of: book, texts, forGuest: true)
        return try await parts.pages.answer(
            Pages.Page(
                template: "book-guest", look: "book", title: texts.shownTitle(of: book), tab: .library, view: view),
            context)
    }

    /// What else is told of a book that is only looked at.
    private func seen(_ book: Book) -> View {
        var view: View = [:]
        if let rating = book.copy.rating { view["rated"] = Copy.stars(rating) }
        if let shelf = book.copy.shelf { view["shelf"] = shelf }
        return view
    }

    /// The latest entries of each reading; a book has few readings. `?reading=` and `?entries=` go through all of one.
    private func entries(of book: Book, _ request: Request) async throws -> [ID<Reading>: ShownEntries] {
        let offset = try request.number("entries", in: 0...1_000_000, or: 0)
        let asked = request.uri.queryParameters["reading"].map { ID<Reading>(rawValue: String($0)) }
        var entries: [ID<Reading>: ShownEntries] = [:]
        for reading in book.copy.readings where reading.id == asked || book.copy.readings.suffix(8).contains(reading) {
            entries[reading.id] = try await ShownEntries(
                of: reading.id, from: reading.id == asked ? offset : nil, in: parts.library)
        }
        return entries
    }

    /// The other copies of the edition.
    private func copies(of book: Book, _ texts: Texts, forGuest: Bool = false) async throws -> [View] {
        guard let isbn = book.edition.isbn else { return [] }
        return try await parts.library.books(with: [isbn])[isbn, default: []].filter { other in
            other.id != book.id && !(forGuest && other.copy.deleted != nil)
        }.map { other in
            let words = [
                other.copy.deleted != nil ? texts("book.inTrash") : texts("common.\(other.copy.status.rawValue)"),
                other.copy.shelf, other.copy.isOnWishlist ? texts("common.wishlist") : nil,
                texts("book.addedOn", ["day": texts.day(CalendarDay(other.copy.added, in: parts.ports.zone))]),
            ]
            return ["copyID": other.id.rawValue, "words": words.compactMap(\.self).joined(separator: " · ")]
        }
    }
}

extension Texts {
    /// As ``Book/displayTitle``, in this language.
    func shownTitle(of book: Book) -> String {
        book.edition.metadata.title ?? book.edition.isbn?.hyphenated ?? self("common.untitled")
    }
}
