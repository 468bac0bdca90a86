import Bookplate
import FoundationEssentials
import GRDB

/// What the first page shows, from one state of the library.
struct HomeRows {
    let db: Database
    let now: Date
    let zone: TimeZone
    /// How many that were read are shown.
    private static let recentlyRead = 5

    func home(limit: Int) throws -> Home {
        let today = CalendarDay(now, in: zone)
        let rows = try ReadingNowRow.fetch(db, limit: max(0, limit))
        let books = try books(rows.map(\.copy))
        let days = try DaySums(db, in: zone).readings(rows.compactMap(\.reading))
        let libraryGoal = try goal(db, .dailyGoal)
        let running = try runningSession()
        let readingNow = rows.compactMap { row -> ReadingNow? in
            guard let book = books[row.copy] else { return nil }
            let days = row.reading.flatMap { days[$0] } ?? []
            let session = running.flatMap { $0.reading == row.reading ? $0.session : nil }
            return ReadingNow(
                book: book,
                forecast: Forecast(
                    isReading: true, progress: book.copy.reading?.progress?.amount,
                    pageCount: book.edition.metadata.pageCount, days: days, goal: book.copy.dailyGoal ?? libraryGoal,
                    today: today),
                pause: session == nil ? row.pause(today: today, in: zone) : nil, running: session,
                lastActivity: row.lastActivity,
                pagesToday: days.last { $0.day == today }?.pages ?? 0)
        }
        let count = try db.value(
            Int.self, "SELECT count(*) FROM copy WHERE status = 'reading' AND deleted IS NULL")
        return Home(
            today: today, readingNow: readingNow, readingCount: count ?? 0, recentlyRead: try lastRead())
    }

    private func books(_ copies: [Int64]) throws -> [Int64: Book] {
        let entries = try StoredBooks.fetch(db, "WHERE copy.id IN (SELECT value FROM json_each(?))", [list(copies)])
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.copyRow, $0.book) })
    }

    private func runningSession() throws -> (reading: Int64, session: Session)? {
        try db.row("SELECT reading, uuid, start, \"end\", startPage, endPage FROM session WHERE \"end\" IS NULL").map {
            ($0["reading"], Session(row: $0))
        }
    }

    /// By finished date, the latest first; then those without one, the latest marked first.
    private func lastRead() throws -> [RecentlyRead] {
        // Almost always enough, and only the first rows of an index are looked at.
        var copies = try db.rows(
            """
            SELECT copy.id FROM reading JOIN copy ON copy.id = reading.copy
            WHERE reading.finished IS NOT NULL AND copy.status = 'read' AND copy.deleted IS NULL
                AND reading.id = \(ReadingNowRow.shownReading)
            ORDER BY reading.finished DESC, reading.id DESC LIMIT ?
            """, [Self.recentlyRead]
        ).map { $0[0] as Int64 }
        if copies.count < Self.recentlyRead {
            copies += try db.rows(
                """
                SELECT copy.id FROM copy LEFT JOIN reading ON reading.id = \(ReadingNowRow.shownReading)
                WHERE copy.status = 'read' AND copy.deleted IS NULL AND reading.finished IS NULL
                ORDER BY coalesce((SELECT max(at) FROM progressEntry WHERE progressEntry.reading = reading.id),
                    copy.added) DESC, copy.id DESC LIMIT ?
                """, [Self.recentlyRead - copies.count]
            ).map { $0[0] as Int64 }
        }
        let books = try books(copies)
        return copies.compactMap { books[$0].map(RecentlyRead.init) }
    }
}
