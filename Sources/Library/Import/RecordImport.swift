import Bookplate
import FoundationEssentials
import GRDB

/// Imports records in Bookplate's own JSON format. Ids are kept. If the library has a book under another id, it is
/// found by its ISBN.
extension RowImporter {
    mutating func importRecord(_ record: LibraryRecord, row: Int) throws -> ImportResult {
        switch record {
        case .library:
            // Another file has readers of its own.
            readers = [:]
            return other(row, false)
        case .reader(let reader): return try importReader(reader, row: row)
        case .setting(let name, let value, let reader):
            let isPerReader = LibrarySetting(rawValue: name)?.isPerReader == true
            let insertion = "\(settingInsertion(ofReader: isPerReader)) ON CONFLICT DO NOTHING"
            guard let reader else { return other(row, try add(insertion, [name, value])) }
            // The settings of a reader who is left out are, too.
            guard let readerRow = readers[reader] else { return other(row, false) }
            return other(row, try db.withReader(readerRow) { try add(insertion, [name, value]) })
        case .author(let name, let sortName):
            return other(
                row,
                try add(
                    """
                    INSERT INTO author (name, folded, sortName) VALUES (?, ?, ?)
                    ON CONFLICT DO UPDATE SET sortName = excluded.sortName
                    WHERE author.sortName IS NULL AND excluded.sortName IS NOT NULL
                    """, [name, name.searchFolded, sortName]))
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
                claimed.insert(try record.insert(db, of: target, for: readers))
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
        let stored = try stored(row)
        var filled = try ImportMerger(db: db, stored: stored, isKnown: isKnown, hasIdentities: true)
            .fillEdition(isbn: offered.isbn, isbnText: offered.isbnText, from: offered.metadata)
        filled += try fillCopy(stored, from: record.readers == nil ? record : record.shared, isKnown)
        for own in record.readers ?? [] {
            guard let reader = readers[own.reader] else { continue }
            let more = try db.withReader(reader) { try fillCopy(self.stored(row), from: own.record, isKnown) }
            filled += more.filter { !filled.contains($0) }
        }
        if !isKnown {
            try db.run(
                "INSERT INTO request (id, copy) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [request(ofRecord: record.copy.id), row])
        }
        return (stored.book.id, filled)
    }

    private func stored(_ row: Int64) throws -> StoredBook {
        guard let stored = try StoredBook.fetch(db, "WHERE copy.id = ?", [row]).first else {
            throw RowDecodingError(what: "the record of an earlier import refers to a copy that does not exist")
        }
        return stored
    }

    /// Fills in the copy for the present reader.
    private func fillCopy(_ stored: StoredBook, from record: CopyRecord, _ isKnown: Bool) throws -> [String] {
        let merger = ImportMerger(db: db, stored: stored, isKnown: isKnown, hasIdentities: true)
        let filled = try merger.fillCopy(from: try withoutDuplicates(record))
        return stored.book.id == record.copy.id ? filled + (try fillHistory(from: record)) : filled
    }

    /// Returns the record without the notes, quotes and readings that are already in the library.
    private func withoutDuplicates(_ record: CopyRecord) throws -> CopyRecord {
        var record = record
        // Another reader may have imported the same file. What is that reader's stays so, and this one gets another.
        for index in record.notes.indices where try isOthers("note", record.notes[index].id.rawValue) {
            record.notes[index].id = ID()
        }
        for index in record.quotes.indices where try isOthers("quote", record.quotes[index].id.rawValue) {
            record.quotes[index].id = ID()
        }
        record.notes = try record.notes.filter { try !has("note", $0.id.rawValue) }
        record.quotes = try record.quotes.filter { try !has("quote", $0.id.rawValue) }
        record.readings = try record.readings.filter { try !has("reading", $0.reading.id.rawValue) }
        return record
    }

    private func isOthers(_ table: String, _ id: String) throws -> Bool {
        try db.row("SELECT 1 FROM \(table) WHERE uuid = ? AND reader <> reader()", [id]) != nil
    }

    /// Adds the progress entries and sessions that are missing from the reader's readings in the library.
    private func fillHistory(from record: CopyRecord) throws -> [String] {
        var isFilled = false
        for reading in record.readings {
            let id = reading.reading.id
            let own = try db.row("SELECT 1 FROM reading WHERE uuid = ? AND reader = reader()", [id.rawValue])
            guard own != nil else { continue }
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

extension RowImporter {
    /// Finds a reader of the file in the library: by the id, then by the name. Otherwise the reader is added. If the
    /// library has one reader, without a name, this is the file's first reader.
    ///
    /// A reader in the trash is restored if only the name is the same. With the same id, the reader was deleted here,
    /// so what the file has of this reader is left out.
    private mutating func importReader(_ reader: Reader, row: Int) throws -> ImportResult {
        func refused(_ refusal: ReaderRefusal) -> ImportResult {
            ImportResult(row: row, title: reader.name, outcome: .refused(reason: "\(refusal)"))
        }
        guard let name = reader.name?.storable(TextLimit.name) else { return refused(.firstNeedsName) }
        let present = try db.rows("SELECT id, name FROM reader WHERE deleted IS NULL ORDER BY id")
        if present.count == 1, present[0]["name"] as String? == nil {
            let only: Int64 = present[0]["id"]
            readers[reader.id] = only
            try give(reader, name, to: only)
            return other(row, true)
        }
        let match = try db.row(
            "SELECT id, uuid, deleted FROM reader WHERE uuid = ?1 OR name = ?2 ORDER BY uuid = ?1 DESC LIMIT 1",
            [reader.id.rawValue, name.caseFolded])
        if let match {
            let (id, uuid): (Int64, String) = (match["id"], match["uuid"])
            let isDeleted = match["deleted"] as Int64? != nil
            if isDeleted, uuid == reader.id.rawValue { return other(row, false) }
            // Two readers of the file never become one.
            if readers.contains(where: { $0.key != reader.id && $0.value == id }) { return refused(.nameTaken(name)) }
            readers[reader.id] = id
            if isDeleted { try db.run("UPDATE reader SET deleted = NULL WHERE id = ?", [id]) }
            return other(row, isDeleted)
        }
        guard present.count < LibraryFile.readerLimit else { return refused(.tooMany(limit: LibraryFile.readerLimit)) }
        try db.run(
            "INSERT INTO reader (uuid, name, displayName, colour, created) VALUES (?, ?, ?, ?, ?)",
            [reader.id.rawValue, name.caseFolded, name, reader.colour, now.milliseconds])
        readers[reader.id] = db.lastInsertedRowID
        return other(row, true)
    }

    /// Gives the library's only reader the name and the colour of a reader of the file. In a library without books,
    /// also gives the id, so that an export has the same bytes as the file.
    private func give(_ reader: Reader, _ name: String, to row: Int64) throws {
        try db.run(
            """
            UPDATE reader SET name = ?2, displayName = ?3, colour = ?4,
                uuid = iif(EXISTS (SELECT 1 FROM copy), uuid, ?5)
            WHERE id = ?1
            """, [row, name.caseFolded, name, reader.colour, reader.id.rawValue])
    }
}

extension CopyRecord {
    /// Inserts the copy with its readings, notes, quotes and import flags. All of them keep their own ids.
    ///
    /// - Parameter rows: the rows of the file's readers, if it has several.
    /// - Returns: the id of the copy's row.
    func insert(_ db: Database, of edition: Int64, for rows: [ID<Reader>: Int64] = [:]) throws -> Int64 {
        let row = try StoredCopy.insertShared(copy, of: edition, db)
        if let readers {
            for own in readers {
                guard let reader = rows[own.reader] else { continue }
                try db.withReader(reader) { try own.record.insertOwn(db, to: row) }
            }
        } else {
            try insertOwn(db, to: row)
        }
        for flag in flags { try flag.insert(db, to: row) }
        for request in requests {
            try db.run("INSERT INTO request (id, copy) VALUES (?, ?) ON CONFLICT DO NOTHING", [request, row])
        }
        return row
    }

    /// Inserts what the present reader has of the copy.
    func insertOwn(_ db: Database, to row: Int64) throws {
        try StoredCopy.insertOwn(copy, to: row, db)
        for (position, reading) in readings.enumerated() { try reading.insert(db, at: position, of: row) }
        for note in notes { try note.insert(db, to: row) }
        for quote in quotes { try quote.insert(db, to: row) }
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
            // A reader has at most one running session. If one is running here, a running session from the file is
            // left out.
            if session.isRunning, try StoredSessions.running(db) != nil { continue }
            try StoredSessions.insert(session, of: reading, db)
        }
        for entry in entries { try StoredReadings.insert(entry, of: reading, db) }
    }
}
