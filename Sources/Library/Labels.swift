import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Labels {
    public func labels(_ kind: Label.Kind) async throws -> [Label] {
        try await read { db in
            let counted =
                switch kind {
                case .tag:
                    """
                    SELECT displayName, (SELECT count(*) FROM copyTag JOIN copy ON copy.id = copyTag.copy
                        WHERE copyTag.tag = tag.id AND copy.deleted IS NULL) AS books FROM tag ORDER BY name
                    """
                case .shelf:
                    """
                    SELECT displayName, (SELECT count(*) FROM copy
                        WHERE copy.shelf = shelf.id AND copy.deleted IS NULL) AS books FROM shelf ORDER BY name
                    """
                }
            return try db.rows(counted).map { Label(kind: kind, name: $0["displayName"], books: $0["books"]) }
        }
    }

    public func addLabel(
        _ kind: Label.Kind, _ name: String, to copies: [ID<Copy>], at now: Date
    ) async throws -> LabelChange {
        let name = try name.checked(as: kind.rawValue, limit: TextLimit.name)
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let row = try kind == .tag ? tagRow(db, name) : shelfRow(db, name)
            guard row != nil else { throw TextRefusal.empty(what: kind.rawValue) }
            let label = try StoredLabel.require(db, kind, name)
            let titles = try Self.apply(db, to: copies) { try label.attach(db, to: $0) }
            let placed =
                kind == .tag
                ? "tagged \(quoted(titles)) with \(quoted(label.name))"
                : "put \(quoted(titles)) on the shelf \(quoted(label.name))"
            return (
                LabelChange(label: try label.counted(db), changedBooks: titles.count),
                titles.isEmpty ? "added the \(kind.rawValue) \(quoted(label.name))" : placed
            )
        }
        return done.with(change: change)
    }

    public func removeLabel(
        _ kind: Label.Kind, _ name: String, from copies: [ID<Copy>], at now: Date
    ) async throws -> LabelChange {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let label = try StoredLabel.require(db, kind, name)
            let titles = try Self.apply(db, to: copies) { try label.detach(db, from: $0) }
            let removed =
                kind == .tag
                ? "removed the tag \(quoted(label.name)) from \(quoted(titles))"
                : "took \(quoted(titles)) off the shelf \(quoted(label.name))"
            return (LabelChange(label: try label.counted(db), changedBooks: titles.count), removed)
        }
        return done.with(change: change)
    }

    public func renameLabel(
        _ kind: Label.Kind, _ name: String, to newName: String, at now: Date
    ) async throws -> LabelChange {
        let newName = try newName.checked(as: kind.rawValue, limit: TextLimit.name)
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let label = try StoredLabel.require(db, kind, name)
            if let other = try StoredLabel.find(db, kind, newName), other.row != label.row {
                throw LabelRefusal.taken(what: kind.rawValue, name: label.name, by: other.name)
            }
            try label.rename(db, to: newName)
            let now = try StoredLabel.require(db, kind, newName).counted(db)
            return (
                LabelChange(label: now, changedBooks: now.books),
                "renamed the \(kind.rawValue) \(quoted(label.name)) to \(quoted(now.name)) on \(bookCount(now.books))"
            )
        }
        return done.with(change: change)
    }

    public func mergeLabels(
        _ kind: Label.Kind, _ names: [String], into target: String, at now: Date
    ) async throws -> LabelChange {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let target = try StoredLabel.require(db, kind, target)
            let merged = try StoredLabel.require(db, kind, names).filter { $0.row != target.row }
            guard !merged.isEmpty else { throw LabelRefusal.alreadyOne(what: kind.rawValue, name: target.name) }
            var changed = 0
            for label in merged {
                changed += try label.count(db)
                try label.moveBooks(db, to: target)
                try label.delete(db)
            }
            let names = merged.map { quoted($0.name) }.joined(separator: ", ")
            return (
                LabelChange(label: try target.counted(db), changedBooks: changed),
                "merged the \(kind.rawValue) \(names.prefix(200)) into \(quoted(target.name)) on \(bookCount(changed))"
            )
        }
        return done.with(change: change)
    }

    public func deleteLabels(_ kind: Label.Kind, _ names: [String], at now: Date) async throws -> [LabelChange] {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let labels = try StoredLabel.require(db, kind, names)
            let gone = try labels.map { stored in
                let label = try stored.counted(db)
                try stored.delete(db)
                return LabelChange(label: label, changedBooks: label.books)
            }
            let names = labels.map { quoted($0.name) }.joined(separator: ", ")
            let books = gone.reduce(0) { $0 + $1.changedBooks }
            return (gone, "deleted the \(kind.rawValue) \(names.prefix(200)) (removed from \(bookCount(books)))")
        }
        return done.with(change: change)
    }

    /// Runs `edit` on each copy.
    ///
    /// - Returns: the titles of the books that `edit` has changed.
    private static func apply(
        _ db: Database, to copies: [ID<Copy>], _ edit: (Int64) throws -> Void
    ) throws -> [String] {
        try copies.compactMap { id in
            guard let stored = try StoredBook.one(db, id) else { throw LibraryError.noSuchBook(id) }
            let before = db.totalChangesCount
            try edit(stored.copyRow)
            return db.totalChangesCount == before ? nil : stored.book.displayTitle
        }
    }
}

