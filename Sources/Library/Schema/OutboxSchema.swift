import GRDB

extension Schema {
    /// Adds the columns of version 6 to the outbox. With these, a station notices that its hub serves another library,
    /// and does not send refused items again. The rate limits of the sources are now in a file of their own, so that
    /// they are shared also without a library.
    static func addHubLibrary(_ db: Database) throws {
        try db.execute(
            sql: """
                -- The id of the library that the hub served last; NULL while it is unknown.
                ALTER TABLE outbox ADD COLUMN library TEXT;
                -- The id of the library that has the revision in the column sent; NULL if it is unknown.
                ALTER TABLE outboxItem ADD COLUMN library TEXT;
                -- The revision that the hub has refused.
                ALTER TABLE outboxItem ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;

                DROP TABLE sourceState;
                """)
    }
}
