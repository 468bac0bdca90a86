import Bookplate
import GRDB

extension Schema {
    /// Creates the tables of version 2: readings with their progress and sessions, notes, quotes, import flags, and the
    /// library's id.
    ///
    /// From this version on, every copy has a reading unless its status is To Read.
    @Sendable static func createTracker(_ db: Database) throws {
        try db.execute(sql: readings)
        try db.execute(sql: annotations)
        try addReadings(db)
        try db.execute(sql: identity)
        try db.run("INSERT INTO identity (id) VALUES (?)", [LibraryFile.newIdentity()])
    }

    private static let readings = """
        CREATE TABLE reading (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
            copy INTEGER NOT NULL REFERENCES copy (id),
            -- The order of a copy's readings, oldest first. The copy's status is about the last reading.
            position INTEGER NOT NULL CHECK (position >= 0),
            state TEXT NOT NULL CHECK (state IN ('open', 'finished', 'stopped', 'cancelled')),
            started TEXT CHECK (started GLOB '[0-9][0-9][0-9][0-9]*' AND length(started) IN (4, 7, 10)),
            finished TEXT CHECK (finished GLOB '[0-9][0-9][0-9][0-9]*' AND length(finished) IN (4, 7, 10)),
            stopped TEXT CHECK (stopped GLOB '[0-9][0-9][0-9][0-9]*' AND length(stopped) IN (4, 7, 10))
        ) STRICT;
        CREATE INDEX readingByCopy ON reading (copy, position, id);
        CREATE INDEX readingByFinished ON reading (finished) WHERE finished IS NOT NULL;

        CREATE TABLE session (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
            reading INTEGER NOT NULL REFERENCES reading (id),
            start INTEGER NOT NULL,
            -- NULL while the session is running.
            "end" INTEGER CHECK ("end" >= start),
            startPage INTEGER NOT NULL DEFAULT 0 CHECK (startPage >= 0),
            endPage INTEGER CHECK (endPage >= startPage),
            CHECK ("end" IS NOT NULL OR endPage IS NULL)
        ) STRICT;
        CREATE INDEX sessionByReading ON session (reading, start);
        CREATE INDEX sessionByStart ON session (start);
        -- At most one session is running in the whole library.
        CREATE UNIQUE INDEX sessionRunning ON session (("end" IS NULL)) WHERE "end" IS NULL;

        CREATE TABLE progressEntry (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
            reading INTEGER NOT NULL REFERENCES reading (id),
            at INTEGER NOT NULL,
            page INTEGER CHECK (page >= 0),
            -- The progress in hundredths of a percent.
            percent INTEGER CHECK (percent BETWEEN 0 AND 10000),
            isAutomatic INTEGER NOT NULL DEFAULT 0 CHECK (isAutomatic IN (0, 1)),
            session INTEGER REFERENCES session (id),
            CHECK ((page IS NULL) <> (percent IS NULL))
        ) STRICT;
        -- This index has all columns for sums over a library's entries, so that the table itself is not read.
        CREATE INDEX progressEntryByReading
            ON progressEntry (reading, at, id, page, percent, isAutomatic, session);
        CREATE INDEX progressEntryByAt ON progressEntry (at);
        CREATE INDEX progressEntryBySession ON progressEntry (session) WHERE session IS NOT NULL;
        """

    private static let identity = """
        -- The id that distinguishes this library from others in a folder of backups. It is not a setting,
        -- because nobody sets it, and it is neither undone nor exported.
        CREATE TABLE identity (
            one INTEGER PRIMARY KEY DEFAULT 1 CHECK (one = 1),
            id TEXT NOT NULL CHECK (length(id) = 8)
        ) STRICT;
        """

