import GRDB

extension Schema {
    /// Creates the tables of version 5. With these, a library can serve as a hub, and a file can serve as a station's
    /// outbox. The tables are not logged in changes, because an undo cannot recall a delivery that was sent.
    @Sendable static func createHub(_ db: Database) throws {
        try db.execute(sql: hub)
        try db.execute(sql: outbox)
    }

    private static let hub = """
        CREATE TABLE station (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
            name TEXT NOT NULL UNIQUE CHECK (name <> ''),
            -- The part of the token that finds the row, and the hash of its secret part.
            selector TEXT NOT NULL UNIQUE,
            hash TEXT NOT NULL,
            created INTEGER NOT NULL,
            lastUsed INTEGER,
            revoked INTEGER
        ) STRICT;

        -- The last delivery of each item from a station, and its result. It is written in the transaction that saves the book.
        CREATE TABLE delivery (
            item TEXT PRIMARY KEY CHECK (length(item) = 36),
            station INTEGER NOT NULL REFERENCES station (id),
            revision INTEGER NOT NULL CHECK (revision > 0),
            state TEXT NOT NULL CHECK (state IN ('waiting', 'confirmed', 'dismissed')),
            -- The act at the station that confirmed the item, and the change that saved the book here.
            act TEXT,
            change TEXT,
            outcome TEXT NOT NULL CHECK (outcome IN ('taken', 'saved', 'owned', 'kept', 'refused')),
            copy TEXT,
            reason TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX deliveryByAct ON delivery (station, act) WHERE act IS NOT NULL;
        """

    private static let outbox = """
        -- A single row, which marks the file as an outbox and has the address of its hub.
        CREATE TABLE outbox (
            one INTEGER PRIMARY KEY DEFAULT 1 CHECK (one = 1),
            hub TEXT NOT NULL
        ) STRICT;

        CREATE TABLE outboxItem (
            item INTEGER PRIMARY KEY REFERENCES intakeItem (id) ON DELETE CASCADE,
            revision INTEGER NOT NULL DEFAULT 1 CHECK (revision > 0),
            -- The order in which items are sent, which is the order of their last changes.
            changed INTEGER NOT NULL,
            -- The revision that the hub has.
            sent INTEGER NOT NULL DEFAULT 0 CHECK (sent BETWEEN 0 AND revision),
            hasSentThumbnail INTEGER NOT NULL DEFAULT 0 CHECK (hasSentThumbnail IN (0, 1)),
            -- The copy at the hub that last resulted from the item.
            copy TEXT,
            -- The data that a person has confirmed. It counts only while the item is confirmed.
            confirmed TEXT CHECK (confirmed IS NULL OR json_valid(confirmed))
        ) STRICT;
        CREATE INDEX outboxItemByChanged ON outboxItem (changed);
        CREATE INDEX outboxItemUndelivered ON outboxItem (changed) WHERE revision > sent;

        -- Every change of an item has to be sent. The triggers note this in the transaction that makes the change.
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
        -- Old answered items are deleted from a queue after some time, but not items that still have to be sent to the hub.
        CREATE TRIGGER outboxKeeps BEFORE DELETE ON intakeItem
        WHEN EXISTS (SELECT 1 FROM outboxItem WHERE item = OLD.id AND revision > sent) BEGIN
            SELECT RAISE(IGNORE);
        END;
        """
}
