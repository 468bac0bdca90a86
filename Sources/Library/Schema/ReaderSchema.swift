import Bookplate
import GRDB

extension Schema {
    /// Makes the changes of version 8: readers. What is each reader's own leaves the table `copy` and belongs to a
    /// reader and a copy, so that several people read the copies of one library. Everything that the library has had
    /// belongs to the first reader, also in the change log, so that earlier changes can still be undone.
    @Sendable static func addReaders(_ db: Database) throws {
        try db.execute(sql: readers)
        try db.run(
            "INSERT INTO reader (uuid, colour, created) VALUES (?, 0, 0)", [ID<Reader>().rawValue])
        try db.execute(sql: moved)
        try moveLoggedRows(db)
        try db.execute(sql: statsOfReaders)
        try db.execute(sql: searchOfReaders)
        // Version 13 builds the search index, whose content depends on later columns.
        try db.execute(sql: "INSERT INTO searchStale (copy) SELECT id FROM copy WHERE true ON CONFLICT DO NOTHING")
    }

    /// The columns that have moved from `copy` to `readerCopy`.
    private static let ownColumns = [
        "status", "isOnWishlist", "isFavourite", "rating", "recommendedBy", "wouldRecommend", "dailyGoal",
        "countsForCulturalGoal", "culturalGoalCategory",
    ]

    private static let readers = """
        CREATE TABLE reader (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
            -- NULL for the first reader, until there is another one.
            name TEXT UNIQUE CHECK (name <> ''),
            displayName TEXT CHECK (displayName <> ''),
            -- The place of the colour among those of the pages.
            colour INTEGER NOT NULL CHECK (colour BETWEEN 0 AND 7),
            created INTEGER NOT NULL,
            deleted INTEGER,
            CHECK ((name IS NULL) = (displayName IS NULL))
        ) STRICT;

        -- The PINs of readers who have one, as hashes.
        CREATE TABLE readerPIN (
            reader INTEGER PRIMARY KEY REFERENCES reader (id) ON DELETE CASCADE,
            hash TEXT NOT NULL
        ) STRICT;

        -- The sign-ins and terminals in which a reader has given the PIN.
        CREATE TABLE readerUnlock (
            reader INTEGER NOT NULL REFERENCES reader (id) ON DELETE CASCADE,
            holder TEXT NOT NULL CHECK (length(holder) <= 200),
            until INTEGER NOT NULL,
            PRIMARY KEY (reader, holder)
        ) STRICT, WITHOUT ROWID;

        -- The settings of which each reader has a value of their own.
        CREATE TABLE readerSetting (
            reader INTEGER NOT NULL REFERENCES reader (id),
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (reader, name)
        ) STRICT, WITHOUT ROWID;

        -- What a reader has of a copy. A reader without a row has neither a status nor an opinion of it.
        CREATE TABLE readerCopy (
            copy INTEGER NOT NULL REFERENCES copy (id),
            reader INTEGER NOT NULL REFERENCES reader (id),
            status TEXT NOT NULL DEFAULT 'toRead' CHECK (status IN ('toRead', 'reading', 'read', 'onHold', 'dnf')),
            isOnWishlist INTEGER NOT NULL DEFAULT 0 CHECK (isOnWishlist IN (0, 1)),
            isFavourite INTEGER NOT NULL DEFAULT 0 CHECK (isFavourite IN (0, 1)),
            -- The rating in quarter stars.
            rating INTEGER CHECK (rating BETWEEN 1 AND 20),
            recommendedBy TEXT,
            wouldRecommend INTEGER CHECK (wouldRecommend IN (0, 1)),
            -- The goal in pages.
            dailyGoal INTEGER CHECK (dailyGoal > 0),
            countsForCulturalGoal INTEGER NOT NULL DEFAULT 0 CHECK (countsForCulturalGoal IN (0, 1)),
            culturalGoalCategory TEXT,
            PRIMARY KEY (copy, reader)
        ) STRICT, WITHOUT ROWID;
        """

