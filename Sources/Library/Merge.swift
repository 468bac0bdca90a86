import Bookplate
import FoundationEssentials
import GRDB

extension LibraryFile: Editions {
    public func merge(
        _ others: [ID<Copy>], into kept: ID<Copy>, _ options: MergeOptions, at now: Date
    ) async throws -> MergeResult {
        var (result, change) = try await changed(.edit, at: now) { db, _ in
            let result = try BookMerger(db: db, covers: self, options: options, now: now).merge(others, into: kept)
            let (merged, title) = (quoted(result.merged.map(\.displayTitle)), quoted(result.book.displayTitle))
            return (
                result, options.keepsCopies ? "made \(merged) a copy of \(title)" : "merged \(merged) into \(title)"
            )
        }
        result.change = change
        return result
    }

    public func previewMerge(
        _ others: [ID<Copy>], into kept: ID<Copy>, _ options: MergeOptions, at now: Date
    ) async throws -> MergeResult {
        do {
            return try await write { db in
                let merger = BookMerger(db: db, covers: nil, options: options, now: now)
                throw MergePreview(result: try merger.merge(others, into: kept))
            }
        } catch let preview as MergePreview {
            return preview.result
        }
    }
}

/// The result of a merge, thrown to roll it back.
private struct MergePreview: Error {
    var result: MergeResult
}

/// Merges books inside one change.
private struct BookMerger {
    let db: Database
    /// The library with the files of covers; `nil` to leave the files as they are.
    let covers: LibraryFile?
    let options: MergeOptions
    let now: Date

