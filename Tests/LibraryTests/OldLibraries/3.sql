-- What version 3 of the schema has added to a library: tables, rows and triggers.
-- The library of a version consists of this file and those of all earlier versions.

PRAGMA user_version = 3;
INSERT INTO grdb_migrations VALUES ('3 search');

CREATE TABLE listing (
    copy INTEGER PRIMARY KEY,
    inTrash INTEGER NOT NULL CHECK (inTrash IN (0, 1)),
    -- The position in Copy.Status.allCases.
    status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 4),
    -- The rating in quarter stars.
    rating INTEGER,
    isOwned INTEGER NOT NULL,
    isOnWishlist INTEGER NOT NULL,
    isFavourite INTEGER NOT NULL,
    shelf INTEGER,
    language TEXT,
    added INTEGER NOT NULL,
    -- The dates of the reading that the book shows.
    started TEXT,
    finished TEXT,
    -- Row ids, separated by spaces.
    tags TEXT NOT NULL,
    authors TEXT NOT NULL,
    -- Folded words. The author's name is followed by the title, so that the books of one author are in order.
    title TEXT,
    author TEXT
) STRICT;
CREATE INDEX listingByAdded ON listing
    (inTrash, added, copy, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added,
        started, finished);
CREATE INDEX listingByStarted ON listing
    (inTrash, started, copy, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added,
        started, finished);
CREATE INDEX listingByFinished ON listing
    (inTrash, finished, copy, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added,
        started, finished);
CREATE INDEX listingByTitle ON listing
    (inTrash, title, copy, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added,
        started, finished);
CREATE INDEX listingByAuthor ON listing
    (inTrash, author, copy, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added,
        started, finished);
CREATE INDEX listingByRating ON listing
    (inTrash, rating, copy, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added,
        started, finished);
CREATE INDEX listingByShelf ON listing (shelf) WHERE shelf IS NOT NULL;
CREATE INDEX listingByLanguage ON listing (language) WHERE language IS NOT NULL;
CREATE INDEX listingByStatus ON listing (status);
CREATE INDEX listingFavourites ON listing (isFavourite) WHERE isFavourite = 1;
CREATE INDEX listingWishes ON listing (isOnWishlist) WHERE isOnWishlist = 1;
CREATE INDEX authorByFolded ON author (folded);
CREATE INDEX tagByFolded ON tag (folded);
CREATE TABLE searchStale (copy INTEGER PRIMARY KEY) STRICT;
CREATE VIRTUAL TABLE searchText USING fts5 (
    words, tokenize = 'ascii', prefix = '4 5 6 7 8 9 10', detail = none, columnsize = 0);

INSERT INTO "listing" ("copy", "inTrash", "status", "rating", "isOwned", "isOnWishlist", "isFavourite", "shelf", "language", "added", "started", "finished", "tags", "authors", "title", "author") VALUES (1, 0, 3, NULL, 1, 0, 0, 1, 'en', 1795411825662, '2026-11-23', NULL, '1 2', '1', 'the left hand of darkness', 'ursula k le guinthe left hand of darkness');
INSERT INTO "listing" ("copy", "inTrash", "status", "rating", "isOwned", "isOnWishlist", "isFavourite", "shelf", "language", "added", "started", "finished", "tags", "authors", "title", "author") VALUES (2, 0, 0, NULL, 1, 0, 0, 1, 'en', 1795411825662, NULL, NULL, '1', '2', 'crime and punishment', 'fyodor dostoyevskycrime and punishment');
INSERT INTO "listing" ("copy", "inTrash", "status", "rating", "isOwned", "isOnWishlist", "isFavourite", "shelf", "language", "added", "started", "finished", "tags", "authors", "title", "author") VALUES (3, 0, 2, NULL, 1, 0, 0, NULL, NULL, 1795411825881, '2026-11-23', '2026-11-23', '', '3', 'zeit und ahre', 'jorg muellerzeit und ahre');
INSERT INTO "listing" ("copy", "inTrash", "status", "rating", "isOwned", "isOnWishlist", "isFavourite", "shelf", "language", "added", "started", "finished", "tags", "authors", "title", "author") VALUES (4, 0, 2, 16, 0, 0, 0, NULL, NULL, 1704196800000, NULL, NULL, '', '4', 'piranesi', 'susanna clarkepiranesi');
INSERT INTO "listing" ("copy", "inTrash", "status", "rating", "isOwned", "isOnWishlist", "isFavourite", "shelf", "language", "added", "started", "finished", "tags", "authors", "title", "author") VALUES (5, 1, 0, NULL, 1, 0, 0, NULL, NULL, 1795411828064, NULL, NULL, '', '', 'weg damit', NULL);
INSERT INTO "searchText" ("rowid", "words") VALUES (1, 'sthe st sth tthe tt tth tleft tl tle thand th tha tof to tdarkness td tda n9780441478125 n0441478123 aursula au aur ak ale al aguin ag agu gscience gfiction ghainish');
INSERT INTO "searchText" ("rowid", "words") VALUES (2, 'scrime sc scr tcrime tc tcr tand ta tan tpunishment tp tpu n9780140449136 n0140449132 afyodor af afy adostoyevsky ad ado gscience gfiction');
INSERT INTO "searchText" ("rowid", "words") VALUES (3, 'szeit sz sze tzeit tz tze tund tu tun tahre ta tah ajorg aj ajo amueller am amu rthe rfootnotes rare rhalf rfun reile rmit rweile');
INSERT INTO "searchText" ("rowid", "words") VALUES (4, 'spiranesi sp spi tpiranesi tp tpi n9781635575637 n163557563x asusanna as asu aclarke ac acl rgood');
INSERT INTO "searchText" ("rowid", "words") VALUES (5, 'sweg sw swe tweg tw twe tdamit td tda');

