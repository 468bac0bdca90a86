import Bookplate
import FoundationEssentials
import Hummingbird

/// What was read, in figures and charts; docs/tracker.md says how each figure is made.
struct StatsPage: Sendable {
    let parts: KioskParts

    /// How many memories and how many rests are listed.
    private static let listed = 12

    var routes: [Route] {
        [Route(.get, "/stats", for: .guests, page), Route(.get, "/stats/timeline", for: .guests, timeline)]
    }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let (now, zone) = (parts.ports.now(), parts.ports.zone)
        let today = CalendarDay(now, in: zone)
        let asked = try StatsPeriod(LibraryAddress.pairs(request.uri.query ?? ""), today: today)
        let year = asked.year(today: today)
        let overview = try await parts.library.overview(asked.period, year: year, at: now, in: zone)
        let yearDays = try await days(of: year, overview)
        let memories = try await parts.library.onThisDay(at: now, in: zone)

        let figures = StatsView(overview: overview, asked: asked, year: year, yearDays: yearDays, texts: texts)
        var view = figures.view
        view["memories"] = memories.prefix(Self.listed).map { texts.view(of: $0) }
        view["hasMemories"] = !memories.isEmpty
        return try await parts.pages.answer(
            Pages.Page(template: "stats", title: texts("layout.stats"), tab: .stats, view: view), context)
    }

    /// Those of the calendar: what the overview has already where it covers the year.
    private func days(of year: Int, _ overview: Overview) async throws -> [DayStats] {
        guard let day = CalendarDay(year: year) else { return [] }
        let period = Period(day)
        let isCovered =
            (overview.period.from.map { $0 <= period.from ?? $0 } ?? true)
            && (overview.period.to.map { $0 >= period.to ?? $0 } ?? true)
        if isCovered { return overview.days.filter { $0.day.year == year } }
        return try await parts.library.days(in: period, zone: parts.ports.zone)
    }

    /// How many events of the timeline a page has.
    private static let events = 200

    private func timeline(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let today = CalendarDay(parts.ports.now(), in: parts.ports.zone)
        let asked = try StatsPeriod(LibraryAddress.pairs(request.uri.query ?? ""), today: today)
        let events = try await StatsAPI(parts: parts).events(
            in: asked.period, limit: Self.events, forGuest: context.isGuest)
        var view: View = [
            "periodName": texts.name(of: asked), "isEmpty": events.isEmpty,
            "events": events.map { texts.view(of: $0) },
        ]
        if events.count == Self.events { view["isCut"] = texts("stats.timelineCut", ["n": String(Self.events)]) }
        if let earlier = asked.neighbour(-1, today: today) { view["earlier"] = earlier.onTimeline }
        if let later = asked.neighbour(1, today: today) { view["later"] = later.onTimeline }
        return try await parts.pages.answer(
            Pages.Page(template: "stats-timeline", title: texts("stats.timeline"), tab: .stats, view: view), context)
    }
}

extension String {
    fileprivate var onTimeline: String { replacing("/stats?", with: "/stats/timeline?") }
}

extension Texts {
    /// A book within figures: its title, authors and address.
    func view(of book: CountedBook) -> View {
        var view: View = ["href": "/books/\(book.id.rawValue)", "bookTitle": title(book.title, book.isbn)]
        if !book.authors.isEmpty { view["bookAuthors"] = book.authors.joined(separator: ", ").cleanedLine }
        return view
    }

    /// As ``Edition/displayTitle(_:_:)``, in this language.
    func title(_ title: String?, _ isbn: ISBN?) -> String {
        title.map { String($0.cleanedLine.prefix(TextLimit.title)) } ?? isbn?.hyphenated ?? self("common.untitled")
    }

    func view(of memory: Memory) -> View {
        view(of: memory.book).merging([
            "ago": self("home.yearsAgo", count: memory.yearsAgo), "what": self("home.memory.\(memory.event.rawValue)"),
        ]) { $1 }
    }

    func view(of event: TimelineEvent) -> View {
        var view = view(of: event.book)
        view["date"] = day(event.date)
        view["what"] = self("stats.event.\(event.kind.rawValue)")
        if let session = event.session {
            let pages = session.pagesRead > 0 ? several("stats.nPages", session.pagesRead) : nil
            view["detail"] = [session.minutes.map { duration(minutes: $0) }, pages].compactMap(\.self).joined(
                separator: " · ")
        }
        return view
    }
}