    private static let annotations = """
        CREATE TABLE note (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
            copy INTEGER NOT NULL REFERENCES copy (id),
            kind TEXT NOT NULL CHECK (kind IN ('note', 'discussion')),
            text TEXT NOT NULL CHECK (text <> ''),
            created INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX noteByCopy ON note (copy, created);
        CREATE INDEX noteByCreated ON note (created);

        CREATE TABLE quote (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
            copy INTEGER NOT NULL REFERENCES copy (id),
            text TEXT NOT NULL CHECK (text <> ''),
            page INTEGER CHECK (page > 0),
            created INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX quoteByCopy ON quote (copy, page, created);
        CREATE INDEX quoteByCreated ON quote (created);

        -- The values of an imported row that an import has changed or doubted, with the row as it was in the file.
        CREATE TABLE importFlag (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            copy INTEGER NOT NULL REFERENCES copy (id),
            source TEXT NOT NULL,
            what TEXT NOT NULL CHECK (what <> ''),
            raw TEXT NOT NULL,
            at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX importFlagByCopy ON importFlag (copy);

        CREATE INDEX copyByStatus ON copy (status) WHERE deleted IS NULL;
        """
}

extension Schema {
    /// Adds a reading to every copy whose status is not To Read. Also writes to the change log the rows that version 2
    /// would have written there. With these rows, changes from version 1 can still be undone, and the undo changes the
    /// reading along with the status.
    static func addReadings(_ db: Database) throws {
        let image = rowImage(try db.columns(in: "reading").map(\.name))
        let stateChanges = try Self.stateChanges(db)
        for row in try Row.fetchAll(db, sql: "SELECT id, status FROM copy ORDER BY id") {
            let copy: Int64 = row["id"]
            let state = Reading.State(after: try row.word("status"))
            let changes = stateChanges[copy] ?? []
            guard state != nil || !changes.isEmpty else { continue }
            // If a copy is To Read again, its reading is deleted below, after the reading's id and image were added to
            // the log.
            let reading = try Self.insert(state ?? .open, of: copy, db)
            for change in changes {
                try db.run(
                    """
                    INSERT INTO changeRow (change, tableName, key, before, after)
                    SELECT ?1, 'reading', json_array(id), iif(?2 IS NULL, NULL, json_set(\(image), '$.state', ?2)),
                        iif(?3 IS NULL, NULL, json_set(\(image), '$.state', ?3))
                    FROM reading WHERE id = ?4
                    """, [change.change, change.before?.rawValue, change.after?.rawValue, reading])
            }
            if state == nil { try db.run("DELETE FROM reading WHERE id = ?", [reading]) }
        }
    }

    /// Inserts a reading. This uses plain SQL, because the table may be different in later versions.
    private static func insert(_ state: Reading.State, of copy: Int64, _ db: Database) throws -> Int64 {
        try db.run(
            "INSERT INTO reading (uuid, copy, position, state) VALUES (?, ?, 0, ?)",
            [ID<Reading>().rawValue, copy, state.rawValue])
        return db.lastInsertedRowID
    }

    /// A change in the reading state of a copy. The state before or after is `nil` if there was no reading then.
    private struct StateChange {
        var change: Int64
        var before: Reading.State?
        var after: Reading.State?
    }

    /// Returns, for each copy, the changes in its reading state that can still be undone, oldest first.
    private static func stateChanges(_ db: Database) throws -> [Int64: [StateChange]] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT change, json_extract(after, '$.id') AS copy, json_extract(before, '$.status') AS before,
                    json_extract(after, '$.status') AS after
                FROM changeRow WHERE tableName = 'copy' AND after IS NOT NULL
                    AND change IN (SELECT id FROM change WHERE undone IS NULL)
                ORDER BY id
                """)
        var changes: [Int64: [StateChange]] = [:]
        for row in rows {
            let before: Copy.Status? = try row.optionalWord("before")
            let change = StateChange(
                change: row["change"], before: before.flatMap(Reading.State.init(after:)),
                after: Reading.State(after: try row.word("after")))
            if change.before != change.after { changes[row["copy"], default: []].append(change) }
        }
        return changes
    }
}
