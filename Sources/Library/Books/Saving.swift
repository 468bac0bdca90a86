import Bookplate
import FoundationEssentials
import GRDB

/// Saves what was confirmed, inside one change.
struct Saving {
    let db: Database
    let change: ID<Change>
    let now: Date

    func save(_ confirmed: Confirmed) throws -> SaveResult {
        let known = try db.value(
            String.self, "SELECT copy.uuid FROM request JOIN copy ON copy.id = request.copy WHERE request.id = ?",
            [confirmed.request])
        if let known { return .alreadySaved(ID(rawValue: known)) }
        let existing = try confirmed.isbn.map {
            try StoredBooks.fetch(db, "WHERE edition.isbn = ? ORDER BY copy.id", [$0.digits])
        }
        guard let existing, let first = existing.first else { return try saveNewEdition(confirmed) }
        let edition = StoredEdition(row: first.editionRow, edition: first.book.edition)
        if !confirmed.anotherCopy {
            let live = existing.filter { $0.book.copy.deleted == nil }
            if let owned = live.first(where: { $0.book.copy.isOwned }) { return .owned(owned.book) }
            // One that was wished for, or only read: borrowed, as trackers' exports have it.
            if let other = live.first(where: { $0.book.copy.isOnWishlist }) ?? live.first {
                if confirmed.preset.isWishlist, other.book.copy.isOnWishlist { return .owned(other.book) }
                try reuse(other, of: edition, for: confirmed)
                return other.book.copy.isOnWishlist
                    ? .wishFulfilled(other.book.id, change: change) : .saved(other.book.id, change: change)
            }
            // The one deleted last, if several are in the trash.
            let trashed = existing.filter { $0.book.copy.deleted != nil }
                .max { ($0.book.copy.deleted ?? now) < ($1.book.copy.deleted ?? now) }
            if let trashed {
                try reuse(trashed, of: edition, for: confirmed)
                return .restored(trashed.book.id, change: change)
            }
        }
        try fillGaps(of: edition, from: confirmed)
        return .saved(try addCopy(of: edition.row, for: confirmed), change: change)
    }

    private func saveNewEdition(_ confirmed: Confirmed) throws -> SaveResult {
        let edition = Edition(
            isbn: confirmed.isbn, isbnText: confirmed.isbnText?.storable(TextLimit.name),
            metadata: confirmed.metadata.storable, editedFields: confirmed.editedFields)
        // An edition whose last copy went by another way can still be there.
        if let isbn = confirmed.isbn,
            let row = try db.value(Int64.self, "SELECT id FROM edition WHERE isbn = ?", [isbn.digits])
        {
            return .saved(try addCopy(of: row, for: confirmed), change: change)
        }
        let stored = try StoredEdition.insert(edition, db)
        return .saved(try addCopy(of: stored.row, for: confirmed), change: change)
    }

    private func addCopy(of edition: Int64, for confirmed: Confirmed) throws -> ID<Copy> {
        var copy = Copy(added: now)
        copy.status = confirmed.preset.status
        copy.isOwned = !confirmed.preset.isWishlist
        copy.isOnWishlist = confirmed.preset.isWishlist
        copy.shelf = confirmed.preset.shelf
        copy.tags = confirmed.preset.tags
        let row = try StoredCopy.insert(copy, of: edition, db)
        // A batch says nothing of days: the reading is there, its dates are not.
        if let state = Reading.State(after: copy.status) {
            try StoredReadings.insert(Reading(state: state), at: 0, of: row, db)
        }
        try finish(confirmed, copy: row)
        return copy.id
    }

    /// A copy that is not owned, or in the trash, becomes the copy that was confirmed.
    private func reuse(_ entry: StoredBooks.Entry, of edition: StoredEdition, for confirmed: Confirmed) throws {
        let preset = confirmed.preset
        try db.run(
            """
            UPDATE copy SET deleted = NULL, isOwned = ?, isOnWishlist = ?, shelf = coalesce(?, shelf) WHERE id = ?
            """,
            [
                !preset.isWishlist, preset.isWishlist, try preset.shelf.flatMap { try shelfRow(db, $0) },
                entry.copyRow,
            ])
        // To Read is what a batch says when it says nothing.
        if preset.status != .toRead {
            var tracker = Tracker(entry.book)
            try StoredTracker.store(tracker.set(preset.status, .ofBatch(at: now)), of: entry.copyRow, db)
        }
        try addTags(db, preset.tags, to: entry.copyRow)
        try fillGaps(of: edition, from: confirmed)
        try finish(confirmed, copy: entry.copyRow)
    }

    /// What the person typed now counts where nobody typed before; everything else only fills gaps, and no field that was
    /// edited, even to nothing, is touched.
    private func fillGaps(of stored: StoredEdition, from confirmed: Confirmed) throws {
        var new = stored.edition
        let offered = confirmed.metadata.storable
        for field in confirmed.editedFields.subtracting(new.editedFields) {
            new.metadata.take(field, from: offered)
        }
        new.metadata.fillGaps(from: offered)
        for field in stored.edition.editedFields { new.metadata.take(field, from: stored.edition.metadata) }
        new.editedFields.formUnion(confirmed.editedFields)
        try stored.store(new, db)
    }

    private func finish(_ confirmed: Confirmed, copy: Int64) throws {
        try db.run("INSERT INTO request (id, copy) VALUES (?, ?)", [confirmed.request, copy])
        guard let item = confirmed.item else { return }
        try db.run(
            "UPDATE intakeItem SET state = 'confirmed', leaseHolder = NULL, leaseUntil = NULL WHERE uuid = ?",
            [item.rawValue])
    }
}

/// The row of a shelf, made if it is new; `nil` for a name of nothing.
func shelfRow(_ db: Database, _ name: String) throws -> Int64? {
    guard let name = name.storable(TextLimit.name) else { return nil }
    return try storedID(
        db, find: "SELECT id FROM shelf WHERE name = ?", [name.caseFolded],
        make: "INSERT INTO shelf (name, displayName) VALUES (?, ?)", [name.caseFolded, name])
}

/// Adds tags to a copy, made where they are new; those it has already stay as they are.
func addTags(_ db: Database, _ names: [String], to copy: Int64) throws {
    for name in names {
        guard let tag = try tagRow(db, name) else { continue }
        try db.run("INSERT INTO copyTag (copy, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", [copy, tag])
    }
}

/// The row of a tag, made if it is new; `nil` for a name of nothing.
func tagRow(_ db: Database, _ name: String) throws -> Int64? {
    guard let name = name.storable(TextLimit.name) else { return nil }
    return try storedID(
        db, find: "SELECT id FROM tag WHERE name = ?", [name.caseFolded],
        make: "INSERT INTO tag (name, displayName, folded) VALUES (?, ?, ?)",
        [name.caseFolded, name, name.searchFolded])
}
