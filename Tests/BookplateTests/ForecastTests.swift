import Bookplate
import FoundationEssentials
import Testing

@Suite struct `A forecast` {
    let today = date("2026-05-10")

    private func forecast(
        _ days: [DayStats], page: Int? = 100, pageCount: Int? = 300, goal: Int? = nil, isReading: Bool = true
    ) -> Forecast {
        Forecast(
            isReading: isReading, progress: page.map(ProgressEntry.Amount.page), pageCount: pageCount, days: days,
            goal: goal, today: today)
    }

    @Test(
        arguments: [
            // Only today; only yesterday, with nothing read today; with gaps.
            (["2026-05-10": 50], 50), (["2026-05-09": 50], 50), (["2026-05-04": 60, "2026-05-09": 60], 20),
            (["2026-05-04": 60, "2026-05-10": 80], 20), (["2026-04-11": 29], 1),
            // Too long ago, in the future, nothing.
            (["2026-04-10": 30], nil), (["2026-05-11": 30], nil), ([:], nil), (["2026-05-09": 0], nil),
            // Only the last seven days with pages count.
            (
                [
                    "2026-05-01": 1000, "2026-05-03": 10, "2026-05-04": 10, "2026-05-05": 10, "2026-05-06": 10,
                    "2026-05-07": 10, "2026-05-08": 10, "2026-05-09": 10,
                ], 10
            ),
        ] as [([String: Int], Double?)])
    func `has the pace of the last days with pages`(days: [String: Int], pace: Double?) {
        let days = days.map { pages($0.key, $0.value) }.sorted { $0.day < $1.day }
        #expect(Forecast.recentPagesPerDay(days, today: today) == pace)
    }

    @Test func `gives a day by pace and by goal`() {
        let days = [pages("2026-05-08", 70), pages("2026-05-09", 80)]
        let both = forecast(days, goal: 20)
        #expect(both.remaining == 200 && both.daysByPace == 3 && both.daysByGoal == 10)
        #expect(both.byPace == date("2026-05-13") && both.byGoal == date("2026-05-20") && both.finish == both.byPace)
        #expect(both.sentence == "At your pace, you'll finish in 3 days")
        #expect(forecast(days, page: 250).sentence == "At your pace, you'll finish tomorrow")
        #expect(forecast(days, page: 300).sentence == "At your pace, you'll finish today")
        #expect(forecast(days, page: 400).byPace == today)
        #expect(forecast([], goal: 1).sentence == "At 1 page per day, you'll finish in 200 days")
        #expect(forecast([], goal: 20).finish == date("2026-05-20"))
    }

    @Test func `gives the reason if there is none`() {
        let days = [pages("2026-05-09", 80)]
        #expect(forecast(days, isReading: false).reason == .notReading)
        #expect(forecast(days, pageCount: nil, goal: 20).reason == .noPageCount)
        #expect(forecast(days, pageCount: 0).reason == .noPageCount)
        #expect(forecast(days, page: nil).reason == .noProgress)
        #expect(forecast([], page: 10).reason == .noPace)
        #expect(forecast([pages("2026-05-09", 1)], pageCount: 90_000).reason == .tooSlow)
        #expect(forecast([]).sentence == "No forecast: nothing was read in the last 30 days")
        for reason in Forecast.Reason.allCases { #expect(!reason.explanation.isEmpty) }
    }

    @Test(
        arguments: [
            ("2026-02-01", "2026-02-18", 17), ("2026-02-01", "2026-02-01", 0), ("2024-02-28", "2024-03-01", 2),
            ("2026-02", "2026-02-18", nil), ("2026-02-01", "2026", nil), (nil, "2026-02-18", nil),
            ("2026-02-01", nil, nil), ("2026-02-18", "2026-02-01", nil),
        ] as [(String?, String?, Int?)])
    func `days to read need two whole dates in order`(started: String?, finished: String?, days: Int?) {
        let reading = Reading(state: .finished, started: started.map(date), finished: finished.map(date))
        #expect(reading.daysToRead == days)
        #expect(reading.pagesPerDay(pageCount: 360) == days.map { 360 / Double($0 + 1) })
        #expect(reading.pagesPerDay(pageCount: 0) == nil)
    }
}

@Suite struct `On this day` {
    private func memories(
        _ today: String, started: String? = nil, finished: String? = nil, stopped: String? = nil, isOpen: Bool = false
    ) -> [String] {
        let book = CountedBook(id: ID(), title: "Dune", authors: [], isbn: nil, edition: ID())
        return Memory.memories(
            of: book, started: started.map(date), finished: finished.map(date), stopped: stopped.map(date),
            isOpen: isOpen,
            today: date(today)
        ).map { "\($0.yearsAgo) \($0.event.rawValue) \($0.day)" }
    }

