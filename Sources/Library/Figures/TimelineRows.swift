import Bookplate
import FoundationEssentials
import GRDB

/// Gives the events of all readings in order, from one cursor: of a long life of reading there are many.
func listTimeline(_ db: Database, in zone: TimeZone, _ take: (TimelineEvent) throws -> Void) throws {
    let books = try FigureBooks.fetch(db, nil)
    let day = try DaySums(db, in: zone).day("start")
    func dated(_ rank: Int, _ column: String) -> String {
        """
        SELECT \(rank) AS rank, reading.\(column) AS date, NULL AS start, reading.id AS readingRow, NULL AS uuid,
            NULL AS "end", NULL AS startPage, NULL AS endPage, 0 AS sessionRow
        FROM reading WHERE reading.\(column) IS NOT NULL AND \(isCounted)
        """
    }
    let isCounted = "reading.id NOT IN \(DaySums.uncounted)"
    let cursor = try Row.fetchCursor(
        db,
        sql: """
            SELECT event.*, reading.uuid AS readingID, reading.copy FROM (
                \(dated(0, "started"))
                UNION ALL
                SELECT 1, date(\(day) * 86400, 'unixepoch'), start, session.reading, session.uuid, "end", startPage, endPage,
                    session.id
                FROM session WHERE "end" IS NOT NULL AND session.reading NOT IN \(DaySums.uncounted)
                UNION ALL
                \(dated(2, "finished"))
                UNION ALL
                \(dated(3, "stopped"))
            ) AS event JOIN reading ON reading.id = event.readingRow
            ORDER BY event.date, event.rank, event.start, event.readingRow, event.sessionRow
            """)
    let kinds: [TimelineEvent.Kind] = [.started, .session, .finished, .stopped]
    while let row = try cursor.next() {
        guard let date = try row.day("date"), let book = books[row["copy"]] else { continue }
        let session = (row["uuid"] as String?).map { _ in Session(row: row) }
        try take(
            TimelineEvent(
                kind: kinds[row["rank"]], date: date, book: book, reading: ID(rawValue: row["readingID"]),
                session: session))
    }
}
