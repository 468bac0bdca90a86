import Bookplate
import GRDB

extension Schema {
    /// Gives every copy that is not To Read its reading, and the log of changes what version 2 would have written there: so what
    /// was done under version 1 can still be taken back, and the reading comes and goes with the status.
    static func addReadings(_ db: Database) throws {
        let image = rowImage(try db.columns(in: "reading").map(\.name))
        let changes = try changesOfStatus(db)
        for row in try Row.fetchAll(db, sql: "SELECT id, status FROM copy ORDER BY id") {
            let copy: Int64 = row["id"]
            let state = Reading.State(after: try row.word("status"))
            let acts = changes[copy] ?? []
            guard state != nil || !acts.isEmpty else { continue }
            // One that is To Read again has its reading for as long as the log takes its number and image from it.
            let reading = try Self.insert(state ?? .open, of: copy, db)
            for act in acts {
                try db.run(
                    """
                    INSERT INTO changeRow (change, tableName, key, before, after)
                    SELECT ?1, 'reading', json_array(id), iif(?2 IS NULL, NULL, json_set(\(image), '$.state', ?2)),
                        iif(?3 IS NULL, NULL, json_set(\(image), '$.state', ?3))
                    FROM reading WHERE id = ?4
                    """, [act.change, act.before?.rawValue, act.after?.rawValue, reading])
            }
            if state == nil { try db.run("DELETE FROM reading WHERE id = ?", [reading]) }
        }
    }

    /// Plain SQL, as the table is in this version.
    private static func insert(_ state: Reading.State, of copy: Int64, _ db: Database) throws -> Int64 {
        try db.run(
            "INSERT INTO reading (uuid, copy, position, state) VALUES (?, ?, 0, ?)",
            [ID<Reading>().rawValue, copy, state.rawValue])
        return db.lastInsertedRowID
    }

    /// What a change made of a copy's reading; `nil` where there is none.
    private struct Act {
        var change: Int64
        var before: Reading.State?
        var after: Reading.State?
    }

    /// By copy, oldest first; of changes that can still be taken back.
    private static func changesOfStatus(_ db: Database) throws -> [Int64: [Act]] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT change, json_extract(after, '$.id') AS copy, json_extract(before, '$.status') AS before,
                    json_extract(after, '$.status') AS after
                FROM changeRow WHERE tableName = 'copy' AND after IS NOT NULL
                    AND change IN (SELECT id FROM change WHERE undone IS NULL)
                ORDER BY id
                """)
        var changes: [Int64: [Act]] = [:]
        for row in rows {
            let before: Copy.Status? = try row.optionalWord("before")
            let act = Act(
                change: row["change"], before: before.flatMap(Reading.State.init(after:)),
                after: Reading.State(after: try row.word("after")))
            if act.before != act.after { changes[row["copy"], default: []].append(act) }
        }
        return changes
    }
}
