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
    ) async throws -> Relabelling {
        let name = try name.checked(as: kind.rawValue, limit: TextLimit.name)
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let row = try kind == .tag ? tagRow(db, name) : shelfRow(db, name)
            guard row != nil else { throw TextRefusal.empty(what: kind.rawValue) }
            let label = try StoredLabel.named(db, kind, name)
            let titles = try Self.touch(db, copies) { try label.put(db, on: $0) }
            return (
                Relabelling(label: try label.label(db), changedBooks: titles.count),
                titles.isEmpty
                    ? "added the \(kind.rawValue) \(quoted(label.name))"
                    : "put \(quoted(titles)) \(kind == .tag ? "under the tag" : "on the shelf") \(quoted(label.name))"
            )
        }
        return done.telling(change)
    }

    public func removeLabel(
        _ kind: Label.Kind, _ name: String, from copies: [ID<Copy>], at now: Date
    ) async throws -> Relabelling {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let label = try StoredLabel.named(db, kind, name)
            let titles = try Self.touch(db, copies) { try label.take(db, off: $0) }
            return (
                Relabelling(label: try label.label(db), changedBooks: titles.count),
                "took \(quoted(titles)) off the \(kind.rawValue) \(quoted(label.name))"
            )
        }
        return done.telling(change)
    }

    public func renameLabel(
        _ kind: Label.Kind, _ name: String, to newName: String, at now: Date
    ) async throws -> Relabelling {
        let newName = try newName.checked(as: kind.rawValue, limit: TextLimit.name)
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let label = try StoredLabel.named(db, kind, name)
            if let other = try StoredLabel.find(db, kind, newName), other.row != label.row {
                throw LabelRefusal.taken(what: kind.rawValue, name: label.name, by: other.name)
            }
            try label.rename(db, to: newName)
            let now = try StoredLabel.named(db, kind, newName).label(db)
            return (
                Relabelling(label: now, changedBooks: now.books),
                "renamed the \(kind.rawValue) \(quoted(label.name)) to \(quoted(now.name)) on \(bookCount(now.books))"
            )
        }
        return done.telling(change)
    }

    public func mergeLabels(
        _ kind: Label.Kind, _ names: [String], into target: String, at now: Date
    ) async throws -> Relabelling {
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
                Relabelling(label: try target.label(db), changedBooks: changed),
                "merged the \(kind.rawValue) \(names.prefix(200)) into \(quoted(target.name)) on \(bookCount(changed))"
            )
        }
        return done.telling(change)
    }

    public func deleteLabels(_ kind: Label.Kind, _ names: [String], at now: Date) async throws -> [Relabelling] {
        let (done, change) = try await changed(.edit, at: now) { db, _ in
            let labels = try StoredLabel.named(db, kind, names)
            let gone = try labels.map { stored in
                let label = try stored.label(db)
                try stored.delete(db)
                return Relabelling(label: label, changedBooks: label.books)
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

extension Relabelling {
    fileprivate func telling(_ change: ID<Change>?) -> Relabelling {
        var told = self
        told.change = change
        return told
    }
}

extension [Relabelling] {
    fileprivate func telling(_ change: ID<Change>?) -> [Relabelling] { map { $0.telling(change) } }
}
