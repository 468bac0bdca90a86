-- What version 5 of the schema has added to a library: tables, rows and triggers.
-- The library of a version consists of this file and those of all earlier versions.

PRAGMA user_version = 5;
INSERT INTO grdb_migrations VALUES ('5 paired stations, outbox');

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

INSERT INTO "station" ("id", "uuid", "name", "selector", "hash", "created", "lastUsed", "revoked") VALUES (1, '01a206e1-0000-7000-8000-000000000002', 'hall', 'abcdef', '00ff', 1795412000000, NULL, NULL);
INSERT INTO "delivery" ("item", "station", "revision", "state", "act", "change", "outcome", "copy", "reason") VALUES ('01a206e1-0000-7000-8000-000000000003', 1, 1, 'waiting', NULL, NULL, 'taken', NULL, NULL);

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
CREATE TRIGGER outboxKeeps BEFORE DELETE ON intakeItem
WHEN EXISTS (SELECT 1 FROM outboxItem WHERE item = OLD.id AND revision > sent) BEGIN
    SELECT RAISE(IGNORE);
END;
