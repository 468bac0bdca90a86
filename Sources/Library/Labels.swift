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
            let label = try StoredLabel.named(db, kind, name)
            let titles = try Self.touch(db, copies) { try label.put(db, on: $0) }
            return (
                LabelChange(label: try label.label(db), changedBooks: titles.count),
                titles.isEmpty
                    ? "added the \(kind.rawValue) \(quoted(label.name))"
                    : "put \(quoted(titles)) \(kind == .tag ? "under the tag" : "on the shelf") \(quoted(label.name))"
            )
        }
        return done.telling(change)
    }

    public func removeLabel(
        _ kind: Label.Kind, _ name: String, from copies: [ID<Copy>], at now: Date
    ) async throws -> LabelChange {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let label = try StoredLabel.named(db, kind, name)
            let titles = try Self.touch(db, copies) { try label.take(db, off: $0) }
            return (
                LabelChange(label: try label.label(db), changedBooks: titles.count),
                "took \(quoted(titles)) off the \(kind.rawValue) \(quoted(label.name))"
            )
        }
        return done.telling(change)
    }

    public func renameLabel(
        _ kind: Label.Kind, _ name: String, to newName: String, at now: Date
    ) async throws -> LabelChange {
        let newName = try newName.checked(as: kind.rawValue, limit: TextLimit.name)
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let label = try StoredLabel.named(db, kind, name)
            if let other = try StoredLabel.find(db, kind, newName), other.row != label.row {
                throw LabelRefusal.taken(what: kind.rawValue, name: label.name, by: other.name)
            }
            try label.rename(db, to: newName)
            let now = try StoredLabel.named(db, kind, newName).label(db)
            return (
                LabelChange(label: now, changedBooks: now.books),
                "renamed the \(kind.rawValue) \(quoted(label.name)) to \(quoted(now.name)) on \(bookCount(now.books))"
            )
        }
        return done.telling(change)
    }

    public func mergeLabels(
        _ kind: Label.Kind, _ names: [String], into target: String, at now: Date
    ) async throws -> LabelChange {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let target = try StoredLabel.named(db, kind, target)
            let merged = try StoredLabel.named(db, kind, names).filter { $0.row != target.row }
            guard !merged.isEmpty else { throw LabelRefusal.alreadyOne(what: kind.rawValue, name: target.name) }
            var changed = 0
            for label in merged {
                changed += try label.count(db)
                try label.give(db, to: target)
                try label.delete(db)
            }
            let names = merged.map { quoted($0.name) }.joined(separator: ", ")
            return (
                LabelChange(label: try target.label(db), changedBooks: changed),
                "merged the \(kind.rawValue) \(names.prefix(200)) into \(quoted(target.name)) on \(bookCount(changed))"
            )
        }
        return done.telling(change)
    }

    public func deleteLabels(_ kind: Label.Kind, _ names: [String], at now: Date) async throws -> [LabelChange] {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let labels = try StoredLabel.named(db, kind, names)
            let gone = try labels.map { stored in
                let label = try stored.label(db)
                try stored.delete(db)
                return LabelChange(label: label, changedBooks: label.books)
            }
            let names = labels.map { quoted($0.name) }.joined(separator: ", ")
            let books = gone.reduce(0) { $0 + $1.changedBooks }
            return (gone, "deleted the \(kind.rawValue) \(names.prefix(200)) from \(bookCount(books))")
        }
        return done.telling(change)
    }

    /// Runs `act` on each copy.
    ///
    /// - Returns: the titles of those that it changed.
    private static func touch(
        _ db: Database, _ copies: [ID<Copy>], _ act: (Int64) throws -> Void
    ) throws -> [String] {
        try copies.compactMap { id in
            guard let stored = try StoredBooks.one(db, id) else { throw LibraryError.noSuchBook(id) }
            let before = db.totalChangesCount
            try act(stored.copyRow)
            return db.totalChangesCount == before ? nil : stored.book.displayTitle
        }
    }
}

extension LabelChange {
    fileprivate func telling(_ change: ID<Change>?) -> LabelChange {
        var told = self
        told.change = change
        return told
    }
}

extension [LabelChange] {
    fileprivate func telling(_ change: ID<Change>?) -> [LabelChange] { map { $0.telling(change) } }
}

