import Bookplate
import FoundationEssentials
import Hummingbird

/// The Home page, which shows the books that are being read, the most recently finished books, and the figures of the
/// current year.
struct HomePage: Sendable {
    let parts: KioskParts

    /// The maximum number of books that the page shows as being read.
    static let maxBooks = 20

    var routes: [Route] { [Route(.get, "/home", for: .guests, page), Route(.get, "/api/home", for: .guests, home)] }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let (now, zone) = (parts.ports.now(), parts.ports.zone)
        let library = try context.library(forStatsOf: request)
        let home = try await library.home(limit: Self.maxBooks, at: now, in: zone)
        let year = try await library.yearSoFar(at: now, in: zone)
        let books = home.readingNow.map(\.book) + home.recentlyRead.map(\.book)
        // The page requests only covers that exist.
        let covers = try await context.library.keptCovers(among: books.map(\.edition.id))
        let view = HomeView(
            home: home, year: year, now: now, zone: zone, texts: texts, covers: covers, readers: context.readers)
        var values = view.view.merging(try context.everybodyView(request, texts)) { $1 }
        var page = Pages.Page(template: "home", title: texts("layout.home"), tab: .home)
        if books.isEmpty, try await context.library.isEmpty() {
            values["isFirst"] = true
            page.scripts = ["start"]
        }
        page.view = values
        return try await parts.pages.render(page, context)
    }

    private func home(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let (now, zone) = (parts.ports.now(), parts.ports.zone)
        let library = try context.library(forStatsOf: request)
        var home = try await library.home(limit: Self.maxBooks, at: now, in: zone)
        if context.isGuest {
            for index in home.readingNow.indices {
                home.readingNow[index].running = nil
                home.readingNow[index].book = home.readingNow[index].book.forGuests
            }
            for index in home.recentlyRead.indices {
                home.recentlyRead[index].book = home.recentlyRead[index].book.forGuests
            }
        }
        let year = try await library.yearSoFar(at: now, in: zone)
        guard case .object(let members) = home.json else { return JSONResponse(home.json) }
        return JSONResponse(.object(members + [(key: "year", value: year.json)]))
    }
}

/// Prepares the Home page for its template.
struct HomeView: Sendable {
    let home: Home
    let year: YearSoFar
    let now: Date
    let zone: TimeZone
    let texts: Texts
    /// The editions that have a cover.
    let covers: Set<ID<Edition>>
    /// The household's readers, by whose names everybody's page says who reads a book.
    let readers: [Reader]

    var view: View {
        var view: View = [
            "books": home.readingNow.enumerated().map { book($1, isFirst: $0 == 0) },
            "hasBooks": !home.readingNow.isEmpty, "read": home.recentlyRead.map(row),
            "hasRead": !home.recentlyRead.isEmpty, "year": String(year.today.year), "stats": stats,
            "memories": year.memories.map { texts.view(of: $0) }, "hasMemories": !year.memories.isEmpty,
        ]
        // At the turn of the year, people look back on it.
        let lookedBack = year.today.month == 12 ? year.today.year : year.today.month == 1 ? year.today.year - 1 : nil
        if let lookedBack {
            view["review"] =
                [
                    "reviewAddress": "/year/\(lookedBack)",
                    "reviewName": texts("year.title", ["year": String(lookedBack)]),
                ] as View
        }
        let hidden = home.readingCount - home.readingNow.count
        if hidden > 0 { view["more"] = texts("home.more", n: hidden) }
        if let challenge = year.challenge { view["challenge"] = texts.view(of: challenge) }
        return view
    }

    /// The statistics of the year: books and their pages, the pages that were logged, hours, the current streak, and
    /// today's pages if there is a daily goal.
    private var stats: [String] {
        let totals = year.totals
        var stats = [
            texts("stats.nBooks", n: totals.booksFinished), texts("home.nBookPages", n: totals.bookPages),
            texts("home.nLogged", n: totals.pages), texts("home.nHours", n: totals.minutes / 60),
            texts("home.streak", n: year.streak),
        ]
        if let goal = year.dailyGoal {
            stats.append(
                texts(
                    "home.today", count: goal,
                    ["done": texts.grouped(year.todayStats.pages), "goal": texts.grouped(goal)]))
        }
        return stats
    }

    private func book(_ reading: ReadingNow, isFirst: Bool) -> View {
        var view = book(reading.book)
        view["bookId"] = reading.book.id.rawValue
        view["isFirst"] = isFirst
        // Everybody's page can have a book twice.
        view["titleID"] = [reading.book.id.rawValue, reading.reader?.rawValue].compactMap(\.self).joined(separator: "-")
        view["byline"] = byline(reading.reader)
        view["amount"] = texts.amount(reading.progress, of: reading.pageCount)
        if let fraction = reading.fraction ?? (reading.progress == nil && reading.pageCount != nil ? 0 : nil) {
            view["bar"] = ["part": Chart.unit(fraction * 100)]
        }
        if let page = reading.progress?.page { view["page"] = String(page) }
        if let percent = reading.progress?.percent { view["percent"] = Chart.unit(percent) }
        if let count = reading.pageCount { view["pageCount"] = String(count) }
        if let sentence = texts.sentence(of: reading.forecast) { view["forecast"] = sentence }
        if let pause = reading.pause { view["pause"] = texts.sentence(of: pause) }
        if reading.pagesToday > 0 { view["pagesToday"] = texts("home.pagesToday", n: reading.pagesToday) }
        if let running = reading.running {
            view["running"] = [
                "session": running.id.rawValue, "since": String(Int(running.start.timeIntervalSince1970 * 1000)),
                "startPage": String(running.startPage),
                "clock": texts.elapsed(Int(now.timeIntervalSince(running.start))),
            ]
        }
        return view
    }

    private func byline(_ reader: ID<Reader>?) -> View? {
        readers.first { $0.id == reader }.map { reader in
            ["name": texts.name(of: reader), "initial": reader.initial, "colour": String(reader.colour + 1)]
        }
    }

    private func row(_ read: RecentlyRead) -> View {
        var view = book(read.book)
        view["byline"] = byline(read.reader)
        view["finished"] = read.finished.map { texts.day($0) } ?? texts("home.noDate")
        if let days = read.daysToRead { view["days"] = texts("home.inDays", n: max(1, days)) }
        if let rating = read.book.copy.rating {
            view["rating"] = [
                "stars": texts.stars(rating), "label": texts("stats.nStars", ["n": texts.tenths(rating)]),
            ]
        }
        return view
    }

    private func book(_ book: Book) -> View {
        let metadata = book.edition.metadata
        let title = texts.title(metadata.title, book.edition.isbn)
        var view = DrawnCover(of: book.edition, titled: title).view
        view.merge([
            "href": "/books/\(book.id.rawValue)", "bookTitle": title,
            "bookAuthors": metadata.authorNames.isEmpty
                ? texts("common.unknownAuthor") : metadata.authorNames.joined(separator: ", ").cleanedLine,
        ]) { $1 }
        if covers.contains(book.edition.id) { view["cover"] = "/covers/\(book.edition.id.rawValue)" }
        return view
    }
}
