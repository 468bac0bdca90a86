import Bookplate

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
        let today = overview.todayStats
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
