import GRDB

extension Schema {
    /// Makes the changes of version 13: sort names of authors, sort keys that follow settings, additions by day, and
    /// series by name. The search index is built again, because its sort keys are other ones.
    @Sendable static func addSortNames(_ db: Database) throws {
        try db.execute(sql: sortNames)
        try db.execute(sql: additions)
        try db.execute(
            sql: "INSERT INTO searchStale (copy) SELECT id FROM copy WHERE true ON CONFLICT DO NOTHING")
        try SearchIndex.rebuild(db)
    }

    private static let sortNames = """
        -- The sort name that a person has entered; NULL for the one that the rule derives from the name.
        ALTER TABLE author ADD COLUMN sortName TEXT CHECK (sortName <> '');
        DROP TRIGGER "search_author_update";
        CREATE TRIGGER "search_author_update" AFTER UPDATE OF name, sortName ON author BEGIN
            INSERT INTO searchStale (copy)
            SELECT copy.id FROM editionAuthor JOIN copy ON copy.edition = editionAuthor.edition WHERE author = NEW.id
            ON CONFLICT DO NOTHING;
        END;
        \(["INSERT", "UPDATE", "DELETE"].map { event in
            """
            CREATE TRIGGER "search_setting_\(event.lowercased())" AFTER \(event) ON setting
            WHEN \(event == "DELETE" ? "OLD" : "NEW").name IN ('ignoreArticles', 'authorsByFamilyName') BEGIN
                INSERT INTO searchStale (copy) SELECT id FROM copy WHERE true ON CONFLICT DO NOTHING;
            END;
            """
        }.joined(separator: "\n"))
        CREATE INDEX copyFactsBySeriesName ON copyFacts (series COLLATE NOCASE) WHERE series IS NOT NULL;

        """

    private static let additions = """
        -- The day of the addition in UTC, in days since 1970. A generated column would keep SQLite 3.40 from reading the
        -- index alone.
        ALTER TABLE listing ADD COLUMN addedDay INTEGER NOT NULL DEFAULT 0;
        DROP INDEX listingByAdded;
        CREATE INDEX listingByAddedDay ON listing
            (reader, inTrash, addedDay, copy, status, rating, isOwned, isOnWishlist, isFavourite, shelf, language, added,
                started, finished);
        """
}
