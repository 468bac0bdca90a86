-- What version 6 of the schema has added to a library: tables, rows and triggers.
-- The library of a version consists of this file and those of all earlier versions.

PRAGMA user_version = 6;
INSERT INTO grdb_migrations VALUES ('6 the hub''s library, stats, sign-in attempts, redo');

ALTER TABLE outbox ADD COLUMN library TEXT;
ALTER TABLE outboxItem ADD COLUMN library TEXT;
ALTER TABLE outboxItem ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE change ADD COLUMN undoes INTEGER REFERENCES change (id) ON DELETE CASCADE;
DROP TABLE sourceState;
DROP INDEX copyByEdition;
DROP INDEX sessionByReading;
CREATE TABLE signInAttempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    address TEXT NOT NULL CHECK (length(address) <= 64),
    device TEXT NOT NULL CHECK (length(device) <= 80),
    -- 1 if the code was right. The code itself is never stored.
    isRight INTEGER NOT NULL CHECK (isRight IN (0, 1))
) STRICT;
CREATE TABLE statsBlock (
    block INTEGER PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX changeByUndoes ON change (undoes);
CREATE INDEX copyByCulturalGoal ON copy (culturalGoalCategory)
    WHERE countsForCulturalGoal = 1 AND deleted IS NULL;
CREATE INDEX copyByEdition ON copy (edition, deleted);
CREATE INDEX readingByStarted ON reading (started) WHERE started IS NOT NULL;
CREATE INDEX readingByStopped ON reading (stopped) WHERE stopped IS NOT NULL;
CREATE INDEX sessionByReading ON session (reading, start, id, "end", startPage, endPage);
CREATE TRIGGER "redo_cover" AFTER DELETE ON cover
WHEN EXISTS (SELECT 1 FROM openChange JOIN change ON change.id = change WHERE undoes IS NOT NULL) BEGIN
    INSERT INTO changeRow (change, tableName, key, before)
    SELECT change, 'cover', json_array(OLD.edition),
        json_object('edition', OLD.edition, 'state', OLD.state, 'bytes', OLD.bytes,
            'stored', OLD.stored, 'retryAt', OLD.retryAt)
    FROM openChange;
END;
CREATE TRIGGER "stats_copy_delete" AFTER DELETE ON copy BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT OLD.id AS copy) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_copy_insert" AFTER INSERT ON copy BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT NEW.id AS copy) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_copy_update" AFTER UPDATE OF id, edition, status, isOwned, isOnWishlist, isFavourite, rating, added, deleted ON copy BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT OLD.id AS copy UNION SELECT NEW.id) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_edition_update" AFTER UPDATE OF pageCount, format, language ON edition BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT id AS copy FROM copy WHERE edition = NEW.id) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_progressEntry_delete" AFTER DELETE ON progressEntry BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT (SELECT copy FROM reading WHERE id = OLD.reading) AS copy) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_progressEntry_insert" AFTER INSERT ON progressEntry BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT (SELECT copy FROM reading WHERE id = NEW.reading) AS copy) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_progressEntry_update" AFTER UPDATE OF id, reading, at, page, percent, isAutomatic, session ON progressEntry BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT (SELECT copy FROM reading WHERE id = OLD.reading) AS copy UNION SELECT (SELECT copy FROM reading WHERE id = NEW.reading)) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_reading_delete" AFTER DELETE ON reading BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT OLD.copy AS copy) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_reading_insert" AFTER INSERT ON reading BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT NEW.copy AS copy) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_reading_update" AFTER UPDATE OF id, copy, position, state, started, finished, stopped ON reading BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT OLD.copy AS copy UNION SELECT NEW.copy) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_session_delete" AFTER DELETE ON session BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT (SELECT copy FROM reading WHERE id = OLD.reading) AS copy) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_session_insert" AFTER INSERT ON session BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT (SELECT copy FROM reading WHERE id = NEW.reading) AS copy) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;
CREATE TRIGGER "stats_session_update" AFTER UPDATE OF reading, start, "end", startPage, endPage ON session BEGIN
    INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (SELECT (SELECT copy FROM reading WHERE id = OLD.reading) AS copy UNION SELECT (SELECT copy FROM reading WHERE id = NEW.reading)) WHERE true
    ON CONFLICT (block) DO UPDATE SET version = version + 1;
END;

INSERT INTO signInAttempt (at, address, device, isRight) VALUES (1795412000000, '192.0.2.7', 'a phone', 0);
