import Bookplate
import FoundationEssentials
import Hummingbird
import Synchronization

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
            "ago": self("home.yearsAgo", count: memory.yearsAgo), "what": self("home.memory.\(memory.what.rawValue)"),
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

/// The library in figures, as the commands print it.
struct StatsAPI: Sendable {
    let parts: KioskParts

    var routes: [Route] {
        [
            Route(.get, "/api/home", for: .guests, home), Route(.get, "/api/stats", for: .guests, overview),
            Route(.get, "/api/stats/days", for: .guests, days),
            Route(.get, "/api/stats/on-this-day", for: .guests, onThisDay),
            Route(.get, "/api/stats/timeline", for: .guests, timeline),
        ]
    }

    /// How many events an answer has at the most.
    static let mostEvents = 1_000

    private var today: CalendarDay { CalendarDay(parts.ports.now(), in: parts.ports.zone) }

    private func home(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let (now, zone) = (parts.ports.now(), parts.ports.zone)
        var home = try await parts.library.home(limit: HomePage.most, at: now, in: zone)
        if context.isGuest {
            for index in home.readingNow.indices {
                home.readingNow[index].running = nil
                home.readingNow[index].book = home.readingNow[index].book.forGuests
            }
            for index in home.recentlyRead.indices {
                home.recentlyRead[index].book = home.recentlyRead[index].book.forGuests
            }
        }
        let year = try await parts.library.yearSoFar(at: now, in: zone)
        guard case .object(let members) = home.json else { return JSONAnswer(home.json) }
        return JSONAnswer(.object(members + [(key: "year", value: year.json)]))
    }

    /// ?period=…&of=…, as on the page; all time unless told.
    private func overview(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let asked = try period(request)
        let overview = try await parts.library.overview(
            asked.period, year: asked.year(today: today), at: parts.ports.now(), in: parts.ports.zone)
        return JSONAnswer(overview.json)
    }

    private func days(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let days = try await parts.library.days(in: try period(request).period, zone: parts.ports.zone)
        return JSONAnswer(["days": .array(days.map(\.json))])
    }

    private func onThisDay(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let memories = try await parts.library.onThisDay(at: parts.ports.now(), in: parts.ports.zone)
        return JSONAnswer(["today": JSONValue(today), "memories": .array(memories.map(\.json))])
    }

    /// The latest events of the period, newest first.
    private func timeline(_ request: Request, _ context: KioskContext) async throws -> JSONAnswer {
        let events = try await events(
            in: try period(request).period, limit: Self.mostEvents, forGuest: context.isGuest)
        return JSONAnswer(["events": .array(events.map(\.json))])
    }

    private func period(_ request: Request) throws -> StatsPeriod {
        let items = try LibraryAddress.pairs(request.uri.query ?? "")
        let isSaid = items.contains { $0.name == "period" && !$0.value.isEmpty }
        return try StatsPeriod(items + (isSaid ? [] : [(name: "period", value: "all")]), today: today)
    }

    /// The latest `limit` events of the period, newest first; sessions are the household's. What can lie in it counts.
    func events(in period: Period, limit: Int, forGuest: Bool = false) async throws -> [TimelineEvent] {
        // They come in order, one after the other: of a ring of the last ones no more than that is kept.
        let ring = Mutex<(events: [TimelineEvent], next: Int)>(([], 0))
        try await parts.library.timeline(in: parts.ports.zone) { event in
            guard period.mayContain(event.date), !(forGuest && event.kind == .session) else { return }
            ring.withLock { ring in
                if ring.events.count < limit {
                    ring.events.append(event)
                } else {
                    ring.events[ring.next] = event
                    ring.next = (ring.next + 1) % limit
                }
            }
        }
        return ring.withLock { Array(($0.events[$0.next...] + $0.events[..<$0.next]).reversed()) }
    }
}

/// The figures of the Stats page as its template shows them.
struct StatsView: Sendable {
    let overview: Overview
    let asked: StatsPeriod
    /// Of the calendar and the challenge.
    let year: Int
    /// Its days with reading, oldest first.
    let yearDays: [DayStats]
    let texts: Texts

    var view: View {
        let charts = StatsCharts(overview: overview, asked: asked, year: year, yearDays: yearDays, texts: texts)
        var view: View = [
            "periodName": texts.name(of: asked).capitalisedFirst, "kinds": kinds, "isOwn": asked.kind == .own,
            "from": asked.period.from?.description ?? "", "to": asked.period.to?.description ?? "",
            "tiles": tiles, "facts": facts, "goals": goals, "hasGoals": !goals.isEmpty,
            "isEmpty": overview.counts.copies == 0,
            "charts": charts.columns.enumerated().map { $1.view(id: "chart\($0)") },
            "shares": charts.shares,
        ]
        if let calendar = charts.calendar {
            view["calendar"] = calendar.chart.view(id: "calendar").merging(["legend": charts.legend(of: calendar)]) {
                $1
            }
        }
        if let earlier = asked.neighbour(-1, today: overview.today) { view["earlier"] = earlier }
        if let later = asked.neighbour(1, today: overview.today) { view["later"] = later }
        if overview.pauseCount > 0 {
            view["pauses"] = overview.pauses.map { paused in
                texts.view(of: paused.book).merging(["pause": texts.sentence(of: paused.pause)]) { $1 }
            }
            view["pauseCount"] = texts.several("stats.pauseCount", overview.pauseCount)
        }
        return view
    }

