import GRDB

extension Schema {
    /// Creates the table of links to wishlists. They are not logged in changes, because an undo must not bring back a
    /// revoked link.
    @Sendable static func createWishlistLinks(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE wishlistLink (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
                    reader INTEGER NOT NULL REFERENCES reader (id) ON DELETE CASCADE,
                    -- The SHA-256 hash of the token, which is random.
                    token BLOB NOT NULL UNIQUE CHECK (length(token) = 32),
                    created INTEGER NOT NULL,
                    used INTEGER
                ) STRICT;
                """)
    }
}
