import GRDB

extension Schema {
    /// Makes the changes of the version that filters by facts of the edition: its format, year, pages, publisher and
    /// series, and the lack of an ISBN or a cover. The rows of `edition` are long and a copy does not have its
    /// edition's row id, so checking these facts there would take several times as long.
    @Sendable static func addCopyFacts(_ db: Database) throws {
        try db.execute(sql: copyFacts)
        try db.execute(sql: "\(factsOfCopies) WHERE true")
    }

    /// One small row for each copy. Triggers derive it from the edition and the cover, so it is not logged in changes.
    private static let copyFacts = """
        CREATE TABLE copyFacts (
            copy INTEGER PRIMARY KEY,
            format TEXT,
            year INTEGER,
            pages INTEGER,
            publisher TEXT,
            series TEXT,
            hasISBN INTEGER NOT NULL,
            hasCover INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX copyFactsByFormat ON copyFacts (format);
        CREATE INDEX copyFactsByYear ON copyFacts (year);
        CREATE INDEX copyFactsByPages ON copyFacts (pages);
        CREATE INDEX copyFactsByPublisher ON copyFacts (publisher);
        CREATE INDEX copyFactsBySeries ON copyFacts (series);
        CREATE INDEX copyFactsWithoutISBN ON copyFacts (copy) WHERE hasISBN = 0;
        CREATE INDEX copyFactsWithoutCover ON copyFacts (copy) WHERE hasCover = 0;

        CREATE TRIGGER facts_copy_insert AFTER INSERT ON copy BEGIN
            \(factsOfCopies) WHERE copy.id = NEW.id;
        END;
        CREATE TRIGGER facts_copy_delete AFTER DELETE ON copy BEGIN
            DELETE FROM copyFacts WHERE copy = OLD.id;
        END;
        CREATE TRIGGER facts_copy_update AFTER UPDATE OF id, edition ON copy BEGIN
            DELETE FROM copyFacts WHERE copy = OLD.id;
            \(factsOfCopies) WHERE copy.id = NEW.id;
        END;
        CREATE TRIGGER facts_edition_update
        AFTER UPDATE OF format, publishedDate, pageCount, publisher, series, isbn ON edition BEGIN
            \(factsOfCopies) WHERE copy.edition = NEW.id;
        END;

        """
        + [("insert", "INSERT", "NEW"), ("delete", "DELETE", "OLD"), ("update", "UPDATE OF edition, state", "NEW")].map
    {
        name, event, version in
        """
        CREATE TRIGGER facts_cover_\(name) AFTER \(event) ON cover BEGIN
            \(factsOfCopies) WHERE copy.edition = \(version).edition;
        END;

        """
    }.joined()

    /// The statement that writes the rows of copies, without its condition.
    private static let factsOfCopies = """
        INSERT OR REPLACE INTO copyFacts (copy, format, year, pages, publisher, series, hasISBN, hasCover)
        SELECT copy.id, format, CAST(substr(publishedDate, 1, 4) AS INTEGER), pageCount, publisher, series,
            isbn IS NOT NULL, EXISTS (
                SELECT 1 FROM cover WHERE cover.edition = copy.edition AND cover.state IN ('fetched', 'person'))
        FROM copy JOIN edition ON edition.id = copy.edition
        """
}
