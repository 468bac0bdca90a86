import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Stats {
    public func home(limit: Int, at now: Date, in zone: TimeZone) async throws -> Home {
        try await read { db in try HomeRows(db: db, now: now, zone: zone).home(limit: limit) }
    }

    public func yearSoFar(at now: Date, in zone: TimeZone) async throws -> YearSoFar {
        try await read { db in try YearRows(db: db, today: CalendarDay(now, in: zone), zone: zone).yearSoFar() }
    }

    public func overview(
        _ period: Period, year: Int?, at now: Date, in zone: TimeZone
    ) async throws -> Overview {
        try await read { db in
            let today = CalendarDay(now, in: zone)
            let year = year ?? today.year
            let pauses = try PauseRows(db: db, today: today, zone: zone)
            return Overview(
                period: period, days: try DaySums(db, in: zone).library(), finishes: try LibrarySums.finishes(db),
                recentPace: try LibrarySums.recentPace(db), yearlyGoal: try goal(db, .yearlyGoal),
                dailyGoal: try goal(db, .dailyGoal), challengeYear: year,
                culturalGoals: try LibrarySums.culturalGoals(db, year: year), ratings: try LibrarySums.ratings(db),
                counts: try LibrarySums.counts(db), pauses: try pauses.books(limit: Overview.mostPauses),
                pauseCount: pauses.count, today: today)
        }
    }

    public func days(in period: Period, zone: TimeZone) async throws -> [DayFigures] {
        try await read { db in try DaySums(db, in: zone).library(in: period) }
    }

    public func onThisDay(at now: Date, in zone: TimeZone) async throws -> [Memory] {
        try await read { db in try MemoryRows(db: db, today: CalendarDay(now, in: zone)).all() }
    }

    public func figures(of copy: ID<Copy>, at now: Date, in zone: TimeZone) async throws -> BookFigures? {
        try await read { db in
            guard let entry = try StoredBooks.one(db, copy) else { return nil }
            return try BookSums(db: db, entry: entry, now: now, zone: zone).figures()
        }
    }

    public func timeline(
        in zone: TimeZone, _ take: @escaping @Sendable (TimelineEvent) throws -> Void
    ) async throws {
        try await read { db in try listTimeline(db, in: zone, take) }
    }
}

/// The books that rest, the longest rest first.
private struct PauseRows {
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
        let books = try FigureBooks.fetch(db, rows.prefix(limit).map(\.copy))
        return rows.prefix(limit).compactMap { row in
            books[row.copy].map { PausedBook(book: $0, pause: row.pause) }
        }
    }
}
