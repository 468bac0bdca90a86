-- What version 2 of the schema has added to a library: tables, rows and triggers.
-- The library of a version consists of this file and those of all earlier versions.

PRAGMA user_version = 2;
INSERT INTO grdb_migrations VALUES ('2 readings, notes, quotes');

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
CREATE INDEX progressEntryByReading
    ON progressEntry (reading, at, id, page, percent, isAutomatic, session);
CREATE INDEX progressEntryByAt ON progressEntry (at);
CREATE INDEX progressEntryBySession ON progressEntry (session) WHERE session IS NOT NULL;
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
CREATE TABLE identity (
    one INTEGER PRIMARY KEY DEFAULT 1 CHECK (one = 1),
    id TEXT NOT NULL CHECK (length(id) = 8)
) STRICT;

INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (4, '01a206e2-56b3-7dd7-9024-93c695633017', 1795411826344, 'kitchen', 'edit', '"Zeit und Ähre": page 40', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (5, '01a206e2-574c-753f-895f-8b40d17e98eb', 1795411826471, 'kitchen', 'edit', '"Zeit und Ähre": added a session of 75 min to page 80', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (7, '01a206e2-5897-7f45-9331-168874275dde', 1795411826839, 'kitchen', 'edit', 'added a note to "Zeit und Ähre"', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (8, '01a206e2-5920-76e5-b427-d8eb183dd9c5', 1795411826976, 'kitchen', 'edit', 'added a quote to "Zeit und Ähre"', NULL);
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (24, 3, 'reading', '[1]', NULL, '{"id":1,"uuid":"01a206e2-5612-7a84-b000-dc2bb35f8687","copy":3,"position":0,"state":"open","started":"2026-11-23","finished":null,"stopped":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (26, 3, 'progressEntry', '[1]', NULL, '{"id":1,"uuid":"01a206e2-5612-7e6d-aed9-d74a0bd04cb4","reading":1,"at":1795392000000,"page":null,"percent":0,"isAutomatic":1,"session":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (27, 4, 'progressEntry', '[2]', NULL, '{"id":2,"uuid":"01a206e2-56b5-70f4-b1bf-97e444c41bd6","reading":1,"at":1795411826344,"page":40,"percent":null,"isAutomatic":0,"session":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (28, 5, 'session', '[1]', NULL, '{"id":1,"uuid":"01a206e2-5752-70fb-8718-6c4d60a82b9a","reading":1,"start":1795208400000,"end":1795212900000,"startPage":0,"endPage":80}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (29, 5, 'progressEntry', '[3]', NULL, '{"id":3,"uuid":"01a206e2-5753-7206-ba44-e11b87f72716","reading":1,"at":1795212900000,"page":80,"percent":null,"isAutomatic":0,"session":1}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (30, 6, 'reading', '[1]', '{"id":1,"uuid":"01a206e2-5612-7a84-b000-dc2bb35f8687","copy":3,"position":0,"state":"open","started":"2026-11-23","finished":null,"stopped":null}', '{"id":1,"uuid":"01a206e2-5612-7a84-b000-dc2bb35f8687","copy":3,"position":0,"state":"finished","started":"2026-11-23","finished":"2026-11-23","stopped":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (32, 6, 'progressEntry', '[4]', NULL, '{"id":4,"uuid":"01a206e2-57ef-76c6-b4fb-971ff000996e","reading":1,"at":1795411826663,"page":null,"percent":10000,"isAutomatic":1,"session":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (33, 7, 'note', '[1]', NULL, '{"id":1,"uuid":"01a206e2-5896-788d-840c-41c2424b3de5","copy":3,"kind":"note","text":"The footnotes are half the fun.","created":1795411826839}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (34, 8, 'quote', '[1]', NULL, '{"id":1,"uuid":"01a206e2-591f-76d2-a7b2-e051bb9297df","copy":3,"text":"Eile mit Weile.","page":8,"created":1795411826976}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (37, 9, 'reading', '[2]', NULL, '{"id":2,"uuid":"01a206e2-5a06-700f-9f6b-3989a216110d","copy":1,"position":0,"state":"open","started":"2026-11-23","finished":null,"stopped":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (39, 9, 'progressEntry', '[5]', NULL, '{"id":5,"uuid":"01a206e2-5a06-7690-b87c-bb25bf13fb6d","reading":2,"at":1795392000000,"page":0,"percent":null,"isAutomatic":1,"session":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (49, 14, 'reading', '[3]', NULL, '{"id":3,"uuid":"01a206e2-5c88-7652-a2a4-178c1aea7bd5","copy":4,"position":0,"state":"finished","started":null,"finished":null,"stopped":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (50, 14, 'note', '[2]', NULL, '{"id":2,"uuid":"01a206e2-5c88-741b-ad77-cf6553b58936","copy":4,"kind":"note","text":"Good","created":1704196800000}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (51, 14, 'importFlag', '[1]', NULL, '{"id":1,"copy":4,"source":"goodreads","what":"date read: \"2024/02/30\" is not a date and was left out","raw":"7,Piranesi,Susanna Clarke,=\"1635575637\",=\"9781635575637\",4,245,2024/02/30,2024/01/02,read,Good,1","at":1795411827848}');
INSERT INTO "reading" ("id", "uuid", "copy", "position", "state", "started", "finished", "stopped") VALUES (1, '01a206e2-5612-7a84-b000-dc2bb35f8687', 3, 0, 'finished', '2026-11-23', '2026-11-23', NULL);
INSERT INTO "reading" ("id", "uuid", "copy", "position", "state", "started", "finished", "stopped") VALUES (2, '01a206e2-5a06-700f-9f6b-3989a216110d', 1, 0, 'open', '2026-11-23', NULL, NULL);
INSERT INTO "reading" ("id", "uuid", "copy", "position", "state", "started", "finished", "stopped") VALUES (3, '01a206e2-5c88-7652-a2a4-178c1aea7bd5', 4, 0, 'finished', NULL, NULL, NULL);
INSERT INTO "session" ("id", "uuid", "reading", "start", "end", "startPage", "endPage") VALUES (1, '01a206e2-5752-70fb-8718-6c4d60a82b9a', 1, 1795208400000, 1795212900000, 0, 80);
INSERT INTO "progressEntry" ("id", "uuid", "reading", "at", "page", "percent", "isAutomatic", "session") VALUES (1, '01a206e2-5612-7e6d-aed9-d74a0bd04cb4', 1, 1795392000000, NULL, 0, 1, NULL);
INSERT INTO "progressEntry" ("id", "uuid", "reading", "at", "page", "percent", "isAutomatic", "session") VALUES (2, '01a206e2-56b5-70f4-b1bf-97e444c41bd6', 1, 1795411826344, 40, NULL, 0, NULL);
INSERT INTO "progressEntry" ("id", "uuid", "reading", "at", "page", "percent", "isAutomatic", "session") VALUES (3, '01a206e2-5753-7206-ba44-e11b87f72716', 1, 1795212900000, 80, NULL, 0, 1);
INSERT INTO "progressEntry" ("id", "uuid", "reading", "at", "page", "percent", "isAutomatic", "session") VALUES (4, '01a206e2-57ef-76c6-b4fb-971ff000996e', 1, 1795411826663, NULL, 10000, 1, NULL);
INSERT INTO "progressEntry" ("id", "uuid", "reading", "at", "page", "percent", "isAutomatic", "session") VALUES (5, '01a206e2-5a06-7690-b87c-bb25bf13fb6d', 2, 1795392000000, 0, NULL, 1, NULL);
INSERT INTO "identity" ("one", "id") VALUES (1, '0f3a4cfb');
INSERT INTO "note" ("id", "uuid", "copy", "kind", "text", "created") VALUES (1, '01a206e2-5896-788d-840c-41c2424b3de5', 3, 'note', 'The footnotes are half the fun.', 1795411826839);
INSERT INTO "note" ("id", "uuid", "copy", "kind", "text", "created") VALUES (2, '01a206e2-5c88-741b-ad77-cf6553b58936', 4, 'note', 'Good', 1704196800000);
INSERT INTO "quote" ("id", "uuid", "copy", "text", "page", "created") VALUES (1, '01a206e2-591f-76d2-a7b2-e051bb9297df', 3, 'Eile mit Weile.', 8, 1795411826976);
INSERT INTO "importFlag" ("id", "copy", "source", "what", "raw", "at") VALUES (1, 4, 'goodreads', 'date read: "2024/02/30" is not a date and was left out', '7,Piranesi,Susanna Clarke,="1635575637",="9781635575637",4,245,2024/02/30,2024/01/02,read,Good,1', 1795411827848);

CREATE TRIGGER "undo_reading_UPDATE" AFTER UPDATE ON "reading" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."uuid" IS NOT NEW."uuid" OR OLD."copy" IS NOT NEW."copy" OR OLD."position" IS NOT NEW."position" OR OLD."state" IS NOT NEW."state" OR OLD."started" IS NOT NEW."started" OR OLD."finished" IS NOT NEW."finished" OR OLD."stopped" IS NOT NEW."stopped") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'reading', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'copy', OLD."copy", 'position', OLD."position", 'state', OLD."state", 'started', OLD."started", 'finished', OLD."finished", 'stopped', OLD."stopped"), json_object('id', NEW."id", 'uuid', NEW."uuid", 'copy', NEW."copy", 'position', NEW."position", 'state', NEW."state", 'started', NEW."started", 'finished', NEW."finished", 'stopped', NEW."stopped") FROM openChange;
END;
CREATE TRIGGER "undo_reading_INSERT" AFTER INSERT ON "reading" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'reading', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'uuid', NEW."uuid", 'copy', NEW."copy", 'position', NEW."position", 'state', NEW."state", 'started', NEW."started", 'finished', NEW."finished", 'stopped', NEW."stopped") FROM openChange;
END;
CREATE TRIGGER "undo_reading_DELETE" AFTER DELETE ON "reading" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'reading', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'copy', OLD."copy", 'position', OLD."position", 'state', OLD."state", 'started', OLD."started", 'finished', OLD."finished", 'stopped', OLD."stopped"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_progressEntry_UPDATE" AFTER UPDATE ON "progressEntry" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."uuid" IS NOT NEW."uuid" OR OLD."reading" IS NOT NEW."reading" OR OLD."at" IS NOT NEW."at" OR OLD."page" IS NOT NEW."page" OR OLD."percent" IS NOT NEW."percent" OR OLD."isAutomatic" IS NOT NEW."isAutomatic" OR OLD."session" IS NOT NEW."session") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'progressEntry', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'reading', OLD."reading", 'at', OLD."at", 'page', OLD."page", 'percent', OLD."percent", 'isAutomatic', OLD."isAutomatic", 'session', OLD."session"), json_object('id', NEW."id", 'uuid', NEW."uuid", 'reading', NEW."reading", 'at', NEW."at", 'page', NEW."page", 'percent', NEW."percent", 'isAutomatic', NEW."isAutomatic", 'session', NEW."session") FROM openChange;
END;
CREATE TRIGGER "undo_progressEntry_INSERT" AFTER INSERT ON "progressEntry" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'progressEntry', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'uuid', NEW."uuid", 'reading', NEW."reading", 'at', NEW."at", 'page', NEW."page", 'percent', NEW."percent", 'isAutomatic', NEW."isAutomatic", 'session', NEW."session") FROM openChange;
END;
CREATE TRIGGER "undo_progressEntry_DELETE" AFTER DELETE ON "progressEntry" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'progressEntry', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'reading', OLD."reading", 'at', OLD."at", 'page', OLD."page", 'percent', OLD."percent", 'isAutomatic', OLD."isAutomatic", 'session', OLD."session"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_session_UPDATE" AFTER UPDATE ON "session" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."uuid" IS NOT NEW."uuid" OR OLD."reading" IS NOT NEW."reading" OR OLD."start" IS NOT NEW."start" OR OLD."end" IS NOT NEW."end" OR OLD."startPage" IS NOT NEW."startPage" OR OLD."endPage" IS NOT NEW."endPage") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'session', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'reading', OLD."reading", 'start', OLD."start", 'end', OLD."end", 'startPage', OLD."startPage", 'endPage', OLD."endPage"), json_object('id', NEW."id", 'uuid', NEW."uuid", 'reading', NEW."reading", 'start', NEW."start", 'end', NEW."end", 'startPage', NEW."startPage", 'endPage', NEW."endPage") FROM openChange;
END;
CREATE TRIGGER "undo_session_INSERT" AFTER INSERT ON "session" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'session', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'uuid', NEW."uuid", 'reading', NEW."reading", 'start', NEW."start", 'end', NEW."end", 'startPage', NEW."startPage", 'endPage', NEW."endPage") FROM openChange;
END;
CREATE TRIGGER "undo_session_DELETE" AFTER DELETE ON "session" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'session', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'reading', OLD."reading", 'start', OLD."start", 'end', OLD."end", 'startPage', OLD."startPage", 'endPage', OLD."endPage"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_note_UPDATE" AFTER UPDATE ON "note" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."uuid" IS NOT NEW."uuid" OR OLD."copy" IS NOT NEW."copy" OR OLD."kind" IS NOT NEW."kind" OR OLD."text" IS NOT NEW."text" OR OLD."created" IS NOT NEW."created") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'note', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'copy', OLD."copy", 'kind', OLD."kind", 'text', OLD."text", 'created', OLD."created"), json_object('id', NEW."id", 'uuid', NEW."uuid", 'copy', NEW."copy", 'kind', NEW."kind", 'text', NEW."text", 'created', NEW."created") FROM openChange;
END;
CREATE TRIGGER "undo_note_INSERT" AFTER INSERT ON "note" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'note', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'uuid', NEW."uuid", 'copy', NEW."copy", 'kind', NEW."kind", 'text', NEW."text", 'created', NEW."created") FROM openChange;
END;
CREATE TRIGGER "undo_note_DELETE" AFTER DELETE ON "note" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'note', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'copy', OLD."copy", 'kind', OLD."kind", 'text', OLD."text", 'created', OLD."created"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_quote_UPDATE" AFTER UPDATE ON "quote" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."uuid" IS NOT NEW."uuid" OR OLD."copy" IS NOT NEW."copy" OR OLD."text" IS NOT NEW."text" OR OLD."page" IS NOT NEW."page" OR OLD."created" IS NOT NEW."created") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'quote', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'copy', OLD."copy", 'text', OLD."text", 'page', OLD."page", 'created', OLD."created"), json_object('id', NEW."id", 'uuid', NEW."uuid", 'copy', NEW."copy", 'text', NEW."text", 'page', NEW."page", 'created', NEW."created") FROM openChange;
END;
CREATE TRIGGER "undo_quote_INSERT" AFTER INSERT ON "quote" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'quote', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'uuid', NEW."uuid", 'copy', NEW."copy", 'text', NEW."text", 'page', NEW."page", 'created', NEW."created") FROM openChange;
END;
CREATE TRIGGER "undo_quote_DELETE" AFTER DELETE ON "quote" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'quote', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'copy', OLD."copy", 'text', OLD."text", 'page', OLD."page", 'created', OLD."created"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_importFlag_UPDATE" AFTER UPDATE ON "importFlag" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."copy" IS NOT NEW."copy" OR OLD."source" IS NOT NEW."source" OR OLD."what" IS NOT NEW."what" OR OLD."raw" IS NOT NEW."raw" OR OLD."at" IS NOT NEW."at") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'importFlag', json_array(OLD."id"), json_object('id', OLD."id", 'copy', OLD."copy", 'source', OLD."source", 'what', OLD."what", 'raw', OLD."raw", 'at', OLD."at"), json_object('id', NEW."id", 'copy', NEW."copy", 'source', NEW."source", 'what', NEW."what", 'raw', NEW."raw", 'at', NEW."at") FROM openChange;
END;
CREATE TRIGGER "undo_importFlag_INSERT" AFTER INSERT ON "importFlag" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'importFlag', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'copy', NEW."copy", 'source', NEW."source", 'what', NEW."what", 'raw', NEW."raw", 'at', NEW."at") FROM openChange;
END;
CREATE TRIGGER "undo_importFlag_DELETE" AFTER DELETE ON "importFlag" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'importFlag', json_array(OLD."id"), json_object('id', OLD."id", 'copy', OLD."copy", 'source', OLD."source", 'what', OLD."what", 'raw', OLD."raw", 'at', OLD."at"), NULL FROM openChange;
END;
