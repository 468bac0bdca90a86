import Bookplate
import FoundationEssentials
import GRDB

/// Takes in the lines of our own JSON: identities are kept, and what is there under another identity is met by ISBN.
extension ImportSaving {
    mutating func take(_ record: LibraryRecord, row: Int) throws -> ImportResult {
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
            return ImportResult(row: row, title: title, outcome: try take(book))
        }
    }

    private func other(_ row: Int, _ isNew: Bool) -> ImportResult {
        ImportResult(row: row, outcome: .other(isNew: isNew))
    }

    /// - Returns: whether a row was added.
    private func add(_ sql: String, _ arguments: StatementArguments) throws -> Bool {
        try db.run(sql, arguments)
        return db.changesCount > 0
    }

    private mutating func take(_ book: BookRecord) throws -> ImportResult.Outcome {
        let offered = book.edition
        guard !book.copies.isEmpty else { return .refused(reason: "it has no copy") }
        let matching = ImportMatching(db: db)
        // All that are known first, so that no other takes their place.
        var known: [ID<Copy>: Int64] = [:]
        for record in book.copies {
            guard let row = try matching.copy(record.copy.id) ?? matching.copy(ofRequest: request(record)) else {
                continue
            }
            known[record.copy.id] = row
            claimed.insert(row)
        }
        let own = try matching.edition(offered.id)
        // Never by title: two editions of one title are two.
        let met = try own ?? matching.edition(offered.isbn)
        var edition = try met ?? known.values.min().flatMap(matching.edition(of:))
        var added: ID<Copy>?
        var merged: ID<Copy>?
        var filled: [String] = []
        for record in book.copies {
            var row = known[record.copy.id]
            let isKnown = row != nil
            // What is in the trash there meets nothing here.
            if row == nil, own == nil, let met, record.copy.deleted == nil {
                row = try matching.copy(of: met, except: claimed)
            }
            guard let row else {
                let home = try edition ?? insert(offered)
                edition = home
                claimed.insert(try ImportedRows(db: db).insert(record, of: home))
                added = added ?? record.copy.id
                continue
            }
            claimed.insert(row)
            let (id, more) = try merge(record, offered, into: row, isKnown: isKnown)
            merged = merged ?? id
            filled += more.filter { !filled.contains($0) }
        }
        if let added { return .new(added) }
        guard let merged else { return .refused(reason: "it has no copy") }
        return filled.isEmpty ? .unchanged(merged) : .merged(merged, filled: filled)
    }

    private func request(_ record: CopyRecord) -> String { "bookplate:\(record.copy.id)" }

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
        guard let stored = try StoredBooks.fetch(db, "WHERE copy.id = ?", [row]).first else {
            throw RowDecodingError(what: "a request without its copy")
        }
        let merging = ImportMerging(db: db, stored: stored, isKnown: isKnown, hasIdentities: true)
        var filled = try merging.fillEdition(isbn: offered.isbn, isbnText: offered.isbnText, from: offered.metadata)
        filled += try merging.fillCopy(from: try withoutDoubles(record))
        if stored.book.id == record.copy.id { filled += try fillHistory(from: record) }
        if !isKnown {
            try db.run(
                "INSERT INTO request (id, copy) VALUES (?, ?) ON CONFLICT DO NOTHING", [request(record), row])
        }
        return (stored.book.id, filled)
    }

    /// Without what the library has under the same identity already.
    private func withoutDoubles(_ record: CopyRecord) throws -> CopyRecord {
        var record = record
        record.notes = try record.notes.filter { try !has("note", $0.id.rawValue) }
        record.quotes = try record.quotes.filter { try !has("quote", $0.id.rawValue) }
        record.readings = try record.readings.filter { try !has("reading", $0.reading.id.rawValue) }
        return record
    }

    /// Entries and sessions that a reading here does not have yet.
    private func fillHistory(from record: CopyRecord) throws -> [String] {
        var isFilled = false
        for reading in record.readings {
            let id = reading.reading.id
            guard try has("reading", id.rawValue) else { continue }
            let sessions = try reading.sessions.filter { try !has("session", $0.id.rawValue) && $0.end != nil }
            let entries = try reading.entries.filter { try !has("progressEntry", $0.id.rawValue) }
            try ImportedRows(db: db).insert(sessions, entries, of: id)
            isFilled = isFilled || !sessions.isEmpty || !entries.isEmpty
        }
        return isFilled ? ["history"] : []
    }

    private func has(_ table: String, _ id: String) throws -> Bool {
        try db.row("SELECT 1 FROM \(table) WHERE uuid = ?", [id]) != nil
    }
}

/// Stores a copy with all that hangs on it, identities kept.
struct ImportedRows {
    let db: Database

    /// - Returns: the copy's row number.
    @discardableResult
    func insert(_ record: CopyRecord, of edition: Int64) throws -> Int64 {
        let row = try StoredCopy.insert(record.copy, of: edition, db)
        for (position, reading) in record.readings.enumerated() { try insert(reading, at: position, of: row) }
        for note in record.notes { try note.insert(db, to: row) }
        for quote in record.quotes { try quote.insert(db, to: row) }
        for flag in record.flags { try flag.insert(db, to: row) }
        for request in record.requests {
            try db.run("INSERT INTO request (id, copy) VALUES (?, ?) ON CONFLICT DO NOTHING", [request, row])
        }
        return row
    }

    func insert(_ record: ReadingRecord, at position: Int, of copy: Int64) throws {
        try StoredReadings.insert(record.reading, at: position, of: copy, db)
        try insert(record.sessions, record.entries, of: record.reading.id)
    }

    func insert(_ sessions: [Session], _ entries: [ProgressEntry], of reading: ID<Reading>) throws {
        for session in sessions {
            // A library has one running session; that of an export waits for nobody here.
            if session.isRunning, try StoredSessions.running(db) != nil { continue }
            try StoredSessions.insert(session, of: reading, db)
        }
        for entry in entries { try StoredReadings.insert(entry, of: reading, db) }
    }
}
