import Bookplate
import FoundationEssentials
import GRDB

/// Imports records in Bookplate's own JSON format. Ids are kept. If the library has a book under another id, it is
/// found by its ISBN.
extension RowImporter {
    mutating func importRecord(_ record: LibraryRecord, row: Int) throws -> ImportResult {
        switch record {
        case .library: return ImportResult(row: row, outcome: .other(isNew: false))
        case .setting(let name, let value):
            return other(
                row, try add("INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", [name, value]))
        case .author(let name):
            return other(
                row,
                try add(
                    "INSERT INTO author (name, folded) VALUES (?, ?) ON CONFLICT DO NOTHING", [name, name.searchFolded])
            )
        case .shelf(let name):
            return other(
                row,
                try add(
                    "INSERT INTO shelf (name, displayName) VALUES (?, ?) ON CONFLICT DO NOTHING",
                    [name.caseFolded, name]))
        case .tag(let name):
            return other(
                row,
                try add(
                    "INSERT INTO tag (name, displayName, folded) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    [name.caseFolded, name, name.searchFolded]))
        case .book(let book):
            let title = book.edition.metadata.title ?? book.edition.isbn?.hyphenated ?? book.edition.isbnText
            return ImportResult(row: row, title: title, outcome: try importBook(book))
        }
    }

    private func other(_ row: Int, _ isNew: Bool) -> ImportResult {
        ImportResult(row: row, outcome: .other(isNew: isNew))
    }

    /// Runs an INSERT statement.
    ///
    /// - Returns: true if a row was added.
    private func add(_ sql: String, _ arguments: StatementArguments) throws -> Bool {
        try db.run(sql, arguments)
        return db.changesCount > 0
    }

    private mutating func importBook(_ book: BookRecord) throws -> ImportResult.Outcome {
        let offered = book.edition
        guard !book.copies.isEmpty else { return .refused(reason: "the record of this book contains no copy") }
        let matcher = ImportMatcher(db: db)
        // The known copies are found first, so that no other record is matched with them.
        var known: [ID<Copy>: Int64] = [:]
        for record in book.copies {
            let id = record.copy.id
            guard let row = try matcher.copy(id) ?? matcher.copy(ofRequest: request(ofRecord: id)) else { continue }
            known[id] = row
            claimed.insert(row)
        }
        let own = try matcher.edition(offered.id)
        // Editions are never matched by title, because two editions with the same title are still two editions.
        let existing = try own ?? matcher.edition(offered.isbn)
        var edition = try existing ?? known.values.min().flatMap(matcher.edition(of:))
        var added: ID<Copy>?
        var merged: ID<Copy>?
        var filled: [String] = []
        for record in book.copies {
            var row = known[record.copy.id]
            let isKnown = row != nil
            // A copy that is in the trash according to the file is not matched with a copy in the library.
            if row == nil, own == nil, let existing, record.copy.deleted == nil {
                row = try matcher.copy(of: existing, except: claimed)
            }
            guard let row else {
                let target = try edition ?? insert(offered)
                edition = target
                claimed.insert(try record.insert(db, of: target))
                added = added ?? record.copy.id
                continue
            }
            claimed.insert(row)
            let (id, more) = try merge(record, offered, into: row, isKnown: isKnown)
            merged = merged ?? id
            filled += more.filter { !filled.contains($0) }
        }
        if let added { return .new(added) }
        guard let merged else { return .refused(reason: "the record of this book contains no copy") }
        return filled.isEmpty ? .unchanged(merged) : .merged(merged, filled: filled)
    }

    private func insert(_ offered: Edition) throws -> Int64 {
        try StoredEdition.insert(
            Edition(
                id: offered.id, isbn: offered.isbn, isbnText: offered.isbnText?.storable(TextLimit.name),
                metadata: offered.metadata.storable, editedFields: offered.editedFields), db
        ).row
    }

    private func merge(
        _ record: CopyRecord, _ offered: Edition, into row: Int64, isKnown: Bool
    ) throws -> (ID<Copy>, filled: [String]) {
        guard let stored = try StoredBook.fetch(db, "WHERE copy.id = ?", [row]).first else {
            throw RowDecodingError(what: "the record of an earlier import refers to a copy that does not exist")
        }
        let merger = ImportMerger(db: db, stored: stored, isKnown: isKnown, hasIdentities: true)
        var filled = try merger.fillEdition(isbn: offered.isbn, isbnText: offered.isbnText, from: offered.metadata)
        filled += try merger.fillCopy(from: try withoutDuplicates(record))
        if stored.book.id == record.copy.id { filled += try fillHistory(from: record) }
        if !isKnown {
            try db.run(
                "INSERT INTO request (id, copy) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [request(ofRecord: record.copy.id), row])
        }
        return (stored.book.id, filled)
    }

    /// Returns the record without the notes, quotes and readings that are already in the library.
    private func withoutDuplicates(_ record: CopyRecord) throws -> CopyRecord {
        var record = record
        record.notes = try record.notes.filter { try !has("note", $0.id.rawValue) }
        record.quotes = try record.quotes.filter { try !has("quote", $0.id.rawValue) }
        record.readings = try record.readings.filter { try !has("reading", $0.reading.id.rawValue) }
        return record
    }

    /// Adds the progress entries and sessions that are missing from the readings in the library.
    private func fillHistory(from record: CopyRecord) throws -> [String] {
        var isFilled = false
        for reading in record.readings {
            let id = reading.reading.id
            guard try has("reading", id.rawValue) else { continue }
            let sessions = try reading.sessions.filter { try !has("session", $0.id.rawValue) && $0.end != nil }
            let entries = try reading.entries.filter { try !has("progressEntry", $0.id.rawValue) }
            try ReadingRecord.insert(sessions, entries, of: id, db)
            isFilled = isFilled || !sessions.isEmpty || !entries.isEmpty
        }
        return isFilled ? ["history"] : []
    }

    private func has(_ table: String, _ id: String) throws -> Bool {
        try db.row("SELECT 1 FROM \(table) WHERE uuid = ?", [id]) != nil
    }
}

extension CopyRecord {
    /// Inserts the copy with its readings, notes, quotes and import flags. All of them keep their own ids.
    ///
    /// - Returns: the id of the copy's row.
    func insert(_ db: Database, of edition: Int64) throws -> Int64 {
        let row = try StoredCopy.insert(copy, of: edition, db)
        for (position, reading) in readings.enumerated() { try reading.insert(db, at: position, of: row) }
        for note in notes { try note.insert(db, to: row) }
        for quote in quotes { try quote.insert(db, to: row) }
        for flag in flags { try flag.insert(db, to: row) }
        for request in requests {
            try db.run("INSERT INTO request (id, copy) VALUES (?, ?) ON CONFLICT DO NOTHING", [request, row])
        }
        return row
    }
}

extension ReadingRecord {
    func insert(_ db: Database, at position: Int, of copy: Int64) throws {
        try StoredReadings.insert(reading, at: position, of: copy, db)
        try Self.insert(sessions, entries, of: reading.id, db)
    }

    static func insert(
        _ sessions: [Session], _ entries: [ProgressEntry], of reading: ID<Reading>, _ db: Database
    ) throws {
        for session in sessions {
            // A library has at most one running session. If one is running here, a running session from the file is
            // left out.
            if session.isRunning, try StoredSessions.running(db) != nil { continue }
            try StoredSessions.insert(session, of: reading, db)
        }
        for entry in entries { try StoredReadings.insert(entry, of: reading, db) }
    }
}
