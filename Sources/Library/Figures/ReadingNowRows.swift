import Bookplate
import FoundationEssentials
import GRDB

/// The copies in Reading, each with its reading and the latest sign of life in it.
struct ReadingNowRow {
    var copy: Int64
    /// `nil` where the copy has none, which only a file that another program wrote can have.
    var reading: Int64?
    var started: CalendarDay?
    /// The latest entry or session, whoever made it.
    var lastActivity: Date?
    var added: Date

    /// The last reading of a copy that is not cancelled: the one that it shows, unless it is To Read.
    static let shownReading = """
        (SELECT shown.id FROM reading shown WHERE shown.copy = copy.id AND shown.state <> 'cancelled'
        ORDER BY shown.position DESC, shown.id DESC LIMIT 1)
        """

    private static let lastActivity = """
        nullif(max(
            coalesce((SELECT max(at) FROM progressEntry WHERE progressEntry.reading = reading.id), \(never)),
            coalesce((SELECT max(start) FROM session WHERE session.reading = reading.id), \(never))), \(never))
        """
    /// Before every instant that the library stores.
    private static let never = Int64.min + 1

    /// The newest activity first, after that the copies added last.
    ///
    /// - Parameter limit: below zero for none.
    static func fetch(_ db: Database, limit: Int = -1) throws -> [ReadingNowRow] {
        let newest = limit < 0 ? nil : try NewestReading(db: db, limit: limit).copies()
        return try db.rows(
            """
            \(selection) WHERE copy.status = 'reading' AND copy.deleted IS NULL
                \(newest == nil ? "" : "AND copy.id IN (SELECT value FROM json_each(?))")
            ORDER BY coalesce(activity, copy.added) DESC, copy.id DESC LIMIT ?
            """, newest.map { [list($0), limit] } ?? [limit]
        ).map(ReadingNowRow.init)
    }

    /// One copy, whatever its status.
    static func fetch(_ db: Database, copy: Int64) throws -> ReadingNowRow? {
        try db.row("\(selection) WHERE copy.id = ?", [copy]).map(ReadingNowRow.init)
    }

    private static let selection = """
        SELECT copy.id AS copyRow, copy.added, reading.id AS readingRow, reading.started, \(lastActivity) AS activity
        FROM copy LEFT JOIN reading ON reading.id = \(shownReading)
        """

    private init(_ row: Row) throws {
        copy = row["copyRow"]
        reading = row["readingRow"]
        started = try row.day("started")
        lastActivity = (row["activity"] as Int64?).map(Date.init(milliseconds:))
        added = Date(milliseconds: row["added"])
    }

    func pause(today: CalendarDay, in zone: TimeZone) -> Pause? {
        Pause(
            last: lastActivity.map { CalendarDay($0, in: zone) }, started: started,
            added: CalendarDay(added, in: zone), today: today)
    }
}