    private static let moved = """
        INSERT INTO readerCopy (copy, reader, \(ownColumns.joined(separator: ", ")))
        SELECT id, 1, \(ownColumns.joined(separator: ", ")) FROM copy ORDER BY id;

        DROP TRIGGER search_copy_update;
        DROP TRIGGER stats_copy_update;
        DROP TRIGGER IF EXISTS undo_copy_INSERT;
        DROP TRIGGER IF EXISTS undo_copy_UPDATE;
        DROP TRIGGER IF EXISTS undo_copy_DELETE;
        DROP INDEX copyByStatus;
        DROP INDEX copyByCulturalGoal;
        \(ownColumns.map { "ALTER TABLE copy DROP COLUMN \($0);" }.joined(separator: "\n"))

        INSERT INTO readerSetting (name, value, reader)
        SELECT name, value, 1 FROM setting WHERE name IN ('dailyGoal', 'yearlyGoal');
        DELETE FROM setting WHERE name IN ('dailyGoal', 'yearlyGoal');

        ALTER TABLE reading ADD COLUMN reader INTEGER NOT NULL DEFAULT 1 REFERENCES reader (id);
        DROP INDEX readingByCopy;
        CREATE INDEX readingByCopy ON reading (copy, reader, position, id);
        ALTER TABLE session ADD COLUMN reader INTEGER NOT NULL DEFAULT 1 REFERENCES reader (id);
        DROP INDEX sessionRunning;
        -- At most one session of a reader is running.
        CREATE UNIQUE INDEX sessionRunning ON session (reader) WHERE "end" IS NULL;
        ALTER TABLE note ADD COLUMN reader INTEGER NOT NULL DEFAULT 1 REFERENCES reader (id);
        ALTER TABLE note ADD COLUMN isPrivate INTEGER NOT NULL DEFAULT 0 CHECK (isPrivate IN (0, 1));
        ALTER TABLE quote ADD COLUMN reader INTEGER NOT NULL DEFAULT 1 REFERENCES reader (id);
        ALTER TABLE quote ADD COLUMN isPrivate INTEGER NOT NULL DEFAULT 0 CHECK (isPrivate IN (0, 1));

        -- The reader whose private notes or quotes a change is about; NULL for changes that everybody may see.
        ALTER TABLE change ADD COLUMN privateTo INTEGER;

        CREATE INDEX notePrivate ON note (reader) WHERE isPrivate = 1;
        CREATE INDEX quotePrivate ON quote (reader) WHERE isPrivate = 1;
        CREATE INDEX readerCopyByStatus ON readerCopy (reader, status, copy);
        CREATE INDEX readerCopyByCulturalGoal ON readerCopy (reader, culturalGoalCategory)
            WHERE countsForCulturalGoal = 1;
        """

    /// Gives the rows of the change log the form that they would have if the library had had readers from the
    /// beginning: the images of a copy are divided, and those of readings, sessions, notes and quotes name the first
    /// reader.
    private static func moveLoggedRows(_ db: Database) throws {
        func own(_ image: String) -> String {
            let members = ownColumns.map { "'\($0)', \(image) -> '$.\($0)'" }.joined(separator: ", ")
            // Unlike json_extract, the operator -> returns JSON, so that a null stays a member of the object.
            return "json_object('copy', \(image) -> '$.id', 'reader', 1, \(members))"
        }
        func rest(_ image: String) -> String {
            "json_remove(\(image), \(ownColumns.map { "'$.\($0)'" }.joined(separator: ", ")))"
        }
        func setting(_ image: String) -> String {
            "json_object('reader', 1, 'name', \(image) -> '$.name', 'value', \(image) -> '$.value')"
        }
        // The new rows are in the order of the old ones. An undo takes back what belongs to a copy before the copy.
        try db.execute(
            sql: """
                INSERT INTO changeRow (change, tableName, key, before, after)
                SELECT change, 'readerCopy', json_array(json_extract(key, '$[0]'), 1), before, after FROM (
                    SELECT id, change, key, iif(before IS NULL, NULL, \(own("before"))) AS before,
                        iif(after IS NULL, NULL, \(own("after"))) AS after
                    FROM changeRow WHERE tableName = 'copy')
                WHERE before IS NOT after ORDER BY id;

                UPDATE changeRow SET before = iif(before IS NULL, NULL, \(rest("before"))),
                    after = iif(after IS NULL, NULL, \(rest("after")))
                WHERE tableName = 'copy';
                DELETE FROM changeRow WHERE tableName = 'copy' AND before IS after;

                UPDATE changeRow SET tableName = 'readerSetting', key = json_array(1, json_extract(key, '$[0]')),
                    before = iif(before IS NULL, NULL, \(setting("before"))),
                    after = iif(after IS NULL, NULL, \(setting("after")))
                WHERE tableName = 'setting'
                    AND json_extract(coalesce(after, before), '$.name') IN ('dailyGoal', 'yearlyGoal');
                """)
        for (table, members) in [
            ("reading", "'$.reader', 1"), ("session", "'$.reader', 1"),
            ("note", "'$.reader', 1, '$.isPrivate', 0"), ("quote", "'$.reader', 1, '$.isPrivate', 0"),
        ] {
            try db.run(
                """
                UPDATE changeRow SET before = iif(before IS NULL, NULL, json_set(before, \(members))),
                    after = iif(after IS NULL, NULL, json_set(after, \(members)))
                WHERE tableName = ?
                """, [table])
        }
    }

