import GRDB

extension Schema {
    /// Creates the table of version 6, by which ``StatsBlocks`` knows what has changed, and indexes for stats and for
    /// the list of authors.
    static func createStatsBlocks(_ db: Database) throws {
        try db.execute(sql: statsBlocks)
        try db.execute(sql: statsIndexes)
    }

    private static let statsBlocks = """
        -- The versions of blocks of copies. The id of a block is the row id of its copies without the last 12 bits. Triggers
        -- increase the version at every change of a row from which the stats of the block's copies are computed. A block
        -- without a row has not changed since this table was created.
        CREATE TABLE statsBlock (
            block INTEGER PRIMARY KEY,
            version INTEGER NOT NULL
        ) STRICT;

        """
        + blockTriggers.map(statsTrigger).joined()

    private static let blockTriggers: [(name: String, event: String, copies: String)] = {
        var triggers: [(name: String, event: String, copies: String)] = [
            (
                "edition_update", "UPDATE OF pageCount, format, language ON edition",
                "SELECT id AS copy FROM copy WHERE edition = NEW.id"
            )
        ]
        let tables: [(name: String, copy: (String) -> String, columns: String)] = [
            (
                "copy", { "\($0).id" },
                "id, edition, status, isOwned, isOnWishlist, isFavourite, rating, added, deleted"
            ),
            ("reading", { "\($0).copy" }, "id, copy, position, state, started, finished, stopped"),
            // If the reading was deleted before, or is inserted later, its own trigger finds the block.
            (
                "session", { "(SELECT copy FROM reading WHERE id = \($0).reading)" },
                "reading, start, \"end\", startPage, endPage"
            ),
            (
                "progressEntry", { "(SELECT copy FROM reading WHERE id = \($0).reading)" },
                "id, reading, at, page, percent, isAutomatic, session"
            ),
        ]
        for (table, copy, columns) in tables {
            triggers += [
                ("\(table)_insert", "INSERT ON \(table)", "SELECT \(copy("NEW")) AS copy"),
                ("\(table)_delete", "DELETE ON \(table)", "SELECT \(copy("OLD")) AS copy"),
                (
                    "\(table)_update", "UPDATE OF \(columns) ON \(table)",
                    "SELECT \(copy("OLD")) AS copy UNION SELECT \(copy("NEW"))"
                ),
            ]
        }
        return triggers
    }()

    /// The indexes of sessions and editions have all columns that the stats and the list of authors need, so that the
    /// rows themselves are not read.
    private static let statsIndexes = """
        DROP INDEX sessionByReading;
        CREATE INDEX sessionByReading ON session (reading, start, id, "end", startPage, endPage);
        CREATE INDEX readingByStarted ON reading (started) WHERE started IS NOT NULL;
        CREATE INDEX readingByStopped ON reading (stopped) WHERE stopped IS NOT NULL;
        DROP INDEX copyByEdition;
        CREATE INDEX copyByEdition ON copy (edition, deleted);
        CREATE INDEX copyByCulturalGoal ON copy (culturalGoalCategory)
            WHERE countsForCulturalGoal = 1 AND deleted IS NULL;
        """

    /// Makes the changes of version 12: stats count what was read by contributor, tag and year of publication.
    @Sendable static func addStatsOfWorks(_ db: Database) throws {
        func copies(_ edition: String) -> String { "SELECT id AS copy FROM copy WHERE edition = \(edition).edition" }
        func copy(_ row: String) -> String { "SELECT \(row).copy AS copy" }
        var triggers = [
            (
                name: "edition_update", event: "UPDATE OF pageCount, format, language, publishedDate ON edition",
                copies: "SELECT id AS copy FROM copy WHERE edition = NEW.id"
            )
        ]
        for (table, copies) in [("editionAuthor", copies), ("copyTag", copy)] {
            triggers += [
                ("\(table)_insert", "INSERT ON \(table)", copies("NEW")),
                ("\(table)_delete", "DELETE ON \(table)", copies("OLD")),
                ("\(table)_update", "UPDATE ON \(table)", "\(copies("OLD")) UNION \(copies("NEW"))"),
            ]
        }
        try db.execute(sql: "DROP TRIGGER stats_edition_update;\n" + triggers.map(statsTrigger).joined())
    }

    private static func statsTrigger(name: String, event: String, copies: String) -> String {
        """
        CREATE TRIGGER "stats_\(name)" AFTER \(event) BEGIN
            INSERT INTO statsBlock (block, version) SELECT DISTINCT copy >> 12, 1 FROM (\(copies)) WHERE true
            ON CONFLICT (block) DO UPDATE SET version = version + 1;
        END;

        """
    }
}
