import Bookplate
import FoundationEssentials
import GRDB

/// This year's line, from ranges of indexes: a library of many years costs no more than one of this year.
struct YearRows {
    let db: Database
    let today: CalendarDay
    let zone: TimeZone

    func yearSoFar() throws -> YearSoFar {
        YearSoFar(
            today: today, days: try days(), finishes: try LibrarySums.finishes(db, year: today.year),
            yearlyGoal: try goal(db, .yearlyGoal), dailyGoal: try goal(db, .dailyGoal),
            memories: try MemoryRows(db: db, today: today).dated(limit: YearSoFar.mostMemories))
    }

    /// The days of this year, and those of earlier ones as far as the streak reaches back.
    private func days() throws -> [DayFigures] {
        guard var first = CalendarDay(year: today.year)?.span.lowerBound, let last = today.number else { return [] }
        let sums = try DaySums(db, in: zone)
        var days = try sums.library(in: Period(from: CalendarDay(number: first), to: today))
        while true {
            let streaks = Streaks(days.lazy.map(\.day), today: today)
            let begin = last - (streaks.readToday ? 0 : 1) - streaks.current + 1
            // Unbroken up to the first day that was looked at: it goes on before it, or the year is one day old.
            guard begin <= first, streaks.current > 0 || first >= last, first > -719_162 else { return days }
            let before = try sums.library(
                in: Period(from: CalendarDay(number: first - 366), to: CalendarDay(number: first - 1)))
            guard !before.isEmpty else { return days }
            days = before + days
            first -= 366
        }
    }
}