    func merge(_ others: [ID<Copy>], into id: ID<Copy>) throws -> MergeResult {
        let kept = try load(id)
        let merged = try others.reduce(into: [StoredBook]()) { books, other in
            guard other != id, !books.contains(where: { $0.book.id == other }) else { return }
            let book = try load(other)
            if !options.keepsCopies || book.editionRow != kept.editionRow { books.append(book) }
        }
        guard !merged.isEmpty else { throw MergeRefusal.alreadyOne(title: kept.book.displayTitle) }
        let followers = try db.value(
            Int.self,
            """
            SELECT count(*) FROM copy WHERE edition IN (SELECT value FROM json_each(?1)) AND edition <> ?2
                AND id NOT IN (SELECT value FROM json_each(?3))
            """,
            [jsonList(merged.map(\.editionRow)), kept.editionRow, jsonList(merged.map(\.copyRow))])
        var lost: [LostValue] = []
        for other in merged.map(\.book.id) {
            lost += try mergeEdition(of: load(other), into: load(id))
            if !options.keepsCopies { lost += try mergeCopy(load(other), into: load(id)) }
        }
        try note(lost.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }, on: kept.copyRow)
        let book = try load(id).book
        let filled = book.edition.metadata.fields(differingFrom: kept.book.edition.metadata)
            .union(book.edition.isbn == kept.book.edition.isbn ? [] : [.isbn])
        return MergeResult(
            book: book, merged: merged.map(\.book), filled: Metadata.Field.allCases.filter(filled.contains), lost: lost,
            followers: followers ?? 0)
    }

    private func load(_ id: ID<Copy>) throws -> StoredBook {
        guard let stored = try StoredBook.one(db, id) else { throw LibraryError.noSuchBook(id) }
        try stored.book.checkOutsideTrash()
        return stored
    }

    private func mergeEdition(of other: StoredBook, into kept: StoredBook) throws -> [LostValue] {
        guard other.editionRow != kept.editionRow else { return [] }
        let (gone, old) = (other.book.edition, kept.book.edition)
        if !options.joinsEditions, let refusal = old.refusalToMerge(gone) { throw refusal }
        let cover = try LoggedCover(removing: other.editionRow, db)
        try db.run("UPDATE copy SET edition = ? WHERE edition = ?", [kept.editionRow, other.editionRow])
        // The edition is removed before its ISBN is given to the kept one, and its names after they were.
        let names = try removeOrphan(db, edition: other.editionRow)
        var new = old
        var lost = new.merge(gone)
        try StoredEdition(row: kept.editionRow, edition: old).update(to: new, db)
        for author in names?.authors ?? [] { try removeUnusedAuthor(db, author) }
        for subject in names?.subjects ?? [] { try removeUnusedSubject(db, subject) }
        if let cover, let isTaken = try covers?.take(cover, of: gone.id, for: (kept.editionRow, old.id), db), !isTaken,
            cover.isOwn
        {
            lost.append(LostValue("Cover", "your own photo"))
        }
        return lost
    }

    /// Merges what the present reader has of a copy: status, readings and opinions, together with what all readers
    /// share of it.
    private func mergeOwn(_ other: StoredBook, into kept: StoredBook) throws -> [LostValue] {
        let (own, gone) = (kept.copyRow, other.copyRow)
        let merged = try Tracker(kept.book).merging(
            Tracker(other.book), untouched: untouchedReadings(of: [own, gone]), title: kept.book.displayTitle)
        for id in merged.repeated {
            try StoredTracker.store([.removed(id)], of: own, db)
        }
        for (position, reading) in merged.readings.enumerated() {
            try db.run(
                "UPDATE reading SET copy = ?1, position = ?2 WHERE uuid = ?3 AND (copy <> ?1 OR position <> ?2)",
                [own, position, reading.id.rawValue])
        }
        if merged.status != kept.book.copy.status {
            try StoredTracker.store([.status(merged.status)], of: own, db)
        }
        var copy = kept.book.copy
        let lost = copy.merge(other.book.copy)
        try StoredCopy.update(copy, at: own, db)
        try addTags(db, copy.tags, to: own)
        return lost
    }

    /// Merges what the other readers have of a copy. What one of them loses is written into a note of that reader.
    private func mergeOthersOwn(_ other: StoredBook, into kept: StoredBook) throws {
        let readers = try db.rows(
            """
            SELECT reader FROM readerCopy WHERE copy = ?1 AND reader <> reader()
            UNION SELECT reader FROM reading WHERE copy = ?1 AND reader <> reader()
            """, [other.copyRow])
        for row in readers {
            try db.withReader(row["reader"]) {
                let lost = try mergeOwn(load(other.book.id), into: load(kept.book.id))
                try note(lost.filter { $0.isPerReader }, on: kept.copyRow)
            }
        }
    }

    private func mergeCopy(_ other: StoredBook, into kept: StoredBook) throws -> [LostValue] {
        let (own, gone) = (kept.copyRow, other.copyRow)
        let lost = try mergeOwn(other, into: kept)
        try mergeOthersOwn(other, into: kept)
        // A note or quote that both copies have stays once.
        for (table, isSame) in [
            (
                "note",
                "same.reader = note.reader AND same.isPrivate = note.isPrivate AND same.kind = note.kind AND same.text = note.text"
            ),
            (
                "quote",
                "same.reader = quote.reader AND same.isPrivate = quote.isPrivate AND same.text = quote.text AND same.page IS quote.page"
            ),
        ] {
            try db.run(
                """
                UPDATE \(table) SET copy = ?1 WHERE copy = ?2
                    AND NOT EXISTS (SELECT 1 FROM \(table) AS same WHERE same.copy = ?1 AND \(isSame))
                """, [own, gone])
        }
        for table in ["importFlag", "request"] {
            try db.run("UPDATE \(table) SET copy = ? WHERE copy = ?", [own, gone])
        }
        // What is not the same as the removed copy is not the same as the kept one.
        try db.run(
            """
            INSERT INTO distinctCopy (copy, other)
            SELECT min(?1, third), max(?1, third)
            FROM (SELECT iif(copy = ?2, other, copy) AS third FROM distinctCopy WHERE copy = ?2 OR other = ?2)
            WHERE third <> ?1 ON CONFLICT DO NOTHING
            """, [own, gone])
        // From now on, an import of the removed copy's record finds the copy into which it was merged.
        try db.run(
            "INSERT INTO request (id, copy) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [request(ofRecord: other.book.id), own])
        try LibraryFile.remove(
            db, copies: db.rows("SELECT id, edition FROM copy WHERE id = ?", [gone]))
        return lost
    }

    /// Returns the readings that have neither sessions nor progress that a person has entered.
    private func untouchedReadings(of copies: [Int64]) throws -> Set<ID<Reading>> {
        let rows = try db.rows(
            """
            SELECT uuid FROM reading WHERE copy IN (SELECT value FROM json_each(?))
                AND NOT EXISTS (SELECT 1 FROM session WHERE reading = reading.id)
                AND NOT EXISTS (SELECT 1 FROM progressEntry WHERE reading = reading.id AND isAutomatic = 0)
            """, [jsonList(copies)])
        return Set(rows.map { ID(rawValue: $0["uuid"]) })
    }

    /// Adds a note with the values that the kept book has not taken. If they are too long for one note, there are
    /// several.
    private func note(_ lost: [LostValue], on copy: Int64) throws {
        guard !lost.isEmpty else { return }
        let lines = ["From a copy that was merged into this one:"] + lost.map { "\($0.field): \($0.value)" }
        var text = lines.joined(separator: "\n")[...]
        // Other readers do not see a reader's recommendations and goals, so they do not see the note either.
        let isPrivate = try lost.contains(where: \.isPerReader) && db.hasSeveralReaders
        while !text.isEmpty {
            let part = String(text.prefix(TextLimit.note))
            try Note(text: part, created: now, isPrivate: isPrivate).insert(db, to: copy)
            text = text.dropFirst(TextLimit.note)
        }
    }
}

/// Returns the id of the request with which an import saves the record of a copy from another library.
func request(ofRecord copy: ID<Copy>) -> String { "bookplate:\(copy)" }
