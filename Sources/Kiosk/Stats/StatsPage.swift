import Bookplate
import FoundationEssentials
import Hummingbird

/// The Stats page, with figures and charts, and the Timeline page. docs/tracker.md defines the figures.
struct StatsPage: Sendable {
    let parts: KioskParts

    /// The maximum number of books that the page lists under "On this day".
    private static let maxMemories = 12

    var routes: [Route] {
        [Route(.get, "/stats", for: .guests, page), Route(.get, "/stats/timeline", for: .guests, timeline)]
    }

    private func page(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let (now, zone) = (parts.ports.now(), parts.ports.zone)
        let today = CalendarDay(now, in: zone)
        let selected = try StatsPeriod(request.queryPairs(), today: today)
        let year = selected.year(today: today)
        let library = try context.library(forStatsOf: request)
        // After a change, this computes the stats on which the others are based, so they do not begin earlier.
        let overview = try await library.overview(selected.period, year: year, at: now, in: zone)
        async let read = library.readBooks(in: selected.period, monthsOf: year, zone: zone)
        async let remembered = library.onThisDay(limit: Self.maxMemories, at: now, in: zone)
        let yearDays = try await days(of: year, overview, library)
        let memories = try await remembered

        let stats = StatsView(
            overview: overview, read: try await read, period: selected, year: year, yearDays: yearDays,
            isOfEverybody: try request.queryValue("readers")?.isEmpty == false, texts: texts)
        var view = stats.view
        view["memories"] = memories.map { texts.view(of: $0) }
        view["hasMemories"] = !memories.isEmpty
        view.merge(try context.everybodyView(request, texts)) { $1 }
        return try await parts.pages.render(
            Pages.Page(template: "stats", title: texts("layout.stats"), tab: .stats, view: view), context)
    }

    /// Returns the days of the year that the calendar shows. If the overview covers the whole year, they are taken from
    /// it, so that nothing is loaded again.
    private func days(of year: Int, _ overview: Overview, _ library: any KioskLibrary) async throws -> [DayStats] {
        guard let day = CalendarDay(year: year) else { return [] }
        let period = Period(day)
        let isCovered =
            (overview.period.from.map { $0 <= period.from ?? $0 } ?? true)
            && (overview.period.to.map { $0 >= period.to ?? $0 } ?? true)
        if isCovered { return overview.days.filter { $0.day.year == year } }
        return try await library.days(in: period, zone: parts.ports.zone)
    }

    /// The maximum number of events on the Timeline page.
    private static let maxEvents = 200

    private func timeline(_ request: Request, _ context: KioskContext) async throws -> Response {
        let texts = parts.pages.texts(context)
        let today = CalendarDay(parts.ports.now(), in: parts.ports.zone)
        let selected = try StatsPeriod(request.queryPairs(), today: today)
        let events = try await StatsAPI(parts: parts).events(
            in: selected.period, limit: Self.maxEvents, of: context.library(forStatsOf: request),
            forGuest: context.isGuest)
        var view: View = [
            "periodName": texts.name(of: selected), "isEmpty": events.isEmpty,
            "events": events.map { texts.view(of: $0) },
        ]
        if events.count == Self.maxEvents { view["isCut"] = texts("stats.timelineCut", ["n": String(Self.maxEvents)]) }
        if let earlier = selected.neighbour(-1, today: today) { view["earlier"] = earlier.onTimeline }
        if let later = selected.neighbour(1, today: today) { view["later"] = later.onTimeline }
        view.merge(try context.everybodyView(request, texts)) { $1 }
        return try await parts.pages.render(
            Pages.Page(template: "stats-timeline", title: texts("stats.timeline"), tab: .stats, view: view), context)
    }
}

extension String {
    fileprivate var onTimeline: String { replacing("/stats?", with: "/stats/timeline?") }
}

