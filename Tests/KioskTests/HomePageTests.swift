import Bookplate
import Foundation
import Testing

@testable import Kiosk

@Suite struct `The Home page` {
    private func page(_ kiosk: StatsKiosk, _ language: String = "en") async throws -> String {
        let answer = try await kiosk.ask("/home", language: language)
        #expect(answer.status == 200)
        return answer.text
    }

    @Test(arguments: [
        ("en", "You are not reading anything at the moment."), ("de", "Gerade wird nichts gelesen."),
        ("fr", "Rien en cours."),
    ])
    func `says what to do when no book is being read`(_ language: String, _ words: String) async throws {
        try await StatsKiosk.run { kiosk async throws in
            try await kiosk.book("Dune")
            let html = try await page(kiosk, language)
            #expect(html.contains(words) && html.contains("href=\"/scan\"") && html.contains("/library?status=toRead"))
            #expect(!html.contains("data-update"))
        }
    }

    @Test func `shows a book's progress, its session, and how long it has been paused`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let (library, now) = (kiosk.library, StatsKiosk.now)
            let book = try await kiosk.book("The Dispossessed")
            _ = try await library.recordProgress(.page(145), of: book, at: now.addingTimeInterval(-40 * 86_400))
            var html = try await page(kiosk)
            #expect(html.contains("145 of 382 · 38%") && html.contains("width=\"38\""))
            #expect(html.contains("Started 40 days ago: update your progress?"))
            #expect(html.contains("POST /api/books/\(book.rawValue)/sessions"))

            _ = try await library.startSession(
                of: book, page: nil, from: now.addingTimeInterval(-754), at: now.addingTimeInterval(-754))
            html = try await page(kiosk)
            #expect(html.contains("<span class=\"running-clock\" role=\"timer\">12:34</span>"))
            #expect(html.contains("data-since=\"\(Int((now.timeIntervalSince1970 - 754) * 1000))\""))
            #expect(!html.contains("Started 40 days ago"))
        }
    }

    @Test func `shows the books read last, the year, the challenge and this day in earlier years`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let (library, now) = (kiosk.library, StatsKiosk.now)
            try await library.set("yearlyGoal", to: "5", at: now)
            let book = try await kiosk.book("Emma", by: "Jane Austen", pages: 1_234)
            _ = try await library.setStatus(.read, of: book, on: CalendarDay("2026-05-09"), at: now)
            let begun = DateEdit(started: .set(CalendarDay("2026-05-01")!))
            _ = try await library.setDates(begun, of: book, reading: nil, at: now)
            _ = try await library.update(book, at: now) { $0.copy.rating = 4.5 }
            let old = try await kiosk.book("Ulysses")
            _ = try await library.setStatus(.read, of: old, on: CalendarDay("2024-05-10"), at: now)
            let html = try await page(kiosk)
            #expect(html.contains("9 May 2026 · in 8 days") && html.contains(">★★★★½</span>"))
            #expect(html.contains("<li>1 book</li>") && html.contains("1 of 5 books"))
            #expect(html.contains("2 years ago · finished"))
            let german = try await page(kiosk, "de")
            #expect(german.contains("9. Mai 2026 · in 8 Tagen") && german.contains("1 von 5 Büchern"))
        }
    }

    @Test func `shows a hostile title as text`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let title = "<script>alert(1)</script>\u{202E}\" onerror=\"x"
            let book = try await kiosk.book(title)
            _ = try await kiosk.library.recordProgress(.percent(10), of: book, at: StatsKiosk.now)
            let html = try await page(kiosk)
            #expect(!html.contains("<script>alert") && !html.contains("\u{202E}") && !html.contains("\" onerror=\""))
            #expect(html.contains("&lt;script&gt;"))
        }
    }

    @Test func `is available as JSON`() async throws {
        try await StatsKiosk.run { kiosk async throws in
            let book = try await kiosk.book("The Dispossessed")
            _ = try await kiosk.library.recordProgress(.page(145), of: book, at: StatsKiosk.now)
            let answer = try await kiosk.ask("/api/home")
            #expect(try answer.value("readingNow.0.page") == "145" && answer.value("readingCount") == "1")
            #expect(try answer.value("year.totals.pages") == "145" && answer.value("year.challenge") == "null")
        }
    }

    @Test(arguments: [
        (0, "00:00"), (59, "00:59"), (3_599, "59:59"), (3_600, "1:00:00"), (90_061, "25:01:01"), (-5, "00:00"),
    ])
    func `formats the clock`(_ seconds: Int, _ text: String) throws {
        #expect(try WebFolder.bundled.get().texts[.english]?.elapsed(seconds) == text)
    }
}
