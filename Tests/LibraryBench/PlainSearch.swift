import GRDB

/// The baseline: the same texts in one FTS5 table as in its manual, without ranks, reasons, filters or counts.
final class PlainSearch: Sendable {
    private let queue: DatabaseQueue

    /// - Parameter library: the library with the texts; `nil` for a file that has them already.
    init(at path: String, from library: String?) throws {
        queue = try DatabaseQueue(path: path)
        guard let library else { return }
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = -200000")
            try db.execute(sql: "ATTACH ? AS library", arguments: [library])
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE book USING fts5 (
                        title, subtitle, authors, series, tags, remarks, isbn,
                        tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3 4');
                    INSERT INTO book (rowid, title, subtitle, authors, series, tags, remarks, isbn)
                    SELECT copy.id, title, subtitle,
                        (SELECT group_concat(name, ' ') FROM library.editionAuthor JOIN library.author
                            ON author.id = editionAuthor.author WHERE editionAuthor.edition = edition.id),
                        series,
                        (SELECT group_concat(displayName, ' ') FROM library.copyTag JOIN library.tag ON tag.id = copyTag.tag
                            WHERE copyTag.copy = copy.id),
                        (SELECT group_concat(text, ' ') FROM library.note WHERE note.copy = copy.id), isbn
                    FROM library.copy JOIN library.edition ON edition.id = copy.edition WHERE copy.deleted IS NULL
                    ORDER BY copy.id;
                    INSERT INTO book (book) VALUES ('optimize');
                    """)
            try db.execute(sql: "DETACH library")
        }
    }

    /// Finds the newest 50 with a snippet, in plain SQL.
    func search(_ text: String) throws -> Int {
        let words = text.split(separator: " ").map { "\"\($0)\" *" }.joined(separator: " ")
        return try queue.read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT rowid, title, authors, tags, snippet(book, -1, '⟦', '⟧', '…', 12) FROM book
                        WHERE book MATCH ? ORDER BY rowid DESC LIMIT 50
                        """), arguments: [words]
            ).count
        }
    }

    func close() throws { try queue.close() }
}
