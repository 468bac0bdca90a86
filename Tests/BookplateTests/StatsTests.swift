import Bookplate
import FoundationEssentials
import Testing

@Suite struct `Totals of a period` {
    let days = [
        pages("2024-12-31", 10, minutes: 5), pages("2025-01-01", 20, minutes: 30), pages("2025-03-05", 40),
        pages("2026-03-01", 80),
    ]
    let finishes = [
        Finishes(date: date("2025"), pages: 100), Finishes(date: date("2025-03"), pages: 200),
        Finishes(date: date("2025-03-05"), books: 2, pages: 300), Finishes(date: nil, books: 7, pages: 1000),
        Finishes(date: date("2024-12-31"), pages: 50),
    ]

    @Test(
        arguments: [
            (nil, nil, 150, 12, 1650), ("2025", "2025", 60, 4, 600), ("2025-03", "2025-03", 40, 3, 500),
            ("2025-01-01", "2025-01-01", 20, 0, 0), ("2025-03-05", nil, 120, 2, 300), (nil, "2024", 10, 1, 50),
            ("2026-02", "2026-02", 0, 0, 0), ("2026-03-02", "2026-03-01", 0, 0, 0),
        ] as [(String?, String?, Int, Int, Int)])
    func `sum what is certain to lie in the period`(
        from: String?, to: String?, pages: Int, books: Int, bookPages: Int
    ) {
        let totals = Totals(days, finishes, in: Period(from: from.map(date), to: to.map(date)))
        #expect(totals.pages == pages)
        #expect(totals.booksFinished == books)
        #expect(totals.bookPages == bookPages)
    }

    @Test func `of a year keep books of an unknown month apart`() throws {
        let years = YearStats.years(days, finishes)
        #expect(years.map(\.year) == [2026, 2025, 2024])
        let year = years[1]
        #expect(year.totals.booksFinished == 4 && year.totals.pages == 60 && year.totals.daysRead == 2)
        #expect(year.monthUnknown.books == 1 && year.monthUnknown.pages == 100)
        #expect(year.months.map(\.booksFinished) == [0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(year.months.map(\.pages) == [20, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(YearStats(year: 1999, days, finishes).totals == Totals())
    }

    @Test func `put New Year's Eve in the year of the reader's clock`() {
        // 03:00 UTC on 1 January is 22:00 on 31 December in New York.
        let night = session("2026-01-01T03:00:00Z", 120, 0, 30)
        for (zone, year) in [(newYork, 2025), (berlin, 2026)] {
            let days = DayStats.days(sessions: [night], entries: [], pageCount: nil, in: zone)
            #expect(YearStats.years(days, []).map(\.year) == [year])
        }
    }
}

@Suite struct `Streaks of days` {
    @Test(
        arguments: [
            ([], 0, 0, nil), (["2026-05-10"], 1, 1, "2026-05-10"),
            // A streak is not broken if nothing was read today, but any other day without reading breaks it.
            (["2026-05-08", "2026-05-09"], 2, 2, "2026-05-09"), (["2026-05-07", "2026-05-08"], 0, 2, "2026-05-08"),
            (["2026-05-08", "2026-05-09", "2026-05-10"], 3, 3, "2026-05-10"),
            (["2026-05-01", "2026-05-02", "2026-05-03", "2026-05-10"], 1, 3, "2026-05-03"),
            // Over the end of February and of a year, with a leap day and without.
            (["2024-02-28", "2024-02-29", "2024-03-01"], 0, 3, "2024-03-01"),
            (["2025-02-28", "2025-03-01"], 0, 2, "2025-03-01"), (["2024-02-28", "2024-03-01"], 0, 1, "2024-03-01"),
            (["2025-12-31", "2026-01-01"], 0, 2, "2026-01-01"),
            // A clock that was ahead.
            (["2026-05-10", "2026-05-11", "2026-05-12"], 1, 1, "2026-05-10"),
            (["2026-05-09", "2026-05-10", "2026-05-10"], 2, 2, "2026-05-10"),
        ] as [([String], Int, Int, String?)])
    func `run to today or yesterday`(days: [String], current: Int, longest: Int, end: String?) {
        let streaks = Streaks(days.map(date), today: date("2026-05-10"))
        #expect(streaks.current == current)
        #expect(streaks.longest == longest)
        #expect(streaks.longestEnd?.description == end)
        #expect(streaks.readToday == days.contains("2026-05-10"))
    }

    @Test func `hold over a night and over the day of 23 hours`() {
        let sessions = [
            session("2026-03-27T22:30:00Z", 60), session("2026-03-28T22:30:00Z", 60),
            session("2026-03-29T21:30:00Z", 60),
        ]
        let days = DayStats.days(sessions: sessions, entries: [], pageCount: nil, in: berlin)
        #expect(Streaks(days.map(\.day), today: date("2026-03-29")).current == 3)
    }
}

@Suite struct `Goals and ratings` {
    @Test(arguments: [
        ("2026-01-01", 12, 0, 0, "On schedule, 12 to go"), ("2026-07-02", 12, 6, 6, "On schedule, 6 to go"),
        ("2026-07-02", 12, 9, 6, "3 books ahead of schedule, 3 to go"),
        ("2026-12-31", 12, 11, 12, "1 book behind schedule, 1 to go"),
        ("2026-03-01", 12, 13, 1, "Challenge met, 1 book more than the goal"),
        ("2027-05-05", 12, 10, 12, "2 books behind schedule, 2 to go"),
        ("2025-05-05", 12, 0, 0, "On schedule, 12 to go"),
    ])
    func `of a year count what an even pace would have finished`(
        today: String, goal: Int, done: Int, due: Int, sentence: String
    ) {
        let challenge = Challenge(year: 2026, goal: goal, done: done, today: date(today))
        #expect(challenge.due == due)
        #expect(challenge.sentence == sentence)
    }

    @Test func `of a day count the days on which they were met`() {
        let days = [
            pages("2026-05-01", 30), pages("2026-05-07", 20), pages("2026-05-08", 19), pages("2026-05-09", 25),
            pages("2026-05-10", 10), pages("2026-05-11", 90),
        ]
        let goal = DailyGoal(goal: 20, days: days, today: date("2026-05-10"))
        #expect(goal.pagesToday == 10 && !goal.isMetToday && goal.daysMet == 3 && goal.run == 1)
        #expect(
            DailyGoal(goal: 20, days: [], today: date("2026-05-10"))
                == DailyGoal(goal: 20, days: [], today: date("2025-01-01")))
    }

    @Test func `ratings are counted by quarter and by whole star`() {
        let ratings = Ratings([1: 1, 3: 1, 4: 2, 7: 1, 16: 3, 19: 1, 20: 2, 0: 9, 21: 9])
        #expect(ratings.byStar == [2, 3, 0, 0, 4, 2])
        #expect(ratings.count == 11)
        #expect(ratings.mean == Double(1 + 3 + 8 + 7 + 48 + 19 + 40) / 4 / 11)
        #expect(Ratings([:]).mean == nil)
    }
}
