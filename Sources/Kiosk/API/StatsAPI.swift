import Bookplate
import Hummingbird
import Synchronization

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