extension Texts {
    /// Returns the template values for a book: its title, authors and URL.
    func view(of book: CountedBook) -> View {
        var view: View = ["href": "/books/\(book.id.rawValue)", "bookTitle": title(book.title, book.isbn)]
        if !book.authors.isEmpty { view["bookAuthors"] = book.authors.joined(separator: ", ").cleanedLine }
        return view
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
            let pages = session.pagesRead > 0 ? self("stats.nPages", n: session.pagesRead) : nil
            view["detail"] = [session.minutes.map { duration(minutes: $0) }, pages].compactMap(\.self).joined(
                separator: " · ")
        }
        return view
    }
}

/// Serves the statistics as JSON, in the same form in which the commands print them.
struct StatsAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/stats", for: .guests, overview),
            Route(.get, "/api/stats/days", for: .guests, days),
            Route(.get, "/api/stats/on-this-day", for: .guests, onThisDay),
            Route(.get, "/api/stats/timeline", for: .guests, timeline),
        ]
    }

    /// The maximum number of events in a response.
    static let maxEvents = 1_000

    private var today: CalendarDay { CalendarDay(parts.ports.now(), in: parts.ports.zone) }

    /// Responds with the statistics of the period in `?period=…&of=…`. The query has the same form as on the Stats
    /// page, but the default period is all time.
    private func overview(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let selected = try period(request)
        let overview = try await context.library(forStatsOf: request).overview(
            selected.period, year: selected.year(today: today), at: parts.ports.now(), in: parts.ports.zone)
        return JSONResponse(overview.json)
    }

    private func days(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let days = try await context.library(forStatsOf: request).days(
            in: try period(request).period, zone: parts.ports.zone)
        return JSONResponse(["days": .array(days.map(\.json))])
    }

    private func onThisDay(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let memories = try await context.library(forStatsOf: request).onThisDay(
            limit: Self.maxEvents, at: parts.ports.now(), in: parts.ports.zone)
        return JSONResponse(["today": JSONValue(today), "memories": .array(memories.map(\.json))])
    }

    /// Responds with the latest events of the period, the newest first.
    private func timeline(_ request: Request, _ context: KioskContext) async throws -> JSONResponse {
        let events = try await events(
            in: try period(request).period, limit: Self.maxEvents, of: context.library(forStatsOf: request),
            forGuest: context.isGuest)
        return JSONResponse(["events": .array(events.map(\.json))])
    }

    private func period(_ request: Request) throws -> StatsPeriod {
        let items = try request.queryPairs()
        let isGiven = items.contains { $0.name == "period" && !$0.value.isEmpty }
        return try StatsPeriod(items + (isGiven ? [] : [(name: "period", value: "all")]), today: today)
    }

    /// Returns the latest events of the period, at most `limit`, the newest first. An event whose date is incomplete is
    /// included if it may lie in the period. Sessions are left out for guests.
    func events(
        in period: Period, limit: Int, of library: any KioskLibrary, forGuest: Bool = false
    ) async throws -> [TimelineEvent] {
        try await library.latestEvents(
            in: period, limit: limit, includesSessions: !forGuest, zone: parts.ports.zone)
    }
}

/// Prepares the Stats page for its template.
struct StatsView: Sendable {
    let overview: Overview
    let read: ReadBooks
    let period: StatsPeriod
    /// The year for which the calendar and the challenge are shown.
    let year: Int
    /// The days of the year on which something was read, the oldest first.
    let yearDays: [DayStats]
    let isOfEverybody: Bool
    let texts: Texts

