import Bookplate
import Foundation
import Testing

@testable import Terminal

@Suite struct `The pages in the terminal` {
    let plain = Style(isOn: false)
    let today = CalendarDay("2026-05-10")!
    let berlin = TimeZone(identifier: "Europe/Berlin")!

    func charts(_ width: Int, isASCII: Bool = false) -> Charts {
        Charts(width: width, style: plain, isASCII: isASCII)
    }

    func day(_ text: String) -> CalendarDay { CalendarDay(text)! }

    func stats(_ text: String, pages: Int, minutes: Int, pace: Double? = nil) -> DayStats {
        var stats = DayStats(day: day(text))
        (stats.pages, stats.minutes, stats.sessions) = (pages, minutes, minutes > 0 ? 1 : 0)
        if let pace { stats.pace.add(pace) }
        return stats
    }

    func book(
        _ title: String, _ authors: [String], _ status: Copy.Status, pages: Int? = 300, rating: Double? = nil,
        _ reading: Reading
    ) -> Book {
        var metadata = Metadata()
        metadata.title = title
        metadata.authors = authors.map { Contributor(name: $0) }
        metadata.pageCount = pages
        var copy = Copy(added: Date(timeIntervalSince1970: 0))
        copy.status = status
        copy.rating = rating
        copy.readings = [reading]
        return Book(edition: Edition(isbn: nil, metadata: metadata), copy: copy)
    }

    func now(_ book: Book, _ days: [DayStats], goal: Int? = nil, pause: Pause? = nil, running: Session? = nil)
        -> ReadingNow
    {
        ReadingNow(
            book: book,
            forecast: Forecast(
                isReading: true, progress: book.copy.reading?.progress?.amount,
                pageCount: book.edition.metadata.pageCount, days: days, goal: goal, today: today),
            pause: pause, running: running, lastActivity: nil, pagesToday: days.last { $0.day == today }?.pages ?? 0)
    }

    func progress(_ amount: ProgressEntry.Amount) -> ProgressEntry {
        ProgressEntry(at: Date(timeIntervalSince1970: 0), amount: amount)
    }

    @Test(arguments: [40, 57, 80, 120, 200], [false, true])
    func `never exceed the width of the terminal`(width: Int, isASCII: Bool) {
        for text in [lines(home, width, isASCII: isASCII), lines(overview, width, isASCII: isASCII)] {
            for line in text.split(separator: "\n") {
                #expect(String(line).columns <= width, "\(line)")
                if isASCII { #expect(line.utf8.allSatisfy { $0 < 0x80 }) }
            }
        }
    }

    @Test func `show a month as a grid of weeks`() {
        let days = [stats("2026-05-01", pages: 30, minutes: 45), stats("2026-05-10", pages: 0, minutes: 300)]
        let charts = charts(40)
        #expect(
            charts.text(of: charts.month(2026, 5, days, today: today)) == """
                Mon  Tue  Wed  Thu  Fri  Sat  Sun
                                    1    2    3
                                    30p
                                    45m
                4    5    6    7    8    9    10*
                                              -
                                              300m
                11   12   13   14   15   16   17
                18   19   20   21   22   23   24
                25   26   27   28   29   30   31
                """)
        #expect(charts.month(2026, 2, [], today: today).count == 6)
    }

    @Test func `draw the progress of a book over time`() {
        let points = [("2026-05-01", 0), ("2026-05-03", 60), ("2026-05-08", 150)].map {
            ProgressPoint(day: day($0.0), amount: .page($0.1), pageCount: 300)
        }
        let reading = ReadingStats(
            reading: Reading(started: day("2026-05-01"), progress: progress(.page(150))),
            days: [stats("2026-05-03", pages: 60, minutes: 0), stats("2026-05-08", pages: 90, minutes: 60)],
            points: points,
            forecast: Forecast(
                isReading: true, progress: .page(150), pageCount: 300,
                days: [stats("2026-05-08", pages: 90, minutes: 60)], goal: nil, today: today), pagesPerDay: 45)
        var stats = BookStats(
            book: CountedBook(id: ID(), title: "Dune", authors: ["Frank Herbert"], isbn: nil, edition: ID()),
            status: .reading, pageCount: 300)
        (stats.pages, stats.minutes, stats.sessions, stats.daysRead) = (150, 60, 1, 2)
        stats.readings = [reading]
        let charts = charts(40)
        let screen = BookScreen(stats: stats, charts: charts, today: today, zone: berlin)
        #expect(
            charts.text(of: screen.lines) == """
                Dune
                Frank Herbert

                  Status     Reading
                  Pages      300
                  Read       150 pages on 2 days
                  Time       1 h in 1 session

                Reading · from 2026-05-01 · 45 pages per
                day
                  100%│
                      │
                      │
                      │
                      │                         ███████
                      │                         ███████
                      │       ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅███████
                    0%│▁▁▁▁▁▁▁█████████████████████████
                       2026-05-01            2026-05-10
                  At your pace, you'll finish in 4 days
                """)
        stats.readings[0].points = []
        #expect(
            BookScreen(stats: stats, charts: charts, today: today, zone: berlin).graph(stats.readings[0]).isEmpty)
    }

    @Test(arguments: [
        (0, "░░░░░░░░░░"), (0.001, "█░░░░░░░░░"), (0.5, "█████░░░░░"), (0.999, "█████████░"), (1, "██████████"),
        (7, "██████████"), (-1, "░░░░░░░░░░"),
    ])
    func `fill a track in proportion`(fraction: Double, track: String) {
        #expect(charts(80).progress(fraction, width: 10) == track)
    }
}
