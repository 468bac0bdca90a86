import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Stats {
    public func home(limit: Int, at now: Date, in zone: TimeZone) async throws -> Home {
        try await read { db in try HomeQuery(db: db, now: now, zone: zone).home(limit: limit) }
    }

    public func yearSoFar(at now: Date, in zone: TimeZone) async throws -> YearSoFar {
        try await read { [statsBlocks] db in
            let today = CalendarDay(now, in: zone)
            let blocks = try statsBlocks.all(db, in: zone)
            let memories = MemoriesQuery(readings: blocks.flatMap(\.readings), today: today)
            return YearSoFar(
                today: today, days: blocks.days, finishes: blocks.finishes, yearlyGoal: try ownGoal(db, .yearlyGoal),
                dailyGoal: try ownGoal(db, .dailyGoal),
                memories: try memories.dated(db, limit: YearSoFar.mostMemories))
        }
    }

    public func overview(
        _ period: Period, year: Int?, at now: Date, in zone: TimeZone
    ) async throws -> Overview {
        try await read { [statsBlocks] db in
            let today = CalendarDay(now, in: zone)
            let year = year ?? today.year
            let blocks = try statsBlocks.all(db, in: zone)
            let pauses = PausesQuery(blocks: blocks, today: today)
            return Overview(
                period: period, days: blocks.days, finishes: blocks.finishes,
                recentPace: try LibraryStatsQuery.recentPace(db), yearlyGoal: try ownGoal(db, .yearlyGoal),
                dailyGoal: try ownGoal(db, .dailyGoal), challengeYear: year,
                culturalGoals: try LibraryStatsQuery.culturalGoals(db, year: year), ratings: blocks.ratings,
                counts: blocks.counts, pauses: try pauses.books(db, limit: Overview.mostPauses),
                pauseCount: pauses.count, today: today)
        }
    }

    public func readBooks(in period: Period, monthsOf year: Int, zone: TimeZone) async throws -> ReadBooks {
        try await kept(.readBooks(period, monthsOf: year, zone)) {
            try await read { [statsBlocks] db in
                let blocks = try statsBlocks.all(db, in: zone).map(\.read)
                return try ReadBooksCounter(blocks: blocks, period: period, year: year).count(db)
            }
        }
    }

    public func review(of year: Int, at now: Date, in zone: TimeZone) async throws -> YearReview {
        // Another connection lists the books while this one counts.
        async let books = read { db in try LibraryStatsQuery.finishedBooks(db, in: year) }
        let (blocks, counts, goal) = try await read { [statsBlocks] db in
            let blocks = try statsBlocks.all(db, in: zone)
            let period = CalendarDay(year: year).map { Period($0) } ?? .all
            let counter = ReadBooksCounter(blocks: blocks.map(\.read), period: period, year: year)
            return (blocks, try counter.count(db), try ownGoal(db, .yearlyGoal))
        }
        return YearReview(
            year: year, days: blocks.days, finishes: blocks.finishes, counts: counts, books: try await books,
            yearlyGoal: goal, today: CalendarDay(now, in: zone))
    }

    public func goals(year: Int?, at now: Date, in zone: TimeZone) async throws -> Goals {
        try await read { db in
            let today = CalendarDay(now, in: zone)
            let year = year ?? today.year
            let challenge = try ownGoal(db, .yearlyGoal).map { goal in
                Challenge(year: year, goal: goal, done: try LibraryStatsQuery.finishes(db, in: year), today: today)
            }
            let daily = try ownGoal(db, .dailyGoal).map { goal in
                DailyGoal(goal: goal, days: try DayStatsQuery(db, in: zone).library(), today: today)
            }
            let cultural = try LibraryStatsQuery.culturalGoals(db, year: year)
            return Goals(challenge: challenge, daily: daily, cultural: cultural)
        }
    }

    public func days(in period: Period, zone: TimeZone) async throws -> [DayStats] {
        try await read { db in try DayStatsQuery(db, in: zone).library(in: period) }
    }

    public func onThisDay(limit: Int, at now: Date, in zone: TimeZone) async throws -> [Memory] {
        let today = CalendarDay(now, in: zone)
        return try await kept(.memories(of: today, limit: limit, zone)) {
            try await read { [statsBlocks] db in
                let readings = try statsBlocks.readings(db, in: zone)
                return try MemoriesQuery(readings: readings, today: today).all(db, limit: limit)
            }
        }
    }

    public func stats(of copy: ID<Copy>, at now: Date, in zone: TimeZone) async throws -> BookStats? {
        try await read { db in
            func ofReader() throws -> BookStats? {
                guard let stored = try StoredBook.one(db, copy) else { return nil }
                return try BookStatsQuery(db: db, stored: stored, now: now, zone: zone).stats()
            }
            guard try db.isEverybody else { return try ofReader() }
            let stats = try db.forEachReader { _ in try ofReader() }
            return BookStats(merging: stats.compactMap(\.self))
        }
    }

    public func timeline(
        in zone: TimeZone, _ receive: @escaping @Sendable (TimelineEvent) throws -> Void
    ) async throws {
        try await read { db in try listTimeline(db, in: zone, receive) }
    }

    public func latestEvents(
        in period: Period, limit: Int, includesSessions: Bool, zone: TimeZone
    ) async throws -> [TimelineEvent] {
        try await read { db in
            try LatestEventsQuery(db: db, period: period, limit: max(0, limit), zone: zone)
                .events(includesSessions: includesSessions)
        }
    }
}

