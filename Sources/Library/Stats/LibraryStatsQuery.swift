import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Stats {
    public func home(limit: Int, at now: Date, in zone: TimeZone) async throws -> Home {
        try await read { db in try HomeQuery(db: db, now: now, zone: zone).home(limit: limit) }
    }

    public func yearSoFar(at now: Date, in zone: TimeZone) async throws -> YearSoFar {
        try await read { db in try YearQuery(db: db, today: CalendarDay(now, in: zone), zone: zone).yearSoFar() }
    }

    public func overview(
        _ period: Period, year: Int?, at now: Date, in zone: TimeZone
    ) async throws -> Overview {
        try await read { db in
            let today = CalendarDay(now, in: zone)
            let year = year ?? today.year
            let pauses = try PausesQuery(db: db, today: today, zone: zone)
            return Overview(
                period: period, days: try DayStatsQuery(db, in: zone).library(),
                finishes: try LibraryStatsQuery.finishes(db),
                recentPace: try LibraryStatsQuery.recentPace(db), yearlyGoal: try goal(db, .yearlyGoal),
                dailyGoal: try goal(db, .dailyGoal), challengeYear: year,
                culturalGoals: try LibraryStatsQuery.culturalGoals(db, year: year),
                ratings: try LibraryStatsQuery.ratings(db),
                counts: try LibraryStatsQuery.counts(db), pauses: try pauses.books(limit: Overview.mostPauses),
                pauseCount: pauses.count, today: today)
        }
    }

    public func days(in period: Period, zone: TimeZone) async throws -> [DayStats] {
        try await read { db in try DayStatsQuery(db, in: zone).library(in: period) }
    }

    public func onThisDay(at now: Date, in zone: TimeZone) async throws -> [Memory] {
        try await read { db in try MemoriesQuery(db: db, today: CalendarDay(now, in: zone)).all() }
    }

    public func stats(of copy: ID<Copy>, at now: Date, in zone: TimeZone) async throws -> BookStats? {
        try await read { db in
            guard let stored = try StoredBook.one(db, copy) else { return nil }
            return try BookStatsQuery(db: db, stored: stored, now: now, zone: zone).stats()
        }
    }

    public func timeline(
        in zone: TimeZone, _ receive: @escaping @Sendable (TimelineEvent) throws -> Void
    ) async throws {
        try await read { db in try listTimeline(db, in: zone, receive) }
    }
}

/// Finds paused books. Books with the longest pause come first.
private struct PausesQuery {
    private let db: Database
    private let rows: [(copy: Int64, pause: Pause)]

    init(db: Database, today: CalendarDay, zone: TimeZone) throws {
        self.db = db
        rows = try ReadingNowRow.fetch(db).compactMap { row in
            row.pause(today: today, in: zone).map { (copy: row.copy, pause: $0) }
        }.sorted { ($1.pause.daysSinceLast, $0.copy) < ($0.pause.daysSinceLast, $1.copy) }
    }

    var count: Int { rows.count }

    func books(limit: Int) throws -> [PausedBook] {
        let books = try CountedBook.fetch(db, rows.prefix(limit).map(\.copy))
        return rows.prefix(limit).compactMap { row in
            books[row.copy].map { PausedBook(book: $0, pause: row.pause) }
        }
    }
}

/// Computes sums over the whole library, excluding the trash and cancelled readings.
enum LibraryStatsQuery {
    /// Returns, for each date, the number of books that were finished and the number of their pages.
    ///
    /// - Parameter year: the year to select, for which an index is used; `nil` for all readings, including those
    ///   without a date.
    static func finishes(_ db: Database, year: Int? = nil) throws -> [Finishes] {
        func text(_ year: Int) -> String { CalendarDay(year: year)?.description ?? ":" }
        let isOfYear = year == nil ? "" : "AND finished >= ? AND finished < ?"
        return try db.rows(
            """
            SELECT finished, count(*) AS books, sum(coalesce(min(edition.pageCount, \(StatsLimit.pages)), 0)) AS pages
            FROM reading JOIN copy ON copy.id = reading.copy JOIN edition ON edition.id = copy.edition
            WHERE reading.state = 'finished' AND copy.deleted IS NULL \(isOfYear) GROUP BY finished
            """, year.map { [text($0), text($0 + 1)] } ?? []
        ).map { Finishes(date: try $0.day("finished"), books: $0["books"], pages: $0["pages"]) }
    }

