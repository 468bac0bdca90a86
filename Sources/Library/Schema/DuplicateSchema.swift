import GRDB

extension Schema {
    /// Makes the changes of version 14: pairs of books that look like one book twice, but are not.
    @Sendable static func addDistinctCopies(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE distinctCopy (
                    copy INTEGER NOT NULL REFERENCES copy (id),
                    other INTEGER NOT NULL REFERENCES copy (id),
                    PRIMARY KEY (copy, other),
                    CHECK (copy < other)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX distinctCopyByOther ON distinctCopy (other);
                """)
    }
}
