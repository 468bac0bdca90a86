import GRDB

extension Schema {
    /// Creates the table of version 6: the latest uses of the access code. They are not logged in changes, because an
    /// undo must not remove them.
    static func createSignInAttempts(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE signInAttempt (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    at INTEGER NOT NULL,
                    address TEXT NOT NULL CHECK (length(address) <= 64),
                    device TEXT NOT NULL CHECK (length(device) <= 80),
                    -- 1 if the code was right. The code itself is never stored.
                    isRight INTEGER NOT NULL CHECK (isRight IN (0, 1))
                ) STRICT;
                """)
    }
}
