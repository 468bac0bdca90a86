/// The tables of the offline index, and of the rows it is built from.
enum IndexSchema {
    /// "BpIx": tells the file from other SQLite databases.
    static let applicationID: Int32 = 0x4270_4978
    static let version: Int32 = 1

    /// The index itself. One row an ISBN, found by its number; what hangs on it by the edition's.
    static let index = """
        CREATE TABLE main.isbn (isbn INTEGER PRIMARY KEY, edition INTEGER NOT NULL);
        CREATE TABLE main.edition (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, subtitle TEXT, publisher TEXT, published TEXT, pages INTEGER,
            language TEXT, originalLanguage TEXT, format TEXT, series TEXT, seriesNumber TEXT, cover TEXT
        );
        CREATE TABLE main.author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        -- Authors by their number; translators and the like, who have none, by name and role.
        CREATE TABLE main.credit (
            edition INTEGER NOT NULL, position INTEGER NOT NULL, author INTEGER, name TEXT, role TEXT,
            PRIMARY KEY (edition, position)
        ) WITHOUT ROWID;
        CREATE TABLE main.dump (position INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE main.about (editions INTEGER NOT NULL, isbns INTEGER NOT NULL, authors INTEGER NOT NULL, newest TEXT);
        """

    /// Rows as they come, the newest revision of each; lists as JSON, since nothing looks into them before the end.
    static let rows = """
        CREATE TABLE rows.edition (
            id INTEGER PRIMARY KEY, revision INTEGER, modified TEXT, isbns TEXT, work INTEGER, authors TEXT, contributors TEXT,
            title TEXT, subtitle TEXT, publisher TEXT, published TEXT, pages INTEGER,
            language TEXT, originalLanguage TEXT, format TEXT, series TEXT, seriesNumber TEXT, cover TEXT
        );
        CREATE TABLE rows.work (id INTEGER PRIMARY KEY, revision INTEGER, authors TEXT);
        CREATE TABLE rows.author (id INTEGER PRIMARY KEY, revision INTEGER, name TEXT);
        """

    static let editionColumns = [
        "id", "revision", "modified", "isbns", "work", "authors", "contributors", "title", "subtitle", "publisher",
        "published",
        "pages", "language", "originalLanguage", "format", "series", "seriesNumber", "cover",
    ]

    /// Inserts a row, or puts it in the place of an older revision.
    static func upsert(_ table: String, _ columns: [String]) -> String {
        let changes = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        return """
            INSERT INTO rows.\(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))
            ON CONFLICT (id) DO UPDATE SET \(changes) WHERE excluded.revision > \(table).revision
            """
    }

    /// From rows to index, each table in the order of its key: the same rows give the same bytes.
    ///
    /// Of several editions with one ISBN the most complete wins, then the newest, then the lowest number.
    static let assembly = [
        """
        UPDATE rows.edition SET authors = (SELECT authors FROM rows.work WHERE work.id = edition.work)
        WHERE authors = '[]' AND EXISTS (SELECT 1 FROM rows.work WHERE work.id = edition.work)
        """,
        """
        INSERT INTO main.isbn SELECT isbn, id FROM (
            SELECT CAST(item.value AS INTEGER) AS isbn, edition.id AS id, row_number() OVER (
                PARTITION BY item.value
                ORDER BY (authors <> '[]') + (subtitle IS NOT NULL) + (publisher IS NOT NULL) + (published IS NOT NULL)
                    + (pages IS NOT NULL) + (language IS NOT NULL) + (cover IS NOT NULL) DESC, modified DESC, edition.id
            ) AS place
            FROM rows.edition, json_each(edition.isbns) AS item
        ) WHERE place = 1 ORDER BY isbn
        """,
        """
        INSERT INTO main.edition
        SELECT id, title, subtitle, publisher, published, pages, language, originalLanguage, format, series, seriesNumber, cover
        FROM rows.edition WHERE id IN (SELECT edition FROM main.isbn) ORDER BY id
        """,
        """
        INSERT INTO main.credit
        SELECT edition.id, item.key, item.value, NULL, NULL FROM main.edition AS kept
        JOIN rows.edition AS edition ON edition.id = kept.id, json_each(edition.authors) AS item
        WHERE EXISTS (SELECT 1 FROM rows.author WHERE author.id = item.value)
        UNION ALL
        SELECT edition.id, 1000 + item.key, NULL, item.value ->> 'name', item.value ->> 'role' FROM main.edition AS kept
        JOIN rows.edition AS edition ON edition.id = kept.id, json_each(edition.contributors) AS item
        ORDER BY 1, 2
        """,
        """
        INSERT INTO main.author SELECT id, name FROM rows.author
        WHERE id IN (SELECT author FROM main.credit) ORDER BY id
        """,
    ]

    /// Everything about any number of ISBNs, given as a JSON array of numbers.
    static let query = """
        SELECT isbn.isbn AS isbn, edition.*, coalesce(author.name, credit.name) AS creditName, credit.role AS creditRole
        FROM json_each(?) AS asked
        JOIN isbn ON isbn.isbn = asked.value
        JOIN edition ON edition.id = isbn.edition
        LEFT JOIN credit ON credit.edition = edition.id
        LEFT JOIN author ON author.id = credit.author
        ORDER BY isbn.isbn, credit.position
        """
}
