-- What version 1 of the schema has added to a library: tables, rows and triggers.
-- The library of a version consists of this file and those of all earlier versions.

CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
PRAGMA application_id = 0x424B504C;
PRAGMA user_version = 1;
INSERT INTO grdb_migrations VALUES ('1 books, intake queue, changes');

CREATE TABLE edition (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
    isbn TEXT UNIQUE CHECK (
        length(isbn) = 13 AND isbn NOT GLOB '*[^0-9]*' AND (isbn GLOB '978*' OR isbn GLOB '979[^0]*')),
    isbnText TEXT,
    title TEXT CHECK (title <> ''),
    subtitle TEXT CHECK (subtitle <> ''),
    publisher TEXT CHECK (publisher <> ''),
    publishedDate TEXT CHECK (publishedDate GLOB '[0-9][0-9][0-9][0-9]*'),
    publishedDateText TEXT,
    pageCount INTEGER CHECK (pageCount > 0),
    language TEXT,
    originalLanguage TEXT,
    authorNationality TEXT,
    format TEXT CHECK (format IN ('physical', 'digital', 'audiobook')),
    series TEXT,
    seriesNumber TEXT,
    description TEXT,
    coverURL TEXT,
    previewLink TEXT,
    infoLink TEXT,
    -- The sources of the fields above as {field: source}, and the edited fields as [field]. They are never searched.
    fieldSources TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(fieldSources)),
    editedFields TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(editedFields)),
    -- The title and the subtitle without case and diacritics, for searching and sorting.
    folded TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX editionByTitle ON edition (folded);
