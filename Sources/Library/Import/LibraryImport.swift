import Bookplate
import FoundationEssentials
import GRDB

/// One import into a library. All its rows are one change, so that one undo reverts the whole import.
public actor LibraryImport: BookImport {
    private let library: LibraryFile
    private let name: String
    /// The change that records the import, which undo reverts; `nil` if nothing has changed so far.
    public private(set) var change: ID<Change>?
    /// The copies that are already taken, because a row with an id of its own was imported into each of them. No other
    /// row is imported into these copies, so that two copies of one edition stay two copies.
    private var claimed: Set<Int64> = []
    /// The rows of the file's readers, without those who are left out.
    private var readers: [ID<Reader>: Int64] = [:]
    private var books = 0

    /// - Parameter name: the name of the file, which is shown in the change history.
    public init(into library: LibraryFile, from name: String) {
        self.library = library
        self.name = name
    }

    public func importRows(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] {
        try await library.tuneConnection(.bulk)
        let imported: Result<[ImportResult], any Error>
        do {
            imported = .success(try await importBatch(rows, at: now))
        } catch {
            imported = .failure(error)
        }
        // The settings are reset after each call, because nothing marks the end of an import, and the connection may
        // stay open for months. This is done in a task of its own, because GRDB refuses to work in a cancelled task.
        try await Task { [library] in try await library.tuneConnection(.standard) }.value
        return try imported.get()
    }

    private func importBatch(_ rows: [ImportRow], at now: Date) async throws -> [ImportResult] {
        do {
            return try await importBatch(rows, at: now, inSavepoints: false)
        } catch LibraryError.constraint {
            // If the schema refuses one row, the other rows must still be imported. This is rare, so savepoints are
            // used only in this case.
            return try await importBatch(rows, at: now, inSavepoints: true)
        }
    }

    private func importBatch(_ rows: [ImportRow], at now: Date, inSavepoints: Bool) async throws -> [ImportResult] {
        let (name, claimed, readers, books) = (name, claimed, readers, books)
        let (part, change) = try await library.changed(.importing, continuing: change, at: now) { db, _ in
            var importer = try RowImporter(db: db, now: now, claimed: claimed, readers: readers)
            let results = try rows.map { row in
                try inSavepoints ? importer.importInSavepoint(row) : importer.importRow(row)
            }
            let count = books + results.count { $0.isBookInLibrary }
            let part = Part(
                results: results, claimed: importer.claimed, readers: importer.readers, books: count)
            return (part, "imported \(count) book\(count == 1 ? "" : "s") from \(name)")
        }
        if let change { self.change = change }
        (self.claimed, self.readers) = (part.claimed, part.readers)
        self.books = part.books
        return part.results
    }

    private struct Part: Sendable {
        var results: [ImportResult]
        var claimed: Set<Int64>
        var readers: [ID<Reader>: Int64]
        var books: Int
    }
}

extension ImportResult {
    fileprivate var isBookInLibrary: Bool {
        switch outcome {
        case .new, .merged: true
        case .unchanged, .other, .refused: false
        }
    }
}

/// The settings of the connection that writes, which depend on the size of its transactions.
struct ConnectionTuning {
    /// The size of the page cache, in KiB.
    let cache: Int
    /// The length of the write-ahead log, in pages, at which it is copied into the file.
    let checkpoint: Int

    /// The place where SQLite keeps statement journals and sorted data. SQLite needs a journal for every INSERT into a
    /// table with change-log triggers, because a trigger may fail after the row has been inserted. In measurements,
    /// keeping these journals in files took a hundred small writes per book, and a third of the time of an import.
    let temporaries: Temporaries

    /// The values of `temp_store`. Source: https://www.sqlite.org/pragma.html#pragma_temp_store
    enum Temporaries: Int { case inFiles = 0, inMemory = 2 }

    /// The default settings of SQLite but for the cache: 2 MB do not hold the pages of a list of 50 books at 100,000
    /// copies.
    static let standard = ConnectionTuning(cache: 4096, checkpoint: 1000, temporaries: .inFiles)
    /// The settings for transactions with hundreds of books. With the default settings, such a transaction would write
    /// the same pages many times.
    static let bulk = ConnectionTuning(cache: 32_768, checkpoint: 8000, temporaries: .inMemory)
}

