import GRDB

extension Schema {
    /// Creates the tables of version 3, which are the search index. ``SearchIndex`` derives their content from the
    /// books, so they are not logged in changes. They stay empty until version 8, which has another index.
    @Sendable static func createSearch(_ db: Database) throws {
        try db.execute(sql: listing)
        try db.execute(sql: searchText)
        try db.execute(sql: staleness)
    }

    /// One small row for each copy, with all columns by which lists are sorted and filtered. The index for each sort
    /// order also has the columns of the filters, so that a page of results is found without reading the rows.
    private static let listing = """
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
        \(sorts.map { name, column in
            """
            CREATE INDEX listingBy\(name) ON listing
                (inTrash, \(column), copy, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added,
                    started, finished);
            """
        }.joined(separator: "\n"))
        CREATE INDEX listingByShelf ON listing (shelf) WHERE shelf IS NOT NULL;
        CREATE INDEX listingByLanguage ON listing (language) WHERE language IS NOT NULL;
        CREATE INDEX listingByStatus ON listing (status);
        CREATE INDEX listingFavourites ON listing (isFavourite) WHERE isFavourite = 1;
        CREATE INDEX listingWishes ON listing (isOnWishlist) WHERE isOnWishlist = 1;
        -- For suggestions while a person types a name.
        CREATE INDEX authorByFolded ON author (folded);
        CREATE INDEX tagByFolded ON tag (folded);
        """

    private static let sorts = [
        ("Added", "added"), ("Started", "started"), ("Finished", "finished"), ("Title", "title"), ("Author", "author"),
        ("Rating", "rating"),
    ]

    /// One document for each copy, with the copy's words. Each word begins with the letter of its field
    /// (``SearchField``), so that every field has word lists of its own, and a word that is common in notes does not
    /// slow down a search of titles. The positions of words are not needed, so `detail` is `none`. Texts have already
    /// been split into words by ``WordSplitter``. The tokenizer `ascii` is enough for these words, because it treats
    /// every non-ASCII character as part of a word.
    ///
    /// There are prefix lists for three to nine letters after the letter of the field. Shorter prefixes are stored as
    /// words of the document. Without a list, a search for a prefix that many books contain would be slow, because FTS5
    /// would have to merge the lists of all words with this prefix before it returns the first book. The lists for six
    /// and more letters take up a twentieth of the file.
    static let searchText = """
        CREATE VIRTUAL TABLE searchText USING fts5 (
            words, tokenize = 'ascii', prefix = '4 5 6 7 8 9 10', detail = none, columnsize = 0);
        """

    /// The copies whose rows in the search index are out of date. Triggers add copies to this table on every write.
    /// SQLite cannot fold texts (remove case and diacritics), so `LibraryFile.write` updates the index before it
    /// commits, and the table is empty between transactions.
    private static let staleness = """
        CREATE TABLE searchStale (copy INTEGER PRIMARY KEY) STRICT;

        """
        + staleTriggers.map { name, event, copies in
            """
            CREATE TRIGGER "search_\(name)" AFTER \(event) BEGIN
                INSERT INTO searchStale (copy) \(copies) ON CONFLICT DO NOTHING;
            END;

            """
        }.joined()

    private static let staleTriggers: [(name: String, event: String, copies: String)] = {
        // Without "WHERE true", SQLite would parse the ON of ON CONFLICT as the ON of a join.
        let old = "SELECT OLD.copy WHERE true", new = "SELECT NEW.copy WHERE true"
        let both = "SELECT OLD.copy UNION SELECT NEW.copy WHERE true"
        let written =
            "SELECT copy.id FROM editionAuthor JOIN copy ON copy.edition = editionAuthor.edition WHERE author = NEW.id"
        var triggers: [(name: String, event: String, copies: String)] = [
            ("copy_insert", "INSERT ON copy", "SELECT NEW.id WHERE true"),
            ("copy_delete", "DELETE ON copy", "SELECT OLD.id WHERE true"),
            (
                "copy_update",
                """
                UPDATE OF id, edition, status, isOwned, isOnWishlist, isFavourite, shelf, rating, added, deleted ON copy
                """, "SELECT OLD.id UNION SELECT NEW.id WHERE true"
            ),
            (
                "edition_update",
                """
                UPDATE OF title, subtitle, series, isbn, isbnText, language ON edition
                WHEN (OLD.title, OLD.subtitle, OLD.series, OLD.isbn, OLD.isbnText, OLD.language)
                    IS NOT (NEW.title, NEW.subtitle, NEW.series, NEW.isbn, NEW.isbnText, NEW.language)
                """, "SELECT id FROM copy WHERE edition = NEW.id"
            ),
            ("author_update", "UPDATE OF name ON author", written),
            ("tag_update", "UPDATE OF displayName ON tag", "SELECT copy FROM copyTag WHERE tag = NEW.id"),
        ]
        for (event, versions) in [("INSERT", ["NEW"]), ("DELETE", ["OLD"]), ("UPDATE", ["OLD", "NEW"])] {
            triggers.append(
                (
                    "editionAuthor_\(event.lowercased())", "\(event) ON editionAuthor",
                    "SELECT id FROM copy WHERE edition IN (\(versions.map { $0 + ".edition" }.joined(separator: ", ")))"
                ))
        }
        for (table, columns) in [
            ("copyTag", "copy, tag"), ("note", "copy, text"), ("quote", "copy, text"),
            ("reading", "copy, position, state, started, finished"),
        ] {
            triggers.append(("\(table)_insert", "INSERT ON \(table)", new))
            triggers.append(("\(table)_delete", "DELETE ON \(table)", old))
            triggers.append(("\(table)_update", "UPDATE OF \(columns) ON \(table)", both))
        }
        return triggers
    }()
}
