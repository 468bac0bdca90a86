import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Authors {
    public func authors() async throws -> [Author] {
        try await kept(.authors) { try await read { db in try sortedAuthors(db) } }
    }

    public func renameAuthor(_ name: String, to newName: String, at now: Date) async throws -> AuthorChange {
        let newName = try newName.checked(as: "author", limit: TextLimit.name)
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let author = try StoredAuthor.require(db, name)
            if let other = try StoredAuthor.find(db, exactly: newName), other.row != author.row {
                throw LabelRefusal.taken(what: "author", name: author.name, by: other.name)
            }
            let books = try author.count(db)
            if newName.utf8.elementsEqual(author.name.utf8) {
                return (AuthorChange(author: try author.counted(db), changedBooks: 0), "")
            }
            try db.run(
                "UPDATE author SET name = ?, folded = ? WHERE id = ?", [newName, newName.searchFolded, author.row])
            try markAuthorsEdited(db, try author.editions(db))
            let renamed = StoredAuthor(row: author.row, name: newName, sortName: author.sortName)
            return (
                AuthorChange(author: try renamed.counted(db), changedBooks: books),
                "renamed the author \(quoted(author.name)) to \(quoted(newName)) on \(bookCount(books))"
            )
        }
        return done.with(change: change)
    }

    public func setSortName(of name: String, to sortName: String?, at now: Date) async throws -> AuthorChange {
        let sortName = try sortName?.checked(as: "sort name", limit: TextLimit.name)
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let author = try StoredAuthor.require(db, name)
            try db.run(
                "UPDATE author SET sortName = ?1 WHERE id = ?2 AND sortName IS NOT ?1", [sortName, author.row])
            let isChanged = db.changesCount > 0
            let sorted = try StoredAuthor(row: author.row, name: author.name, sortName: sortName).counted(db)
            return (
                AuthorChange(author: sorted, changedBooks: isChanged ? sorted.books : 0),
                "sorted the author \(quoted(author.name)) as \(quoted(sorted.sortName))"
            )
        }
        return done.with(change: change)
    }

    public func mergeAuthors(_ names: [String], into target: String, at now: Date) async throws -> AuthorChange {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let target = try StoredAuthor.require(db, target)
            let merged = try StoredAuthor.require(db, names).filter { $0.row != target.row }
            guard !merged.isEmpty else { throw LabelRefusal.alreadyOne(what: "author", name: target.name) }
            var changed = 0
            for author in merged {
                let editions = try author.editions(db)
                changed += try author.count(db)
                try db.run("UPDATE editionAuthor SET author = ? WHERE author = ?", [target.row, author.row])
                for edition in editions {
                    // If the author now has several positions in one role, only the first position stays.
                    try db.run(
                        """
                        DELETE FROM editionAuthor WHERE edition = ?1 AND author = ?2 AND EXISTS (
                            SELECT 1 FROM editionAuthor before WHERE before.edition = ?1 AND before.author = ?2
                                AND before.role = editionAuthor.role AND before.position < editionAuthor.position)
                        """, [edition, target.row])
                }
                try markAuthorsEdited(db, editions)
                try removeUnusedAuthor(db, author.row)
            }
            let names = merged.map { quoted($0.name) }.joined(separator: ", ")
            return (
                AuthorChange(author: try target.counted(db), changedBooks: changed),
                "merged the author \(names.prefix(200)) into \(quoted(target.name)) on \(bookCount(changed))"
            )
        }
        return done.with(change: change)
    }

    public func deleteAuthors(_ names: [String], at now: Date) async throws -> [AuthorChange] {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let authors = try StoredAuthor.require(db, names)
            let gone = try authors.map { stored in
                let author = try stored.counted(db)
                let editions = try stored.editions(db)
                try db.run("DELETE FROM editionAuthor WHERE author = ?", [stored.row])
                try markAuthorsEdited(db, editions)
                try removeUnusedAuthor(db, stored.row)
                return AuthorChange(author: author, changedBooks: author.books)
            }
            let names = authors.map { quoted($0.name) }.joined(separator: ", ")
            let books = gone.reduce(0) { $0 + $1.changedBooks }
            return (gone, "deleted the author \(names.prefix(200)) (removed from \(bookCount(books)))")
        }
        return done.with(change: change)
    }
}

private func sortedAuthors(_ db: Database) throws -> [Author] {
    let counts = try AuthorCounts(db)
    let authors: [Author] = try db.rows(
        "SELECT id, name, sortName FROM author ORDER BY folded, name, id"
    ).compactMap { row in
        guard let roles = counts.roles[row[0]] else { return nil }
        return Author(name: row[1], books: counts.books[row[0]] ?? 0, roles: roles, correctedSortName: row[2])
    }
    guard try isOn(.authorsByFamilyName, db) else { return authors }
    return authors.enumerated().map { (key: $1.sortName.searchFolded, place: $0) }
        .sorted { ($0.key, $0.place) < ($1.key, $1.place) }.map { authors[$0.place] }
}

/// The books of all authors, without books in the trash, counted in one pass over each table.
private struct AuthorCounts {
    private(set) var books: [Int64: Int] = [:]
    private(set) var roles: [Int64: [Contributor.Role: Int]] = [:]

