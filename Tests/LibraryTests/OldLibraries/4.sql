-- What version 4 of the schema has added to a library: tables, rows and triggers.
-- The library of a version consists of this file and those of all earlier versions.

PRAGMA user_version = 4;
INSERT INTO grdb_migrations VALUES ('4 access code, sign-ins');

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
CREATE TABLE wrongCode (
    address TEXT PRIMARY KEY CHECK (length(address) <= 64),
    count INTEGER NOT NULL CHECK (count >= 0),
    last INTEGER NOT NULL,
    -- The end of the pause, before which no code is checked.
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO "accessCode" ("one", "hash", "since") VALUES (1, '$y$j9T$nTVnph.I4nJ8epR3bUFi5.$XQtUEh3g3qoUarbtm/IB17iF0g6ZT9b7m5njWWtSIy.', 1795411829153);
INSERT INTO "signIn" ("id", "uuid", "token", "device", "created", "used") VALUES (1, '01a206e1-0000-7000-8000-000000000001', X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F', 'phone', 1795412000000, 1795412000000);
INSERT INTO "wrongCode" ("address", "count", "last", "until") VALUES ('10.0.0.9', 1, 1795412000000, 1795412000000);

