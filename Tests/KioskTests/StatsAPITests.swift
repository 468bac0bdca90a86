import Bookplate
import Foundation
import Logging
import Testing

@testable import Kiosk

@Suite struct `The statistics API` {
    @Test func `answers what the commands print`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let (library, now) = (kiosk.library, StatsKiosk.now)
            let book = try await kiosk.book("The Dispossessed")
            _ = try await library.addReading(
                to: book, started: CalendarDay("2024-05-10"), finished: CalendarDay("2026-05-09"), stopped: nil, at: now
            )
            let overview = try await library.overview(.all, year: nil, at: now, in: .gmt)
            let answer = try await kiosk.ask("/api/stats")
            #expect(try answer.value("totals.booksFinished") == String(overview.totals.booksFinished))
            #expect(try answer.value("from") == "null")
            #expect(try await kiosk.ask("/api/stats?period=year&of=2024").value("totals.booksFinished") == "0")
            #expect(try await kiosk.ask("/api/stats?period=own&from=2026-05").value("from") == "2026-05-01")
            let memory = try await kiosk.ask("/api/stats/on-this-day")
            #expect(try memory.value("memories.0.what") == "reading" && memory.value("memories.1.what") == "started")
        }
    }

    @Test func `answers the days and the timeline of a period`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let (library, now) = (kiosk.library, StatsKiosk.now)
            let book = try await kiosk.book("The Dispossessed")
            for (back, page) in [(3, 20), (1, 50)] {
                let end = now.addingTimeInterval(-Double(back) * 86_400)
                _ = try await library.addSession(
                    of: book, start: end.addingTimeInterval(-1_800), end: end, startPage: nil, endPage: page, at: now)
            }
            let days = try await kiosk.ask("/api/stats/days?period=week&of=2026-05-09")
            #expect(try days.value("days.1.pages") == "30" && days.value("days.0.day") == "2026-05-07")
            #expect(try await kiosk.ask("/api/stats/days?period=week&of=2026-05-01").text == "{\"days\":[]}")
            let timeline = try await kiosk.ask("/api/stats/timeline")
            #expect(
                try timeline.value("events.0.date") == "2026-05-09" && timeline.value("events.0.event") == "session")
        }
    }

    @Test func `keeps the last of many events`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let (library, now) = (kiosk.library, StatsKiosk.now)
            let book = try await kiosk.book("The Dispossessed")
            for hour in 1...7 {
                let end = now.addingTimeInterval(-Double(hour) * 3_600)
                _ = try await library.addSession(
                    of: book, start: end.addingTimeInterval(-600), end: end, startPage: hour, endPage: hour, at: now)
            }
            let parts = try KioskParts(
                .init(),
                ports: KioskPorts(
                    library: library, zone: .gmt, now: { now }),
                logger: Logger(label: "figures"))
            for limit in [3, 6, 20] {
                let events = try await StatsAPI(parts: parts).events(in: .all, limit: limit, of: library)
                let pages = events.compactMap { $0.session?.startPage }
                #expect(Array(pages.prefix(limit)) == Array((1...7).prefix(limit)), "\(limit)")
            }
        }
    }
}
