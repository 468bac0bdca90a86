import Bookplate
import FoundationEssentials
import GRDB

/// Fills in missing data of a book in the library from an imported record. Each function returns the names of the
/// fields that it has filled in, which are shown to a person.
///
/// A row fills in a copy only once. If the copy still lacks data when the same row is imported again, a person may have
/// removed the data. The exceptions are a copy without readings whose status is still To Read, which gets the readings,
/// because the row may come from a newer export; and a reader who has had nothing of the copy so far, who gets
/// everything.
struct ImportMerger {
    let db: Database
    let stored: StoredBook
    /// True if the same row was imported before.
    let isKnown: Bool
    /// True if an earlier row of the file belongs to the same book.
    var isFurther = false
    /// True if the record's readings, notes and quotes have ids. In this case, those that are already in the library
    /// have been removed from the record.
    var hasIdentities = false

    private var copy: Copy { stored.book.copy }

    /// Fills in missing fields of the edition. Fields that a person has edited stay as they are, even if they are
    /// empty.
    func fillEdition(isbn: ISBN?, isbnText: String?, from offered: Metadata) throws -> [String] {
        let old = stored.book.edition
        var new = old
        new.metadata.fillGaps(from: offered.storable)
        for field in old.editedFields { new.metadata.copy(field, from: old.metadata) }
        var filled =
            new.metadata == old.metadata
            ? [] : old.metadata.fields(differingFrom: new.metadata).map(\.rawValue).sorted()
        if old.editedFields.contains(.isbn) {
            // If a person has removed the ISBN, it stays removed.
        } else if old.isbn == nil, let isbn,
            try db.row("SELECT 1 FROM edition WHERE isbn = ?", [isbn.digits]) == nil
        {
            new.isbn = isbn
            new.isbnText = isbnText
            filled.append("isbn")
        } else if old.isbn == nil, old.isbnText == nil, let text = isbnText?.storable(TextLimit.name) {
            new.isbnText = text
            filled.append("isbn")
        }
        if new != old { try StoredEdition(row: stored.editionRow, edition: old).update(to: new, db) }
        return filled
    }

    func fillCopy(from record: CopyRecord) throws -> [String] {
        guard try isKnownToReader() else {
            var filled: [String] = []
            if !isKnown { filled = try fillFacts(from: record.copy.shared) + fillTags(record.copy.tags) }
            return try filled + addOwn(from: record)
        }
        if isKnown {
            // If a person had set a status before, the copy would have a reading, perhaps a cancelled one.
            let isUntouched = copy.status == .toRead && copy.readings.isEmpty && copy.deleted == nil
            return isUntouched && record.copy.status != .toRead ? try fillReadings(from: record) : []
        }
        var filled = try fillFacts(from: record.copy)
        filled += try fillTags(record.copy.tags)
        filled += try isFurther && !copy.readings.isEmpty ? addReadings(from: record) : fillReadings(from: record)
        filled += try fillAnnotations(from: record)
        return filled
    }

    /// Returns true if the reader has something of the copy. In a library that has always had one reader, this is true
    /// for every copy.
    private func isKnownToReader() throws -> Bool {
        let ofReader = "WHERE copy = ?1 AND reader = reader()"
        return try db.row(
            """
            SELECT 1 FROM readerCopy \(ofReader) UNION ALL SELECT 1 FROM reading \(ofReader)
            UNION ALL SELECT 1 FROM note \(ofReader) UNION ALL SELECT 1 FROM quote \(ofReader) LIMIT 1
            """, [stored.copyRow]) != nil
    }

    /// Adds all that a record has of a reader who has nothing of the copy.
    private func addOwn(from record: CopyRecord) throws -> [String] {
        guard record.hasOwn else { return [] }
        var record = record
        // The readings may be another reader's, because they have the same ids.
        if record.readings.isEmpty, let state = Reading.State(after: record.copy.status) {
            record.readings = [ReadingRecord(Reading(state: state))]
        }
        try record.insertOwn(db, to: stored.copyRow)
        let copy = record.copy
        let parts: [(name: String, isFilled: Bool)] = [
            ("rating", copy.rating != nil), ("favourite", copy.isFavourite), ("wishlist", copy.isOnWishlist),
            ("recommendedBy", copy.recommendedBy != nil), ("wouldRecommend", copy.wouldRecommend != nil),
            ("dailyGoal", copy.dailyGoal != nil),
            ("culturalGoalCategory", copy.countsForCulturalGoal || copy.culturalGoalCategory != nil),
            ("status", copy.status != .toRead), ("readings", !record.readings.isEmpty),
            ("notes", !record.notes.isEmpty), ("quotes", !record.quotes.isEmpty),
        ]
        return parts.filter(\.isFilled).map(\.name)
    }

