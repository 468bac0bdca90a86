import Bookplate
import GRDB

/// Which of very many copies in Reading have the newest activity: the first that are met on a way back through the indexes by
/// time, instead of a sort of all of them.
struct NewestReading {
    let db: Database
    let limit: Int

    /// Below this many, all are looked at: it takes no longer.
    private static let many = 500
    /// How many rows a way may have: where those in Reading are few among them, looking at all of these is quicker.
    private static let mostSteps = 5_000

    /// - Returns: at least the first `limit` of them, with all that stand at the same instant as the last; `nil` when it is
    ///   better to look at all.
    func copies() throws -> [Int64]? {
        let count = try db.value(Int.self, "SELECT count(*) FROM copy WHERE status = 'reading' AND deleted IS NULL")
        guard limit > 0, count ?? 0 > max(Self.many, 4 * limit) else { return nil }
        var activity: [Int64: Int64] = [:]
        for (table, time, index) in [
            ("progressEntry", "at", "progressEntryByAt"), ("session", "start", "sessionByStart"),
        ] {
            guard let found = try last(of: table, by: time, along: index) else { return nil }
            activity.merge(found) { max($0, $1) }
        }
        let times = activity.values.sorted(by: >)
        guard times.count >= limit else { return nil }
        // Copies without any activity stand where they were added.
        let added = try db.rows(
            """
            SELECT id FROM copy INDEXED BY copyByAdded
            WHERE added >= ? AND status = 'reading' AND deleted IS NULL
            """, [times[limit - 1]]
        ).map { $0[0] as Int64 }
        return Array(activity.keys) + added
    }

    /// The newest row of each copy, back to the `limit`th copy.
    private func last(of table: String, by time: String, along index: String) throws -> [Int64: Int64]? {
        var found: [Int64: Int64] = [:]
        var (steps, end) = (0, Int64.min)
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT reading.copy, moment.\(time), copy.status = 'reading' AND copy.deleted IS NULL
                        AND reading.id = \(ReadingNowRow.shownReading)
                    FROM \(table) moment INDEXED BY \(index) CROSS JOIN reading ON reading.id = moment.reading
                        CROSS JOIN copy ON copy.id = reading.copy
                    ORDER BY moment.\(time) DESC
                    """))
        while let row = try rows.next() {
            let (copy, time, isShown): (Int64, Int64, Bool) = (row[0], row[1], row[2])
            if found.count >= limit, time < end { return found }
            steps += 1
            guard steps <= Self.mostSteps else { return nil }
            guard isShown, found[copy] == nil else { continue }
            found[copy] = time
            if found.count == limit { end = time }
        }
        return found
    }
}