/// A tag or a shelf as a database row.
struct StoredLabel {
    let kind: Label.Kind
    let row: Int64
    let name: String

    /// Returns an SQL condition on the table copy that selects the copies with a label. Its argument is the label's row
    /// id.
    static func isOnCopy(_ kind: Label.Kind) -> String {
        switch kind {
        case .tag: "copy.id IN (SELECT copy FROM copyTag WHERE tag = ?)"
        case .shelf: "copy.shelf = ?"
        }
    }

    /// Finds a label by name, ignoring case.
    static func find(_ db: Database, _ kind: Label.Kind, _ name: String) throws -> StoredLabel? {
        guard let name = name.storable(TextLimit.name) else { return nil }
        return try db.row("SELECT id, displayName FROM \(kind.rawValue) WHERE name = ?", [name.caseFolded]).map {
            StoredLabel(kind: kind, row: $0["id"], name: $0["displayName"])
        }
    }

    /// Finds a label by name, ignoring case.
    ///
    /// - Throws: ``LabelRefusal/none(what:name:near:)`` with similar names, if there is no such label.
    static func require(_ db: Database, _ kind: Label.Kind, _ name: String) throws -> StoredLabel {
        if let label = try find(db, kind, name) { return label }
        let names = try db.rows("SELECT displayName FROM \(kind.rawValue)").map { $0[0] as String }
        throw LabelRefusal.none(what: kind.rawValue, name: name, near: name.nearest(among: names))
    }

    /// Finds several labels by name. A label whose name is in the list twice is returned only once.
    static func require(_ db: Database, _ kind: Label.Kind, _ names: [String]) throws -> [StoredLabel] {
        try names.reduce(into: []) { labels, name in
            let label = try require(db, kind, name)
            if !labels.contains(where: { $0.row == label.row }) { labels.append(label) }
        }
    }

    /// Counts the books that have this label and are not in the trash.
    func count(_ db: Database) throws -> Int {
        try db.value(
            Int.self, "SELECT count(*) FROM copy WHERE deleted IS NULL AND \(Self.isOnCopy(kind))", [row]) ?? 0
    }

    /// Returns the label with the number of its books.
    func counted(_ db: Database) throws -> Label { Label(kind: kind, name: name, books: try count(db)) }

    /// Renames the label. A new name that differs only in case changes how the label is spelled, but not which books
    /// have it.
    func rename(_ db: Database, to newName: String) throws {
        switch kind {
        case .tag:
            try db.run(
                "UPDATE tag SET name = ?, displayName = ?, folded = ? WHERE id = ?",
                [newName.caseFolded, newName, newName.searchFolded, row])
        case .shelf:
            try db.run(
                "UPDATE shelf SET name = ?, displayName = ? WHERE id = ?", [newName.caseFolded, newName, row])
        }
    }

    func attach(_ db: Database, to copy: Int64) throws {
        switch kind {
        case .tag: try db.run("INSERT INTO copyTag (copy, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", [copy, row])
        case .shelf: try db.run("UPDATE copy SET shelf = ?1 WHERE id = ?2 AND shelf IS NOT ?1", [row, copy])
        }
    }

    func detach(_ db: Database, from copy: Int64) throws {
        switch kind {
        case .tag: try db.run("DELETE FROM copyTag WHERE copy = ? AND tag = ?", [copy, row])
        case .shelf: try db.run("UPDATE copy SET shelf = NULL WHERE id = ? AND shelf = ?", [copy, row])
        }
    }

    /// Moves all books of the label to another label, including books in the trash.
    func moveBooks(_ db: Database, to other: StoredLabel) throws {
        switch kind {
        case .tag:
            try db.run(
                "INSERT INTO copyTag (copy, tag) SELECT copy, ? FROM copyTag WHERE tag = ? ON CONFLICT DO NOTHING",
                [other.row, row])
        case .shelf: try db.run("UPDATE copy SET shelf = ? WHERE shelf = ?", [other.row, row])
        }
    }

    /// Removes the label from all books, and deletes the label.
    func delete(_ db: Database) throws {
        switch kind {
        case .tag: try db.run("DELETE FROM copyTag WHERE tag = ?", [row])
        case .shelf: try db.run("UPDATE copy SET shelf = NULL WHERE shelf = ?", [row])
        }
        try db.run("DELETE FROM \(kind.rawValue) WHERE id = ?", [row])
    }
}
