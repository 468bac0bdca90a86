import Bookplate
import FoundationEssentials
import Testing

let berlin = TimeZone(identifier: "Europe/Berlin")!
let newYork = TimeZone(identifier: "America/New_York")!

func date(_ text: String) -> CalendarDay { CalendarDay(text)! }

func instant(_ text: String) -> Date { try! Date.ISO8601FormatStyle().parse(text) }

/// Returns a session of the given number of minutes.
func session(_ start: String, _ minutes: Double?, _ from: Int = 0, _ to: Int? = nil) -> Session {
    let start = instant(start)
    return Session(start: start, end: minutes.map { start.addingTimeInterval($0 * 60) }, startPage: from, endPage: to)
}

func entry(
    _ at: String, page: Int? = nil, percent: Double? = nil, automatic: Bool = false, session: Session? = nil
) -> ProgressEntry {
    ProgressEntry(
        at: instant(at), amount: page.map(ProgressEntry.Amount.page) ?? .percent(percent ?? 0), isAutomatic: automatic,
        session: session?.id)
}

/// A day on which pages were read.
func pages(_ text: String, _ pages: Int, minutes: Int = 0) -> DayStats {
    var figures = DayStats(day: date(text))
    figures.pages = pages
    figures.minutes = minutes
    return figures
}

@Suite struct `The statistics of a day` {
    private func days(
        _ sessions: [Session], _ entries: [ProgressEntry] = [], pageCount: Int? = 300, in zone: TimeZone = berlin
    ) -> [String] {
        DayStats.days(sessions: sessions, entries: entries, pageCount: pageCount, in: zone)
            .map { "\($0.day) \($0.pages)p \($0.minutes)m \($0.sessions)s \($0.entries)e" }
    }

    @Test func `count a session once, however it was recorded`() {
        let evening = session("2026-05-01T18:00:00Z", 45, 10, 40)
        #expect(days([evening]) == ["2026-05-01 30p 45m 1s 0e"])
        #expect(
            days([evening], [entry("2026-05-01T18:45:00Z", page: 40, session: evening)]) == ["2026-05-01 30p 45m 1s 0e"]
        )
    }

    @Test func `count a session on the day on which it began, even past midnight`() {
        // The session starts at 23:30 in Berlin, and its entry is on the next day.
        let night = session("2026-04-30T21:30:00Z", 60, 0, 20)
        #expect(
            days([night], [entry("2026-04-30T22:30:00Z", page: 20, session: night)]) == ["2026-04-30 20p 60m 1s 0e"])
    }

    @Test func `leave out a running session, and count one without pages or minutes`() {
        #expect(days([session("2026-05-01T18:00:00Z", nil)]).isEmpty)
        #expect(days([session("2026-05-01T18:00:00Z", 0.9, 5, 5)]) == ["2026-05-01 0p 0m 1s 0e"])
        #expect(days([session("2026-05-01T18:00:00Z", 30)]) == ["2026-05-01 0p 30m 1s 0e"])
    }

    @Test func `count manual entries from the entry before, automatic or not`() {
        let sitting = session("2026-05-02T08:00:00Z", 30, 50, 80)
        let entries = [
            entry("2026-05-01T07:00:00Z", page: 0, automatic: true), entry("2026-05-01T08:00:00Z", page: 50),
            entry("2026-05-02T08:30:00Z", page: 80, session: sitting), entry("2026-05-02T20:00:00Z", page: 95),
        ]
        #expect(days([sitting], entries) == ["2026-05-01 50p 0m 0s 1e", "2026-05-02 45p 30m 1s 1e"])
        #expect(days([sitting], entries.reversed()) == days([sitting], entries))
    }

    @Test(
        arguments: [
            // A step back counts nothing; pages read again count.
            ([(50, nil), (20, nil), (30, nil)], 300, 60),
            // Percentages count by the page count; without one they count nothing.
            ([(nil, 10), (nil, 50)], 300, 150), ([(nil, 10), (nil, 50)], nil, 0), ([(nil, 10), (40, nil)], nil, 40),
            ([(nil, 33.33), (100, nil)], 300, 100),
            // A page count of 0 is unknown; a book counts at most its pages, and at most 100,000.
            ([(40, nil)], 0, 40), ([(nil, 50)], 0, 0), ([(999, nil)], 300, 300), ([(Int.max, nil)], nil, 100_000),
            ([(nil, 100)], Int.max, 100_000),
        ] as [([(Int?, Double?)], Int?, Int)])
    func `count steps forward`(amounts: [(Int?, Double?)], pageCount: Int?, pages: Int) {
        let entries = amounts.enumerated().map { index, amount in
            entry("2026-05-01T0\(index):00:00Z", page: amount.0, percent: amount.1)
        }
        let days = DayStats.days(sessions: [], entries: entries, pageCount: pageCount, in: berlin)
        #expect(days.map(\.pages) == [pages])
    }

    @Test func `count nothing for automatic entries`() {
        #expect(days([], [entry("2026-05-01T07:00:00Z", percent: 100, automatic: true)]).isEmpty)
    }

    @Test func `have the mean pace of the sessions that have one`() {
        let sessions = [
            session("2026-05-01T08:00:00Z", 30, 10, 70), session("2026-05-01T10:00:00Z", 60, 70, 90),
            session("2026-05-01T12:00:00Z", 60, 90, 90),
        ]
        #expect(sessions[0].pace == 120)
        #expect(DayStats.days(sessions: sessions, entries: [], pageCount: nil, in: berlin)[0].pace.value == 70)
        #expect(Mean().value == nil)
    }
}

@Suite struct `Local days as arithmetic` {
    @Test(arguments: [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca",
        "Pacific/Apia", "America/Caracas", "Pacific/Kiritimati", "UTC",
    ])
    func `agree with the calendar over every change of the clock`(name: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        let (first, last) = (instant("1999-12-01T00:00:00Z"), instant("2027-01-01T00:00:00Z"))
        let local = LocalDays(in: zone, from: first, through: last)
        // The step is 5 h 17 min, which reaches every hour of the day.
        for seconds in stride(from: first.timeIntervalSince1970, to: last.timeIntervalSince1970, by: 19_020) {
            let instant = Date(timeIntervalSince1970: seconds)
            #expect(local.day(Int64(seconds) * 1000) == CalendarDay(instant, in: zone).number)
        }
    }

    @Test func `handle the hour that is skipped and the hour that repeats`() {
        let local = LocalDays(
            in: berlin, from: instant("2026-01-01T00:00:00Z"), through: instant("2026-12-31T00:00:00Z"))
        #expect(local.spans.map(\.offset) == [3_600_000, 7_200_000, 3_600_000])
        #expect(local.spans[1].from == Int64(instant("2026-03-29T01:00:00Z").timeIntervalSince1970) * 1000)
        #expect(local.spans[2].from == Int64(instant("2026-10-25T01:00:00Z").timeIntervalSince1970) * 1000)
    }

    @Test func `stay small for the years 1 and 9999`() {
        let local = LocalDays(
            in: berlin, from: instant("0001-01-01T00:00:00Z"), through: instant("9999-12-31T00:00:00Z"))
        #expect(local.spans.count < 400)
        #expect(local.day(-62_135_596_800_000 + 86_400_000) == -719_161)
    }
}