    private func fillFacts(from offered: Copy) throws -> [String] {
        var filled: [String] = []
        func fill(_ column: String, _ name: String, _ isEmpty: Bool, _ value: (any DatabaseValueConvertible)?) throws {
            guard isEmpty, let value else { return }
            if column == "shelf" {
                try db.run("UPDATE copy SET shelf = ? WHERE id = ?", [value, stored.copyRow])
            } else {
                try OwnCopy.store([(column, value)], of: stored.copyRow, db)
            }
            filled.append(name)
        }
        if copy.deleted != nil, offered.deleted == nil {
            try db.run("UPDATE copy SET deleted = NULL WHERE id = ?", [stored.copyRow])
            filled.append("taken out of the trash")
        }
        try fill("rating", "rating", copy.rating == nil, offered.rating.map { Int($0 * 4) })
        try fill(
            "shelf", "shelf", copy.shelf == nil,
            try offered.shelf.flatMap { copy.shelf == nil ? try shelfRow(db, $0) : nil })
        try fill(
            "recommendedBy", "recommendedBy", copy.recommendedBy == nil, offered.recommendedBy?.storable(TextLimit.name)
        )
        try fill("wouldRecommend", "wouldRecommend", copy.wouldRecommend == nil, offered.wouldRecommend)
        try fill("dailyGoal", "dailyGoal", copy.dailyGoal == nil, offered.dailyGoal)
        try fill(
            "culturalGoalCategory", "culturalGoalCategory", copy.culturalGoalCategory == nil,
            offered.culturalGoalCategory?.storable(TextLimit.name))
        return filled
    }

    private func fillTags(_ tags: [String]) throws -> [String] {
        let present = Set(copy.tags.map(\.caseFolded))
        let missing = tags.filter { tag in
            tag.storable(TextLimit.name).map { !present.contains($0.caseFolded) } ?? false
        }
        guard !missing.isEmpty else { return [] }
        try addTags(db, missing, to: stored.copyRow)
        return ["tags"]
    }

    /// Fills in missing readings. A copy that never had a reading and whose status is To Read gets the status and the
    /// readings from the file. If a copy has a single reading without dates, this reading gets the dates of the file's
    /// last reading, and the file's earlier readings are added. A copy that already has a reading is filled in only if
    /// the readings in the file have no ids, because ids would show that they are different readings.
    private func fillReadings(from record: CopyRecord) throws -> [String] {
        guard let last = record.readings.last else { return [] }
        if copy.readings.isEmpty {
            guard copy.status == .toRead || copy.status == record.copy.status else { return [] }
            for (position, reading) in record.readings.enumerated() {
                try reading.insert(db, at: position, of: stored.copyRow)
            }
            guard copy.status != record.copy.status else { return ["readings"] }
            try OwnCopy.store([("status", record.copy.status.rawValue)], of: stored.copyRow, db)
            return ["status", "readings"]
        }
        guard !hasIdentities, copy.readings.count == 1, let only = copy.readings.first,
            copy.status == record.copy.status,
            only.state == last.reading.state, only.started == nil, only.finished == nil, only.stopped == nil
        else { return [] }
        var filled: [String] = []
        let days = last.reading
        if days.started != nil || days.finished != nil || days.stopped != nil {
            try db.run(
                "UPDATE reading SET started = ?, finished = ?, stopped = ? WHERE uuid = ?",
                [
                    days.started?.description, days.finished?.description, days.stopped?.description, only.id.rawValue,
                ])
            filled.append("dates")
        }
        let earlier = record.readings.dropLast()
        if !earlier.isEmpty {
            try db.run("UPDATE reading SET position = position + ? WHERE uuid = ?", [earlier.count, only.id.rawValue])
            for (position, reading) in earlier.enumerated() {
                try reading.insert(db, at: position, of: stored.copyRow)
            }
            filled.append("readings")
        }
        return filled
    }

    /// Adds the readings from a further row of the file about the same book. Adds only readings that end on a day on
    /// which no other reading ends, and orders them by this day. The book's status does not change.
    private func addReadings(from record: CopyRecord) throws -> [String] {
        func end(_ reading: Reading) -> CalendarDay? { reading.finished ?? reading.stopped }
        var all = copy.readings
        for new in record.readings {
            guard let day = end(new.reading), !all.contains(where: { end($0) == day }) else { continue }
            var index = all.firstIndex { end($0).map { day < $0 } ?? false } ?? all.count
            if let last = all.last, last.state != new.reading.state { index = min(index, all.count - 1) }
            try new.insert(db, at: index, of: stored.copyRow)
            all.insert(new.reading, at: index)
        }
        guard all.count > copy.readings.count else { return [] }
        for (position, reading) in all.enumerated() {
            try db.run("UPDATE reading SET position = ? WHERE uuid = ?", [position, reading.id.rawValue])
        }
        return ["readings"]
    }

    private func fillAnnotations(from record: CopyRecord) throws -> [String] {
        guard !record.notes.isEmpty || !record.quotes.isEmpty else { return [] }
        func missing<Item>(_ items: [Item], _ table: String, _ text: (Item) -> String) throws -> [Item] {
            guard !items.isEmpty else { return [] }
            let present = Set(
                try db.rows("SELECT text FROM \(table) WHERE copy = ? AND reader = reader()", [stored.copyRow])
                    .map { $0["text"] as String })
            return items.filter { !present.contains(text($0)) }
        }
        let notes = try missing(record.notes, "note", \.text)
        let quotes = try missing(record.quotes, "quote", \.text)
        for note in notes { try note.insert(db, to: stored.copyRow) }
        for quote in quotes { try quote.insert(db, to: stored.copyRow) }
        return (notes.isEmpty ? [] : ["notes"]) + (quotes.isEmpty ? [] : ["quotes"])
    }
}