    private static let statsOfReaders =
        [
            ("copy_update", "UPDATE OF id, edition, isOwned, added, deleted ON copy", "OLD.id", "NEW.id"),
            ("readerCopy_insert", "INSERT ON readerCopy", "NEW.copy", nil),
            ("readerCopy_delete", "DELETE ON readerCopy", "OLD.copy", nil),
            ("readerCopy_update", "UPDATE ON readerCopy", "OLD.copy", "NEW.copy"),
        ].map { (name: String, event: String, first: String, second: String?) in
            """
            CREATE TRIGGER "stats_\(name)" AFTER \(event) BEGIN
                INSERT INTO statsBlock (block, version)
                SELECT DISTINCT copy >> 12, 1 FROM (SELECT \(first) AS copy\(second.map { " UNION SELECT \($0)" } ?? ""))
                WHERE true ON CONFLICT (block) DO UPDATE SET version = version + 1;
            END;

            """
        }.joined()

    /// One small row for each copy and reader, as the table of version 3 had one for each copy.
    private static let searchOfReaders = """
        DROP TABLE listing;
        CREATE TABLE listing (
            -- The reader's row id, shifted by 40 bits, plus the copy's. So the rows of one reader are together, and a row is
            -- found without an index.
            id INTEGER PRIMARY KEY,
            reader INTEGER NOT NULL,
            copy INTEGER NOT NULL,
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
            author TEXT,
            CHECK (id = (reader << 40) + copy)
        ) STRICT;
        \(["added", "started", "finished", "title", "author", "rating"].map { column in
            """
            CREATE INDEX listingBy\(column.prefix(1).uppercased())\(column.dropFirst()) ON listing
                (reader, inTrash, \(column), copy, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language,
                    added, started, finished);
            """
        }.joined(separator: "\n"))
        CREATE INDEX listingByShelf ON listing (reader, shelf) WHERE shelf IS NOT NULL;
        CREATE INDEX listingByLanguage ON listing (reader, language) WHERE language IS NOT NULL;
        CREATE INDEX listingByStatus ON listing (reader, status);
        CREATE INDEX listingFavourites ON listing (reader, isFavourite) WHERE isFavourite = 1;
        CREATE INDEX listingWishes ON listing (reader, isOnWishlist) WHERE isOnWishlist = 1;

        -- The search index keeps private texts apart.
        \(["note", "quote"].map { table in
            """
            DROP TRIGGER "search_\(table)_update";
            CREATE TRIGGER "search_\(table)_update" AFTER UPDATE OF copy, text, reader, isPrivate ON \(table) BEGIN
                INSERT INTO searchStale (copy) SELECT OLD.copy UNION SELECT NEW.copy WHERE true ON CONFLICT DO NOTHING;
            END;
            """
        }.joined(separator: "\n"))
        -- The search index has no rows of readers in the trash.
        CREATE TRIGGER "search_reader_insert" AFTER INSERT ON reader BEGIN
            INSERT INTO searchStale (copy) SELECT id FROM copy WHERE true ON CONFLICT DO NOTHING;
        END;
        CREATE TRIGGER "search_reader_update" AFTER UPDATE OF deleted ON reader BEGIN
            DELETE FROM listing WHERE reader = OLD.id;
            INSERT INTO searchStale (copy) SELECT id FROM copy WHERE true ON CONFLICT DO NOTHING;
        END;
        CREATE TRIGGER "search_reader_delete" AFTER DELETE ON reader BEGIN
            DELETE FROM listing WHERE reader = OLD.id;
        END;
        CREATE TRIGGER "search_copy_update" AFTER UPDATE OF id, edition, isOwned, shelf, added, deleted ON copy BEGIN
            INSERT INTO searchStale (copy) SELECT OLD.id UNION SELECT NEW.id WHERE true ON CONFLICT DO NOTHING;
        END;
        \([("insert", "INSERT", "SELECT NEW.copy WHERE true"), ("delete", "DELETE", "SELECT OLD.copy WHERE true"),
            (
                "update", "UPDATE OF copy, reader, status, isOnWishlist, isFavourite, rating",
                "SELECT OLD.copy UNION SELECT NEW.copy WHERE true"
            )].map { name, event, copies in
            """
            CREATE TRIGGER "search_readerCopy_\(name)" AFTER \(event) ON readerCopy BEGIN
                INSERT INTO searchStale (copy) \(copies) ON CONFLICT DO NOTHING;
            END;
            """
        }.joined(separator: "\n"))
        """
}
