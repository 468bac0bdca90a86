import Bookplate
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
    ///
    /// The column `summary` has all that the counts of the filters need, in one number, because for each of 100,000
    /// rows, reading a column costs more than the arithmetic: see ``FactsSummary``.
    private static let copyFacts = """
        CREATE TABLE copyFacts (
            copy INTEGER PRIMARY KEY,
            format TEXT,
            year INTEGER,
            pages INTEGER,
            publisher TEXT,
            series TEXT,
            hasISBN INTEGER NOT NULL,
            hasCover INTEGER NOT NULL,
            summary INTEGER NOT NULL GENERATED ALWAYS AS (
                -- SQLite gives << and | the same precedence.
                (hasCover = 0) | ((hasISBN = 0) << 1) | ((publisher IS NULL) << 2) | ((year IS NULL) << 3)
                | ((pages IS NULL) << 4) | ((format IS NULL) << 5) | ((series IS NULL) << 6)
                | (CASE format WHEN 'physical' THEN 1 WHEN 'digital' THEN 2 WHEN 'audiobook' THEN 3 ELSE 0 END << 7)
                | (CASE WHEN pages IS NULL THEN 0 WHEN pages < 150 THEN 1 WHEN pages < 300 THEN 2 WHEN pages < 500 THEN 3
                    ELSE 4 END << 9)
                | (coalesce(year, 0) << 12)) STORED
        ) STRICT;
        CREATE INDEX copyFactsByFormat ON copyFacts (format);
        CREATE INDEX copyFactsByYear ON copyFacts (year);
        CREATE INDEX copyFactsByPages ON copyFacts (pages);
        CREATE INDEX copyFactsByPublisher ON copyFacts (publisher);
        CREATE INDEX copyFactsBySeries ON copyFacts (series);
        CREATE INDEX copyFactsWithoutISBN ON copyFacts (hasISBN) WHERE hasISBN = 0;
        CREATE INDEX copyFactsWithoutCover ON copyFacts (hasCover) WHERE hasCover = 0;

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
            \(removedFacts("NEW.id"))
            \(factsOfCopies) WHERE copy.edition = NEW.id;
        END;

        """
        + [("insert", "INSERT", "NEW"), ("delete", "DELETE", "OLD"), ("update", "UPDATE OF edition, state", "NEW")].map
    {
        name, event, version in
        """
        CREATE TRIGGER facts_cover_\(name) AFTER \(event) ON cover BEGIN
            \(removedFacts("\(version).edition"))
            \(factsOfCopies) WHERE copy.edition = \(version).edition;
        END;

        """
    }.joined()

    /// Returns the statement that removes the rows of an edition's copies before they are written again. In a trigger,
    /// INSERT OR REPLACE would not replace them if the statement that fires the trigger has an ON CONFLICT of its own.
    private static func removedFacts(_ edition: String) -> String {
        "DELETE FROM copyFacts WHERE copy IN (SELECT id FROM copy WHERE edition = \(edition));"
    }

    /// The statement that writes the rows of copies, without its condition.
    private static let factsOfCopies = """
        INSERT INTO copyFacts (copy, format, year, pages, publisher, series, hasISBN, hasCover)
        SELECT copy.id, format, CAST(substr(publishedDate, 1, 4) AS INTEGER), pageCount, publisher, series,
            isbn IS NOT NULL, EXISTS (
                SELECT 1 FROM cover WHERE cover.edition = copy.edition AND cover.state IN ('fetched', 'person'))
        FROM copy JOIN edition ON edition.id = copy.edition
        """
}

/// The column `copyFacts.summary`.
struct FactsSummary {
    private let bits: Int

    init(_ bits: Int) { self.bits = bits }

    /// The fields that the book lacks, as bits in the order of ``fields``.
    var lacks: Int { bits & 0x7F }
    /// The index in `Metadata.Format.allCases`; `nil` without a format.
    var format: Int? { Self.index(bits >> 7 & 3) }
    /// The raw value of ``PageBand``; `nil` without a page count.
    var pageBand: Int? { Self.index(bits >> 9 & 7) }
    /// The year of publication; `nil` if it is not known.
    var year: Int? { bits & 1 << 3 != 0 ? nil : bits >> 12 }

    private static func index(_ number: Int) -> Int? { number == 0 ? nil : number - 1 }

    static let fields: [MissingField] = [.cover, .isbn, .publisher, .year, .pages, .format, .series]
}