    /// Returns the mean number of pages read per hour, from the latest sessions that have a pace.
    static func recentPace(_ db: Database) throws -> Double? {
        try db.value(
            Double.self,
            """
            SELECT avg(60.0 * pages / minutes) FROM (
                SELECT minutes, pages FROM (
                    SELECT start, id, \(DayStatsQuery.ofSession) FROM session
                    WHERE "end" IS NOT NULL AND session.reading NOT IN \(DayStatsQuery.uncounted))
                WHERE minutes > 0 AND pages > 0 ORDER BY start DESC, id DESC LIMIT \(Overview.recentSessions))
            """)
    }

    static func culturalGoals(_ db: Database, year: Int) throws -> [CulturalGoal] {
        try db.rows(
            """
            SELECT culturalGoalCategory AS category, count(*) AS books,
                sum(EXISTS (SELECT 1 FROM reading WHERE reading.copy = copy.id AND state = 'finished')) AS finished,
                sum(EXISTS (SELECT 1 FROM reading WHERE reading.copy = copy.id AND state = 'finished'
                    AND CAST(substr(finished, 1, 4) AS INTEGER) = ?)) AS finishedThisYear
            FROM copy WHERE countsForCulturalGoal = 1 AND deleted IS NULL
            GROUP BY culturalGoalCategory ORDER BY culturalGoalCategory IS NULL, culturalGoalCategory
            """, [year]
        ).map { row in
            CulturalGoal(
                category: row["category"], books: row["books"], finished: row["finished"],
                finishedThisYear: row["finishedThisYear"])
        }
    }

    static func ratings(_ db: Database) throws -> Ratings {
        let rows = try db.rows(
            "SELECT rating, count(*) AS copies FROM copy WHERE deleted IS NULL AND rating IS NOT NULL GROUP BY rating")
        return Ratings(Dictionary(uniqueKeysWithValues: rows.map { ($0["rating"] as Int, $0["copies"] as Int) }))
    }

    static func counts(_ db: Database) throws -> LibraryCounts {
        var counts = LibraryCounts()
        if let row = try db.row(
            """
            SELECT count(*) AS copies, total(isOwned) AS owned, total(isOnWishlist) AS wishlist,
                total(isFavourite) AS favourites
            FROM copy WHERE deleted IS NULL
            """)
        {
            counts.copies = row["copies"]
            counts.owned = row["owned"]
            counts.wishlist = row["wishlist"]
            counts.favourites = row["favourites"]
        }
        for row in try db.rows("SELECT status, count(*) AS copies FROM copy WHERE deleted IS NULL GROUP BY status") {
            counts.byStatus[try row.word("status")] = row["copies"]
        }
        for row in try db.rows(
            """
            SELECT format, language, count(*) AS copies FROM copy JOIN edition ON edition.id = copy.edition
            WHERE deleted IS NULL GROUP BY format, language
            """)
        {
            let copies: Int = row["copies"]
            counts.byFormat[try row.optionalWord("format"), default: 0] += copies
            let language: String? = row["language"]
            if let index = counts.byLanguage.firstIndex(where: { $0.language == language }) {
                counts.byLanguage[index].copies += copies
            } else {
                counts.byLanguage.append(LanguageCount(language: language, copies: copies))
            }
        }
        counts.byLanguage.sort { ($1.copies, $0.language ?? "~") < ($0.copies, $1.language ?? "~") }
        return counts
    }
}

/// Computes this year's stats. Only the needed ranges of the indexes are read, so the required time does not depend on
/// the number of earlier years in the library.
struct YearQuery {
    let db: Database
    let today: CalendarDay
    let zone: TimeZone

    func yearSoFar() throws -> YearSoFar {
        YearSoFar(
            today: today, days: try days(), finishes: try LibraryStatsQuery.finishes(db, year: today.year),
            yearlyGoal: try goal(db, .yearlyGoal), dailyGoal: try goal(db, .dailyGoal),
            memories: try MemoriesQuery(db: db, today: today).dated(limit: YearSoFar.mostMemories))
    }

    /// Returns the days of this year, and earlier days as far back as the current streak reaches.
    private func days() throws -> [DayStats] {
        guard var first = CalendarDay(year: today.year)?.span.lowerBound, let last = today.number else { return [] }
        let dayStats = try DayStatsQuery(db, in: zone)
        var days = try dayStats.library(in: Period(from: CalendarDay(number: first), to: today))
        while true {
            let streaks = Streaks(days.lazy.map(\.day), today: today)
            let begin = last - (streaks.readToday ? 0 : 1) - streaks.current + 1
            // The loop continues if the streak reaches back to the first day that was fetched, or if today is the first
            // day of the year.
            guard begin <= first, streaks.current > 0 || first >= last, first > -719_162 else { return days }
            let before = try dayStats.library(
                in: Period(from: CalendarDay(number: first - 366), to: CalendarDay(number: first - 1)))
            guard !before.isEmpty else { return days }
            days = before + days
            first -= 366
        }
    }
}
