import GRDB

extension Schema {
    /// Makes the changes of version 9: saved filters, and indexes for the fields of editions that queries name.
    @Sendable static func addSavedFilters(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE savedFilter (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
                    reader INTEGER NOT NULL REFERENCES reader (id),
                    -- The name in folded case.
                    name TEXT NOT NULL CHECK (name <> ''),
                    displayName TEXT NOT NULL CHECK (displayName <> ''),
                    -- The query as it was typed.
                    query TEXT NOT NULL,
                    UNIQUE (reader, name)
                ) STRICT;

                CREATE INDEX editionByPageCount ON edition (pageCount);
                CREATE INDEX editionByDate ON edition (publishedDate);
                CREATE INDEX editionByPublisher ON edition (publisher);
                """)
    }
}