    private var kinds: [View] {
        StatsPeriod.Kind.allCases.filter { $0 != .own }.map { kind in
            [
                "kind": kind.rawValue, "kindLabel": texts("stats.kind.\(kind.rawValue)"),
                "isCurrent": kind == asked.kind,
            ]
        }
    }

    /// The totals of the period: large numbers with what they count.
    private var tiles: [View] {
        let totals = overview.totals
        func tile(_ number: String, _ what: String) -> View { ["number": number, "what": what] }
        func counted(_ value: Int, _ key: String) -> View {
            tile(texts.grouped(value), texts("stats.tile.\(key)", count: value))
        }
        var tiles = [counted(totals.booksFinished, "books"), counted(totals.pages, "pages")]
        tiles.append(tile(texts.duration(minutes: totals.minutes), texts("stats.tile.time")))
        tiles += [counted(totals.sessions, "sessions"), counted(totals.daysRead, "days")]
        if let pace = totals.pace {
            tiles.append(tile(texts.tenths(pace), texts.several("stats.tile.pace", pace)))
        }
        return tiles
    }

    /// What does not depend on the period.
    private var facts: [View] {
        let streaks = overview.streaks
        func fact(_ key: String, _ value: String) -> View { ["name": texts("stats.fact.\(key)"), "value": value] }
        let today = overview.todayFigures
        var facts = [
            fact(
                "today",
                texts.several("stats.nPages", today.pages)
                    + (today.minutes > 0 ? " · " + texts.duration(minutes: today.minutes) : "")),
            fact(
                "streak",
                texts.several("stats.nDays", streaks.current)
                    + (streaks.current > 0 && !streaks.readToday ? " · " + texts("stats.notYetToday") : "")),
        ]
        if let end = streaks.longestEnd {
            facts.append(
                fact(
                    "longest",
                    texts.several("stats.nDays", streaks.longest) + " · " + texts("stats.upTo", ["day": texts.day(end)])
                ))
        }
        if let pace = overview.recentPace {
            facts.append(fact("pace", texts.several("stats.pagesAnHour", pace)))
        }
        if asked.period == .all, overview.dateUnknown.books > 0 {
            facts.append(fact("dateUnknown", texts.several("stats.nBooks", overview.dateUnknown.books)))
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

    /// The challenge, the daily goal and the goals across cultures, each with a bar.
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
                            "days": texts.several("stats.nDays", daily.daysMet),
                            "run": texts.several("stats.nDays", daily.run),
                        ])))
        }
        for cultural in overview.culturalGoals {
            goals.append(
                goal(
                    cultural.category.map(\.cleanedLine) ?? texts("stats.noCategory"), cultural.finished,
                    cultural.books,
                    texts("stats.ofBooks", count: cultural.books, ratio(cultural.finished, cultural.books)),
                    texts.several("stats.thisYear", cultural.finishedThisYear)))
        }
        return goals
    }

    private func ratio(_ done: Int, _ goal: Int) -> [String: String] {
        ["done": texts.grouped(done), "goal": texts.grouped(goal)]
    }

    private func goal(_ name: String, _ done: Int, _ goal: Int, _ words: String, _ sentence: String) -> View {
        [
            "name": name, "words": words, "sentence": sentence,
            "part": Chart.unit(min(100, 100 * Double(done) / Double(max(1, goal)))),
        ]
    }
}

extension Texts {
    /// As ``Challenge/sentence``, in this language.
    func sentence(of challenge: Challenge) -> String {
        let left = several("stats.toGo", challenge.remaining)
        if challenge.isMet { return self("stats.challengeMet") }
        if challenge.ahead == 0 { return self("stats.onSchedule") + ", " + left }
        return several(challenge.ahead > 0 ? "stats.ahead" : "stats.behind", abs(challenge.ahead)) + ", " + left
    }

    /// As ``Pause/sentence``, in this language.
    func sentence(of pause: Pause) -> String {
        if let started = pause.daysSinceStart, started == pause.daysSinceLast {
            return several("home.pauseStarted", started)
        }
        return several("home.pauseLast", pause.daysSinceLast)
            + (pause.daysSinceStart.map { ", " + several("home.pauseSince", $0) } ?? "")
    }

    /// As ``Forecast/sentence``, in this language; `nil` where it cannot be told.
    func sentence(of forecast: Forecast) -> String? {
        func when(_ days: Int, _ date: CalendarDay?) -> String {
            let words =
                switch days {
                case 0: self("home.whenToday")
                case 1: self("home.whenTomorrow")
                default: several("home.whenDays", days)
                }
            return words + (days > 1 ? date.map { " (\(day($0)))" } ?? "" : "")
        }
        if let days = forecast.daysByPace { return self("home.byPace", ["when": when(days, forecast.byPace)]) }
        if let days = forecast.daysByGoal, let goal = forecast.goal {
            return self("home.byGoal", ["pages": several("stats.nPages", goal), "when": when(days, forecast.byGoal)])
        }
        return nil
    }
}
