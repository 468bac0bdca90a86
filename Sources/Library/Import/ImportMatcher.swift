import Bookplate
import GRDB

/// Finds the book in the library that belongs to an imported row.
struct ImportMatcher {
    let db: Database

    /// Returns the copy that was saved for a request id; `nil` if there is none. The id of the request is stored with
    /// the copy, so that repeating the request, for example by importing the same file again, does not add a second
    /// copy.
    func copy(ofRequest request: String) throws -> Int64? {
        try db.value(Int64.self, "SELECT copy FROM request WHERE id = ?", [request])
    }

    func copy(_ id: ID<Copy>) throws -> Int64? {
        try db.value(Int64.self, "SELECT id FROM copy WHERE uuid = ?", [id.rawValue])
    }

    func edition(_ id: ID<Edition>) throws -> Int64? {
        try db.value(Int64.self, "SELECT id FROM edition WHERE uuid = ?", [id.rawValue])
    }

    func edition(_ isbn: ISBN?) throws -> Int64? {
        guard let isbn else { return nil }
        return try db.value(Int64.self, "SELECT id FROM edition WHERE isbn = ?", [isbn.digits])
    }

    func edition(of copy: Int64) throws -> Int64? {
        try db.value(Int64.self, "SELECT edition FROM copy WHERE id = ?", [copy])
    }

    /// Finds an edition by the ids of other systems, then by its ISBN, and then by title and first author, ignoring
    /// case and diacritics, and the punctuation of the name. An import asks nobody, so the whole title has to agree,
    /// with its subtitle. Two different ISBNs, or two different ids from one system, belong to two editions, even if
    /// their titles are the same.
    func edition(_ isbn: ISBN?, _ metadata: Metadata) throws -> Int64? {
        for (scheme, values) in metadata.identifiers.sorted(by: { $0.key < $1.key }) where namesEditions(scheme) {
            for value in values {
                let row = try db.row(
                    """
                    SELECT edition.id, isbn FROM identifier JOIN edition ON edition.id = identifier.edition
                    WHERE scheme = ? AND value = ? LIMIT 1
                    """, [scheme, value])
                guard let row else { continue }
                if let isbn, let other = row["isbn"] as String?, other != isbn.digits { continue }
                return row["id"]
            }
        }
        if let id = try edition(isbn) { return id }
        guard let title = metadata.title?.storable(TextLimit.title) else { return nil }
        let folded = [title, metadata.subtitle?.storable(TextLimit.title)].compactMap(\.self).joined(separator: " ")
            .searchFolded
        let author = WorkIdentity.author(metadata.authors.first?.name.searchFolded)
        let rows = try db.rows(
            """
            SELECT edition.id, author.folded AS author FROM edition
            LEFT JOIN editionAuthor ON edition = edition.id AND position = 0
            LEFT JOIN author ON author.id = editionAuthor.author
            WHERE edition.folded = ? AND (isbn IS NULL OR ?) ORDER BY edition.id LIMIT 50
            """, [folded, isbn == nil])
        return try rows.first {
            try WorkIdentity.author($0["author"]) == author && !isDifferent($0["id"], from: metadata.identifiers)
        }?["id"]
    }

    /// Returns true if another system treats an edition and an imported book as different editions: both have ids of
    /// the same scheme, but none in common.
    private func isDifferent(_ edition: Int64, from identifiers: [String: [String]]) throws -> Bool {
        let offered = identifiers.filter { namesEditions($0.key) && !$0.value.isEmpty }
        guard !offered.isEmpty else { return false }
        let rows = try db.rows("SELECT scheme, value FROM identifier WHERE edition = ?", [edition])
        let stored = Dictionary(grouping: rows) { $0["scheme"] as String }
        return offered.contains { scheme, values in
            stored[scheme].map { rows in !rows.contains { values.contains($0["value"]) } } ?? false
        }
    }

    /// Returns the copy of an edition that is chosen for a row without an id of its own. Copies that are not in the
    /// trash are preferred, then owned copies, and then older copies.
    ///
    /// - Parameter claimed: the copies that already belong to other rows.
    func copy(of edition: Int64, except claimed: Set<Int64> = []) throws -> Int64? {
        try db.rows(
            "SELECT id FROM copy WHERE edition = ? ORDER BY deleted IS NOT NULL, isOwned DESC, id LIMIT 1000", [edition]
        ).lazy.map { $0["id"] as Int64 }.first { !claimed.contains($0) }
    }

    /// Returns true if the ids of a scheme, such as `goodreads`, identify editions, not works or the copies of one
    /// library.
    private func namesEditions(_ scheme: String) -> Bool {
        ["goodreads", "librarything", "openlibrary", "amazon", "google", "oclc"].contains(scheme)
    }
}
