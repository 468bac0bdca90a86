import GRDB

extension Schema {
    /// Makes the changes of version 6, with which an undone change can be redone. While a change is undone, the history
    /// has a record of its undo: a row of the table `change` whose log has what the undo did to each row.
    ///
    /// A record counts as undone from the beginning, because it is not a change that a person can undo.
    static func createRedo(_ db: Database) throws {
        try db.execute(
            sql: """
                -- The change whose undo this row records; NULL for a person's change.
                ALTER TABLE change ADD COLUMN undoes INTEGER REFERENCES change (id) ON DELETE CASCADE;
                CREATE UNIQUE INDEX changeByUndoes ON change (undoes);

                -- A cover is no part of a change, but it goes with its edition, and a redo has to bring it back.
                CREATE TRIGGER "redo_cover" AFTER DELETE ON cover
                WHEN EXISTS (SELECT 1 FROM openChange JOIN change ON change.id = change WHERE undoes IS NOT NULL) BEGIN
                    INSERT INTO changeRow (change, tableName, key, before)
                    SELECT change, 'cover', json_array(OLD.edition),
                        json_object('edition', OLD.edition, 'state', OLD.state, 'bytes', OLD.bytes,
                            'stored', OLD.stored, 'retryAt', OLD.retryAt)
                    FROM openChange;
                END;
                """)
    }
}