    var view: View {
        let charts = StatsCharts(
            overview: overview, read: read, period: period, year: year, yearDays: yearDays,
            isOfEverybody: isOfEverybody, texts: texts)
        var view: View = [
            "periodName": texts.name(of: period).capitalisedFirst, "kinds": kinds, "isOwn": period.kind == .own,
            "from": period.period.from?.description ?? "", "to": period.period.to?.description ?? "",
            "tiles": tiles, "facts": facts, "goals": goals, "hasGoals": !goals.isEmpty,
            "isEmpty": overview.counts.copies == 0,
            "readCharts": charts.readCharts.enumerated().map { $1.view(id: "read\($0)") },
            "readShares": charts.readShares,
            "pageCharts": charts.pageCharts.enumerated().map { $1.view(id: "pages\($0)") },
            "shares": charts.libraryShares,
        ]
        if read.all.books > 0 {
            var books: View = ["readCount": texts("stats.nBooks", n: read.all.books)]
            if let links = charts.links { books["readAddress"] = links.all }
            view["hasRead"] = books
        }
        if period.kind == .year, !isOfEverybody, read.all.books > 0 || !overview.days.isEmpty {
            view["review"] =
                ["reviewAddress": "/year/\(year)", "reviewName": texts("year.title", ["year": String(year)])] as View
        }
        if let calendar = charts.calendar {
            view["calendar"] = calendar.chart.view(id: "calendar").merging(["legend": charts.legend(of: calendar)]) {
                $1
            }
        }
        if let earlier = period.neighbour(-1, today: overview.today) { view["earlier"] = earlier }
        if let later = period.neighbour(1, today: overview.today) { view["later"] = later }
        if overview.pauseCount > 0 {
            view["pauses"] = overview.pauses.map { paused in
                texts.view(of: paused.book).merging(["pause": texts.sentence(of: paused.pause)]) { $1 }
            }
            view["pauseCount"] = texts("stats.pauseCount", n: overview.pauseCount)
        }
        return view
    }

    private var kinds: [View] {
        StatsPeriod.Kind.allCases.filter { $0 != .own }.map { kind in
            [
                "kind": kind.rawValue, "kindLabel": texts("stats.kind.\(kind.rawValue)"),
                "isCurrent": kind == period.kind,
            ]
        }
    }

    /// The totals of the period. Each is shown as a large number with its unit.
    private var tiles: [View] {
        let totals = overview.totals
        func tile(_ number: String, _ what: String) -> View { ["number": number, "what": what] }
        func counted(_ value: Int, _ key: String) -> View {
            tile(texts.grouped(value), texts("stats.tile.\(key)", count: value))
        }
        var tiles = [counted(totals.booksFinished, "books"), counted(totals.bookPages, "bookPages")]
        tiles.append(counted(totals.pages, "pages"))
        tiles.append(tile(texts.duration(minutes: totals.minutes), texts("stats.tile.time")))
        tiles += [counted(totals.sessions, "sessions"), counted(totals.daysRead, "days")]
        if let pace = totals.pace {
            tiles.append(tile(texts.tenths(pace), texts("stats.tile.pace", n: pace)))
        }
        return tiles
    }

    /// The figures of the page that do not depend on the selected period.
    private var facts: [View] {
        let streaks = overview.streaks
        func fact(_ key: String, _ value: String) -> View { ["name": texts("stats.fact.\(key)"), "value": value] }
        let today = overview.todayStats
        var facts = [
            fact(
                "today",
                texts("stats.nPages", n: today.pages)
                    + (today.minutes > 0 ? " · " + texts.duration(minutes: today.minutes) : "")),
            fact(
                "streak",
                texts("stats.nDays", n: streaks.current)
                    + (streaks.current > 0 && !streaks.readToday ? " · " + texts("stats.notYetToday") : "")),
        ]
        if let end = streaks.longestEnd {
            facts.append(
                fact(
                    "longest",
                    texts("stats.nDays", n: streaks.longest) + " · " + texts("stats.upTo", ["day": texts.day(end)])
                ))
        }
        if let pace = overview.recentPace {
            facts.append(fact("pace", texts("stats.pagesAnHour", n: pace)))
        }
        if period.period == .all, overview.dateUnknown.books > 0 {
            facts.append(fact("dateUnknown", texts("stats.nBooks", n: overview.dateUnknown.books)))
        }
        if let mean = overview.ratings.mean {
            facts.append(
                fact(
                    "rating",
                    texts(
                        "stats.meanRating", count: overview.ratings.count, ["n": texts.tenths(mean)])
                ))
        }
        return facts
    }

