import Bookplate
import GRDB

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
