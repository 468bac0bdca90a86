import Bookplate
import Foundation
import Testing

@testable import Terminal

extension `The pages in the terminal` {
    var home: Home {
        let dune = book(
            "Dune", ["Frank Herbert"], .reading, pages: 382,
            Reading(started: day("2026-05-08"), progress: progress(.page(145))))
        let long = book(
            "The Strange Case of Dr Jekyll and Mr Hyde and Other Tales of Terror", ["Robert Louis Stevenson"], .reading,
            pages: nil, Reading(progress: progress(.percent(62.5))))
        let resting = book("ノルウェイの森", ["村上春樹"], .reading, Reading(started: day("2026-04-10")))
        let running = Session(start: Date(timeIntervalSince1970: 1_778_405_400), startPage: 145)
        return Home(
            today: today,
            readingNow: [
                now(
                    dune,
                    [stats("2026-05-09", pages: 100, minutes: 60), stats("2026-05-10", pages: 45, minutes: 30)],
                    running: running), now(long, []),
                now(
                    resting, [],
                    pause: Pause(last: nil, started: day("2026-04-10"), added: day("2026-01-01"), today: today)),
            ], readingCount: 4,
            recentlyRead: [
                RecentlyRead(
                    book: book(
                        "The Odyssey", ["Homer"], .read, rating: 4.5,
                        Reading(state: .finished, started: day("2026-04-22"), finished: day("2026-05-09")))),
                RecentlyRead(
                    book: book(
                        "A Wizard of Earthsea", ["Ursula K. Le Guin"], .read,
                        Reading(state: .finished, finished: day("2025")))),
                RecentlyRead(book: book("Emma", [], .read, Reading(state: .finished))),
            ])
    }

    func lines(_ home: Home, _ width: Int, isASCII: Bool = false) -> String {
        let charts = charts(width, isASCII: isASCII)
        return charts.text(of: HomeScreen(home: home, charts: charts, zone: berlin).lines)
    }

    @Test func `show progress, forecast and books read on home, on 80 columns`() {
        #expect(
            lines(home, 80) == """
                Reading now

                  Dune
                  Frank Herbert
                  ██████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  38%  page 145 of 382
                  Session running since 11:30, from page 145
                  At your pace, you'll finish in 4 days
                  started 2026-05-08 · 45 pages today

                  The Strange Case of Dr Jekyll and Mr Hyde and Other Tales of Terror
                  Robert Louis Stevenson
                  ███████████████████████████████░░░░░░░░░░░░░░░░░░░  63%
                  No forecast: the page count is not known

                  ノルウェイの森
                  村上春樹
                  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   0%  0 of 300 pages
                  No forecast: no page has been recorded yet
                  You started this 30 days ago. Do you want to update your progress?
                  started 2026-04-10

                  and 1 more; use --limit 4 to see all.

                Recently read

                  The Odyssey · Homer                            2026-05-09 · in 17 days · ★ 4.5
                  A Wizard of Earthsea · Ursula K. Le Guin                                  2025
                  Emma · Unknown author                                                  no date
                """)
    }

    @Test func `fit home into 40 columns`() {
        #expect(
            lines(home, 40) == """
                Reading now

                  Dune
                  Frank Herbert
                  ██████░░░░░░░░░░  38%  page 145 of 382
                  Session running since 11:30, from page
                  145
                  At your pace, you'll finish in 4 days
                  started 2026-05-08 · 45 pages today

                  The Strange Case of Dr Jekyll and Mr …
                  Robert Louis Stevenson
                  ██████████████████░░░░░░░░░░░░  63%
                  No forecast: the page count is not
                  known

                  ノルウェイの森
                  村上春樹
                  ░░░░░░░░░░░░░░░░░   0%  0 of 300 pages
                  No forecast: no page has been recorded
                  yet
                  You started this 30 days ago. Do you
                  want to update your progress?
                  started 2026-04-10

                  and 1 more; use --limit 4 to see all.

                Recently read

                  The Odyssey · Homer
                    2026-05-09 · in 17 days · ★ 4.5
                  A Wizard of Earthsea · Ursula K. Le G…
                    2025
                  Emma · Unknown author          no date
                """)
    }

    @Test func `use 120 columns for home`() {
        #expect(
            lines(home, 120) == """
                Reading now

                  Dune
                  Frank Herbert
                  ██████████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  38%  page 145 of 382
                  Session running since 11:30, from page 145
                  At your pace, you'll finish in 4 days
                  started 2026-05-08 · 45 pages today

                  The Strange Case of Dr Jekyll and Mr Hyde and Other Tales of Terror
                  Robert Louis Stevenson
                  ███████████████████████████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░  63%
                  No forecast: the page count is not known

                  ノルウェイの森
                  村上春樹
                  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   0%  0 of 300 pages
                  No forecast: no page has been recorded yet
                  You started this 30 days ago. Do you want to update your progress?
                  started 2026-04-10

                  and 1 more; use --limit 4 to see all.

                Recently read

                  The Odyssey · Homer                                                                    2026-05-09 · in 17 days · ★ 4.5
                  A Wizard of Earthsea · Ursula K. Le Guin                                                                          2025
                  Emma · Unknown author                                                                                          no date
                """)
    }

    @Test func `advise what to do next with an empty library`() {
        let empty = Home(today: today, readingNow: [], readingCount: 0, recentlyRead: [])
        #expect(
            lines(empty, 80) == """
                Reading now

                  No books currently reading.
                  To start a book, run 'scan reading start BOOK'.

                Recently read

                  No books read yet.
                  To mark a book as read, run 'scan reading finish BOOK'.
                """)
    }
}