/// Returns the value of a reading goal of the reader; `nil` if none is set, and for everybody.
private func ownGoal(_ db: Database, _ setting: LibrarySetting) throws -> Int? {
    try db.isEverybody ? nil : goal(db, setting)
}

/// Finds paused books. Books with the longest pause come first.
private struct PausesQuery {
    private let found: [(copy: Int64, pause: Pause)]

    init(blocks: [StatsBlock], today: CalendarDay) {
        found = blocks.lazy.map(\.beingRead).joined().compactMap { copy in
            copy.pause(today: today).map { (copy: copy.copy, pause: $0) }
        }.sorted { ($1.pause.daysSinceLast, $0.copy) < ($0.pause.daysSinceLast, $1.copy) }
    }

    var count: Int { found.count }

    func books(_ db: Database, limit: Int) throws -> [PausedBook] {
        let books = try CountedBook.fetch(db, found.prefix(limit).map(\.copy))
        return found.prefix(limit).compactMap { copy, pause in
            books[copy].map { PausedBook(book: $0, pause: pause) }
        }
    }
}

/// Computes the figures of the overview that need no sums over the whole library.
enum LibraryStatsQuery {
    /// Returns the mean number of pages read per hour, from the latest sessions that have a pace. Leaves out cancelled
    /// readings and the trash.
    static func recentPace(_ db: Database) throws -> Double? {
        let isOwn = try db.isOwn("reader")
        return try db.value(
            Double.self,
            """
            SELECT avg(60.0 * pages / minutes) FROM (
                SELECT minutes, pages FROM (
                    SELECT start, id, reading, \(DayStatsQuery.ofSession) FROM session
                    WHERE "end" IS NOT NULL AND \(isOwn)) AS ended
                WHERE minutes > 0 AND pages > 0 AND EXISTS (
                    SELECT 1 FROM reading JOIN copy ON copy.id = reading.copy
                    WHERE reading.id = ended.reading AND state <> 'cancelled' AND deleted IS NULL)
                ORDER BY start DESC, id DESC LIMIT \(Overview.recentSessions))
            """)
    }

    /// Returns the number of readings that were finished in a year, in a month of it or on a day of it.
    static func finishes(_ db: Database, in year: Int) throws -> Int {
        // A year as text sorts before its months and days.
        let name = CalendarDay(year: year)?.description ?? ""
        return try db.value(
            Int.self,
            """
            SELECT count(*) FROM reading JOIN copy ON copy.id = reading.copy
            WHERE finished BETWEEN ? AND ? AND state = 'finished' AND reader = reader() AND copy.deleted IS NULL
            """, [name, name + "-99"]) ?? 0
    }

    /// Returns the books that were finished in a year, each once, in the order of their dates.
    static func finishedBooks(_ db: Database, in year: Int) throws -> [YearReview.YearBook] {
        let name = CalendarDay(year: year)?.description ?? ""
        let isOwn = try db.isOwn("reading.reader")
        var seen: Set<Int64> = []
        let rows = try db.rows(
            """
            SELECT copy.id AS copy, reading.finished, own.rating, edition.pageCount
            FROM reading INDEXED BY readingByFinished CROSS JOIN copy ON copy.id = reading.copy
                CROSS JOIN edition ON edition.id = copy.edition
                LEFT JOIN readerCopy own ON own.copy = copy.id AND own.reader = reading.reader
            WHERE reading.finished BETWEEN ? AND ? AND state = 'finished' AND \(isOwn) AND copy.deleted IS NULL
            ORDER BY reading.finished, reading.id
            """, [name, name + "-99"]
        ).filter { seen.insert($0["copy"]).inserted }
        let books = try CountedBook.fetch(db, rows.map { $0["copy"] })
        return try rows.compactMap { row in
            guard let book = books[row["copy"]], let finished = try row.day("finished") else { return nil }
            let rating: Int? = row["rating"]
            return YearReview.YearBook(
                book: book, finished: finished, rating: rating.map { Double($0) / 4 }, pageCount: row["pageCount"])
        }
    }

    static func culturalGoals(_ db: Database, year: Int) throws -> [CulturalGoal] {
        let isFinished = "reading.copy = own.copy AND reading.reader = reader() AND state = 'finished'"
        return try db.rows(
            """
            SELECT culturalGoalCategory AS category, count(*) AS books,
                sum(EXISTS (SELECT 1 FROM reading WHERE \(isFinished))) AS finished,
                sum(EXISTS (SELECT 1 FROM reading WHERE \(isFinished)
                    AND CAST(substr(finished, 1, 4) AS INTEGER) = ?)) AS finishedThisYear
            FROM readerCopy own JOIN copy ON copy.id = own.copy
            WHERE own.reader = reader() AND countsForCulturalGoal = 1 AND deleted IS NULL
            GROUP BY culturalGoalCategory ORDER BY culturalGoalCategory IS NULL, culturalGoalCategory
            """, [year]
        ).map { row in
            CulturalGoal(
                category: row["category"], books: row["books"], finished: row["finished"],
                finishedThisYear: row["finishedThisYear"])
        }
    }
}
