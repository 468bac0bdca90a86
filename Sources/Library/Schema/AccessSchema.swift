import GRDB

extension Schema {
    /// Version 4: the kiosk's access code, its sign-ins and the wrong codes. None of them is logged in changes: they are not work
    /// on the library, and no undo must give access again.
    @Sendable static func createAccess(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE accessCode (
                    one INTEGER PRIMARY KEY DEFAULT 1 CHECK (one = 1),
                    -- As crypt(5) writes it: method, cost, salt and hash.
                    hash TEXT NOT NULL CHECK (hash GLOB '$*'),
                    since INTEGER NOT NULL
                ) STRICT;

                CREATE TABLE signIn (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) BETWEEN 1 AND 64),
                    -- SHA-256 of the token, which is random.
                    token BLOB NOT NULL UNIQUE CHECK (length(token) = 32),
                    device TEXT NOT NULL CHECK (length(device) <= 200),
                    created INTEGER NOT NULL,
                    used INTEGER NOT NULL
                ) STRICT;

                -- Wrong codes by address; '' counts all.
                CREATE TABLE wrongCode (
                    address TEXT PRIMARY KEY CHECK (length(address) <= 64),
                    count INTEGER NOT NULL CHECK (count >= 0),
                    last INTEGER NOT NULL,
                    -- No code is looked at before.
                    until INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """)
    }
}