    /// The challenge, the daily goal and the cultural goals, each with a progress bar.
    private var goals: [View] {
        var goals: [View] = []
        if let challenge = overview.challenge {
            goals.append(
                goal(
                    texts("stats.challenge", ["year": String(challenge.year)]), challenge.done, challenge.goal,
                    texts("stats.ofBooks", count: challenge.goal, ratio(challenge.done, challenge.goal)),
                    texts.sentence(of: challenge)))
        }
        if let daily = overview.dailyGoal {
            goals.append(
                goal(
                    texts("stats.dailyGoal"), daily.pagesToday, daily.goal,
                    texts("stats.ofPages", count: daily.goal, ratio(daily.pagesToday, daily.goal)),
                    texts(
                        "stats.dailyMet",
                        [
                            "days": texts("stats.nDays", n: daily.daysMet),
                            "run": texts("stats.nDays", n: daily.run),
                        ])))
        }
        for cultural in overview.culturalGoals {
            goals.append(
                goal(
                    cultural.category.map(\.cleanedLine) ?? texts("stats.noCategory"), cultural.finished,
                    cultural.books,
                    texts("stats.ofBooks", count: cultural.books, ratio(cultural.finished, cultural.books)),
                    texts("stats.thisYear", n: cultural.finishedThisYear)))
        }
        return goals
    }

    private func ratio(_ done: Int, _ goal: Int) -> [String: String] {
        ["done": texts.grouped(done), "goal": texts.grouped(goal)]
    }

    private func goal(_ name: String, _ done: Int, _ goal: Int, _ amount: String, _ sentence: String) -> View {
        [
            "name": name, "amount": amount, "sentence": sentence,
            "part": Chart.unit(min(100, 100 * Double(done) / Double(max(1, goal)))),
        ]
    }
}

extension Texts {
    /// Returns the values that show a yearly goal on Home and in the review of a year.
    func view(of challenge: Challenge) -> View {
        [
            "amount": self(
                "stats.ofBooks", count: challenge.goal,
                ["done": grouped(challenge.done), "goal": grouped(challenge.goal)]),
            "sentence": sentence(of: challenge),
            "part": Chart.unit(min(100, 100 * Double(challenge.done) / Double(max(1, challenge.goal)))),
        ]
    }

    /// Returns ``Challenge/sentence`` in this language.
    func sentence(of challenge: Challenge) -> String {
        let left = self("stats.toGo", n: challenge.remaining)
        if challenge.isMet { return self("stats.challengeMet") }
        if challenge.ahead == 0 { return self("stats.onSchedule") + ", " + left }
        return self(challenge.ahead > 0 ? "stats.ahead" : "stats.behind", n: abs(challenge.ahead)) + ", " + left
    }

    /// Returns ``Pause/sentence`` in this language.
    func sentence(of pause: Pause) -> String {
        if let started = pause.daysSinceStart, started == pause.daysSinceLast {
            return self("home.pauseStarted", n: started)
        }
        return self("home.pauseLast", n: pause.daysSinceLast)
            + (pause.daysSinceStart.map { ", " + self("home.pauseSince", n: $0) } ?? "")
    }

    /// Returns ``Forecast/sentence`` in this language; `nil` if there is no forecast.
    func sentence(of forecast: Forecast) -> String? {
        func when(_ days: Int, _ date: CalendarDay?) -> String {
            let text =
                switch days {
                case 0: self("home.whenToday")
                case 1: self("home.whenTomorrow")
                default: self("home.whenDays", n: days)
                }
            return text + (days > 1 ? date.map { " (\(day($0)))" } ?? "" : "")
        }
        if let days = forecast.daysByPace { return self("home.byPace", ["when": when(days, forecast.byPace)]) }
        if let days = forecast.daysByGoal, let goal = forecast.goal {
            return self("home.byGoal", ["pages": self("stats.nPages", n: goal), "when": when(days, forecast.byGoal)])
        }
        return nil
    }
}