CREATE TRIGGER "search_copy_insert" AFTER INSERT ON copy BEGIN
    INSERT INTO searchStale (copy) SELECT NEW.id WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_copy_delete" AFTER DELETE ON copy BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.id WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_copy_update" AFTER UPDATE OF id, edition, status, isOwned, isOnWishlist, isFavourite, shelf, rating, added, deleted ON copy BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.id UNION SELECT NEW.id WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_edition_update" AFTER UPDATE OF title, subtitle, series, isbn, isbnText, language ON edition
WHEN (OLD.title, OLD.subtitle, OLD.series, OLD.isbn, OLD.isbnText, OLD.language)
    IS NOT (NEW.title, NEW.subtitle, NEW.series, NEW.isbn, NEW.isbnText, NEW.language) BEGIN
    INSERT INTO searchStale (copy) SELECT id FROM copy WHERE edition = NEW.id ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_author_update" AFTER UPDATE OF name ON author BEGIN
    INSERT INTO searchStale (copy) SELECT copy.id FROM editionAuthor JOIN copy ON copy.edition = editionAuthor.edition WHERE author = NEW.id ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_tag_update" AFTER UPDATE OF displayName ON tag BEGIN
    INSERT INTO searchStale (copy) SELECT copy FROM copyTag WHERE tag = NEW.id ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_editionAuthor_insert" AFTER INSERT ON editionAuthor BEGIN
    INSERT INTO searchStale (copy) SELECT id FROM copy WHERE edition IN (NEW.edition) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_editionAuthor_delete" AFTER DELETE ON editionAuthor BEGIN
    INSERT INTO searchStale (copy) SELECT id FROM copy WHERE edition IN (OLD.edition) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_editionAuthor_update" AFTER UPDATE ON editionAuthor BEGIN
    INSERT INTO searchStale (copy) SELECT id FROM copy WHERE edition IN (OLD.edition, NEW.edition) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_copyTag_insert" AFTER INSERT ON copyTag BEGIN
    INSERT INTO searchStale (copy) SELECT NEW.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_copyTag_delete" AFTER DELETE ON copyTag BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_copyTag_update" AFTER UPDATE OF copy, tag ON copyTag BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.copy UNION SELECT NEW.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_note_insert" AFTER INSERT ON note BEGIN
    INSERT INTO searchStale (copy) SELECT NEW.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_note_delete" AFTER DELETE ON note BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_note_update" AFTER UPDATE OF copy, text ON note BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.copy UNION SELECT NEW.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_quote_insert" AFTER INSERT ON quote BEGIN
    INSERT INTO searchStale (copy) SELECT NEW.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_quote_delete" AFTER DELETE ON quote BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_quote_update" AFTER UPDATE OF copy, text ON quote BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.copy UNION SELECT NEW.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_reading_insert" AFTER INSERT ON reading BEGIN
    INSERT INTO searchStale (copy) SELECT NEW.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_reading_delete" AFTER DELETE ON reading BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.copy WHERE true ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER "search_reading_update" AFTER UPDATE OF copy, position, state, started, finished ON reading BEGIN
    INSERT INTO searchStale (copy) SELECT OLD.copy UNION SELECT NEW.copy WHERE true ON CONFLICT DO NOTHING;
END;