extension LibraryFile {
    func tuneConnection(_ tuning: ConnectionTuning) async throws {
        do {
            try await database.writeWithoutTransaction { db in
                try db.execute(
                    sql: """
                        PRAGMA cache_size = -\(tuning.cache); PRAGMA wal_autocheckpoint = \(tuning.checkpoint);
                        PRAGMA temp_store = \(tuning.temporaries.rawValue)
                        """)
            }
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }
}

/// Imports rows inside one change. A book that is already in the library gets only the data that it lacks. Nothing that
/// a person has entered is overwritten.
///
/// Status, opinions, readings, notes and quotes are imported for the reader of the access, unless the file divides them
/// among several readers.
struct RowImporter {
    let db: Database
    let now: Date
    /// The copies that are already taken, because a row with an id of its own was imported into each of them.
    var claimed: Set<Int64>
    /// The rows of the file's readers, without those who are left out.
    var readers: [ID<Reader>: Int64]
    /// The ending of the ids of requests from other systems' rows; empty for the first reader. These systems number
    /// their books, so the files of two readers have the same ids, but say something else about the books.
    private let requestSuffix: String
    private let hasSeveralReaders: Bool

    init(db: Database, now: Date, claimed: Set<Int64>, readers: [ID<Reader>: Int64] = [:]) throws {
        (self.db, self.now, self.claimed, self.readers) = (db, now, claimed, readers)
        hasSeveralReaders = try db.hasSeveralReaders
        requestSuffix =
            try db.value(String.self, "SELECT ' ' || uuid FROM reader WHERE id = reader() AND id <> 1") ?? ""
    }

    private var matcher: ImportMatcher { ImportMatcher(db: db) }

    mutating func importRow(_ row: ImportRow) throws -> ImportResult {
        switch row {
        case .refused(let row, let reason): return ImportResult(row: row, outcome: .refused(reason: reason))
        case .record(let record, let row): return try importRecord(record, row: row)
        case .book(let book):
            do {
                return try save(ConfirmedImport(book))
            } catch let refusal as TextRefusal {
                return ImportResult(row: book.row, outcome: .refused(reason: refusal.description), doubts: book.doubts)
            }
        }
    }

