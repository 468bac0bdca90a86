import GRDB

extension Schema {
    /// Creates the tables of version 1. Times are milliseconds since 1970 in UTC, days are text, and truth values are 0
    /// and 1. Where names must be unique ignoring case, the column `name` has the folded form, and another column has
    /// the name as it was entered.
    ///
    /// Foreign keys between the tables tracked for undo do not cascade deletions, so that the change log records every
    /// deleted row.
    @Sendable static func createFirstSchema(_ db: Database) throws {
        try db.execute(sql: editions)
        try db.execute(sql: copies)
        try db.execute(sql: intake)
        try db.execute(sql: lookup)
        try db.execute(sql: changes)
    }

    private static let editions = """
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
        """

    private static let copies = """
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

        -- Each request to save a book, and the one copy that resulted from it.
        CREATE TABLE request (
            id TEXT PRIMARY KEY CHECK (id <> ''),
            copy INTEGER NOT NULL REFERENCES copy (id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX requestByCopy ON request (copy);

        -- The settings of the library, which apply to every program that opens it.
        CREATE TABLE setting (
            name TEXT PRIMARY KEY CHECK (name <> ''),
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- The state of each cover. Its picture is a file in a folder beside the library.
        CREATE TABLE cover (
            edition INTEGER PRIMARY KEY REFERENCES edition (id) ON DELETE CASCADE,
            state TEXT NOT NULL CHECK (state IN ('fetched', 'person', 'missing', 'evicted')),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            stored INTEGER NOT NULL,
            retryAt INTEGER
        ) STRICT;
        CREATE INDEX coverByStored ON cover (stored) WHERE state = 'fetched';
        """

    private static let intake = """
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
        """

    private static let lookup = """
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
        """

    private static let changes = """
        CREATE TABLE change (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE,
            at INTEGER NOT NULL,
            station TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('save', 'edit', 'trash', 'restore', 'import', 'undo')),
            summary TEXT NOT NULL,
            undone INTEGER
        ) STRICT;

        -- The images of one row before and after the change, as JSON; NULL if the row did not exist.
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

        -- The change to which the running transaction writes. This table is empty if no transaction is running.
        CREATE TABLE openChange (change INTEGER NOT NULL REFERENCES change (id)) STRICT;

        -- The day on which a task (sweeping the trash, the daily backup) was last done.
        CREATE TABLE chore (name TEXT PRIMARY KEY, done INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        """
}