    @Test func `what was started, finished, given up or being read`() {
        #expect(memories("2026-05-10", started: "2025-05-10", finished: "2025-06-01") == ["1 started 2025-05-10"])
        #expect(memories("2026-05-10", started: "2025-05-10", finished: "2025-05-10") == ["1 finished 2025-05-10"])
        #expect(memories("2026-05-10", started: "2025-05-01", finished: "2025-06-01") == ["1 reading 2025-05-10"])
        #expect(
            memories("2026-05-10", started: "2023-01-01", stopped: "2024-05-10") == [
                "2 stopped 2024-05-10", "3 reading 2023-05-10",
            ])
        #expect(
            memories("2026-05-10", started: "2024-05-10", isOpen: true) == [
                "1 reading 2025-05-10", "2 started 2024-05-10",
            ])
    }

    @Test func `nothing of this year, of partial dates, or of a reading that never ended`() {
        #expect(memories("2026-05-10", started: "2026-05-10", isOpen: true).isEmpty)
        #expect(memories("2026-05-10", started: "2025-05", finished: "2025").isEmpty)
        #expect(memories("2026-05-10", started: "2024-01-01").isEmpty)
        #expect(memories("2026-05-10", finished: "2025-05-10") == ["1 finished 2025-05-10"])
    }

    @Test func `29 February is not forgotten in other years`() {
        #expect(memories("2028-02-29", finished: "2024-02-29") == ["4 finished 2024-02-29"])
        #expect(memories("2028-02-29", finished: "2027-02-28") == ["1 finished 2027-02-28"])
        #expect(memories("2027-02-28", finished: "2024-02-29") == ["3 finished 2024-02-29"])
        #expect(memories("2028-02-28", finished: "2024-02-29").isEmpty)
        #expect(memories("2027-02-28", finished: "2024-02-28") == ["3 finished 2024-02-28"])
    }
}

@Suite struct `A pause` {
    @Test(
        arguments: [
            ("2026-04-10", "2026-04-10", 30, "You started this 30 days ago. Do you want to update your progress?"),
            ("2026-04-11", "2026-04-10", nil, nil), ("2026-04-05", "2026-04-10", 30, "You started this 30 days ago"),
            (nil, "2026-04-10", 30, "You started this 30 days ago. Do you want to update your progress?"),
            (
                "2026-03-10", "2026-03-01", 61,
                "Nothing read for 61 days; you started this 70 days ago. Do you want to update your progress?"
            ),
            // Only the month is known, and the day may have been the last one of the month.
            (nil, "2026-04", nil, nil),
            (nil, "2026-03", 40, "Nothing read for 40 days. Do you want to update your progress?"),
            // Only the day on which the copy was added is known.
            (nil, nil, 100, "Nothing read for 100 days. Do you want to update your progress?"),
        ] as [(String?, String?, Int?, String?)])
    func `begins thirty days after the last sign of reading`(
        last: String?, started: String?, days: Int?, sentence: String?
    ) {
        let pause = Pause(
            last: last.map(date), started: started.map(date), added: date("2026-01-30"), today: date("2026-05-10"))
        #expect(pause?.daysSinceLast == days)
        if let sentence { #expect(pause?.sentence.hasPrefix(sentence) == true) }
    }

    @Test func `points of progress are the last of each day`() {
        let entries = [
            entry("2026-05-01T07:00:00Z", page: 0, automatic: true), entry("2026-05-01T08:00:00Z", page: 50),
            entry("2026-05-03T08:00:00Z", percent: 25), entry("2026-05-02T22:30:00Z", page: 60),
        ]
        let points = ProgressPoint.points(entries, pageCount: 200, in: berlin)
        #expect(points.map(\.day) == [date("2026-05-01"), date("2026-05-03")])
        #expect(points.map(\.fraction) == [0.25, 0.25])
        #expect(ProgressPoint.points([], pageCount: nil, in: berlin).isEmpty)
    }
}
