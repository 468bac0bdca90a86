import GRDB

extension Schema {
    /// Version 5: a library can be a hub, and a file can be a station's outbox. None of these tables is logged in changes, because
    /// undo cannot take back what was sent.
    @Sendable static func createHub(_ db: Database) throws {
        try db.execute(sql: hub)
        try db.execute(sql: outbox)
    }

    private static let hub = """
        CREATE TABLE station (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
            name TEXT NOT NULL UNIQUE CHECK (name <> ''),
            -- The part of the token that finds the row, and the hash of the part that proves it.
            selector TEXT NOT NULL UNIQUE,
            hash TEXT NOT NULL,
            created INTEGER NOT NULL,
            lastUsed INTEGER,
            revoked INTEGER
        ) STRICT;

        -- What of an item a station delivered last, and what came of it: written with the save, in one transaction.
        CREATE TABLE delivery (
            item TEXT PRIMARY KEY CHECK (length(item) = 36),
            station INTEGER NOT NULL REFERENCES station (id),
            revision INTEGER NOT NULL CHECK (revision > 0),
            state TEXT NOT NULL CHECK (state IN ('waiting', 'confirmed', 'dismissed')),
            -- The station's change that it was confirmed in, and the one that saved it here.
            act TEXT,
            change TEXT,
            outcome TEXT NOT NULL CHECK (outcome IN ('taken', 'saved', 'owned', 'kept', 'refused')),
            copy TEXT,
            reason TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX deliveryByAct ON delivery (station, act) WHERE act IS NOT NULL;
        """

    private static let outbox = """
        -- One row marks the file as an outbox, and for which hub.
        CREATE TABLE outbox (
            one INTEGER PRIMARY KEY DEFAULT 1 CHECK (one = 1),
            hub TEXT NOT NULL
        ) STRICT;

        CREATE TABLE outboxItem (
            item INTEGER PRIMARY KEY REFERENCES intakeItem (id) ON DELETE CASCADE,
            revision INTEGER NOT NULL DEFAULT 1 CHECK (revision > 0),
            -- The order in which items are sent: that of their last changes.
            changed INTEGER NOT NULL,
            -- The revision that the hub has.
            sent INTEGER NOT NULL DEFAULT 0 CHECK (sent BETWEEN 0 AND revision),
            hasSentThumbnail INTEGER NOT NULL DEFAULT 0 CHECK (hasSentThumbnail IN (0, 1)),
            -- The hub's copy that came of it last.
            copy TEXT,
            -- What the person confirmed; counts while the item is confirmed.
            confirmed TEXT CHECK (confirmed IS NULL OR json_valid(confirmed))
        ) STRICT;
        CREATE INDEX outboxItemByChanged ON outboxItem (changed);
        CREATE INDEX outboxItemUndelivered ON outboxItem (changed) WHERE revision > sent;

        -- Whatever is done to an item, by whichever way, is to be sent: in the transaction that does it.
        CREATE TRIGGER outboxCapture AFTER INSERT ON intakeItem WHEN EXISTS (SELECT 1 FROM outbox) BEGIN
            INSERT INTO outboxItem (item, changed)
            VALUES (NEW.id, (SELECT coalesce(max(changed), 0) + 1 FROM outboxItem));
        END;
        CREATE TRIGGER outboxChange AFTER UPDATE ON intakeItem
        WHEN (OLD.state IS NOT NEW.state OR OLD.preset IS NOT NEW.preset OR OLD.metadata IS NOT NEW.metadata)
            AND EXISTS (SELECT 1 FROM outbox) BEGIN
            UPDATE outboxItem
            SET revision = revision + 1, changed = (SELECT coalesce(max(changed), 0) + 1 FROM outboxItem)
            WHERE item = NEW.id;
        END;
        -- Old answered items leave a queue after a while; not those that the hub has still to get.
        CREATE TRIGGER outboxKeeps BEFORE DELETE ON intakeItem
        WHEN EXISTS (SELECT 1 FROM outboxItem WHERE item = OLD.id AND revision > sent) BEGIN
            SELECT RAISE(IGNORE);
        END;
        """
}