/// A tag or a shelf as a row.
struct StoredLabel {
    let kind: Label.Kind
    let row: Int64
    let name: String

    /// The copies that have it, as a condition on the table copy; takes the row number.
    static func isOnCopy(_ kind: Label.Kind) -> String {
        switch kind {
        case .tag: "copy.id IN (SELECT copy FROM copyTag WHERE tag = ?)"
        case .shelf: "copy.shelf = ?"
        }
    }

    /// - Returns: `nil` when there is none of that name, in any spelling.
    static func find(_ db: Database, _ kind: Label.Kind, _ name: String) throws -> StoredLabel? {
        guard let name = name.storable(TextLimit.name) else { return nil }
        return try db.row("SELECT id, displayName FROM \(kind.rawValue) WHERE name = ?", [name.caseFolded]).map {
            StoredLabel(kind: kind, row: $0["id"], name: $0["displayName"])
        }
    }

    /// - Throws: ``LabelRefusal/none(what:name:near:)`` with the names that may have been meant.
    static func named(_ db: Database, _ kind: Label.Kind, _ name: String) throws -> StoredLabel {
        if let label = try find(db, kind, name) { return label }
        let names = try db.rows("SELECT displayName FROM \(kind.rawValue)").map { $0[0] as String }
        throw LabelRefusal.none(what: kind.rawValue, name: name, near: name.nearest(among: names))
    }

    /// Several names, each label once.
    static func named(_ db: Database, _ kind: Label.Kind, _ names: [String]) throws -> [StoredLabel] {
        try names.reduce(into: []) { labels, name in
            let label = try named(db, kind, name)
            if !labels.contains(where: { $0.row == label.row }) { labels.append(label) }
        }
    }

    /// Books that have it, those in the trash not counted.
    func count(_ db: Database) throws -> Int {
        try db.value(
            Int.self, "SELECT count(*) FROM copy WHERE deleted IS NULL AND \(Self.isOnCopy(kind))", [row]) ?? 0
    }

    func label(_ db: Database) throws -> Label { Label(kind: kind, name: name, books: try count(db)) }

    /// Its new name; what is the same but for case stays the same label.
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

    func put(_ db: Database, on copy: Int64) throws {
        switch kind {
        case .tag: try db.run("INSERT INTO copyTag (copy, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", [copy, row])
        case .shelf: try db.run("UPDATE copy SET shelf = ?1 WHERE id = ?2 AND shelf IS NOT ?1", [row, copy])
        }
    }

    func take(_ db: Database, off copy: Int64) throws {
        switch kind {
        case .tag: try db.run("DELETE FROM copyTag WHERE copy = ? AND tag = ?", [copy, row])
        case .shelf: try db.run("UPDATE copy SET shelf = NULL WHERE id = ? AND shelf = ?", [copy, row])
        }
    }

    /// Moves its books, in the trash too, to `other`.
    func give(_ db: Database, to other: StoredLabel) throws {
        switch kind {
        case .tag:
            try db.run(
                "INSERT INTO copyTag (copy, tag) SELECT copy, ? FROM copyTag WHERE tag = ? ON CONFLICT DO NOTHING",
                [other.row, row])
        case .shelf: try db.run("UPDATE copy SET shelf = ? WHERE shelf = ?", [other.row, row])
        }
    }

    /// The label goes, from all books first.
    func delete(_ db: Database) throws {
        switch kind {
        case .tag: try db.run("DELETE FROM copyTag WHERE tag = ?", [row])
        case .shelf: try db.run("UPDATE copy SET shelf = NULL WHERE shelf = ?", [row])
        }
        try db.run("DELETE FROM \(kind.rawValue) WHERE id = ?", [row])
    }
}

// The words in which a change is told to a person.

/// A name or title in quotes, cut where it is long.
func quoted(_ name: String?) -> String { "\"\(name?.storable(80) ?? "Untitled")\"" }

/// The first title and how many more.
func quoted(_ titles: [String]) -> String {
    guard let first = titles.first else { return "no book" }
    return titles.count > 1 ? "\(quoted(first)) and \(titles.count - 1) more" : quoted(first)
}

/// "no book", "1 book", "12 books".
func bookCount(_ count: Int) -> String {
    switch count {
    case 0: "no book"
    case 1: "1 book"
    default: "\(count) books"
    }
}
