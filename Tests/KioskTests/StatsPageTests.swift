import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The period of the statistics` {
    private let today = CalendarDay("2026-05-10")!

    private func period(_ query: String) throws -> StatsPeriod {
        let items = query.split(separator: "&").map { item in
            let parts = item.split(separator: "=", omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: String(parts[1]))
        }
        return try StatsPeriod(items, today: today)
    }

    @Test(
        arguments: [
            ("", "2026-01-01", "2026-12-31", "2026"), ("period=year&of=2024", "2024-01-01", "2024-12-31", "2024"),
            ("period=month", "2026-05-01", "2026-05-31", "May 2026"),
            ("period=week", "2026-05-04", "2026-05-10", "4 May 2026 to 10 May 2026"),
            ("period=week&of=2026-01-01", "2025-12-29", "2026-01-04", "29 December 2025 to 4 January 2026"),
            ("period=all", nil, nil, "All time"), ("period=own", nil, nil, "All time"),
            ("period=own&from=2026-02", "2026-02-01", nil, "Since 1 February 2026"),
            ("period=own&from=2026-02-03&to=2026-02-03", "2026-02-03", "2026-02-03", "3 February 2026"),
            ("period=month&of=", "2026-05-01", "2026-05-31", "May 2026"),
        ] as [(String, String?, String?, String)])
    func `is parsed from the query`(_ query: String, _ from: String?, _ to: String?, _ name: String) throws {
        let period = try period(query)
        #expect(period.period.from?.description == from && period.period.to?.description == to)
        let texts = try #require(try WebFolder().texts[.english])
        #expect(texts.name(of: period) == name)
    }

    @Test(arguments: [
        (Language.english, ["Since 1 March 2026", "to 17 March 2026", "1 March 2026 to 17 March 2026"]),
        (.german, ["Seit dem 1. März 2026", "bis 17. März 2026", "1. März 2026 bis 17. März 2026"]),
        (.french, ["Depuis le 1er mars 2026", "jusqu’au 17 mars 2026", "du 1er mars 2026 au 17 mars 2026"]),
    ])
    func `has a name in the user's language`(_ language: Language, _ names: [String]) throws {
        let texts = try #require(try WebFolder().texts[language])
        let periods = ["from=2026-03", "to=2026-03-17", "from=2026-03&to=2026-03-17"]
        for (query, name) in zip(periods, names) {
            #expect(texts.name(of: try period("period=own&" + query)) == name)
        }
    }

    @Test(arguments: [
        "period=decade", "of=yesterday", "period=own&from=2026-05-02&to=2026-05-01", "period=own&from=x",
        "of=2026-02-30",
    ])
    func `is refused if it is invalid`(_ query: String) {
        #expect(throws: RequestRefusal.self) { try period(query) }
    }

    @Test(
        arguments: [
            ("period=month", "/stats?period=month&of=2026-04", nil),
            ("period=month&of=2026-01", "/stats?period=month&of=2025-12", "/stats?period=month&of=2026-02"),
            ("period=year&of=2025", "/stats?period=year&of=2024", "/stats?period=year&of=2026"),
            ("period=week&of=2026-04-30", "/stats?period=week&of=2026-04-26", "/stats?period=week&of=2026-05-04"),
            ("period=all", nil, nil), ("period=year&of=0001", nil, "/stats?period=year&of=0002"),
        ] as [(String, String?, String?)])
    func `has neighbours, but none in the future`(_ query: String, _ earlier: String?, _ later: String?) throws {
        let period = try period(query)
        #expect(period.neighbour(-1, today: today) == earlier)
        #expect(period.neighbour(1, today: today) == later)
    }
}

@Suite struct `The Stats page` {
    @Test(arguments: ["", "?period=week", "?period=month", "?period=all", "?period=own&from=0001-01-01&to=9999-12-31"])
    func `is shown for an empty library`(_ query: String) async throws {
        try await StatsKiosk.run { kiosk async throws in
            let answer = try await kiosk.ask("/stats" + query)
            #expect(answer.status == 200 && answer.text.contains("Nothing to count yet."))
            #expect(!answer.text.contains("<figure"))
        }
    }

    @Test(arguments: ["", "?period=week", "?period=month", "?period=all", "?period=own&from=0001-01-01&to=9999-12-31"])
    func `draws each chart with its title and its values as a table`(_ query: String) async throws {
        try await StatsKiosk.run { kiosk async throws in
            let (library, now) = (kiosk.library, StatsKiosk.now)
            let book = try await kiosk.book("The Dispossessed")
            _ = try await library.addSession(
                of: book, start: now.addingTimeInterval(-7_200), end: now.addingTimeInterval(-3_600), startPage: 0,
                endPage: 40, at: now)
            _ = try await library.setStatus(.read, of: book, on: nil, at: now)
            _ = try await library.update(book, at: now) { $0.copy.rating = 3.75 }
            let html = try await kiosk.ask("/stats" + query).text
            let figures = html.components(separatedBy: "<figure").count - 1
            #expect(figures == 5 && html.components(separatedBy: "<details id=\"").count - 1 == figures)
            // A chart whose bars are links is a group.
            #expect(html.matches(of: /role="(?:img|group)" aria-labelledby=/).count == figures)
            #expect(html.contains("Reading by day, ") && html.contains("Books finished"))
            #expect(html.contains("10 May 2026: 382 pages") || html.contains("10 May 2026: 40 pages"))
            #expect(html.contains("3.75 of 5 stars: 1 book"))
            #expect(!html.contains("style=\""))
            #expect(html.utf8.count < 60_000)
        }
    }

    @Test func `leads from each day of the calendar to what was read on it`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let (library, start) = (kiosk.library, StatsKiosk.now.addingTimeInterval(-86_400))
            _ = try await library.addSession(
                of: kiosk.book("The Dispossessed"), start: start, end: start.addingTimeInterval(1800), startPage: 1,
                endPage: 20, at: StatsKiosk.now)
            let html = try await kiosk.ask("/stats").text
            let address = "/stats/timeline?period=own&amp;from=2026-05-09&amp;to=2026-05-09"
            #expect(html.contains("<a href=\"\(address)\" aria-label=\"9 May 2026: "))
            #expect(html.contains("<a href=\"/stats/timeline?period=month&amp;of=2026-05\">May 2026</a>"))
            let day = try await kiosk.ask(address.replacing("&amp;", with: "&")).text
            #expect(day.contains("The Dispossessed"))
        }
    }

    @Test func `refuses an invalid period`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            #expect(try await kiosk.ask("/stats?period=decade").status == 400)
            #expect(try await kiosk.ask("/stats/timeline?of=x").status == 400)
        }
    }

    @Test func `lists what happened, newest first`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let (library, now) = (kiosk.library, StatsKiosk.now)
            let book = try await kiosk.book("The Dispossessed")
            _ = try await library.addReading(
                to: book, started: CalendarDay("2026-05-01"), finished: CalendarDay("2026-05-09"), stopped: nil, at: now
            )
            let html = try await kiosk.ask("/stats/timeline").text
            let finished = try #require(html.range(of: "9 May 2026 · finished"))
            let started = try #require(html.range(of: "1 May 2026 · started"))
            #expect(finished.lowerBound < started.lowerBound)
            #expect(try await kiosk.ask("/stats/timeline?of=2024").text.contains("Nothing happened in this period."))
        }
    }
}
