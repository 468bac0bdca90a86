import Bookplate
import FoundationEssentials
import Hummingbird

/// The review of a reader's year, as a page (/year/2026) and as a picture (/year/2026.svg).
struct YearPage: Sendable {
    let parts: KioskParts

    var routes: [Route] { [Route(.get, "/year/:year", for: .guests, answer)] }

    private func answer(_ request: Request, _ context: KioskContext) async throws -> Response {
        let name = try context.parameters.require("year")
        let isPicture = name.hasSuffix(".svg")
        let digits = isPicture ? name.dropLast(4) : name[...]
        guard digits.utf8.count == 4, let year = CalendarDay(String(digits))?.year else {
            throw RequestRefusal.notFound("page")
        }
        let (now, zone) = (parts.ports.now(), parts.ports.zone)
        let review = try await context.library.review(of: year, at: now, in: zone)
        if isPicture { return try picture(of: review, request, context) }
        // The page requests only covers that exist.
        let covers = try await context.library.keptCovers(among: review.shownBooks.map(\.book.edition))
        let texts = parts.pages.texts(context)
        let view = YearView(
            review: review, today: CalendarDay(now, in: zone), covers: covers, name: readerName(context), texts: texts)
        return try await parts.pages.render(
            Pages.Page(template: "year", title: view.title, tab: .stats, view: view.view), context)
    }

    /// Responds with the picture. It names the reader only if the request asks for it.
    private func picture(of review: YearReview, _ request: Request, _ context: KioskContext) throws -> Response {
        let isNamed = try request.queryValue("name") == "1"
        let picture = YearPicture(
            review: review, name: isNamed ? readerName(context) : nil, texts: parts.pages.texts(context))
        return Response(
            status: .ok,
            headers: [
                .contentType: "image/svg+xml; charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: picture.svg)))
    }

    /// Returns the name of the request's reader; `nil` if the reader has none.
    private func readerName(_ context: KioskContext) -> String? {
        guard let reader = context.reader, reader.name != nil else { return nil }
        return parts.pages.texts(context).name(of: reader)
    }
}

extension YearReview {
    /// All books of which the page shows a cover.
    fileprivate var shownBooks: [YearBook] { books + favourites + [longest, shortest, first, last].compactMap(\.self) }
}

/// Prepares the review of a year for its template.
struct YearView: Sendable {
    let review: YearReview
    let today: CalendarDay
    /// The editions that have a cover.
    let covers: Set<ID<Edition>>
    /// The reader's name; `nil` if the reader has none.
    let name: String?
    let texts: Texts

    var title: String { texts("year.title", ["year": String(review.year)]) }

    var view: View {
        let links = CalendarDay(year: review.year).map { BookLinks.read(in: Period($0)) }
        let facts = YearFacts(review: review, texts: texts)
        var view: View = [
            "year": String(review.year), "heading": title, "isEmpty": review.isEmpty,
            "tiles": facts.tiles.map { ["number": $0.number, "what": $0.what] as View },
            "books": review.books.map(book), "favourites": review.favourites.map(book),
            "hasFavourites": !review.favourites.isEmpty, "hasBooks": !review.books.isEmpty,
            "highlights": highlights, "hasHighlights": !highlights.isEmpty,
            "allBooks": links?.all ?? "", "picture": "/year/\(review.year).svg",
            "file": texts("year.file", ["year": String(review.year)]), "stats": "/stats?period=year&of=\(review.year)",
            "earlier": address(review.year - 1) ?? "",
        ]
        if let later = review.year < today.year ? address(review.year + 1) : nil { view["later"] = later }
        if let name { view["readerName"] = ["withName": texts("year.withName", ["name": name])] as View }
        let hidden = review.counts.all.books - review.books.count
        if hidden > 0 { view["more"] = texts("year.more", n: hidden) }
        if let challenge = review.challenge { view["challenge"] = texts.view(of: challenge) }
        if review.counts.all.books > 0 {
            let months = MonthBars(counts: review.counts, year: review.year, texts: texts)
            view["months"] = months.chart.chart.view(id: "months")
        }
        if !review.counts.authors.isEmpty, let links {
            view["authors"] = Shares(
                review.counts.authors.prefix(5).map {
                    Shares.Part(label: $0.name, count: $0.count, address: links.books(with: .author, $0.name))
                }, of: review.counts.all.books
            ).view(title: texts("year.authors"), number: texts.grouped, percent: texts.withPercentSign)
        }
        return view
    }

    private func address(_ year: Int) -> String? { CalendarDay(year: year).map { "/year/\($0)" } }

    private var highlights: [View] {
        [
            ("first", review.first, review.first.map { texts.day($0.finished) }),
            ("last", review.last, review.last.map { texts.day($0.finished) }),
            ("longest", review.longest, pages(review.longest)), ("shortest", review.shortest, pages(review.shortest)),
        ].compactMap { key, found, detail in
            found.map { book($0).merging(["role": texts("year.\(key)"), "detail": detail ?? ""]) { $1 } }
        }
    }

    private func pages(_ book: YearReview.YearBook?) -> String? {
        book?.pageCount.map { texts("stats.nPages", n: $0) }
    }

    private func book(_ book: YearReview.YearBook) -> View {
        var view = texts.view(of: book.book)
        let title = texts.title(book.book.title, book.book.isbn)
        view["tint"] = DrawnCover(title: title, language: nil).colour
        if covers.contains(book.book.edition) { view["cover"] = "/covers/\(book.book.edition.rawValue)" }
        if let rating = book.rating {
            view["rating"] =
                [
                    "stars": texts.stars(rating), "label": texts("stats.nStars", ["n": texts.decimal(rating)]),
                ] as View
        }
        return view
    }
}

/// The figures of a year, for the page and for the picture.
struct YearFacts: Sendable {
    let review: YearReview
    let texts: Texts

    /// The figures with their units; those that are 0 are left out, except the number of books.
    var tiles: [(number: String, what: String)] {
        let (counts, totals) = (review.counts.all, review.totals)
        func tile(_ number: Int, _ what: String) -> (number: String, what: String)? {
            number > 0 ? (texts.grouped(number), what) : nil
        }
        let hours = totals.minutes / 60
        return [
            (texts.grouped(counts.books), texts("year.books", count: counts.books)),
            tile(counts.pages, texts("year.pages", count: counts.pages)),
            tile(hours, texts("year.hours", count: hours)),
            tile(totals.daysRead, texts("year.days", count: totals.daysRead)),
            tile(review.streak, texts("year.streak", count: review.streak)),
        ].compactMap(\.self)
    }
}
