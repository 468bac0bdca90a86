import GRDB

extension Schema {
    /// Creates the tables of version 4: the kiosk's access code, its sign-ins and the wrong codes. They are not logged
    /// in changes, because they are not a person's work on the library, and an undo must not give access again.
    @Sendable static func createAccess(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE accessCode (
                    one INTEGER PRIMARY KEY DEFAULT 1 CHECK (one = 1),
                    -- Method, cost, salt and hash, in the format of crypt(5).
                    hash TEXT NOT NULL CHECK (hash GLOB '$*'),
                    since INTEGER NOT NULL
                ) STRICT;

                CREATE TABLE signIn (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
                    -- The SHA-256 hash of the token, which is random.
                    token BLOB NOT NULL UNIQUE CHECK (length(token) = 32),
                    device TEXT NOT NULL CHECK (length(device) <= 200),
                    created INTEGER NOT NULL,
                    used INTEGER NOT NULL
                ) STRICT;

                -- The number of wrong codes by address; the address '' has the number for all addresses.
                CREATE TABLE wrongCode (
                    address TEXT PRIMARY KEY CHECK (length(address) <= 64),
                    count INTEGER NOT NULL CHECK (count >= 0),
                    last INTEGER NOT NULL,
                    -- The end of the pause, before which no code is checked.
                    until INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