    /// Imports a row in a savepoint, so that a row that the schema refuses changes nothing.
    mutating func importInSavepoint(_ row: ImportRow) throws -> ImportResult {
        let before = (claimed, readers)
        var result: ImportResult?
        do {
            try db.inSavepoint {
                result = try importRow(row)
                return .commit
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            (claimed, readers) = before
            result = ImportResult(row: row.number, outcome: .refused(reason: Self.reason(error)))
        }
        return result
            ?? ImportResult(row: row.number, outcome: .refused(reason: "the import gave no result for this row"))
    }

    /// Describes the rule of the library that a row breaks, and the remedy. The name of the table or condition comes
    /// from SQLite's message.
    private static func reason(_ error: DatabaseError) -> String {
        let message = error.message ?? ""
        let rest = message.firstIndex(of: ":").map { message[message.index(after: $0)...] } ?? ""
        let what = String(rest).cleanedLine.prefix(80)
        switch error.extendedResultCode {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY:
            return
                "the library already uses an id from this row (\(what)). Change or remove this id in the file"
        case .SQLITE_CONSTRAINT_CHECK:
            return "the library does not accept a value from this row (\(what)). Correct the value in the file"
        case .SQLITE_CONSTRAINT_NOTNULL: return "a value is missing from this row (\(what)). Add it in the file"
        default:
            return
                "this row conflicts with the library (\(what)). Import it in a file of its own, or enter the book by hand"
        }
    }

    private mutating func save(_ item: ConfirmedImport) throws -> ImportResult {
        let (book, confirmed) = (item.book, item.confirmed)
        let request = book.id == nil ? confirmed.request + requestSuffix : confirmed.request
        func result(_ outcome: ImportResult.Outcome) -> ImportResult {
            ImportResult(
                row: book.row, title: book.metadata.title ?? book.isbn?.hyphenated, outcome: outcome,
                doubts: book.doubts)
        }
        if let known = try matcher.copy(ofRequest: request) ?? book.id.flatMap(matcher.copy(_:)) {
            if book.id != nil { claimed.insert(known) }
            return result(try merge(item, into: known, as: nil))
        }
        let own = try book.edition.flatMap(matcher.edition(_:))
        // An edition with an id comes from an export of Bookplate, so it is never matched by title.
        var edition =
            try own
            ?? (book.edition == nil
                ? matcher.edition(confirmed.isbn, confirmed.metadata) : matcher.edition(confirmed.isbn))
        // If the library has the edition under the same id, a copy that was not found above is a new copy.
        if let edition, own == nil,
            let copy = try matcher.copy(of: edition, except: book.id == nil ? [] : claimed)
        {
            if book.id != nil { claimed.insert(copy) }
            return result(try merge(item, into: copy, as: request))
        }
        if edition == nil {
            edition = try StoredEdition.insert(
                Edition(
                    id: book.edition ?? ID(), isbn: confirmed.isbn,
                    isbnText: confirmed.isbnText?.storable(TextLimit.name),
                    metadata: confirmed.metadata.storable), db
            ).row
        }
        var record = book.record
        if let id = book.id { record.copy.id = id }
        // The copy's days in the trash begin now.
        if record.copy.deleted != nil { record.copy.deleted = now }
        if !book.hasAdded {
            record.copy.added = now
            for index in record.notes.indices { record.notes[index].created = now }
        }
        if book.id == nil { makeNotesVisible(in: &record) }
        if book.id == nil { record.requests = [request] }
        record.flags = flags(book)
        guard let edition else { return result(.refused(reason: "the import gave no result for this row")) }
        let copy = try record.insert(db, of: edition)
        if book.id != nil { claimed.insert(copy) }
        return result(.new(record.copy.id))
    }

    /// Makes the notes of another system's row visible to all if there is only one reader, so that nothing of readers
    /// is seen.
    private func makeNotesVisible(in record: inout CopyRecord) {
        guard !hasSeveralReaders else { return }
        for index in record.notes.indices { record.notes[index].isPrivate = false }
    }

    /// - Parameter request: the id of the row's request; `nil` if the row was imported into the copy before.
    private func merge(
        _ item: ConfirmedImport, into copy: Int64, as request: String?
    ) throws -> ImportResult.Outcome {
        guard let stored = try StoredBook.fetch(db, "WHERE copy.id = ?", [copy]).first else {
            throw RowDecodingError(what: "the record of an earlier import refers to a copy that does not exist")
        }
        let merger = ImportMerger(
            db: db, stored: stored, isKnown: request == nil, isFurther: item.book.isFurther)
        var record = item.book.record
        if !item.book.hasAdded { for index in record.notes.indices { record.notes[index].created = now } }
        if item.book.id == nil { makeNotesVisible(in: &record) }
        var filled = try merger.fillEdition(
            isbn: item.confirmed.isbn, isbnText: item.confirmed.isbnText, from: item.confirmed.metadata)
        filled += try merger.fillCopy(from: record)
        if let request {
            try db.run("INSERT INTO request (id, copy) VALUES (?, ?)", [request, copy])
            for flag in flags(item.book) { try flag.insert(db, to: copy) }
        }
        return filled.isEmpty ? .unchanged(stored.book.id) : .merged(stored.book.id, filled: filled)
    }

    private func flags(_ book: ImportedBook) -> [ImportFlag] {
        guard !book.doubts.isEmpty else { return [] }
        return [ImportFlag(source: book.source, what: book.doubts.joined(separator: "; "), raw: book.raw, at: now)]
    }
}

extension ImportRow {
    var number: Int {
        switch self {
        case .book(let book): book.row
        case .record(_, let row), .refused(let row, _): row
        }
    }
}

extension LibraryFile {
    /// Returns a temporary copy of the library, for the same reader. The dry run of an import uses such a copy, so that
    /// it reports exactly what the import would do, without blocking other processes.
    ///
    /// The copy is a temporary file that SQLite creates and removes. It needs as much disk space as the library.
    public func temporaryCopy() async throws -> LibraryFile {
        do {
            // With an empty name, SQLite makes a temporary database. Source: https://www.sqlite.org/inmemorydb.html
            let copy = try DatabaseQueue(path: "", configuration: Self.configuration())
            try database.backup(to: copy)
            return LibraryFile(path: nil, device: device, database: copy, lock: nil, clock: clock, zone: zone)
                .reading(with: readerAccess)
        } catch {
            throw LibraryError.translated(error, path: path ?? ":memory:")
        }
    }
}
