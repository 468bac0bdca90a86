import Bookplate
import Foundation
import Testing

@testable import Terminal

extension `The pages in the terminal` {
    var overview: Overview {
        let days = [
            stats("2025-12-31", pages: 20, minutes: 30, pace: 40),
            stats("2026-01-05", pages: 120, minutes: 150, pace: 48),
            stats("2026-05-09", pages: 60, minutes: 60, pace: 60), stats("2026-05-10", pages: 45, minutes: 0),
        ]
        let finishes = [
            Finishes(date: day("2025-12-31"), books: 2, pages: 500), Finishes(date: day("2026-01-05"), pages: 320),
            Finishes(date: day("2026-05-09"), books: 3, pages: 900), Finishes(date: day("2026"), pages: 200),
            Finishes(date: nil, books: 4, pages: 0),
        ]
        var counts = LibraryCounts()
        (counts.copies, counts.owned, counts.wishlist, counts.favourites) = (14, 12, 2, 1)
        counts.byStatus = [.read: 11, .reading: 2, .toRead: 1]
        counts.byFormat = [.physical: 10, nil: 4]
        counts.byLanguage = [LanguageCount(language: "en", copies: 13), LanguageCount(language: nil, copies: 1)]
        return Overview(
            period: .all, days: days, finishes: finishes, recentPace: 52.25, yearlyGoal: 12, dailyGoal: 60,
            challengeYear: 2026,
            culturalGoals: [CulturalGoal(category: "African Literature", books: 3, finished: 2, finishedThisYear: 1)],
            ratings: Ratings([20: 3, 17: 2, 2: 1]), counts: counts,
            pauses: [
                PausedBook(
                    book: CountedBook(id: ID(), title: "Emma", authors: [], isbn: nil, edition: ID()),
                    pause: Pause(last: nil, started: day("2026-04-10"), added: day("2026-01-01"), today: today)!)
            ], pauseCount: 1, today: today)
    }

    func lines(_ overview: Overview, _ width: Int, isASCII: Bool = false) -> String {
        let charts = charts(width, isASCII: isASCII)
        return charts.text(of: StatsScreen(overview: overview, charts: charts).lines)
    }

    @Test func `draw bars for the library, on 80 columns`() {
        #expect(
            lines(overview, 80) == """
                Reading statistics, 2026-05-10

                  Today          45 pages
                  Streak         2 days; longest 2 days, until 2026-05-10
                  Recent pace    52.3 pages per hour

                  Challenge 2026 ████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 5 of 12 books
                                 1 book ahead of schedule, 7 to go
                  Daily goal     ████████████████████████████████████░░░░░░░░░░░░ 45 of 60 pages
                                 Met on 2 days, 1 day in a row

                Cultural goals
                  African Literature ███████████████████████████████████████ 2 of 3, 1 this year

                All time
                  Finished       11 books finished with 1920 pages
                                 4 of them without a date
                  Pages          245 logged on 4 days
                  Time           4 h in 3 sessions
                  Pace           49.3 pages per hour

                Books finished in 2026
                  Jan           ████████████████████▋ 1
                  Feb           0
                  Mar           0
                  Apr           0
                  May           ██████████████████████████████████████████████████████████████ 3
                  Jun           0
                  Jul           0
                  Aug           0
                  Sep           0
                  Oct           0
                  Nov           0
                  Dec           0
                  month unknown ████████████████████▋ 1

                Pages logged, time, pace (p/h) in 2026
                  Jan ██████████████████████████████████████████████████ 120  2 h 30 min, 48 p/h
                  Feb 0
                  Mar 0
                  Apr 0
                  May ███████████████████████████████████████████▊ 105  1 h, 60 p/h
                  Jun 0
                  Jul 0
                  Aug 0
                  Sep 0
                  Oct 0
                  Nov 0
                  Dec 0

                Books by year
                  2026 ███████████████████████████████████████████████████████ 5 with 1420 pages
                  2025 ██████████████████████ 2 with 500 pages

                Ratings
                  5 ★   ██████████████████████████████████████████████████████████████████████ 3
                  4 ★   ██████████████████████████████████████████████▋ 2
                  3 ★   0
                  2 ★   0
                  1 ★   0
                  < 1 ★ ███████████████████████▍ 1
                  Mean           4 over 6 books

                Books
                  To Read        █████▌ 1
                  Reading        ██████████▉ 2
                  Read           ████████████████████████████████████████████████████████████ 11
                  On Hold        0
                  Did Not Finish 0
                  In all         14: owned 12, wishlist 2, favourites 1
                  Formats        physical 10, unknown 4
                  Languages      en 13, unknown 1

                Paused
                  Emma
                    You started this 30 days ago. Do you want to update your progress?
                """)
    }

    @Test func `draw bars for the library in ASCII, on 40 columns`() {
        #expect(
            lines(overview, 40, isASCII: true) == """
                Reading statistics, 2026-05-10

                  Today          45 pages
                  Streak         2 days; longest 2 days,
                                 until 2026-05-10
                  Recent pace    52.3 pages per hour

                  Challenge 2026 ###...... 5 of 12 books
                                 1 book ahead of
                                 schedule, 7 to go
                  Daily goal     ######.. 45 of 60 pages
                                 Met on 2 days, 1 day in
                                 a row

                Cultural goals
                  African Liter. ### 2 of 3, 1 this year

                All time
                  Finished       11 books finished with
                                 1920 pages
                                 4 of them without a
                                 date
                  Pages          245 logged on 4 days
                  Time           4 h in 3 sessions
                  Pace           49.3 pages per hour

                Books finished in 2026
                  Jan           ####### 1
                  Feb           0
                  Mar           0
                  Apr           0
                  May           ###################### 3
                  Jun           0
                  Jul           0
                  Aug           0
                  Sep           0
                  Oct           0
                  Nov           0
                  Dec           0
                  month unknown ####### 1

                Pages logged, time, pace (p/h) in 2026
                  Jan ########## 120  2 h 30 min, 48 p/h
                  Feb 0
                  Mar 0
                  Apr 0
                  May ######### 105  1 h, 60 p/h
                  Jun 0
                  Jul 0
                  Aug 0
                  Sep 0
                  Oct 0
                  Nov 0
                  Dec 0

                Books by year
                  2026 ############### 5 with 1420 pages
                  2025 ###### 2 with 500 pages

                Ratings
                  5 *   ############################## 3
                  4 *   #################### 2
                  3 *   0
                  2 *   0
                  1 *   0
                  < 1 * ########## 1
                  Mean           4 over 6 books

                Books
                  To Read        ## 1
                  Reading        #### 2
                  Read           #################### 11
                  On Hold        0
                  Did Not Finish 0
                  In all         14: owned 12, wishlist
                                 2, favourites 1
                  Formats        physical 10, unknown 4
                  Languages      en 13, unknown 1

                Paused
                  Emma
                    You started this 30 days ago. Do you
                    want to update your progress?
                """)
    }
}