CREATE TABLE author (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    folded TEXT NOT NULL
) STRICT;
CREATE TABLE editionAuthor (
    edition INTEGER NOT NULL REFERENCES edition (id),
    position INTEGER NOT NULL CHECK (position >= 0),
    author INTEGER NOT NULL REFERENCES author (id),
    role TEXT NOT NULL
        CHECK (role IN ('author', 'translator', 'editor', 'illustrator', 'narrator', 'other')),
    PRIMARY KEY (edition, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX editionAuthorByAuthor ON editionAuthor (author);
CREATE TABLE subject (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> '')
) STRICT;
CREATE TABLE editionSubject (
    edition INTEGER NOT NULL REFERENCES edition (id),
    position INTEGER NOT NULL CHECK (position >= 0),
    subject INTEGER NOT NULL REFERENCES subject (id),
    PRIMARY KEY (edition, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX editionSubjectBySubject ON editionSubject (subject);
CREATE TABLE identifier (
    edition INTEGER NOT NULL REFERENCES edition (id),
    scheme TEXT NOT NULL CHECK (scheme <> ''),
    position INTEGER NOT NULL CHECK (position >= 0),
    value TEXT NOT NULL CHECK (value <> ''),
    PRIMARY KEY (edition, scheme, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX identifierByValue ON identifier (scheme, value);
CREATE TABLE shelf (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    displayName TEXT NOT NULL CHECK (displayName <> '')
) STRICT;
CREATE TABLE copy (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
    edition INTEGER NOT NULL REFERENCES edition (id),
    status TEXT NOT NULL DEFAULT 'toRead' CHECK (status IN ('toRead', 'reading', 'read', 'onHold', 'dnf')),
    isOwned INTEGER NOT NULL DEFAULT 1 CHECK (isOwned IN (0, 1)),
    isOnWishlist INTEGER NOT NULL DEFAULT 0 CHECK (isOnWishlist IN (0, 1)),
    isFavourite INTEGER NOT NULL DEFAULT 0 CHECK (isFavourite IN (0, 1)),
    shelf INTEGER REFERENCES shelf (id),
    -- The rating in quarter stars.
    rating INTEGER CHECK (rating BETWEEN 1 AND 20),
    added INTEGER NOT NULL,
    deleted INTEGER,
    isPublic INTEGER NOT NULL DEFAULT 0 CHECK (isPublic IN (0, 1)),
    recommendedBy TEXT,
    wouldRecommend INTEGER CHECK (wouldRecommend IN (0, 1)),
    -- The goal in pages.
    dailyGoal INTEGER CHECK (dailyGoal > 0),
    countsForCulturalGoal INTEGER NOT NULL DEFAULT 0 CHECK (countsForCulturalGoal IN (0, 1)),
    culturalGoalCategory TEXT
) STRICT;
CREATE INDEX copyByEdition ON copy (edition);
CREATE INDEX copyByShelf ON copy (shelf) WHERE shelf IS NOT NULL;
CREATE INDEX copyByAdded ON copy (added, id) WHERE deleted IS NULL;
CREATE INDEX copyByDeleted ON copy (deleted) WHERE deleted IS NOT NULL;
CREATE TABLE tag (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE CHECK (name <> ''),
    displayName TEXT NOT NULL CHECK (displayName <> ''),
    folded TEXT NOT NULL
) STRICT;
CREATE TABLE copyTag (
    copy INTEGER NOT NULL REFERENCES copy (id),
    tag INTEGER NOT NULL REFERENCES tag (id),
    PRIMARY KEY (copy, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX copyTagByTag ON copyTag (tag);
CREATE TABLE request (
    id TEXT PRIMARY KEY CHECK (id <> ''),
    copy INTEGER NOT NULL REFERENCES copy (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX requestByCopy ON request (copy);
CREATE TABLE setting (
    name TEXT PRIMARY KEY CHECK (name <> ''),
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE cover (
    edition INTEGER PRIMARY KEY REFERENCES edition (id) ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('fetched', 'person', 'missing', 'evicted')),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    stored INTEGER NOT NULL,
    retryAt INTEGER
) STRICT;
CREATE INDEX coverByStored ON cover (stored) WHERE state = 'fetched';
CREATE TABLE intakeItem (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
    isbn TEXT NOT NULL CHECK (length(isbn) = 13),
    raw TEXT NOT NULL,
    addon TEXT,
    origin TEXT NOT NULL,
    image TEXT,
    station TEXT NOT NULL,
    captured INTEGER NOT NULL,
    -- The preset of a batch and the record of a source, as whole documents until a person answers.
    preset TEXT NOT NULL CHECK (json_valid(preset)),
    metadata TEXT CHECK (metadata IS NULL OR json_valid(metadata)),
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'confirmed', 'dismissed')),
    outcome TEXT CHECK (outcome IN ('found', 'notFound', 'temporary', 'blocked', 'badData')),
    reason TEXT,
    source TEXT,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    -- The time of the next lookup; NULL if none is needed.
    nextLookup INTEGER,
    leaseHolder TEXT,
    leaseUntil INTEGER,
    CHECK ((leaseHolder IS NULL) = (leaseUntil IS NULL))
) STRICT;
CREATE INDEX intakeItemByState ON intakeItem (state, captured);
CREATE INDEX intakeItemDue ON intakeItem (nextLookup) WHERE state = 'waiting' AND nextLookup IS NOT NULL;
CREATE TABLE intakeThumbnail (
    item INTEGER PRIMARY KEY REFERENCES intakeItem (id) ON DELETE CASCADE,
    jpeg BLOB NOT NULL
) STRICT;
CREATE TABLE answer (
    isbn TEXT PRIMARY KEY CHECK (length(isbn) = 13),
    outcome TEXT NOT NULL CHECK (outcome IN ('found', 'notFound')),
    at INTEGER NOT NULL,
    -- The whole answer of the lookup.
    content TEXT NOT NULL CHECK (json_valid(content))
) STRICT, WITHOUT ROWID;
CREATE TABLE sourceState (
    source TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (json_valid(state))
) STRICT, WITHOUT ROWID;
CREATE TABLE change (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    station TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('save', 'edit', 'trash', 'restore', 'import', 'undo')),
    summary TEXT NOT NULL,
    undone INTEGER
) STRICT;
CREATE TABLE changeRow (
    id INTEGER PRIMARY KEY,
    change INTEGER NOT NULL REFERENCES change (id) ON DELETE CASCADE,
    tableName TEXT NOT NULL,
    key TEXT NOT NULL,
    before TEXT CHECK (before IS NULL OR json_valid(before)),
    after TEXT CHECK (after IS NULL OR json_valid(after)),
    CHECK (before IS NOT NULL OR after IS NOT NULL)
) STRICT;
CREATE INDEX changeRowByChange ON changeRow (change);
CREATE INDEX changeRowByKey ON changeRow (tableName, key);
CREATE TABLE openChange (change INTEGER NOT NULL REFERENCES change (id)) STRICT;
CREATE TABLE chore (name TEXT PRIMARY KEY, done INTEGER NOT NULL) STRICT, WITHOUT ROWID;

INSERT INTO "edition" ("id", "uuid", "isbn", "isbnText", "title", "subtitle", "publisher", "publishedDate", "publishedDateText", "pageCount", "language", "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "coverURL", "previewLink", "infoLink", "fieldSources", "editedFields", "folded") VALUES (1, '01a206e2-53fe-70ea-bc2e-e367379283f9', '9780441478125', '9780441478125', 'The Left Hand of Darkness', NULL, 'Ace Books', '1987', '1987', 304, 'en', NULL, NULL, NULL, NULL, NULL, NULL, 'https://covers.openlibrary.org/b/id/900000001-L.jpg', NULL, NULL, '{"authors":"offlineIndex","coverURL":"offlineIndex","identifiers":"offlineIndex","language":"offlineIndex","pageCount":"offlineIndex","publishedDate":"offlineIndex","publisher":"offlineIndex","title":"offlineIndex"}', '[]', 'the left hand of darkness');
INSERT INTO "edition" ("id", "uuid", "isbn", "isbnText", "title", "subtitle", "publisher", "publishedDate", "publishedDateText", "pageCount", "language", "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "coverURL", "previewLink", "infoLink", "fieldSources", "editedFields", "folded") VALUES (2, '01a206e2-5402-704e-b19e-57d2c6de6050', '9780140449136', '9780140449136', 'Crime and Punishment', NULL, 'Penguin Classics', '2002-12-31', 'December 31, 2002', 671, 'en', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"authors":"offlineIndex","identifiers":"offlineIndex","language":"offlineIndex","pageCount":"offlineIndex","publishedDate":"offlineIndex","publisher":"offlineIndex","title":"offlineIndex"}', '[]', 'crime and punishment');
INSERT INTO "edition" ("id", "uuid", "isbn", "isbnText", "title", "subtitle", "publisher", "publishedDate", "publishedDateText", "pageCount", "language", "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "coverURL", "previewLink", "infoLink", "fieldSources", "editedFields", "folded") VALUES (3, '01a206e2-54ed-737e-9732-15e00ed0e119', NULL, NULL, 'Zeit und Ähre', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"authors":"person","title":"person"}', '["authors","title"]', 'zeit und ahre');
INSERT INTO "edition" ("id", "uuid", "isbn", "isbnText", "title", "subtitle", "publisher", "publishedDate", "publishedDateText", "pageCount", "language", "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "coverURL", "previewLink", "infoLink", "fieldSources", "editedFields", "folded") VALUES (4, '01a206e2-5c92-76a5-94b1-ba5d585ebc5d', '9781635575637', '9781635575637', 'Piranesi', NULL, NULL, NULL, NULL, 245, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}', '[]', 'piranesi');
INSERT INTO "edition" ("id", "uuid", "isbn", "isbnText", "title", "subtitle", "publisher", "publishedDate", "publishedDateText", "pageCount", "language", "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "coverURL", "previewLink", "infoLink", "fieldSources", "editedFields", "folded") VALUES (5, '01a206e2-5d6d-78ed-b282-d36f70c44fda', NULL, NULL, 'Weg damit', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"title":"person"}', '["title"]', 'weg damit');
INSERT INTO "author" ("id", "name", "folded") VALUES (1, 'Ursula K. Le Guin', 'ursula k. le guin');
INSERT INTO "author" ("id", "name", "folded") VALUES (2, 'Fyodor Dostoyevsky', 'fyodor dostoyevsky');
INSERT INTO "author" ("id", "name", "folded") VALUES (3, 'Jörg Mueller', 'jorg mueller');
INSERT INTO "author" ("id", "name", "folded") VALUES (4, 'Susanna Clarke', 'susanna clarke');
INSERT INTO "editionAuthor" ("edition", "position", "author", "role") VALUES (1, 0, 1, 'author');
INSERT INTO "editionAuthor" ("edition", "position", "author", "role") VALUES (2, 0, 2, 'author');
INSERT INTO "editionAuthor" ("edition", "position", "author", "role") VALUES (3, 0, 3, 'author');
INSERT INTO "editionAuthor" ("edition", "position", "author", "role") VALUES (4, 0, 4, 'author');
INSERT INTO "subject" ("id", "name") VALUES (1, 'Science fiction');
INSERT INTO "editionSubject" ("edition", "position", "subject") VALUES (1, 0, 1);
INSERT INTO "identifier" ("edition", "scheme", "position", "value") VALUES (1, 'openlibrary', 0, 'OL900000001M');
INSERT INTO "identifier" ("edition", "scheme", "position", "value") VALUES (2, 'openlibrary', 0, 'OL900000006M');
INSERT INTO "identifier" ("edition", "scheme", "position", "value") VALUES (4, 'goodreads', 0, '7');
INSERT INTO "shelf" ("id", "name", "displayName") VALUES (1, 'living room', 'Living room');
INSERT INTO "copy" ("id", "uuid", "edition", "status", "isOwned", "isOnWishlist", "isFavourite", "shelf", "rating", "added", "deleted", "isPublic", "recommendedBy", "wouldRecommend", "dailyGoal", "countsForCulturalGoal", "culturalGoalCategory") VALUES (1, '01a206e2-5400-784e-b846-fe8d536de02b', 1, 'onHold', 1, 0, 0, 1, NULL, 1795411825662, NULL, 0, NULL, NULL, NULL, 0, NULL);
INSERT INTO "copy" ("id", "uuid", "edition", "status", "isOwned", "isOnWishlist", "isFavourite", "shelf", "rating", "added", "deleted", "isPublic", "recommendedBy", "wouldRecommend", "dailyGoal", "countsForCulturalGoal", "culturalGoalCategory") VALUES (2, '01a206e2-5402-7fd9-bcfe-eb82a2e6a147', 2, 'toRead', 1, 0, 0, 1, NULL, 1795411825662, NULL, 0, NULL, NULL, NULL, 0, NULL);
INSERT INTO "copy" ("id", "uuid", "edition", "status", "isOwned", "isOnWishlist", "isFavourite", "shelf", "rating", "added", "deleted", "isPublic", "recommendedBy", "wouldRecommend", "dailyGoal", "countsForCulturalGoal", "culturalGoalCategory") VALUES (3, '01a206e2-54ef-742d-b35a-ec58e92b75c9', 3, 'read', 1, 0, 0, NULL, NULL, 1795411825881, NULL, 0, NULL, NULL, NULL, 0, NULL);
INSERT INTO "copy" ("id", "uuid", "edition", "status", "isOwned", "isOnWishlist", "isFavourite", "shelf", "rating", "added", "deleted", "isPublic", "recommendedBy", "wouldRecommend", "dailyGoal", "countsForCulturalGoal", "culturalGoalCategory") VALUES (4, '01a206e2-5c88-78a3-b14a-2ac441ed9cd2', 4, 'read', 0, 0, 0, NULL, 16, 1704196800000, NULL, 0, NULL, NULL, NULL, 0, NULL);
INSERT INTO "copy" ("id", "uuid", "edition", "status", "isOwned", "isOnWishlist", "isFavourite", "shelf", "rating", "added", "deleted", "isPublic", "recommendedBy", "wouldRecommend", "dailyGoal", "countsForCulturalGoal", "culturalGoalCategory") VALUES (5, '01a206e2-5d6e-70af-b725-f66d0485fc2f', 5, 'toRead', 1, 0, 0, NULL, NULL, 1795411828064, 1795411828214, 0, NULL, NULL, NULL, 0, NULL);
INSERT INTO "tag" ("id", "name", "displayName", "folded") VALUES (1, 'science fiction', 'science fiction', 'science fiction');
INSERT INTO "tag" ("id", "name", "displayName", "folded") VALUES (2, 'hainish', 'hainish', 'hainish');
INSERT INTO "copyTag" ("copy", "tag") VALUES (1, 1);
INSERT INTO "copyTag" ("copy", "tag") VALUES (1, 2);
INSERT INTO "copyTag" ("copy", "tag") VALUES (2, 1);
INSERT INTO "request" ("id", "copy") VALUES ('01a206e2-53ed-72f5-959e-1feecb9f4af6', 2);
INSERT INTO "request" ("id", "copy") VALUES ('01a206e2-53ed-76ba-9816-2a994f8cbdc9', 1);
INSERT INTO "request" ("id", "copy") VALUES ('01a206e2-54da-7a22-a9f7-e4548f09a13d', 3);
INSERT INTO "request" ("id", "copy") VALUES ('01a206e2-5d61-75df-8bd2-847e7d1a34ba', 5);
INSERT INTO "request" ("id", "copy") VALUES ('goodreads:7', 4);
INSERT INTO "setting" ("name", "value") VALUES ('yearlyGoal', '50');
INSERT INTO "cover" ("edition", "state", "bytes", "stored", "retryAt") VALUES (1, 'missing', 0, 1795412000000, 1795498400000);
INSERT INTO "intakeItem" ("id", "uuid", "isbn", "raw", "addon", "origin", "image", "station", "captured", "preset", "metadata", "state", "outcome", "reason", "source", "attempts", "nextLookup", "leaseHolder", "leaseUntil") VALUES (1, '01a206e2-53ed-76ba-9816-2a994f8cbdc9', '9780441478125', '9780441478125', NULL, 'typed', NULL, 'kitchen', 1795411825645, '{"isWishlist":false,"shelf":"Living room","status":"toRead","tags":["sf"]}', '{"authors":[{"name":"Ursula K. Le Guin","role":"author"}],"coverURL":"https://covers.openlibrary.org/b/id/900000001-L.jpg","identifiers":{"openlibrary":["OL900000001M"]},"isWeakMatch":false,"language":"en","pageCount":304,"publishedDate":"1987","publishedDateText":"1987","publisher":"Ace Books","sources":{"authors":"offlineIndex","coverURL":"offlineIndex","identifiers":"offlineIndex","language":"offlineIndex","pageCount":"offlineIndex","publishedDate":"offlineIndex","publisher":"offlineIndex","title":"offlineIndex"},"subjects":[],"title":"The Left Hand of Darkness"}', 'confirmed', 'found', NULL, 'offlineIndex', 0, NULL, NULL, NULL);
INSERT INTO "intakeItem" ("id", "uuid", "isbn", "raw", "addon", "origin", "image", "station", "captured", "preset", "metadata", "state", "outcome", "reason", "source", "attempts", "nextLookup", "leaseHolder", "leaseUntil") VALUES (2, '01a206e2-53ed-72f5-959e-1feecb9f4af6', '9780140449136', '9780140449136', NULL, 'typed', NULL, 'kitchen', 1795411825645, '{"isWishlist":false,"shelf":"Living room","status":"toRead","tags":["sf"]}', '{"authors":[{"name":"Fyodor Dostoyevsky","role":"author"}],"identifiers":{"openlibrary":["OL900000006M"]},"isWeakMatch":false,"language":"en","pageCount":671,"publishedDate":"2002-12-31","publishedDateText":"December 31, 2002","publisher":"Penguin Classics","sources":{"authors":"offlineIndex","identifiers":"offlineIndex","language":"offlineIndex","pageCount":"offlineIndex","publishedDate":"offlineIndex","publisher":"offlineIndex","title":"offlineIndex"},"subjects":[],"title":"Crime and Punishment"}', 'confirmed', 'found', NULL, 'offlineIndex', 0, NULL, NULL, NULL);
INSERT INTO "intakeItem" ("id", "uuid", "isbn", "raw", "addon", "origin", "image", "station", "captured", "preset", "metadata", "state", "outcome", "reason", "source", "attempts", "nextLookup", "leaseHolder", "leaseUntil") VALUES (3, '01a206e2-6024-7452-bf79-1c54a63a0ea2', '9780261102385', '9780261102385', NULL, 'typed', NULL, 'kitchen', 1795411828770, '{"isWishlist":false,"status":"toRead","tags":[]}', NULL, 'waiting', 'temporary', 'no online source was queried (Open Library: offline mode is on; Google Books: offline mode is on)', NULL, 1, 1795411858785, NULL, NULL);
INSERT INTO "intakeItem" ("id", "uuid", "isbn", "raw", "addon", "origin", "image", "station", "captured", "preset", "metadata", "state", "outcome", "reason", "source", "attempts", "nextLookup", "leaseHolder", "leaseUntil") VALUES (4, '01a206e2-60c1-7e78-89c4-5c1aa5114d5a', '9780345391803', '9780345391803', NULL, 'typed', NULL, 'kitchen', 1795411828929, '{"isWishlist":false,"status":"toRead","tags":[]}', '{"authors":[{"name":"Douglas Adams","role":"author"}],"coverURL":"https://covers.openlibrary.org/b/id/900000017-L.jpg","identifiers":{"openlibrary":["OL900000017M"]},"isWeakMatch":false,"language":"en","publishedDate":"1995","publishedDateText":"1995","publisher":"Del Rey","sources":{"authors":"offlineIndex","coverURL":"offlineIndex","identifiers":"offlineIndex","language":"offlineIndex","publishedDate":"offlineIndex","publisher":"offlineIndex","title":"offlineIndex"},"subjects":[],"title":"The Hitchhiker''s Guide to the Galaxy"}', 'waiting', 'found', NULL, 'offlineIndex', 0, NULL, NULL, NULL);
INSERT INTO "intakeThumbnail" ("item", "jpeg") VALUES (3, X'FFD8FFD9');
INSERT INTO "answer" ("isbn", "outcome", "at", "content") VALUES ('9780261102385', 'notFound', 1795412000000, '{}');
INSERT INTO "sourceState" ("source", "state") VALUES ('openLibrary', '{}');
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (1, '01a206e2-53fe-72aa-b196-e66a28c1b3be', 1795411825662, 'kitchen', 'save', 'saved "The Left Hand of Darkness" and 1 more with --yes', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (2, '01a206e2-54ec-76b4-bdd9-7fc5121ca3e4', 1795411825881, 'kitchen', 'save', 'saved "Zeit und Ähre"', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (3, '01a206e2-560e-714f-9590-f7cd2d7ffe1e', 1795411826191, 'kitchen', 'edit', 'edited "Zeit und Ähre"', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (6, '01a206e2-57ed-7bf9-bbf7-cb570034ea15', 1795411826663, 'kitchen', 'edit', '"Zeit und Ähre": Read', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (9, '01a206e2-5a02-766a-ae3a-c873e71ee715', 1795411827202, 'kitchen', 'edit', 'edited "The Left Hand of Darkness"', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (10, '01a206e2-5a9a-7b8b-972b-fbeffb03642f', 1795411827348, 'kitchen', 'edit', '"The Left Hand of Darkness": On Hold', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (11, '01a206e2-5b01-7d2c-915a-5d607bc9e604', 1795411827457, 'kitchen', 'edit', 'renamed the tag "sf" to "science fiction" on 2 books', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (12, '01a206e2-5b74-740e-bbd6-d1ede9449fc6', 1795411827572, 'kitchen', 'edit', 'renamed the author "Jörg Müller" to "Jörg Mueller" on 1 book', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (13, '01a206e2-5c04-7154-ad0c-756e523ccdc3', 1795411827715, 'kitchen', 'edit', 'changed the setting yearlyGoal', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (14, '01a206e2-5c91-74e3-ae9e-3e1a021dd72a', 1795411827848, 'kitchen', 'import', 'imported 1 book from gr.csv', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (15, '01a206e2-5d6c-780e-a0a7-ea4a44d275a4', 1795411828064, 'kitchen', 'save', 'saved "Weg damit"', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (16, '01a206e2-5df6-7358-9f89-8576c3f94a56', 1795411828214, 'kitchen', 'trash', 'moved to the trash: "Weg damit"', NULL);
INSERT INTO "change" ("id", "uuid", "at", "station", "kind", "summary", "undone") VALUES (17, '01a206e2-5f0c-74c7-8a2d-c428210955d2', 1795411828449, 'kitchen', 'save', 'saved "Undone"', 1795411828622);
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (1, 1, 'edition', '[1]', NULL, '{"id":1,"uuid":"01a206e2-53fe-70ea-bc2e-e367379283f9","isbn":"9780441478125","isbnText":"9780441478125","title":"The Left Hand of Darkness","subtitle":null,"publisher":"Ace Books","publishedDate":"1987","publishedDateText":"1987","pageCount":304,"language":"en","originalLanguage":null,"authorNationality":null,"format":null,"series":null,"seriesNumber":null,"description":null,"coverURL":"https://covers.openlibrary.org/b/id/900000001-L.jpg","previewLink":null,"infoLink":null,"fieldSources":"{\"authors\":\"offlineIndex\",\"coverURL\":\"offlineIndex\",\"identifiers\":\"offlineIndex\",\"language\":\"offlineIndex\",\"pageCount\":\"offlineIndex\",\"publishedDate\":\"offlineIndex\",\"publisher\":\"offlineIndex\",\"title\":\"offlineIndex\"}","editedFields":"[]","folded":"the left hand of darkness"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (2, 1, 'author', '[1]', NULL, '{"id":1,"name":"Ursula K. Le Guin","folded":"ursula k. le guin"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (3, 1, 'editionAuthor', '[1,0]', NULL, '{"edition":1,"position":0,"author":1,"role":"author"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (4, 1, 'identifier', '[1,"openlibrary",0]', NULL, '{"edition":1,"scheme":"openlibrary","position":0,"value":"OL900000001M"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (5, 1, 'shelf', '[1]', NULL, '{"id":1,"name":"living room","displayName":"Living room"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (6, 1, 'copy', '[1]', NULL, '{"id":1,"uuid":"01a206e2-5400-784e-b846-fe8d536de02b","edition":1,"status":"toRead","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":1,"rating":null,"added":1795411825662,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (7, 1, 'tag', '[1]', NULL, '{"id":1,"name":"sf","displayName":"sf","folded":"sf"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (8, 1, 'copyTag', '[1,1]', NULL, '{"copy":1,"tag":1}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (9, 1, 'request', '["01a206e2-53ed-76ba-9816-2a994f8cbdc9"]', NULL, '{"id":"01a206e2-53ed-76ba-9816-2a994f8cbdc9","copy":1}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (10, 1, 'intakeItem', '[1]', '{"id":1,"state":"waiting"}', '{"id":1,"state":"confirmed"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (11, 1, 'edition', '[2]', NULL, '{"id":2,"uuid":"01a206e2-5402-704e-b19e-57d2c6de6050","isbn":"9780140449136","isbnText":"9780140449136","title":"Crime and Punishment","subtitle":null,"publisher":"Penguin Classics","publishedDate":"2002-12-31","publishedDateText":"December 31, 2002","pageCount":671,"language":"en","originalLanguage":null,"authorNationality":null,"format":null,"series":null,"seriesNumber":null,"description":null,"coverURL":null,"previewLink":null,"infoLink":null,"fieldSources":"{\"authors\":\"offlineIndex\",\"identifiers\":\"offlineIndex\",\"language\":\"offlineIndex\",\"pageCount\":\"offlineIndex\",\"publishedDate\":\"offlineIndex\",\"publisher\":\"offlineIndex\",\"title\":\"offlineIndex\"}","editedFields":"[]","folded":"crime and punishment"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (12, 1, 'author', '[2]', NULL, '{"id":2,"name":"Fyodor Dostoyevsky","folded":"fyodor dostoyevsky"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (13, 1, 'editionAuthor', '[2,0]', NULL, '{"edition":2,"position":0,"author":2,"role":"author"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (14, 1, 'identifier', '[2,"openlibrary",0]', NULL, '{"edition":2,"scheme":"openlibrary","position":0,"value":"OL900000006M"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (15, 1, 'copy', '[2]', NULL, '{"id":2,"uuid":"01a206e2-5402-7fd9-bcfe-eb82a2e6a147","edition":2,"status":"toRead","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":1,"rating":null,"added":1795411825662,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (16, 1, 'copyTag', '[2,1]', NULL, '{"copy":2,"tag":1}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (17, 1, 'request', '["01a206e2-53ed-72f5-959e-1feecb9f4af6"]', NULL, '{"id":"01a206e2-53ed-72f5-959e-1feecb9f4af6","copy":2}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (18, 1, 'intakeItem', '[2]', '{"id":2,"state":"waiting"}', '{"id":2,"state":"confirmed"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (19, 2, 'edition', '[3]', NULL, '{"id":3,"uuid":"01a206e2-54ed-737e-9732-15e00ed0e119","isbn":null,"isbnText":null,"title":"Zeit und Ähre","subtitle":null,"publisher":null,"publishedDate":null,"publishedDateText":null,"pageCount":null,"language":null,"originalLanguage":null,"authorNationality":null,"format":null,"series":null,"seriesNumber":null,"description":null,"coverURL":null,"previewLink":null,"infoLink":null,"fieldSources":"{\"authors\":\"person\",\"title\":\"person\"}","editedFields":"[\"authors\",\"title\"]","folded":"zeit und ahre"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (20, 2, 'author', '[3]', NULL, '{"id":3,"name":"Jörg Müller","folded":"jorg muller"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (21, 2, 'editionAuthor', '[3,0]', NULL, '{"edition":3,"position":0,"author":3,"role":"author"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (22, 2, 'copy', '[3]', NULL, '{"id":3,"uuid":"01a206e2-54ef-742d-b35a-ec58e92b75c9","edition":3,"status":"toRead","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":null,"added":1795411825881,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (23, 2, 'request', '["01a206e2-54da-7a22-a9f7-e4548f09a13d"]', NULL, '{"id":"01a206e2-54da-7a22-a9f7-e4548f09a13d","copy":3}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (25, 3, 'copy', '[3]', '{"id":3,"uuid":"01a206e2-54ef-742d-b35a-ec58e92b75c9","edition":3,"status":"toRead","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":null,"added":1795411825881,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}', '{"id":3,"uuid":"01a206e2-54ef-742d-b35a-ec58e92b75c9","edition":3,"status":"reading","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":null,"added":1795411825881,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (31, 6, 'copy', '[3]', '{"id":3,"uuid":"01a206e2-54ef-742d-b35a-ec58e92b75c9","edition":3,"status":"reading","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":null,"added":1795411825881,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}', '{"id":3,"uuid":"01a206e2-54ef-742d-b35a-ec58e92b75c9","edition":3,"status":"read","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":null,"added":1795411825881,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (35, 9, 'tag', '[2]', NULL, '{"id":2,"name":"hainish","displayName":"hainish","folded":"hainish"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (36, 9, 'copyTag', '[1,2]', NULL, '{"copy":1,"tag":2}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (38, 9, 'copy', '[1]', '{"id":1,"uuid":"01a206e2-5400-784e-b846-fe8d536de02b","edition":1,"status":"toRead","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":1,"rating":null,"added":1795411825662,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}', '{"id":1,"uuid":"01a206e2-5400-784e-b846-fe8d536de02b","edition":1,"status":"reading","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":1,"rating":null,"added":1795411825662,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (40, 10, 'copy', '[1]', '{"id":1,"uuid":"01a206e2-5400-784e-b846-fe8d536de02b","edition":1,"status":"reading","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":1,"rating":null,"added":1795411825662,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}', '{"id":1,"uuid":"01a206e2-5400-784e-b846-fe8d536de02b","edition":1,"status":"onHold","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":1,"rating":null,"added":1795411825662,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (41, 11, 'tag', '[1]', '{"id":1,"name":"sf","displayName":"sf","folded":"sf"}', '{"id":1,"name":"science fiction","displayName":"science fiction","folded":"science fiction"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (42, 12, 'author', '[3]', '{"id":3,"name":"Jörg Müller","folded":"jorg muller"}', '{"id":3,"name":"Jörg Mueller","folded":"jorg mueller"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (43, 13, 'setting', '["yearlyGoal"]', NULL, '{"name":"yearlyGoal","value":"50"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (44, 14, 'edition', '[4]', NULL, '{"id":4,"uuid":"01a206e2-5c92-76a5-94b1-ba5d585ebc5d","isbn":"9781635575637","isbnText":"9781635575637","title":"Piranesi","subtitle":null,"publisher":null,"publishedDate":null,"publishedDateText":null,"pageCount":245,"language":null,"originalLanguage":null,"authorNationality":null,"format":null,"series":null,"seriesNumber":null,"description":null,"coverURL":null,"previewLink":null,"infoLink":null,"fieldSources":"{}","editedFields":"[]","folded":"piranesi"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (45, 14, 'author', '[4]', NULL, '{"id":4,"name":"Susanna Clarke","folded":"susanna clarke"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (46, 14, 'editionAuthor', '[4,0]', NULL, '{"edition":4,"position":0,"author":4,"role":"author"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (47, 14, 'identifier', '[4,"goodreads",0]', NULL, '{"edition":4,"scheme":"goodreads","position":0,"value":"7"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (48, 14, 'copy', '[4]', NULL, '{"id":4,"uuid":"01a206e2-5c88-78a3-b14a-2ac441ed9cd2","edition":4,"status":"read","isOwned":0,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":16,"added":1704196800000,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (52, 14, 'request', '["goodreads:7"]', NULL, '{"id":"goodreads:7","copy":4}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (53, 15, 'edition', '[5]', NULL, '{"id":5,"uuid":"01a206e2-5d6d-78ed-b282-d36f70c44fda","isbn":null,"isbnText":null,"title":"Weg damit","subtitle":null,"publisher":null,"publishedDate":null,"publishedDateText":null,"pageCount":null,"language":null,"originalLanguage":null,"authorNationality":null,"format":null,"series":null,"seriesNumber":null,"description":null,"coverURL":null,"previewLink":null,"infoLink":null,"fieldSources":"{\"title\":\"person\"}","editedFields":"[\"title\"]","folded":"weg damit"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (54, 15, 'copy', '[5]', NULL, '{"id":5,"uuid":"01a206e2-5d6e-70af-b725-f66d0485fc2f","edition":5,"status":"toRead","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":null,"added":1795411828064,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (55, 15, 'request', '["01a206e2-5d61-75df-8bd2-847e7d1a34ba"]', NULL, '{"id":"01a206e2-5d61-75df-8bd2-847e7d1a34ba","copy":5}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (56, 16, 'copy', '[5]', '{"id":5,"uuid":"01a206e2-5d6e-70af-b725-f66d0485fc2f","edition":5,"status":"toRead","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":null,"added":1795411828064,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}', '{"id":5,"uuid":"01a206e2-5d6e-70af-b725-f66d0485fc2f","edition":5,"status":"toRead","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":null,"added":1795411828064,"deleted":1795411828214,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (57, 17, 'edition', '[6]', NULL, '{"id":6,"uuid":"01a206e2-5f0d-795b-aa09-82c85bf8ac25","isbn":null,"isbnText":null,"title":"Undone","subtitle":null,"publisher":null,"publishedDate":null,"publishedDateText":null,"pageCount":null,"language":null,"originalLanguage":null,"authorNationality":null,"format":null,"series":null,"seriesNumber":null,"description":null,"coverURL":null,"previewLink":null,"infoLink":null,"fieldSources":"{\"title\":\"person\"}","editedFields":"[\"title\"]","folded":"undone"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (58, 17, 'copy', '[6]', NULL, '{"id":6,"uuid":"01a206e2-5f0f-7e7f-a30b-79bad789a68c","edition":6,"status":"toRead","isOwned":1,"isOnWishlist":0,"isFavourite":0,"shelf":null,"rating":null,"added":1795411828449,"deleted":null,"isPublic":0,"recommendedBy":null,"wouldRecommend":null,"dailyGoal":null,"countsForCulturalGoal":0,"culturalGoalCategory":null}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (59, 17, 'request', '["01a206e2-5ee2-753f-85db-ce5c797a8c7a"]', NULL, '{"id":"01a206e2-5ee2-753f-85db-ce5c797a8c7a","copy":6}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (900001, 1, 'subject', '[1]', NULL, '{"id":1,"name":"Science fiction"}');
INSERT INTO "changeRow" ("id", "change", "tableName", "key", "before", "after") VALUES (900002, 1, 'editionSubject', '[1,0]', NULL, '{"edition":1,"position":0,"subject":1}');
INSERT INTO "chore" ("name", "done") VALUES ('backup', 20780);
INSERT INTO "chore" ("name", "done") VALUES ('purge', 20780);

CREATE TRIGGER "undo_edition_UPDATE" AFTER UPDATE ON "edition" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."uuid" IS NOT NEW."uuid" OR OLD."isbn" IS NOT NEW."isbn" OR OLD."isbnText" IS NOT NEW."isbnText" OR OLD."title" IS NOT NEW."title" OR OLD."subtitle" IS NOT NEW."subtitle" OR OLD."publisher" IS NOT NEW."publisher" OR OLD."publishedDate" IS NOT NEW."publishedDate" OR OLD."publishedDateText" IS NOT NEW."publishedDateText" OR OLD."pageCount" IS NOT NEW."pageCount" OR OLD."language" IS NOT NEW."language" OR OLD."originalLanguage" IS NOT NEW."originalLanguage" OR OLD."authorNationality" IS NOT NEW."authorNationality" OR OLD."format" IS NOT NEW."format" OR OLD."series" IS NOT NEW."series" OR OLD."seriesNumber" IS NOT NEW."seriesNumber" OR OLD."description" IS NOT NEW."description" OR OLD."coverURL" IS NOT NEW."coverURL" OR OLD."previewLink" IS NOT NEW."previewLink" OR OLD."infoLink" IS NOT NEW."infoLink" OR OLD."fieldSources" IS NOT NEW."fieldSources" OR OLD."editedFields" IS NOT NEW."editedFields" OR OLD."folded" IS NOT NEW."folded") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'edition', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'isbn', OLD."isbn", 'isbnText', OLD."isbnText", 'title', OLD."title", 'subtitle', OLD."subtitle", 'publisher', OLD."publisher", 'publishedDate', OLD."publishedDate", 'publishedDateText', OLD."publishedDateText", 'pageCount', OLD."pageCount", 'language', OLD."language", 'originalLanguage', OLD."originalLanguage", 'authorNationality', OLD."authorNationality", 'format', OLD."format", 'series', OLD."series", 'seriesNumber', OLD."seriesNumber", 'description', OLD."description", 'coverURL', OLD."coverURL", 'previewLink', OLD."previewLink", 'infoLink', OLD."infoLink", 'fieldSources', OLD."fieldSources", 'editedFields', OLD."editedFields", 'folded', OLD."folded"), json_object('id', NEW."id", 'uuid', NEW."uuid", 'isbn', NEW."isbn", 'isbnText', NEW."isbnText", 'title', NEW."title", 'subtitle', NEW."subtitle", 'publisher', NEW."publisher", 'publishedDate', NEW."publishedDate", 'publishedDateText', NEW."publishedDateText", 'pageCount', NEW."pageCount", 'language', NEW."language", 'originalLanguage', NEW."originalLanguage", 'authorNationality', NEW."authorNationality", 'format', NEW."format", 'series', NEW."series", 'seriesNumber', NEW."seriesNumber", 'description', NEW."description", 'coverURL', NEW."coverURL", 'previewLink', NEW."previewLink", 'infoLink', NEW."infoLink", 'fieldSources', NEW."fieldSources", 'editedFields', NEW."editedFields", 'folded', NEW."folded") FROM openChange;
END;
CREATE TRIGGER "undo_edition_INSERT" AFTER INSERT ON "edition" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'edition', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'uuid', NEW."uuid", 'isbn', NEW."isbn", 'isbnText', NEW."isbnText", 'title', NEW."title", 'subtitle', NEW."subtitle", 'publisher', NEW."publisher", 'publishedDate', NEW."publishedDate", 'publishedDateText', NEW."publishedDateText", 'pageCount', NEW."pageCount", 'language', NEW."language", 'originalLanguage', NEW."originalLanguage", 'authorNationality', NEW."authorNationality", 'format', NEW."format", 'series', NEW."series", 'seriesNumber', NEW."seriesNumber", 'description', NEW."description", 'coverURL', NEW."coverURL", 'previewLink', NEW."previewLink", 'infoLink', NEW."infoLink", 'fieldSources', NEW."fieldSources", 'editedFields', NEW."editedFields", 'folded', NEW."folded") FROM openChange;
END;
CREATE TRIGGER "undo_edition_DELETE" AFTER DELETE ON "edition" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'edition', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'isbn', OLD."isbn", 'isbnText', OLD."isbnText", 'title', OLD."title", 'subtitle', OLD."subtitle", 'publisher', OLD."publisher", 'publishedDate', OLD."publishedDate", 'publishedDateText', OLD."publishedDateText", 'pageCount', OLD."pageCount", 'language', OLD."language", 'originalLanguage', OLD."originalLanguage", 'authorNationality', OLD."authorNationality", 'format', OLD."format", 'series', OLD."series", 'seriesNumber', OLD."seriesNumber", 'description', OLD."description", 'coverURL', OLD."coverURL", 'previewLink', OLD."previewLink", 'infoLink', OLD."infoLink", 'fieldSources', OLD."fieldSources", 'editedFields', OLD."editedFields", 'folded', OLD."folded"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_author_UPDATE" AFTER UPDATE ON "author" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."name" IS NOT NEW."name" OR OLD."folded" IS NOT NEW."folded") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'author', json_array(OLD."id"), json_object('id', OLD."id", 'name', OLD."name", 'folded', OLD."folded"), json_object('id', NEW."id", 'name', NEW."name", 'folded', NEW."folded") FROM openChange;
END;
CREATE TRIGGER "undo_author_INSERT" AFTER INSERT ON "author" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'author', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'name', NEW."name", 'folded', NEW."folded") FROM openChange;
END;
CREATE TRIGGER "undo_author_DELETE" AFTER DELETE ON "author" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'author', json_array(OLD."id"), json_object('id', OLD."id", 'name', OLD."name", 'folded', OLD."folded"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_editionAuthor_UPDATE" AFTER UPDATE ON "editionAuthor" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."edition" IS NOT NEW."edition" OR OLD."position" IS NOT NEW."position" OR OLD."author" IS NOT NEW."author" OR OLD."role" IS NOT NEW."role") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'editionAuthor', json_array(OLD."edition", OLD."position"), json_object('edition', OLD."edition", 'position', OLD."position", 'author', OLD."author", 'role', OLD."role"), json_object('edition', NEW."edition", 'position', NEW."position", 'author', NEW."author", 'role', NEW."role") FROM openChange;
END;
CREATE TRIGGER "undo_editionAuthor_INSERT" AFTER INSERT ON "editionAuthor" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'editionAuthor', json_array(NEW."edition", NEW."position"), NULL, json_object('edition', NEW."edition", 'position', NEW."position", 'author', NEW."author", 'role', NEW."role") FROM openChange;
END;
CREATE TRIGGER "undo_editionAuthor_DELETE" AFTER DELETE ON "editionAuthor" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'editionAuthor', json_array(OLD."edition", OLD."position"), json_object('edition', OLD."edition", 'position', OLD."position", 'author', OLD."author", 'role', OLD."role"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_subject_UPDATE" AFTER UPDATE ON "subject" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."name" IS NOT NEW."name") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'subject', json_array(OLD."id"), json_object('id', OLD."id", 'name', OLD."name"), json_object('id', NEW."id", 'name', NEW."name") FROM openChange;
END;
CREATE TRIGGER "undo_subject_INSERT" AFTER INSERT ON "subject" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'subject', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'name', NEW."name") FROM openChange;
END;
CREATE TRIGGER "undo_subject_DELETE" AFTER DELETE ON "subject" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'subject', json_array(OLD."id"), json_object('id', OLD."id", 'name', OLD."name"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_editionSubject_UPDATE" AFTER UPDATE ON "editionSubject" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."edition" IS NOT NEW."edition" OR OLD."position" IS NOT NEW."position" OR OLD."subject" IS NOT NEW."subject") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'editionSubject', json_array(OLD."edition", OLD."position"), json_object('edition', OLD."edition", 'position', OLD."position", 'subject', OLD."subject"), json_object('edition', NEW."edition", 'position', NEW."position", 'subject', NEW."subject") FROM openChange;
END;
CREATE TRIGGER "undo_editionSubject_INSERT" AFTER INSERT ON "editionSubject" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'editionSubject', json_array(NEW."edition", NEW."position"), NULL, json_object('edition', NEW."edition", 'position', NEW."position", 'subject', NEW."subject") FROM openChange;
END;
CREATE TRIGGER "undo_editionSubject_DELETE" AFTER DELETE ON "editionSubject" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'editionSubject', json_array(OLD."edition", OLD."position"), json_object('edition', OLD."edition", 'position', OLD."position", 'subject', OLD."subject"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_identifier_UPDATE" AFTER UPDATE ON "identifier" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."edition" IS NOT NEW."edition" OR OLD."scheme" IS NOT NEW."scheme" OR OLD."position" IS NOT NEW."position" OR OLD."value" IS NOT NEW."value") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'identifier', json_array(OLD."edition", OLD."scheme", OLD."position"), json_object('edition', OLD."edition", 'scheme', OLD."scheme", 'position', OLD."position", 'value', OLD."value"), json_object('edition', NEW."edition", 'scheme', NEW."scheme", 'position', NEW."position", 'value', NEW."value") FROM openChange;
END;
CREATE TRIGGER "undo_identifier_INSERT" AFTER INSERT ON "identifier" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'identifier', json_array(NEW."edition", NEW."scheme", NEW."position"), NULL, json_object('edition', NEW."edition", 'scheme', NEW."scheme", 'position', NEW."position", 'value', NEW."value") FROM openChange;
END;
CREATE TRIGGER "undo_identifier_DELETE" AFTER DELETE ON "identifier" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'identifier', json_array(OLD."edition", OLD."scheme", OLD."position"), json_object('edition', OLD."edition", 'scheme', OLD."scheme", 'position', OLD."position", 'value', OLD."value"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_shelf_UPDATE" AFTER UPDATE ON "shelf" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."name" IS NOT NEW."name" OR OLD."displayName" IS NOT NEW."displayName") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'shelf', json_array(OLD."id"), json_object('id', OLD."id", 'name', OLD."name", 'displayName', OLD."displayName"), json_object('id', NEW."id", 'name', NEW."name", 'displayName', NEW."displayName") FROM openChange;
END;
CREATE TRIGGER "undo_shelf_INSERT" AFTER INSERT ON "shelf" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'shelf', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'name', NEW."name", 'displayName', NEW."displayName") FROM openChange;
END;
CREATE TRIGGER "undo_shelf_DELETE" AFTER DELETE ON "shelf" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'shelf', json_array(OLD."id"), json_object('id', OLD."id", 'name', OLD."name", 'displayName', OLD."displayName"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_copy_UPDATE" AFTER UPDATE ON "copy" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."uuid" IS NOT NEW."uuid" OR OLD."edition" IS NOT NEW."edition" OR OLD."status" IS NOT NEW."status" OR OLD."isOwned" IS NOT NEW."isOwned" OR OLD."isOnWishlist" IS NOT NEW."isOnWishlist" OR OLD."isFavourite" IS NOT NEW."isFavourite" OR OLD."shelf" IS NOT NEW."shelf" OR OLD."rating" IS NOT NEW."rating" OR OLD."added" IS NOT NEW."added" OR OLD."deleted" IS NOT NEW."deleted" OR OLD."isPublic" IS NOT NEW."isPublic" OR OLD."recommendedBy" IS NOT NEW."recommendedBy" OR OLD."wouldRecommend" IS NOT NEW."wouldRecommend" OR OLD."dailyGoal" IS NOT NEW."dailyGoal" OR OLD."countsForCulturalGoal" IS NOT NEW."countsForCulturalGoal" OR OLD."culturalGoalCategory" IS NOT NEW."culturalGoalCategory") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'copy', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'edition', OLD."edition", 'status', OLD."status", 'isOwned', OLD."isOwned", 'isOnWishlist', OLD."isOnWishlist", 'isFavourite', OLD."isFavourite", 'shelf', OLD."shelf", 'rating', OLD."rating", 'added', OLD."added", 'deleted', OLD."deleted", 'isPublic', OLD."isPublic", 'recommendedBy', OLD."recommendedBy", 'wouldRecommend', OLD."wouldRecommend", 'dailyGoal', OLD."dailyGoal", 'countsForCulturalGoal', OLD."countsForCulturalGoal", 'culturalGoalCategory', OLD."culturalGoalCategory"), json_object('id', NEW."id", 'uuid', NEW."uuid", 'edition', NEW."edition", 'status', NEW."status", 'isOwned', NEW."isOwned", 'isOnWishlist', NEW."isOnWishlist", 'isFavourite', NEW."isFavourite", 'shelf', NEW."shelf", 'rating', NEW."rating", 'added', NEW."added", 'deleted', NEW."deleted", 'isPublic', NEW."isPublic", 'recommendedBy', NEW."recommendedBy", 'wouldRecommend', NEW."wouldRecommend", 'dailyGoal', NEW."dailyGoal", 'countsForCulturalGoal', NEW."countsForCulturalGoal", 'culturalGoalCategory', NEW."culturalGoalCategory") FROM openChange;
END;
CREATE TRIGGER "undo_copy_INSERT" AFTER INSERT ON "copy" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'copy', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'uuid', NEW."uuid", 'edition', NEW."edition", 'status', NEW."status", 'isOwned', NEW."isOwned", 'isOnWishlist', NEW."isOnWishlist", 'isFavourite', NEW."isFavourite", 'shelf', NEW."shelf", 'rating', NEW."rating", 'added', NEW."added", 'deleted', NEW."deleted", 'isPublic', NEW."isPublic", 'recommendedBy', NEW."recommendedBy", 'wouldRecommend', NEW."wouldRecommend", 'dailyGoal', NEW."dailyGoal", 'countsForCulturalGoal', NEW."countsForCulturalGoal", 'culturalGoalCategory', NEW."culturalGoalCategory") FROM openChange;
END;
CREATE TRIGGER "undo_copy_DELETE" AFTER DELETE ON "copy" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'copy', json_array(OLD."id"), json_object('id', OLD."id", 'uuid', OLD."uuid", 'edition', OLD."edition", 'status', OLD."status", 'isOwned', OLD."isOwned", 'isOnWishlist', OLD."isOnWishlist", 'isFavourite', OLD."isFavourite", 'shelf', OLD."shelf", 'rating', OLD."rating", 'added', OLD."added", 'deleted', OLD."deleted", 'isPublic', OLD."isPublic", 'recommendedBy', OLD."recommendedBy", 'wouldRecommend', OLD."wouldRecommend", 'dailyGoal', OLD."dailyGoal", 'countsForCulturalGoal', OLD."countsForCulturalGoal", 'culturalGoalCategory', OLD."culturalGoalCategory"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_tag_UPDATE" AFTER UPDATE ON "tag" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."name" IS NOT NEW."name" OR OLD."displayName" IS NOT NEW."displayName" OR OLD."folded" IS NOT NEW."folded") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'tag', json_array(OLD."id"), json_object('id', OLD."id", 'name', OLD."name", 'displayName', OLD."displayName", 'folded', OLD."folded"), json_object('id', NEW."id", 'name', NEW."name", 'displayName', NEW."displayName", 'folded', NEW."folded") FROM openChange;
END;
CREATE TRIGGER "undo_tag_INSERT" AFTER INSERT ON "tag" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'tag', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'name', NEW."name", 'displayName', NEW."displayName", 'folded', NEW."folded") FROM openChange;
END;
CREATE TRIGGER "undo_tag_DELETE" AFTER DELETE ON "tag" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'tag', json_array(OLD."id"), json_object('id', OLD."id", 'name', OLD."name", 'displayName', OLD."displayName", 'folded', OLD."folded"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_copyTag_UPDATE" AFTER UPDATE ON "copyTag" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."copy" IS NOT NEW."copy" OR OLD."tag" IS NOT NEW."tag") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'copyTag', json_array(OLD."copy", OLD."tag"), json_object('copy', OLD."copy", 'tag', OLD."tag"), json_object('copy', NEW."copy", 'tag', NEW."tag") FROM openChange;
END;
CREATE TRIGGER "undo_copyTag_INSERT" AFTER INSERT ON "copyTag" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'copyTag', json_array(NEW."copy", NEW."tag"), NULL, json_object('copy', NEW."copy", 'tag', NEW."tag") FROM openChange;
END;
CREATE TRIGGER "undo_copyTag_DELETE" AFTER DELETE ON "copyTag" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'copyTag', json_array(OLD."copy", OLD."tag"), json_object('copy', OLD."copy", 'tag', OLD."tag"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_request_UPDATE" AFTER UPDATE ON "request" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."copy" IS NOT NEW."copy") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'request', json_array(OLD."id"), json_object('id', OLD."id", 'copy', OLD."copy"), json_object('id', NEW."id", 'copy', NEW."copy") FROM openChange;
END;
CREATE TRIGGER "undo_request_INSERT" AFTER INSERT ON "request" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'request', json_array(NEW."id"), NULL, json_object('id', NEW."id", 'copy', NEW."copy") FROM openChange;
END;
CREATE TRIGGER "undo_request_DELETE" AFTER DELETE ON "request" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'request', json_array(OLD."id"), json_object('id', OLD."id", 'copy', OLD."copy"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_setting_UPDATE" AFTER UPDATE ON "setting" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."name" IS NOT NEW."name" OR OLD."value" IS NOT NEW."value") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'setting', json_array(OLD."name"), json_object('name', OLD."name", 'value', OLD."value"), json_object('name', NEW."name", 'value', NEW."value") FROM openChange;
END;
CREATE TRIGGER "undo_setting_INSERT" AFTER INSERT ON "setting" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'setting', json_array(NEW."name"), NULL, json_object('name', NEW."name", 'value', NEW."value") FROM openChange;
END;
CREATE TRIGGER "undo_setting_DELETE" AFTER DELETE ON "setting" WHEN EXISTS (SELECT 1 FROM openChange) BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'setting', json_array(OLD."name"), json_object('name', OLD."name", 'value', OLD."value"), NULL FROM openChange;
END;
CREATE TRIGGER "undo_intakeItem_UPDATE" AFTER UPDATE ON "intakeItem" WHEN EXISTS (SELECT 1 FROM openChange) AND (OLD."id" IS NOT NEW."id" OR OLD."state" IS NOT NEW."state") BEGIN
    INSERT INTO changeRow (change, tableName, key, before, after)
    SELECT change, 'intakeItem', json_array(OLD."id"), json_object('id', OLD."id", 'state', OLD."state"), json_object('id', NEW."id", 'state', NEW."state") FROM openChange;
END;
