import Bookplate
import GRDB

extension Schema {
    /// Version 2: readings with their progress and sessions, notes, quotes, what imports could not take as it was, and the
    /// library's own id.
    ///
    /// Whatever is not To Read has a reading from here on.
    @Sendable static func createTracker(_ db: Database) throws {
        try db.execute(sql: readings)
        try db.execute(sql: remarks)
        try addReadings(db)
        try db.execute(sql: identity)
        try db.run("INSERT INTO identity (id) VALUES (?)", [LibraryFile.newIdentity()])
    }

    private static let readings = """
        CREATE TABLE reading (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
            copy INTEGER NOT NULL REFERENCES copy (id),
            -- The order of a copy's readings, oldest first; the last one is the one that the copy's status speaks of.
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
            -- NULL while it runs.
            "end" INTEGER CHECK ("end" >= start),
            startPage INTEGER NOT NULL DEFAULT 0 CHECK (startPage >= 0),
            endPage INTEGER CHECK (endPage >= startPage),
            CHECK ("end" IS NOT NULL OR endPage IS NULL)
        ) STRICT;
        CREATE INDEX sessionByReading ON session (reading, start);
        CREATE INDEX sessionByStart ON session (start);
        -- One running session in the whole library.
        CREATE UNIQUE INDEX sessionRunning ON session (("end" IS NULL)) WHERE "end" IS NULL;

        CREATE TABLE progressEntry (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
            reading INTEGER NOT NULL REFERENCES reading (id),
            at INTEGER NOT NULL,
            page INTEGER CHECK (page >= 0),
            -- In hundredths of a percent.
            percent INTEGER CHECK (percent BETWEEN 0 AND 10000),
            isAutomatic INTEGER NOT NULL DEFAULT 0 CHECK (isAutomatic IN (0, 1)),
            session INTEGER REFERENCES session (id),
            CHECK ((page IS NULL) <> (percent IS NULL))
        ) STRICT;
        -- Holds all that the sums over a library's entries need, so that they pass by the table.
        CREATE INDEX progressEntryByReading
            ON progressEntry (reading, at, id, page, percent, isAutomatic, session);
        CREATE INDEX progressEntryByAt ON progressEntry (at);
        CREATE INDEX progressEntryBySession ON progressEntry (session) WHERE session IS NOT NULL;
        """

    private static let identity = """
        -- What tells this library from others in a folder of backups. No setting: nobody sets it, undo and export pass it by.
        CREATE TABLE identity (
            one INTEGER PRIMARY KEY DEFAULT 1 CHECK (one = 1),
            id TEXT NOT NULL CHECK (length(id) = 8)
        ) STRICT;
        """

    private static let remarks = """
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

        -- What an import changed or doubted of a row, with the row as it stood in the file.
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
