import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: EditableShelf {
    public func add(
        _ confirmed: [Confirmed], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> [SaveResult] {
        guard !confirmed.isEmpty else { return [] }
        return try await change(.save, continuing: earlier, at: now) { db, id in
            let saver = BookSaver(db: db, change: id, now: now)
            let results = try confirmed.map(saver.save)
            let confirmers = zip(confirmed, results).compactMap { $1.change == nil ? nil : $0.confirmer }
            let earlier = try db.value(String.self, "SELECT summary FROM change WHERE uuid = ?", [id.rawValue]) ?? ""
            let isInAdvance =
                confirmers.allSatisfy { $0 == .advance } && (earlier.isEmpty || earlier.hasSuffix(inAdvanceSuffix))
            return (results, "saved " + (try savedTitles(db, id)) + (isInAdvance ? inAdvanceSuffix : ""))
        }
    }

    public func books(with isbns: [ISBN]) async throws -> [ISBN: [Book]] {
        guard !isbns.isEmpty else { return [:] }
        let books = try await read { db in
            try StoredBook.fetch(
                db, "WHERE edition.isbn IN (SELECT value FROM json_each(?)) ORDER BY copy.id",
                [jsonList(isbns.map(\.digits))]
            ).map(\.book)
        }
        return Dictionary(
            grouping: books.compactMap { book in book.edition.isbn.map { ($0, book) } }, by: \.0
        ).mapValues { $0.map(\.1) }
    }

    public func book(_ id: ID<Copy>) async throws -> Book? {
        try await read { db in try StoredBook.one(db, id)?.book }
    }

    /// Returns at most 20 copies whose id ends with the given text, newest first. The text must have at least six
    /// characters; a shorter text finds no copies.
    public func books(endingIn ending: String, inTrash: Bool) async throws -> [Book] {
        guard (6...64).contains(ending.utf8.count) else { return [] }
        return try await read { db in
            try StoredBook.fetch(
                db,
                """
                WHERE substr(copy.uuid, -length(?1)) = ?1 AND (copy.deleted IS NOT NULL) = ?2
                ORDER BY copy.id DESC LIMIT 20
                """, [ending.lowercased(), inTrash]
            ).map(\.book)
        }
    }

    public func update(
        _ id: ID<Copy>, at now: Date, _ change: @escaping @Sendable (inout Book) throws -> Void
    ) async throws -> (book: Book, change: ID<Change>?) {
        let (book, change) = try await changed(.edit, at: now) { db, _ in
            guard let stored = try StoredBook.one(db, id) else { throw LibraryError.noSuchBook(id) }
            var wanted = stored.book
            try change(&wanted)
            try updateEdition(db, stored, to: wanted.edition)
            try updateCopy(db, stored, to: wanted.copy)
            try updateStatus(db, stored, to: wanted, self.moment(db, now))
            guard let book = try StoredBook.one(db, id)?.book else { throw LibraryError.noSuchBook(id) }
            return (book, "edited " + quoted(book.displayTitle))
        }
        return (book, change)
    }

    public func take(
        _ records: [Metadata.Field: Metadata], for id: ID<Copy>, at now: Date
    ) async throws -> (book: Book, change: ID<Change>?) {
        let (book, change) = try await changed(.edit, at: now) { db, _ in
            guard let stored = try StoredBook.one(db, id) else { throw LibraryError.noSuchBook(id) }
            var wanted = stored.book.edition
            for (field, record) in records { wanted.metadata.copy(field, from: record) }
            try updateEdition(db, stored, to: wanted, keepsSources: true)
            guard let book = try StoredBook.one(db, id)?.book else { throw LibraryError.noSuchBook(id) }
            return (book, "edited " + quoted(book.displayTitle))
        }
        return (book, change)
    }

    public func update(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date,
        _ change: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?) {
        try await updateBooks(ids, continuing: earlier, at: now) { try change(&$0.copy) }
    }

    public func updateBooks(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, on day: CalendarDay? = nil, at now: Date,
        _ change: @escaping @Sendable (inout Book) throws -> Void
    ) async throws -> (changed: Int, change: ID<Change>?) {
        let (changed, change) = try await self.changed(
            .edit, continuing: earlier, mustContinue: true, at: now
        ) { db, logged in
            var titles: [String] = []
            for id in ids {
                guard let stored = try StoredBook.one(db, id) else { throw LibraryError.noSuchBook(id) }
                var wanted = stored.book
                try change(&wanted)
                // Tags that differ only in case or order count as unchanged.
                if tagNames(of: wanted.copy) == tagNames(of: stored.book.copy) {
                    wanted.copy.tags = stored.book.copy.tags
                }
                if wanted.edition != stored.book.edition { try updateEdition(db, stored, to: wanted.edition) }
                if wanted.copy != stored.book.copy { try updateCopy(db, stored, to: wanted.copy) }
                let hasSteps = try updateStatus(db, stored, to: wanted, on: day, self.moment(db, now))
                if hasSteps || wanted != stored.book { titles.append(stored.book.displayTitle) }
            }
            return (titles.count, try summary("edited ", titles, of: logged, db))
        }
        return (changed, change)
    }

    public func fillGaps(
        from records: [ISBN: Metadata], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (filled: [ISBN: [Metadata.Field]], change: ID<Change>?) {
        let (filled, change) = try await changed(.edit, continuing: earlier, at: now) { db, logged in
            let filled = try Self.fill(records, db)
            return (filled.fields, try summary("completed ", filled.titles, of: logged, db))
        }
        return (filled, change)
    }

    public func complete(_ records: [ISBN: Metadata], at now: Date) async throws -> Int {
        let saves = try await read { db in
            try db.rows(
                """
                SELECT isbn, change.uuid, summary FROM edition JOIN change ON change.id = (
                    SELECT change FROM changeRow JOIN change ON change.id = changeRow.change
                    WHERE tableName = 'edition' AND key = json_array(edition.id) AND undone IS NULL
                    ORDER BY changeRow.id DESC LIMIT 1)
                WHERE isbn IN (SELECT value FROM json_each(?)) AND kind = ?
                """, [jsonList(records.keys.map(\.digits)), Change.Kind.save.rawValue]
            ).compactMap { row in
                try row.isbn().map {
                    (isbn: $0, save: ID<Change>(rawValue: row["uuid"]), summary: row["summary"] as String)
                }
            }
        }
        var rest = records
        var count = 0
        for (save, books) in Dictionary(grouping: saves, by: \.save) {
            let part = rest.filter { record in books.contains { $0.isbn == record.key } }
            let summary = books[0].summary
            do {
                count += try await changed(.save, continuing: save, mustContinue: true, at: now) { db, _ in
                    (try Self.fill(part, db).titles.count, summary)
                }.result
            } catch is UndoRefusal {
                // A person has just undone the save.
                continue
            }
            for isbn in part.keys { rest[isbn] = nil }
        }
        guard !rest.isEmpty else { return count }
        return count + (try await fillGaps(from: rest, continuing: nil, at: now).filled.count)
    }

    /// Fills empty fields of editions.
    ///
    /// - Returns: the filled fields by ISBN, and the titles of the books.
    private static func fill(
        _ records: [ISBN: Metadata], _ db: Database
    ) throws -> (fields: [ISBN: [Metadata.Field]], titles: [String]) {
        var filled: [ISBN: [Metadata.Field]] = [:]
        var titles: [String] = []
        for (isbn, record) in records.sorted(by: { $0.key < $1.key }) where !record.isWeakMatch {
            let books = try StoredBook.fetch(db, "WHERE edition.isbn = ? ORDER BY copy.id LIMIT 1", [isbn.digits])
            guard let stored = books.first else { continue }
            let old = stored.book.edition
            var new = old
            new.fillGaps(from: record.storable)
            guard new != old else { continue }
            try StoredEdition(row: stored.editionRow, edition: old).update(to: new, db)
            let fields = new.metadata.fields(differingFrom: old.metadata)
            filled[isbn] = Metadata.Field.allCases.filter(fields.contains)
            titles.append(stored.book.displayTitle)
        }
        return (filled, titles)
    }

    public func trash(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?) {
        try await setDeleted(ids, to: now, as: .trash, continuing: earlier, "moved to the trash: ", at: now)
    }

    public func restore(
        _ ids: [ID<Copy>], continuing earlier: ID<Change>?, at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?) {
        try await setDeleted(ids, to: nil, as: .restore, continuing: earlier, "restored ", at: now)
    }

    private func setDeleted(
        _ ids: [ID<Copy>], to deleted: Date?, as kind: Change.Kind, continuing earlier: ID<Change>?, _ verb: String,
        at now: Date
    ) async throws -> (changed: Int, change: ID<Change>?) {
        let (changed, change) = try await self.changed(
            kind, continuing: earlier, mustContinue: true, at: now
        ) { db, logged in
            var titles: [String] = []
            for id in ids {
                guard let stored = try StoredBook.one(db, id) else { throw LibraryError.noSuchBook(id) }
                // A book that is already in the trash keeps the date of its deletion.
                guard (stored.book.copy.deleted == nil) != (deleted == nil) else { continue }
                try db.run("UPDATE copy SET deleted = ? WHERE id = ?", [deleted?.milliseconds, stored.copyRow])
                titles.append(stored.book.displayTitle)
            }
            return (titles.count, try summary(verb, titles, of: logged, db))
        }
        return (changed, change)
    }
}

/// Stores a person's edits of an edition. Every field that differs from the stored value is marked as edited by a
/// person.
///
/// - Parameter keepsSources: true if the person chose values of sources, whose names stay with the fields.
func updateEdition(
    _ db: Database, _ stored: StoredBook, to edition: Edition, keepsSources: Bool = false
) throws {
    let old = stored.book.edition
    var new = old
    var changed = edition.metadata.fields(differingFrom: old.metadata)
    var offered = edition.metadata
    if changed.contains(.title), let title = offered.title {
        offered.title = try title.checked(as: "title", limit: TextLimit.title)
    }
    if changed.contains(.description), let text = offered.description, !text.cleaned.isEmpty {
        offered.description = try text.checked(as: "description", limit: TextLimit.description)
    }
    offered = offered.storable
    // A field that differs only in white space does not count as edited.
    changed.formIntersection(offered.fields(differingFrom: old.metadata))
    for field in changed {
        new.metadata.copy(field, from: offered)
        let source = keepsSources ? offered.sources[field] : .person
        new.metadata.sources[field] = new.metadata.filledFields.contains(field) ? source : nil
    }
    new.editedFields.formUnion(changed)
    new.isbn = edition.isbn
    new.isbnText = edition.isbnText?.storable(TextLimit.name)
    if new.isbn != old.isbn || new.isbnText != old.isbnText { new.editedFields.insert(.isbn) }
    if let isbn = new.isbn, isbn != old.isbn,
        try db.row("SELECT 1 FROM edition WHERE isbn = ?", [isbn.digits]) != nil
    {
        throw LibraryError.isbnInUse(isbn)
    }
    try StoredEdition(row: stored.editionRow, edition: old).update(to: new, db)
}

private func updateCopy(_ db: Database, _ stored: StoredBook, to copy: Copy) throws {
    try StoredCopy.update(copy, at: stored.copyRow, db)
    try db.run(
        """
        DELETE FROM copyTag WHERE copy = ?
            AND tag NOT IN (SELECT id FROM tag WHERE name IN (SELECT value FROM json_each(?)))
        """, [stored.copyRow, jsonList(tagNames(of: copy))])
    try addTags(db, copy.tags, to: stored.copyRow)
}

/// Returns the case-folded names of a copy's tags, which identify the tags.
private func tagNames(of copy: Copy) -> Set<String> {
    Set(copy.tags.compactMap { $0.storable(TextLimit.name)?.caseFolded })
}

/// Stores a status that a person has set, with everything that the tracker's rules derive from it.
///
/// - Returns: false if the status and its day stay the same.
/// - Throws: ``ReadingRefusal/sessionRunning(title:)`` if a session would go on.
@discardableResult
private func updateStatus(
    _ db: Database, _ stored: StoredBook, to book: Book, on day: CalendarDay? = nil, _ moment: Tracker.Moment
) throws -> Bool {
    let copy = stored.book.copy
    if let running = try StoredSessions.running(db, of: copy.id, leavingFor: book.copy.status, from: copy.status) {
        throw ReadingRefusal.sessionRunning(title: running.displayTitle)
    }
    var tracker = Tracker(
        status: copy.status, readings: copy.readings, pageCount: book.edition.metadata.storable.pageCount)
    let steps = try tracker.set(book.copy.status, on: day, moment)
    try StoredTracker.store(steps, of: stored.copyRow, db)
    return !steps.isEmpty
}

/// Saves confirmed books inside one change. What is a reader's own is saved for the reader whom the preset names.
struct BookSaver {
    let db: Database
    let change: ID<Change>
    let now: Date
    /// The reader for a preset that names no reader of this library; `nil` for the reader of the access.
    var otherwise: Int64?

    func save(_ confirmed: Confirmed) throws -> SaveResult {
        guard let reader = try reader(named: confirmed.preset.reader) ?? otherwise else {
            return try saveForPresentReader(confirmed)
        }
        return try db.withReader(reader) { try saveForPresentReader(confirmed) }
    }

    private func reader(named name: String?) throws -> Int64? {
        guard let name else { return nil }
        return try db.value(
            Int64.self, "SELECT id FROM reader WHERE name = ? AND deleted IS NULL", [name.cleanedLine.caseFolded])
    }

    private func saveForPresentReader(_ confirmed: Confirmed) throws -> SaveResult {
        let known = try db.value(
            String.self, "SELECT copy.uuid FROM request JOIN copy ON copy.id = request.copy WHERE request.id = ?",
            [confirmed.request])
        if let known { return .alreadySaved(ID(rawValue: known)) }
        let existing = try confirmed.isbn.map {
            try StoredBook.fetch(db, "WHERE edition.isbn = ? ORDER BY copy.id", [$0.digits])
        }
        guard let existing, let first = existing.first else { return try saveNewEdition(confirmed) }
        let edition = StoredEdition(row: first.editionRow, edition: first.book.edition)
        if !confirmed.anotherCopy {
            let live = existing.filter { $0.book.copy.deleted == nil }
            if let owned = live.first(where: { $0.book.copy.isOwned }) { return .owned(owned.book) }
            // This copy is not owned. It is on the wishlist, or the person has only read it, like a borrowed book that
            // was imported from another tracker.
            if let other = live.first(where: { $0.book.copy.isOnWishlist }) ?? live.first {
                if confirmed.preset.isWishlist, other.book.copy.isOnWishlist { return .owned(other.book) }
                try reuse(other, of: edition, for: confirmed)
                return other.book.copy.isOnWishlist
                    ? .wishFulfilled(other.book.id, change: change) : .saved(other.book.id, change: change)
            }
            // If several copies are in the trash, the one that was deleted last is restored.
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
        var edition = Edition(
            isbn: confirmed.isbn, isbnText: confirmed.isbnText?.storable(TextLimit.name),
            metadata: confirmed.metadata.storable, editedFields: confirmed.editedFields)
        // A source may have answered after the person saw the captured book.
        if confirmed.item != nil, edition.metadata.sources[.title] != .person,
            let known = try confirmed.isbn.flatMap({ try knownRecord(of: $0, db) })
        {
            edition.fillGaps(from: known)
        }
        // An edition may have no copies, for example in a file that another program has written.
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
        copy.rating = confirmed.preset.rating
        let row = try StoredCopy.insert(copy, of: edition, db)
        // A batch has no dates, so the reading is inserted without any.
        if let state = Reading.State(after: copy.status) {
            try StoredReadings.insert(Reading(state: state), at: 0, of: row, db)
        }
        try finish(confirmed, copy: row)
        return copy.id
    }

    /// Turns a copy that is in the trash or not owned into the confirmed copy.
    private func reuse(_ stored: StoredBook, of edition: StoredEdition, for confirmed: Confirmed) throws {
        let preset = confirmed.preset
        try db.run(
            "UPDATE copy SET deleted = NULL, isOwned = ?, shelf = coalesce(?, shelf) WHERE id = ?",
            [!preset.isWishlist, try preset.shelf.flatMap { try shelfRow(db, $0) }, stored.copyRow])
        if preset.isWishlist {
            try OwnCopy.store([("isOnWishlist", true)], of: stored.copyRow, db)
        } else {
            // The book has come, whoever wished for it.
            try db.run("UPDATE readerCopy SET isOnWishlist = 0 WHERE copy = ? AND isOnWishlist = 1", [stored.copyRow])
        }
        // A preset has the status To Read by default, so this status does not replace the status of the copy.
        if preset.status != .toRead {
            var tracker = Tracker(stored.book)
            try StoredTracker.store(tracker.set(preset.status, .ofBatch(at: now)), of: stored.copyRow, db)
        }
        try addTags(db, preset.tags, to: stored.copyRow)
        if let rating = preset.rating { try OwnCopy.store([OwnCopy.rating(rating)], of: stored.copyRow, db) }
        try fillGaps(of: edition, from: confirmed)
        try finish(confirmed, copy: stored.copyRow)
    }

    /// Stores the fields that the person has just edited, and fills in empty fields from the rest of the confirmed
    /// metadata. A field that a person edited earlier stays as it is, even if it is empty.
    private func fillGaps(of stored: StoredEdition, from confirmed: Confirmed) throws {
        var new = stored.edition
        let offered = confirmed.metadata.storable
        for field in confirmed.editedFields.subtracting(new.editedFields) {
            new.metadata.copy(field, from: offered)
        }
        new.fillGaps(from: offered)
        new.editedFields.formUnion(confirmed.editedFields)
        try stored.update(to: new, db)
    }

    /// Stores the note, and marks the request as done, and its queue item as confirmed.
    private func finish(_ confirmed: Confirmed, copy: Int64) throws {
        if let note = confirmed.preset.note {
            try Note(text: note, created: now).checked(after: nil).insert(db, to: copy)
        }
        try db.run("INSERT INTO request (id, copy) VALUES (?, ?)", [confirmed.request, copy])
        guard let item = confirmed.item else { return }
        try db.run(
            "UPDATE intakeItem SET state = 'confirmed', leaseHolder = NULL, leaseUntil = NULL WHERE uuid = ?",
            [item.rawValue])
    }
}

/// Returns the row id of the shelf with a name, and inserts the shelf if it is new. Returns `nil` for an empty name.
func shelfRow(_ db: Database, _ name: String) throws -> Int64? {
    guard let name = name.storable(TextLimit.name) else { return nil }
    return try findOrInsert(
        db, find: "SELECT id FROM shelf WHERE name = ?", [name.caseFolded],
        insert: "INSERT INTO shelf (name, displayName) VALUES (?, ?)", [name.caseFolded, name])
}

/// Adds tags to a copy. Tags that are new to the library are inserted.
func addTags(_ db: Database, _ names: [String], to copy: Int64) throws {
    for name in names {
        guard let tag = try tagRow(db, name) else { continue }
        try db.run("INSERT INTO copyTag (copy, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", [copy, tag])
    }
}

/// Returns the row id of the tag with a name, and inserts the tag if it is new. Returns `nil` for an empty name.
func tagRow(_ db: Database, _ name: String) throws -> Int64? {
    guard let name = name.storable(TextLimit.name) else { return nil }
    return try findOrInsert(
        db, find: "SELECT id FROM tag WHERE name = ?", [name.caseFolded],
        insert: "INSERT INTO tag (name, displayName, folded) VALUES (?, ?, ?)",
        [name.caseFolded, name, name.searchFolded])
}

extension LibraryFile: BookEntry {
    public func enter(
        _ confirmed: Confirmed, notes: [Note], dates: DateEdit, at now: Date,
        _ facts: @escaping @Sendable (inout Copy) throws -> Void
    ) async throws -> SaveResult {
        let notes = try notes.map { try $0.checked(after: nil) }
        return try await change(.save, at: now) { db, id in
            // The status is set below, by the tracker's rules. A saver sets it without dates and progress, as for a
            // batch.
            let status = confirmed.preset.status
            let result = try BookSaver(db: db, change: id, now: now).save(confirmed.withStatus(.toRead))
            let title = quoted(confirmed.metadata.title)
            switch result {
            case .owned, .alreadySaved: return (result, "")
            case .saved(let copy, _), .wishFulfilled(let copy, _), .restored(let copy, _):
                guard let stored = try StoredBook.one(db, copy) else { throw LibraryError.noSuchBook(copy) }
                switch result {
                case .wishFulfilled, .restored:
                    // The book was in the library before, so the fields that the person has entered now replace its
                    // metadata.
                    var edition = stored.book.edition
                    for field in confirmed.editedFields { edition.metadata.copy(field, from: confirmed.metadata) }
                    try updateEdition(db, stored, to: edition)
                default: break
                }
                var wanted = stored.book.copy
                try facts(&wanted)
                try StoredCopy.update(wanted, at: stored.copyRow, db)
                for note in notes { try note.insert(db, to: stored.copyRow) }
                if status != .toRead || dates != DateEdit(), var tracked = try StoredTracker.load(db, copy) {
                    let steps =
                        status == .toRead
                        ? try tracked.tracker.setDates(dates, of: nil)
                        : try tracked.tracker.set(status, dates: dates, self.moment(db, now))
                    try StoredTracker.store(steps, of: tracked.copyRow, db)
                }
                return (result, "saved \(title)")
            }
        }
    }
}