    init(_ db: Database) throws {
        var copies: [Int64: Int] = [:]
        try db.forEachRow("SELECT edition, count(*) FROM copy WHERE deleted IS NULL GROUP BY edition") {
            copies[$0[0]] = $0[1]
        }
        // An author who is named several times in an edition counts only once, and once for each role. Editions have
        // few authors, so a list of them is searched faster than a dictionary.
        var (edition, ofEdition): (Int64?, [(author: Int64, role: Contributor.Role)]) = (nil, [])
        try db.forEachRow("SELECT edition, author, role FROM editionAuthor ORDER BY edition") { row in
            if row[0] != edition {
                edition = row[0]
                ofEdition.removeAll(keepingCapacity: true)
            }
            guard let count = copies[row[0]] else { return }
            let (author, role): (Int64, Contributor.Role) = (row[1], try row.word("role", at: 2))
            if !ofEdition.contains(where: { $0.author == author }) { books[author, default: 0] += count }
            guard !ofEdition.contains(where: { $0.author == author && $0.role == role }) else { return }
            ofEdition.append((author, role))
            roles[author, default: [:]][role, default: 0] += count
        }
    }
}

/// An author as a database row.
private struct StoredAuthor {
    let row: Int64
    let name: String
    /// The sort name that a person has entered.
    let sortName: String?

    init(row: Int64, name: String, sortName: String?) {
        (self.row, self.name, self.sortName) = (row, name, sortName)
    }

    private init(_ row: Row) { self.init(row: row["id"], name: row["name"], sortName: row["sortName"]) }

    static func find(_ db: Database, exactly name: String) throws -> StoredAuthor? {
        guard let name = name.storable(TextLimit.name) else { return nil }
        return try db.row("SELECT id, name, sortName FROM author WHERE name = ?", [name]).map(Self.init)
    }

    /// Finds the author with exactly this name. If there is none, finds an author by ignoring case and diacritics,
    /// provided that only one author matches.
    ///
    /// - Throws: ``LabelRefusal`` if no author matches, or more than one does.
    static func require(_ db: Database, _ name: String) throws -> StoredAuthor {
        if let author = try find(db, exactly: name) { return author }
        let fits = try db.rows(
            "SELECT id, name, sortName FROM author WHERE folded = ? ORDER BY name",
            [name.storable(TextLimit.name)?.searchFolded]
        ).map(Self.init)
        if fits.count > 1 { throw LabelRefusal.ambiguous(what: "author", name: name, fits: fits.map(\.name)) }
        if let author = fits.first { return author }
        let names = try db.rows("SELECT name FROM author").map { $0[0] as String }
        throw LabelRefusal.none(what: "author", name: name, near: name.nearest(among: names))
    }

    /// Finds several authors by name. An author whose name is in the list twice is returned only once.
    static func require(_ db: Database, _ names: [String]) throws -> [StoredAuthor] {
        try names.reduce(into: []) { authors, name in
            let author = try require(db, name)
            if !authors.contains(where: { $0.row == author.row }) { authors.append(author) }
        }
    }

    func editions(_ db: Database) throws -> [Int64] {
        try db.rows("SELECT DISTINCT edition FROM editionAuthor WHERE author = ?", [row]).map { $0[0] }
    }

    /// Counts the author's books that are not in the trash.
    func count(_ db: Database) throws -> Int {
        try db.value(
            Int.self,
            """
            SELECT count(*) FROM copy WHERE deleted IS NULL
                AND edition IN (SELECT edition FROM editionAuthor WHERE author = ?)
            """, [row]) ?? 0
    }

    /// Returns the author with the total number of books and the number for each role.
    func counted(_ db: Database) throws -> Author {
        var roles: [Contributor.Role: Int] = [:]
        for counted in try db.rows(
            """
            SELECT role, count(DISTINCT copy.id) AS books FROM editionAuthor
            JOIN copy ON copy.edition = editionAuthor.edition
            WHERE editionAuthor.author = ? AND copy.deleted IS NULL GROUP BY role
            """, [row])
        { roles[try counted.word("role")] = counted["books"] }
        return Author(name: name, books: try count(db), roles: roles, correctedSortName: sortName)
    }
}

/// Marks the authors of these editions as edited by a person, so that no later lookup replaces them.
private func markAuthorsEdited(_ db: Database, _ editions: [Int64]) throws {
    let field = Metadata.Field.authors
    for edition in editions {
        guard
            let row = try db.row("SELECT fieldSources, editedFields FROM edition WHERE id = ?", [edition])
        else { continue }
        var sources = try decodeJSON([Metadata.Field: SourceName].self, row["fieldSources"])
        var edited = try decodeJSON(Set<Metadata.Field>.self, row["editedFields"])
        let hasAuthors = try db.row("SELECT 1 FROM editionAuthor WHERE edition = ? LIMIT 1", [edition]) != nil
        sources[field] = hasAuthors ? .person : nil
        edited.insert(field)
        try db.run(
            "UPDATE edition SET fieldSources = ?, editedFields = ? WHERE id = ?",
            [
                try encodeJSON(sources), try encodeJSON(edited.sorted { $0.rawValue < $1.rawValue }), edition,
            ])
    }
}
